"""The types of question, and where the operations of each are defined. The only list of types.

A type of question is a folder with the same file names as every other: `design` (what is asked), `respond` (one answer,
standard library alone), `draw` (many rows at once), `count` (tallies), `storage` (rows in the tables of databases),
`estimate`, `sampling` (people with weights), `display` (tables and pictures), `claims` (what a certificate states),
`plan`, `audit`, `simulate`, `form` (how an answer is typed). A file is loaded when its first operation is asked for, so
that a respondent's device loads neither NumPy nor an estimator.

`find_operation` returns None where a type has no such operation: what needs it is then refused, or done in another way.

`operation(design, name)` returns the function of that name for the type of the design.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard

if TYPE_CHECKING:
    from deniable.designs import AnyDesign

__all__ = [
    "FILES",
    "FOLDERS",
    "Typed",
    "design_classes",
    "find_operation",
    "find_type_operation",
    "is_design",
    "operation",
    "read_design",
]

FOLDERS: dict[str, str] = {
    "categories": "deniable.types.categories",
    "ladder": "deniable.types.ladder",
    "deck": "deniable.types.deck",
    "key-value": "deniable.types.key_value",
    "edges": "deniable.types.edges",
    "strings": "deniable.types.strings",
    "numbers": "deniable.types.numbers",
    "drawn items": "deniable.types.drawn",
    "numbers in buckets": "deniable.types.buckets",
}
"""Type of question (`design.asks`) → the package of its folder; a test may add one of its own."""

FILES: dict[str, str] = {
    "respond": "respond",
    "respond_all": "draw",
    "count_sent": "draw",
    "tally_column": "draw",
    "draw_pieces": "draw",
    "TALLY": "count",
    "tally": "count",
    "count_labels": "count",
    "forms": "storage",
    "of_cells": "storage",
    "of_counts": "storage",
    "estimate": "estimate",
    "fitted": "estimate",
    "NumberEstimate": "estimate",
    "estimate_sampled": "sampling",
    "parse_answer": "respond",
    "expected_answer": "respond",
    "category_of": "respond",
    "privacy_facts": "claims",
    "DESIGN": "design",
    "BUILDERS": "design",
    "known_answers": "design",
    "sheet": "display",
    "views": "display",
    "parts": "display",
    "picture_title": "display",
    "paper_title": "display",
    "device_clause": "display",
    "methods_notes": "display",
    "privacy_text": "display",
    "tally_sheet": "display",
    "tally_picture": "display",
    "claims": "claims",
    "losses": "claims",
    "caveats": "claims",
    "labelled_design": "claims",
    "claimed_parts": "claims",
    "answer_codes": "audit",
    "response_law": "audit",
    "respond_alone": "audit",
    "claimed_epsilon": "audit",
    "simulate_tallies": "simulate",
    "tally_inverse": "simulate",
    "page_design": "form",
    "trial_design": "form",
    "ticked": "form",
    "FAMILIES": "form",
    "device_words": "form",
    "variance_curve": "plan",
    "compared_privacy": "plan",
    "deciding_response": "plan",
    "has_few_tallies": "plan",
    "mean_variance": "plan",
    "largest_deviation": "plan",
    "row_scores": "scores",
    "complete_rows": "scores",
    "REFUSED": "surfaces",
}
"""Name of an operation → the file of each folder that defines it.

respond(design, answer, *, source) → Response
respond_all(design, answers, *, source) → Responses; a missing answer gives a missing response
count_sent(responses) → TALLY, at the speed of arrays
tally_column(design, column, *, codes) → TALLY, of types whose responses are those of categories
draw_pieces(design, edges, source, fast) → arrays of responses, of types that ask for edges
TALLY, the class of the tallies
tally(design, responses) → TALLY, of any iterable of responses
count_labels(design, columns) → TALLY, of columns of text in a file
forms(design, *, labels) → a `StoredForm` for each column of responses in a table
of_cells(design, stages, refused) → TALLY, of the cells that a query counted
of_counts(design, counts, respondents) → TALLY, of the counts that a collector keeps of a `FieldedDesign`
estimate(tally) → a result
fitted(tally) → the shares of the categories, without Python's warnings, of types that the collector counts
NumberEstimate(shares) → a result about numbers, of the shares of their levels
parse_answer(design, text) → the answer that a line holds, of types that are answered in lines
expected_answer(design) → in words, what such a line may hold
category_of(design, answer, *, source) → the category of a page that an answer has, rounded at random; of types whose
    answers lie between categories
privacy_facts(design) → what a design promises, for programs, of types for graphs
estimate_sampled(responses, sampling) → a result, of people with weights
sheet(design) → a `Sheet` of response probabilities; tally_sheet(tally) → a `Sheet` of counts
views(design, *, pictured) → a `ChannelView` for each part; tally_picture(tally, *, title) → a picture of counts
parts(design) → the designs that it consists of, by name; picture_title, paper_title(design) → what it is called
device_clause(design) → how the device works, in a clause, or None; methods_notes, privacy_text(design) → sentences
DESIGN, the class of the designs; BUILDERS, functions that the shell builds them with, each with its purpose
known_answers(design) → answers, all of them or a few that differ much
claims(design, prior) → the claims of a certificate, for JSON
losses(design) → the privacy losses of all pairs of answers, of types that are fielded as they are; None where these are
    too many
caveats(design) → sentences about what the guarantee rests on
labelled_design(design) → the design whose labels the claims are about, or None
claimed_parts(design, claims) → a `ClaimedPart` for each attribute or stage
answer_codes(design, answers) → the number of each answer, of types whose answers are categories
response_law(design) → the `ResponseLaw` that an audit compares responses with, or None
respond_alone(design, answer, source) → a response as an audit draws it, of types whose device is shared
claimed_epsilon(design) → the ε of such a response
simulate_tallies(design, people, draws) → counts, a row for each repetition
tally_inverse(design, method) → the left inverse that estimates shares from such counts
page_design(design) → what draws on a respondent's page: the design as a `FieldedDesign`, which the page's script
    knows; or a design for categories or numbers, or a ladder; not defined by types that are one of these themselves
FAMILIES, functions that a survey's file builds designs with, where they are not among `BUILDERS`
ticked(design) → whether what applies is ticked in a list, of types whose answers have parts
device_words(design) → the name of the sentence about how the device makes a response, and its facts
trial_design(design, labels) → a design about something harmless with the same odds, or None
variance_curve(design, shares, goal, inverse) → the variance as a function of n and f
compared_privacy(design) → name and ε of a design's line in a comparison
deciding_response(design, category) → the response that decides on a share, or None
has_few_tallies(design, n) → whether all tallies of n responses can be summed over
row_scores(responses, rows, listed) → the `ScoredRows` that an association is computed from
complete_rows(responses) → which rows are about the whole answer
mean_variance(design, sd), largest_deviation(design, sd) → of types that estimate a mean
"""


class Typed(Protocol):
    """Whatever knows its type of question: a design, a ladder, a deck."""

    @property
    def asks(self) -> str:
        """The type of question."""
        ...


def operation(design: Typed, name: str) -> Any:
    """Return the operation of this name for the design's type of question."""
    return _operation(design.asks, name)


def is_design(thing: object) -> TypeGuard[AnyDesign]:
    """Tell whether something is a design of one of the types."""
    return getattr(thing, "asks", None) in FOLDERS


def find_operation(design: object, name: str) -> Callable[..., Any] | None:
    """Return the operation of this name for a design; None for anything else, and for types that have none."""
    return find_type_operation(design.asks, name) if is_design(design) else None


def find_type_operation(asks: str, name: str) -> Any:
    """Return the operation of this name for a type of question; None where its folder defines none."""
    return (
        _operation(asks, name)
        if name in _operation_names(asks, FILES[name])
        else None
    )


def design_classes() -> list[type[AnyDesign]]:
    """Return the design class of each type of question, in the order of `FOLDERS`."""
    return [_operation(asks, "DESIGN") for asks in FOLDERS]


def read_design(text: str | bytes) -> AnyDesign:
    """Read a design of any type from JSON: the schema that it names says which.

    Raises:
        UnreadableFile: truncated, edited, or of another schema or version.
    """
    # Numbers have the schema of categories, which read both.
    classes = {kind.SCHEMA: kind for kind in reversed(design_classes())}
    try:
        schema = json.loads(text)["schema"].split("/")[1]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        schema = ""
    return classes.get(schema, classes["design"]).from_json(text)


@cache
def _operation_names(asks: str, file: str) -> frozenset[str]:
    """Return the names that a file of a type's folder defines; none where the folder has no such file."""
    module = f"{FOLDERS[asks]}.{file}"
    return (
        frozenset(vars(import_module(module))) if find_spec(module) else frozenset()
    )


@cache
def _operation(asks: str, name: str) -> Any:
    return getattr(import_module(f"{FOLDERS[asks]}.{FILES[name]}"), name)

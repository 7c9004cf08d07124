"""Many respondents who each answer a few attributes, drawn at random: the hands of all, then attribute by attribute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.bulk import columns as bulk
from deniable.bulk.random_words import below_all
from deniable.chance import Source
from deniable.channel.coding import code_type
from deniable.errors import InvalidAnswer
from deniable.tallies.responses import Missing, Responses, add_missing
from deniable.types.drawn.count import DrawnTally, tally
from deniable.types.drawn.design import DrawnDesign

__all__ = ["count_sent", "draw_all", "read_answers", "respond_all"]


def respond_all(
    design: DrawnDesign,
    answers: object,
    *,
    codes: bool | None = None,
    source: Source | None = None,
    threads: int = 1,
    fast: bool | None = None,
) -> Responses[DrawnDesign]:
    """Draw the attributes of each respondent, then attribute by attribute the responses of those who hold it."""
    given, present = read_answers(design, answers, codes=codes)
    return bulk.build_responses(
        design,
        present,
        draw_all(design, given, source=source, threads=threads, fast=fast),
    )


def count_sent(responses: Responses[DrawnDesign]) -> DrawnTally:
    """Count how often each response was sent."""
    return add_missing(
        tally(responses.design, responses.present()["response"]), responses
    )


def read_answers(
    design: DrawnDesign, answers: Any, *, codes: bool | None = None
) -> tuple[dict[str, NDArray[Any]], Missing]:
    """Read the answers of everybody: the codes of those who answered everything by attribute, and who they are.

    Whoever leaves out one attribute is missing, whichever would be drawn: what is sent must not tell.

    Args:
        design: whose attributes they are.
        answers: a column for each attribute, in a mapping or a frame; or a mapping for each person, None for none.
        codes: what whole numbers are, as in `respond_all`.

    Raises:
        InvalidAnswer: a row that the design does not know; only its index is told.
        InvalidRequest: columns for other attributes than the design has.
    """
    if not isinstance(answers, Mapping) and not bulk.is_frame(answers):
        answers = _by_attribute(design, answers)
    bulk.check_attributes(design.attributes, answers)
    read: dict[str, tuple[NDArray[Any], Missing]] = {}
    for attribute, part in design.factors:
        found, absent = bulk.read_answers(part, answers[attribute], codes=codes)
        if not bulk.in_range(found, part.channel.answers):
            raise bulk.out_of_range(part, found, absent)
        read[attribute] = (
            found,
            np.zeros(len(found), np.bool_) if absent is None else absent,
        )
    if len({len(absent) for _, absent in read.values()}) > 1:
        raise InvalidAnswer(
            "the columns differ in length; expected an answer to each attribute in every row."
        )
    present = ~np.logical_or.reduce([absent for _, absent in read.values()])
    return {
        attribute: found[present[~absent]]
        for attribute, (found, absent) in read.items()
    }, present


def draw_all(
    design: DrawnDesign,
    answers: Mapping[str, NDArray[Any]],
    *,
    source: Source | None = None,
    threads: int = 1,
    fast: bool | None = None,
) -> NDArray[Any]:
    """Draw a response for each row of codes by attribute.

    Guarantee: hands are drawn evenly, whatever the answers are, and every attribute with exactly the weights of its
    design. Of one row, the bytes are those of `types.drawn.respond.respond`.
    """
    rows = len(next(iter(answers.values())))
    hands = below_all(len(design.hands), rows, source)
    starts, strides = _places(design)
    numbers = starts[hands]
    for at, (attribute, part) in enumerate(design.factors):
        holders = np.flatnonzero(strides[hands, at])
        sent = bulk.draw_all(
            part,
            answers[attribute][holders],
            codes=True,
            source=source,
            threads=threads,
            fast=fast,
        )
        digits = part.channel.coding.numbers(sent).astype(np.int64)
        numbers[holders] += strides[hands[holders], at] * digits
    return numbers.astype(code_type(design.responses))


def _places(design: DrawnDesign) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each hand its first response, and how far apart the responses to each attribute lie; 0 if not in."""
    strides = np.zeros((len(design.hands), len(design.factors)), np.int64)
    for row, hand in zip(strides, design.hands, strict=True):
        stride = hand.responses
        for attribute, size in zip(hand.attributes, hand.sizes, strict=True):
            stride //= size
            row[design.attributes.index(attribute)] = stride
    return np.array([hand.start for hand in design.hands], np.int64), strides


def _by_attribute(design: DrawnDesign, people: Any) -> dict[str, list[Any]]:
    """Return a column for each attribute out of a mapping for each person."""
    if not bulk.is_sequence(people) and not (
        isinstance(people, np.ndarray) and people.ndim == 1
    ):
        raise InvalidAnswer(
            f"the answers are a {type(people).__name__}; expected a column for each attribute, or a list with a "
            "mapping for each person."
        )
    for number, answer in enumerate(people):
        if answer is not None and not (
            isinstance(answer, Mapping) and set(answer) == set(design.attributes)
        ):
            raise InvalidAnswer(
                f"the answer at index {number:,} is not one to each attribute; expected a mapping."
            )
    return {
        attribute: [
            None if answer is None else answer[attribute] for answer in people
        ]
        for attribute in design.attributes
    }

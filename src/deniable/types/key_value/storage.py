"""Responses in the tables of a database: numbers or text; of unary schemes rows of symbols."""

from __future__ import annotations

from deniable.tallies.base import Counts
from deniable.tallies.stored.cells import (
    Refused,
    Stages,
    count_cells,
    count_lines,
    only_stage,
)
from deniable.tallies.stored.forms import (
    PackedPlaces,
    StoredForm,
    StoredRows,
    WrittenPlaces,
    code_form,
)
from deniable.types.key_value.count import KeyValueTally
from deniable.types.key_value.design import KeyValueDesign

__all__ = ["forms", "of_cells", "of_counts"]


def forms(design: KeyValueDesign, *, labels: bool) -> tuple[StoredForm, ...]:
    """Return the form of the column of responses."""
    if design.scheme.KIND == "unary":
        return (_symbol_rows(design.scheme.items, labels=labels),)
    return (code_form(design.scheme.responses, labels=labels),)


def _symbol_rows(items: int, *, labels: bool) -> StoredRows:
    """Return the form of rows with a symbol for each item."""
    return (
        WrittenPlaces(items, 2, 2 * items)
        if labels
        else PackedPlaces(items, 2, 2 * items)
    )


def of_cells(
    design: KeyValueDesign, stages: Stages, refused: Refused
) -> KeyValueTally:
    """Return the tally of the cells that a query counted."""
    scheme, counted = design.scheme, only_stage(stages)
    if scheme.KIND == "unary":
        (line,) = count_lines(_symbol_rows(scheme.items, labels=False), counted, 1)
        return of_counts(design, line[1:], int(line[0]), counted.missing)
    counts = count_cells(scheme.responses, counted, design.response_number, refused)
    return of_counts(design, counts, int(counts.sum()), counted.missing)


def of_counts(
    design: KeyValueDesign, counts: Counts, respondents: int, missing: int = 0
) -> KeyValueTally:
    """Return the tally of counts: by response; of a unary scheme by item and sign."""
    scheme = design.scheme
    if scheme.KIND == "index":
        by_item = counts.reshape(scheme.items, -1)
        return KeyValueTally(design, by_item, respondents, missing)
    marks = counts if scheme.KIND == "unary" else counts[:-1]
    return KeyValueTally.of_marks(design, marks.reshape(-1, 2), respondents, missing)

"""Responses in the tables of a database: numbers or text; of unary schemes rows of symbols."""

from __future__ import annotations

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

__all__ = ["forms", "of_cells"]


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
        return KeyValueTally.of_marks(
            design, line[1:].reshape(-1, 2), int(line[0]), counted.missing
        )
    counts = count_cells(scheme.responses, counted, design.response_number, refused)
    respondents = int(counts.sum())
    if scheme.KIND == "index":
        return KeyValueTally(
            design, counts.reshape(scheme.items, -1), respondents, counted.missing
        )
    return KeyValueTally.of_marks(
        design, counts[:-1].reshape(-1, 2), respondents, counted.missing
    )

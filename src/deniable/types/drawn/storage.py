"""Responses in the tables of a database: numbers, or attributes with their symbols as text."""

from __future__ import annotations

from deniable.tallies.base import Counts
from deniable.tallies.stored.cells import Refused, Stages, count_cells, only_stage
from deniable.tallies.stored.forms import StoredForm, code_form
from deniable.types.drawn.count import DrawnTally
from deniable.types.drawn.design import DrawnDesign

__all__ = ["forms", "of_cells", "of_counts"]


def forms(design: DrawnDesign, *, labels: bool) -> tuple[StoredForm, ...]:
    """Return the form of the column of responses."""
    return (code_form(design.responses, labels=labels),)


def of_cells(design: DrawnDesign, stages: Stages, refused: Refused) -> DrawnTally:
    """Return the tally of the cells that a query counted."""
    counted = only_stage(stages)
    return DrawnTally(
        design,
        count_cells(design.responses, counted, design.response_number, refused),
        counted.missing,
    )


def of_counts(design: DrawnDesign, counts: Counts, respondents: int) -> DrawnTally:  # noqa: ARG001 - one shape for all
    """Return the tally of the counts that a collector keeps."""
    return DrawnTally(design, counts)

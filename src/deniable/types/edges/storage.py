"""Responses in the tables of a database: the number of an item with a weight, or both as text."""

from __future__ import annotations

from deniable.tallies.stored.cells import Refused, Stages, count_cells, only_stage
from deniable.tallies.stored.forms import StoredForm, code_form
from deniable.types.edges.count import EdgeTally
from deniable.types.edges.design import EdgeDesign

__all__ = ["forms", "of_cells"]


def forms(design: EdgeDesign, *, labels: bool) -> tuple[StoredForm, ...]:
    """Return the form of the column of responses."""
    return (code_form(len(design.items) * design.width, labels=labels),)


def of_cells(design: EdgeDesign, stages: Stages, refused: Refused) -> EdgeTally:
    """Return the tally of the cells that a query counted."""
    counted = only_stage(stages)
    counts = count_cells(
        len(design.items) * design.width, counted, design.response_number, refused
    )
    return EdgeTally(design, counts.reshape(-1, design.width), counted.missing)

"""Responses in the tables of a database: codes, labels or sets."""

from __future__ import annotations

from deniable.designs import Design
from deniable.tallies import Tally
from deniable.tallies.stored.cells import (
    Refused,
    Stages,
    count_categories,
    only_stage,
)
from deniable.tallies.stored.forms import StoredForm, category_form

__all__ = ["forms", "of_cells"]


def forms(design: Design, *, labels: bool) -> tuple[StoredForm, ...]:
    """Return the form of the column of responses."""
    return (category_form(design, labels=labels),)


def of_cells(design: Design, stages: Stages, refused: Refused) -> Tally:
    """Return the tally of the cells that a query counted."""
    return count_categories(design, only_stage(stages), refused)

"""Responses in the tables of a database: codes or labels of stretches of levels."""

from __future__ import annotations

from deniable.designs import NumberDesign
from deniable.tallies.stored.cells import (
    Refused,
    Stages,
    count_categories,
    only_stage,
)
from deniable.types.categories.storage import forms
from deniable.types.numbers.count import NumberTally

__all__ = ["forms", "of_cells"]


def of_cells(design: NumberDesign, stages: Stages, refused: Refused) -> NumberTally:
    """Return the tally of the cells that a query counted."""
    tally = count_categories(design, only_stage(stages), refused)
    return NumberTally(design, tally.counts, tally.missing)

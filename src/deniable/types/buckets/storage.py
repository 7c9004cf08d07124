"""Responses in the tables of a database: numbers, or levels with their symbols as text."""

from __future__ import annotations

from deniable.tallies.stored.cells import Refused, Stages
from deniable.types.buckets.count import BucketTally
from deniable.types.buckets.design import BucketDesign
from deniable.types.drawn.storage import forms
from deniable.types.drawn.storage import of_cells as drawn_of_cells

__all__ = ["forms", "of_cells"]


def of_cells(design: BucketDesign, stages: Stages, refused: Refused) -> BucketTally:
    """Return the tally of the cells that a query counted."""
    tally = drawn_of_cells(design, stages, refused)
    return BucketTally(design, tally.counts, tally.missing)

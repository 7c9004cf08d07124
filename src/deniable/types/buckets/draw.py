"""Many numbers → their nodes on all levels → responses; and responses → counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.bulk import columns as bulk
from deniable.chance import Source
from deniable.errors import InvalidAnswer
from deniable.tallies.responses import Responses, add_missing
from deniable.types.buckets.count import BucketTally, tally
from deniable.types.buckets.design import BucketDesign
from deniable.types.drawn.draw import draw_all
from deniable.types.numbers.draw import read_column, read_numbers

__all__ = ["count_sent", "respond_all"]


def respond_all(
    design: BucketDesign,
    answers: Any,
    *,
    source: Source | None = None,
    threads: int = 1,
    fast: bool | None = None,
) -> Responses[BucketDesign]:
    """Draw a level for each number, then a response about its node of that level.

    Guarantee: as for drawn items. Of one number, the bytes are those of `types.buckets.respond.respond`.
    """
    values, present = read_numbers(answers)
    places, tree = _find_buckets(design, values), design.buckets
    nodes = {
        level: places // width
        for level, width in zip(tree.levels, tree.widths, strict=True)
    }
    return bulk.build_responses(
        design,
        present,
        draw_all(design, nodes, source=source, threads=threads, fast=fast),
    )


def count_sent(responses: Responses[BucketDesign]) -> BucketTally:
    """Count how often each response was sent."""
    return add_missing(
        tally(responses.design, responses.present()["response"]), responses
    )


def _find_buckets(design: BucketDesign, values: Any) -> NDArray[np.intp]:
    """Return the bucket of each number.

    Raises:
        InvalidAnswer: a row that is no number, or outside the range; only its index is told.
    """
    column, tree = read_column(values), design.buckets
    if column.dtype.kind == "f" and column.dtype.itemsize < np.float64().itemsize:
        column = column.astype(np.str_)  # the decimal that it shows
    numbers = column.astype(np.float64)
    outside = np.flatnonzero(~((numbers >= tree.low) & (numbers <= tree.high)))
    if outside.size:
        raise InvalidAnswer(
            f"the value at index {int(outside[0]):,} lies outside its range; expected {tree.low:g} to {tree.high:g}.",
            "Choose the range wide enough for everybody before anybody is asked; do not cut values off silently.",
        )
    after = np.searchsorted(tree.edges, numbers, side="right")
    return np.minimum(after, tree.count) - 1

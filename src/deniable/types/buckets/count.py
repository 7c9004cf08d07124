"""Step 3: responses about nodes → how often each was sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from deniable.tallies.base import count_responses
from deniable.types.buckets.design import BucketDesign
from deniable.types.drawn.count import DrawnTally

if TYPE_CHECKING:
    from deniable.types.buckets import estimate as _estimate

__all__ = ["TALLY", "BucketTally", "count_labels", "tally"]


class BucketTally(DrawnTally):
    """How often each node was sent; a tally like that of drawn items, whose design knows the buckets."""

    design: BucketDesign

    if TYPE_CHECKING:  # the signature of the verb; estimates import tallies
        estimate = _estimate.estimate  # type: ignore[assignment]


TALLY = BucketTally


def tally(design: BucketDesign, responses: Any) -> BucketTally:
    """Count responses, as `deniable.tallies.base.count_responses` takes them.

    Example:
        >>> from deniable.types.buckets.design import bucket_design
        >>> design = bucket_design(0, 80, epsilon=4, count=16)
        >>> tally(design, ["1/4: 0", "1/4: 3", None]).of("1/4").counts
        array([1, 0, 0, 1])
    """
    return BucketTally(design, *count_responses(design, responses, design.responses))


def count_labels(design: BucketDesign, columns: Mapping[str, Any]) -> BucketTally:
    """Count a column of responses, written as text, in a file."""
    return tally(design, columns["response"].to_pylist())

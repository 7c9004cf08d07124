"""What padding cuts off: whoever has more than ℓ items is represented by a part of them."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import InvalidRequest

if TYPE_CHECKING:
    from deniable.keyvalue.result import KeyValueEstimate

_CROWDED = 0.5  # of all places; then quite some people may well have more items than places


def kept_share(estimate: KeyValueEstimate, sizes: Mapping[int, float]) -> float:
    """Return the share of edges that padding lets through, given the share of people with each number of items.

    Why: of somebody's s items each is drawn with probability 1/max(s, ℓ) where the estimate counts with 1/ℓ, so that
    min(s, ℓ) of s edges are counted on average. For a single item this is exact where having it does not depend on how
    many others somebody has; means need no correction there.

    Raises:
        InvalidRequest: the design does not pad, or the shares do not sum to 1.
    """
    scheme = estimate.design.scheme
    if scheme.one_each:
        raise InvalidRequest(f"{estimate.design.name} looks at any item alike; expected a design with padding.")
    if (
        not isinstance(sizes, Mapping)
        or not all(map(_fits, sizes, sizes.values()))
        or abs(sum(sizes.values()) - 1) > 1e-6
    ):
        raise InvalidRequest(
            "the shares of people by number of items do not fit; expected whole numbers of items, with shares of 0 or "
            "more that sum to 1.",
            "For example {0: 0.2, 1: 0.5, 2: 0.3}. Ask for them with a design of their own, such as k_ary().",
        )
    edges = sum(size * share for size, share in sizes.items())
    counted = sum(min(size, scheme.multiplier) * share for size, share in sizes.items())
    return counted / edges if edges else 1.0


def _fits(size: object, share: object) -> bool:
    whole = isinstance(size, int | np.integer) and not isinstance(size, bool)
    return whole and size >= 0 and isinstance(share, Real) and 0 <= share <= 1  # type: ignore[operator]


def crowding(estimate: KeyValueEstimate) -> str:
    """Tell where so many places are full that some people may well have more items than there are places."""
    scheme = estimate.design.scheme
    if scheme.one_each or estimate.linear.frequency is None:
        return ""
    total, *_ = estimate.linear.totals()
    full = total / scheme.multiplier
    if full < _CROWDED:
        return ""
    return (
        f"about {min(full, 1):.0%} of the {scheme.multiplier} places that everybody has are full: whoever has more "
        "items is counted with a part of them, and degrees are too low. Use corrected() with the numbers of items that "
        "people have, or a larger padding."
    )

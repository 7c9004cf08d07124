"""Numbers about a bipartite graph as a whole: average degrees, density, average weight."""

from __future__ import annotations

from dataclasses import dataclass

from deniable.errors import InvalidRequest
from deniable.estimates.intervals import Interval, one_of, quantile

OVER = ("items", "all")


@dataclass(frozen=True)
class Quantity:
    """A number with its standard error.

    Attributes:
        value: the estimate.
        error: its standard error.
    """

    value: float
    error: float

    def interval(self, *, level: float = 0.95) -> Interval:
        """Return value ± z·error.

        Raises:
            InvalidRequest: a level outside (0, 1).
        """
        width = quantile(one_of(1, level)) * self.error
        return Interval(self.value - width, self.value + width)

    def times(self, factor: float) -> Quantity:
        """Return the quantity in another unit."""
        return Quantity(self.value * factor, self.error * abs(factor))


def per_vertex(people: int, items: int, over: str) -> float:
    """Return what a sum over edges is multiplied by for an average over vertices.

    Implements: the average degree of [MW21], eq. (6), as an average: over the items, Σ k/m, or over all vertices, where
    every edge has two ends, 2·Σ k/(n + m). What is printed there is a density.

    Raises:
        InvalidRequest: over anything else.

    Example:
        >>> 4 * per_vertex(2, 2, "all"), 4 * density_factor(2, 2)
        (2.0, 1.0)
    """
    if over not in OVER:
        raise InvalidRequest(f"the average is over {over!r:.40}; expected 'items' or 'all' vertices.")
    return 1 / items if over == "items" else 2 / (people + items)


def density_factor(people: int, items: int) -> float:
    """Return what a number of edges is multiplied by for the share of possible edges that are there."""
    return 1 / (people * items)

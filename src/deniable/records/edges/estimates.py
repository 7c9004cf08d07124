"""Step 4: counts → the weights of items in a graph in which everybody has one edge."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from deniable.errors import InvalidRequest, NotEstimable
from deniable.estimates.covariance import Vector
from deniable.estimates.intervals import Interval, quantile
from deniable.estimates.linear import left_inverse
from deniable.estimates.shares import Estimate, sampled_fraction
from deniable.estimates.shares import estimate as fit
from deniable.records.edges.designs import WEIGHTS
from deniable.records.edges.graph_numbers import Quantity, density_factor, per_vertex
from deniable.records.edges.tallies import EdgeTally

__all__ = ["EdgeEstimate", "Quantity", "estimate"]


@dataclass(frozen=True, eq=False)
class EdgeEstimate:
    """The sum and the mean of the weights of each item's edges. How many edges there are is known, not estimated.

    Attributes:
        tally: the counts it was made from.
        f: 1 for independent respondents, 0 for a census, (N − n)/(N − 1) between.
    """

    tally: EdgeTally
    f: float = field(default=1.0, repr=False)

    @property
    def degree(self) -> Vector:
        """How many respondents have an edge to each item."""
        return np.asarray(self.tally.counts.sum(axis=1), np.float64)

    @cached_property
    def shares(self) -> Vector:
        """The unbiased share of each weight among the edges of each item: a row for each item."""
        linear = left_inverse(self.tally.design.choice.channel)
        inverse = np.stack([linear.shares(each) for each in np.eye(3)], axis=1)
        with np.errstate(invalid="ignore"):
            return np.asarray(self.tally.counts @ inverse.T / self.degree[:, None], np.float64)

    @property
    def weight(self) -> Vector:
        """The sum of the weights of each item's edges, unbiased; 0 where there are none."""
        return np.nan_to_num(self.mean) * self.degree

    @property
    def mean(self) -> Vector:
        """The mean weight of each item's edges, unbiased."""
        return np.asarray(self.shares @ _WEIGHTS, np.float64)

    def variance(self, what: str = "weight") -> Vector:
        """Return the variance of the "weight" or the "mean" of each item, at its shares brought into the simplex.

        Raises:
            InvalidRequest: of anything else.
        """
        if what not in ("weight", "mean"):
            raise InvalidRequest(f"{what!r:.40} is not estimated; expected weight or mean.")
        channel = self.tally.design.choice.channel
        linear = left_inverse(channel)
        score = np.array([float(_WEIGHTS @ linear.shares(each)) for each in np.eye(3)])
        sent = np.array([[float(channel.probability(i, given=j)) for j in range(3)] for i in range(3)])
        device = (score**2) @ sent - _WEIGHTS**2  # the variance that the device adds, for each true weight
        shares = np.nan_to_num(np.clip(self.shares, 0.0, None), nan=1 / 3)
        shares = shares / shares.sum(axis=1, keepdims=True)
        between = shares @ _WEIGHTS**2 - (shares @ _WEIGHTS) ** 2
        each = shares @ device + self.f * between
        with np.errstate(divide="ignore"):
            return np.asarray(each * self.degree if what == "weight" else each / self.degree, np.float64)

    def errors(self, what: str = "weight") -> Vector:
        """Return the standard error of the "weight" or the "mean" of each item."""
        return np.sqrt(self.variance(what))

    def conf_int(
        self, what: str = "weight", *, level: float = 0.95, simultaneous: bool = False
    ) -> tuple[Interval, ...]:
        """Return value ± z·error for each item, in their order.

        Raises:
            InvalidRequest: a level outside (0, 1), or of anything but the weight and the mean.
        """
        if not 0 < level < 1:
            raise InvalidRequest(f"the level is {level}; expected a number between 0 and 1, such as 0.95.")
        width = quantile(1 - (1 - level) / (len(self.degree) if simultaneous else 1)) * self.errors(what)
        value = self.weight if what == "weight" else self.mean
        return tuple(map(Interval, (value - width).tolist(), (value + width).tolist()))

    def of(self, item: str) -> Estimate:
        """Return the estimate of the three shares of one item, with all its intervals."""
        return fit(self.tally.of(item))

    def average_degree(self, over: str = "items") -> Quantity:
        """Return the average degree: of the items, or over "all" vertices, respondents too. It is known."""
        n = self.tally.respondents
        return Quantity(float(n), 0.0).times(per_vertex(n, len(self.degree), over))

    def density(self) -> Quantity:
        """Return the share of all possible edges that are there. It is known."""
        n = self.tally.respondents
        return Quantity(float(n), 0.0).times(density_factor(n, len(self.degree)))

    def average_weight(self, over: str = "edges") -> Quantity:
        """Return the average weight of an edge; or the average sum of weights of an item, or of "all" vertices."""
        n = self.tally.respondents
        total = Quantity(float(self.weight.sum()), float(self.variance("weight").sum()) ** 0.5)
        return total.times(1 / n if over == "edges" else per_vertex(n, len(self.degree), over))


_WEIGHTS = np.array([float(weight) for weight in WEIGHTS])


def estimate(tally: EdgeTally, *, population: int | None = None) -> EdgeEstimate:
    """Estimate the weights of items.

    Args:
        tally: the counts.
        population: how many people there are altogether, if they are not very many.

    Raises:
        NotEstimable: there are no responses.
        InvalidRequest: a population smaller than the number of respondents.

    Example:
        >>> from deniable.records.edges.designs import one_edge
        >>> from deniable.records.edges.tallies import tally
        >>> sent = ["1 tax"] * 90 + ["0 tax"] * 10 + ["1/2 transport"]
        >>> found = estimate(tally(one_edge(["tax", "transport"], 3), sent))
        >>> found.degree.tolist(), found.mean.round(3).tolist()
        ([100.0, 1.0], [0.963, 0.5])
    """
    if tally.respondents == 0:
        raise NotEstimable("there are no responses; expected at least one.")
    return EdgeEstimate(tally, sampled_fraction(tally.respondents, population))

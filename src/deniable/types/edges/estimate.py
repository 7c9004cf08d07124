"""Step 4: counts → the weights of items in a graph in which everybody has one edge."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from deniable import documents
from deniable.channel import Channel
from deniable.errors import NotEstimable
from deniable.estimates.backing import clopper_pearson
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import Interval
from deniable.estimates.inverses import left_inverse
from deniable.estimates.linear import floats
from deniable.estimates.results import (
    Bounds,
    Caution,
    Columns,
    IntervalMethod,
    Row,
    RowType,
    read_type,
)
from deniable.estimates.shares import sampled_fraction
from deniable.estimates.triples import Scored, Triples
from deniable.rendering import formats
from deniable.types.edges.count import EdgeTally
from deniable.types.edges.design import WEIGHTS, EdgeDesign
from deniable.types.key_value.estimate import (
    ItemEstimate,
    Quantity,
    tested_intervals,
)

__all__ = ["EdgeNumbers", "estimate"]

_WEIGHTS = np.array([float(weight) for weight in WEIGHTS])


@dataclass(frozen=True, slots=True)
class EdgeRow(Row):
    """One item.

    Attributes:
        degree: how many respondents have an edge to it.
        mean: the mean weight of its edges.
        mean_error: the standard error of the mean.
    """

    COLUMNS: ClassVar[Columns] = (("degree",), ("mean",), ("mean_error",))

    degree: float
    mean: float
    mean_error: float


@dataclass(frozen=True, eq=False)
class EdgeNumbers:
    """The numbers of items to which everybody has one edge. How many edges there are is known, not estimated.

    Attributes:
        tally: the counts.
        f: 1 for independent respondents, 0 for a census, (N − n)/(N − 1) between.
    """

    type: ClassVar[str] = "edges"
    mean_by_error: ClassVar[str] = "normal"
    row_type: ClassVar[RowType] = EdgeRow

    tally: EdgeTally
    f: float

    @property
    def degree(self) -> Vector:
        """How many respondents have an edge to each item."""
        return vector(self.tally.asked)

    @property
    def frequency(self) -> Vector:
        """The share of respondents who have an edge to each item."""
        return self.degree / self.tally.respondents

    @cached_property
    def shares(self) -> Matrix:
        """The unbiased share of each weight among the edges of each item: a row for each item."""
        linear = left_inverse(self.tally.design.choice.channel)
        inverse = np.stack([linear.shares(response) for response in np.eye(3)])
        with np.errstate(invalid="ignore"):
            return vector(self.tally.counts @ inverse / self.degree[:, None])

    @property
    def mean(self) -> Vector:
        """The mean weight of each item's edges, unbiased."""
        return vector(self.shares @ _WEIGHTS)

    @property
    def weight(self) -> Vector:
        """The sum of the weights of each item's edges per respondent, unbiased; 0 where there are none."""
        return np.nan_to_num(self.mean) * self.frequency

    @property
    def within_noise(self) -> NDArray[np.bool_]:
        """Whether no edge leads to an item."""
        return np.asarray(self.degree == 0, np.bool_)

    def variance(self, what: str) -> Vector:
        """Return the variance of the frequency, weight or mean of each item, at its shares brought into the simplex."""
        if what == "frequency":
            return np.diagonal(self._between_people())
        channel = self.tally.design.choice.channel
        # The variance that the device adds, for each true weight.
        device = response_scores(channel) ** 2 @ floats(channel) - _WEIGHTS**2
        shares = np.nan_to_num(np.clip(self.shares, 0.0, None), nan=1 / 3)
        shares = shares / shares.sum(axis=1, keepdims=True)
        between = shares @ _WEIGHTS**2 - (shares @ _WEIGHTS) ** 2
        of_edge = shares @ device + self.f * between
        variance = of_edge / np.maximum(self.degree - 1, 1)
        if what == "weight":
            return vector(variance * self.frequency**2)
        return np.where(self.within_noise, np.inf, variance)

    def _between_people(self) -> Matrix:
        """Return the covariance of the shares of people with an edge to each item: no device has a part in it."""
        shares, n = self.frequency, self.tally.respondents
        covariance = np.diag(shares) - np.outer(shares, shares)
        return vector(self.f * covariance / max(n - self.f, 1))

    def joint(self, items: Sequence[int]) -> Matrix:
        """Return the covariance of the frequencies and then the weights of some items, whose edges are known."""
        people = self._between_people()[np.ix_(items, items)]
        weights = np.diag(self.variance("weight")[list(items)])
        return vector(block_diag(people, weights))

    def covariance_of_means(self) -> Matrix:
        """Return the covariance of the mean weights: a diagonal, as every respondent has one item, known."""
        return np.diag(self.variance("mean"))

    def intervals(self, what: str) -> dict[str, IntervalMethod]:
        """Return the interval methods besides value ± error; "wide" keeps its level with few edges, too."""
        if what == "frequency" and self.f != 1:
            return {}
        if what == "frequency":
            return {
                "exact": partial(
                    clopper_pearson, self.degree, self.tally.respondents
                )
            }
        return tested_intervals(partial(self._test, what), finite=self.f != 1)

    def _triples(self) -> tuple[Triples, Scored]:
        channel = self.tally.design.choice.channel
        counts = self.tally.counts.astype(np.float64)
        scored = Scored(_WEIGHTS, response_scores(channel))
        return Triples(
            floats(channel), counts, 1 - self.f, _centered_variance
        ), scored

    def _test(self, what: str, level: float, *, likelihood: bool) -> Bounds:
        """Return the bounds of the mean weight of each item, all of the scale where no edge leads to it; or of sums."""
        triples, weight = self._triples()
        low, high = triples.mean(weight, level, likelihood=likelihood)
        scale = self.frequency if what == "weight" else 1
        return low * scale, high * scale

    def edges(self) -> Quantity:
        """Return the number of edges of a respondent. It is known: everybody has one."""
        return Quantity(1.0, 0.0)

    def edge_weight(self) -> Quantity:
        """Return the average weight of an edge."""
        error = float(self.variance("weight").sum()) ** 0.5
        return Quantity(float(self.weight.sum()), error, self._test_edge_weight)

    total_weight = edge_weight

    def _test_edge_weight(self, level: float) -> Interval:
        triples, weight = self._triples()
        (low,), (high,) = triples.together().mean(weight, level)
        return Interval(float(low), float(high))

    @property
    def warnings(self) -> tuple[Caution, ...]:
        """What calls for care: items without an edge."""
        empty = int(self.within_noise.sum())
        if not empty:
            return ()
        text = (
            f"no edge leads to {empty:,} of {len(self.degree):,} items: nothing is "
            "known about the mean weight there."
        )
        return (Caution("no-edges", text),)

    def describe(self) -> tuple[str, str, tuple[str, ...]]:
        """Return the title, the method and the notes of a summary."""
        design, n = self.tally.design, self.tally.respondents
        epsilon = formats.epsilon(design.epsilon)
        title = f"one edge each, ε = {epsilon}, {n:,} respondents"
        return title, "inversion", (design.caveat,)

    def graph(self, estimate: ItemEstimate) -> dict[str, Quantity]:
        """Return the average weight of an edge."""
        return {"average weight of an edge": estimate.average_weight()}

    def columns(
        self,
        estimate: ItemEstimate,
        level: float,  # noqa: ARG002 - columns without intervals
    ) -> dict[str, Sequence[float | None]]:
        """Return the further columns of a summary."""
        return {
            "degree": self.degree.tolist(),
            "mean": self.mean.tolist(),
            "mean_error": estimate.errors("mean").tolist(),
        }

    def to_source(self) -> dict[str, Any]:
        """Return what the numbers are made from, for JSON."""
        return {"f": self.f}


@read_type(EdgeNumbers.type, ItemEstimate)
def _read(source: Mapping[str, Any], design: EdgeDesign) -> ItemEstimate:
    tally = EdgeTally.from_json(
        json.dumps(documents.field(source, "tally", dict)), design
    )
    numbers = EdgeNumbers(tally, float(documents.field(source, "f", float, int)))
    return ItemEstimate(numbers).about(documents.field(source, "quantity", str))


def response_scores(channel: Channel, power: int = 1) -> Vector:
    """Return what each response adds to a weight, or to a power of it."""
    linear = left_inverse(channel)
    shares = np.stack([linear.shares(response) for response in np.eye(3)])
    return vector(shares @ _WEIGHTS**power)


def _centered_variance(values: Matrix, shares: Matrix) -> Vector:
    """Return the variance of values among people, whose mean is 0."""
    return vector((shares * values**2).sum(axis=1))


def estimate(tally: EdgeTally, *, population: int | None = None) -> ItemEstimate:
    """Estimate the sum and the mean of the weights of each item's edges.

    Args:
        tally: the counts.
        population: how many people there are altogether, if they are not very many.

    Raises:
        NotEstimable: there are no responses.
        InvalidRequest: a population smaller than the number of respondents.

    Example:
        >>> from deniable.types.edges.design import one_edge
        >>> from deniable.types.edges.count import tally
        >>> sent = ["1 tax"] * 90 + ["0 tax"] * 10 + ["1/2 transport"]
        >>> found = estimate(tally(one_edge(["tax", "transport"], 3), sent))
        >>> found.degree.tolist(), found.mean.round(3).tolist()
        ([100.0, 1.0], [0.963, 0.5])
    """
    if tally.respondents == 0:
        raise NotEstimable("there are no responses; expected at least one.")
    f = sampled_fraction(tally.respondents, population)
    return ItemEstimate(EdgeNumbers(tally, f))

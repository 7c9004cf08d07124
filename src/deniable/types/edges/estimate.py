"""Step 4: counts → the weights of items in a graph in which everybody has one edge."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable import documents
from deniable.channel import Channel
from deniable.errors import InvalidRequest, NotEstimable, quoted
from deniable.estimates.backing import clopper_pearson
from deniable.estimates.covariances import Matrix, Vector
from deniable.estimates.intervals import Ends, Interval, quantile
from deniable.estimates.inverses import left_inverse
from deniable.estimates.linear import floats
from deniable.estimates.results import Caution, Columns, Row, Summary
from deniable.estimates.shares import Estimate, sampled_fraction
from deniable.estimates.shares import estimate as fit
from deniable.estimates.triples import Scored, Triples
from deniable.rendering import formats
from deniable.types.edges.count import EdgeTally
from deniable.types.edges.design import WEIGHTS, EdgeDesign
from deniable.types.key_value.estimate import ItemEstimate, Quantity

__all__ = ["EdgeEstimate", "Quantity", "estimate"]


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
class EdgeEstimate(ItemEstimate[EdgeTally]):
    """The sum and the mean of the weights of each item's edges. How many edges there are is known, not estimated.

    Attributes:
        tally: the counts it was made from.
        f: 1 for independent respondents, 0 for a census, (N − n)/(N − 1) between.
        quantity: "frequency", "degree", "weight" or "mean": what `params` and what belongs to them tell of each item.
    """

    type: ClassVar = "edges"
    QUANTITIES: ClassVar[tuple[str, ...]] = ("frequency", "degree", "weight", "mean")

    tally: EdgeTally
    f: float = field(default=1.0, repr=False)
    quantity: str = "frequency"

    @property
    def frequency(self) -> Vector:
        """The share of respondents who have an edge to each item."""
        return self.degree / self.respondents

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
            return np.asarray(
                self.tally.counts @ inverse.T / self.degree[:, None], np.float64
            )

    @property
    def weight(self) -> Vector:
        """The sum of the weights of each item's edges, unbiased; 0 where there are none."""
        return np.nan_to_num(self.mean) * self.degree

    @property
    def mean(self) -> Vector:
        """The mean weight of each item's edges, unbiased."""
        return np.asarray(self.shares @ _WEIGHTS, np.float64)

    @property
    def within_noise(self) -> NDArray[np.bool_]:
        return np.asarray(self.degree == 0, np.bool_)

    def variance(self, what: str | None = None) -> Vector:
        """Return the variance of the "weight" or the "mean" of each item, at its shares brought into the simplex."""
        what = what or self.quantity
        self.value(what)  # refuses what is not told
        if what in ("frequency", "degree"):
            scale = self.respondents if what == "degree" else 1
            return np.diagonal(self._between_people()) * scale**2
        channel = self.tally.design.choice.channel
        device = (
            response_scores(channel) ** 2 @ floats(channel) - _WEIGHTS**2
        )  # the variance that the device adds, for each true weight
        shares = np.nan_to_num(np.clip(self.shares, 0.0, None), nan=1 / 3)
        shares = shares / shares.sum(axis=1, keepdims=True)
        between = shares @ _WEIGHTS**2 - (shares @ _WEIGHTS) ** 2
        each = shares @ device + self.f * between
        with np.errstate(divide="ignore", invalid="ignore"):
            one_edge = each / np.maximum(self.degree - 1, 1) * (self.degree > 0)
            return np.asarray(
                one_edge * self.degree**2 if what == "weight" else each / self._divisor,
                np.float64,
            )

    @property
    def _divisor(self) -> Vector:
        """The number of edges to each item less one: what the variance of their mean is divided by."""
        return np.where(self.degree > 0, np.maximum(self.degree - 1, 1), 0.0)

    def _between_people(self) -> Matrix:
        """Return the covariance of the shares of people with an edge to each item: no device has a part in it."""
        shares, n = self.frequency, self.respondents
        return np.asarray(
            self.f * (np.diag(shares) - np.outer(shares, shares)) / max(n - self.f, 1),
            np.float64,
        )

    def cov_params(self) -> Matrix:
        """Return the covariance matrix: of weights and means a diagonal, as every respondent has one item, known."""
        if self.quantity in ("frequency", "degree"):
            return self._between_people() * (
                self.respondents**2 if self.quantity == "degree" else 1
            )
        return np.diag(self.variance(self.quantity))

    @property
    def default_interval(self) -> str:
        """The interval method that is used when none is named."""
        if self.quantity in ("frequency", "degree"):
            return "exact" if self.f == 1 else "normal"
        return "wide" if self.f == 1 else "score"

    def ends(self, what: str, confidence: float, method: str | None = None) -> Ends:
        """Return the two ends of the interval of each item.

        Args:
            what: "frequency", "degree", "weight" or "mean".
            confidence: how often each holds the truth.
            method: "wide", all values that the score or the likelihood does not reject, which keeps its level with few
                edges too (the default for independent respondents), "score" (the default in a finite population),
                "normal" or "chebyshev". The first two stay on the scale.

        Raises:
            InvalidRequest: something that is not estimated, or another method.
        """
        chosen, value = method or self.about(what).default_interval, self.value(what)
        if what in ("frequency", "degree") and chosen == "exact":
            low, high = clopper_pearson(self.degree, self.respondents, confidence)
            return (
                (low * self.respondents, high * self.respondents)
                if what == "degree"
                else (low, high)
            )
        if what in ("weight", "mean") and chosen in ("wide", "score"):
            low, high = self._tested(confidence, likelihood=chosen == "wide")
            return (
                (low * self.degree, high * self.degree)
                if what == "weight"
                else (low, high)
            )
        factors = {
            "normal": quantile(confidence, self.df),
            "chebyshev": (1 - confidence) ** -0.5,
        }
        if chosen not in factors:
            own = "'exact'" if what in ("frequency", "degree") else "'wide', 'score'"
            raise InvalidRequest(
                f"the interval method is {quoted(method)}; expected {own}, 'normal' or 'chebyshev'."
            )
        width = factors[chosen] * self.errors(what)
        return value - width, value + width

    def _tested(self, confidence: float, *, likelihood: bool) -> Ends:
        """Return the ends of the mean weight of each item; all of the scale where no edge leads to it."""
        triples, weight = self._triples()
        return triples.mean(weight, confidence, likelihood=likelihood)

    def _triples(self) -> tuple[Triples, Scored]:
        channel = self.tally.design.choice.channel
        counts = self.tally.counts.astype(np.float64)
        return Triples(floats(channel), counts, 1 - self.f, _spread), Scored(
            _WEIGHTS, response_scores(channel)
        )

    @property
    def warnings(self) -> tuple[Caution, ...]:
        empty = int((self.degree == 0).sum())
        if not empty:
            return ()
        text = (
            f"no edge leads to {empty:,} of {len(self.degree):,} items: nothing is "
            "known about the mean weight there."
        )
        return (Caution("no-edges", text),)

    def summary(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
        count: int = 20,
    ) -> Summary[EdgeRow]:
        """Return a table of the items with the most edges."""
        whole = self._whole(level=level, method=method, simultaneous=simultaneous)
        order = (-self.degree).argsort(kind="stable")[:count].tolist()
        rows = tuple(whole.rows[number] for number in order)
        return replace(whole, rows=rows, left_out=len(whole.rows) - len(rows))

    def _whole(
        self, *, level: float, method: str | None, simultaneous: bool
    ) -> Summary[EdgeRow]:
        design, own = (
            self.tally.design,
            self._own_numbers(level, method, simultaneous=simultaneous),
        )
        more = zip(
            self.degree.tolist(),
            self.mean.tolist(),
            self.errors("mean").tolist(),
            strict=True,
        )
        average = self.average_weight()
        return Summary(
            title=f"one edge each, ε = {formats.epsilon(design.epsilon)}, {self.tally.respondents:,} respondents",
            quantity=self.quantity,
            rows=tuple(EdgeRow(*one, *two) for one, two in zip(own, more, strict=True)),
            notes=(
                f"average weight of an edge: {average.value:.4g} ± {average.error:.2g}",
                design.caveat,
            ),
            warnings=self.warnings,
            level=level,
            interval=method or self.default_interval,
            method="inversion",
            respondents=self.tally.respondents,
            missing=self.tally.missing,
            epsilon=design.epsilon,
            simultaneous=simultaneous,
        )

    def _source(self) -> dict[str, Any]:
        return {
            "tally": json.loads(self.tally.to_json()),
            "f": self.f,
            "quantity": self.quantity,
        }

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: EdgeDesign) -> EdgeEstimate:
        tally = EdgeTally.from_json(
            json.dumps(documents.field(source, "tally", dict)), design
        )
        made = cls(tally, float(documents.field(source, "f", float, int)))
        return made.about(documents.field(source, "quantity", str))

    def of(self, item: str) -> Estimate:
        """Return the estimate of the three shares of one item, with all its intervals."""
        return fit(self.tally.of(item))

    def edges(self) -> Quantity:
        """Return the number of all edges. It is known: everybody has one."""
        return Quantity(float(self.respondents), 0.0)

    def average_weight(self, over: str = "edges") -> Quantity:
        error = float(self.variance("weight").sum()) ** 0.5
        mean = Quantity(float(self.weight.sum()), error).times(1 / self.respondents)
        mean = replace(mean, tested=self._average)
        return (
            mean
            if over == "edges"
            else mean.times(self.respondents * self._per_vertex(over))
        )

    def _average(self, confidence: float) -> Interval:
        triples, weight = self._triples()
        (low,), (high,) = triples.together().mean(weight, confidence)
        return Interval(float(low), float(high))


_WEIGHTS = np.array([float(weight) for weight in WEIGHTS])


def response_scores(channel: Channel, power: int = 1) -> Vector:
    """Return what each response adds to a weight, or to a power of it."""
    return np.array(
        [
            float(_WEIGHTS**power @ left_inverse(channel).shares(each))
            for each in np.eye(3)
        ]
    )


def _spread(values: Matrix, shares: Matrix) -> Vector:
    """Return the variance of values among people, whose mean is 0."""
    return np.asarray((shares * values**2).sum(axis=1), np.float64)


def estimate(tally: EdgeTally, *, population: int | None = None) -> EdgeEstimate:
    """Estimate the weights of items.

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
    return EdgeEstimate(tally, sampled_fraction(tally.respondents, population))

"""Degrees, weights and mean values of items, with all that is needed to say how sure we are."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable import documents
from deniable.errors import InvalidRequest, NotEstimable
from deniable.estimates.covariance import Matrix, Vector
from deniable.estimates.intervals import Interval, one_of
from deniable.estimates.results import Doubt, Result
from deniable.records.edges.graph_numbers import Quantity, density_factor, per_vertex
from deniable.records.key_value.designs import KeyValueDesign
from deniable.records.key_value.intervals import NOISE, ends
from deniable.records.key_value.linear import Linear
from deniable.records.key_value.tallies import KeyValueTally
from deniable.records.key_value.variances import check_told

if TYPE_CHECKING:
    from deniable.records.key_value.items import DegreeDistribution, Ranked, Shrunk
    from deniable.records.key_value.summary import KeyValueSummary

CROWDED = "crowded"  # the code of the doubt that places are full
WHAT = ("degree", "frequency", "weight", "mean")


@dataclass(frozen=True, eq=False)
class KeyValueEstimate(Result):
    """What is known about each item: how many have it, with how much weight, and the mean value of those who have it.

    All values are unbiased (the mean is a ratio of two that are, and consistent), so they may leave their range.
    Weights and means are on the scale of the design, from `low` to `high`.

    Attributes:
        tally: the counts it was made from.
        linear: the estimates per respondent, on the scale from −1 to 1.
        population: how many people there are, "census" if all of them responded, None if respondents are independent.
        kept: the share of edges that padding let through; 1 unless a correction was made.
        quantity: what `params` and all that belongs to them tell of each item; another one by `about`.
        warnings: what calls for care.
    """

    type: ClassVar = "key-value"

    tally: KeyValueTally
    linear: Linear = field(repr=False)
    population: int | str | None = None
    kept: float = 1.0
    quantity: str = "degree"
    warnings: tuple[Doubt, ...] = ()

    @property
    def design(self) -> KeyValueDesign:
        """The design the responses were drawn with."""
        return self.tally.design

    @property
    def respondents(self) -> int:
        """How many responses were counted."""
        return self.tally.respondents

    @property
    def scaling(self) -> str:
        """Whether counts are divided by how many were asked ("conditional"), or multiplied by what is expected."""
        return self.linear.scaling

    @property
    def frequency(self) -> Vector:
        """The share of respondents who have each item.

        Raises:
            NotEstimable: the design does not tell edges from none.
        """
        if self.linear.frequency is None:
            raise NotEstimable(
                f"{self.design.name} does not tell who has an item; expected a design such as lpp_club() or pckv_ue()."
            )
        return self.linear.frequency / self.kept

    @property
    def degree(self) -> Vector:
        """How many respondents have each item."""
        return self.frequency * self.respondents

    @property
    def weight(self) -> Vector:
        """The sum of the weights of each item.

        Raises:
            NotEstimable: the design does not tell weights.
        """
        return self._weight * self.respondents

    @property
    def _weight(self) -> Vector:
        middle, half = self._scale
        return (middle * self.frequency if middle else 0.0) + half * self._centred

    @property
    def _centred(self) -> Vector:
        if self.linear.weight is None:
            raise NotEstimable(
                f"{self.design.name} was built for frequencies alone and does not tell weights.",
                "Build it with an importance for the weight or the mean.",
            )
        return self.linear.weight / self.kept

    @property
    def mean(self) -> Vector:
        """The mean weight of those who have an item: a ratio, to be read together with `within_noise`."""
        middle, half = self._scale
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(middle + half * self._centred / self.frequency, np.float64)

    @property
    def within_noise(self) -> NDArray[np.bool_]:
        """Whether the degree of each item is within noise of 0, so that nothing is known about its mean."""
        variance = self.linear.variances[0] / self.kept**2
        return np.asarray(~(self.frequency > NOISE * np.sqrt(variance)), np.bool_)

    @property
    def _scale(self) -> tuple[float, float]:
        return float(self.design.low + self.design.high) / 2, float(self.design.high - self.design.low) / 2

    def variance(self, what: str = "degree") -> Vector:
        """Return the variance of the degree, frequency, weight or mean of each item; of the mean by the delta method.

        Raises:
            InvalidRequest: of anything else.
            NotEstimable: the design does not tell it.
        """
        if what not in WHAT:
            raise InvalidRequest(f"{what!r:.40} is not estimated; expected one of {', '.join(WHAT)}.")
        var_f, var_w, cov = (each / self.kept**2 for each in self.linear.variances)
        if what in ("degree", "frequency"):
            return var_f * (self.respondents**2 if what == "degree" else 1) + 0 * self.frequency
        middle, half = self._scale
        if what == "weight":
            total = middle**2 * var_f + 2 * middle * half * cov + half**2 * var_w
            return np.maximum(total, 0.0) * self.respondents**2 + 0 * self._centred
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = self._centred / self.frequency
            return np.asarray(half**2 * (var_w - 2 * ratio * cov + ratio**2 * var_f) / self.frequency**2, np.float64)

    def errors(self, what: str = "degree") -> Vector:
        """Return the standard error of the degree, frequency, weight or mean of each item."""
        return np.sqrt(np.maximum(self.variance(what), 0.0))

    def value(self, what: str = "degree") -> Vector:
        """Return the degree, frequency, weight or mean of each item."""
        if what not in WHAT:
            raise InvalidRequest(f"{what!r:.40} is not estimated; expected one of {', '.join(WHAT)}.")
        return np.asarray(getattr(self, what), np.float64)

    def about(self, quantity: str) -> KeyValueEstimate:
        """Return the same estimate with the degree, frequency, weight or mean of each item as its numbers.

        Raises:
            InvalidRequest: of anything else.
            NotEstimable: the design does not tell it.
        """
        self.value(quantity)
        return replace(self, quantity=quantity)

    @property
    def params(self) -> dict[str, float]:
        return dict(zip(self.design.items, self.value(self.quantity).tolist(), strict=True))

    @property
    def bse(self) -> dict[str, float]:
        return dict(zip(self.design.items, self.errors(self.quantity).tolist(), strict=True))

    def conf_int(
        self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False
    ) -> dict[str, Interval]:
        """Return an interval for each item by name.

        Args:
            level: how often such an interval holds the truth.
            method: for degree and frequency "score" (the default) or "normal"; for the weight "normal"; for the mean
                "delta" or "fieller". By default the mean's is by the delta method, and the whole scale for an item
                whose degree is within noise of 0.
            simultaneous: let all intervals together hold with this level (Bonferroni).

        Raises:
            InvalidRequest: a level outside (0, 1), or a method that does not exist or does not fit.
        """
        low, high = ends(self, self.quantity, one_of(len(self.design.items) if simultaneous else 1, level), method)
        return dict(zip(self.design.items, map(Interval, low.tolist(), high.tolist()), strict=True))

    def cov_params(self) -> Matrix:
        """Return the covariance of the numbers of all items, for independent respondents.

        In a census the covariance is smaller in every direction. That of means is by the delta method.

        Raises:
            NotEstimable: the design does not tell edges from none, or not the weights.
        """
        self.value(self.quantity)  # refuses what the design does not tell
        size, both = len(self.design.items), self._covariance(list(range(len(self.design.items))))
        if self.quantity in ("degree", "frequency"):
            return both[:size, :size] / (self.respondents**2 if self.quantity == "frequency" else 1)
        if self.quantity == "weight":
            return both[size:, size:]
        turn = np.hstack([np.diag(-self.mean / self.degree), np.diag(1 / self.degree)])
        return np.asarray(turn @ both @ turn.T, np.float64)

    def joint_covariance(self, items: Sequence[str]) -> Matrix:
        """Return the covariance of the degrees and then the weights of some items, for independent respondents.

        Raises:
            InvalidAnswer: an item that the design does not know.
            NotEstimable: the design does not tell edges from none, or not the weights.
        """
        check_told(self.design)
        return self._covariance([self.design.item_number(item) for item in items])

    def _covariance(self, numbers: list[int]) -> Matrix:
        matrix = self.linear.matrix(numbers) * (self.respondents / self.kept) ** 2
        middle, half = self._scale
        eye = np.eye(len(numbers))
        turn = np.block([[eye, 0 * eye], [middle * eye, half * eye]])
        return np.asarray(turn @ matrix @ turn.T, np.float64)

    def average_degree(self, over: str = "items") -> Quantity:
        """Return the average degree: of the items, or over "all" vertices, respondents too.

        Example:
            >>> from deniable.records.key_value.designs import lpp_ddagger
            >>> from deniable.records.key_value.tallies import tally
            >>> from deniable.records.key_value.estimates import estimate
            >>> counted = tally(lpp_ddagger(["tea", "coffee"], 1), ["+ tea", "0 coffee", "- tea", "+ coffee"])
            >>> found = estimate(counted)
            >>> round(found.average_degree().value / found.density().value)
            4
        """
        return self._edges().times(per_vertex(self.respondents, len(self.design.items), over))

    def density(self) -> Quantity:
        """Return the share of all possible edges that are there."""
        return self._edges().times(density_factor(self.respondents, len(self.design.items)))

    def average_weight(self, over: str = "edges") -> Quantity:
        """Return the average weight of an edge; or the average sum of weights of an item, or of "all" vertices.

        Of an edge it is a ratio, and says nothing where the number of edges is within noise of 0.
        """
        _ = self._centred  # refuses where weights are not told
        f, w, var_f, var_w, cov = self.linear.totals()
        middle, half = self._scale
        if over == "edges":
            _ = self.frequency  # refuses where edges are not told
            ratio = w / f if f else math.nan
            variance = (var_w - 2 * ratio * cov + ratio**2 * var_f) / f**2 if f else math.inf
            return Quantity(middle + half * ratio, half * max(variance, 0.0) ** 0.5)
        variance = middle**2 * var_f + 2 * middle * half * cov + half**2 * var_w
        total = Quantity(middle * f + half * w, max(variance, 0.0) ** 0.5).times(self.respondents / self.kept)
        return total.times(per_vertex(self.respondents, len(self.design.items), over))

    def _edges(self) -> Quantity:
        _ = self.frequency  # refuses where edges are not told
        f, _w, var_f, *_ = self.linear.totals()
        return Quantity(f, var_f**0.5).times(self.respondents / self.kept)

    def top(self, count: int = 10, by: str = "degree", *, level: float = 0.95) -> tuple[Ranked, ...]:
        """Return the items with the largest values, with intervals that hold for all items at once."""
        from deniable.records.key_value.items import top

        return top(self, count, by, level)

    def degree_distribution(self, points: int = 60) -> DegreeDistribution:
        """Return how the degrees of the items are distributed, the noise of their estimates taken out."""
        from deniable.records.key_value.items import degree_distribution

        return degree_distribution(self, points)

    def corrected(self, sizes: Mapping[int, float]) -> KeyValueEstimate:
        """Return the estimate with what padding cut off put back, given the shares of people by number of items."""
        from deniable.records.key_value.items import kept_share

        warnings = tuple(each for each in self.warnings if each.code != CROWDED)
        return replace(self, kept=kept_share(self, sizes), warnings=warnings)

    def shrunk(self) -> Shrunk:
        """Return frequencies and means drawn towards those of all items, for the least error on the whole; biased."""
        from deniable.records.key_value.items import shrunk

        return shrunk(self)

    def summary(
        self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False, count: int = 20
    ) -> KeyValueSummary:
        """Return a table of the most frequent items, with the numbers of the whole graph and warnings."""
        from deniable.records.key_value.summary import summarize

        return summarize(self, level, method, count, simultaneous=simultaneous)

    def _whole(self, *, level: float, method: str | None, simultaneous: bool) -> KeyValueSummary:
        from deniable.records.key_value.summary import summarize

        return summarize(self, level, method, None, simultaneous=simultaneous)

    @property
    def _design_hash(self) -> str:
        return self.design.hash

    def _source(self) -> dict[str, Any]:
        return {
            "tally": json.loads(self.tally.to_json()),
            "scaling": self.scaling,
            "population": self.population,
            "kept": self.kept,
            "corrected": not any(each.code == CROWDED for each in self.warnings),
            "quantity": self.quantity,
        }

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: KeyValueDesign) -> KeyValueEstimate:
        from deniable.records.key_value.estimates import estimate

        tally = KeyValueTally.from_json(json.dumps(documents.field(source, "tally", dict)), design)
        made = estimate(tally, scaling=documents.field(source, "scaling", str), population=source.get("population"))
        made = replace(made, kept=documents.field(source, "kept", float, int))
        if source.get("corrected") is True:
            made = replace(made, warnings=tuple(each for each in made.warnings if each.code != CROWDED))
        return made.about(documents.field(source, "quantity", str))

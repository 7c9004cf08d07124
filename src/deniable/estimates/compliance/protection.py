"""Self-protection over several items: some people say no to all of them, whatever the devices say.

P(z) = (1 − θ)·Π_j λ_j^z_j (1 − λ_j)^(1 − z_j) + θ·[z is all no], with items that are independent among the others. Sum
scores of like items are the same model with one λ and as many trials, or with true sums of another law. Where items
are associated among the others, the model does not hold: without any assumption about them θ cannot be told.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product as combinations_of
from math import comb
from typing import Any, ClassVar, Literal, NamedTuple, cast, overload

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import gammaln, xlogy

from deniable import documents
from deniable.designs import Design
from deniable.designs import product as product_of
from deniable.errors import InvalidRequest, NotEstimable, quoted
from deniable.estimates.compliance.fits import (
    Compliance,
    ComplianceModel,
    Counts,
    is_binary,
    remade_sample,
)
from deniable.estimates.compliance.mixture_likelihood import fit_test
from deniable.estimates.compliance.response_shares import Group, ResponseShares, gather
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import Interval, crossings, profiled_sum, quantile
from deniable.estimates.likelihood import climbed, log_likelihood
from deniable.estimates.sampling import Sampling
from deniable.estimates.simplex import projection
from deniable.estimates.stages import groups_from_body
from deniable.estimates.testing import HypothesisTest, likelihood_ratio
from deniable.tallies import Tally
from deniable.tallies.responses import Responses
from deniable.tallies.weighted import WeightedTally

_MOST_ITEMS = 12  # whose 4,096 combinations are written out
_GRID = 129  # places at which the one free number is tried before it is refined
_ROOM = 1e-12  # that a probability keeps from 0 and 1


@dataclass(frozen=True, eq=False)
class _ProtectionLaw:
    """The probability of each cell, of people who follow the devices and of those who are in the first cell for sure.

    Attributes:
        counts: how many people are in each cell.
    """

    counts: Vector

    @abstractmethod
    def shares(self, rates: Vector, theta: float) -> Vector:
        """Return the probability of each cell."""

    @abstractmethod
    def slopes(self, rates: Vector, theta: float) -> Matrix:
        """Return by how much the probability of each cell (rows) moves with each rate and with θ."""

    @abstractmethod
    def highest(
        self, fixed: int | None = None, value: float = 0.0
    ) -> tuple[Vector, float]:
        """Return the most likely rates and θ, one of them (θ last) perhaps fixed."""

    @abstractmethod
    def without(self) -> tuple[Vector, float]:
        """Return the most likely rates if θ is 0."""

    def height(self, rates: Vector, theta: float) -> float:
        """Return the log-likelihood of the cells, without the constant that counts orders of people."""
        return log_likelihood(self.counts, self.shares(rates, theta))

    def influence(self, rates: Vector, theta: float) -> tuple[Matrix, Matrix]:
        """Return the inverse of the expected information, and by how much rates and θ move with the share of a cell.

        Implements: A⁻¹, and A⁻¹·n·∂log p: what a share more adds to the score, at the most likely numbers.
        """
        safe = np.clip(rates, 1e-9, 1 - 1e-9)
        scores = (
            self.slopes(safe, theta)
            / np.maximum(self.shares(safe, theta), 1e-300)[:, None]
        )
        n = self.counts.sum()
        inverse = np.linalg.pinv(n * (self.slopes(safe, theta).T @ scores))
        return vector(inverse), vector(inverse @ (n * scores.T))


def _best(fall: Callable[[float], float], first: float, last: float) -> float:
    """Return where a function is smallest: at one of many places, refined between its neighbours."""
    tried = np.linspace(first, last, _GRID)
    at = int(np.argmin([fall(each) for each in tried]))
    around = (tried[max(at - 1, 0)], tried[min(at + 1, _GRID - 1)])
    candidates = [float(tried[at])]
    if around[0] < around[1]:
        candidates.append(
            float(
                minimize_scalar(
                    fall, bounds=around, method="bounded", options={"xatol": 1e-9}
                ).x
            )
        )
    return min(candidates, key=fall)


@dataclass(frozen=True, eq=False)
class _CellLaw(_ProtectionLaw):
    """Counts of combinations of yes over items, some of which may be asked several times.

    Why: whoever protects themselves is in the first cell alone. If m of its people do not, the most likely λ_j is
    yes_j / (trials_j · (others + m)), brought between the two probabilities of its device, and θ = 1 − (others + m)/n:
    the maximum lies on this curve, and so does every profile. One number is searched, whatever the number of items.

    Attributes:
        yes: how often each item was said yes to, a row for each cell; the first cell has none.
        trials: how often each item was asked.
        ways: in how many ways each cell comes about.
        low: the smallest probability of yes that the device of each item allows.
        high: the largest.
    """

    yes: Matrix
    trials: Vector
    ways: Vector
    low: Vector
    high: Vector

    def shares(self, rates: Vector, theta: float) -> Vector:
        safe = np.clip(rates, _ROOM, 1 - _ROOM)
        logs = self.yes @ np.log(safe) + (self.trials - self.yes) @ np.log1p(-safe)
        found = (1 - theta) * self.ways * np.exp(logs)
        found[0] += theta
        return found

    def slopes(self, rates: Vector, theta: float) -> Matrix:
        honest = self.shares(rates, 0.0)
        by_rate = (
            (1 - theta)
            * honest[:, None]
            * (self.yes / rates - (self.trials - self.yes) / (1 - rates))
        )
        return np.column_stack([by_rate, np.eye(len(honest))[0] - honest])

    def on_curve(
        self, honest: float, fixed: int | None, value: float
    ) -> tuple[Vector, float]:
        """Return rates and θ if so many of the first cell's people are honest, one of them (θ last) perhaps fixed."""
        others = self.counts[1:].sum() + honest
        rates = np.clip(
            self.counts @ self.yes / (self.trials * max(others, 1e-300)),
            self.low,
            self.high,
        )
        theta = 1 - others / self.counts.sum()
        if fixed is not None and fixed < len(rates):
            rates[fixed] = value
        return rates, (
            value if fixed == len(rates) else min(max(float(theta), 0.0), 1.0)
        )

    def highest(
        self, fixed: int | None = None, value: float = 0.0
    ) -> tuple[Vector, float]:
        def fall(honest: float) -> float:
            return -self.height(*self.on_curve(honest, fixed, value))

        return self.on_curve(_best(fall, 0.0, float(self.counts[0])), fixed, value)

    def without(self) -> tuple[Vector, float]:
        return self.on_curve(float(self.counts[0]), len(self.trials), 0.0)


@dataclass(frozen=True, eq=False)
class _PoissonLaw(_ProtectionLaw):
    """Counts of sums of responses whose true sums follow Poisson's law, cut off at the number of items.

    Why: with μ = J·y/(1 − y) the true sum s has a probability in proportion to J^s/s!·y^s·(1 − y)^(J − s), which is
    defined for y = 0 and 1 as well, so that nobody and everybody carrying all are within. The one rate is the mean of
    s/J, which rises with y. At a given rate the most likely θ brings the first cell to what was seen, or is 0.

    Attributes:
        channel: the probability of each sum of responses (rows) given each true sum.
    """

    channel: Matrix

    @cached_property
    def _numbers(self) -> Vector:
        return np.arange(len(self.channel), dtype=np.float64)

    def true(self, y: float) -> Vector:
        """Return the probability of each true sum."""
        s = self._numbers
        last = s[-1]
        logs = s * np.log(last) - gammaln(s + 1) + xlogy(s, y) + xlogy(last - s, 1 - y)
        found = np.exp(logs - logs.max())
        return vector(found / found.sum())

    def rate(self, y: float) -> float:
        """Return the mean of s/J."""
        return float(self.true(y) @ self._numbers / self._numbers[-1])

    def _place(self, rate: float) -> float:
        if not 0 < rate < 1:
            return min(max(rate, 0.0), 1.0)
        return float(brentq(lambda y: self.rate(y) - rate, 0.0, 1.0, xtol=1e-15))

    def _at(self, y: float, theta: float) -> Vector:
        found = (1 - theta) * (self.channel @ self.true(y))
        found[0] += theta
        return vector(found)

    def _theta(self, y: float) -> float:
        first = float((self.channel @ self.true(y))[0])
        seen = float(self.counts[0] / self.counts.sum())
        return max((seen - first) / (1 - first), 0.0) if first < 1 else 0.0

    def shares(self, rates: Vector, theta: float) -> Vector:
        return self._at(self._place(float(rates[0])), theta)

    def slopes(self, rates: Vector, theta: float) -> Matrix:
        true, s = self.true(self._place(float(rates[0]))), self._numbers
        away = s - true @ s
        moved = s[-1] * true * away / max(float(true @ away**2), 1e-300)
        honest = self.channel @ true
        return np.column_stack(
            [(1 - theta) * (self.channel @ moved), np.eye(len(s))[0] - honest]
        )

    def highest(
        self, fixed: int | None = None, value: float = 0.0
    ) -> tuple[Vector, float]:
        if fixed == 0:
            return vector([value]), self._theta(self._place(value))

        def theta(y: float) -> float:
            return value if fixed == 1 else self._theta(y)

        best = _best(
            lambda y: -log_likelihood(self.counts, self._at(y, theta(y))), 0.0, 1.0
        )
        return vector([self.rate(best)]), theta(best)

    def without(self) -> tuple[Vector, float]:
        return self.highest(1, 0.0)


@dataclass(frozen=True, eq=False)
class _Protection(ComplianceModel):
    """Shares of yes among people who follow the devices, and the share of those who say no to everything."""

    @property
    @abstractmethod
    def _law(self) -> _ProtectionLaw:
        """The law of the cells that were counted."""

    @property
    @abstractmethod
    def _items(self) -> list[str]:
        """What the items are called."""

    @property
    @abstractmethod
    def _rates(self) -> Matrix:
        """The probability of yes of others and of members, a row for each item."""

    @property
    def _always(self) -> str:
        return "always no"

    @cached_property
    def _likely(self) -> tuple[Vector, float]:
        return self._law.highest()

    @cached_property
    def _without(self) -> tuple[Vector, float]:
        return self._law.without()

    def _numbers(self, rates: Vector, theta: float) -> dict[str, float]:
        u, v = self._rates.T
        shares = np.clip((rates - u) / (v - u), 0.0, 1.0) + 0.0
        return dict(
            zip([*self._items, self._always], [*shares.tolist(), theta], strict=True)
        )

    @property
    def params(self) -> dict[str, float]:
        return self._numbers(*self._likely)

    @property
    def without(self) -> dict[str, float]:
        """The most likely numbers if nobody protected themselves."""
        return self._numbers(*self._without)

    @property
    def moments(self) -> dict[str, float]:
        """With two items the solution of their three shares; else none."""
        seen = self.response_shares.value
        if len(self._rates) != 2 or not seen[3] > 0:
            return {}
        rates = np.array([seen[3] / (seen[3] + seen[1]), seen[3] / (seen[3] + seen[2])])
        u, v = self._rates.T
        theta = 1 - seen[3] / rates.prod()
        return dict(
            zip(
                self.params,
                [*((rates - u) / (v - u)).tolist(), float(theta)],
                strict=True,
            )
        )

    @cached_property
    def _influence(self) -> tuple[Matrix, Matrix]:
        """The inverse of the information about the numbers, and by how much they move with the share of each cell."""
        scale = np.append(1 / (self._rates[:, 1] - self._rates[:, 0]), 1.0)
        inverse, moves = self._law.influence(*self._likely)
        return vector(scale[:, None] * inverse * scale), vector(scale[:, None] * moves)

    @property
    def jacobian(self) -> Matrix:
        """By how much the most likely numbers move with the share of each cell, were none at a border."""
        return self._influence[1]

    def covariance_matrix(self) -> Matrix:
        """Return the inverse of the expected information, or the sandwich of a sample; at a border it is too large."""
        return (
            self._influence[0].copy()
            if self.sample is None
            else super().covariance_matrix()
        )

    def _profile(self, confidence: float) -> dict[str, Interval]:
        law, top, found = self._law, self.log_likelihood, {}
        for number, (name, drop) in enumerate(self._drops(confidence).items()):
            u, v = self._rates[number] if number < len(self._rates) else (0.0, 1.0)

            def above(
                at: float,
                number: int = number,
                u: float = u,
                v: float = v,
                floor: float = top - drop,
            ) -> float:
                return (
                    max(law.height(*law.highest(number, u + (v - u) * at)), -1e300)
                    - floor
                )

            found[name] = Interval(*crossings(above, self.params[name]))
        return found

    @property
    def log_likelihood(self) -> float:
        return self._law.height(*self._likely)

    @property
    def log_likelihood_without(self) -> float:
        """The log-likelihood if nobody protected themselves."""
        return self._law.height(*self._without)

    @property
    def fit(self) -> HypothesisTest:
        law = self._law
        expected = law.shares(*self._likely)
        test = fit_test(
            law.counts,
            law.counts.sum() * expected,
            max(len(law.counts) - 1 - len(self.params), 0),
        )
        rates, theta = self._likely
        return self.response_shares.corrected(
            test, law.slopes(np.clip(rates, 1e-9, 1 - 1e-9), theta), expected
        )

    @property
    def protection_test(self) -> HypothesisTest:
        """Test whether anybody protects themselves.

        Why: a share of 0 is at the border of what is possible, where the statistic is 0 in half of all surveys
        [SL87], so that the p-value is half of that of one degree of freedom.
        """
        gain = (self.log_likelihood - self.log_likelihood_without) / float(
            self.response_shares.scales(self.jacobian)[-1]
        )
        return likelihood_ratio(
            "Test that nobody protects themselves", gain, 1, at_border=1
        )

    @property
    def _notes(self) -> tuple[str, ...]:
        shares = "; ".join(
            f"{name} {value:.4f}"
            for name, value in self.without.items()
            if name != self._always
        )
        return (
            "Shares are of the people who follow the devices, and items are taken to be independent among them.",
            f"{self.protection_test}. Then the shares would be {shares}.",
        )

    @property
    def _outside(self) -> str:
        return (
            "By chance, or because items are associated among the people who follow the devices, people protect "
            "themselves on some items alone, or the devices are others than those used."
        )


@dataclass(frozen=True, eq=False)
class SelfProtection(_Protection):
    """Shares of yes to several items, and the share of people who say no to all of them."""

    type: ClassVar = "self-protection"

    @property
    def _factors(self) -> tuple[Any, ...]:
        return self.tallies[0].design.factors

    @property
    def _items(self) -> list[str]:
        return [attribute for attribute, _ in self._factors]

    @cached_property
    def _rates(self) -> Matrix:
        return np.array([each.design.channel.floats()[1] for each in self._factors])

    @cached_property
    def _law(self) -> _CellLaw:
        size = len(self._factors)
        yes = np.array(list(combinations_of((0.0, 1.0), repeat=size)))
        low, high = self._rates.min(axis=1), self._rates.max(axis=1)
        return _CellLaw(
            self.response_shares.counts,
            yes,
            np.ones(size),
            np.ones(len(yes)),
            low,
            high,
        )

    @property
    def _always(self) -> str:
        return f"always {self._factors[0].design.symbols[0]}"

    @property
    def _title(self) -> str:
        return f"self-protection over {len(self._factors)} items"


class LawFit(NamedTuple):
    """How well a law of true sums explains what was seen.

    Attributes:
        log_likelihood: at its most likely numbers; with weights, of the effective counts.
        parameters: how many numbers are free.
        aic: Akaike's criterion, 2·parameters − 2·log-likelihood: the smallest is best.
    """

    log_likelihood: float
    parameters: int
    aic: float


@dataclass(frozen=True, eq=False)
class _Sums(ComplianceModel):
    """Sums of responses to like items.

    Attributes:
        items: how many items were summed.
        sums: how many people had each sum of yes, from 0 on.
    """

    items: int
    sums: tuple[int, ...]

    @property
    def respondents(self) -> int:
        return sum(self.sums)

    @property
    def _counts(self) -> Sequence[Counts]:
        return [np.array(self.sums)]

    @property
    def _epsilon(self) -> float:
        return self.items * super()._epsilon

    @property
    def parameters(self) -> int:
        """How many numbers the law leaves free."""
        return 2

    @property
    def aic(self) -> float:
        """Akaike's criterion."""
        return 2 * self.parameters - 2 * self.log_likelihood

    @cached_property
    def laws(self) -> dict[str, LawFit]:
        """How well each law of true sums explains these counts; the smallest `aic` is best.

        Why: binomial and Poisson sums are not nested in each other, so that no likelihood ratio compares them.
        """
        every = {
            law: _of_law(law, self.tallies, self.sums, self.sample) for law in LAWS
        }
        return {
            law: LawFit(each.log_likelihood, each.parameters, each.aic)
            for law, each in every.items()
        }

    @property
    def _told_laws(self) -> str:
        told = ", ".join(f"{law} {each.aic:.1f}" for law, each in self.laws.items())
        return f"Akaike's criterion of each law of true sums, the smallest being best: {told}."

    @property
    def _title(self) -> str:
        return f"sums over {self.items} items of {self.tallies[0].design.name}"

    def to_source(self) -> dict[str, Any]:
        return super().to_source() | {"items": self.items, "sums": list(self.sums)}


@dataclass(frozen=True, eq=False)
class SumScores(_Sums, _Protection):
    """The share of yes to like items from sums of responses, and the share of people who say no to all of them.

    Attributes:
        law: of true sums, "binomial" or "poisson".
    """

    type: ClassVar = "sum-scores"

    law: str = "binomial"

    @property
    def _items(self) -> list[str]:
        return [self.tallies[0].design.categories[1]]

    @cached_property
    def _rates(self) -> Matrix:
        """Of binomial sums those of the device; of Poisson's the rate is the share itself."""
        return (
            self.tallies[0].design.channel.floats()[1:2]
            if self.law == "binomial"
            else np.array([[0.0, 1.0]])
        )

    @cached_property
    def _law(self) -> _ProtectionLaw:
        if self.law == "poisson":
            return _PoissonLaw(
                self.response_shares.counts,
                sum_score_channel(self.tallies[0].design, self.items),
            )
        size, (low, high) = self.items, np.sort(self._rates[0])
        ways = vector([comb(size, number) for number in range(size + 1)])
        yes = np.arange(size + 1.0)[:, None]
        return _CellLaw(
            self.response_shares.counts,
            yes,
            vector([size]),
            ways,
            vector([low]),
            vector([high]),
        )

    @property
    def _title(self) -> str:
        return f"{super()._title}, {_TOLD_LAWS[self.law]}"

    @property
    def _notes(self) -> tuple[str, ...]:
        without = next(iter(self.without.values()))
        return (
            f"The share is the mean number of yes, over {self.items}, of the people who follow the devices.",
            f"{self.protection_test}. Then the share would be {without:.4f}.",
            self._told_laws,
        )

    def to_source(self) -> dict[str, Any]:
        return super().to_source() | {"law": self.law}

    @classmethod
    def from_source(cls, source: Mapping[str, Any], design: None) -> Any:  # noqa: ARG003 - it has its own
        return _remade_sums(source, documents.field(source, "law", str))


@dataclass(frozen=True, eq=False)
class FreeSums(_Sums):
    """The share of people with each true sum over like items, whatever their law; all follow the devices."""

    type: ClassVar = "free-sums"

    @cached_property
    def _channel(self) -> Matrix:
        return sum_score_channel(self.tallies[0].design, self.items)

    @cached_property
    def _weights(self) -> Matrix:
        """What each number adds up of the shares of true sums: the mean share, and each of them."""
        return vector(
            np.vstack([np.arange(self.items + 1) / self.items, np.eye(self.items + 1)])
        )

    @property
    def parameters(self) -> int:
        return self.items

    @cached_property
    def value(self) -> Vector:
        """The most likely share of people with each true sum."""
        moment = vector(np.linalg.solve(self._channel, self.response_shares.value))
        if moment.min() >= 0:
            return vector(moment / moment.sum())
        found, _ = climbed(
            self._channel, self.response_shares.counts, start=projection(moment)
        )
        return vector(found)

    def _named(self, numbers: Vector) -> dict[str, float]:
        _, yes = self.tallies[0].design.categories
        names = [
            yes,
            *(f"{number} of {self.items}" for number in range(self.items + 1)),
        ]
        return dict(zip(names, numbers.tolist(), strict=True))

    @property
    def params(self) -> dict[str, float]:
        return self._named(np.clip(self._weights @ self.value, 0.0, 1.0))

    @property
    def moments(self) -> dict[str, float]:
        return self._named(self.jacobian @ self.response_shares.value)

    @property
    def jacobian(self) -> Matrix:
        """By how much the moment estimates move with the share of each sum: they are linear."""
        return vector(self._weights @ np.linalg.inv(self._channel))

    def _profile(self, confidence: float) -> dict[str, Interval]:
        plain, counts = quantile(confidence) ** 2 / 2, self.response_shares.counts
        return {
            name: profiled_sum(
                self._channel, counts, self.value, weights, confidence, drop / plain
            )
            for (name, drop), weights in zip(
                self._drops(confidence).items(), self._weights, strict=True
            )
        }

    @property
    def log_likelihood(self) -> float:
        return log_likelihood(self.response_shares.counts, self._channel @ self.value)

    @property
    def fit(self) -> HypothesisTest:
        expected = self.response_shares.counts.sum() * (self._channel @ self.value)
        return fit_test(self.response_shares.counts, expected, 0)

    @property
    def _title(self) -> str:
        return f"{super()._title}, {_TOLD_LAWS['free']}"

    @property
    def _notes(self) -> tuple[str, ...]:
        return (
            "Everybody is taken to follow the devices: with a free law, people who say no to everything cannot be told "
            "from people who carry nothing.",
            self._told_laws,
        )

    @property
    def _outside(self) -> str:
        return "By chance, or because some people do not follow the devices, or those are others than those used."

    @classmethod
    def from_source(cls, source: Mapping[str, Any], design: None) -> Any:  # noqa: ARG003 - it has its own
        return _remade_sums(source, "free")


LAWS = ("binomial", "poisson", "free")
_TOLD_LAWS = {
    "binomial": "binomial true sums",
    "poisson": "true sums of Poisson's law",
    "free": "true sums of any law",
}


def _of_law(
    law: str,
    tallies: tuple[Tally, ...],
    sums: tuple[int, ...],
    sample: ResponseShares | None,
) -> SumScores | FreeSums:
    if law == "free":
        return FreeSums(tallies, len(sums) - 1, sums, sample=sample)
    return SumScores(tallies, len(sums) - 1, sums, law, sample=sample)


def _fit_law(
    law: str,
    tallies: tuple[Tally, ...],
    sums: tuple[int, ...],
    sample: ResponseShares | None,
) -> Compliance[SumScores] | Compliance[FreeSums]:
    model = _of_law(law, tallies, sums, sample)
    return cast("Compliance[SumScores] | Compliance[FreeSums]", Compliance(model))


def _remade_sums(source: Mapping[str, Any], law: str) -> Any:
    sums = tuple(documents.field(source, "sums", list))
    return _of_law(
        law,
        tuple(groups_from_body(source)),
        sums,
        **({"sample": None} | remade_sample(source)),
    )


def self_protection(
    tally: Group | None = None,
    *,
    sampling: Sampling | None = None,
    designs: Sequence[Design] | None = None,
    counts: Mapping[str, int] | None = None,
) -> Compliance[SelfProtection]:
    """Estimate how many people say no to every item, whatever the devices say, and the shares among all others.

    Implements: the self-protective response of [BH07] with items that are independent among those who follow the
    devices; a test of the model needs three items, and that anybody protects themselves is tested at the border.

    Args:
        tally: the counts of a `product` of designs with two answers and two responses, with weights or without; or
            its responses. "No" is the first response.
        sampling: of responses: how people were drawn.
        designs: instead of a tally, the design of each item …
        counts: … and how many people sent each combination, such as {"000": 300, "001": 60}; 1 is the second response.

    Raises:
        InvalidRequest: a design for one item, or for items with more answers or responses, or counts of other items.
        NotEstimable: fewer than two people.

    Example:
        >>> from deniable.designs import forced_response
        >>> cells = dict(zip(["000", "001", "010", "011"], [300, 60, 50, 15]))
        >>> cells |= dict(zip(["100", "101", "110", "111"], [70, 20, 18, 7]))
        >>> found = self_protection(designs=[forced_response("2/3", "1/6", "1/6")] * 3, counts=cells)
        >>> {name: round(value, 3) for name, value in found.params.items()}
        {'item 1': 0.151, 'item 2': 0.064, 'item 3': 0.106, 'always no': 0.204}
    """
    if tally is None:
        tally = _patterns(designs, counts)
    tallies, sample = _of_items(tally, sampling)
    return Compliance(SelfProtection(tallies, sample=sample))


def _of_items(
    given: Any, sampling: Sampling | None
) -> tuple[tuple[Tally, ...], ResponseShares | None]:
    """Read what was sent to several items together."""
    if (
        not isinstance(given, Tally | WeightedTally | Responses)
        or len(getattr(given.design, "factors", ())) < 2
    ):
        raise InvalidRequest(
            "expected a tally of several items together.",
            "Ask them with one dn.product({…}).",
        )
    factors = given.design.factors
    if len(factors) > _MOST_ITEMS or not all(
        is_binary(each.design) for each in factors
    ):
        raise InvalidRequest(
            f"expected at most {_MOST_ITEMS} items, each with two answers and two responses."
        )
    tallies, sample = gather([given], sampling)
    _check_people(tallies[0].respondents)
    return tallies, sample


@overload
def sum_scores(
    design: Design | Group,
    counts: Sequence[int] | None = None,
    *,
    sampling: Sampling | None = None,
    law: Literal["binomial", "poisson"] = "binomial",
) -> Compliance[SumScores]: ...


@overload
def sum_scores(
    design: Design | Group,
    counts: Sequence[int] | None = None,
    *,
    sampling: Sampling | None = None,
    law: Literal["free"],
) -> Compliance[FreeSums]: ...


def sum_scores(
    design: Design | Group,
    counts: Sequence[int] | None = None,
    *,
    sampling: Sampling | None = None,
    law: str = "binomial",
) -> Compliance[SumScores] | Compliance[FreeSums]:
    """Estimate a share and self-protection from how many of several like items people said yes to.

    Implements: (1 − θ)·Q·τ + θ·e₀ with Q of `sum_score_channel`, and τ the law of true sums: binomial (then the sum is
    binomial again), Poisson's cut off at the number of items, or free; a free one leaves θ unknown, which is taken to
    be 0.

    Args:
        design: the device of each item, with two answers and two responses; or, in place of counts, a tally of a
            `product` of like items, with weights or without, or its responses.
        counts: how many people had each sum, from 0 to the number of items.
        sampling: of responses: how people were drawn.
        law: of true sums among the people who follow the devices: "binomial", "poisson" or "free". The result's `laws`
            compares them.

    Raises:
        InvalidRequest: another design, items with different devices, fewer than two items, or another law.
        NotEstimable: fewer than two people, or a device that tells nothing.

    Example:
        >>> from deniable.designs import forced_response
        >>> found = sum_scores(forced_response("3/5", "1/5", "1/5"), [310, 250, 120, 40, 8])
        >>> {name: round(value, 4) for name, value in found.params.items()}
        {'yes': 0.1364, 'always no': 0.2177}
    """
    if law not in LAWS:
        raise InvalidRequest(
            f"the law of true sums is {quoted(law)}; expected one of {', '.join(LAWS)}."
        )
    if not isinstance(design, Design) and counts is None:
        return _fit_law(law, *_summed(design, sampling))
    device = _check_two(design)
    if sampling is not None:
        raise InvalidRequest(
            "there is a sampling, and no rows that it is about; expected responses to a product."
        )
    if not isinstance(counts, Sequence) or len(counts) < 3:
        raise InvalidRequest(
            "expected how many people had each sum, from 0 to the number of items, of at least two."
        )
    if any(
        isinstance(each, bool) or not hasattr(each, "__index__") or each.__index__() < 0
        for each in counts
    ):
        raise InvalidRequest(
            "a count is no whole number; expected numbers of people, 0 or more."
        )
    sums = tuple(int(each.__index__()) for each in counts)
    _check_people(sum(sums))
    return _fit_law(law, (Tally.empty(device),), sums, None)


def _summed(
    given: Any, sampling: Sampling | None
) -> tuple[tuple[Tally, ...], tuple[int, ...], ResponseShares | None]:
    """Add up what was sent to several like items."""
    (counted,), sample = _of_items(given, sampling)
    designs = [each.design for each in counted.design.factors]
    _check_two(designs[0])
    if any(
        not np.array_equal(each.channel.floats(), designs[0].channel.floats())
        for each in designs
    ):
        raise InvalidRequest(
            "the items have different devices; expected the same for each, to add them up."
        )
    yes = np.array(list(combinations_of((0, 1), repeat=len(designs)))).sum(axis=1)
    adds = (yes == np.arange(len(designs) + 1)[:, None]).astype(np.float64)
    sums = tuple((adds @ counted.counts).astype(np.int64).tolist())
    empty = Tally(designs[0], np.zeros(2, np.int64), missing=counted.missing)
    return (empty,), sums, None if sample is None else sample.added_up(adds)


def sum_score_channel(design: Design, items: int) -> Matrix:
    """Return the probability of each sum of responses (rows) given each true sum (columns), of so many like items.

    Implements: the sum of Bin(s, v) and Bin(items − s, u), where members say yes with v and others with u.

    Raises:
        InvalidRequest: another design than one with two answers and two responses, or no items.

    Example:
        >>> from deniable.designs import warner
        >>> sum_score_channel(warner(p="3/4"), 2).round(4).tolist()[0]
        [0.5625, 0.1875, 0.0625]
    """
    _check_two(design)
    if not isinstance(items, int) or items < 1:
        raise InvalidRequest(
            f"the number of items is {quoted(items)}; expected 1 or more."
        )
    u, v = design.channel.floats()[1].tolist()

    def law(size: int, rate: float) -> Vector:
        number = np.arange(size + 1)
        ways = vector([comb(size, each) for each in number.tolist()])
        return vector(
            ways * np.exp(xlogy(number, rate) + xlogy(size - number, 1 - rate))
        )

    return np.column_stack(
        [np.convolve(law(true, v), law(items - true, u)) for true in range(items + 1)]
    )


def _patterns(designs: object, counts: object) -> Tally:
    if (
        not isinstance(designs, Sequence)
        or len(designs) < 2
        or not isinstance(counts, Mapping)
    ):
        raise InvalidRequest(
            "expected a tally of several items; or designs, and counts such as {'00': 30, '01': 7}."
        )
    design = product_of(
        {f"item {number}": each for number, each in enumerate(designs, 1)}
    )
    cells = np.zeros(2 ** len(designs), np.int64)
    for pattern, number in counts.items():
        if len(pattern) != len(designs) or set(pattern) - {"0", "1"}:
            raise InvalidRequest(
                f"{quoted(pattern)} is no combination; expected {len(designs)} digits of 0 and 1."
            )
        cells[int(pattern, 2)] = number
    return Tally(design, cells)


def _check_two(design: object) -> Design:
    if (
        not isinstance(design, Design)
        or len(design.categories) != 2
        or design.channel.responses != 2
    ):
        raise InvalidRequest("expected a design with two answers and two responses.")
    u, v = design.channel.floats()[1].tolist()
    if u == v:
        raise NotEstimable(
            "the device sends the same whatever the answer is; expected one that tells something."
        )
    return design


def _check_people(number: int) -> None:
    if number < 2:
        raise NotEstimable(
            "there are fewer than 2 respondents; expected at least 2, to say how sure we are."
        )

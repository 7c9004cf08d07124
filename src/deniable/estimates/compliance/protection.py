"""Self-protection over several items: some people say no to all of them, whatever the devices say.

P(z) = (1 − θ)·Π_j λ_j^z_j (1 − λ_j)^(1 − z_j) + θ·[z is all no], with items that are independent among the others. Sum
scores of like items are the same model with one λ and as many trials, or with true sums of another law. Where items
are associated among the others, the model does not hold: without any assumption about them θ cannot be told.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product as combinations_of
from operator import index
from typing import ClassVar, Literal, cast, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq, minimize_scalar
from scipy.special import comb, gammaln, xlogy

from deniable.designs import Design
from deniable.designs import product as product_of
from deniable.designs.design import Factor
from deniable.errors import InvalidRequest, NotEstimable, quoted, require_choice
from deniable.estimates.compliance.fits import (
    Compliance,
    ComplianceModel,
    check_people,
    is_binary,
    is_count,
)
from deniable.estimates.compliance.mixture_likelihood import fit_test
from deniable.estimates.compliance.response_shares import (
    AnyTally,
    Group,
    ResponseShares,
    gather,
)
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import Interval, crossings, profiled_sum, quantile
from deniable.estimates.likelihood import log_likelihood, maximize_from
from deniable.estimates.sampling import Sampling
from deniable.estimates.simplex import projection
from deniable.estimates.testing import HypothesisTest, likelihood_ratio
from deniable.tallies import Tally
from deniable.tallies.responses import Responses

_MAX_ITEMS = 12  # whose 4,096 combinations are written out
_GRID = 129  # places at which the one free number is tried before it is refined
_ROOM = 1e-12  # that a probability keeps from 0 and 1


@dataclass(frozen=True, eq=False)
class _CellModel:
    """The probability of each cell, of people who follow the devices and of those who are in the first cell for sure.

    A point holds the rate of yes of each item among the former, and θ, the share of the latter, as its last number.

    Attributes:
        counts: how many people are in each cell.
    """

    counts: Vector

    @abstractmethod
    def probabilities(self, point: Vector) -> Vector:
        """Return the probability of each cell."""

    @abstractmethod
    def jacobian(self, point: Vector) -> Matrix:
        """Return the derivatives of the probability of each cell (rows) by each rate and by θ."""

    @abstractmethod
    def maximize(self, fixed: int | None = None, value: float = 0.0) -> Vector:
        """Return the maximum-likelihood estimate, one of its numbers perhaps fixed."""

    def height(self, point: Vector) -> float:
        """Return the log-likelihood of the cells, without the constant that counts orders of people."""
        return log_likelihood(self.counts, self.probabilities(point))

    def influence(self, point: Vector) -> tuple[Matrix, Matrix]:
        """Return the inverse of the expected information, and the derivatives of the estimate by the share of a cell.

        Implements: A⁻¹, and A⁻¹·n·∂log p: what a share more adds to the score, at the maximum-likelihood estimate.
        """
        point = inside(point)
        jacobian, n = self.jacobian(point), self.counts.sum()
        scores = jacobian / np.maximum(self.probabilities(point), 1e-300)[:, None]
        inverse = np.linalg.pinv(n * (jacobian.T @ scores))
        return vector(inverse), vector(inverse @ (n * scores.T))


def inside(point: Vector) -> Vector:
    """Return a point whose rates keep away from 0 and 1, where derivatives are infinite."""
    return np.append(np.clip(point[:-1], 1e-9, 1 - 1e-9), point[-1])


def _minimize(
    function: Callable[[float], float], first: float, last: float
) -> float:
    """Return where a function is smallest: at one of many places, refined between its neighbours."""
    grid = np.linspace(first, last, _GRID)
    index = int(np.argmin([function(x) for x in grid]))
    around = (grid[max(index - 1, 0)], grid[min(index + 1, _GRID - 1)])
    candidates = [float(grid[index])]
    if around[0] < around[1]:
        refined = minimize_scalar(
            function, bounds=around, method="bounded", options={"xatol": 1e-9}
        )
        candidates.append(float(refined.x))
    return min(candidates, key=function)


@dataclass(frozen=True, eq=False)
class _IndependentItems(_CellModel):
    """Counts of combinations of yes over items, some of which may be asked several times.

    Why: whoever protects themselves is in the first cell alone. If m of its people do not, the most likely λ_j is
    yes_j / (trials_j · (others + m)), brought between the two probabilities of its device, and θ = 1 − (others + m)/n:
    the maximum lies on this curve, and so does every profile. One number is searched, whatever the number of items.

    Attributes:
        yes: how often each item was said yes to, a row for each cell; the first cell has none.
        trials: how often each item was asked.
        ways: in how many ways each cell comes about.
        rates: the probability of yes of others and of members, a row for each item.
    """

    yes: Matrix
    trials: Vector
    ways: Vector
    rates: Matrix

    def probabilities(self, point: Vector) -> Vector:
        rates, theta = np.clip(point[:-1], _ROOM, 1 - _ROOM), point[-1]
        logs = self.yes @ np.log(rates) + (self.trials - self.yes) @ np.log1p(-rates)
        return add_protected((1 - theta) * self.ways * np.exp(logs), theta)

    def jacobian(self, point: Vector) -> Matrix:
        rates, theta = point[:-1], point[-1]
        honest = self.probabilities(np.append(rates, 0.0))
        scores = self.yes / rates - (self.trials - self.yes) / (1 - rates)
        by_rate = (1 - theta) * honest[:, None] * scores
        return np.column_stack([by_rate, add_protected(-honest, 1.0)])

    def _curve(self, honest: float, fixed: int | None, value: float) -> Vector:
        """Return the point at which so many of the first cell's people are honest, one number perhaps fixed."""
        followers = self.counts[1:].sum() + honest
        rates = self.counts @ self.yes / (self.trials * max(followers, 1e-300))
        rates = np.clip(rates, self.rates.min(axis=1), self.rates.max(axis=1))
        theta = np.clip(1 - followers / self.counts.sum(), 0.0, 1.0)
        point = np.append(rates, theta)
        if fixed is not None:
            point[fixed] = value
        return point

    def maximize(self, fixed: int | None = None, value: float = 0.0) -> Vector:
        honest = _minimize(
            lambda honest: -self.height(self._curve(honest, fixed, value)),
            0.0,
            float(self.counts[0]),
        )
        return self._curve(honest, fixed, value)


def add_protected(honest: Vector, theta: float) -> Vector:
    """Return the cell probabilities after adding self-protective respondents to the first cell."""
    honest[0] += theta
    return honest


@dataclass(frozen=True, eq=False)
class _PoissonSums(_CellModel):
    """Counts of sums of responses whose true sums follow Poisson's law, cut off at the number of items.

    Why: with μ = J·y/(1 − y) the true sum s has a probability in proportion to J^s/s!·y^s·(1 − y)^(J − s), which is
    defined for y = 0 and 1 as well, so that nobody and everybody carrying all are within. The one rate is the mean of
    s/J, which rises with y. At a given rate the most likely θ brings the first cell to what was seen, or is 0.

    Attributes:
        channel: the probability of each sum of responses (rows) given each true sum.
    """

    channel: Matrix

    @cached_property
    def _sums(self) -> Vector:
        return np.arange(len(self.channel), dtype=np.float64)

    def _true_sum_probabilities(self, y: float) -> Vector:
        """Return the probability of each true sum."""
        s = self._sums
        last = s[-1]
        logs = (
            s * np.log(last) - gammaln(s + 1) + xlogy(s, y) + xlogy(last - s, 1 - y)
        )
        weights = np.exp(logs - logs.max())
        return vector(weights / weights.sum())

    def _rate(self, y: float) -> float:
        """Return the mean of s/J."""
        return float(self._true_sum_probabilities(y) @ self._sums / self._sums[-1])

    def _y(self, rate: float) -> float:
        """Return the y of a rate."""
        if not 0 < rate < 1:
            return min(max(rate, 0.0), 1.0)
        return float(brentq(lambda y: self._rate(y) - rate, 0.0, 1.0, xtol=1e-15))

    def _at(self, y: float, theta: float) -> Vector:
        return add_protected(
            (1 - theta) * (self.channel @ self._true_sum_probabilities(y)), theta
        )

    def _theta(self, y: float) -> float:
        first = float((self.channel @ self._true_sum_probabilities(y))[0])
        seen = float(self.counts[0] / self.counts.sum())
        return max((seen - first) / (1 - first), 0.0) if first < 1 else 0.0

    def probabilities(self, point: Vector) -> Vector:
        return self._at(self._y(float(point[0])), point[1])

    def jacobian(self, point: Vector) -> Matrix:
        true, s = self._true_sum_probabilities(self._y(float(point[0]))), self._sums
        residuals = s - true @ s
        by_rate = s[-1] * true * residuals / max(float(true @ residuals**2), 1e-300)
        return np.column_stack(
            [
                (1 - point[1]) * (self.channel @ by_rate),
                add_protected(-self.channel @ true, 1.0),
            ]
        )

    def maximize(self, fixed: int | None = None, value: float = 0.0) -> Vector:
        if fixed == 0:
            return vector([value, self._theta(self._y(value))])

        def theta(y: float) -> float:
            return value if fixed == 1 else self._theta(y)

        y = _minimize(
            lambda y: -log_likelihood(self.counts, self._at(y, theta(y))), 0.0, 1.0
        )
        return vector([self._rate(y), theta(y)])


@dataclass(frozen=True, eq=False)
class _Protection(ComplianceModel):
    """Shares of yes among people who follow the devices, and the share of those who say no to everything."""

    @property
    @abstractmethod
    def _cells(self) -> _CellModel:
        """The likelihood of the cells that were counted."""

    @property
    @abstractmethod
    def _items(self) -> list[str]:
        """What the items are called."""

    @property
    @abstractmethod
    def _rates(self) -> Matrix:
        """The probability of yes of others and of members, a row for each item."""

    @cached_property
    def _ranges(self) -> tuple[Vector, Vector]:
        """The numbers of the cells' model at which each share, and θ, is 0, and those at which it is 1."""
        low, high = np.vstack([self._rates, [0.0, 1.0]]).T
        return low, high

    @property
    def _always(self) -> str:
        return "always no"

    @cached_property
    def _point(self) -> Vector:
        return self._cells.maximize()

    @cached_property
    def _point_without(self) -> Vector:
        return self._cells.maximize(len(self._rates), 0.0)

    def _named(self, point: Vector) -> dict[str, float]:
        low, high = self._ranges
        shares = (point - low) / (high - low)
        return dict(zip([*self._items, self._always], shares.tolist(), strict=True))

    @property
    def params(self) -> dict[str, float]:
        return self._clip_point(self._point)

    def _clip_point(self, point: Vector) -> dict[str, float]:
        shares = self._named(point)
        return {name: min(max(share, 0.0), 1.0) for name, share in shares.items()}

    @property
    def without(self) -> dict[str, float]:
        """The most likely numbers if nobody protected themselves."""
        return self._clip_point(self._point_without)

    @property
    def moments(self) -> dict[str, float]:
        """With two items the solution of their three shares; else none."""
        if len(self._rates) != 2 or not self.response_shares.value[3] > 0:
            return {}
        _, second, first, yes_yes = self.response_shares.value
        rates = yes_yes / (yes_yes + vector([second, first]))
        return self._named(np.append(rates, 1 - yes_yes / rates.prod()))

    @cached_property
    def _influence(self) -> tuple[Matrix, Matrix]:
        """The inverse of the information about the numbers, and their derivatives by the share of each cell."""
        low, high = self._ranges
        inverse, jacobian = self._cells.influence(self._point)
        scale = np.diag(1 / (high - low))
        return vector(scale @ inverse @ scale), vector(scale @ jacobian)

    @property
    def jacobian(self) -> Matrix:
        """The derivatives of the most likely numbers by the share of each cell, were none at a border."""
        return self._influence[1]

    def covariance_matrix(self) -> Matrix:
        """Return the inverse of the expected information, or the sandwich of a sample; at a border it is too large."""
        return (
            self._influence[0]
            if self.sample is None
            else super().covariance_matrix()
        )

    def _profile(self, level: float) -> Sequence[Interval]:
        intervals = []
        peaks = zip(
            self.params.values(), self._drops(level), *self._ranges, strict=True
        )
        for number, (peak, drop, low, high) in enumerate(peaks):
            above = partial(
                self._above, number, low, high, self.log_likelihood - drop
            )
            intervals.append(Interval(*crossings(above, peak)))
        return intervals

    def _above(
        self, number: int, low: float, high: float, floor: float, share: float
    ) -> float:
        """Return the profile log-likelihood of a share, above a floor."""
        point = self._cells.maximize(number, low + (high - low) * share)
        return max(self._cells.height(point), -1e300) - floor

    @property
    def log_likelihood(self) -> float:
        return self._cells.height(self._point)

    @property
    def log_likelihood_without(self) -> float:
        """The log-likelihood if nobody protected themselves."""
        return self._cells.height(self._point_without)

    @property
    def fit(self) -> HypothesisTest:
        counts = self._cells.counts
        expected = self._cells.probabilities(self._point)
        df = max(len(counts) - 1 - len(self._point), 0)
        test = fit_test(counts, counts.sum() * expected, df)
        tangent = self._cells.jacobian(inside(self._point))
        return self.response_shares.corrected(test, tangent, expected)

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

    _outside = (
        "By chance, or because items are associated among the people who follow the devices, people protect "
        "themselves on some items alone, or the devices are others than those used."
    )


@dataclass(frozen=True, eq=False)
class SelfProtection(_Protection):
    """Shares of yes to several items, and the share of people who say no to all of them."""

    type: ClassVar = "self-protection"

    @property
    def _factors(self) -> tuple[Factor, ...]:
        return self.tallies[0].design.factors

    @property
    def _items(self) -> list[str]:
        return [attribute for attribute, _ in self._factors]

    @cached_property
    def _rates(self) -> Matrix:
        return np.array([item.design.channel.floats()[1] for item in self._factors])

    @cached_property
    def _cells(self) -> _CellModel:
        size = len(self._factors)
        yes = vector(list(combinations_of((0, 1), repeat=size)))
        return _IndependentItems(
            self.response_shares.counts,
            yes,
            np.ones(size),
            np.ones(len(yes)),
            self._rates,
        )

    @property
    def _always(self) -> str:
        return f"always {self._factors[0].design.symbols[0]}"

    @property
    def _title(self) -> str:
        return f"self-protection over {len(self._factors)} items"


@dataclass(frozen=True, eq=False)
class _Sums(ComplianceModel):
    """Sums of responses to like items.

    Attributes:
        items: how many items were summed.
        sums: how many people had each sum of yes, from 0 on.
    """

    SOURCE = {"items": int, "sums": list}  # noqa: RUF012 - declared by the base

    items: int
    sums: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "sums", tuple(self.sums))  # a list in JSON

    @property
    def respondents(self) -> int:
        return sum(self.sums)

    @property
    def _counts(self) -> Sequence[ArrayLike]:
        return [self.sums]

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
    def laws(self) -> dict[str, SumScores | FreeSums]:
        """The model with each law of true sums of these counts; the smallest `aic` is best.

        Why: binomial and Poisson sums are not nested in each other, so that no likelihood ratio compares them.
        """
        return {
            law: _sums_model(law, self.tallies, self.sums, self.sample)
            for law in LAWS
        }

    @property
    def _laws_note(self) -> str:
        criteria = ", ".join(
            f"{law} {fit.aic:.1f}" for law, fit in self.laws.items()
        )
        return f"Akaike's criterion of each law of true sums, the smallest being best: {criteria}."

    @property
    def _title(self) -> str:
        return f"sums over {self.items} items of {self.tallies[0].design.name}"


@dataclass(frozen=True, eq=False)
class SumScores(_Sums, _Protection):
    """The share of yes to like items from sums of responses, and the share of people who say no to all of them.

    Attributes:
        law: of true sums, "binomial" or "poisson".
    """

    type: ClassVar = "sum-scores"
    SOURCE = _Sums.SOURCE | {"law": str}

    law: str = "binomial"

    @property
    def _items(self) -> list[str]:
        return [self.tallies[0].design.categories[1]]

    @cached_property
    def _rates(self) -> Matrix:
        """Of binomial sums those of the device; of Poisson's the rate is the share itself."""
        if self.law == "poisson":
            return np.array([[0.0, 1.0]])
        return self.tallies[0].design.channel.floats()[1:2]

    @cached_property
    def _cells(self) -> _CellModel:
        size, counts = self.items, self.response_shares.counts
        if self.law == "poisson":
            design = self.tallies[0].design
            return _PoissonSums(counts, sum_score_channel(design, size))
        yes = np.arange(size + 1.0)
        ways = comb(size, yes)
        return _IndependentItems(
            counts, yes[:, None], vector([size]), ways, self._rates
        )

    @property
    def _title(self) -> str:
        return f"{super()._title}, {LAWS[self.law]}"

    @property
    def _notes(self) -> tuple[str, ...]:
        without = next(iter(self.without.values()))
        return (
            f"The share is the mean number of yes, over {self.items}, of the people who follow the devices.",
            f"{self.protection_test}. Then the share would be {without:.4f}.",
            self._laws_note,
        )


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
        return np.vstack([np.linspace(0, 1, self.items + 1), np.eye(self.items + 1)])

    @property
    def parameters(self) -> int:
        return self.items

    @cached_property
    def value(self) -> Vector:
        """The most likely share of people with each true sum."""
        moment = vector(np.linalg.solve(self._channel, self.response_shares.value))
        if moment.min() >= 0:
            return vector(moment / moment.sum())
        counts = self.response_shares.counts
        return maximize_from(self._channel, counts, start=projection(moment))[0]

    def _named(self, numbers: Vector) -> dict[str, float]:
        _, yes = self.tallies[0].design.categories
        sums = [f"{number} of {self.items}" for number in range(self.items + 1)]
        return dict(zip([yes, *sums], numbers.tolist(), strict=True))

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

    def _profile(self, level: float) -> Sequence[Interval]:
        plain, counts = quantile(level) ** 2 / 2, self.response_shares.counts
        return [
            profiled_sum(
                self._channel, counts, self.value, weights, level, drop / plain
            )
            for drop, weights in zip(self._drops(level), self._weights, strict=True)
        ]

    @property
    def log_likelihood(self) -> float:
        return log_likelihood(
            self.response_shares.counts, self._channel @ self.value
        )

    @property
    def fit(self) -> HypothesisTest:
        expected = self.response_shares.counts.sum() * (self._channel @ self.value)
        return fit_test(self.response_shares.counts, expected, 0)

    @property
    def _title(self) -> str:
        return f"{super()._title}, {LAWS['free']}"

    @property
    def _notes(self) -> tuple[str, ...]:
        return (
            "Everybody is taken to follow the devices: with a free law, people who say no to everything cannot be told "
            "from people who carry nothing.",
            self._laws_note,
        )

    _outside = "By chance, or because some people do not follow the devices, or those are others than those used."


LAWS = {
    "binomial": "binomial true sums",
    "poisson": "true sums of Poisson's law",
    "free": "true sums of any law",
}


def _sums_model(
    law: str,
    tallies: tuple[Tally, ...],
    sums: tuple[int, ...],
    sample: ResponseShares | None,
) -> SumScores | FreeSums:
    if law == "free":
        return FreeSums(tallies, len(sums) - 1, sums, sample=sample)
    return SumScores(tallies, len(sums) - 1, sums, law, sample=sample)


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
        tally = _tally_patterns(designs, counts)
    tallies, sample = _read_items(tally, sampling)
    return Compliance(SelfProtection(tallies, sample=sample))


def _read_items(
    group: object, sampling: Sampling | None
) -> tuple[tuple[Tally, ...], ResponseShares | None]:
    """Read responses to several items together."""
    factors = getattr(getattr(group, "design", None), "factors", ())
    if not isinstance(group, AnyTally | Responses) or len(factors) < 2:
        raise InvalidRequest(
            "expected a tally of several items together.",
            "Ask them with one dn.product({…}).",
        )
    if len(factors) > _MAX_ITEMS or not all(
        is_binary(item.design) for item in factors
    ):
        raise InvalidRequest(
            f"expected at most {_MAX_ITEMS} items, each with two answers and two responses."
        )
    tallies, sample = gather([group], sampling)
    check_people(tallies[0].respondents)
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
    require_choice("the law of true sums is", law, LAWS)
    if not isinstance(design, Design) and counts is None:
        model = _sums_model(law, *_sum_items(design, sampling))
        return cast(
            "Compliance[SumScores] | Compliance[FreeSums]", Compliance(model)
        )
    device = _check_two(design)
    sums = _read_sums(counts, sampling)
    check_people(sum(sums))
    model = _sums_model(law, (Tally.empty(device),), sums, None)
    return cast("Compliance[SumScores] | Compliance[FreeSums]", Compliance(model))


def _read_sums(
    counts: Sequence[int] | None, sampling: Sampling | None
) -> tuple[int, ...]:
    """Read how many people had each sum."""
    if sampling is not None:
        raise InvalidRequest(
            "there is a sampling, and no rows that it is about; expected responses to a product."
        )
    if not isinstance(counts, Sequence) or len(counts) < 3:
        raise InvalidRequest(
            "expected how many people had each sum, from 0 to the number of items, of at least two."
        )
    if not all(map(is_count, counts)):
        raise InvalidRequest(
            "a count is no whole number; expected numbers of people, 0 or more."
        )
    return tuple(map(index, counts))


def _sum_items(
    group: object, sampling: Sampling | None
) -> tuple[tuple[Tally, ...], tuple[int, ...], ResponseShares | None]:
    """Add up responses to several like items."""
    (tally,), sample = _read_items(group, sampling)
    designs = [item.design for item in tally.design.factors]
    first = _check_two(designs[0]).channel.floats()
    if not all(np.array_equal(design.channel.floats(), first) for design in designs):
        raise InvalidRequest(
            "the items have different devices; expected the same for each, to add them up."
        )
    yes = np.array(list(combinations_of((0, 1), repeat=len(designs)))).sum(axis=1)
    adds = (yes == np.arange(len(designs) + 1)[:, None]).astype(np.float64)
    sums = tuple((adds @ tally.counts).astype(np.int64).tolist())
    empty = Tally(designs[0], np.zeros(2, np.int64), missing=tally.missing)
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

    def binomial(size: int, rate: float) -> Vector:
        yes = np.arange(size + 1)
        logs = xlogy(yes, rate) + xlogy(size - yes, 1 - rate)
        return vector(comb(size, yes) * np.exp(logs))

    columns = [
        np.convolve(binomial(true, v), binomial(items - true, u))
        for true in range(items + 1)
    ]
    return np.column_stack(columns)


def _tally_patterns(designs: object, counts: object) -> Tally:
    if (
        not isinstance(designs, Sequence)
        or len(designs) < 2
        or not isinstance(counts, Mapping)
    ):
        raise InvalidRequest(
            "expected a tally of several items; or designs, and counts such as {'00': 30, '01': 7}."
        )
    items = {f"item {number}": item for number, item in enumerate(designs, 1)}
    cells = np.zeros(2 ** len(designs), np.int64)
    for pattern, number in counts.items():
        if len(pattern) != len(designs) or set(pattern) - {"0", "1"}:
            raise InvalidRequest(
                f"{quoted(pattern)} is no combination; expected {len(designs)} digits of 0 and 1."
            )
        cells[int(pattern, 2)] = number
    return Tally(product_of(items), cells)


def _check_two(design: object) -> Design:
    if not isinstance(design, Design) or not is_binary(design):
        raise InvalidRequest("expected a design with two answers and two responses.")
    u, v = design.channel.floats()[1].tolist()
    if u == v:
        raise NotEstimable(
            "the device sends the same whatever the answer is; expected one that tells something."
        )
    return design

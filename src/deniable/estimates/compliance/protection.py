"""Self-protection over several items: some people say no to all of them, whatever the devices say.

P(z) = (1 − θ)·Π_j λ_j^z_j (1 − λ_j)^(1 − z_j) + θ·[z is all no], with items that are independent among the others. Sum
scores of like items are the same model with one λ and as many trials. Where items are associated among the others, the
model does not hold: without any assumption about them θ cannot be told.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product as combinations_of
from math import comb
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import xlogy

from deniable import documents
from deniable.designs import Design
from deniable.designs import product as product_of
from deniable.errors import InvalidRequest, NotEstimable, quoted
from deniable.estimates.compliance.fits import Compliance
from deniable.estimates.compliance.triangle import fit_test
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import Interval, crossings, quantile
from deniable.estimates.likelihood import log_likelihood
from deniable.estimates.stages import groups_body, groups_from_body
from deniable.estimates.testing import HypothesisTest, likelihood_ratio
from deniable.tallies import Tally

_MOST_ITEMS = 12  # whose 4,096 combinations are written out
_GRID = 129  # places at which the one free number is tried before it is refined
_ROOM = 1e-12  # that a probability keeps from 0 and 1


@dataclass(frozen=True, eq=False)
class _CellLaw:
    """Counts of combinations of yes over items, some of which may be asked several times.

    Why: whoever protects themselves is in the first cell alone. If m of its people do not, the most likely λ_j is
    yes_j / (trials_j · (others + m)), brought between the two probabilities of its device, and θ = 1 − (others + m)/n:
    the maximum lies on this curve, and so does every profile. One number is searched, whatever the number of items.

    Attributes:
        yes: how often each item was said yes to, a row for each cell; the first cell has none.
        trials: how often each item was asked.
        ways: in how many ways each cell comes about.
        counts: how many people are in each cell.
        low: the smallest probability of yes that the device of each item allows.
        high: the largest.
    """

    yes: Matrix
    trials: Vector
    ways: Vector
    counts: Vector
    low: Vector
    high: Vector

    def shares(self, rates: Vector, theta: float) -> Vector:
        """Return the probability of each cell."""
        safe = np.clip(rates, _ROOM, 1 - _ROOM)
        logs = self.yes @ np.log(safe) + (self.trials - self.yes) @ np.log1p(-safe)
        found = (1 - theta) * self.ways * np.exp(logs)
        found[0] += theta
        return found

    def height(self, rates: Vector, theta: float) -> float:
        """Return the log-likelihood of the cells, without the constant that counts orders of people."""
        return log_likelihood(self.counts, self.shares(rates, theta))

    def on_curve(self, honest: float, fixed: int | None, value: float) -> tuple[Vector, float]:
        """Return rates and θ if so many of the first cell's people are honest, one of them (θ last) perhaps fixed."""
        others = self.counts[1:].sum() + honest
        rates = np.clip(self.counts @ self.yes / (self.trials * max(others, 1e-300)), self.low, self.high)
        theta = 1 - others / self.counts.sum()
        if fixed is not None and fixed < len(rates):
            rates[fixed] = value
        return rates, (value if fixed == len(rates) else min(max(float(theta), 0.0), 1.0))

    def highest(self, fixed: int | None = None, value: float = 0.0) -> tuple[Vector, float]:
        """Return the most likely rates and θ."""
        first = float(self.counts[0])

        def fall(honest: float) -> float:
            return -self.height(*self.on_curve(honest, fixed, value))

        tried = np.linspace(0, first, _GRID)
        heights = [fall(each) for each in tried]
        at = int(np.argmin(heights))
        around = (tried[max(at - 1, 0)], tried[min(at + 1, _GRID - 1)])
        candidates = [float(tried[at])]
        if around[0] < around[1]:
            candidates.append(float(minimize_scalar(fall, bounds=around, method="bounded", options={"xatol": 1e-9}).x))
        return self.on_curve(min(candidates, key=fall), fixed, value)

    def information(self, rates: Vector, theta: float) -> Matrix:
        """Return the expected information about all rates and θ."""
        safe = np.clip(rates, 1e-9, 1 - 1e-9)
        honest = self.shares(safe, 0.0)
        slopes = np.column_stack(
            [
                (1 - theta) * honest[:, None] * (self.yes / safe - (self.trials - self.yes) / (1 - safe)),
                np.eye(len(honest))[0] - honest,
            ]
        )
        return vector(self.counts.sum() * (slopes.T / np.maximum(self.shares(safe, theta), 1e-300)) @ slopes)


@dataclass(frozen=True, eq=False)
class _Protection(Compliance):
    """Shares of yes among people who follow the devices, and the share of those who say no to everything."""

    @property
    @abstractmethod
    def _law(self) -> _CellLaw:
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
        return self._law.on_curve(float(self._law.counts[0]), len(self._rates), 0.0)

    def _numbers(self, rates: Vector, theta: float) -> dict[str, float]:
        u, v = self._rates.T
        shares = np.clip((rates - u) / (v - u), 0.0, 1.0) + 0.0
        return dict(zip([*self._items, self._always], [*shares.tolist(), theta], strict=True))

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
        if self._law.yes.shape != (4, 2):
            return {}
        seen = self._law.counts / self._law.counts.sum()
        if not seen[3] > 0:
            return {}
        rates = np.array([seen[3] / (seen[3] + seen[1]), seen[3] / (seen[3] + seen[2])])
        u, v = self._rates.T
        theta = 1 - seen[3] / rates.prod()
        return dict(zip(self.params, [*((rates - u) / (v - u)).tolist(), float(theta)], strict=True))

    def cov_params(self) -> Matrix:
        """Return the inverse of the expected information; at the border of what is possible it is too large there."""
        rates, theta = self._likely
        scale = np.append(1 / (self._rates[:, 1] - self._rates[:, 0]), 1.0)
        found = np.linalg.pinv(self._law.information(rates, theta))
        return vector(scale[:, None] * found * scale)

    def _profile(self, confidence: float) -> dict[str, Interval]:
        law = self._law
        floor = law.height(*self._likely) - quantile(confidence) ** 2 / 2
        found = {}
        for number, (name, value) in enumerate(self.params.items()):
            u, v = self._rates[number] if number < len(self._rates) else (0.0, 1.0)

            def above(at: float, number: int = number, u: float = u, v: float = v) -> float:
                return max(law.height(*law.highest(number, u + (v - u) * at)), -1e300) - floor

            found[name] = Interval(*crossings(above, value))
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
        df = len(law.counts) - 1 - len(self.params)
        return fit_test(law.counts, law.counts.sum() * law.shares(*self._likely), max(df, 0))

    @property
    def protection_test(self) -> HypothesisTest:
        """Test whether anybody protects themselves.

        Why: a share of 0 is at the border of what is possible, where the statistic is 0 in half of all surveys
        [SL87], so that the p-value is half of that of one degree of freedom.
        """
        gain = self.log_likelihood - self.log_likelihood_without
        return likelihood_ratio("Nobody protects themselves", gain, 1, at_border=True)

    @property
    def _notes(self) -> tuple[str, ...]:
        shares = "; ".join(f"{name} {value:.4f}" for name, value in self.without.items() if name != self._always)
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
        counts = self.tallies[0].counts.astype(np.float64)
        low, high = self._rates.min(axis=1), self._rates.max(axis=1)
        return _CellLaw(yes, np.ones(size), np.ones(len(yes)), counts, low, high)

    @property
    def _always(self) -> str:
        return f"always {self._factors[0].design.symbols[0]}"

    @property
    def _title(self) -> str:
        return f"self-protection over {len(self._factors)} items"


@dataclass(frozen=True, eq=False)
class SumScores(_Protection):
    """The share of yes to like items from sums of responses, and the share of people who say no to all of them.

    Attributes:
        items: how many items were summed.
        sums: how many people had each sum of yes, from 0 on.
    """

    type: ClassVar = "sum-scores"

    items: int
    sums: tuple[int, ...]

    @property
    def respondents(self) -> int:
        return sum(self.sums)

    @property
    def _items(self) -> list[str]:
        return [self.tallies[0].design.categories[1]]

    @cached_property
    def _rates(self) -> Matrix:
        return self.tallies[0].design.channel.floats()[1:2]

    @cached_property
    def _law(self) -> _CellLaw:
        size, (low, high) = self.items, np.sort(self._rates[0])
        ways = vector([comb(size, number) for number in range(size + 1)])
        yes = np.arange(size + 1.0)[:, None]
        return _CellLaw(yes, vector([size]), ways, vector(self.sums), vector([low]), vector([high]))

    @property
    def _epsilon(self) -> float:
        return self.items * super()._epsilon

    @property
    def _title(self) -> str:
        return f"sums over {self.items} items of {self.tallies[0].design.name}"

    def _source(self) -> dict[str, Any]:
        return {"groups": groups_body(self.tallies), "items": self.items, "sums": list(self.sums)}

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: None) -> SumScores:  # noqa: ARG003 - it has its own
        (empty,) = groups_from_body(source)
        return sum_scores(empty.design, documents.field(source, "sums", list))


def self_protection(
    tally: Tally | None = None,
    *,
    designs: Sequence[Design] | None = None,
    counts: Mapping[str, int] | None = None,
) -> SelfProtection:
    """Estimate how many people say no to every item, whatever the devices say, and the shares among all others.

    Implements: the self-protective response of [BH07] with items that are independent among those who follow the
    devices; a test of the model needs three items, and that anybody protects themselves is tested at the border.

    Args:
        tally: the counts of a `product` of designs with two answers and two responses; "no" is the first response.
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
    if not isinstance(tally, Tally) or len(tally.design.factors) < 2:
        raise InvalidRequest("expected a tally of several items together.", "Ask them with one dn.product({…}).")
    factors = tally.design.factors
    if len(factors) > _MOST_ITEMS or any(
        len(each.design.categories) != 2 or each.design.channel.responses != 2 for each in factors
    ):
        raise InvalidRequest(f"expected at most {_MOST_ITEMS} items, each with two answers and two responses.")
    _check_people(tally.respondents)
    return SelfProtection((tally,))


def sum_scores(design: Design, counts: Sequence[int]) -> SumScores:
    """Estimate a share and self-protection from how many of several like items people said yes to.

    Implements: (1 − θ)·Q·τ + θ·e₀ with Q of `sum_score_channel` and τ binomial: then the sum is binomial again.

    Args:
        design: the device of each item, with two answers and two responses.
        counts: how many people had each sum, from 0 to the number of items.

    Raises:
        InvalidRequest: another design, or fewer than two items.
        NotEstimable: fewer than two people.

    Example:
        >>> from deniable.designs import forced_response
        >>> found = sum_scores(forced_response("3/5", "1/5", "1/5"), [310, 250, 120, 40, 8])
        >>> {name: round(value, 4) for name, value in found.params.items()}
        {'yes': 0.1364, 'always no': 0.2177}
    """
    _check_two(design)
    if not isinstance(counts, Sequence) or len(counts) < 3:
        raise InvalidRequest("expected how many people had each sum, from 0 to the number of items, of at least two.")
    if any(isinstance(each, bool) or not hasattr(each, "__index__") or each.__index__() < 0 for each in counts):
        raise InvalidRequest("a count is no whole number; expected numbers of people, 0 or more.")
    sums = tuple(int(each.__index__()) for each in counts)
    _check_people(sum(sums))
    return SumScores((Tally.empty(design),), len(sums) - 1, sums)


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
        raise InvalidRequest(f"the number of items is {quoted(items)}; expected 1 or more.")
    u, v = design.channel.floats()[1].tolist()

    def law(size: int, rate: float) -> Vector:
        number = np.arange(size + 1)
        ways = vector([comb(size, each) for each in number.tolist()])
        return vector(ways * np.exp(xlogy(number, rate) + xlogy(size - number, 1 - rate)))

    return np.column_stack([np.convolve(law(true, v), law(items - true, u)) for true in range(items + 1)])


def _patterns(designs: object, counts: object) -> Tally:
    if not isinstance(designs, Sequence) or len(designs) < 2 or not isinstance(counts, Mapping):
        raise InvalidRequest("expected a tally of several items; or designs, and counts such as {'00': 30, '01': 7}.")
    design = product_of({f"item {number}": each for number, each in enumerate(designs, 1)})
    cells = np.zeros(2 ** len(designs), np.int64)
    for pattern, number in counts.items():
        if len(pattern) != len(designs) or set(pattern) - {"0", "1"}:
            raise InvalidRequest(f"{quoted(pattern)} is no combination; expected {len(designs)} digits of 0 and 1.")
        cells[int(pattern, 2)] = number
    return Tally(design, cells)


def _check_two(design: object) -> None:
    if not isinstance(design, Design) or len(design.categories) != 2 or design.channel.responses != 2:
        raise InvalidRequest("expected a design with two answers and two responses.")


def _check_people(number: int) -> None:
    if number < 2:
        raise NotEstimable("there are fewer than 2 respondents; expected at least 2, to say how sure we are.")

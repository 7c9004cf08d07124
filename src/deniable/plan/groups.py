"""Two groups: how surely they are told apart, and how to divide people between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from deniable import exact
from deniable.designs import Design
from deniable.errors import InvalidRequest, quoted
from deniable.estimates import best_split
from deniable.exact import Rational
from deniable.plan.detection import normal_power, read_category, shares_around
from deniable.plan.planned import Line, Planned
from deniable.plan.precision import (
    read_probability,
    read_share,
    read_whole,
    smallest,
    variance_curve,
)
from deniable.rendering.formats import percent
from deniable.types.categories.plan import Goal


@dataclass(frozen=True, slots=True)
class Arm:
    """A group that is asked.

    Attributes:
        design: what it responds with; `direct()` for a direct question.
        share: the share that is expected in it.
        n: how many respond; left open where that is what is asked for.
        category: whose share is meant; the last one, if none is named.
    """

    design: Design
    share: float
    n: int | None = None
    category: str | None = None

    def spread(self, share: float | None = None) -> float:
        """Return n times the variance of the estimate, at its own share or at another one."""
        name = read_category(self.design, self.category)
        at = read_share(self.share if share is None else share, "share")
        return variance_curve(
            self.design, shares_around(self.design, name, at), Goal(name)
        )(1, 1.0)


def difference_power(
    first: Arm, second: Arm, *, alpha: float = 0.05, two_sided: bool = True
) -> float:
    """Return how surely two groups are told apart.

    Implements: the z-test of two shares. Groups with the same design are compared at the share of both together, where
    the null holds; groups with different designs, or one that is asked directly, by the sum of their own variances.

    Raises:
        InvalidRequest: equal shares, a group without a number of respondents, or numbers that do not fit.

    Example:
        >>> from deniable.designs import crosswise, direct
        >>> asked = Arm(crosswise("1/4"), 0.15, 800), Arm(direct(), 0.05, 400)
        >>> round(difference_power(*asked), 4)
        0.8181
    """
    sizes = [read_whole(arm.n, "n of a group") for arm in (first, second)]  # type: ignore[arg-type]  # refuses None
    if first.share == second.share:
        raise InvalidRequest(
            f"both shares are {first.share}; expected different ones to be told apart."
        )
    variance = null = first.spread() / sizes[0] + second.spread() / sizes[1]
    if first.design == second.design:
        pooled = (first.share * sizes[0] + second.share * sizes[1]) / sum(sizes)
        null = first.spread(pooled) * (1 / sizes[0] + 1 / sizes[1])
    return normal_power(
        abs(first.share - second.share),
        math.sqrt(variance),
        math.sqrt(null),
        read_probability(alpha, "alpha") / (2 if two_sided else 1),
        two_sided,
    )


def difference(
    first: Arm,
    second: Arm,
    *,
    power: float | None = None,
    alpha: float = 0.05,
    two_sided: bool = True,
    costs: Sequence[float] = (1, 1),
) -> Planned:
    """Answer how surely two groups are told apart, or how many people each needs for a power.

    Args:
        first: a group.
        second: the other one.
        power: the power that is wanted; the groups' n are then looked for, divided as `allocation` does. Without it
            each group has its n, and the power is told.
        alpha: how often groups that do not differ are told apart.
        two_sided: whether it is open which share is larger.
        costs: what a respondent of each group costs.

    Raises:
        InvalidRequest: n and power both given or both left open, or numbers that do not fit.

    Example:
        >>> from deniable.designs import forced_response
        >>> die = forced_response("2/3", "1/6", "1/6")
        >>> round(difference(Arm(die, 0.3, 600), Arm(die, 0.2, 400)).value, 6)
        0.588256
    """
    if any((arm.n is None) != (power is not None) for arm in (first, second)):
        raise InvalidRequest(
            "expected a number of respondents for each group, or a power, and not both.",
            "For example Arm(design, 0.2, 400) without a power, or Arm(design, 0.2) with power=0.8.",
        )
    start = f"{percent(first.share)} and {percent(second.share)} are told apart with a power of"
    if power is None:
        value = difference_power(first, second, alpha=alpha, two_sided=two_sided)
        people = f"{first.n:,} and {second.n:,} respondents"
        sentence = f"With {people} {start} {percent(value)}."
        return Planned(sentence, value, _arm_lines(first, second))
    divide = partial(
        _divide, first, second, fraction=_best_fraction(first, second, costs)
    )
    power_of = partial(difference_power, alpha=alpha, two_sided=two_sided)
    target = read_probability(power, "the power")
    total = smallest(lambda n: power_of(*divide(n)) >= target, least=2)
    if total is None:
        raise InvalidRequest(
            "no number of respondents is enough; expected a larger difference."
        )
    arms = divide(total)
    sentence = f"Ask {total:,} people, {arms[0].n:,} and {arms[1].n:,}: {start} {percent(power)}."
    return Planned(sentence, total, _arm_lines(*arms))


def _divide(first: Arm, second: Arm, n: int, fraction: float) -> tuple[Arm, Arm]:
    """Return both groups with their numbers of people, at least one in each."""
    n_first = _first_size(n, fraction)
    return replace(first, n=n_first), replace(second, n=n - n_first)


def _first_size(n: int, fraction: float) -> int:
    return min(max(round(fraction * n), 1), n - 1)


def _arm_lines(*arms: Arm) -> tuple[Line, ...]:
    return tuple(
        {
            "group": str(number),
            "design": arm.design.name,
            "ε": arm.design.epsilon,
            "share": percent(arm.share),
            "people": arm.n or 0,
            "standard error": math.sqrt(arm.spread() / (arm.n or 1)),
        }
        for number, arm in enumerate(arms, 1)
    )


def allocation(
    first: Arm, second: Arm, n: int, *, costs: Sequence[float] = (1, 1)
) -> Planned:
    """Answer how to divide n people between two groups so that their difference has the smallest error for its cost.

    Implements: n₁ : n₂ = s₁/√c₁ : s₂/√c₂, with s² = n·Var of each group at its expected share and c what a respondent
    of it costs.

    Raises:
        InvalidRequest: fewer than two people, or costs that are no positive numbers.

    Example:
        >>> from deniable.designs import direct, warner
        >>> allocation(Arm(warner(p="7/10"), 0.2), Arm(direct(), 0.2), 1000).value
        752
    """
    n, fraction = read_whole(n, "n", least=2), _best_fraction(first, second, costs)
    n_first = _first_size(n, fraction)
    sentence = f"Ask {n_first:,} people in the first group and {n - n_first:,} in the second."
    note = f"That is {percent(fraction)} of them in the first group."
    lines = _arm_lines(*_divide(first, second, n, fraction))
    return Planned(sentence, n_first, lines, (note,))


def two_sample_allocation(
    p: Sequence[Rational],
    n: int,
    *,
    share: float,
    innocuous: float,
    costs: Sequence[float] = (1, 1),
) -> Planned:
    """Answer how to divide n people between two samples of the unrelated question, whose other share nobody knows.

    Args:
        p: the probability of the sensitive question in each sample; 0 in the second for Moors' design.
        n: how many will respond altogether.
        share: the sensitive share that you expect.
        innocuous: the innocuous share that you expect.
        costs: what a respondent of each sample costs.

    Raises:
        InvalidRequest: equal probabilities, fewer than two people, or shares and costs that are none.

    Example:
        >>> two_sample_allocation(["7/10", 0], 1000, share=0.2, innocuous=0.5).value
        752
    """
    n = read_whole(n, "n", least=2)
    split = partial(best_split, p, sensitive=share, innocuous=innocuous)
    n_first = _first_size(n, split(costs=_read_costs(costs)).first)
    p_first, p_second = (float(exact.probability(each, name="p")) for each in p)
    lines: tuple[Line, ...] = (
        {"sample": "1", "p": p_first, "people": n_first},
        {"sample": "2", "p": p_second, "people": n - n_first},
    )
    error = math.sqrt(split(first=n_first / n).variance / n)
    sentence = (
        f"Ask {n_first:,} people in the first sample and {n - n_first:,} in the second: the sensitive share of "
        f"{percent(share)} then has a standard error of {100 * error:.3g} percentage points."
    )
    return Planned(sentence, n_first, lines)


def _best_fraction(first: Arm, second: Arm, costs: Sequence[float]) -> float:
    """Return the share of people that the first group gets."""
    cost_first, cost_second = _read_costs(costs)
    return _fraction_of_first(
        math.sqrt(first.spread() / cost_first),
        math.sqrt(second.spread() / cost_second),
    )


def _fraction_of_first(first: float, second: float) -> float:
    return first / (first + second) if first + second > 0 else 0.5


def _read_costs(costs: Sequence[float]) -> tuple[float, float]:
    if (
        not isinstance(costs, Sequence)
        or len(costs) != 2
        or not all(
            isinstance(cost, int | float) and 0 < cost < math.inf for cost in costs
        )
    ):
        raise InvalidRequest(
            f"the costs are {quoted(costs)}; expected two positive numbers, such as (1, 2)."
        )
    return float(costs[0]), float(costs[1])


def cheater_detection(
    p: Sequence[Rational], sizes: Sequence[int], *, share: float, cheating: float
) -> Planned:
    """Answer how well two samples with different forced "yes" tell honest members from people who always say "no".

    Implements: the design of [CD98]. Sample g says "yes" with λ_g = π + p_g·β where π are honest members, γ say "no"
    whatever happens and β = 1 − π − γ are the others; π̂ = (p₂λ̂₁ − p₁λ̂₂)/(p₂ − p₁), and
    γ̂ = 1 − [(1 − p₁)λ̂₂ − (1 − p₂)λ̂₁]/(p₂ − p₁).

    Args:
        p: how often "yes" is forced in each sample.
        sizes: how many respond in each.
        share: the share of honest members that you expect.
        cheating: the share of people that you expect to say "no" whatever happens.

    Raises:
        InvalidRequest: equal probabilities, or shares that are none or more than 1 together.

    Example:
        >>> found = cheater_detection(["1/5", "4/5"], [600, 400], share=0.15, cheating=0.05)
        >>> round(found.value, 4), [round(line["standard error"], 4) for line in found.lines]
        (0.8196, [0.0261, 0.0279])
    """
    p_1, p_2 = (float(exact.probability(probability, name="p")) for probability in p)
    honest, failing = read_share(share, "share"), read_share(cheating, "cheating")
    if p_1 == p_2 or honest + failing > 1:
        raise InvalidRequest(
            "expected two different probabilities, and shares that are at most 1 together."
        )
    people = [read_whole(size, "the size of a sample") for size in sizes]
    lines = _cheating_lines((p_1, p_2), people, honest, failing)
    value = float(lines[0]["best part of the first sample"])
    sentence = (
        f"With {people[0]:,} and {people[1]:,} respondents the share of honest members has a standard error of "
        f"{100 * float(lines[0]['standard error']):.3g} percentage points; it is smallest with {percent(value)} of "
        "them in the first sample."
    )
    return Planned(sentence, value, lines, (_MAYBE_MEMBERS,))


_MAYBE_MEMBERS = (
    "Those who always say “no” may be members: the share of all members lies "
    "between the first and the sum of both."
)


def _cheating_lines(
    p: tuple[float, float], people: Sequence[int], honest: float, failing: float
) -> tuple[Line, ...]:
    """Return the standard errors of honest members and of those who always say no, and the best division."""
    p_yes = [honest + forced * (1 - honest - failing) for forced in p]
    sd_1, sd_2 = (math.sqrt(yes * (1 - yes)) for yes in p_yes)
    weights = {"honest members": (p[1], p[0]), "always no": (1 - p[1], 1 - p[0])}
    lines: list[Line] = []
    for name, (weight_1, weight_2) in weights.items():
        first, second = weight_1 * sd_1, weight_2 * sd_2
        variance = first**2 / people[0] + second**2 / people[1]
        lines.append(
            {
                "share of": name,
                "standard error": math.sqrt(variance) / abs(p[1] - p[0]),
                "best part of the first sample": _fraction_of_first(first, second),
            }
        )
    return tuple(lines)

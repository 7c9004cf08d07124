"""Successors of a design: set sizes along a ladder, bridges between sizes, and nearest alternatives."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from deniable import chance, exact
from deniable.channel import Bits, Channel, Diagonal, Mixture, Subset
from deniable.channel.sets import Part
from deniable.designs import Bitstrings, Design
from deniable.designs.sets_of_answers import max_weight_inside, subset_information
from deniable.errors import (
    DeniableError,
    InvalidDesign,
    InvalidNumber,
    InvalidRequest,
    NotOrdered,
)
from deniable.order.blackwell import find_step
from deniable.order.closed_forms import find_closed_form
from deniable.order.sets import one_size
from deniable.order.steps import Step
from deniable.rendering import formats

_MOST_SIZES = 10_000  # categories up to which all sizes of sets are gone through: some seconds for each stage
_MOST_CELLS = 200_000  # cells of a channel that is gone through for the nearest k-ary one: a second
_HALVINGS = 20  # of a bisection that runs a program each time: enough for six digits
_BITS = 64  # halvings where a closed form decides: the digits of a weight


@dataclass(frozen=True, slots=True)
class SubsetGarbling:
    """Garbling of a t₂-subset response into a t₁-subset response.

    With probability `beta` it is drawn from the fine response, evenly among the t₁-subsets that hold it (t₁ ≥ t₂) or
    that lie in it (t₁ ≤ t₂); otherwise evenly among all t₁-subsets.
    """

    beta: Fraction
    superset: bool


def subsets_ordered(
    k: int, t1: int, gamma1: exact.Rational, t2: int, gamma2: exact.Rational
) -> bool:
    """Say whether the t₁-subset design at γ₁ can be made from the t₂-subset design at γ₂, both for k categories.

    Implements: F12: it can if and only if t₁(γ₁ − 1) ≤ t₂(γ₂ − 1) and (k − t₁)(1 − 1/γ₁) ≤ (k − t₂)(1 − 1/γ₂). Both
    together say that the coarse sets hold the answer no more often than `subset_inclusion` caps it.

    Raises:
        InvalidDesign: t outside 1 … k − 1.
        InvalidNumber: γ not above 1.

    Example:
        >>> subsets_ordered(6, 2, 3, 1, 4), subsets_ordered(6, 2, 3, 1, 5)
        (False, True)
    """
    p_held, cap = subset_inclusion(k, t1, gamma1, t2, gamma2)
    return p_held <= cap


def subset_inclusion(
    k: int, t1: int, gamma1: exact.Rational, t2: int, gamma2: exact.Rational
) -> tuple[Fraction, Fraction]:
    """Return the probability that a coarse set holds the answer, and its maximum for a set made from a fine one.

    Why: the best that can be done with a fine set is to hold it, or to lie in it. If the coarse design does better,
    it cannot be made from the fine one: this pair is the proof. F12 says that otherwise it can.

    Example:
        >>> subset_inclusion(6, 2, 3, 1, 4)
        (Fraction(3, 5), Fraction(5, 9))
    """
    first_bound, second_bound = _read_gamma(k, t1, gamma1), _read_gamma(k, t2, gamma2)
    return t1 * first_bound / (t1 * first_bound + k - t1), (
        min(t1, t2) * (second_bound - 1) + t1
    ) / (t2 * second_bound + k - t2)


def subset_garbling(
    k: int, t1: int, gamma1: exact.Rational, t2: int, gamma2: exact.Rational
) -> SubsetGarbling | None:
    """Return the garbling of the t₂-subset design at γ₂ into the t₁-subset design at γ₁; None if there is none.

    Implements: F12, with β = v(k + u)/(u(k + v)), u = t₂(γ₂ − 1) and v = t₁(γ₁ − 1) for supersets, and
    β = (k − t₁)(γ₁ − 1)D₂ / ((k − t₂)(γ₂ − 1)D₁), Dᵢ = tᵢγᵢ + k − tᵢ, for subsets.

    Example:
        >>> subset_garbling(6, 2, 3, 1, 5)
        SubsetGarbling(beta=Fraction(1, 1), superset=True)
    """
    shares = one_size(_subset(k, t1, gamma1), _subset(k, t2, gamma2))
    return None if shares is None else SubsetGarbling(shares[0].near, superset=t1 >= t2)


def _subset(k: int, t: int, gamma: exact.Rational) -> Subset:
    expected_held = t * _read_gamma(k, t, gamma)
    share = expected_held / (expected_held + k - t)
    return Subset(k, t, share.numerator, share.denominator)


def _read_gamma(k: int, t: int, gamma: exact.Rational) -> Fraction:
    if not 1 <= t <= k - 1:
        raise InvalidDesign(
            f"the subsets have {t} of {k} categories; expected 1 to {k - 1}."
        )
    value = exact.rational(gamma, name="gamma")
    if value <= 1:
        raise InvalidNumber(f"γ = e^ε is {exact.shown(value)}; expected more than 1.")
    return value


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of sets, one for each stage, each design being a garbling of the next.

    Attributes:
        sizes: the size at each stage.
        risk: the sum over the stages of n times the largest total variance.
    """

    sizes: tuple[int, ...]
    risk: Fraction


def smallest_gamma(k: int, t1: int, gamma1: exact.Rational, t2: int) -> exact.Ratio:
    """Return the smallest γ at which the t₂-subset design can follow the t₁-subset design at γ₁; ∞ if there is none.

    Implements: F12: 1 + t₁(γ₁ − 1)/t₂ for t₁ ≥ t₂; for t₁ < t₂ from (k − t₁)(1 − 1/γ₁) = (k − t₂)(1 − 1/γ).

    Example:
        >>> smallest_gamma(6, 2, 3, 1), smallest_gamma(5, 1, 4, 3)
        (Fraction(5, 1), inf)
    """
    subset_inclusion(k, t1, gamma1, t2, gamma1)  # reads and checks
    gamma = exact.rational(gamma1)
    if t1 >= t2:
        return 1 + t1 * (gamma - 1) / t2
    gap = 1 - (k - t1) * (1 - 1 / gamma) / (k - t2)
    return exact.ratio(1, max(gap, Fraction(0)))


def bridge_weight(
    k: int, t1: int, gamma1: exact.Rational, t2: int, gamma2: exact.Rational
) -> Fraction:
    """Return the smallest w at which w·P_t₁(γ₂) + (1 − w)·P_t₂(γ₂) can follow P_t₁(γ₁); 0 where P_t₂(γ₂) itself can.

    Implements: the bridge mixture of F12.

    Raises:
        NotOrdered: γ₂ < γ₁, so that no mixture can.

    Example:
        >>> bridge_weight(6, 2, 3, 1, 4)
        Fraction(2, 5)
    """
    p_held, cap = subset_inclusion(k, t1, gamma1, t2, gamma2)
    _, max_held = subset_inclusion(k, t1, gamma1, t1, gamma2)
    if p_held > max_held:
        raise NotOrdered(
            f"γ falls from {exact.shown(gamma1)} to {exact.shown(gamma2)}; expected a stage that reveals more.",
            "What is out cannot be taken back: choose a larger ε.",
        )
    return (p_held - cap) / (max_held - cap) if p_held > cap else Fraction(0)


def best_sizes(k: int, gammas: Sequence[exact.Rational]) -> Sizes:
    """Return the set sizes with the smallest sum of risks among sequences in which each can follow the last.

    Implements: the dynamic program of F12. By itself the best size at each γ (`best_t`) need not be reachable.

    Why it is quick: t₂ can follow t₁ iff t₁(γ₁ − 1) ≤ t₂(γ₂ − 1), which gives t₂ a lowest value that rises with t₁, and
    (k − t₁)(1 − 1/γ₁) ≤ (k − t₂)(1 − 1/γ₂), which gives it a highest value that rises too. So the sizes that t₂ can
    follow form a window that moves upwards with t₂.

    Raises:
        InvalidDesign: fewer than two categories.
        InvalidRequest: no γ at all, or γs that fall, or 1; or too many categories.

    Example:
        >>> best_sizes(10, [1.5, 2, 3, 4, 6, 10]).sizes
        (4, 3, 3, 2, 2, 2)
    """
    ratios = [exact.rational(gamma, name="gamma") for gamma in gammas]
    if (
        not ratios
        or ratios[0] <= 1
        or any(first > second for first, second in pairwise(ratios))
    ):
        raise InvalidRequest(
            "the γ = e^ε of the stages do not rise from above 1; expected them to."
        )
    if k > _MOST_SIZES:
        raise InvalidRequest(
            f"there are {k:,} categories; expected at most {_MOST_SIZES:,} to go through all sizes of sets.",
            "Choose the sizes yourself: subset(categories, t=…).",
        )
    risks = [
        [(k - 1) / subset_information(k, t, gamma) for t in range(1, k)]
        for gamma in ratios
    ]
    best, choices = risks[0], list[list[int]]()
    for number, (first, second) in enumerate(pairwise(ratios), start=1):
        before = _window_minima(k, first, second, best)
        choices.append(before)
        best = [
            risk + best[previous]
            for risk, previous in zip(risks[number], before, strict=True)
        ]
    size_index = min(range(k - 1), key=lambda t: best[t])
    total, sizes = best[size_index], [size_index + 1]
    for before in reversed(choices):
        size_index = before[size_index]
        sizes.append(size_index + 1)
    return Sizes(tuple(reversed(sizes)), total)


def _window_minima(
    k: int, gamma1: Fraction, gamma2: Fraction, risks: Sequence[Fraction]
) -> list[int]:
    """Return for each t₂ the t₁ of smallest risk that it can follow, both counted from t = 1.

    Both ends of the window rise with t₂, so that a queue of candidates with rising risks serves all of them in turn.
    """
    minima: list[int] = []
    queue: deque[int] = deque()
    entered = 0
    for t in range(1, k):
        # t₁ is at most t₂(γ₂ − 1)/(γ₁ − 1), and at least k − (k − t₂)(1 − 1/γ₂)/(1 − 1/γ₁).
        last = min(k - 1, int(t * (gamma2 - 1) / (gamma1 - 1)))
        first = k - int((k - t) * (1 - 1 / gamma2) / (1 - 1 / gamma1))
        while entered < last:
            while queue and risks[queue[-1]] > risks[entered]:
                queue.pop()
            queue.append(entered)
            entered += 1
        while queue[0] < first - 1:
            queue.popleft()
        minima.append(queue[0])
    return minima


def bridge(old: Design, new: Design) -> Design:
    """Return the mixture nearest to the second design that can follow the first.

    Both send sets of one size, or single categories. The mixture sends sets of the first one's size, at the second
    one's ε, as seldom as it can, and else sets of the second one's size.

    Implements: the bridge mixture of F12 (`bridge_weight`), in weights of 2^64 rounded towards privacy.

    Raises:
        InvalidRequest: a design that does not send sets of one size, or holds the answer less often than chance.
        NotOrdered: the second has a smaller ε than the first, so that nothing at its ε can follow.

    Example:
        >>> from deniable.designs import subset
        >>> between = bridge(subset(6, epsilon=1, t=2), subset(6, epsilon="1.3", t=1))
        >>> [round(float(between.channel.weight(t)), 4) for t in (1, 2)]
        [0.6546, 0.3454]
    """
    blends = _blends(_read_subset(old), _read_subset(new))
    if not blends:
        raise NotOrdered(
            f"ε falls from {formats.epsilon(old.epsilon, 6)} to {formats.epsilon(new.epsilon, 6)}; expected a second "
            "design that reveals more.",
            "What is out cannot be taken back: choose a larger ε.",
        )
    return _with_labels(new, *blends)


def _read_subset(design: Design) -> Mixture | Subset:
    channel: Any = design.channel.as_sets()
    sizes: Sequence[int] = getattr(channel, "sizes", ())
    if len(sizes) != 1 or channel.inclusion(sizes[0]) * channel.size <= sizes[0]:
        kind = "sets of several sizes" if sizes else "no sets of categories"
        raise InvalidRequest(
            f"{design!r} sends {kind}, or holds the answer less often than chance; expected sets of one size.",
            "Bridges lead from one subset() to another.",
        )
    return channel  # type: ignore[no-any-return]  # sets of one size


def nearest_successors(old: Design, new: Design) -> tuple[Design, ...]:
    """Return designs near the second that can follow the first, the best one first; none where none is known.

    The second with as little of the first one's sizes of sets as will do, where both send sets of few sizes; the
    second with the smallest ε that will do, where its family has a way to tell more; or else the k-ary design with the
    smallest ε.
    """
    nearest_channels = _find_successors(old.channel, new.channel) or _k_ary(old.channel)
    return tuple(
        _with_labels(new, channel)
        for channel in nearest_channels
        if _can_follow(old.channel, channel)
    )


def _find_successors(old: Channel, new: Channel) -> list[Channel]:
    if new.has_supports_of(old):
        return [old]
    clearer = _CLEARER.get(type(new))
    raised = (
        []
        if clearer is None
        else _build_least(lambda fraction: clearer(new, fraction), old, open_end=True)
    )
    coarse, fine = old.as_sets(), new.as_sets()
    are_mixtures = all(
        channel.set_valued and not channel.bitwise for channel in (coarse, fine)
    )
    return [*(_blends(coarse, fine) if are_mixtures else []), *raised]


def _blends(old: Any, new: Any) -> list[Channel]:
    """Return the smallest blends of one channel's set sizes into another that can follow, at the other's parity."""
    odds = [new.odds(t) for t in new.sizes if 0 < t < new.size]
    gamma = max(
        (ratio for ratio in odds if isinstance(ratio, Fraction)), default=Fraction(1)
    )

    def blend(fraction: Fraction) -> Channel:
        weights: dict[int, Fraction] = {}
        for channel, share in ((old, fraction), (new, 1 - fraction)):
            for t in channel.sizes:
                weights[t] = weights.get(t, Fraction(0)) + share * channel.weight(t)
        return _mixture(old.size, weights, gamma)

    return _build_least(blend, old) if gamma > 1 else []


def _build_least(
    build: Callable[[Fraction], Channel], old: Channel, *, open_end: bool = False
) -> list[Channel]:
    """Return the channel that is built with the smallest fraction that can follow; None if no fraction can."""
    has_closed_form = (
        find_closed_form(old, build(1 - Fraction(open_end, 1 << _BITS))) is not None
    )
    follows, resolution = (
        (find_closed_form, 1 << _BITS)
        if has_closed_form
        else (_can_follow, 1 << _HALVINGS)
    )
    low, high = 0, resolution - open_end
    if not follows(old, build(Fraction(high, resolution))):
        return []
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (low, middle)
            if follows(old, build(Fraction(middle, resolution)))
            else (middle, high)
        )
    least = build(Fraction(high, resolution))
    return [least] if least.parity != math.inf else []


def _can_follow(old: Channel, new: Channel) -> bool:
    try:
        return isinstance(find_step(old, new), Step)
    except DeniableError:  # too large to decide
        return False


def _mixture(k: int, weights: dict[int, Fraction], gamma: Fraction) -> Channel:
    """Write a mixture of sizes at one parity in weights of 2^64; those inside are rounded towards privacy."""
    integer_weights = {t: int(weight * chance.TOTAL) for t, weight in weights.items()}
    integer_weights[max(integer_weights, key=lambda t: integer_weights[t])] += (
        chance.TOTAL - sum(integer_weights.values())
    )
    components = tuple(
        Part(t, weight, max_weight_inside(k, t, gamma))
        for t, weight in sorted(integer_weights.items())
        if weight
    )
    return Mixture(k, components, chance.TOTAL)


def _k_ary(old: Channel) -> list[Channel]:
    """Return the k-ary channel of smallest ε that can follow a small channel.

    Why: C = old·K⁻¹ has the entries ((γ + k − 1)·old[i, j] − Σ_j old[i, j]) / (γ − 1), all to be 0 or more.
    """
    if old.exchangeable:
        return [old]
    k = old.answers
    if old.responses * k > _MOST_CELLS:
        return []
    gamma = (
        max(exact.ratio(sum(row), min(row)) for row in old.dense().weights if any(row))
        - k
        + 1
    )
    return (
        [Diagonal(k, gamma.numerator, gamma.denominator)]
        if isinstance(gamma, Fraction) and gamma > 1
        else []
    )


def _clearer_diagonal(channel: Diagonal, fraction: Fraction) -> Channel:
    same = _move_towards_one(channel.probability(0, given=0), fraction)
    return Diagonal(channel.size, same * (channel.size - 1), chance.TOTAL - same)


def _clearer_subset(channel: Subset, fraction: Fraction) -> Channel:
    return Subset(
        channel.size,
        channel.ones,
        _move_towards_one(channel.inclusion(channel.ones), fraction),
        chance.TOTAL,
    )


def _clearer_mixture(channel: Mixture, fraction: Fraction) -> Channel:
    odds = [channel.odds(t) for t in channel.sizes if 0 < t < channel.size]
    gamma = max(
        (ratio for ratio in odds if isinstance(ratio, Fraction)), default=Fraction(1)
    )
    return _mixture(
        channel.size,
        {t: channel.weight(t) for t in channel.sizes},
        gamma / (1 - fraction),
    )


def _clearer_bits(channel: Bits, fraction: Fraction) -> Channel:
    up, down = (
        (channel.total, 0) if channel.hit >= channel.stray else (0, channel.total)
    )
    hit, stray = (
        weight + int((end - weight) * fraction)
        for weight, end in ((channel.hit, up), (channel.stray, down))
    )
    return Bits(channel.size, hit, stray, channel.total, channel.sized)


def _move_towards_one(probability: Fraction, fraction: Fraction) -> int:
    """Move a probability a part of the way to 1; return it as a weight of 2^64, rounded down."""
    return int((probability + (1 - probability) * fraction) * chance.TOTAL)


_CLEARER: dict[type[Channel], Callable[[Any, Fraction], Channel]] = {
    Bits: _clearer_bits,
    Diagonal: _clearer_diagonal,
    Mixture: _clearer_mixture,
    Subset: _clearer_subset,
}
"""How a kind tells more: the channel that lies a part of the way from this one to one that tells the truth."""


def _with_labels(new: Design, channel: Channel) -> Design:
    """Put the labels of a design around a channel."""
    if channel.exchangeable:
        return Design("k_ary", new.categories, new.categories, channel)
    if type(channel) is type(new.channel):
        return Design(new.name, new.categories, new.symbols, channel)
    return Design("mixture", new.categories, Bitstrings(channel.answers), channel)

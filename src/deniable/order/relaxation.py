"""Relaxations from one design to a finer one, ladders of designs, and what can follow a design.

Successors: set sizes along a ladder, bridges between sizes, and the nearest designs to one that cannot follow.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from deniable import chance, exact
from deniable.chance import TOTAL
from deniable.channel import Bits, Channel, Diagonal, Mixture, Sets, Subset
from deniable.designs import FAMILIES, Bitstrings, Design, labels
from deniable.designs.labels import Labels
from deniable.designs.sets_of_answers import (
    max_weight_inside,
    round_mixture,
    subset_information,
)
from deniable.errors import (
    DeniableError,
    InvalidRequest,
    NotOrdered,
    quoted,
    require,
)
from deniable.order.blackwell import Separation, find_step
from deniable.order.closed_forms import find_closed_form
from deniable.order.ladders import Ladder, Relaxation, check_alike
from deniable.order.sets import p_held_by_ways
from deniable.order.steps import Step

_MAX_SIZES = 10_000  # categories up to which all sizes of sets are gone through: some seconds for each stage
_MAX_CELLS = 200_000  # cells of a channel that is gone through for the nearest k-ary one: a second
_HALVINGS = 20  # of a bisection that runs a program each time: enough for six digits
_BITS = 64  # halvings where a closed form decides: the digits of a weight


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of sets, one for each stage, each design being a garbling of the next.

    Attributes:
        sizes: the size at each stage.
        risk: the sum over the stages of n times the largest total variance.
    """

    sizes: tuple[int, ...]
    risk: Fraction


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
    ratios = _read_gammas(k, gammas)
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


def _read_gammas(k: int, gammas: Sequence[exact.Rational]) -> list[Fraction]:
    ratios = [exact.rational(gamma, name="gamma") for gamma in gammas]
    if (
        not ratios
        or ratios[0] <= 1
        or any(first > second for first, second in pairwise(ratios))
    ):
        raise InvalidRequest(
            "the γ = e^ε of the stages do not rise from above 1; expected them to."
        )
    if k > _MAX_SIZES:
        raise InvalidRequest(
            f"there are {k:,} categories; expected at most {_MAX_SIZES:,} to go through all sizes of sets.",
            "Choose the sizes yourself: subset(categories, t=…).",
        )
    return ratios


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


def nearest_successors(old: Design, new: Design) -> tuple[Design, ...]:
    """Return designs near the second that can follow the first, the best one first; none where none is known.

    The second with as little of the first one's sizes of sets as will do, where both send sets of few sizes; the
    second with the smallest ε that will do, where its family has a way to tell more; or else the k-ary design with the
    smallest ε.
    """
    nearest_channels = _find_successors(old.channel, new.channel) or _k_ary(
        old.channel
    )
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
        else _build_least(
            lambda fraction: clearer(new, fraction), old, open_end=True
        )
    )
    coarse, fine = old.as_sets().set_valued, new.as_sets().set_valued
    if coarse is None or fine is None or coarse.bitwise or fine.bitwise:
        return raised
    return [*_blends(coarse, fine), *raised]


def _blends(old: Sets, new: Sets) -> list[Channel]:
    """Return the smallest blends of one channel's set sizes into another that can follow, at the other's parity."""
    gamma = _largest_odds(new)

    def blend(fraction: Fraction) -> Channel:
        weights: dict[int, Fraction] = {}
        for channel, share in ((old, fraction), (new, 1 - fraction)):
            for t in channel.sizes:
                weights[t] = weights.get(t, Fraction(0)) + share * channel.weight(t)
        return round_mixture(old.size, weights, gamma)

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


def _k_ary(old: Channel) -> list[Channel]:
    """Return the k-ary channel of smallest ε that can follow a small channel.

    Why: C = old·K⁻¹ has the entries ((γ + k − 1)·old[i, j] − Σ_j old[i, j]) / (γ − 1), all to be 0 or more.
    """
    if old.exchangeable:
        return [old]
    k = old.answers
    if old.responses * k > _MAX_CELLS:
        return []
    gamma = (
        max(
            exact.ratio(sum(row), min(row))
            for row in old.dense().weights
            if any(row)
        )
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
    return Diagonal(channel.size, same * (channel.size - 1), TOTAL - same)


def _clearer_subset(channel: Subset, fraction: Fraction) -> Channel:
    return Subset(
        channel.size,
        channel.ones,
        _move_towards_one(channel.inclusion(channel.ones), fraction),
        TOTAL,
    )


def _clearer_mixture(channel: Mixture, fraction: Fraction) -> Channel:
    weights = {t: channel.weight(t) for t in channel.sizes}
    gamma = _largest_odds(channel) / (1 - fraction)
    return round_mixture(channel.size, weights, gamma)


def _largest_odds(channel: Sets) -> Fraction:
    """Return the largest finite odds of a set given an answer inside against one outside; 1 without any."""
    odds = [channel.odds(t) for t in channel.sizes if 0 < t < channel.size]
    return max((r for r in odds if isinstance(r, Fraction)), default=Fraction(1))


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
    return int((probability + (1 - probability) * fraction) * TOTAL)


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


def relax(old: Design, new: Design) -> Relaxation:
    """Return the relaxation of one design to a finer one: both responses together cost what the finer one does.

    Implements: the general step of F12 for every pair of designs of which the first is a garbling of the second: k-ary,
    Warner's and any two-answer designs ([Pan24], (22), (23), (50) and (54)), Hadamard, hashing, sets of equal and of
    different sizes, bits, mixtures, several attributes, and explicit matrices.

    Guarantee: draws are exact. A raised response is distributed as a fresh one of the finer design, and with the
    coarser one it reveals exactly what it reveals by itself.

    Raises:
        NotOrdered: the second design does not tell all that the first does. The error holds a proof, and the nearest
            designs that can follow.
        Incompatible: the designs are about different categories.
        InvalidRequest: too large to be decided in exact numbers.

    Example:
        >>> from deniable.designs import k_ary
        >>> rung = relax(k_ary(["a", "b", "c"], p="1/2"), k_ary(["a", "b", "c"], p="3/4"))
        >>> rung.kernel("a", old="a", given="a"), rung.kernel("a", old="b", given="a")
        (Fraction(9, 10), Fraction(3, 5))
    """
    check_alike(old, new)
    step = find_step(old.channel, new.channel)
    if isinstance(step, Separation):
        raise _not_ordered_error(old, new, step)
    return Relaxation(old, new, step)


def ladder(designs: Iterable[Design]) -> Ladder:
    """Return the ladder with these stages, the coarsest first.

    Raises:
        NotOrdered: a stage that cannot follow the one before.
        InvalidRequest: no stage at all.

    Example:
        >>> from deniable.designs import rappor
        >>> stages = ladder(rappor(8, epsilon=e) for e in (0.5, 1, 2))
        >>> stages.epsilon <= 2, len(stages)
        (True, 3)
    """
    require(
        isinstance(designs, Iterable),
        designs,
        "what a ladder is made of",
        "designs, from coarse to fine",
    )
    stages = tuple(designs)
    for stage in stages:
        require(hasattr(stage, "hash"), stage, "a stage", "a design")
    if not stages:
        raise InvalidRequest("there are no stages; expected at least one design.")
    steps = tuple(relax(old, new).step for old, new in pairwise(stages))
    return Ladder(stages, steps)


def extend(stages: Ladder, design: Design) -> Ladder:
    """Return a ladder with one more, finer stage, which need not have been planned.

    Raises:
        NotOrdered: the design cannot follow the last stage.

    Example:
        >>> from deniable.designs import warner
        >>> len(extend(ladder([warner(epsilon=1)]), warner(epsilon=2)))
        2
    """
    step = relax(stages.designs[-1], design).step
    return Ladder((*stages.designs, design), (*stages.steps, step))


def best_ladder(categories: Labels, epsilons: Sequence[exact.Rational]) -> Ladder:
    """Return the ladder of t-subset designs with the smallest sum of risks at these ε.

    The best size of set falls as ε rises, and the best at one stage cannot always follow the best at the one before;
    the sizes are those of `best_sizes`.

    Guarantee: stage i has at most e^ε_i; from the last stage down, weights are rounded towards privacy, so that every
    stage is exactly a garbling of the next.

    Raises:
        InvalidRequest: no ε, or ε that fall.

    Example:
        >>> [design.channel.ones for design in best_ladder(10, [0.4, 0.7, 1.1, 1.8, 2.3])]
        [4, 3, 2, 1, 1]
    """
    category_labels = labels.read(categories)
    k = len(category_labels)
    gammas = [exact.gamma_below(epsilon) for epsilon in epsilons]
    sizes = best_sizes(k, gammas).sizes
    channels: list[Subset] = []
    for t, gamma in zip(reversed(sizes), reversed(gammas), strict=True):
        weight = max_weight_inside(k, t, gamma)
        if channels:
            # How often a set of t that is as near to the next stage's set as it can be holds the answer.
            p_held, _ = p_held_by_ways(channels[-1], t, channels[-1].ones)
            weight = min(weight, int(chance.TOTAL * p_held))
        channels.append(Subset(k, t, weight, chance.TOTAL))
    return ladder(
        Design("subset", category_labels, Bitstrings(k), channel)
        for channel in reversed(channels)
    )


def family_ladder(
    family: str,
    categories: Labels,
    epsilons: Sequence[exact.Rational],
    **options: Any,
) -> Ladder:
    """Return the ladder of one family's designs at these ε; for "subset" without t that of `best_ladder`.

    Raises:
        NotOrdered: a stage that cannot follow the one before.
        InvalidRequest: an unknown family, no ε, or options that the family does not have.

    Example:
        >>> family_ladder("k_ary", ["red", "green", "blue"], [0.5, 1])
        Ladder(k_ary; ε = 0.5, 1)
    """
    if family not in FAMILIES:
        raise InvalidRequest(
            f"the family is {quoted(family)}; expected one of {', '.join(sorted(FAMILIES))}."
        )
    if family == "subset" and not options:
        return best_ladder(categories, epsilons)
    try:
        return ladder(
            FAMILIES[family].build(categories=categories, epsilon=epsilon, **options)
            for epsilon in epsilons
        )
    except TypeError:
        raise InvalidRequest(
            f"{family} does not take categories, an ε and {', '.join(map(repr, options)) or 'nothing else'}; expected "
            "a family that is built from these.",
            "Build the designs yourself, and hand them to ladder().",
        ) from None


def _not_ordered_error(old: Design, new: Design, proof: Separation) -> NotOrdered:
    earned = f"the first earns {float(proof.coarse):.6g} and the second at most {float(proof.fine):.6g}"
    problem = (
        f"a response of {old!r} cannot be raised to {new!r}, which does not tell all that the first does; expected a "
        f"finer design. The proof is a game, {proof.game}: {earned}."
    )
    near = nearest_successors(old, new)
    if not near:
        return NotOrdered(
            problem,
            "Take a design of the first one's family with a larger ε.",
            proof=proof,
        )
    alternatives = ", or ".join(f"{design!r}" for design in near)
    return NotOrdered(
        problem, f"What can follow: {alternatives}.", proof=proof, nearest=near
    )

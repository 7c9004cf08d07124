"""Relaxations from one design to a finer one, and ladders of designs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from deniable import chance, exact
from deniable.channel import Subset
from deniable.designs import FAMILIES, Bitstrings, Design, labels
from deniable.designs.labels import Labels
from deniable.designs.sets_of_answers import max_weight_inside
from deniable.errors import InvalidRequest, NotOrdered, quoted, require
from deniable.order.blackwell import Separation, find_step
from deniable.order.ladders import Ladder, Relaxation, check_alike
from deniable.order.sets import p_held_by_ways
from deniable.order.successors import best_sizes, nearest_successors

__all__ = [
    "Ladder",
    "NotOrdered",
    "Relaxation",
    "best_ladder",
    "extend",
    "family_ladder",
    "ladder",
    "relax",
]


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
        raise _not_ordered(old, new, step)
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
    gammas = [exact.exp_below(exact.positive_epsilon(epsilon)) for epsilon in epsilons]
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
    family: str, categories: Labels, epsilons: Sequence[exact.Rational], **options: Any
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


def _not_ordered(old: Design, new: Design, proof: Separation) -> NotOrdered:
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

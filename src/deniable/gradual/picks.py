"""Random sets drawn from other sets: how many members from where, and the draw itself."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple

from deniable import chance


class Pick(NamedTuple):
    """How a set is drawn from another one that is known; the answer itself is never among what is drawn.

    Attributes:
        free: whether the known set does not matter; then `within` are drawn from everything.
        within: how many are drawn from the known set.
        beyond: how many are drawn from the rest.
        inside: whether the answer is put in.
    """

    free: bool
    within: int
    beyond: int
    inside: bool


class Plan(NamedTuple):
    """The ways to draw from known sets of one kind, and the running sums of their weights."""

    picks: tuple[Pick, ...]
    sums: tuple[int, ...]


def most_picks(plans: Mapping[Hashable, Plan]) -> int:
    """Return how many members are drawn at most: so many words are taken in any case."""
    return max((pick.within + pick.beyond for plan in plans.values() for pick in plan.picks), default=0)


def every(size: int) -> int:
    """Return the set of all categories."""
    return (1 << size) - 1


def pick_some(pool: int, count: int, source: chance.Source) -> int:
    """Return a random subset of so many members of a set, each subset equally likely.

    The members are numbered from the lowest up. For `at` from their number minus `count` to the last take
    pick = below(at + 1), and put in `pick`, or `at` where `pick` is in already (Floyd's sampling).
    """
    if not count:
        return 0
    members = [j for j in range(pool.bit_length()) if pool >> j & 1]
    drawn: set[int] = set()
    for at in range(len(members) - count, len(members)):
        pick = chance.below(at + 1, source)
        drawn.add(at if pick in drawn else pick)
    return sum(1 << members[number] for number in drawn)


def running(probabilities: Sequence[Fraction]) -> tuple[int, ...]:
    """Return running sums of the smallest whole weights with these proportions."""
    common = math.lcm(*(each.denominator for each in probabilities))
    return tuple(accumulate(int(each * common) for each in probabilities))

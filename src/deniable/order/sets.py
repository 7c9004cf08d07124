"""Relaxation between sets of categories: the numbers of members to draw, and the draw."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

from deniable import chance, documents, exact
from deniable.chance import Source
from deniable.channel import Sets, Subset
from deniable.errors import UnreadableFile
from deniable.order.steps import Step, running_sums


class Pick(NamedTuple):
    """Plan to draw one set from a known one; the answer itself is never drawn.

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


class PickPlan(NamedTuple):
    """The ways to draw from known sets of one kind, and the running sums of their weights."""

    picks: tuple[Pick, ...]
    sums: tuple[int, ...]

    @classmethod
    def from_picks(cls, picks: Sequence[tuple[Pick, Fraction]]) -> PickPlan:
        """Return the plan that takes each way with its probability."""
        return cls(
            tuple(pick for pick, _ in picks),
            running_sums([probability for _, probability in picks]),
        )


def max_picks(plans: Mapping[Hashable, PickPlan]) -> int:
    """Return the maximum number of drawn members, which is the number of words that are read."""
    return max(
        (
            pick.within + pick.beyond
            for plan in plans.values()
            for pick in plan.picks
        ),
        default=0,
    )


def full_set(size: int) -> int:
    """Return the set of all categories."""
    return (1 << size) - 1


def pick_some(pool: int, count: int, source: Source) -> int:
    """Return a random subset of so many members of a set, each subset equally likely.

    The members are numbered from the lowest up. For `at` from their number minus `count` to the last take
    pick = below(at + 1), and put in `pick`, or `at` where `pick` is in already (Floyd's sampling).
    """
    if not count:
        return 0
    members = [j for j in range(pool.bit_length()) if pool >> j & 1]
    members_drawn: set[int] = set()
    for index in range(len(members) - count, len(members)):
        pick = chance.below(index + 1, source)
        members_drawn.add(index if pick in members_drawn else pick)
    return sum(1 << members[number] for number in members_drawn)


class SetShare(NamedTuple):
    """Probabilities that a finer set of one size is degraded to a coarser set of another, in each of three ways."""

    coarse: int
    fine: int
    near: Fraction
    apart: Fraction
    free: Fraction


@dataclass(frozen=True)
class Nested(Step):
    """Sets of one or several sizes.

    Implements: F12 for t-subset designs of any two sizes, for bridge mixtures, and for mixtures in general.

    The draw: `choose` a way, in the order of `ways`; then as many members as it wants from the coarser set without the
    answer, and as many from outside of it without the answer, each by `pick_some`; at last as many words are passed
    over as make up the most that any way takes, so that how many words are taken tells nothing.

    Why: P(way, the coarser set holds x or not) is a product of a weight, an inclusion, a share, and the chance that a
    random set holds x; given all this, every finer set that fits is equally likely.
    """

    old: Sets
    new: Sets
    shares: tuple[SetShare, ...]

    def garbling(self, old: int, new: int) -> Fraction:
        s, t, k = old.bit_count(), new.bit_count(), self.new.size
        share = next(
            (share for share in self.shares if (share.coarse, share.fine) == (s, t)),
            None,
        )
        if share is None:
            return Fraction(0)
        probability, common = Fraction(0), (old & new).bit_count()
        for mass, shared in self._masses(share):
            if shared is None:
                probability += mass / math.comb(k, s)
            elif shared == common:
                n_sets = math.comb(t, shared) * math.comb(k - t, s - shared)
                probability += mass / n_sets
        return probability

    def degrade(self, new: int, source: Source = chance.SYSTEM) -> int:
        return self._draw_set(
            self.downwards[new.bit_count()], self.most_down, new, 0, source
        )

    def upgrade(self, old: int, given: int, source: Source = chance.SYSTEM) -> int:
        self.chance_of(old, given)
        plan = self.upwards[old.bit_count(), bool(old >> given & 1)]
        return self._draw_set(plan, self.most_up, old, 1 << given, source)

    def _draw_set(
        self,
        plan: PickPlan,
        max_picked: int,
        known_set: int,
        own_bit: int,
        source: Source,
    ) -> int:
        """Choose a pick and draw a set: members of the known set, others, and the answer."""
        pick = plan.picks[chance.choose(plan.sums, source)]
        other_bits = full_set(self.new.size) & ~own_bit
        if pick.free:
            picked = pick_some(other_bits, pick.within, source)
        else:
            picked = pick_some(
                known_set & other_bits, pick.within, source
            ) | pick_some(other_bits & ~known_set, pick.beyond, source)
        chance.spare(max_picked - pick.within - pick.beyond, source)
        return picked | (own_bit if pick.inside else 0)

    def ways(self, size: int, *, held: bool) -> list[tuple[Pick, Fraction]]:
        """Return all ways to a finer set from a coarser one of this size that holds the answer or not.

        Each with its probability together with that of the coarser set; by the finer size, then near, apart and free,
        the answer outside of the finer set before it is inside.
        """
        return [
            (
                _pick_above(share.fine, shared, inside=inside, held=held),
                mass * p_meets,
            )
            for share in self.shares
            if share.coarse == size
            for mass, shared in self._masses(share)
            for inside in (False, True)
            if (p_meets := self._meets(share, shared, inside=inside, held=held))
        ]

    def _chance_of_size(self, size: int, *, held: bool) -> Fraction:
        """Return the probability of a coarser set of this size that holds the answer, or of one that does not."""
        p_included = self.old.inclusion(size)
        return self.old.weight(size) * (p_included if held else 1 - p_included)

    def _masses(self, share: SetShare) -> Iterator[tuple[Fraction, int | None]]:
        s, t = share.coarse, share.fine
        masses = (
            (share.near, max_overlap(s, t)),
            (share.apart, min_overlap(s, t, self.new.size)),
            (share.free, None),
        )
        yield from (entry for entry in masses if entry[0])

    def _meets(
        self, share: SetShare, shared: int | None, *, inside: bool, held: bool
    ) -> Fraction:
        """Return P(finer set of this size, x inside or not)·P(a coarser set drawn so holds x or not)."""
        p_included = self.new.inclusion(share.fine)
        weight = self.new.weight(share.fine) * (
            p_included if inside else 1 - p_included
        )
        if not weight:
            return Fraction(0)
        holds = p_held(
            self.new.size, share.coarse, share.fine, shared, inside=inside
        )
        return weight * (holds if held else 1 - holds)

    @cached_property
    def most_up(self) -> int:
        """The most members that an upgrade draws."""
        return max_picks(self.upwards)

    @cached_property
    def most_down(self) -> int:
        """The most members that a degradation draws."""
        return max_picks(self.downwards)

    @cached_property
    def upwards(self) -> Mapping[Hashable, PickPlan]:
        """Plans to upgrade, by the size of the coarser set and whether it holds the answer."""
        table: dict[Hashable, PickPlan] = {}
        for size, is_held in product(self.old.sizes, (False, True)):
            if p_size := self._chance_of_size(size, held=is_held):
                table[size, is_held] = PickPlan.from_picks(
                    [
                        (pick, mass / p_size)
                        for pick, mass in self.ways(size, held=is_held)
                    ]
                )
        return table

    @cached_property
    def downwards(self) -> Mapping[Hashable, PickPlan]:
        """Plans to degrade, by the size of the finer set."""
        table: dict[Hashable, PickPlan] = {}
        for size in self.new.sizes:
            shares = [share for share in self.shares if share.fine == size]
            picks = [
                (_pick_below(share.coarse, shared), mass)
                for share in shares
                for mass, shared in self._masses(share)
            ]
            if picks:
                table[size] = PickPlan.from_picks(picks)
        return table

    def verify(self) -> bool:
        """Compare, for each coarser size, how often it comes out, and how often it then holds the answer."""
        if any(
            min(share.near, share.apart, share.free) < 0 for share in self.shares
        ):
            return False
        fine_sizes = [size for size in self.new.sizes if self.new.weight(size)]
        if any(
            sum(sum(share[2:]) for share in self.shares if share.fine == t) != 1
            for t in fine_sizes
        ):
            return False
        return all(
            self._chance_of_size(size, held=is_held)
            == sum(mass for _, mass in self.ways(size, held=is_held))
            for size, is_held in product(self.old.sizes, (False, True))
        )

    @property
    def recipe(self) -> str:
        return "; ".join(
            f"from a set of {share.fine} make "
            + ", ".join(
                f"{description} with probability {exact.text(mass)}"
                for description, mass in zip(
                    _describe_ways(share, self.new.size), share[2:], strict=True
                )
                if mass
            )
            for share in self.shares
        )

    def to_body(self) -> dict[str, Any]:
        return {
            "kind": "nested",
            "shares": [
                [share.coarse, share.fine, *map(str, share[2:])]
                for share in self.shares
            ],
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any], old: Sets, new: Sets) -> Nested:
        """Read what `to_body` wrote."""
        rows = documents.field(body, "shares", list)
        try:
            shares = [
                SetShare(int(s), int(t), *map(exact.rational, masses))
                for s, t, *masses in rows
            ]
        except (TypeError, ValueError, OverflowError):
            raise UnreadableFile(
                "the shares of a step are not whole sizes and three fractions."
            ) from None
        return cls(old, new, tuple(shares))


def one_size(old: Subset, new: Sets) -> tuple[SetShare, ...] | None:
    """Return the garbling of sets of any sizes into sets of one size, in closed form; None if there is none.

    Implements: F12 for t-subset designs: with probability β the coarser set holds the finer one or lies in it, else it
    is drawn freely; and for bridge mixtures. Where the finer set seldom holds the answer, keeping apart from it takes
    the place of being near.

    Why: the near and the apart way hold the answer most and least often; what lies between can be mixed, nothing else.
    """
    k, s = old.size, old.ones
    target, even = old.inclusion(s), Fraction(s, k)
    even_share = [t for t in new.sizes if new.weight(t)]
    rises = target > even
    best = {t: _better_overlap(new, s, t, rises=rises) for t in even_share}
    reached = exact.total(new.weight(t) * p_held for t, (_, p_held) in best.items())
    if (target > reached) if rises else (target < reached):
        return None
    beta = (target - even) / (reached - even) if target != even else Fraction(0)
    shares = (
        (t, beta if near else Fraction(0), Fraction(0) if near else beta)
        for t, (near, _) in best.items()
    )
    return tuple(SetShare(s, t, near, far, 1 - beta) for t, near, far in shares)


def _better_overlap(
    new: Sets, s: int, t: int, *, rises: bool
) -> tuple[bool, Fraction]:
    """Say whether being near or keeping apart holds the answer more often (less often), and how often."""
    near, far = p_held_by_ways(new, s, t)
    return (True, near) if (near >= far) == rises else (False, far)


def p_held_by_ways(new: Sets, s: int, t: int) -> tuple[Fraction, Fraction]:
    """Return the probabilities that a coarser set of s with maximal and minimal overlap holds the answer."""
    p_included, k = new.inclusion(t), new.size
    cases = [
        (p, inside)
        for p, inside in ((p_included, True), (1 - p_included, False))
        if p
    ]
    near, far = (
        exact.total(
            p * p_held(k, s, t, shared, inside=inside) for p, inside in cases
        )
        for shared in (max_overlap(s, t), min_overlap(s, t, k))
    )
    return near, far


def p_held(k: int, s: int, t: int, shared: int | None, *, inside: bool) -> Fraction:
    """Return the probability that a coarser set of s holds x, given whether a finer set of t holds it."""
    if shared is None:
        return Fraction(s, k)
    return Fraction(shared, t) if inside else Fraction(s - shared, k - t)


def max_overlap(s: int, t: int) -> int:
    """Return the most members that sets of s and t can share."""
    return min(s, t)


def min_overlap(s: int, t: int, k: int) -> int:
    """Return the fewest members that sets of s and t out of k share."""
    return max(0, s + t - k)


def _pick_above(fine: int, shared: int | None, *, inside: bool, held: bool) -> Pick:
    """Return the pick of a finer set with a given overlap with a coarser one, with or without the answer."""
    if shared is None:
        return Pick(True, fine - inside, 0, inside)
    return Pick(
        False,
        shared - (inside and held),
        fine - shared - (inside and not held),
        inside,
    )


def _pick_below(coarse: int, shared: int | None) -> Pick:
    """Return the pick of a coarser set with a given overlap with a finer one."""
    return (
        Pick(True, coarse, 0, False)
        if shared is None
        else Pick(False, shared, coarse - shared, False)
    )


def _describe_ways(share: SetShare, k: int) -> tuple[str, str, str]:
    """Say in words what the three ways lead to."""
    near = (
        f"a superset of {share.coarse}"
        if share.coarse >= share.fine
        else f"a subset of {share.coarse}"
    )
    shared = min_overlap(share.coarse, share.fine, k)
    return (
        near,
        f"a set of {share.coarse} that shares {shared} of its members",
        f"any set of {share.coarse}",
    )

"""Steps between sets that are wrong in one respect alone, for whoever verifies them: Python and the browser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product

import deniable as dn
from deniable.channel import Channel, Mixture, Subset
from deniable.channel.sets import Part
from deniable.order.relaxation import relax
from deniable.order.sets import Nested

Wrong = tuple[Nested, Nested, Callable[[Nested], bool]]
"""A step that is right, the one that is not, and what is right about it all the same."""


def mixture(weights: dict[int, tuple[Fraction, Fraction]], k: int) -> Mixture:
    """Return sets of several sizes: how often each is sent, and how often it then holds the answer."""
    total = 3600
    return Mixture(
        k,
        tuple(
            Part(t, int(w * total), int(p * total)) for t, (w, p) in weights.items()
        ),
        total,
    )


@cache
def nested() -> dict[str, Wrong]:
    """Return them by what is wrong."""
    return {
        "where they do not hold the answer": _one_side(
            held=True, inclusions=("1/2", "3/4")
        ),
        "where they hold the answer": _one_side(
            held=False, inclusions=("7/10", "11/20")
        ),
        "columns that do not sum to 1": _columns(),
    }


def _one_side(*, held: bool, inclusions: tuple[str, str]) -> Wrong:
    """The sizes come out right where they hold the answer, and wrong where they do not; or the other way round."""
    meant = mixture(
        {1: (Fraction(2, 5), Fraction(5, 8)), 2: (Fraction(3, 5), Fraction(5, 8))}, 4
    )
    other = mixture(
        {
            t: (Fraction(1, 2), Fraction(p))
            for t, p in zip((1, 2), inclusions, strict=True)
        },
        4,
    )
    for size in (1, 2):
        one, two = (
            each.inclusion(size) if held else 1 - each.inclusion(size)
            for each in (meant, other)
        )
        assert meant.weight(size) * one == other.weight(size) * two
    step = _step(meant, Subset(4, 1, 9, 10))
    return step, replace(step, old=other), _sums_to_one


def _sums_to_one(step: Nested) -> bool:
    return all(
        sum(step.garbling(i, u) for i in range(16)) == 1 for u in (1, 2, 4, 8)
    )


def _columns() -> Wrong:
    """A finer size that is degraded too often, another too seldom: on the average everything comes out right."""
    fine = mixture(
        {1: (Fraction(1, 2), Fraction(9, 10)), 2: (Fraction(1, 2), Fraction(9, 10))},
        4,
    )
    step = _step(Subset(4, 2, 3, 5), fine)
    one, two = step.shares
    assert one.free > Fraction(1, 10) < two.free
    moved = (
        one._replace(free=one.free + Fraction(1, 10)),
        two._replace(free=two.free - Fraction(1, 10)),
    )
    return step, replace(step, shares=moved), _comes_out


def _comes_out(step: Nested) -> bool:
    return all(
        sum(
            step.garbling(i, u) * step.new.probability(u, given=x) for u in range(16)
        )
        == step.old.probability(i, given=x)
        for i, x in product((0b0011, 0b1001), range(4))
    )


def _step(old: Channel, new: Channel) -> Nested:
    names = tuple("abcd")
    one, two = (
        dn.Design("sets", names, dn.designs.Bitstrings(4), each)
        for each in (old, new)
    )
    step = relax(one, two).step
    assert isinstance(step, Nested)
    return step

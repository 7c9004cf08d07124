"""A stage that comes late: coarser than one that is out, finer than another one that is out.

Its response is drawn from the two that are out, without a look at the answer, so that nothing is spent. It has to stand
between them: what the coarsest says must follow from what the middle one says, or two people who hold those two would
know more together than the better informed of them.
"""

from __future__ import annotations

from fractions import Fraction
from functools import singledispatch
from itertools import product

from deniable import chance
from deniable.channel import Channel
from deniable.errors import InvalidRequest
from deniable.order.bits import BitByBit, BitGarbling, toss
from deniable.order.sets import running
from deniable.order.steps import Factors, KeepOrFresh, Step

_MOST = 200_000
"""Triples of responses that are gone through where no closed form is known."""


def composes(low: Step, high: Step, direct: Step) -> bool:
    """Say whether degrading through a middle stage is the same as degrading directly, exactly.

    Args:
        low: from the coarsest stage to the middle one.
        high: from the middle stage to the finest one.
        direct: from the coarsest stage to the finest one, as its response was drawn.

    Raises:
        InvalidRequest: no closed form, and too large to go through.
    """
    if isinstance(low, KeepOrFresh) and isinstance(high, KeepOrFresh) and isinstance(direct, KeepOrFresh):
        return low.share * high.share == direct.share and low.base == high.base == direct.base
    if isinstance(low, BitByBit) and isinstance(high, BitByBit) and isinstance(direct, BitByBit):
        return _through(low.each, high.each) == direct.each
    if isinstance(low, Factors) and isinstance(high, Factors) and isinstance(direct, Factors):
        return all(composes(*steps) for steps in zip(low.steps, high.steps, direct.steps, strict=True))
    coarsest, middle, finest = (sent(channel) for channel in (low.old, low.new, high.new))
    _check(len(coarsest) * len(middle) * len(finest))
    return all(
        sum((low.garbling(o, m) * high.garbling(m, f) for m in middle), Fraction(0)) == direct.garbling(o, f)
        for o, f in product(coarsest, finest)
    )


@singledispatch
def between(low: Step, high: Step, coarse: int, fine: int, source: chance.Source = chance.SYSTEM) -> int:
    """Draw the response of a middle stage, given those of a coarser and of a finer one.

    Guarantee: drawn with probability C_low[coarse | middle]·C_high[middle | fine] / C[coarse | fine], exactly. The
    three are then distributed as if they had been drawn from the finest downwards, one after the other.

    Raises:
        InvalidRequest: no closed form, and too large to go through.
    """
    middles = sent(low.new)
    weights = [low.garbling(coarse, middle) * high.garbling(middle, fine) for middle in middles]
    return middles[chance.choose(running(weights), source)]


@between.register
def _(low: KeepOrFresh, high: Step, coarse: int, fine: int, source: chance.Source = chance.SYSTEM) -> int:
    """Keep the finer one, go to the coarser one, or draw from the base: the three ways in which both can have come."""
    if not isinstance(high, KeepOrFresh):
        return between.dispatch(Step)(low, high, coarse, fine, source)
    even = low.base.probability(coarse, given=0)
    kept = high.share * low.garbling(coarse, fine)
    moved = (1 - high.share) * low.share * even
    fresh = (1 - high.share) * (1 - low.share) * even
    way = chance.choose(running([kept, moved, fresh]), source)
    return (fine, coarse, high.base.draw(0, source))[way]


@between.register
def _(low: BitByBit, high: Step, coarse: int, fine: int, source: chance.Source = chance.SYSTEM) -> int:
    """Every bit by itself."""
    assert isinstance(high, BitByBit)
    every = (1 << low.new.size) - 1
    classes = [
        (coarse & fine, _middle_one(low.each, high.each, 1, 1)),
        (coarse & ~fine, _middle_one(low.each, high.each, 1, 0)),
        (fine & ~coarse, _middle_one(low.each, high.each, 0, 1)),
        (every & ~coarse & ~fine, _middle_one(low.each, high.each, 0, 0)),
    ]
    return toss(low.new.size, classes, source)


@between.register
def _(low: Factors, high: Step, coarse: int, fine: int, source: chance.Source = chance.SYSTEM) -> int:
    """Every factor by itself."""
    assert isinstance(high, Factors)
    parts = zip(low.steps, high.steps, low.old.split_response(coarse), high.new.split_response(fine), strict=True)
    digits = [between(one, two, i, u, source) for one, two, i, u in parts]
    number = 0
    for factor, digit in zip(low.new.factors, digits, strict=True):
        number = number * factor.responses + digit
    return number


def sent(channel: Channel) -> list[int]:
    """Return all responses that a small channel can send.

    Raises:
        InvalidRequest: more than can be gone through.
    """
    _check(channel.responses)
    return [number for number in range(channel.responses) if channel.possible(number)]


def _through(low: BitGarbling, high: BitGarbling) -> BitGarbling:
    return BitGarbling(*(low.one * each + low.zero * (1 - each) for each in high))


def _middle_one(low: BitGarbling, high: BitGarbling, coarse: int, fine: int) -> Fraction:
    """Return the probability that the middle bit is 1."""
    up = high.one if fine else high.zero
    one = up * (low.one if coarse else 1 - low.one)
    zero = (1 - up) * (low.zero if coarse else 1 - low.zero)
    return one / (one + zero) if one + zero else Fraction(0)  # a pair that never occurs: any value will do


def _check(cells: int) -> None:
    if cells > _MOST:
        raise InvalidRequest(
            "a stage between two that are out cannot be made for designs as large as these; expected at most "
            f"{_MOST:,} combinations of their responses.",
            "Release stages in rising order, or plan the whole ladder beforehand.",
        )

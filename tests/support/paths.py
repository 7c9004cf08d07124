"""The exact law of any sampler, found by walking every path that its draws can take.

`chance.below` and `chance.bits` are replaced by numbers that are not yet known. Where the sampler compares such a
number with another, divides it or looks at its bits, the walk forks, and each branch keeps the share of positions that
lead into it. At the end of each path stand a response and its probability, a Fraction. No sampling, no tolerance, and
nothing needs to be known about how the sampler works, not even where 2^64 positions make every weight a long number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction

from deniable import chance
from deniable.channel import Channel

MOST_PATHS = 20_000
MOST_VALUES = 4_096


class TooManyPaths(Exception):
    """The sampler takes more paths than can be walked."""


class Walk:
    """One run of a sampler: the branches that it was told to take, and those it could have taken."""

    def __init__(self, told: Sequence[int]) -> None:
        self.told = list(told)
        self.taken: list[int] = []
        self.open: list[int] = []  # how many branches there were at each fork
        self.unknowns: list[Unknown] = []
        self.share = Fraction(1)

    def fork(self, branches: int) -> int:
        """Return which branch to take."""
        branch = (
            self.told[len(self.taken)] if len(self.taken) < len(self.told) else 0
        )
        self.taken.append(branch)
        self.open.append(branches)
        return branch

    def probability(self) -> Fraction:
        """Return the probability of the path."""
        share = self.share
        for unknown in self.unknowns:
            share *= Fraction(unknown.high - unknown.low + 1, unknown.total)
        return share

    def next(self) -> list[int] | None:
        """Return what to tell the next run, or None after the last."""
        for at in reversed(range(len(self.taken))):
            if self.taken[at] + 1 < self.open[at]:
                return [*self.taken[:at], self.taken[at] + 1]
        return None


class Unknown:
    """A number drawn below a total, of which only a range is known so far."""

    def __init__(self, walk: Walk, total: int) -> None:
        self.walk, self.total = walk, total
        self.low, self.high = 0, total - 1
        walk.unknowns.append(self)

    def below(self, limit: int) -> bool:
        if self.high < limit or self.low >= limit:
            return self.high < limit
        if self.walk.fork(2) == 0:
            self.high = limit - 1
            return True
        self.low = limit
        return False

    def stretch(self, length: int, start: int) -> int:
        """Return in which stretch of this length, counted from `start`, the number lies."""
        first, last = (self.low - start) // length, (self.high - start) // length
        if last - first >= MOST_VALUES:
            raise TooManyPaths(f"a division with {last - first + 1:,} results")
        which = first + (self.walk.fork(last - first + 1) if last > first else 0)
        self.low = max(self.low, start + which * length)
        self.high = min(self.high, start + (which + 1) * length - 1)
        return which


class Number:
    """What the sampler holds: (unknown − start) // step. It is settled only where comparing does not do."""

    def __init__(self, unknown: Unknown, start: int = 0, step: int = 1) -> None:
        self.unknown, self.start, self.step = unknown, start, step

    def __lt__(self, other: int) -> bool:
        return self.unknown.below(self.start + self.step * other)

    def __ge__(self, other: int) -> bool:
        return not self < other

    def __le__(self, other: int) -> bool:
        return self < other + 1

    def __gt__(self, other: int) -> bool:
        return not self < other + 1

    def __add__(self, other: int) -> Number:
        return Number(self.unknown, self.start - self.step * other, self.step)

    def __sub__(self, other: int) -> Number:
        return self + -other

    def __floordiv__(self, other: int) -> Number:
        return Number(self.unknown, self.start, self.step * other)

    def __divmod__(self, other: int) -> tuple[int, Number]:
        which = int(self // other)
        return which, self - which * other

    def __mod__(self, other: int) -> Number:
        return divmod(self, other)[1]

    def __index__(self) -> int:
        return self.unknown.stretch(self.step, self.start)

    def __and__(self, other: int) -> int:
        return int(self) & other

    def __rshift__(self, other: int) -> int:
        return int(self) >> other

    def __mul__(self, other: int) -> int:
        return int(self) * other

    __int__ = __index__
    __radd__ = __add__
    __rmul__ = __mul__


class Coins:
    """Random bits; the walk forks over those that the sampler looks at."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk

    def __and__(self, mask: int) -> int:
        places = [place for place in range(mask.bit_length()) if mask >> place & 1]
        if len(places) > 12:
            raise TooManyPaths(f"a fork over {len(places)} coins")
        which = self.walk.fork(1 << len(places))
        self.walk.share /= 1 << len(places)
        return sum(
            1 << place for number, place in enumerate(places) if which >> number & 1
        )


@contextmanager
def walking(walk: Walk) -> Iterator[None]:
    """Let all draws be unknown numbers of a walk."""
    below, bits = chance.below, chance.bits
    chance.below = lambda total, _=None: Number(Unknown(walk, total))  # type: ignore[assignment]
    chance.bits = lambda *_: Coins(walk)  # type: ignore[assignment]
    try:
        yield
    finally:
        chance.below, chance.bits = below, bits


def distribution(channel: Channel, answer: int) -> dict[int, Fraction]:
    """Return the probability of every response that the sampler of a channel can give to an answer.

    Raises:
        TooManyPaths: there are too many to walk them all.
    """
    found: dict[int, Fraction] = {}
    told: list[int] | None = []
    for _ in range(MOST_PATHS):
        walk = Walk(told or [])
        with walking(walk):
            response = int(channel.draw(answer))
        found[response] = found.get(response, Fraction(0)) + walk.probability()
        told = walk.next()
        if told is None:
            return found
    raise TooManyPaths(f"more than {MOST_PATHS:,} paths")

"""The exact law of a draw, found by going through every way in which its primitives can turn out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partialmethod
from math import prod
from types import ModuleType
from typing import TypeVar
from unittest.mock import patch

from deniable import chance
from deniable.channel import KINDS, Channel
from deniable.order import bits

Result = TypeVar("Result", bound=Hashable)

_MOST = 100_000


@dataclass
class Trace:
    """The choices made so far, and those that are to be made again on the way to the next new one."""

    path: list[tuple[int, Sequence[Fraction]]] = field(default_factory=list)
    at: int = 0

    def take(self, probabilities: Sequence[Fraction]) -> int:
        """Return the next choice: as before on a known path, the first possible one beyond it."""
        if self.at == len(self.path):
            self.path.append(
                (
                    next(i for i, each in enumerate(probabilities) if each),
                    probabilities,
                )
            )
        self.at += 1
        return self.path[self.at - 1][0]

    @property
    def probability(self) -> Fraction:
        return prod(
            (options[taken] for taken, options in self.path), start=Fraction(1)
        )

    def advance(self) -> bool:
        """Move on to the next path; return False after the last one."""
        self.at = 0
        while self.path:
            last, options = self.path.pop()
            following = next(
                (i for i in range(last + 1, len(options)) if options[i]), None
            )
            if following is not None:
                self.path.append((following, options))
                return True
        return False

    def below(self, total: int, _source: object = None) -> int:
        return self.take([Fraction(1, total)] * total)

    def happens(self, probability: Fraction, _source: object = None) -> bool:
        return bool(self.take([1 - probability, probability]))

    def choose(self, sums: Sequence[int], _source: object = None) -> int:
        weights = [
            after - before for before, after in zip([0, *sums], sums, strict=False)
        ]
        return self.take([Fraction(weight, sums[-1]) for weight in weights])

    def bits(self, words: int, _source: object = None) -> int:
        assert words == 1
        # the two lowest bits; the others are cut off
        return self.take([Fraction(1, 4)] * 4)

    def spare(self, words: int, _source: object = None) -> None:
        assert words >= 0

    def toss(
        self,
        size: int,
        classes: Sequence[tuple[int, Fraction]],
        _source: object = None,
    ) -> int:
        chances = [
            next(each for mask, each in classes if mask >> place & 1)
            for place in range(size)
        ]
        return sum(self.happens(each) << place for place, each in enumerate(chances))


def law(
    draw: Callable[[], Result], *, coins: bool = False, whole: bool = False
) -> dict[Result, Fraction]:
    """Return the probability of each result of a draw that is made of the primitives of `chance`.

    Args:
        draw: draws once.
        coins: go through the coins of `gradual.bits.toss` too, for two bits at the most, with two coins in place of
            eight for each; else each of its bits is one choice.
        whole: let a fresh response of a channel be one choice, whatever it is made of.
    """
    trace, found = Trace(), dict[Result, Fraction]()
    with ExitStack() as patches:
        for primitive in (
            trace.below,
            trace.happens,
            trace.choose,
            trace.bits,
            trace.spare,
        ):
            patches.enter_context(
                patch.object(chance, primitive.__name__, primitive)
            )
        for home in [] if coins else _homes(bits.toss):
            patches.enter_context(patch.object(home, "toss", trace.toss))
        for kind in KINDS.values() if whole else ():
            patches.enter_context(
                patch.object(kind, "draw", partialmethod(_drawn, trace))
            )
        if coins:
            patches.enter_context(patch.object(bits, "DIGITS", 2))
        for _ in range(_MOST):
            result = draw()
            found[result] = found.get(result, Fraction(0)) + trace.probability
            if not trace.advance():
                return found
    raise AssertionError("there are too many ways to go through")


def _drawn(
    channel: Channel, trace: Trace, given: int, _source: object = None
) -> int:
    return trace.take(
        [
            channel.probability(number, given=given)
            for number in range(channel.responses)
        ]
    )


def _homes(function: Callable[..., object]) -> list[ModuleType]:
    """Return all modules that know a function by its name."""
    known = [
        module
        for name, module in sys.modules.items()
        if name.startswith("deniable.")
    ]
    return [
        module for module in known if vars(module).get(function.__name__) is function
    ]

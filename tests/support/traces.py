"""The exact law of a draw, found by going through every way in which its primitives can turn out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

import pytest

from deniable import chance

T = TypeVar("T")


@dataclass
class Trace:
    """The choices made so far, and those that are to be made again on the way to the next new one."""

    path: list[tuple[int, Fraction]] = field(default_factory=list)
    options: list[Sequence[Fraction]] = field(default_factory=list)
    at: int = 0

    def take(self, probabilities: Sequence[Fraction]) -> int:
        """Return the next choice: as before on a known path, the first possible one beyond it."""
        if self.at == len(self.path):
            first = next(i for i, each in enumerate(probabilities) if each)
            self.path.append((first, probabilities[first]))
            self.options.append(probabilities)
        self.at += 1
        return self.path[self.at - 1][0]

    def advance(self) -> bool:
        """Move on to the next path; return False after the last one."""
        self.at = 0
        while self.path:
            last, _ = self.path.pop()
            options = self.options.pop()
            following = next((i for i in range(last + 1, len(options)) if options[i]), None)
            if following is not None:
                self.path.append((following, options[following]))
                self.options.append(options)
                return True
        return False


def law(draw: Callable[[], T], monkeypatch: pytest.MonkeyPatch) -> dict[T, Fraction]:
    """Return the probability of each result of a draw that is made of `below`, `happens`, `choose` and `bits`."""
    trace, found = Trace(), dict[T, Fraction]()

    def below(total: int, source: Any = None) -> int:  # noqa: ARG001 - no bytes are needed
        assert total <= 1000, "too many ways to go through"
        return trace.take([Fraction(1, total)] * total)

    def happens(probability: Fraction, source: Any = None) -> bool:  # noqa: ARG001
        return not trace.take([probability, 1 - probability])

    def choose(sums: Sequence[int], source: Any = None) -> int:  # noqa: ARG001
        weights = [after - before for before, after in zip([0, *sums], sums, strict=False)]
        return trace.take([Fraction(weight, sums[-1]) for weight in weights])

    def bits(words: int, source: Any = None) -> int:  # noqa: ARG001
        assert words == 1
        return trace.take([Fraction(1, 4)] * 4)  # the two lowest bits; the others are cut off

    with monkeypatch.context() as patch:
        for primitive in (below, happens, choose, bits):
            patch.setattr(chance, primitive.__name__, primitive)
        while True:
            result = draw()
            probability = Fraction(1)
            for _, each in trace.path:
                probability *= each
            found[result] = found.get(result, Fraction(0)) + probability
            if not trace.advance():
                return found

"""Relaxations prepared for many respondents at once: what every kind of step has in common, and written ones.

Whatever words decide at once is decided at once. Where a word leaves a row open, which happens once in about 2^64
draws, or is thrown away, the rows of the chunk are drawn one by one from the same words: the bytes stay the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable import chance
from deniable.channel import Channel, Sets
from deniable.engines.local.ladder import Ladder
from deniable.engines.local.vectors import Codes, Kernels
from deniable.engines.local.words import Layout, Slot, WordArray, Words
from deniable.errors import InvalidResponse
from deniable.order.steps import Step, Tabulated

WORD = Slot(1, 1 << 64)
"""One word, never thrown away."""
_NEVER = (1 << 64) - 1
_MOST_STEPS = 1 << 22


class Replay:
    """Words that were read already, then those of the source."""

    def __init__(self, block: WordArray, source: chance.Source) -> None:
        self._held = block.astype("<u8").tobytes()
        self._used = 0
        self._source = source

    @property
    def left(self) -> int:
        """How many of the bytes that were read already are left."""
        return len(self._held) - self._used

    def read(self, count: int) -> bytes:
        """Return the next bytes."""
        piece = self._held[self._used : self._used + count]
        self._used += len(piece)
        return piece + (self._source.read(count - len(piece)) if len(piece) < count else b"")


class Move(ABC):
    """A step made ready: `into` gives what the step's scalar draw would give for each row in turn.

    Attributes:
        width: words that one row takes, for choosing how many are worked on at a time.
    """

    width = 1

    @abstractmethod
    def into(self, olds: Codes, answers: Codes, words: Words, out: Codes) -> None:
        """Draw a response from each of `olds`, with the next words of the source."""


class Scalar(Move):
    """Any step, one row after the other."""

    def __init__(self, step: Step, *, down: bool) -> None:
        self.step = step
        self.down = down
        self.was, self.becomes = (step.new, step.old) if down else (step.old, step.new)

    def into(self, olds: Codes, answers: Codes, words: Words, out: Codes) -> None:
        """Draw with the step itself."""
        self.draw(olds, answers, words.source, out)

    def draw(self, olds: Codes, answers: Codes, source: chance.Source, out: Codes) -> None:
        """Draw row by row from any source."""
        for row, answer in enumerate(answers.tolist()):
            old = number(self.was, olds[row])
            new = self.step.degrade(old, source) if self.down else self.step.upgrade(old, answer, source)
            out[row] = code(self.becomes, new, out)


class EvenMove(Move):
    """A step of which every draw takes the same words, thrown-away and further ones aside."""

    def __init__(self, step: Step, layout: Layout, *, down: bool) -> None:
        self.layout = layout
        self.width = layout.width
        self.scalar = Scalar(step, down=down)

    def into(self, olds: Codes, answers: Codes, words: Words, out: Codes) -> None:
        """Take the words of all rows and place the responses, or draw row by row."""
        block = words.unsettled(len(olds), self.layout)
        held = Replay(block, words.source) if self.layout.first_rejected(block) is not None else None
        if held is None and not self.place(olds, answers, block, out):
            held = Replay(block, words.source)
        if held is not None:
            self.scalar.draw(olds, answers, held, out)

    @abstractmethod
    def place(self, olds: Codes, answers: Codes, block: WordArray, out: Codes) -> bool:
        """Write the responses that the words decide; return False, with the words untouched, where they do not."""


class Table(EvenMove):
    """Channels that are written out: one word climbs the running sums that belong to a pair of response and answer."""

    def __init__(self, step: Tabulated, kernels: Kernels, *, down: bool) -> None:
        super().__init__(step, Layout([WORD]), down=down)
        self.answers = 1 if down else step.new.answers
        columns = [
            step.channel.sums[old] if down else step.sums(old, answer)
            for old in range(self.scalar.was.responses)
            for answer in range(self.answers)
        ]
        self.possible = np.array([column[-1] > 0 for column in columns])
        # Two words of each threshold: the first decides, and where it is met the scalar draw looks further.
        sums = [[(each << 128) // max(column[-1], 1) for each in column[:-1]] for column in columns]
        self.ladder = Ladder(sums, 2)
        self.kernels = kernels
        self.down = down

    def place(self, olds: Codes, answers: Codes, block: WordArray, out: Codes) -> bool:
        """Write the responses, if no first word meets a threshold."""
        heads = np.ascontiguousarray(block[:, 0])
        columns = olds.astype(np.intp)
        if not self.down:
            columns *= self.answers
            columns += answers
        if not self.possible[columns].all():
            raise impossible()
        passed: NDArray[np.intp] = np.empty(len(olds), np.intp)
        self.kernels.climb(heads, columns, passed, self.ladder)
        if self.ladder.ties(heads, columns, passed).size:
            return False
        self.ladder.add_base(passed, columns)
        np.copyto(out, passed, casting="unsafe")
        return True


@dataclass(frozen=True)
class Ready:
    """Which way a step is taken, and by which hand."""

    kernels: Kernels
    down: bool


@singledispatch
def ready(step: Step, hand: Ready) -> Move:
    """Make a step ready; a new kind of step registers its own."""
    return Scalar(step, down=hand.down)


@ready.register
def _(step: Tabulated, hand: Ready) -> Move:
    cells = step.channel.responses * step.channel.answers * (1 if hand.down else step.new.answers)
    if cells > _MOST_STEPS or isinstance(step.old, Sets) or isinstance(step.new, Sets):
        return Scalar(step, down=hand.down)
    return Table(step, hand.kernels, down=hand.down)


def bound(probability: Fraction) -> int:
    """Return the first word's digit of a probability; a word that equals it leaves the draw open."""
    return min((probability.numerator << 64) // probability.denominator, _NEVER)


def number(channel: Channel, row: Any) -> int:
    """Return the number of a response that an array holds."""
    return int.from_bytes(row.tobytes(), "little") if isinstance(channel, Sets) else int(row)


def code(channel: Channel, response: int, out: Codes) -> Any:
    """Return a response as an array holds it."""
    if isinstance(channel, Sets):
        return np.frombuffer(response.to_bytes(out.shape[1], "little"), np.uint8)
    return response


def impossible() -> InvalidResponse:
    """Return the error for responses that their answers never give; it tells neither."""
    return InvalidResponse(
        "a response is none that its respondent can have sent; expected the responses that were kept, in the order of "
        "the answers."
    )

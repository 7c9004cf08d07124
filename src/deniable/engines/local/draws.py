"""Channels prepared for many draws at once, a class for each kind of channel.

A new kind of channel registers its own with `prepare.register`; until it does, it is drawn from answer by answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from deniable import chance
from deniable.channel import Channel, Dense, Diagonal, Product
from deniable.channel.coding import code_type
from deniable.engines.local.ladder import Ladder
from deniable.engines.local.vectors import Codes, Kernels, send
from deniable.engines.local.words import Layout, Slot, WordArray, Words

_MOST_STEPS = 1 << 22  # beyond this a ladder would take more memory than the rows it is climbed for


class Draw(ABC):
    """A channel made ready: `into` gives what `channel.draw` would give for each answer in turn.

    Attributes:
        width: words that one answer takes, for choosing how many are worked on at a time.
    """

    width = 1

    @abstractmethod
    def into(self, answers: Codes, words: Words, out: Codes) -> None:
        """Draw a response to each answer, with the next words of the source."""


class OneByOne(Draw):
    """Any channel at all, at the speed of the scalar draw."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel

    def into(self, answers: Codes, words: Words, out: Codes) -> None:
        """Draw with the channel itself."""
        for row, answer in enumerate(answers.tolist()):
            out[row] = self.channel.draw(answer, words.source)


class Even(Draw):
    """A channel of which every draw takes the same words, thrown-away ones aside: all rows side by side.

    Attributes:
        layout: the words of one answer.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.width = layout.width

    def into(self, answers: Codes, words: Words, out: Codes) -> None:
        """Take the words of all rows, then place the responses."""
        self.place(answers, words.take(answers.size, self.layout), out)

    @abstractmethod
    def place(self, answers: Codes, words: WordArray, out: Codes) -> None:
        """Write the responses that the words of each row decide."""


class Quotient(Even):
    """A diagonal channel whose total takes one word: one division decides."""

    def __init__(self, channel: Diagonal, kernels: Kernels) -> None:
        slot = Slot.of(channel.total)
        super().__init__(Layout([slot]))
        self.size = channel.size
        # ⌊⌊u / scale⌋ / other⌋ = ⌊u / (scale · other)⌋
        self.divisor = slot.limit // channel.total * channel.other
        self.kernels = kernels

    def place(self, answers: Codes, words: WordArray, out: Codes) -> None:
        """Write the responses that one word each decides."""
        heads = np.ascontiguousarray(words[:, 0])
        if self.size == 2:
            self.kernels.flip(heads, answers, out, self.divisor)
        else:
            self.kernels.divide(heads, answers, out, self.divisor, self.size)


class Climb(Even):
    """A channel whose word is compared with rising thresholds; subclasses say which."""

    def __init__(self, channel: Channel, slot: Slot, thresholds: list[list[int]], kernels: Kernels) -> None:
        super().__init__(Layout([slot]))
        self.channel = channel
        self.ladder = Ladder(thresholds, slot.words)
        self.kernels = kernels

    @abstractmethod
    def columns(self, answers: Codes) -> NDArray[np.intp]:
        """Return the column of thresholds that belongs to each answer."""

    def finish(self, out: Codes, answers: Codes) -> None:
        """Turn the number of thresholds passed into the response; here they are the same."""

    def place(self, answers: Codes, words: WordArray, out: Codes) -> None:
        """Write the responses: from the first words, and where these do not decide, by the channel itself."""
        heads = np.ascontiguousarray(words[:, 0])
        columns = self.columns(answers)
        passed: NDArray[np.intp] = np.empty(answers.size, np.intp)
        self.kernels.climb(heads, columns, passed, self.ladder)
        ties = self.ladder.ties(heads, columns, passed)
        self.ladder.add_base(passed, columns)
        np.copyto(out, passed, casting="unsafe")
        self.finish(out, answers)
        for row in ties.tolist():
            script = chance.ScriptedSource(words[row].astype("<u8").tobytes())
            out[row] = self.channel.draw(int(answers[row]), script)


class Table(Climb):
    """A dense channel: the thresholds are the running sums of the answer's column."""

    def __init__(self, channel: Dense, kernels: Kernels) -> None:
        slot = Slot.of(channel.total)
        scale = slot.limit // channel.total
        sums = [[scale * each for each in column[:-1]] for column in channel.sums]
        super().__init__(channel, slot, sums, kernels)

    def columns(self, answers: Codes) -> NDArray[np.intp]:
        """Return the answers themselves."""
        return answers.astype(np.intp)


class Rungs(Climb):
    """A diagonal channel whose total takes several words: the thresholds are the multiples of its divisor."""

    def __init__(self, channel: Diagonal, kernels: Kernels) -> None:
        slot = Slot.of(channel.total)
        divisor = slot.limit // channel.total * channel.other
        super().__init__(channel, slot, [[i * divisor for i in range(1, channel.size)]], kernels)
        self.size = channel.size

    def columns(self, answers: Codes) -> NDArray[np.intp]:
        """Return the one column for every answer."""
        return np.zeros(answers.size, np.intp)

    def finish(self, out: Codes, answers: Codes) -> None:
        """Send that one of the other categories, or the answer."""
        send(out, answers, self.size)


class Join(Even):
    """Several channels side by side: each row holds the words of the first factor, then those of the second, …"""

    def __init__(self, channel: Product, factors: list[Even]) -> None:
        super().__init__(Layout([slot for factor in factors for slot in factor.layout.slots]))
        self.channel = channel
        self.factors = factors

    def place(self, answers: Codes, words: WordArray, out: Codes) -> None:
        """Write the combinations of the factors' responses, in mixed radix."""
        out[:] = 0
        at, rest = 0, self.channel.answers
        for factor, channel in zip(self.factors, self.channel.factors, strict=True):
            rest //= channel.answers
            digits = (answers // answers.dtype.type(rest)) % answers.dtype.type(channel.answers)
            part = np.empty(answers.size, code_type(channel.responses))
            own = words[:, at : at + factor.width]
            factor.place(digits.astype(code_type(channel.answers)), own, part)
            out *= out.dtype.type(channel.responses)
            out += part
            at += factor.width


@singledispatch
def prepare(channel: Channel, kernels: Kernels) -> Draw:  # noqa: ARG001 - for those that register
    """Make a channel ready for many draws.

    Register a function for a new kind of channel: the contract is that `Draw.into` gives the same responses from the
    same bytes as `channel.draw` answer by answer, and takes no byte more.
    """
    return OneByOne(channel)


@prepare.register
def _(channel: Diagonal, kernels: Kernels) -> Draw:
    if chance.words_for(channel.total) == 1:
        return Quotient(channel, kernels)
    return Rungs(channel, kernels) if channel.size <= _MOST_STEPS else OneByOne(channel)


@prepare.register
def _(channel: Dense, kernels: Kernels) -> Draw:
    return Table(channel, kernels)


@prepare.register
def _(channel: Product, kernels: Kernels) -> Draw:
    factors = [prepare(factor, kernels) for factor in channel.factors]
    even = [factor for factor in factors if isinstance(factor, Even)]
    return Join(channel, even) if len(even) == len(factors) else OneByOne(channel)

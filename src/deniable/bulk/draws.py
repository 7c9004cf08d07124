"""Channels prepared for many draws at once, a class for each way of drawing.

`FAST_DRAWS` names the kinds of channel that have one; any other is drawn from answer by answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable import chance
from deniable.bulk.backend import (
    Backend,
    Codes,
    Coins,
    Flags,
    HashForms,
    Picks,
    Signs,
    Thresholds,
)
from deniable.bulk.random_words import Replay, Slot, Slots, WordArray, Words
from deniable.bulk.vectors import hashed, send
from deniable.channel import (
    Bits,
    Channel,
    Dense,
    Diagonal,
    Hadamard,
    Hashing,
    Mixture,
    Product,
    Subset,
)
from deniable.channel.coding import Rows, code_type
from deniable.channel.sets import DIGITS

_MOST_THRESHOLDS = (
    1 << 22
)  # beyond this they would take more memory than the rows that are compared with them
_MOST_CODED_RESPONSES = (
    1 << 40
)  # up to which quotients are short enough for kernels to divide by multiplying
_CATEGORIES_A_WORD = 64  # for which NumPy holds a byte each while it fills a set, for each word of the chunk


class Draw(ABC):
    """A channel made ready: `into` gives what `channel.draw` would give answer by answer, and takes no byte more.

    Attributes:
        channel: what is drawn from.
        answers: how many answers there are.
        width: words that one answer takes, for choosing how many are worked on at a time.
    """

    width = 1

    def __init__(self, channel: Channel, answers: int | None = None) -> None:
        self.channel = channel
        self.answers = channel.answers if answers is None else answers

    def space(self, rows: int) -> NDArray[Any]:
        """Return an array for so many responses."""
        return self.channel.coding.space(rows)

    @abstractmethod
    def into(self, answers: Codes, words: Words, out: Codes) -> None:
        """Draw a response to each answer, with the next words of the source."""


class OneByOne(Draw):
    """Any channel at all, at the speed of the scalar draw."""

    def into(self, answers: Codes, words: Words, out: Codes) -> None:
        drawn = [self.channel.draw(answer, words.source) for answer in answers.tolist()]
        out[:] = self.channel.coding.pack(drawn)


class EvenDraw(Draw):
    """A channel of which every draw takes the same words, thrown-away ones aside: all rows side by side.

    Attributes:
        slots: the words of one answer.
        by_code: whether a response supports the answer that has the same code, and no other.
    """

    by_code: ClassVar[bool] = False

    def __init__(
        self, channel: Channel, slots: Slots, answers: int | None = None
    ) -> None:
        super().__init__(channel, answers)
        self.slots = slots
        self.width = slots.width

    def into(self, answers: Codes, words: Words, out: Codes) -> None:
        """Take the words of all rows, then place the responses; again, where a word is to be thrown away."""
        block = words.take(answers.size, self.slots)
        self.place(answers, block, out)

    @abstractmethod
    def place(self, answers: Codes, words: WordArray, out: Codes) -> bool:
        """Write the responses that the words of each row decide; return False where a word is thrown away."""

    def supported(self, responses: Codes, answers: Codes) -> Flags:  # noqa: ARG002 - for those that have levels
        """Say where a response supports its answer, for channels with two levels of probability."""
        raise AssertionError(
            f"a channel of kind {self.channel.KIND!r} has no two levels"
        )


class Quotient(EvenDraw):
    """A diagonal channel whose total takes one word: one division decides."""

    by_code = True

    def __init__(self, channel: Diagonal, backend: Backend) -> None:
        slot = Slot.of(channel.total)
        super().__init__(channel, Slots([slot]), channel.size)
        self.size, self.code = channel.size, code_type(channel.size)
        # ⌊⌊u / scale⌋ / other⌋ = ⌊u / (scale · other)⌋
        self.divisor = slot.limit // channel.total * channel.other
        self.backend = backend

    def space(self, rows: int) -> NDArray[Any]:
        return np.empty(rows, self.code)

    def place(self, answers: Codes, words: WordArray, out: Codes) -> bool:
        heads = np.ascontiguousarray(words[:, 0])
        if self.size == 2:
            self.backend.flip(heads, answers, out, self.divisor)
        else:
            self.backend.divide(heads, answers, out, self.divisor, self.size)
        return True

    def supported(self, responses: Codes, answers: Codes) -> Flags:
        return np.asarray(responses == answers, np.bool_)


class Climb(EvenDraw):
    """A channel whose word is compared with rising thresholds; subclasses say which."""

    def __init__(
        self,
        channel: Channel,
        slot: Slot,
        thresholds: list[list[int]],
        backend: Backend,
    ) -> None:
        super().__init__(channel, Slots([slot]))
        self.thresholds = Thresholds(thresholds, slot.words)
        self.backend = backend

    @abstractmethod
    def columns(self, answers: Codes) -> NDArray[np.intp]:
        """Return the column of thresholds that belongs to each answer."""

    def finish(self, out: Codes, answers: Codes) -> None:
        """Turn the number of thresholds passed into the response; here they are the same."""

    def place(self, answers: Codes, words: WordArray, out: Codes) -> bool:
        """Write the responses: from the first words, and where these do not decide, by the channel itself."""
        heads = np.ascontiguousarray(words[:, 0])
        columns = self.columns(answers)
        passed: NDArray[np.intp] = np.empty(answers.size, np.intp)
        self.backend.climb(heads, columns, passed, self.thresholds)
        ties = self.thresholds.ties(heads, columns, passed)
        self.thresholds.add_base(passed, columns)
        np.copyto(out, passed, casting="unsafe")
        self.finish(out, answers)
        for row in ties.tolist():
            script = chance.ScriptedSource(words[row].astype("<u8").tobytes())
            out[row] = self.channel.draw(int(answers[row]), script)
        return True


class TableDraw(Climb):
    """A dense channel: the thresholds are the running sums of the answer's column."""

    def __init__(self, channel: Dense, backend: Backend) -> None:
        slot = Slot.of(channel.total)
        scale = slot.limit // channel.total
        sums = [[scale * each for each in column[:-1]] for column in channel.sums]
        super().__init__(channel, slot, sums, backend)

    def columns(self, answers: Codes) -> NDArray[np.intp]:
        return answers.astype(np.intp)


class Rungs(Climb):
    """A diagonal channel whose total takes several words: the thresholds are the multiples of its divisor."""

    by_code = True

    def __init__(self, channel: Diagonal, backend: Backend) -> None:
        slot = Slot.of(channel.total)
        divisor = slot.limit // channel.total * channel.other
        super().__init__(
            channel, slot, [[i * divisor for i in range(1, channel.size)]], backend
        )
        self.size = channel.size

    def columns(self, answers: Codes) -> NDArray[np.intp]:
        return np.zeros(answers.size, np.intp)

    def finish(self, out: Codes, answers: Codes) -> None:
        send(out, answers, self.size)

    def supported(self, responses: Codes, answers: Codes) -> Flags:
        return np.asarray(responses == answers, np.bool_)


class HadamardDraw(EvenDraw):
    """A Hadamard channel whose total takes one word."""

    def __init__(self, channel: Hadamard, backend: Backend) -> None:
        slot = Slot.of(channel.total)
        super().__init__(channel, Slots([slot]))
        scale = slot.limit // channel.total
        edge = (channel.half - 1) * channel.large
        self.signs = Signs(edge * scale, channel.large * scale, channel.small * scale)
        self.backend = backend

    def place(self, answers: Codes, words: WordArray, out: Codes) -> bool:
        self.backend.signs(np.ascontiguousarray(words[:, 0]), answers, out, self.signs)
        return True

    def supported(self, responses: Codes, answers: Codes) -> Flags:
        common = (responses.astype(np.uint64) + np.uint64(1)) & (
            answers.astype(np.uint64) + np.uint64(1)
        )
        return ~(np.bitwise_count(common) & np.uint8(1)).view(np.bool_)


class HashingDraw(EvenDraw):
    """A hashing channel of several hashes whose total takes one word."""

    def __init__(self, channel: Hashing, backend: Backend) -> None:
        slot = Slot.of(channel.total)
        super().__init__(channel, Slots([slot]))
        self.forms = HashForms.of(channel, slot.limit // channel.total)
        self.backend = backend

    def place(self, answers: Codes, words: WordArray, out: Codes) -> bool:
        self.backend.forms(np.ascontiguousarray(words[:, 0]), answers, out, self.forms)
        return True

    def supported(self, responses: Codes, answers: Codes) -> Flags:
        chosen, value = np.divmod(
            responses.astype(np.uint64), np.uint64(self.forms.values)
        )
        return np.asarray(hashed(chosen, answers, self.forms) == value, np.bool_)


class FilledDraw(EvenDraw):
    """Sets of a size that is drawn first, or given, filled with picks.

    Args:
        channel: of sets that are filled.
        parts: for each size of set the number of ones, and the weight of those that hold the answer.
        sums: the running sums of the weights of the sizes, where there are several.
        backend: what draws.
    """

    def __init__(
        self,
        channel: Subset | Mixture,
        parts: list[tuple[int, int]],
        sums: list[int],
        backend: Backend,
    ) -> None:
        self.picks = Picks.of(channel.size, channel.steps)
        self.head = Slot.of(channel.total)
        self.heads = 2 if sums else 1
        super().__init__(
            channel, Slots([self.head] * self.heads + list(self.picks.slots))
        )
        self.width = max(self.slots.width, channel.size // _CATEGORIES_A_WORD)
        self.size = channel.size
        self.backend = backend
        scale = self.head.limit // channel.total
        # A threshold t is passed by a word u ≥ t, asked as u > t − 1: the largest, 2^64, then fits into a word.
        self.sums = np.array([scale * each - 1 for each in sums[:-1]], np.uint64)
        self.inside = np.array(
            [max(scale * inside - 1, 0) for _, inside in parts], np.uint64
        )
        self.ever = np.array([inside > 0 for _, inside in parts])
        self.ones = np.array([ones for ones, _ in parts], np.int64)

    def into(self, answers: Codes, words: Words, out: Rows) -> None:
        block = words.unsettled(len(answers), self.slots)
        while not self.place(answers, block, out):
            words.settle(block, self.slots)

    def place(self, answers: Codes, words: WordArray, out: Rows) -> bool:
        if (
            self.head.limit < self.head.scale
            and int(words[:, : self.heads].max(initial=0)) >= self.head.limit
        ):
            return False
        part = (
            np.searchsorted(self.sums, words[:, 0])
            if self.heads == 2
            else np.zeros(len(words), np.intp)
        )
        inside = (words[:, self.heads - 1] <= self.inside[part]) & self.ever[part]
        ones = self.ones[part]
        left_out = 2 * ones > self.size
        own = inside != left_out
        wanted = np.minimum(ones, self.size - ones) - own
        picked = self.backend.fill(
            words[:, self.heads :], answers, own, wanted, out, self.picks
        )
        if picked and left_out.any():
            out[left_out] ^= np.uint8(255)
            if self.size % 8:
                out[left_out, -1] &= np.uint8((1 << self.size % 8) - 1)
        return picked

    def supported(self, responses: Codes, answers: Codes) -> Flags:
        shift = (answers & answers.dtype.type(7)).astype(np.uint8)
        byte = (answers >> answers.dtype.type(3)).astype(np.intp)
        found = responses[np.arange(len(responses)), byte] >> shift
        return (found & np.uint8(1)).view(np.bool_)


class JoinedDraw(EvenDraw):
    """Several channels side by side: each row holds the words of the first factor, then those of the second, …"""

    def __init__(self, channel: Product, factors: list[EvenDraw]) -> None:
        super().__init__(
            channel, Slots([slot for factor in factors for slot in factor.slots.slots])
        )
        self.parts = channel.factors
        self.factors = factors

    def place(self, answers: Codes, words: WordArray, out: Codes) -> bool:
        """Write the combinations of the factors' responses, in mixed radix."""
        out[:] = 0
        at, rest = 0, self.channel.answers
        for factor, channel in zip(self.factors, self.parts, strict=True):
            rest //= channel.answers
            digits = (answers // answers.dtype.type(rest)) % answers.dtype.type(
                channel.answers
            )
            part = channel.coding.space(answers.size)
            own = words[:, at : at + factor.width]
            factor.place(digits.astype(code_type(channel.answers)), own, part)
            out *= out.dtype.type(channel.responses)
            out += part
            at += factor.width
        return True


class CoinTosser:
    """Independent bits, prepared. How many words a row takes depends on the words: rows follow one after another."""

    def __init__(self, coins: Coins, backend: Backend) -> None:
        self.coins = coins
        self.backend = backend

    def into(
        self, true: Codes | WordArray, old: WordArray | None, words: Words, out: Rows
    ) -> None:
        """Draw for as many rows as the words at hand are enough for, and never read more than is sure to be needed.

        Args:
            true: the true bits of each row in words, or the number of the only one.
            old: the bits that are out, in words; None where there are none, and `true` holds numbers.
            words: where words come from.
            out: where the packed rows go.
        """
        blocks, need = self.coins.blocks, DIGITS * self.coins.blocks
        drawn = as_words(out, blocks)
        most = max(self.backend.COIN_WORDS, need)
        buffer = words.room(
            most + 64 * blocks
        )  # a word more for each bit that may be open
        done = held = 0
        while done < len(out):
            # One word more where all that is left is a row whose open bits want further words.
            wanted = max(held + 1, min((len(out) - done) * need, most))
            words.fill(buffer[held:], wanted - held)
            earlier = None if old is None else old[done:]
            rows, used, doubt = self.backend.toss(
                buffer[:wanted], true[done:], earlier, drawn[done:], self.coins
            )
            done, held = done + rows, wanted - used
            buffer[:held] = buffer[used:wanted].copy()
            if doubt:
                number, held = self._by_hand(
                    true[done], None if old is None else old[done], buffer[:held], words
                )
                drawn[done] = np.frombuffer(
                    number.to_bytes(8 * blocks, "little"), "<u8"
                )
                done += 1
        if not np.may_share_memory(drawn, out):
            out[:] = drawn.astype("<u8", copy=False).view(np.uint8)[:, : out.shape[1]]

    def _by_hand(
        self, true: Any, old: Any, block: WordArray, words: Words
    ) -> tuple[int, int]:
        """Draw one row from the words at hand, and from the source behind them; return it, and how many are left."""
        replay = Replay(block, words.source)
        if old is None:
            number = self.coins.scalar(0, 1 << int(true), replay)
        else:
            was, is_true = (
                int.from_bytes(row.astype("<u8").tobytes(), "little")
                for row in (old, true)
            )
            number = self.coins.scalar(was, is_true, replay)
        left = replay.left // chance.WORD
        block[:left] = block[block.size - left :].copy()
        return number, left


def as_words(rows: Rows, blocks: int) -> WordArray:
    """Return room for packed rows as words: the rows themselves where they fill whole words, else other room."""
    if rows.shape[1] == 8 * blocks and rows.flags.c_contiguous:
        return rows.view("<u8").astype(np.uint64, copy=False)
    return np.empty((len(rows), blocks), np.uint64)


class CoinDraw(Draw):
    """A channel of independent bits, of which the answer's own is the true one."""

    def __init__(self, channel: Bits, backend: Backend) -> None:
        super().__init__(channel)
        self.tosser = CoinTosser(Coins.of_channel(channel), backend)
        # So that the sets, and not the words, of the rows that are worked on at a time fill the cache.
        self.width = self.tosser.coins.blocks

    def into(self, answers: Codes, words: Words, out: Rows) -> None:
        self.tosser.into(answers, None, words, out)


def prepare(channel: Channel, backend: Backend) -> Draw:
    """Make a channel ready for many draws."""
    fast = FAST_DRAWS.get(type(channel))
    return (fast(channel, backend) if fast else None) or OneByOne(channel)


def _diagonal(channel: Diagonal, backend: Backend) -> Draw | None:
    if Slot.of(channel.total).words == 1:
        return Quotient(channel, backend)
    return Rungs(channel, backend) if channel.size <= _MOST_THRESHOLDS else None


def _hadamard(channel: Hadamard, backend: Backend) -> Draw | None:
    return HadamardDraw(channel, backend) if _short(channel) else None


def _hashing(channel: Hashing, backend: Backend) -> Draw | None:
    if channel.hashes == 1:  # the one hash is the answer itself
        draw = prepare(Diagonal(channel.values, channel.same, channel.other), backend)
        draw.answers = channel.answers
        return draw
    return HashingDraw(channel, backend) if _short(channel) else None


def _short(channel: Hadamard | Hashing) -> bool:
    return (
        chance.words_for(channel.total) == 1
        and channel.responses <= _MOST_CODED_RESPONSES
    )


def _bits(channel: Bits, backend: Backend) -> Draw | None:
    return CoinDraw(channel, backend) if chance.words_for(channel.total) == 1 else None


def _subset(channel: Subset, backend: Backend) -> Draw | None:
    if chance.words_for(channel.total) > 1:
        return None
    return FilledDraw(channel, [(channel.ones, channel.inside)], [], backend)


def _mixture(channel: Mixture, backend: Backend) -> Draw | None:
    if chance.words_for(channel.total) > 1:
        return None
    parts = [(part.ones, part.inside) for part in channel.parts]
    return FilledDraw(channel, parts, list(channel.sums), backend)


def _product(channel: Product, backend: Backend) -> Draw | None:
    factors = [prepare(factor, backend) for factor in channel.factors]
    even = [
        factor
        for factor in factors
        if isinstance(factor, EvenDraw) and not isinstance(factor, FilledDraw)
    ]
    return JoinedDraw(channel, even) if len(even) == len(factors) else None


FAST_DRAWS: Mapping[type[Channel], Callable[[Any, Backend], Draw | None]] = {
    Bits: _bits,
    Dense: TableDraw,
    Diagonal: _diagonal,
    Hadamard: _hadamard,
    Hashing: _hashing,
    Mixture: _mixture,
    Product: _product,
    Subset: _subset,
}
"""How each kind is drawn in bulk; None where one of its channels has numbers too large for it."""

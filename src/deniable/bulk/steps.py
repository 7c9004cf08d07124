"""Steps of gradual release prepared for many respondents at once, a class for each way of drawing.

Whatever words decide at once is decided at once. Where a word leaves a row open, which happens once in about 2^64
draws, or is thrown away, the rows of the chunk are drawn one by one from the same words: the bytes stay the same.
`FAST_STEPS` names the kinds of step that have a class; any other is drawn row by row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from deniable import chance
from deniable.bulk.backend import (
    NEVER,
    SHORT_DIVISOR,
    Backend,
    BitChances,
    Codes,
    Coins,
    DiagonalPair,
    Flags,
    Plans,
    Thresholds,
    Whole,
    choose_backend,
    first_digit,
)
from deniable.bulk.draws import CoinTosser, EvenDraw, Quotient, prepare
from deniable.bulk.random_words import CHUNK, Replay, Slot, Slots, WordArray, Words
from deniable.channel import Channel
from deniable.channel.coding import Rows, code_type
from deniable.errors import InvalidResponse
from deniable.order.bits import BitByBit, split_digits, toss
from deniable.order.sets import Nested, PickPlan
from deniable.order.steps import Factors, KeepOrFresh, Recoded, Step, Tabulated

_WORD = Slot(1, 1 << 64)  # one word, never thrown away
_MOST_THRESHOLDS = (
    1 << 22
)  # beyond this they would take more memory than the rows that are compared with them
_MOST_NESTED_CATEGORIES = 1 << 16  # plans hold a row for every size of set
_CATEGORIES_A_WORD = (
    64  # for which NumPy holds a byte each while it draws, for each word of the chunk
)


class PreparedStep(ABC):
    """A step made ready: `into` gives what the step's scalar draw would give for each row in turn.

    Attributes:
        width: words that one row takes, for choosing how many are worked on at a time.
    """

    width = 1

    @abstractmethod
    def into(self, olds: Codes, answers: Codes, words: Words, out: Codes) -> None:
        """Draw a response from each of `olds`, with the next words of the source."""


class RowByRow(PreparedStep):
    """Any step, one row after the other."""

    def __init__(self, step: Step, *, down: bool) -> None:
        self.step = step
        self.down = down
        self.was, self.becomes = (step.new, step.old) if down else (step.old, step.new)

    def into(self, olds: Codes, answers: Codes, words: Words, out: Codes) -> None:
        self.draw(olds, answers, words.source, out)

    def draw(
        self, olds: Codes, answers: Codes, source: chance.Source, out: Codes
    ) -> None:
        """Draw row by row from any source."""
        numbers = self.was.coding.unpack(olds)
        if self.down:
            drawn = [self.step.degrade(old, source) for old in numbers]
        else:
            drawn = [
                self.step.upgrade(*pair, source)
                for pair in zip(numbers, answers.tolist(), strict=True)
            ]
        out[:] = self.becomes.coding.pack(drawn)


class EvenStep(PreparedStep):
    """A step of which every draw takes the same words, thrown-away and further ones aside."""

    def __init__(self, step: Step, slots: Slots, *, down: bool) -> None:
        self.slots = slots
        self.width = slots.width
        self.scalar = RowByRow(step, down=down)

    def into(self, olds: Codes, answers: Codes, words: Words, out: Codes) -> None:
        """Take the words of all rows and place the responses, or draw row by row."""
        block = words.unsettled(len(olds), self.slots)
        held = (
            Replay(block, words.source)
            if self.slots.first_rejected(block) is not None
            else None
        )
        if held is None and not self.place(olds, answers, block, out):
            held = Replay(block, words.source)
        if held is not None:
            self.scalar.draw(olds, answers, held, out)

    @abstractmethod
    def place(self, olds: Codes, answers: Codes, block: WordArray, out: Codes) -> bool:
        """Write the responses that the words decide; return False, with the words untouched, where they do not."""


class TableStep(EvenStep):
    """Channels that are written out: one word climbs the running sums that belong to a pair of response and answer."""

    def __init__(self, step: Tabulated, backend: Backend, *, down: bool) -> None:
        super().__init__(step, Slots([_WORD]), down=down)
        self.answers = 1 if down else step.new.answers
        columns = [
            step.channel.sums[old] if down else step.sums(old, answer)
            for old in range(self.scalar.was.responses)
            for answer in range(self.answers)
        ]
        self.possible = np.array([column[-1] > 0 for column in columns])
        # Two words of each threshold: the first decides, and where it is met the scalar draw looks further.
        sums = [
            [(each << 128) // max(column[-1], 1) for each in column[:-1]]
            for column in columns
        ]
        self.thresholds = Thresholds(sums, 2)
        self.backend = backend
        self.down = down

    def place(self, olds: Codes, answers: Codes, block: WordArray, out: Codes) -> bool:
        heads = np.ascontiguousarray(block[:, 0])
        columns = olds.astype(np.intp)
        if not self.down:
            columns *= self.answers
            columns += answers
        if not self.possible[columns].all():
            raise _impossible()
        passed: NDArray[np.intp] = np.empty(len(olds), np.intp)
        self.backend.climb(heads, columns, passed, self.thresholds)
        if self.thresholds.ties(heads, columns, passed).size:
            return False
        self.thresholds.add_base(passed, columns)
        np.copyto(out, passed, casting="unsafe")
        return True


class KeepStep(EvenStep):
    """Keep or fresh: one word decides whether to keep, the next ones draw afresh."""

    def __init__(
        self, step: KeepOrFresh, fresh: EvenDraw, backend: Backend, *, down: bool
    ) -> None:
        super().__init__(step, Slots([_WORD, *fresh.slots.slots]), down=down)
        self.fresh = fresh
        self.backend = backend
        both = (step.share, step.share) if down else _retentions(step, fresh)
        self.impossible = both[0] is None, both[1] is None
        self.yes, self.no = (first_digit(each or Fraction(0)) for each in both)
        self.down = down
        self.pair = None if any(self.impossible) else self._one_pass()

    def _one_pass(self) -> DiagonalPair | None:
        """Return what is needed to raise codes in one pass, where a code has room for a mark."""
        if not isinstance(self.fresh, Quotient) or code_type(
            self.fresh.size
        ) != code_type(self.fresh.size + 1):
            return None
        if self.fresh.divisor < SHORT_DIVISOR:
            return None
        return DiagonalPair(self.fresh.size, self.yes, self.no, self.fresh.divisor)

    def place(self, olds: Codes, answers: Codes, block: WordArray, out: Codes) -> bool:
        """Decide who keeps, draw for everybody, and put back what is kept."""
        if self.pair is not None:
            return self.backend.raise_codes(block, olds, answers, out, self.pair)
        keep = np.empty(len(olds), np.bool_)
        decided = self._decide(olds, answers, block[:, 0], keep)
        if not decided or not self.fresh.place(answers, block[:, 1:], out):
            return False
        if out.ndim == 1:
            self.backend.merge(olds, keep, out)
        else:
            out[keep] = olds[keep]
        return True

    def _decide(
        self, olds: Codes, answers: Codes, heads: WordArray, keep: Flags
    ) -> bool:
        if self.down:
            return self.backend.decide(heads, keep, keep, self.yes, self.yes)
        if self.fresh.by_code and not any(self.impossible):
            return self.backend.decide_codes(
                heads, olds, answers, keep, self.yes, self.no
            )
        like = self.fresh.supported(olds, answers)
        if (self.impossible[0] and like.any()) or (
            self.impossible[1] and not like.all()
        ):
            raise _impossible()
        return self.backend.decide(heads, like, keep, self.yes, self.no)


def _retentions(
    step: KeepOrFresh, fresh: EvenDraw
) -> tuple[Fraction | None, Fraction | None]:
    """Return how often a response is kept that supports its answer, and one that does not; None for one never sent."""
    response, *pair = step.new.witness
    row = step.new.coding.pack([response])
    answers = sorted(
        pair, key=lambda x: not fresh.supported(row, np.array([x], np.uint64))[0]
    )
    found = [
        step.retention(response, x) if step.old.probability(response, given=x) else None
        for x in answers
    ]
    return found[0], found[1]


class BitStep(PreparedStep):
    """A step bit by bit. How many words a row takes depends on the words, so that rows follow one after another."""

    def __init__(self, step: BitByBit, backend: Backend, *, down: bool) -> None:
        chances = (
            ((step.each.stray,) * 2, (step.each.hit,) * 2) if down else step.raised
        )
        self.tosser = CoinTosser(coins_of(step.new.size, chances), backend)
        self.width = self.tosser.coins.blocks
        self.down = down

    def into(self, olds: Codes, answers: Codes, words: Words, out: Codes) -> None:
        """Draw, with the answer's own bit as the one that is truly 1."""
        blocks = self.tosser.coins.blocks
        trues = np.zeros((len(olds), blocks), np.uint64)
        if not self.down:
            place = answers.astype(np.uint64) & np.uint64(63)
            trues[np.arange(len(olds)), (answers.astype(np.intp) >> 6)] = (
                np.uint64(1) << place
            )
        self.tosser.into(trues, _whole_words(olds, blocks), words, out)


def coins_of(size: int, chances: BitChances) -> Coins:
    """Prepare bits with probabilities of any denominator; one that is left open reads digit after digit."""
    flat = [probability for pair in chances for probability in pair]
    found = [split_digits(probability) for probability in flat]

    def one(old: int, true: int, source: chance.Source) -> int:
        every = (1 << size) - 1
        masks = every & ~old & ~true, true & ~old, old & ~true, old & true
        return toss(size, list(zip(masks, flat, strict=True)), source)

    bounds = [first_digit(rest) for _, rest in found]
    return Coins.of(size, [head for head, _ in found], bounds, [1] * 4, NEVER, one)


def toss_rows(
    size: int,
    chances: BitChances,
    olds: Rows,
    trues: Rows,
    *,
    source: chance.Source | None = None,
    fast: bool | None = None,
) -> Rows:
    """Draw packed rows of bits, the probability of each 1 by the bit that is out and by the true bit."""
    tosser = CoinTosser(coins_of(size, chances), choose_backend(fast, olds.size))
    words, out = Words(source), np.empty_like(olds)
    blocks = tosser.coins.blocks
    piece = max(1, CHUNK // blocks)
    for start in range(0, len(olds), piece):
        part = slice(start, start + piece)
        tosser.into(
            _whole_words(trues[part], blocks),
            _whole_words(olds[part], blocks),
            words,
            out[part],
        )
    return out


def _whole_words(rows: Rows, blocks: int) -> WordArray:
    """Return packed rows as whole words, filled up with zeros."""
    padded = np.zeros((len(rows), 8 * blocks), np.uint8)
    padded[:, : rows.shape[1]] = rows
    return padded.view("<u8").astype(np.uint64, copy=False)


class NestedStep(EvenStep):
    """Sets from sets: one word chooses a way, and one word picks each member."""

    def __init__(self, step: Nested, backend: Backend, *, down: bool) -> None:
        plans, picks = (
            (step.downwards, step.most_down) if down else (step.upwards, step.most_up)
        )
        super().__init__(step, Slots([_WORD] * (1 + picks)), down=down)
        self.plans = plans_of(step.new.size, plans)
        self.width = max(self.slots.width, step.new.size // _CATEGORIES_A_WORD)
        self.down = down
        self.backend = backend

    def place(self, olds: Codes, answers: Codes, block: WordArray, out: Codes) -> bool:
        own = (
            np.full(len(olds), -1, np.int64) if self.down else answers.astype(np.int64)
        )
        kinds = _set_kinds(olds, own)
        if not self.plans.known[kinds].all():
            raise _impossible()
        return self.backend.nest(block, olds, own, kinds, out, self.plans)


def plans_of(size: int, plans: Mapping[Hashable, PickPlan]) -> Plans:
    """Write plans into arrays; those for degrading know sizes alone."""
    shape = (2 * (size + 1), max(len(plan.picks) for plan in plans.values()))
    bounds = np.full(shape, NEVER, np.uint64)
    within, beyond = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    free, inside = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    known = np.zeros(shape[0], np.bool_)
    for kind, plan in plans.items():
        ones, held = kind if isinstance(kind, tuple) else (kind, 0)
        at = 2 * int(ones) + int(held)
        known[at] = True
        total = plan.sums[-1]
        bounds[at, : len(plan.sums) - 1] = [
            first_digit(Fraction(each, total)) for each in plan.sums[:-1]
        ]
        for way, pick in enumerate(plan.picks):
            within[at, way], beyond[at, way] = pick.within, pick.beyond
            free[at, way], inside[at, way] = pick.free, pick.inside
    return Plans(size, known, bounds, within, beyond, free, inside)


def _set_kinds(olds: Rows, own: Whole) -> Whole:
    """Return the kind of each known set: 2·size + (holds the answer); `own` is −1 where there is none."""
    ones = np.bitwise_count(olds).sum(axis=1, dtype=np.int64)
    there = np.maximum(own, 0)
    byte = olds[np.arange(len(olds)), there >> 3]
    held = (byte >> (there & 7).astype(np.uint8)) & np.uint8(1)
    return np.asarray(2 * ones + np.where(own < 0, 0, held), np.int64)


class RecodedStep(EvenStep):
    """Sets from sets where one or both designs send a single category under its own number."""

    def __init__(self, step: Recoded, nested: EvenStep, *, down: bool) -> None:
        super().__init__(step, nested.slots, down=down)
        self.width, self.nested = nested.width, nested
        was, becomes = (step.new, step.old) if down else (step.old, step.new)
        self.was, self.becomes = was.coding.ndim == 1, becomes.coding.ndim == 1
        self.size = step.new.answers

    def place(self, olds: Codes, answers: Codes, block: WordArray, out: Codes) -> bool:
        """Write codes as sets, draw, and read sets as codes."""
        rows = _as_sets(olds, self.size) if self.was else olds
        drawn = (
            np.empty((len(olds), -(-self.size // 8)), np.uint8) if self.becomes else out
        )
        if not self.nested.place(rows, answers, block, drawn):
            return False
        if self.becomes:
            byte = (drawn != 0).argmax(axis=1)
            found = 8 * byte + np.log2(drawn[np.arange(len(drawn)), byte]).astype(
                np.intp
            )
            np.copyto(out, found, casting="unsafe")
        return True


def _as_sets(codes: Codes, size: int) -> Rows:
    rows = np.zeros((len(codes), -(-size // 8)), np.uint8)
    places = codes.astype(np.intp)
    rows[np.arange(len(codes)), places >> 3] = np.uint8(1) << (places & 7).astype(
        np.uint8
    )
    return rows


class FactorSteps(EvenStep):
    """Steps of several attributes: each row holds the words of the first, then those of the second, and so on."""

    def __init__(self, step: Factors, steps: list[EvenStep], *, down: bool) -> None:
        super().__init__(
            step,
            Slots([slot for each in steps for slot in each.slots.slots]),
            down=down,
        )
        self.steps = steps
        self.was = (step.new if down else step.old).factors
        self.becomes = (step.old if down else step.new).factors
        self.asked = None if down else step.new.factors

    def place(self, olds: Codes, answers: Codes, block: WordArray, out: Codes) -> bool:
        """Place each factor's responses, then join them in mixed radix."""
        parts: list[Codes] = []
        at = 0
        was = _split(olds, [channel.responses for channel in self.was])
        given = (
            _split(answers, [channel.answers for channel in self.asked])
            if self.asked
            else [answers] * len(was)
        )
        for step, old, answer, channel in zip(
            self.steps, was, given, self.becomes, strict=True
        ):
            part = channel.coding.space(len(olds))
            # A copy: a factor that cannot decide must leave the words of the others untouched.
            if not step.place(old, answer, block[:, at : at + step.width].copy(), part):
                return False
            parts.append(part)
            at += step.width
        _join(parts, self.becomes, out)
        return True


def _split(codes: Codes, sizes: list[int]) -> list[Codes]:
    numbers: list[Codes] = []
    rest = codes
    for size in reversed(sizes):
        rest, number = (
            np.divmod(rest, rest.dtype.type(size))
            if size <= np.iinfo(rest.dtype).max
            else (rest * 0, rest)
        )
        numbers.append(number.astype(code_type(size)))
    return numbers[::-1]


def _join(parts: list[Codes], channels: tuple[Channel, ...], out: Codes) -> None:
    out[:] = 0
    for part, channel in zip(parts, channels, strict=True):
        out *= out.dtype.type(channel.responses)
        out += part.astype(out.dtype)


def prepare_step(step: Step, backend: Backend, *, down: bool) -> PreparedStep:
    """Make a step ready for many draws."""
    fast = FAST_STEPS.get(type(step))
    return (fast(step, backend, down=down) if fast else None) or RowByRow(
        step, down=down
    )


def _tabulated(step: Tabulated, backend: Backend, *, down: bool) -> PreparedStep | None:
    cells = (
        step.channel.responses
        * step.channel.answers
        * (1 if down else step.new.answers)
    )
    if cells > _MOST_THRESHOLDS or step.old.coding.ndim > 1 or step.new.coding.ndim > 1:
        return None
    return TableStep(step, backend, down=down)


def _keep(step: KeepOrFresh, backend: Backend, *, down: bool) -> PreparedStep | None:
    fresh = prepare(step.base if down else step.new, backend)
    return (
        KeepStep(step, fresh, backend, down=down)
        if isinstance(fresh, EvenDraw)
        else None
    )


def _nested(step: Nested, backend: Backend, *, down: bool) -> PreparedStep | None:
    return (
        NestedStep(step, backend, down=down)
        if step.new.size <= _MOST_NESTED_CATEGORIES
        else None
    )


def _recoded(step: Recoded, backend: Backend, *, down: bool) -> PreparedStep | None:
    nested = prepare_step(step.step, backend, down=down)
    return (
        RecodedStep(step, nested, down=down) if isinstance(nested, EvenStep) else None
    )


def _factors(step: Factors, backend: Backend, *, down: bool) -> PreparedStep | None:
    steps = [prepare_step(each, backend, down=down) for each in step.steps]
    even = [each for each in steps if isinstance(each, EvenStep)]
    return FactorSteps(step, even, down=down) if len(even) == len(steps) else None


FAST_STEPS: Mapping[type[Step], Callable[..., PreparedStep | None]] = {
    BitByBit: BitStep,
    Factors: _factors,
    KeepOrFresh: _keep,
    Nested: _nested,
    Recoded: _recoded,
    Tabulated: _tabulated,
}
"""How each kind of step is drawn in bulk; None where one has numbers too large for it."""


def _impossible() -> InvalidResponse:
    """Return the error for responses that their answers never give; it tells neither."""
    return InvalidResponse(
        "a response is none that its respondent can have sent; expected the responses that were kept, in the order of "
        "the answers."
    )

"""Steps of gradual release prepared for many respondents at once, a class for each way of drawing.

Whatever words decide at once is decided at once. Where a word leaves a row open, which happens once in about 2^64
draws, or is thrown away, the rows of the chunk are drawn one by one from the same words: the bytes stay the same.
`FAST_STEPS` names the kinds of step that have a class; any other is drawn row by row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from deniable import chance
from deniable.bulk.backend import (
    NEVER,
    SHORT_DIVISOR,
    Backend,
    BitChances,
    Codes,
    Coins,
    DiagonalPair,
    Division,
    Plans,
    Thresholds,
    Whole,
    choose_backend,
    first_digit,
)
from deniable.bulk.draws import (
    CATEGORIES_A_WORD,
    MAX_THRESHOLDS,
    CoinTosser,
    EvenDraw,
    Quotient,
    append_digit,
    prepare,
    split_codes,
)
from deniable.bulk.random_words import CHUNK, Replay, Slot, Slots, WordArray, Words
from deniable.channel.coding import Rows, code_type
from deniable.errors import InvalidResponse
from deniable.order.bits import BitByBit, split_digits, toss
from deniable.order.sets import Nested, PickPlan
from deniable.order.steps import Factors, KeepOrFresh, Recoded, Step, Tabulated

_WORD = Slot(1, 1 << 64)  # one word, never thrown away
_MAX_NESTED_CATEGORIES = 1 << 16  # plans hold a row for every size of set


class PreparedStep:
    """A step made ready: `into` gives what the step's scalar draw would give for each row in turn.

    By itself it draws any step, one row after the other.

    Attributes:
        step: what is drawn.
        down: whether finer responses become coarser ones.
        was, becomes: the channels of the responses that are out, and of those that are drawn.
        width: words that one row takes, for choosing how many are worked on at a time.
    """

    width = 1

    def __init__(self, step: Step, *, down: bool) -> None:
        self.step = step
        self.down = down
        self.was, self.becomes = (
            (step.new, step.old) if down else (step.old, step.new)
        )

    def into(self, olds: Codes, answers: Codes, words: Words, out: Codes) -> None:
        """Draw a response from each of `olds`, with the next words of the source."""
        self.draw(olds, answers, words.source, out)

    def draw(
        self, olds: Codes, answers: Codes, source: chance.Source, out: Codes
    ) -> None:
        """Draw row by row from any source."""
        numbers = self.was.coding.unpack(olds)
        if self.down:
            drawn = [self.step.degrade(old, source) for old in numbers]
        else:
            pairs = zip(numbers, answers.tolist(), strict=True)
            drawn = [self.step.upgrade(*pair, source) for pair in pairs]
        out[:] = self.becomes.coding.pack(drawn)


class EvenStep(PreparedStep, ABC):
    """A step of which every draw takes the same words, thrown-away and further ones aside."""

    def __init__(self, step: Step, slots: Sequence[Slot], *, down: bool) -> None:
        super().__init__(step, down=down)
        self.slots = Slots(slots)
        self.width = self.slots.width

    def into(self, olds: Codes, answers: Codes, words: Words, out: Codes) -> None:
        """Take the words of all rows and place the responses, or draw row by row."""
        block = words.peek_words(len(olds), self.slots)
        is_rejected = self.slots.first_rejected(block) is not None
        if is_rejected or not self.place(olds, answers, block, out):
            self.draw(olds, answers, Replay(block, words.source), out)

    @abstractmethod
    def place(
        self, olds: Codes, answers: Codes, block: WordArray, out: Codes
    ) -> bool:
        """Write the responses that the words decide; return False, with the words untouched, where they do not."""


class TableStep(EvenStep):
    """Channels that are written out: one word climbs the running sums that belong to a pair of response and answer."""

    def __init__(self, step: Tabulated, backend: Backend, *, down: bool) -> None:
        super().__init__(step, [_WORD], down=down)
        self.answers = 1 if down else step.new.answers
        columns = [
            step.channel.sums[old] if down else step.sums(old, answer)
            for old in range(self.was.responses)
            for answer in range(self.answers)
        ]
        self.possible = np.array([column[-1] > 0 for column in columns])
        # Two words of each threshold: the first decides, and where it is met the scalar draw looks further.
        self.thresholds = Thresholds([_two_words(column) for column in columns], 2)
        self.backend = backend

    def place(
        self, olds: Codes, answers: Codes, block: WordArray, out: Codes
    ) -> bool:
        heads = np.ascontiguousarray(block[:, 0])
        columns = olds.astype(np.intp)
        if not self.down:
            columns *= self.answers
            columns += answers
        if not self.possible[columns].all():
            raise _impossible()
        passed, ties = self.thresholds.count(heads, columns, self.backend)
        if ties.size:
            return False
        np.copyto(out, passed, casting="unsafe")
        return True


def _two_words(sums: Sequence[int]) -> list[int]:
    """Return running sums, but for the last, as shares of 2^128."""
    return [(total << 128) // max(sums[-1], 1) for total in sums[:-1]]


class KeepStep(EvenStep):
    """Keep or fresh: one word decides whether to keep, the next ones draw afresh."""

    def __init__(
        self, step: KeepOrFresh, fresh: EvenDraw, backend: Backend, *, down: bool
    ) -> None:
        super().__init__(step, [_WORD, *fresh.slots.slots], down=down)
        self.fresh = fresh
        self.backend = backend
        shares = (step.share, step.share) if down else _retentions(step, fresh)
        self.impossible = [share is None for share in shares]
        self.yes, self.no = (
            np.uint64(first_digit(share or Fraction(0))) for share in shares
        )
        self.pair = None if any(self.impossible) else self._one_pass()

    def _one_pass(self) -> DiagonalPair | None:
        """Return what is needed to raise codes in one pass, where a code has room for a mark."""
        fresh = self.fresh
        if (
            not isinstance(fresh, Quotient)
            or not SHORT_DIVISOR <= fresh.divisor <= NEVER
        ):
            return None
        if code_type(fresh.size) != code_type(fresh.size + 1):
            return None
        last, division = np.uint64(fresh.size - 1), Division.by(fresh.divisor)
        return DiagonalPair(last, self.yes, self.no, division)

    def place(
        self, olds: Codes, answers: Codes, block: WordArray, out: Codes
    ) -> bool:
        """Decide who keeps, draw for everybody, and put back what is kept."""
        if self.pair is not None:
            return self.backend.raise_codes(block, olds, answers, out, self.pair)
        keep = np.empty(len(olds), np.bool_)
        like = keep if self.down else self.fresh.supported(olds, answers)
        if not self.down and (
            (self.impossible[0] and like.any())
            or (self.impossible[1] and not like.all())
        ):
            raise _impossible()
        decided = self.backend.decide(block[:, 0], like, keep, self.yes, self.no)
        if not decided or not self.fresh.place(answers, block[:, 1:], out):
            return False
        if out.ndim == 1:
            self.backend.merge(olds, keep, out)
        else:
            out[keep] = olds[keep]
        return True


def _retentions(step: KeepOrFresh, fresh: EvenDraw) -> list[Fraction | None]:
    """Return how often a response is kept that supports its answer, and one that does not; None for one never sent."""
    response, *pair = step.new.witness
    row = step.new.coding.pack([response])
    answers = sorted(
        pair, key=lambda x: not fresh.supported(row, np.array([x], np.uint64))[0]
    )
    return [
        step.retention(response, x)
        if step.old.probability(response, given=x)
        else None
        for x in answers
    ]


class BitStep(PreparedStep):
    """A step bit by bit. How many words a row takes depends on the words, so that rows follow one after another."""

    def __init__(self, step: BitByBit, backend: Backend, *, down: bool) -> None:
        super().__init__(step, down=down)
        degraded = (step.each.stray,) * 2, (step.each.hit,) * 2
        self.tosser = _tosser(
            step.new.size, degraded if down else step.raised, backend
        )
        self.width = self.tosser.coins.blocks

    def into(self, olds: Codes, answers: Codes, words: Words, out: Codes) -> None:
        """Draw, with the answer's own bit as the one that is truly 1."""
        trues = np.zeros((len(olds), self.width), np.uint64)
        if not self.down:
            bits = np.uint64(1) << (answers.astype(np.uint64) & np.uint64(63))
            trues[np.arange(len(olds)), answers.astype(np.intp) >> 6] = bits
        self.tosser.into(trues, _whole_words(olds, self.width), words, out)


def _tosser(size: int, chances: BitChances, backend: Backend) -> CoinTosser:
    """Prepare bits with probabilities of any denominator; one that is left open reads digit after digit."""
    flat = [probability for pair in chances for probability in pair]
    digits = [split_digits(probability) for probability in flat]

    def scalar(old: int, true: int, source: chance.Source) -> int:
        every = (1 << size) - 1
        masks = every & ~old & ~true, true & ~old, old & ~true, old & true
        return toss(size, list(zip(masks, flat, strict=True)), source)

    heads = [head for head, _ in digits]
    bounds = [first_digit(remainder) for _, remainder in digits]
    return CoinTosser(Coins.of(size, heads, bounds, [1] * 4, NEVER), scalar, backend)


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
    tosser = _tosser(size, chances, choose_backend(fast, olds.size))
    words, out = Words(source), np.empty_like(olds)
    blocks = tosser.coins.blocks
    step = max(1, CHUNK // blocks)
    for start in range(0, len(olds), step):
        rows = slice(start, start + step)
        true, old = (_whole_words(bits[rows], blocks) for bits in (trues, olds))
        tosser.into(true, old, words, out[rows])
    return out


def _whole_words(rows: Rows, blocks: int) -> WordArray:
    """Return packed rows as whole words, filled up with zeros."""
    padded = np.zeros((len(rows), 8 * blocks), np.uint8)
    padded[:, : rows.shape[1]] = rows
    return padded.view("<u8").astype(np.uint64, copy=False)


class NestedStep(EvenStep):
    """Sets from sets: one word chooses a way, and one word picks each member."""

    def __init__(self, step: Nested, backend: Backend, *, down: bool) -> None:
        plans = step.downwards if down else step.upwards
        picks = step.most_down if down else step.most_up
        super().__init__(step, [_WORD] * (1 + picks), down=down)
        self.plans = _write_plans(step.new.size, plans)
        self.width = max(self.slots.width, step.new.size // CATEGORIES_A_WORD)
        self.backend = backend

    def place(
        self, olds: Codes, answers: Codes, block: WordArray, out: Codes
    ) -> bool:
        members = answers.astype(np.int64)
        if self.down:
            members[:] = -1
        kinds = _set_kinds(olds, members)
        if not self.plans.known[kinds].all():
            raise _impossible()
        return self.backend.nest(block, olds, members, kinds, out, self.plans)


def _write_plans(size: int, plans: Mapping[Hashable, PickPlan]) -> Plans:
    """Write plans into arrays; those for degrading know sizes alone."""
    shape = (2 * (size + 1), max(len(plan.picks) for plan in plans.values()))
    bounds = np.full(shape, NEVER, np.uint64)
    within, beyond = np.zeros((2, *shape), np.int64)
    free, inside = np.zeros((2, *shape), np.bool_)
    known = np.zeros(shape[0], np.bool_)
    for key, plan in plans.items():
        ones, holds_answer = key if isinstance(key, tuple) else (key, 0)
        kind = 2 * int(ones) + int(holds_answer)
        known[kind] = True
        *sums, total = plan.sums
        bounds[kind, : len(sums)] = [first_digit(Fraction(s, total)) for s in sums]
        for index, pick in enumerate(plan.picks):
            within[kind, index], beyond[kind, index] = pick.within, pick.beyond
            free[kind, index], inside[kind, index] = pick.free, pick.inside
    return Plans(size, known, bounds, within, beyond, free, inside)


def _set_kinds(olds: Rows, answers: Whole) -> Whole:
    """Return the kind of each known set: 2·size + (holds the answer); the answer is −1 where there is none."""
    ones = np.bitwise_count(olds).sum(axis=1, dtype=np.int64)
    bit = np.maximum(answers, 0)
    byte = olds[np.arange(len(olds)), bit >> 3]
    holds = (byte >> (bit & 7).astype(np.uint8)) & np.uint8(1)
    return np.asarray(2 * ones + np.where(answers < 0, 0, holds), np.int64)


class RecodedStep(EvenStep):
    """Sets from sets where one or both designs send a single category under its own number."""

    def __init__(self, step: Recoded, nested: EvenStep, *, down: bool) -> None:
        super().__init__(step, nested.slots.slots, down=down)
        self.width, self.nested = nested.width, nested
        self.size = step.new.answers

    def place(
        self, olds: Codes, answers: Codes, block: WordArray, out: Codes
    ) -> bool:
        """Write codes as sets, draw, and read sets as codes."""
        rows = _as_sets(olds, self.size) if self.was.coding.ndim == 1 else olds
        if self.becomes.coding.ndim > 1:
            return self.nested.place(rows, answers, block, out)
        sets = np.empty((len(olds), -(-self.size // 8)), np.uint8)
        if not self.nested.place(rows, answers, block, sets):
            return False
        byte = (sets != 0).argmax(axis=1)
        bit = np.log2(sets[np.arange(len(sets)), byte]).astype(np.intp)
        np.copyto(out, 8 * byte + bit, casting="unsafe")
        return True


def _as_sets(codes: Codes, size: int) -> Rows:
    rows = np.zeros((len(codes), -(-size // 8)), np.uint8)
    categories = codes.astype(np.intp)
    bits = np.uint8(1) << (categories & 7).astype(np.uint8)
    rows[np.arange(len(codes)), categories >> 3] = bits
    return rows


class FactorSteps(EvenStep):
    """Steps of several attributes: each row holds the words of the first, then those of the second, and so on."""

    def __init__(self, step: Factors, steps: list[EvenStep], *, down: bool) -> None:
        slots = [slot for factor in steps for slot in factor.slots.slots]
        super().__init__(step, slots, down=down)
        self.steps = steps

    def place(
        self, olds: Codes, answers: Codes, block: WordArray, out: Codes
    ) -> bool:
        """Place each factor's responses, then join them in mixed radix."""
        steps = self.steps
        old_digits = split_codes(olds, [step.was.responses for step in steps])
        answer_digits = (
            [answers] * len(steps)
            if self.down
            else split_codes(answers, [step.becomes.answers for step in steps])
        )
        start, joined = 0, np.zeros_like(out)
        for step, old, answer in zip(steps, old_digits, answer_digits, strict=True):
            drawn = step.becomes.coding.space(len(olds))
            end = start + step.slots.width
            # A copy: a factor that cannot decide must leave the words of the others untouched.
            if not step.place(old, answer, block[:, start:end].copy(), drawn):
                return False
            append_digit(joined, drawn, step.becomes)
            start = end
        out[:] = joined
        return True


def prepare_step(step: Step, backend: Backend, *, down: bool) -> PreparedStep:
    """Make a step ready for many draws."""
    fast = FAST_STEPS.get(type(step))
    prepared = fast(step, backend, down=down) if fast else None
    return prepared or PreparedStep(step, down=down)


def _table_drawer(
    step: Tabulated, backend: Backend, *, down: bool
) -> PreparedStep | None:
    answers = 1 if down else step.new.answers
    cells = step.channel.responses * step.channel.answers * answers
    if (
        cells > MAX_THRESHOLDS
        or step.old.coding.ndim > 1
        or step.new.coding.ndim > 1
    ):
        return None
    return TableStep(step, backend, down=down)


def _keep(step: KeepOrFresh, backend: Backend, *, down: bool) -> PreparedStep | None:
    fresh = prepare(step.base if down else step.new, backend)
    if not isinstance(fresh, EvenDraw):
        return None
    return KeepStep(step, fresh, backend, down=down)


def _nesting_drawer(
    step: Nested, backend: Backend, *, down: bool
) -> PreparedStep | None:
    if step.new.size > _MAX_NESTED_CATEGORIES:
        return None
    return NestedStep(step, backend, down=down)


def _recoding_drawer(
    step: Recoded, backend: Backend, *, down: bool
) -> PreparedStep | None:
    nested = prepare_step(step.step, backend, down=down)
    if not isinstance(nested, EvenStep):
        return None
    return RecodedStep(step, nested, down=down)


def _factors(step: Factors, backend: Backend, *, down: bool) -> PreparedStep | None:
    steps = [prepare_step(factor, backend, down=down) for factor in step.steps]
    even = [factor for factor in steps if isinstance(factor, EvenStep)]
    return FactorSteps(step, even, down=down) if len(even) == len(steps) else None


FAST_STEPS: Mapping[type[Step], Callable[..., PreparedStep | None]] = {
    BitByBit: BitStep,
    Factors: _factors,
    KeepOrFresh: _keep,
    Nested: _nesting_drawer,
    Recoded: _recoding_drawer,
    Tabulated: _table_drawer,
}
"""How each kind of step is drawn in bulk; None where one has numbers too large for it."""


def _impossible() -> InvalidResponse:
    """Return the error for responses that their answers never give; it tells neither."""
    return InvalidResponse(
        "a response is none that its respondent can have sent; expected the responses that were kept, in the order of "
        "the answers."
    )

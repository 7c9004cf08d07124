"""What works on arrays of words: one protocol, two modules behind it, chosen here; and on how many threads.

`vectors` is written in NumPy, `kernels` compiled with Numba: the same words in, the same responses out. The classes
here hold what one of their functions needs to know about a channel or a step, in units of words.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.bulk import vectors
from deniable.bulk.random_words import Slot, WordArray
from deniable.chance import Source
from deniable.channel.coding import Coding, Rows
from deniable.channel.fields import POWERS, Field, field
from deniable.channel.sets import DIGITS, Bits
from deniable.channel.two_level import Hadamard, Hashing
from deniable.errors import InvalidRequest, MissingExtra, quoted

if TYPE_CHECKING:
    from deniable.bulk.edges import Edges

Codes: TypeAlias = NDArray[np.unsignedinteger[Any]]
Whole: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
Work: TypeAlias = Callable[[int], object]

ROWS_WORTH_COMPILING = 1 << 24
"""Rows from which on loading and compiling the kernels, about a second once in a process, begins to pay."""

SHORT_DIVISOR = 1 << 34
"""Below this divisor the quotient by multiplication is not exact; see `kernels`."""

_COMPILED = "deniable.bulk.kernels"
_WORD = 1 << 64
_DIGIT_TABLE = 256  # digits of hashes are worked on in blocks of as many as a table of this side holds


class Backend(Protocol):
    """What `vectors` and `kernels` both offer.

    Arrays are contiguous and have a row for each answer. Words are scratch and may be overwritten, but by functions
    that return a bool: these leave them as they are where they return False, because a word does not decide.
    """

    CHUNK: int
    """Words that are best drawn and then worked on at a time."""

    COIN_WORDS: int
    """Words that `toss` is best given at a time."""

    def flip(
        self, words: WordArray, answers: Codes, out: Codes, last: np.uint64
    ) -> None:
        """Turn the answers 0 and 1 around up to the last word that does so."""
        ...

    def divide(
        self, words: WordArray, answers: Codes, out: Codes, divisor: int, size: int
    ) -> None:
        """Send the q-th of the other categories with q = ⌊word / divisor⌋, or the answer where q ≥ size − 1."""
        ...

    def count_below(
        self,
        words: WordArray,
        columns: NDArray[np.intp],
        out: NDArray[np.intp],
        steps: WordArray,
        width: int,
    ) -> None:
        """Count the thresholds of a column that lie below the word."""
        ...

    def signs(
        self, words: WordArray, answers: Codes, out: Codes, channel: Signs
    ) -> None:
        """Draw rows of a Hadamard matrix: those with +1 in the answer's column from the words below the edge."""
        ...

    def forms(
        self, words: WordArray, answers: Codes, out: Codes, channel: HashForms
    ) -> None:
        """Draw a hash and the value of the answer under it, or another value."""
        ...

    def toss(
        self,
        words: WordArray,
        true: Codes | WordArray,
        old: WordArray | None,
        out: WordArray,
        coins: Coins,
    ) -> tuple[int, int, bool]:
        """Draw rows of bits until the words run out or do not decide.

        Args:
            words: as many as are at hand.
            true: the bits that are truly 1, in rows of words; or for each row the number of the only one.
            old: the bits that are out; None where there are none, and `true` holds numbers.
            out: where the rows go, in words.
            coins: how each bit is drawn.

        Returns:
            How many rows are drawn, how many words they took, and whether a word behind them does not decide.
        """
        ...

    def fill(
        self,
        words: WordArray,
        answers: Codes,
        inside: Flags,
        others: Whole,
        out: Rows,
        picks: Picks,
    ) -> bool:
        """Write sets of `others`, so many, with the answer where it is `inside`; False where a word is thrown away."""
        ...

    def nest(
        self,
        block: WordArray,
        olds: Rows,
        answers: Whole,
        kinds: Whole,
        out: Rows,
        plans: Plans,
    ) -> bool:
        """Draw a set from each row; the answer is −1 where there is none. Return False where a word does not decide."""
        ...

    def decide(
        self,
        words: WordArray,
        like: Flags,
        keep: Flags,
        yes: np.uint64,
        no: np.uint64,
    ) -> bool:
        """Say for each row whether its word is below the bound of its kind; return False where one may be equal."""
        ...

    def merge(self, olds: Codes, keep: Flags, out: Codes) -> None:
        """Put back the old codes where they are kept."""
        ...

    def raise_codes(
        self,
        block: WordArray,
        olds: Codes,
        answers: Codes,
        out: Codes,
        pair: DiagonalPair,
    ) -> bool:
        """Keep the old code or draw a fresh one; return False where a word decides nothing."""
        ...

    def count(self, coding: Coding, array: NDArray[Any]) -> Whole:
        """Return the counts of the cells of a tally of responses that lie in an array as the coding says.

        Raises:
            OverflowError: one of them is seen to be no response of the channel.
        """
        ...

    def ask(
        self,
        words: WordArray,
        edges: Edges,
        first: int,
        scale: int,
        item: Whole,
        answers: Rows,
    ) -> None:
        """Draw an item for each of some people and round the weight of their edge to it.

        Args:
            words: a row for each person: the word that draws the item, and the word that rounds.
            edges: who has what.
            first: the number of the first person.
            scale: how many words each item owns.
            item: where the items go.
            answers: where none, + and − go.
        """
        ...

    def mark(
        self,
        words: WordArray,
        item: Whole,
        answers: Rows,
        steps: WordArray,
        out: Rows,
    ) -> None:
        """Draw a symbol for every item of each person, with a word for each.

        Args:
            words: a row for each person, a word for each item.
            item: the item that each person drew, −1 for an empty place.
            answers: its rounded weight.
            steps: for the answers none, + and − the last word that sends none, and the last that sends none or +.
            out: where the symbols go.
        """
        ...

    def count_marks(self, symbols: Rows, counts: Whole) -> None:
        """Add how often each item is marked + and −."""
        ...


def choose_backend(fast: bool | None, rows: int) -> Backend:
    """Return the compiled kernels where they are wanted and there, else NumPy.

    Args:
        fast: True to demand kernels, False to do without, None to take them where they are installed and either loaded
            already or worth loading for so many rows. The responses do not depend on it.
        rows: how many there are to work on.

    Raises:
        MissingExtra: they are demanded and Numba is not installed.
    """
    can_wait = fast is None and _COMPILED not in sys.modules
    if fast is False or (
        can_wait and (rows < ROWS_WORTH_COMPILING or find_spec("numba") is None)
    ):
        return vectors
    try:
        kernels: Any = import_module(_COMPILED)
    except ImportError as error:
        if fast is None:  # there, but not usable with this Python or NumPy
            return vectors
        raise MissingExtra(
            f"compiled kernels need Numba, which cannot be imported here ({error.name or 'numba'}).",
            "Install it with: pip install 'deniable[fast]'. Without fast=True NumPy gives the same responses.",
        ) from None
    return kernels  # type: ignore[no-any-return]  # a module that offers these functions


def check_threads(threads: int, source: Source | None = None) -> None:
    """Refuse anything but a positive whole number, and several threads that would share a given source.

    Raises:
        InvalidRequest: otherwise.
    """
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise InvalidRequest(
            f"threads is {quoted(threads)}; expected a whole number, 1 or more."
        )
    if source is not None and threads > 1:
        raise InvalidRequest(
            f"{threads} threads cannot share one source in a fixed order; expected threads=1 with a source.",
            "Leave the source out: each thread then has a secure stream of its own.",
        )


@contextmanager
def workers(threads: int) -> Iterator[Callable[[Work, Iterable[int]], None]]:
    """Give a function that does some work for each number, on as many threads as asked for; this one is one of them."""
    if threads == 1:
        yield _work_alone
        return
    with ThreadPoolExecutor(threads - 1, thread_name_prefix="deniable") as pool:
        yield partial(_distribute_work, pool, threads)


def _work_alone(work: Work, numbers: Iterable[int]) -> None:
    for number in numbers:
        work(number)


def _distribute_work(
    pool: Executor, threads: int, work: Work, numbers: Iterable[int]
) -> None:
    """Let every thread take the next index when it is done with its last one; stop after an error.

    Why not `Executor.map`: it makes and passes on an object for each number under Python's lock, which costs as much as
    a short piece of work.
    """
    stops: list[int | None] = [None] * threads
    waiting = deque([*numbers, *stops])  # each thread stops at a None

    def take_all() -> None:
        try:
            for number in iter(waiting.popleft, None):
                work(number)
        except BaseException:
            waiting.extendleft(stops)
            raise

    helpers = [pool.submit(take_all) for _ in range(threads - 1)]
    take_all()
    for helper in helpers:
        helper.result()


BitChances: TypeAlias = tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]
"""The probability of a 1, by the bit that is out and then by the true bit."""

NEVER = _WORD - 1
"""The highest word: no word is above it."""


def first_digit(probability: Fraction) -> int:
    """Return the first digit of a probability in base 2^64; a word that equals it leaves the draw open."""
    return min((probability.numerator << 64) // probability.denominator, NEVER)


class Thresholds:
    """Columns of rising thresholds below 2^(64·words); a draw counts those that are at most its position.

    Where a draw takes one word, threshold t ≤ u is asked as t − 1 < u: then a threshold of 2^64, which no word
    reaches, still fits in a word, and one of 0, which every word reaches, is counted beforehand. Where a draw takes
    more words, thresholds are cut to their first word, and a first word that meets one of them is a tie that only
    the other words decide.

    Attributes:
        steps: the thresholds, column after column, each filled up to `width` with steps that no word is above.
        width: steps in a column, a power of two.
        base: for each column how many thresholds are 0.
    """

    def __init__(self, columns: Sequence[Sequence[int]], words: int) -> None:
        self.words = words
        self.width = 1 << max(len(column) for column in columns).bit_length()
        self.base: NDArray[np.int64] = np.array(
            [column.count(0) for column in columns], np.int64
        )
        table = np.full((len(columns), self.width), NEVER, np.uint64)
        for row, column, zeros in zip(
            table, columns, self.base.tolist(), strict=True
        ):
            row[: len(column) - zeros] = [
                self._step(threshold) for threshold in column[zeros:]
            ]
        self.steps: WordArray = table.reshape(-1)

    def _step(self, threshold: int) -> int:
        if self.words == 1:
            return threshold - 1
        return min(threshold >> 64 * (self.words - 1), NEVER)

    def count(
        self, heads: WordArray, columns: NDArray[np.intp], backend: Backend
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return how many thresholds each first word passes, and the rows whose first word does not decide."""
        passed: NDArray[np.intp] = np.empty(len(heads), np.intp)
        backend.count_below(heads, columns, passed, self.steps, self.width)
        ties = np.empty(0, np.intp)
        if self.words > 1:
            ties = np.flatnonzero(self.steps[columns * self.width + passed] == heads)
        if self.base.any():
            passed += self.base[columns]
        return passed, ties


class Division(NamedTuple):
    """A divisor of at least `SHORT_DIVISOR`, and how kernels divide by it: a reciprocal and a shift."""

    divisor: np.uint64
    reciprocal: np.uint64
    shift: np.uint64

    @classmethod
    def by(cls, divisor: int) -> Division:
        """Prepare a divisor."""
        shift = divisor.bit_length() - 1
        reciprocal = ((1 << 32 + shift) - 1) // divisor
        return cls(np.uint64(divisor), np.uint64(reciprocal), np.uint64(shift))


def _inverse(divisor: int) -> float:
    """Return a float a little below 2^11 / divisor, by which kernels multiply to divide."""
    return float(Fraction(1 << 11, max(divisor, 1)) * (1 - Fraction(1, 1 << 50)))


class Signs(NamedTuple):
    """A Hadamard channel in units of words: where the rows with +1 end, and how many words belong to each row."""

    edge: np.uint64
    large: np.uint64
    small: np.uint64
    inverse_large: float
    inverse_small: float

    @classmethod
    def of(cls, channel: Hadamard, scale: int) -> Signs:
        """Prepare a channel whose positions take `scale` words each."""
        large, small = channel.large * scale, channel.small * scale
        edge = np.uint64((channel.half - 1) * large)
        inverses = _inverse(large), _inverse(small)
        return cls(edge, np.uint64(large), np.uint64(small), *inverses)


class HashForms(NamedTuple):
    """A hashing channel in units of words, and its linear forms in blocks of digits.

    Attributes:
        per_hash: words that belong to one hash.
        other: words that belong to one value that is not the hashed answer.
        values: how many values there are.
        inverse_hash, inverse_other: how kernels divide by the first two.
        starts: the first hash of each length of form, rising.
        powers: the form of that hash.
        side: values of one block of digits, a power of `values`.
        blocks: how many blocks a form has.
        dots: the value of each block of a form at each block of an answer; empty where a block is one large digit.
        sums: the sum of each two values, row by row; empty where it is that of integers modulo `values`.
    """

    per_hash: np.uint64
    other: np.uint64
    values: np.uint64
    inverse_hash: float
    inverse_other: float
    starts: WordArray
    powers: WordArray
    side: np.uint64
    blocks: int
    dots: Rows
    sums: Rows

    @classmethod
    def of(cls, channel: Hashing, scale: int) -> HashForms:
        """Prepare a channel whose positions take `scale` words each."""
        q, m = channel.values, channel.digits
        width = 1
        while q ** (width + 1) <= _DIGIT_TABLE and width < m:
            width += 1
        side, none = q**width, np.empty(0, np.uint8)
        powers = [q**digit for digit in range(m)]
        starts = [(power - 1) // (q - 1) for power in powers]
        per_hash, other = channel.per_hash * scale, channel.other * scale
        return cls(
            np.uint64(per_hash),
            np.uint64(other),
            np.uint64(q),
            _inverse(per_hash),
            _inverse(other),
            np.array(starts, np.uint64),
            np.array(powers, np.uint64),
            np.uint64(side),
            -(-m // width),
            _dots(field(q), width) if side <= _DIGIT_TABLE else none,
            _sums(field(q)) if q in POWERS else none,
        )


def _dots(over: Field, width: int) -> Rows:
    """Return the products of all pairs of vectors of elements of a field, row by row."""
    places = [over.prime**digit for digit in range(over.degree)]
    digits = np.arange(over.values)[:, None] // places % over.prime
    # Products are linear in the digits of both sides: those of powers of X tell all others.
    powers = np.array([[over.times(a, b) for b in places] for a in places])
    powers = powers[..., None] // places % over.prime
    table = products = np.einsum("ai,bj,ijk->abk", digits, digits, powers)
    for _ in range(width - 1):
        table = products[:, None, :, None] + table[None, :, None]
        table = table.reshape(len(table) * table.shape[1], -1, over.degree)
    return np.asarray(table % over.prime @ places, np.uint8).reshape(-1)


def _sums(over: Field) -> Rows:
    """Return the sums of all pairs of elements of a field, row by row."""
    places = [over.prime**digit for digit in range(over.degree)]
    digits = np.arange(over.values)[:, None] // places
    sums = (digits[:, None] + digits) % over.prime @ places
    return np.asarray(sums, np.uint8).reshape(-1)


class Coins(NamedTuple):
    """Independent bits: how each is drawn, by the bit that is out and by the true bit.

    The four classes of bits are 2·(bit that is out) + (true bit). A bit is decided by the first of eight coins that is
    1: by the i-th it becomes the i-th binary digit of its probability. One left open takes a word of its own.

    Attributes:
        blocks: words that hold the bits of a row.
        behind: the bits of the last of these words that are none.
        digits: for each class and each of the first eight binary digits of its probability all ones, or 0.
        bounds: for each class, an open bit becomes 1 where its word is below this.
        ties: for each class 1 where a word that equals the bound does not decide, else 0.
        last: the highest word that is not thrown away.
    """

    blocks: int
    behind: np.uint64
    digits: WordArray
    bounds: WordArray
    ties: WordArray
    last: np.uint64

    @classmethod
    def of(
        cls,
        size: int,
        heads: Sequence[int],
        bounds: Sequence[int],
        ties: Sequence[int],
        last: int,
    ) -> Coins:
        """Work out how so many bits lie in words; heads are the first eight digits of each class as one number."""
        blocks = -(-size // 64)
        behind = np.uint64(_WORD - (1 << size - 64 * (blocks - 1)))
        shifts = range(DIGITS - 1, -1, -1)
        digits = [
            [(head >> shift & 1) * NEVER for shift in shifts] for head in heads
        ]
        limits = np.array([bounds, ties], np.uint64)
        masks = np.array(digits, np.uint64)
        return cls(blocks, behind, masks, limits[0], limits[1], np.uint64(last))

    @classmethod
    def of_channel(cls, channel: Bits) -> Coins:
        """Prepare fresh bits, of which the answer's own is the true one; the channel's total must take one word."""
        slot = Slot.of(channel.total)
        scale = slot.limit // channel.total
        pairs = [channel.digits(channel.stray), channel.digits(channel.hit)] * 2
        bounds = [remainder * scale for _, remainder in pairs]
        # A probability of 1 has a bound of 2^64, which no word holds: the highest word is left to the scalar draw.
        return cls.of(
            channel.size,
            [head for head, _ in pairs],
            [min(bound, NEVER) for bound in bounds],
            [int(bound > NEVER) for bound in bounds],
            slot.limit - 1,
        )


class Picks(NamedTuple):
    """What `fill` needs to know about the picks that fill a set.

    Attributes:
        size: how many categories there are.
        divisors: for each pick, a word divided by it is the pick. A pick out of one alone would be divided by 2^64,
            which no word holds, and is to be cut to 0.
        reciprocals, shifts: how to divide by multiplying, as `Division` says; with at most 2^24 categories no divisor
            is too short for it.
        lasts: for each pick, the highest word that is not thrown away.
    """

    size: int
    divisors: WordArray
    reciprocals: WordArray
    shifts: WordArray
    lasts: WordArray

    @classmethod
    def of(cls, size: int, steps: int) -> Picks:
        """Work out the divisors; each pick takes one word because there are at most 2^24 categories."""
        totals = range(size - steps, size)
        divisions = [Division.by(min(_WORD // total, NEVER)) for total in totals]
        table = np.array(divisions, np.uint64).reshape(-1, 3)
        divisors, reciprocals, shifts = table.T.copy()
        lasts = [_WORD // total * total - 1 for total in totals]
        return cls(size, divisors, reciprocals, shifts, np.array(lasts, np.uint64))

    @property
    def slots(self) -> Iterator[Slot]:
        """The draws of which a set is filled."""
        return (Slot(1, int(last) + 1) for last in self.lasts)


class Plans(NamedTuple):
    """How to draw from every kind of known set: 2·size + (holds the answer), in arrays.

    Attributes:
        size: how many categories there are.
        known: which kinds occur.
        bounds: for each kind the first words of the running sums, filled up with words that nothing is above.
        within, beyond: for each kind and way, how many members are drawn from the known set, and from the rest.
        free, inside: for each kind and way, whether the known set does not matter, and whether the answer is put in.
    """

    size: int
    known: Flags
    bounds: WordArray
    within: Whole
    beyond: Whole
    free: Flags
    inside: Flags


class DiagonalPair(NamedTuple):
    """Two diagonal channels in units of words: when an old code is kept, and how a fresh one is drawn.

    Attributes:
        last: the number of the last category.
        yes: a first word below this keeps a response that is the answer.
        no: one below this keeps any other response.
        division: the second word divided by this is the fresh response, as in `divide`.
    """

    last: np.uint64
    yes: np.uint64
    no: np.uint64
    division: Division

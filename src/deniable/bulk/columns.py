"""Both steps over columns: answers → responses, and responses → a Tally.

Nothing in here repeats an answer: a row that is refused is named by its index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import (
    TYPE_CHECKING,
    Any,
    NamedTuple,
    NoReturn,
    TypeAlias,
    TypedDict,
    TypeVar,
    Unpack,
)

import numpy as np
from numpy.typing import NDArray

from deniable.bulk.backend import (
    Backend,
    Codes,
    Flags,
    check_threads,
    choose_backend,
    workers,
)
from deniable.bulk.draws import Draw, prepare
from deniable.bulk.random_words import Words
from deniable.chance import Source
from deniable.channel.coding import Coding, Counts, code_type
from deniable.designs import AnyDesign, Design
from deniable.designs.labels import format_labels
from deniable.errors import InvalidAnswer, InvalidRequest, quoted
from deniable.files import arrow
from deniable.files.arrow import is_absent
from deniable.tallies import Tally
from deniable.tallies import tally as tally_any
from deniable.tallies.responses import Missing, Responses
from deniable.tallies.running import are_renumbered

if TYPE_CHECKING:
    import pyarrow as pa

AnswerCodes: TypeAlias = NDArray[np.integer[Any]]
Drawn = TypeVar("Drawn", bound=AnyDesign)

_COUNTED = 1 << 22  # codes that a thread counts at a time


class BulkOptions(TypedDict, total=False):
    """How many rows are drawn: `source`, `threads` and `fast` of `respond_all`."""

    source: Source | None
    threads: int
    fast: bool | None


class DrawOptions(BulkOptions, total=False):
    """How answers are read and drawn for: `codes` of `respond_all`, and the others."""

    codes: bool | None


def respond_all(
    design: Design,
    answers: object,
    *,
    codes: bool | None = None,
    source: Source | None = None,
    threads: int = 1,
    fast: bool | None = None,
) -> Responses[Design]:
    """Draw a response to each of many answers.

    Guarantee: drawn with exactly the integer weights from which the design's ε is derived, from a keystream under a
    fresh key of the operating system. From a given source the responses are those that `design.channel.draw` gives
    answer by answer (docs/draws.md), whichever backend draws them. A missing answer takes no bytes.

    Args:
        design: what to draw with.
        answers: labels or codes, in a NumPy array, a list, or a column of pandas, Polars or Arrow; for a design of
            several attributes also a mapping, or a frame, with a column for each.
        codes: what whole numbers are; True for codes, False for labels (3 is the category "3"). By default they are
            codes, and refused where categories such as "1", "2", "3" make the two differ.
        source: random bytes, for tests; by default a secure keystream, one for each thread.
        threads: how many to draw on.
        fast: True to demand compiled kernels, False to do without; by default they are used where Numba is
            installed and either loaded already or worth loading.

    Returns:
        `Responses`, whose column "response" holds the code of each, the number of its symbol, in the smallest unsigned
        type. For a design that sends sets of categories, packed bits: a row of ⌈k/8⌉ bytes for each response, bit j of
        byte i for category 8i + j.

    Raises:
        InvalidAnswer: a row that is no category; only its index is told.
        InvalidRequest: several threads and one given source.
        MissingExtra: compiled kernels are demanded and Numba is not installed.

    Example:
        >>> from deniable.designs import k_ary
        >>> len(respond_all(k_ary(["red", "green", "blue"], epsilon=1), ["red", "blue", None]))
        3
    """
    responder = Responder(
        design, codes=codes, source=source, threads=threads, fast=fast
    )
    return responder.respond(answers)


def draw_all(
    design: Design, answers: object, **options: Unpack[DrawOptions]
) -> Codes:
    """Draw as `respond_all` does, and return the bare array: codes or packed rows, masked where answers are missing.

    Example:
        >>> from deniable.designs import k_ary
        >>> draw_all(k_ary(["red", "green", "blue"], epsilon=1), ["red", "blue", "red"]).shape
        (3,)
    """
    return Responder(design, **options).draw(answers)


def draw_stream(
    design: Design, chunks: Iterable[Any], **options: Unpack[DrawOptions]
) -> Iterator[Codes]:
    """Respond to columns of answers as they come, each when it is asked for, in constant memory.

    Guarantee: as for `respond_all`; from a given source the responses are those to all columns joined into one.

    Args:
        design: what to draw with.
        chunks: columns of answers, in any form that `respond_all` takes, of any lengths.
        options: `codes`, `source`, `threads` and `fast`, as for `respond_all`.

    Raises:
        As `respond_all`; the index that an error tells is that within its column.

    Example:
        >>> from deniable.designs import warner
        >>> [len(codes) for codes in draw_stream(warner(epsilon=1), [["yes", "no"], ["no"]])]
        [2, 1]
    """
    return map(Responder(design, **options).draw, chunks)


class BulkRows:
    """Rows that come column by column: their words, on how many threads they are drawn, and what draws them.

    The arguments are those of `respond_all`.
    """

    def __init__(
        self,
        *,
        codes: bool | None = None,
        source: Source | None = None,
        threads: int = 1,
        fast: bool | None = None,
    ) -> None:
        check_threads(threads, source)
        self._codes = codes
        self._words = Words(source)
        self._threads = threads
        self._fast = fast
        self._rows = 0

    def _choose_backend(self, rows: int) -> Backend:
        """Count further rows, and return the kernels when enough have come to load them."""
        self._rows += rows
        return choose_backend(self._fast, self._rows)

    def _run(self, draw: Callable[[slice], None], rows: int, step: int) -> None:
        """Draw for so many rows at a time, on the threads."""
        with workers(self._threads) as run:
            run(lambda start: draw(slice(start, start + step)), range(0, rows, step))


class Responder(BulkRows):
    """A design made ready once, for columns that come one after another. The arguments are those of `respond_all`."""

    def __init__(self, design: Design, **options: Unpack[DrawOptions]) -> None:
        super().__init__(**options)
        self._design = design
        self._draws: dict[Backend, Draw] = {}

    def respond(self, answers: object) -> Responses[Design]:
        """Draw a response to each answer of the next column; a missing answer has a missing response."""
        rows, missing = self._draw_rows(answers)
        return Responses(self._design, {"response": rows}, missing)

    def draw(self, answers: object) -> Codes:
        """Draw as `respond` does, and return the bare array, masked where answers are missing."""
        return mask_rows(*self._draw_rows(answers))

    def _draw_rows(self, answers: object) -> tuple[Codes, Missing | None]:
        codes, missing = read_answers(self._design, answers, codes=self._codes)
        backend = self._choose_backend(codes.size)
        draw = self._draws.get(backend) or prepare(self._design.channel, backend)
        self._draws[backend] = draw
        kind, out = code_type(draw.answers), draw.channel.coding.space(codes.size)

        def draw_some(rows: slice) -> None:
            if not in_range(codes[rows], draw.answers):
                raise out_of_range(self._design, codes, missing)
            present = np.ascontiguousarray(codes[rows], dtype=kind)
            draw.into(present, self._words, out[rows])

        self._run(draw_some, codes.size, max(1, backend.CHUNK // draw.width))
        return with_zeros(out, missing), missing


def with_zeros(responses: Codes, missing: Missing | None) -> Codes:
    """Return responses with zeros between them where an answer is missing."""
    if missing is None:
        return responses
    out = np.zeros((len(missing), *responses.shape[1:]), responses.dtype)
    out[~missing] = responses
    return out


def build_responses(
    design: Drawn, present: Missing, *columns: NDArray[Any]
) -> Responses[Drawn]:
    """Build the responses of all people from the rows that were drawn for those who are present."""
    missing = None if present.all() else ~present
    rows = [with_zeros(column, missing) for column in columns]
    return Responses(design, dict(zip(design.columns, rows, strict=True)), missing)


def read_objects(answers: Any) -> list[Any]:
    """Return a column as Python objects, None where an answer is missing.

    Raises:
        InvalidAnswer: no list, array or column.
    """
    is_array = isinstance(answers, np.ndarray)
    is_column = is_array or arrow.is_column(answers)
    column = arrow.to_arrow(answers) if is_column else None
    if column is None and not is_array and not is_sequence(answers):
        raise InvalidAnswer(
            f"the answers are a {type(answers).__name__}; expected a list, an array or a column."
        )
    values = list(answers) if column is None else column.to_pylist()
    return [None if is_absent(value) else value for value in values]


def mask_rows(rows: Codes, missing: Missing | None) -> Codes:
    """Return rows masked where an answer is missing."""
    if missing is None:
        return rows
    mask = missing.reshape(-1, *[1] * (rows.ndim - 1))
    return np.ma.MaskedArray(rows, np.broadcast_to(mask, rows.shape))


class AnswerColumn(NamedTuple):
    """Answers that were read.

    Attributes:
        codes: the number of the category of each answer that is there; whole numbers taken for codes still have to pass
            `in_range`, because whoever draws looks at them anyway, piece by piece and on several threads.
        missing: which of all rows have no answer; None where all have one.
    """

    codes: AnswerCodes
    missing: Missing | None


def read_answers(
    design: Design, answers: Any, *, codes: bool | None = None
) -> AnswerColumn:
    """Read a column of answers.

    Args:
        design: whose categories they are.
        answers: a NumPy array, a sequence, or a column of pandas, Polars or Arrow, of labels or of codes; for several
            attributes also a mapping or a frame with a column for each.
        codes: what whole numbers are, as in `respond_all`.

    Raises:
        InvalidAnswer: a row that is no category; only its index is told.

    Example:
        >>> from deniable.designs import warner
        >>> read_answers(warner(epsilon=1), ["yes", "no", "yes"]).codes.tolist()
        [1, 0, 1]
    """
    reader = _Reader(design, codes)
    if isinstance(answers, np.ndarray):
        return AnswerColumn(reader.numpy(answers), reader.missing)
    if design.factors and (isinstance(answers, Mapping) or is_frame(answers)):
        return join_attributes(design, answers, codes=codes)
    if not arrow.is_column(answers) and not is_sequence(answers):
        raise InvalidAnswer(
            f"the answers are a {type(answers).__name__}; expected an array, a column or a list, with an answer for "
            "each respondent.",
            "For one answer use deniable.respond(), for an iterator of arrays engines.local.draw_stream().",
        )
    # An answer to each attribute, person by person.
    by_person = design.factors and any(isinstance(row, Mapping) for row in answers)
    column = None if by_person else arrow.to_arrow(answers)
    read = reader.objects(list(answers)) if column is None else reader.column(column)
    return AnswerColumn(read, reader.missing)


def join_attributes(
    design: Design, columns: Any, *, codes: bool | None = None
) -> AnswerColumn:
    """Read a column of answers for each attribute: the code of each respondent's combination of answers.

    Where one of the answers is missing, so is the combination.

    Args:
        design: for several attributes.
        columns: a mapping, or a frame, with a column of labels or of codes for each attribute, all equally long.
        codes: what whole numbers are, as in `respond_all`.

    Raises:
        InvalidAnswer: a row that is no category; only its index is told.
        InvalidRequest: columns for other attributes than the design has, or of different lengths.

    Example:
        >>> from deniable.designs import product, warner
        >>> both = product({"smokes": warner(1), "drinks": warner(2)})
        >>> join_attributes(both, {"smokes": ["no", "yes"], "drinks": ["yes", "yes"]}).codes.tolist()
        [1, 3]
    """
    check_attributes(design.attributes, columns)
    read = [
        _read_in_range(part, columns[attribute], codes)
        for attribute, part in design.factors
    ]
    if len({len(absent) for _, absent in read}) > 1:
        raise InvalidAnswer(
            "the columns differ in length; expected an answer to each attribute in every row."
        )
    joint = np.zeros(len(read[0][1]), np.int64)
    missing = np.logical_or.reduce([absent for _, absent in read])
    for (_, part), (answers, absent) in zip(design.factors, read, strict=True):
        joint *= part.channel.answers
        joint[~absent] += answers.astype(np.int64)
    return AnswerColumn(joint[~missing], missing if missing.any() else None)


def _read_in_range(
    design: Design, column: object, codes: bool | None
) -> tuple[AnswerCodes, Missing]:
    """Read a column of answers, all of them in range, and which are missing."""
    answers, missing = read_answers(design, column, codes=codes)
    if not in_range(answers, design.channel.answers):
        raise out_of_range(design, answers, missing)
    return answers, np.zeros(len(answers), np.bool_) if missing is None else missing


def check_attributes(attributes: Sequence[str], columns: Any) -> None:
    """Refuse columns for other attributes; a frame may hold others besides.

    Raises:
        InvalidRequest: one is missing or unknown.
    """
    is_mapping = isinstance(columns, Mapping)
    names = list(columns if is_mapping else _frame_names(columns))
    unknown = set(names) - set(attributes) if is_mapping else set()
    if unknown or not set(attributes) <= set(names) or not attributes:
        raise InvalidRequest(
            f"there are columns for {', '.join(map(repr, names))}; expected one for each attribute of the design: "
            f"{', '.join(map(repr, attributes)) or 'it has one only'}."
        )


def _frame_names(frame: Any) -> Iterable[str]:
    names: Iterable[str] = getattr(frame, "column_names", None) or frame.columns
    return names


def is_frame(answers: object) -> bool:
    """Tell whether something is a frame of pandas or Polars or a table of Arrow."""
    return hasattr(answers, "column_names") or (
        hasattr(answers, "columns") and hasattr(answers, "__getitem__")
    )


class _Reader:
    """One column being read.

    Attributes:
        missing: which rows have no answer; None where all have one.
    """

    def __init__(self, design: Design, codes: bool | None) -> None:
        self.design = design
        self.codes = codes
        self.missing: Missing | None = None

    def numpy(self, array: NDArray[Any]) -> AnswerCodes:
        if array.ndim != 1:
            raise InvalidAnswer(
                f"the array has {array.ndim} dimensions; expected one, with an answer in each place.",
                "Use array.ravel() where every cell is an answer.",
            )
        if isinstance(array, np.ma.MaskedArray):
            self.leave_out(np.ma.getmaskarray(array))
            array = array.compressed()
        if array.dtype.kind in "iuf":
            return self.numbers(array)
        if array.dtype.kind == "b":
            self.refuse_booleans()
        column = arrow.to_arrow(array) if array.dtype.kind in "OU" else None
        return (
            self.objects(array.tolist()) if column is None else self.column(column)
        )

    def column(self, column: pa.ChunkedArray[Any]) -> AnswerCodes:
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_struct(column.type) and column.type.num_fields == 1:
            column = pc.struct_field(column, [0])
        if column.null_count:
            self.leave_out(column.is_null().to_numpy())
            # As Polars exports text, and Arrow cannot filter.
            view = pa.types.is_string_view(column.type)
            column = (column.cast(pa.string()) if view else column).drop_null()
        if isinstance(column.type, pa.ExtensionType):
            column = column.cast(column.type.storage_type)
        kind = column.type
        if len(column) == 0:
            return np.empty(0, np.uint8)
        if arrow.is_text(kind) or pa.types.is_dictionary(kind):
            return self.labels(column)
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            return self.numbers(column.to_numpy())
        if pa.types.is_boolean(kind):
            self.refuse_booleans()
        if pa.types.is_struct(kind):
            raise InvalidAnswer(
                f"the answers are a table of {kind.num_fields} columns; expected one column, or a design with an "
                "attribute for each.",
                'Hand over one of them, for example frame["answer"].',
            )
        raise InvalidAnswer(
            f"the answers are of type {kind}; expected labels (text) or codes (whole numbers)."
        )

    def labels(self, column: pa.ChunkedArray[Any]) -> AnswerCodes:
        """Read text by its distinct values; those that no row uses are not even looked at."""
        read: list[NDArray[np.int64]] = []
        rows = 0
        for chunk in column.chunks:
            encoded: Any = (
                chunk if hasattr(chunk, "indices") else chunk.dictionary_encode()
            )
            values = encoded.dictionary.to_pylist()
            numbers = np.array(
                [self.one(value) for value in values] or [-1], np.int64
            )
            read.append(numbers[encoded.indices.to_numpy()])
            self.refuse_where(read[-1] < 0, after=rows)
            rows += len(chunk)
        return np.concatenate(read)

    def numbers(self, array: NDArray[Any]) -> AnswerCodes:
        """Read whole numbers, stored as integers or as floats in which NaN stands for nothing."""
        if array.dtype.kind == "f":
            gaps = np.isnan(array)
            if gaps.any():
                self.leave_out(gaps)
                array = array[~gaps]
            # An infinity becomes some integer, and is found by the comparison.
            with np.errstate(invalid="ignore"):
                integers = array.astype(np.int64)
            self.refuse_where(integers != array)
            array = integers
        if self.codes is False:
            values, inverse = np.unique(array, return_inverse=True)
            numbers = [self.number(str(value)) for value in values.tolist()]
            array = np.array(numbers, np.int64)[inverse]
            self.refuse_where(array < 0)
            return array
        self.settle_codes()
        return array

    def objects(self, rows: Sequence[Any]) -> AnswerCodes:
        """Return the codes of Python objects of several kinds; absent rows are noted and left out."""
        absent = np.fromiter(map(is_absent, rows), np.bool_, len(rows))
        if absent.any():
            self.leave_out(absent)
            rows = [row for row in rows if not is_absent(row)]
        numbers = np.fromiter(map(self.one, rows), np.int64, len(rows))
        self.refuse_where(numbers < 0)
        return numbers

    def one(self, row: object) -> int:
        """Return the number of the category that a label or a code stands for, or −1."""
        if not isinstance(row, int | np.integer) or isinstance(row, bool):
            return self.number(row)
        if self.codes is False:
            return self.number(str(row))
        self.settle_codes()
        return int(row) if 0 <= row < self.design.channel.answers else -1

    def number(self, label: object) -> int:
        """Return the number of a category, or −1."""
        if not isinstance(label, str | Mapping):
            return -1
        try:
            return self.design.category_number(label)
        except InvalidAnswer:
            return -1

    def leave_out(self, absent: Missing) -> None:
        """Note that some of the rows that were not left out before have no answer."""
        if self.missing is None:
            self.missing = absent.copy()
        else:
            self.missing[~self.missing] = absent

    def settle_codes(self) -> None:
        """Make sure that a whole number cannot mean two categories."""
        if self.codes is None and self.is_ambiguous:
            raise InvalidAnswer(
                "these answers are whole numbers, and so are the categories of this design, in another order; "
                "expected to know whether they are labels or codes.",
                "Pass codes=False where 1 means the category '1', and codes=True where it means the second category.",
            )

    @cached_property
    def is_ambiguous(self) -> bool:
        """Whether a whole number is the label of one category and the code of another."""
        return are_renumbered(self.design.categories)

    def refuse_booleans(self) -> NoReturn:
        first, second = self.design.categories[0], self.design.categories[1]
        raise InvalidAnswer(
            "the answers are booleans; expected labels or codes, because True does not say which category it means.",
            f"Write the labels, for example numpy.where(answers, {quoted(second)}, {quoted(first)}).",
        )

    def refuse_where(self, wrong: Flags, after: int = 0) -> None:
        if wrong.any():
            raise _refusal(self.design, after + int(wrong.argmax()), self.missing)


def in_range(codes: AnswerCodes, size: int) -> bool:
    """Tell whether all codes are at least 0 and below a size."""
    if codes.dtype.kind == "i":  # negative numbers are the largest unsigned ones
        codes = codes.view(codes.dtype.str.replace("i", "u"))
    return codes.size == 0 or int(codes.max()) < size


def out_of_range(
    design: Design, codes: AnswerCodes, missing: Missing | None = None
) -> InvalidAnswer:
    """Return the error for codes that are not all in range; the codes are those of rows that are not missing."""
    wrong = (codes < 0) | (codes >= design.channel.answers)
    return _refusal(design, int(wrong.argmax()), missing)


def _refusal(design: Design, row: int, missing: Missing | None) -> InvalidAnswer:
    index = row if missing is None else int(np.flatnonzero(~missing)[row])
    return InvalidAnswer(
        f"the answer at index {index:,} is not one of the design's; expected a label among "
        f"{format_labels(design.categories)}, or a code from 0 to {design.channel.answers - 1:,}."
    )


def is_sequence(answers: object) -> bool:
    """Tell whether something is a list or the like, and no text."""
    return isinstance(answers, Sequence) and not isinstance(
        answers, str | bytes | bytearray
    )


def tally(
    design: Design,
    responses: object,
    *,
    codes: bool | None = None,
    threads: int = 1,
    fast: bool | None = None,
) -> Tally:
    """Count responses, on this machine.

    An array of integers holds codes or packed rows, as `draw_all` returns them. Everything else (labels, columns of
    pandas, Polars or Arrow, arrays with gaps) is counted as `deniable.tally` counts it.

    Args:
        design: what the responses were drawn with.
        responses: what was sent.
        codes: what whole numbers are in what is counted as `deniable.tally` counts it.
        threads: how many to count on; more than one helps compiled kernels only.
        fast: True to demand compiled kernels, False to do without; by default they are used where Numba is
            installed and either loaded already or worth loading.

    Raises:
        InvalidResponse: something the design cannot send; the message names the first such row.
        MissingExtra: compiled kernels are demanded and Numba is not installed.

    Example:
        >>> from deniable.designs import warner
        >>> tally(warner(epsilon=1), np.array([1, 0, 1, 1], np.uint8)).counts
        array([1, 3])
    """
    check_threads(threads)
    coding = design.channel.coding
    if codes is False or not _is_unmasked(responses, coding.ndim):
        return tally_any(design, responses, codes=codes)
    rows = coding.read(responses)
    try:
        counts = _count(coding, rows, threads, choose_backend(fast, rows.size))
    except OverflowError:  # a response is none: the slower count finds its row
        return tally_any(design, rows, codes=True)
    return Tally(design, counts, respondents=len(rows))


def _count(
    coding: Coding, rows: NDArray[Any], threads: int, backend: Backend
) -> Counts:
    """Return the counts of the cells of a tally.

    Raises:
        OverflowError: a row is seen to be no response.
    """
    step = max(1, _COUNTED * 8 // rows.shape[1] if rows.ndim > 1 else _COUNTED)
    if len(rows) <= step:
        return backend.count(coding, rows)
    counts, lock = np.zeros(coding.channel.cells, np.int64), Lock()

    def count_some(start: int) -> None:
        more = backend.count(coding, rows[start : start + step])
        with lock:
            counts[:] += more

    with workers(threads) as run:
        run(count_some, range(0, len(rows), step))
    return counts


def _is_unmasked(responses: object, ndim: int) -> bool:
    if not isinstance(responses, np.ndarray) or np.ma.isMaskedArray(responses):
        return False
    kinds = "biu" if ndim > 1 else "iu"
    return responses.ndim == ndim and responses.dtype.kind in kinds


def tally_stream(
    design: Design,
    chunks: Iterable[Any],
    *,
    threads: int = 1,
    fast: bool | None = None,
) -> Tally:
    """Count columns of responses as they come.

    Raises:
        InvalidResponse: something the design cannot send; the message names the first such row of its column.

    Example:
        >>> from deniable.designs import warner
        >>> design = warner(epsilon=1)
        >>> answers = ([0, 1] for _ in range(10))
        >>> tally_stream(design, draw_stream(design, answers)).respondents
        20
    """
    check_threads(threads)
    parts = (tally(design, chunk, threads=threads, fast=fast) for chunk in chunks)
    return sum(parts, Tally.empty(design))

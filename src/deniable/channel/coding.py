"""Encodings of responses in the rows of an array; `channel.coding` returns the one of a channel.

    coding.space(rows)               an array for so many responses, not filled in
    coding.pack(numbers)             numbers of responses → array
    coding.unpack(array)             array → numbers of responses
    coding.read(given)               what somebody hands over → array; refuses another shape or type
    coding.impossible(array)         the index of the first row that the channel never sends, or None
    coding.checked(given)            both of them: an array of the coding's own type that holds responses alone
    coding.count(array)              array → counts of the cells of a tally
    coding.count_into(counts, array) the same, added to counts that are there
    coding.count_few(array)          the same, as the cells that rise and by how much
    coding.add_up(counts, n)         whether counts can come from n responses
    coding.shapes, .count_shapes     what `attacks.doubts` wants to know of a response besides its cells
    coding.width, .to_bytes, .from_bytes    rows of bytes, as a database keeps them
    coding.to_arrow, .from_arrow     columns of Arrow: codes, or binary values of a fixed size
    coding.labels(array, symbols)    the labels of the responses, as a column of Arrow
    coding.describe(), .show(row)    what a response looks like, and one of them, for messages

There are four: `Coding`, an unsigned integer for each response; `LongCodes`, where there are too many for that;
`PackedRows`, a bit for each category; and `PackedPatterns`, such bits for each level. A new kind of channel has the
first unless it says otherwise. NumPy is loaded with this module, so that a channel asks for it only when its coding is
wanted: respondents draw one response, and load the standard library alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.channel.base import Channel
from deniable.channel.patterns import Patterns
from deniable.channel.sets import Sets
from deniable.errors import InvalidRequest, InvalidResponse

Rows: TypeAlias = NDArray[np.uint8]
"""Bytes, a row for each response."""

Counts: TypeAlias = NDArray[np.int64]

GROUP = 255
"""Packed rows whose bits fit into a byte for each category."""

SPREAD: NDArray[np.uint64] = (
    np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    .view("<u8")
    .astype(np.uint64)[:, 0]
)
"""For each byte its eight bits, each in a byte of its own: adding such words counts eight categories at a time."""

# packed rows that are spread out at a time: 128 KB for every eight categories
_SPREAD_ROWS = 1 << 14
# codes that are widened at a time: half a megabyte, which stays in the cache
_WIDENED_CODES = 1 << 16
_PAIRED_BYTES = 1 << 17  # from so many bytes on it pays to count them two at a time
_EXAMPLE_CATEGORIES = 20  # categories up to which a message shows an example
# symbols up to which all labels are written, whether or not they occur
_LISTED_LABELS = 1 << 12


@dataclass(frozen=True)
class Coding:
    """Encoding of the responses of a channel in the rows of an array: by default the number of each.

    Numbers are unsigned integers of the smallest type that holds all of them.
    """

    channel: Channel
    ndim: ClassVar[int] = 1

    def space(self, rows: int) -> NDArray[Any]:
        """Return an array for so many responses, not filled in.

        Raises:
            InvalidRequest: no array holds responses of this channel.
        """
        return np.empty(rows, code_type(self.channel.responses))

    def pack(self, numbers: Sequence[int]) -> NDArray[Any]:
        """Return responses, given by number, as an array."""
        return np.array(numbers, code_type(self.channel.responses))

    def unpack(self, array: NDArray[Any]) -> list[int]:
        """Return the numbers of the responses in an array."""
        numbers: list[int] = array.tolist()
        return numbers

    def read(self, values: object) -> NDArray[Any]:
        """Return input as an array of responses, without checking which responses they are.

        Raises:
            InvalidResponse: of another shape or type.
        """
        array = np.asarray(values)
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise InvalidResponse(
                f"the codes are of shape {array.shape} and type {array.dtype}; expected one row of integers, "
                f"each from 0 to {self.channel.responses - 1:,}."
            )
        return array

    def impossible(self, array: NDArray[Any]) -> int | None:
        """Return the index of the first row that the channel never sends, if there is one."""
        if (
            len(array)
            and not 0
            <= int(array.min())
            <= int(array.max())
            < self.channel.responses
        ):
            return int(((array < 0) | (array >= self.channel.responses)).argmax())
        if type(self.channel).possible is Channel.possible:
            return None
        distinct, first = np.unique(array, return_index=True)
        wrong = [
            index
            for number, index in zip(distinct.tolist(), first, strict=True)
            if not self.channel.possible(number)
        ]
        return int(min(wrong)) if wrong else None

    def checked(self, values: object) -> NDArray[Any]:
        """Return input as an array like that of `space`, after a check of every row.

        Raises:
            InvalidResponse: of another shape or type, or a response that the channel never sends.
        """
        array = self.read(values)
        wrong = self.impossible(array)
        if wrong is not None:
            raise InvalidResponse(
                f"the response at index {wrong:,} is one that this design never sends; expected {self.describe()}."
            )
        return array.astype(self.space(0).dtype, copy=False)

    def count(self, array: NDArray[Any]) -> Counts:
        """Return the counts of the cells of a tally; the rows must be possible."""
        counts = np.zeros(self.channel.cells, np.int64)
        self.count_into(counts, array)
        return counts

    def count_into(self, counts: Counts, array: NDArray[Any]) -> None:
        """Add responses to the counts of the cells of a tally; the rows must be possible.

        Raises:
            OverflowError: one of them is seen not to be. It need not be looked for.
        """
        if not self.channel.own_cells:
            distinct, times = np.unique(array, return_counts=True)
            for number, count in zip(distinct.tolist(), times.tolist(), strict=True):
                counts[list(self.channel.cells_of(number))] += count
        elif array.dtype == np.uint8 and len(array) >= _PAIRED_BYTES:
            counts += _count_bytes(np.ascontiguousarray(array), len(counts))
        else:
            _count_codes(counts, array)

    def numbers(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return the numbers of responses as an array of integers."""
        return array

    def count_few(self, array: NDArray[Any]) -> tuple[Counts, Counts]:
        """Return the indices of the nonzero cells of a tally, and their counts; the rows must be possible."""
        if self.channel.own_cells:
            numbers, counts = np.unique(self.numbers(array), return_counts=True)
            return numbers.astype(np.int64), counts
        counts = self.count(array)
        cells = np.flatnonzero(counts)
        return cells, counts[cells]

    def add_up(self, counts: Counts, respondents: int) -> bool:
        """Whether counts can come from so many responses."""
        if self.channel.own_cells:
            return int(counts.sum()) == respondents
        return int(counts.max(initial=0)) <= respondents

    @property
    def shapes(self) -> int:
        """Number of response shapes that `attacks.doubts` distinguishes; 0 where the cells of a tally suffice."""
        return 0

    def count_shapes(self, array: NDArray[Any]) -> Counts:  # noqa: ARG002 - for those that have shapes
        """Return the number of rows of each shape."""
        return np.zeros(self.shapes, np.int64)

    @property
    def width(self) -> int:
        """The bytes of a response: its number, lowest byte first."""
        return max(1, ((self.channel.responses - 1).bit_length() + 7) // 8)

    def to_bytes(self, array: NDArray[Any]) -> Rows:
        """Return responses as rows of `width` bytes."""
        return np.ascontiguousarray(
            array.astype("<u8")
            .view(np.uint8)
            .reshape(len(array), 8)[:, : self.width]
        )

    def from_bytes(self, rows: Rows) -> NDArray[Any]:
        """Return rows of bytes, as `to_bytes` writes them, as an array of responses."""
        return to_integers(rows).astype(code_type(self.channel.responses))

    def to_arrow(
        self, array: NDArray[Any], present: NDArray[np.bool_] | None = None
    ) -> Any:
        """Return responses as a column of Arrow; `present` tells which rows are there, if not all."""
        import pyarrow as pa

        return pa.array(array, mask=None if present is None else ~present)

    def from_arrow(self, column: Any) -> NDArray[Any]:
        """Return a column of Arrow without nulls as an array of responses, as `read` does.

        Raises:
            InvalidResponse: of a type that `to_arrow` does not give.
        """
        import pyarrow as pa

        if not pa.types.is_integer(column.type):
            raise InvalidResponse(
                f"the codes are of type {column.type}; expected whole numbers, those of symbols."
            )
        return np.asarray(column.to_numpy())

    def labels(
        self,
        array: NDArray[Any],
        symbols: Sequence[str],
        present: NDArray[np.bool_] | None = None,
    ) -> Any:
        """Return the labels of responses as a dictionary-encoded column of Arrow."""
        import pyarrow as pa

        if self.channel.responses <= _LISTED_LABELS:
            distinct, indices = range(self.channel.responses), array
        else:
            used, indices = np.unique(array, return_inverse=True)
            distinct = used.tolist()
        coded: Any = pa.array(
            indices.astype(np.int32), mask=None if present is None else ~present
        )
        return pa.DictionaryArray.from_arrays(
            coded, pa.array([symbols[number] for number in distinct], pa.string())
        )

    def describe(self) -> str:
        """Return in words what a response looks like."""
        return f"a whole number from 0 to {self.channel.responses - 1:,}"

    def show(self, row: NDArray[Any]) -> object:
        """Return one row of an array for a message."""
        return int(row)


@dataclass(frozen=True)
class LongCodes(Coding):
    """Rows of bytes, for more responses than a number in an array can tell apart: the number, lowest byte first."""

    ndim: ClassVar[int] = 2

    def space(self, rows: int) -> Rows:
        return np.empty((rows, self.width), np.uint8)

    def pack(self, numbers: Sequence[int]) -> Rows:
        content = b"".join(
            number.to_bytes(self.width, "little") for number in numbers
        )
        return np.frombuffer(content, np.uint8).reshape(len(numbers), self.width)

    def unpack(self, array: NDArray[Any]) -> list[int]:
        return [int.from_bytes(row.tobytes(), "little") for row in array]

    def read(self, values: object) -> Rows:
        array = np.asarray(values)
        if array.shape[1:] != (self.width,) or array.dtype != np.uint8:
            raise InvalidResponse(
                f"the responses are of shape {array.shape} and type {array.dtype}; expected {self.width} bytes each."
            )
        return array

    def impossible(self, array: NDArray[Any]) -> int | None:
        numbers = enumerate(self.unpack(array))
        return next(
            (row for row, number in numbers if not self.channel.possible(number)),
            None,
        )

    def count_into(self, counts: Counts, array: NDArray[Any]) -> None:
        for number in self.unpack(array):
            counts[list(self.channel.cells_of(number))] += 1

    def to_bytes(self, array: NDArray[Any]) -> Rows:
        return np.ascontiguousarray(array)

    def from_bytes(self, rows: Rows) -> NDArray[Any]:
        return rows


@dataclass(frozen=True)
class PackedRows(LongCodes):
    """Sets of categories as packed bits: bit j of byte i is category 8i + j.

    Read as one little-endian integer, a row is the number of its response. Bits behind the last category are 0.
    """

    channel: Sets | Patterns

    def read(self, values: object) -> Rows:
        """Return packed rows: given as such, or as a 0 or 1 for each category.

        Raises:
            InvalidResponse: of another shape or type.

        Example:
            >>> from deniable.designs import unary
            >>> unary(3, epsilon=1).channel.coding.read(np.array([[0, 1, 1]]))
            array([[6]], dtype=uint8)
        """
        array = np.asarray(values)
        if (
            array.ndim == 2
            and array.shape[1] == self.width
            and array.dtype == np.uint8
        ):
            return array
        if (
            array.ndim != 2
            or array.shape[1] != self.channel.n_bits
            or array.dtype.kind not in "biu"
        ):
            raise InvalidResponse(
                f"the responses are an array of shape {array.shape} and type {array.dtype}; expected {self.width} "
                f"bytes of packed bits for each, or a 0 or 1 for each of {self.channel.n_bits:,} bits.",
                "Packed rows are what engines.local.draw_all returns: numpy.packbits(bits, axis=1, bitorder='little').",
            )
        if (
            array.dtype.kind != "b"
            and array.size
            and not 0 <= int(array.min()) <= int(array.max()) <= 1
        ):
            raise InvalidResponse(
                "a response holds a number other than 0 and 1; expected one of these for each category."
            )
        return np.packbits(array.astype(np.bool_), axis=1, bitorder="little")

    def impossible(self, array: NDArray[Any]) -> int | None:
        size, sizes = self.channel.size, self.channel.sizes
        wrong: NDArray[np.bool_] = np.zeros(len(array), np.bool_)
        if size % 8:
            wrong |= array[:, -1] >> np.uint8(size % 8) > 0
        if len(sizes) <= size:
            allowed = np.zeros(8 * self.width + 1, np.bool_)
            allowed[list(sizes)] = True
            wrong |= ~allowed[set_sizes(array)]
        return int(wrong.argmax()) if wrong.any() else None

    def count_into(self, counts: Counts, array: NDArray[Any]) -> None:
        size = self.channel.size
        for start in range(0, len(array), _SPREAD_ROWS):
            chunk = array[start : start + _SPREAD_ROWS]
            if self.channel.own_cells:
                counts += np.bincount(self.numbers(chunk), minlength=len(counts))
            elif self.channel.by_size:
                self._count_by_size(counts.reshape(-1, size + 1), chunk)
            else:
                counts += count_bits(chunk)[:size]

    def _count_by_size(self, table: Counts, rows: Rows) -> None:
        sizes = set_sizes(rows)
        order = np.argsort(sizes, kind="stable")
        present, starts = np.unique(sizes[order], return_index=True)
        for size, group in zip(
            present.tolist(), np.split(order, starts[1:]), strict=True
        ):
            size_index = self.channel.sizes.index(size)
            table[size_index, 0] += len(group)
            table[size_index, 1:] += count_bits(rows[group])[: self.channel.size]

    def numbers(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return the numbers of sets of at most eight bytes."""
        return to_integers(array).astype(np.int64)

    def add_up(self, counts: Counts, respondents: int) -> bool:
        sizes = self.channel.sizes
        if self.channel.own_cells:
            return super().add_up(counts, respondents)
        if not self.channel.by_size:
            within = (
                sizes[0] * respondents
                <= int(counts.sum())
                <= sizes[-1] * respondents
            )
            return within and int(counts.max()) <= respondents
        table = counts.reshape(-1, self.channel.size + 1)
        responses, members = table[:, 0], table[:, 1:]
        right = (members.sum(axis=1) == np.array(sizes) * responses) & (
            members.max(axis=1) <= responses
        )
        return int(responses.sum()) == respondents and bool(right.all())

    @property
    def shapes(self) -> int:
        """Number of possible set sizes, from 0 to all categories."""
        return self.channel.size + 1

    def count_shapes(self, array: NDArray[Any]) -> Counts:
        return np.bincount(set_sizes(array), minlength=self.shapes)

    def to_arrow(
        self, array: NDArray[Any], present: NDArray[np.bool_] | None = None
    ) -> Any:
        column = _to_binary_column(array, self.width)
        return column if present is None else _mask_column(column, present)

    def from_arrow(self, column: Any) -> Rows:
        import pyarrow as pa

        if column.type != pa.binary(self.width):
            raise InvalidResponse(
                f"the codes are of type {column.type}; expected fixed_size_binary[{self.width}]."
            )
        array: Any = (
            column.combine_chunks()
            if isinstance(column, pa.ChunkedArray)
            else column
        )
        start = array.offset * self.width
        content = np.frombuffer(array.buffers()[1], np.uint8)
        return content[start : start + len(array) * self.width].reshape(
            -1, self.width
        )

    def labels(
        self,
        array: NDArray[Any],
        symbols: Sequence[str],  # noqa: ARG002 - the bits are the labels
        present: NDArray[np.bool_] | None = None,
    ) -> Any:
        import pyarrow as pa

        size = self.channel.n_bits
        text = np.full((len(array), size + 1), ord("b"), np.uint8)
        text[:, 1:] = np.unpackbits(array, axis=1, bitorder="little")[
            :, :size
        ] + ord("0")
        written = (
            _to_binary_column(text, size + 1).cast(pa.binary()).cast(pa.string())
        )
        return (
            written if present is None else _mask_column(written, present)
        ).dictionary_encode()

    def describe(self) -> str:
        """Return in words what a response looks like.

        Example:
            >>> from deniable.designs import subset
            >>> subset(4, epsilon=1, t=2).channel.coding.describe()
            "the letter b and 4 digits 0 or 1, of which 2 are 1, as in 'b1100'"
        """
        size, sizes = self.channel.size, self.channel.sizes
        text = f"the letter b and {size:,} digits 0 or 1"
        if len(sizes) <= size:
            size_text = (
                f"{sizes[0]:,}"
                if len(sizes) == 1
                else f"{sizes[0]:,} to {sizes[-1]:,}"
            )
            text += f", of which {size_text} are 1"
        if size > _EXAMPLE_CATEGORIES:
            return text
        return f"{text}, as in 'b{'1' * sizes[0]}{'0' * (size - sizes[0])}'"

    def show(self, row: NDArray[Any]) -> object:
        return f"0x{row.tobytes().hex()}"


class PackedPatterns(PackedRows):
    """Nested sets of categories as packed bits, one set after the other."""

    channel: Patterns

    def impossible(self, array: NDArray[Any]) -> int | None:
        wrong: NDArray[np.bool_] = np.zeros(len(array), np.bool_)
        for start in range(0, len(array), _SPREAD_ROWS):
            chunk = array[start : start + _SPREAD_ROWS]
            wrong[start : start + len(chunk)] = self._parts(chunk) < 0
        if (spare := self.channel.n_bits % 8) != 0:
            wrong |= array[:, -1] >> np.uint8(spare) > 0
        return int(wrong.argmax()) if wrong.any() else None

    def _parts(self, rows: Rows) -> NDArray[np.intp]:
        """Return the index of the pattern of each row, or -1 for one that is never sent."""
        size, bits = self.channel.size, self.channel.n_bits
        sets = np.unpackbits(rows, axis=1, count=bits, bitorder="little").reshape(
            len(rows), -1, size
        )
        shapes = sets.sum(axis=2, dtype=np.int64)[:, None]
        fits = (shapes == np.array(self.channel.shapes)).all(axis=2)
        is_nested = (sets[:, 1:] <= sets[:, :-1]).all(axis=(1, 2))
        return np.where(fits.any(axis=1) & is_nested, fits.argmax(axis=1), -1)

    def count_into(self, counts: Counts, array: NDArray[Any]) -> None:
        table = counts.reshape(-1, self.channel.n_bits + 1)
        for start in range(0, len(array), _SPREAD_ROWS):
            chunk = array[start : start + _SPREAD_ROWS]
            parts = self._parts(chunk)
            for part in np.unique(parts).tolist():
                group = chunk[parts == part]
                table[part, 0] += len(group)
                table[part, 1:] += count_bits(group)[: self.channel.n_bits]

    def add_up(self, counts: Counts, respondents: int) -> bool:
        table = counts.reshape(-1, self.channel.n_bits + 1)
        sets = table[:, 1:].reshape(len(table), -1, self.channel.size)
        sent = table[:, :1]
        right = (sets.sum(axis=2) == np.array(self.channel.shapes) * sent) & (
            sets.max(axis=2) <= sent
        )
        return int(sent.sum()) == respondents and bool(right.all())

    @property
    def shapes(self) -> int:
        return 0

    def count_shapes(self, array: NDArray[Any]) -> Counts:
        return Coding.count_shapes(self, array)

    def describe(self) -> str:
        shapes = " or ".join(
            ", ".join(f"{size:,}" for size in shape) for shape in self.channel.shapes
        )
        return (
            f"the letter b and {self.channel.n_bits:,} digits 0 or 1: for each level from 1 on one for each of "
            f"{self.channel.size:,} categories, 1 where it has this level or a higher one, of which {shapes} are 1"
        )


def code_type(size: int) -> np.dtype[np.unsignedinteger]:
    """Return the smallest unsigned type for codes below `size`.

    Raises:
        InvalidRequest: no type holds them.

    Example:
        >>> code_type(256), code_type(257)
        (dtype('uint8'), dtype('uint16'))
    """
    if size > 1 << 64:
        raise InvalidRequest(
            "this design has more than 2^64 responses, too many to be numbered in an array; expected fewer.",
            "Draw one by one with deniable.respond().",
        )
    return np.min_scalar_type(size - 1)


def to_integers(rows: Rows) -> NDArray[np.uint64]:
    """Return rows of at most eight bytes as integers, the lowest byte first."""
    wide = np.zeros((len(rows), 8), np.uint8)
    wide[:, : rows.shape[1]] = rows
    return wide.view("<u8")[:, 0]


def set_sizes(rows: Rows) -> Counts:
    """Return the number of categories in each packed row."""
    return np.asarray(np.bitwise_count(rows).sum(axis=1), np.int64)


def count_bits(rows: Rows) -> Counts:
    """Return the number of packed rows with each bit, including the padding bits."""
    even = len(rows) - len(rows) % GROUP
    unpacked = SPREAD[rows]
    groups = unpacked[:even].reshape(-1, GROUP, rows.shape[1]).sum(axis=1)
    sums = np.vstack([groups, unpacked[even:].sum(axis=0)])
    return np.asarray(sums.astype("<u8").view(np.uint8).sum(axis=0, dtype=np.int64))


def _count_codes(counts: Counts, codes: NDArray[Any]) -> None:
    """Add how often each code occurs.

    Why chunks: `np.bincount` widens its whole argument to 64 bits first; a chunk stays in the cache while it does.

    Raises:
        OverflowError: a code is out of range.
    """
    size = len(counts)
    # so that adding up the parts costs less than counting them
    step = max(_WIDENED_CODES, 4 * size)
    small = codes.dtype.kind == "u" and codes.dtype.itemsize <= 2
    for start in range(0, len(codes), step):
        chunk = codes[start : start + step].astype(np.intp, copy=False)
        # Negative numbers are the largest unsigned ones. Small codes need no look ahead: bincount grows with them.
        if not small and chunk.view(np.uintp).max() >= size:
            raise OverflowError
        chunk_counts = np.bincount(chunk)
        if len(chunk_counts) > size:
            raise OverflowError
        counts[: len(chunk_counts)] += chunk_counts


def _count_bytes(codes: NDArray[np.uint8], size: int) -> Counts:
    """Count bytes in pairs: each of the 65,536 pairs adds to both of its bytes.

    Raises:
        OverflowError: a code is out of range.
    """
    pairs = np.zeros(1 << 16, np.int64)
    even = len(codes) - len(codes) % 2
    _count_codes(pairs, codes[:even].view(np.uint16))
    table = pairs.reshape(256, 256)
    single = table.sum(axis=0) + table.sum(axis=1)
    if even < len(codes):
        single[codes[-1]] += 1
    if single[size:].any():
        raise OverflowError
    counts = np.zeros(size, np.int64)
    counts[: min(size, 256)] = single[:size]
    return counts


def _to_binary_column(rows: Rows, width: int) -> Any:
    """Return rows of bytes as a column of Arrow."""
    import pyarrow as pa

    content: Any = np.ascontiguousarray(rows)
    return pa.Array.from_buffers(
        pa.binary(width), len(rows), [None, pa.py_buffer(content)]
    )


def _mask_column(column: Any, present: NDArray[np.bool_]) -> Any:
    """Return a column of Arrow with nulls where nothing is present."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(pa.array(present), column, pa.scalar(None, column.type))

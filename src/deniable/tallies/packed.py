"""Sets of categories → counts: packed bits added up without unpacking them.

Many responses travel as packed rows: bit j of byte i is category 8i + j, so that a row, read as one little-endian
integer, is the number of its response. Bits behind the last category are 0.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.channel import Sets
from deniable.errors import InvalidResponse

Rows: TypeAlias = NDArray[np.uint8]

GROUP = 255
"""Rows whose bits fit into a byte for each category."""

_ROWS = 1 << 14  # rows that are spread out at a time
_SHORT = 20  # categories up to which a message shows an example
_PENDING = 1 << 12  # single responses that are held back to be counted together

SPREAD: NDArray[np.uint64] = (
    np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    .view("<u8")
    .astype(np.uint64)[:, 0]
)
"""For each byte its eight bits, each in a byte of its own: adding such words counts eight categories at a time."""


def width(channel: Sets) -> int:
    """Return the bytes in a packed row."""
    return (channel.size + 7) // 8


def pack(channel: Sets, responses: NDArray[Any]) -> Rows:
    """Return responses as packed rows: given as such, or as a 0 or 1 for each category.

    Raises:
        InvalidResponse: of another shape or type.

    Example:
        >>> from deniable.designs import unary
        >>> pack(unary(3, epsilon=1).channel, np.array([[0, 1, 1]]))
        array([[6]], dtype=uint8)
    """
    shape = responses.shape
    if len(shape) == 2 and shape[1] == width(channel) and responses.dtype == np.uint8:
        return responses
    if len(shape) != 2 or shape[1] != channel.size or responses.dtype.kind not in "biu":
        raise InvalidResponse(
            f"the responses are an array of shape {shape} and type {responses.dtype}; expected {width(channel)} bytes "
            f"of packed bits for each, or a 0 or 1 for each of {channel.size:,} categories.",
            "Packed rows are what engines.local.draw_all returns: numpy.packbits(bits, axis=1, bitorder='little').",
        )
    if responses.dtype.kind != "b" and responses.size and not 0 <= int(responses.min()) <= int(responses.max()) <= 1:
        raise InvalidResponse("a response holds a number other than 0 and 1; expected one of these for each category.")
    return np.packbits(responses.astype(np.bool_), axis=1, bitorder="little")


def impossible(channel: Sets, rows: Rows) -> int | None:
    """Return the first row that the channel never sends, if there is one."""
    wrong: NDArray[np.bool_] = np.zeros(len(rows), np.bool_)
    if channel.size % 8:
        wrong |= rows[:, -1] >> np.uint8(channel.size % 8) > 0
    if len(channel.sizes) <= channel.size:
        allowed = np.zeros(8 * width(channel) + 1, np.bool_)
        allowed[list(channel.sizes)] = True
        wrong |= ~allowed[ones(rows)]
    return int(wrong.argmax()) if wrong.any() else None


def ones(rows: Rows) -> NDArray[np.int64]:
    """Return how many categories each row holds."""
    return np.asarray(np.bitwise_count(rows).sum(axis=1), np.int64)


def count(channel: Sets, rows: Rows) -> NDArray[np.int64]:
    """Return the counts of the cells of a tally; the rows must be possible."""
    counts = np.zeros(channel.cells, np.int64)
    for start in range(0, len(rows), _ROWS):
        piece = rows[start : start + _ROWS]
        if channel.by_size:
            _count_by_size(channel, piece, counts.reshape(-1, channel.size + 1))
        else:
            counts += columns(piece)[: channel.size]
    return counts


def columns(rows: Rows) -> NDArray[np.int64]:
    """Return how many rows have each bit, also those behind the last category."""
    even = len(rows) - len(rows) % GROUP
    spread = SPREAD[rows]
    groups = spread[:even].reshape(-1, GROUP, rows.shape[1]).sum(axis=1)
    sums = np.vstack([groups, spread[even:].sum(axis=0)])
    return np.asarray(sums.astype("<u8").view(np.uint8).sum(axis=0, dtype=np.int64))


def _count_by_size(channel: Sets, rows: Rows, table: NDArray[np.int64]) -> None:
    sizes = ones(rows)
    order = np.argsort(sizes, kind="stable")
    present, starts = np.unique(sizes[order], return_index=True)
    for size, group in zip(present.tolist(), np.split(order, starts[1:]), strict=True):
        at = channel.sizes.index(size)
        table[at, 0] += len(group)
        table[at, 1:] += columns(rows[group])[: channel.size]


def add_up(channel: Sets, counts: NDArray[np.int64], respondents: int) -> bool:
    """Whether counts can come from so many responses."""
    fewest, most = channel.sizes[0], channel.sizes[-1]
    if not channel.by_size:
        return fewest * respondents <= int(counts.sum()) <= most * respondents
    table = counts.reshape(-1, channel.size + 1)
    sent, members = table[:, 0], table[:, 1:]
    right = (members.sum(axis=1) == np.array(channel.sizes) * sent) & (members.max(axis=1) <= sent)
    return int(sent.sum()) == respondents and bool(right.all())


def described(channel: Sets) -> str:
    """Return in words what a response looks like.

    Example:
        >>> from deniable.designs import subset
        >>> described(subset(4, epsilon=1, t=2).channel)
        "the letter b and 4 digits 0 or 1, of which 2 are 1, as in 'b1100'"
    """
    sizes, text = channel.sizes, f"the letter b and {channel.size:,} digits 0 or 1"
    if len(sizes) <= channel.size:
        which = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
        text += f", of which {which} are 1"
    if channel.size > _SHORT:
        return text
    return f"{text}, as in 'b{'1' * sizes[0]}{'0' * (channel.size - sizes[0])}'"


class Pending:
    """Single responses, held back until there are enough of them to be worth counting together."""

    def __init__(self, channel: Sets, counts: NDArray[np.int64]) -> None:
        self._channel = channel
        self._pending: list[bytes] = []
        self._counts = counts

    def add(self, response: int, times: int) -> None:
        """Count a response that the channel can send."""
        if times > 1:
            self._counts[list(self._channel.cells_of(response))] += times
            return
        self._pending.append(response.to_bytes(width(self._channel), "little"))
        if len(self._pending) >= _PENDING:
            self.settle()

    def settle(self) -> None:
        """Count what is held back."""
        if self._pending:
            rows = np.frombuffer(b"".join(self._pending), np.uint8).reshape(len(self._pending), -1)
            self._counts += count(self._channel, rows)
            self._pending.clear()

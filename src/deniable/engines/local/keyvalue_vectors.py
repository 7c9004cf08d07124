"""The draws of key-value designs over arrays of words, in NumPy. `keyvalue_kernels` holds the same compiled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.engines.local.edges import Edges
from deniable.engines.local.words import WordArray

Answers = NDArray[np.uint8]


def ask(words: WordArray, edges: Edges, first: int, scale: int, item: NDArray[np.int64], answers: Answers) -> None:
    """Draw an item for each of some people and round the weight of their edge to it.

    Args:
        words: a row for each person: the word that draws the item, and the word that rounds.
        edges: who has what.
        first: the number of the first person.
        scale: how many words each item owns.
        item: where the items go.
        answers: where none, + and − go.
    """
    np.floor_divide(words[:, 0], np.uint64(scale), out=item, casting="unsafe")
    np.minimum(item, edges.items - 1, out=item)  # of one item alone every word is its own, and 2^64 is no word
    wanted = (first + np.arange(len(item), dtype=np.int64)) * edges.items + item
    low, high = int(edges.start[first]), int(edges.start[first + len(item)])
    keys = edges.keys[low:high]
    if not len(keys):
        answers[:] = 0
        return
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    there = keys[at] == wanted
    rounded(words[:, 1], edges, np.where(there, low + at, -1), answers)


def rounded(words: NDArray[np.uint64], edges: Edges, edge: NDArray[np.int64], answers: Answers) -> None:
    """Round the weights of some edges, −1 for none, with a word for each."""
    if not len(edges.weight):
        answers[:] = 0
        return
    plus = (words < edges.thresholds[edge]) | (edges.weight[edge] == 1)
    answers[:] = np.where(edge < 0, 0, 2 - plus)


def place(words: NDArray[np.uint64], sizes: NDArray[np.int64], places: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return which of its places each person draws; −1 for an empty one."""
    most = np.uint64((1 << 64) - 1)
    scale = most // places + (left_over(places) == 0)
    scale[places == 1] = most  # 2^64 does not fit, and there is only one place
    drawn = np.where(places == 1, np.uint64(0), words // scale).astype(np.int64)
    return np.where(drawn < sizes, drawn, -1)


def left_over(places: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return 2^64 modulo each number: how many of the largest words are thrown away."""
    return np.asarray((np.uint64((1 << 64) - 1) % places + np.uint64(1)) % places, np.uint64)


class Bounds(NamedTuple):
    """Where the stretches of words end that send an item as it is, turned, and as nothing; all may be 2^64.

    Attributes:
        same: the end of the words that keep an item and its sign.
        turned: the end of those that keep the item alone.
        nothing: the end of those for which an item sends nothing.
        idle: the end of those for which an empty place does.
        each: how many words every other response owns.
    """

    same: int
    turned: int
    nothing: int
    idle: int
    each: int


def replace(
    words: NDArray[np.uint64], item: NDArray[np.int64], answers: Answers, out: NDArray[Any], bounds: Bounds, items: int
) -> None:
    """Keep or replace items, −1 for an empty place, with a word for each."""
    empty = item < 0
    own = 2 * item + (answers == 2)
    end = np.where(empty, np.uint64(bounds.idle & _MOST), np.uint64(bounds.nothing & _MOST))
    other = ((words - end) // np.uint64(bounds.each)).astype(np.int64)
    other += np.where(empty | (other < 2 * item), 0, 2)
    silent = np.where(empty, _below(words, bounds.idle), _below(words, bounds.nothing))
    sent = np.where(silent, 2 * items, other)
    sent = np.where(~empty & _below(words, bounds.turned), own ^ 1, sent)
    out[:] = np.where(~empty & _below(words, bounds.same), own, sent)


_MOST = (1 << 64) - 1


def _below(words: NDArray[np.uint64], bound: int) -> NDArray[np.bool_]:
    """Tell which words are below a bound, which may be 2^64 itself."""
    return words <= np.uint64(bound - 1) if bound else np.zeros(len(words), np.bool_)

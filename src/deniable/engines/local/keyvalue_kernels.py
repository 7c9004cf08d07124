"""The functions of `keyvalue_vectors` that take the time, compiled with Numba; the same words in, the same out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from deniable.engines.local.edges import Edges
from deniable.engines.local.keyvalue_vectors import Answers
from deniable.engines.local.words import WordArray

_TOP = np.uint64(1 << 63)


def ask(words: WordArray, edges: Edges, first: int, scale: int, item: NDArray[np.int64], answers: Answers) -> None:
    """Draw an item for each of some people and round the weight of their edge to it."""
    _ask(words, edges.start, edges.item, edges.weight, first, np.uint64(scale), edges.items - 1, item, answers)


def mark(words: WordArray, item: NDArray[np.int64], answers: Answers, steps: NDArray[np.uint64], out: Answers) -> None:
    """Draw a symbol for every item of each person, with a word for each.

    Args:
        words: a row for each person, a word for each item.
        item: the item that each person drew, −1 for an empty place.
        answers: its rounded weight.
        steps: for the answers none, + and − the last word that sends none, and the last that sends none or +.
        out: where the symbols go.
    """
    _mark(words, item, answers, steps, out)


def count(symbols: Answers, counts: NDArray[np.int64]) -> None:
    """Add how often each item is marked + and −."""
    _count(symbols, counts)


def _compiled(function: Any) -> Any:
    return njit(nogil=True)(function)


@_compiled
def _ask(
    words: Any, start: Any, owned: Any, weights: Any, first: Any, scale: Any, last: Any, item: Any, answers: Any
) -> None:  # pragma: no cover - compiled
    for row in range(item.size):
        wanted = min(np.int64(words[row, 0] // scale), last)
        item[row] = wanted
        low, high = start[first + row], start[first + row + 1]
        while low < high:
            middle = (low + high) // 2
            if owned[middle] < wanted:
                low = middle + 1
            else:
                high = middle
        answers[row] = 0
        if low < start[first + row + 1] and owned[low] == wanted:
            weight = weights[low]
            whole = np.int64(np.rint(weight * 9223372036854775808.0)) if weight < 1.0 else np.int64(0)
            plus = weight == 1.0 or words[row, 1] < (np.uint64(whole) ^ _TOP)
            answers[row] = 1 if plus else 2


@_compiled
def _mark(words: Any, item: Any, answers: Any, steps: Any, out: Any) -> None:  # pragma: no cover - compiled
    none, plus = steps[0, 0], steps[0, 1]
    for row in range(item.size):
        for place in range(words.shape[1]):
            word = words[row, place]
            out[row, place] = np.uint8(word > none) + np.uint8(word > plus)
        own = item[row]
        if own >= 0:
            word = words[row, own]
            out[row, own] = np.uint8(word > steps[answers[row], 0]) + np.uint8(word > steps[answers[row], 1])


@_compiled
def _count(symbols: Any, counts: Any) -> None:  # pragma: no cover - compiled
    for row in range(symbols.shape[0]):
        for place in range(symbols.shape[1]):
            symbol = symbols[row, place]
            counts[place, 0] += symbol == 1
            counts[place, 1] += symbol == 2

"""The functions of `step_vectors`, compiled with Numba; the same words in, the same responses out.

Importing this module needs the `fast` extra.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from deniable.engines.local.vectors import Codes
from deniable.engines.local.words import WordArray

if TYPE_CHECKING:
    from deniable.engines.local.keeps import Pair

_ZERO, _ONE, _HALF, _LOW = (np.uint64(number) for number in (0, 1, 32, (1 << 32) - 1))


def decide(words: WordArray, like: NDArray[np.bool_], keep: NDArray[np.bool_], yes: int, no: int) -> bool:
    """Say for each row whether its word is below the bound of its kind; return False where one is equal."""
    return bool(_decide(words, like, keep, np.uint64(yes), np.uint64(no)))


def decide_codes(words: WordArray, olds: Codes, answers: Codes, keep: NDArray[np.bool_], yes: int, no: int) -> bool:
    """Do the same where the kind is whether two codes are equal."""
    return bool(_decide_codes(words, olds, answers, keep, np.uint64(yes), np.uint64(no)))


def merge(olds: Codes, keep: NDArray[np.bool_], out: Codes) -> None:
    """Put back the old codes where they are kept."""
    _merge(olds, keep, out)


def raise_codes(block: WordArray, olds: Codes, answers: Codes, out: Codes, pair: Pair) -> bool:
    """Keep the old code or draw a fresh one, in one pass over the words; return False where one decides nothing."""
    shift = pair.divisor.bit_length() - 1
    reciprocal = ((1 << 32 + shift) - 1) // pair.divisor
    numbers = (pair.yes, pair.no, pair.divisor, reciprocal, shift, pair.size - 1)
    return bool(_raise(block, olds, answers, out, *map(np.uint64, numbers)))


def _compiled(function: Any) -> Any:
    return njit(nogil=True)(function)


@_compiled
def _decide(words: Any, like: Any, keep: Any, yes: Any, no: Any) -> Any:
    ties = 0
    for i in range(words.size):
        bound = yes if like[i] else no
        ties += words[i] == bound
        keep[i] = words[i] < bound
    return ties == 0


@_compiled
def _decide_codes(words: Any, olds: Any, answers: Any, keep: Any, yes: Any, no: Any) -> Any:
    ties = 0
    for i in range(words.size):
        bound = yes if olds[i] == answers[i] else no
        ties += words[i] == bound
        keep[i] = words[i] < bound
    return ties == 0


@_compiled
def _merge(olds: Any, keep: Any, out: Any) -> None:
    for i in range(out.size):
        out[i] = olds[i] if keep[i] else out[i]


@_compiled
def _raise(
    block: Any,
    olds: Any,
    answers: Any,
    out: Any,
    yes: Any,
    no: Any,
    divisor: Any,
    reciprocal: Any,
    shift: Any,
    last: Any,
) -> Any:
    """Divide as `kernels.divide` does, and write one more than the last category where the old code is kept.

    Why three loops: those over codes are in the width of the codes, of which more fit into a vector than of words.
    """
    ties, unlike = _ZERO, yes ^ no
    for i in range(out.size):
        out[i] = olds[i] == answers[i]
    for i in range(out.size):
        first, word = block[i, 0], block[i, 1]
        bound = no ^ (unlike & (_ZERO - np.uint64(out[i])))
        ties |= np.uint64(first == bound)
        q = (((word >> _HALF) * (reciprocal & _LOW)) >> shift) & _LOW
        q = min(q + np.uint64(word - q * divisor >= divisor), last)
        out[i] = last + _ONE if first < bound else q
    kept = out.dtype.type(last)
    for i in range(out.size):
        code = out[i]
        other = out.dtype.type(code + out.dtype.type(code >= answers[i]))
        fresh = answers[i] if code == kept else other
        out[i] = olds[i] if code > kept else fresh
    return ties == _ZERO

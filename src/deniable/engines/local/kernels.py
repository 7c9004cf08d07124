"""The functions of `vectors`, compiled with Numba; the same words in, the same responses out.

Importing this module needs the `fast` extra. Nothing is compiled before it is used, which then takes a fraction of a
second in each process: compiled code is not kept on disk, where it could go stale, be shared or be refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from deniable.engines.local.ladder import Ladder
from deniable.engines.local.vectors import Codes
from deniable.engines.local.words import WordArray

_HALF = np.uint64(32)
_LOW = np.uint64((1 << 32) - 1)
_SHORT = 1 << 34  # below this divisor the estimate of the quotient is not close enough


def flip(words: WordArray, answers: Codes, out: Codes, below: int) -> None:
    """Turn the answers 0 and 1 around where the word is below a bound of at least 1."""
    _flip(words, answers, out, np.uint64(below - 1))


def divide(words: WordArray, answers: Codes, out: Codes, divisor: int, size: int) -> None:
    """Send the q-th of the other categories with q = ⌊word / divisor⌋, or the answer where q ≥ size − 1."""
    last = np.uint64(size - 1)
    if divisor < _SHORT:
        _divide(words, answers, out, np.uint64(divisor), last)
    else:
        shift = divisor.bit_length() - 1
        reciprocal = ((1 << 32 + shift) - 1) // divisor
        _multiply(words, answers, out, np.uint64(divisor), np.uint64(reciprocal), np.uint64(shift), last)


def climb(words: WordArray, columns: NDArray[np.intp], out: NDArray[np.intp], ladder: Ladder) -> None:
    """Count the steps of a ladder's column that lie below the word, by halving."""
    _climb(words, columns, out, ladder.steps, ladder.width)


def count(codes: Codes, counts: NDArray[np.int64]) -> None:
    """Add how often each code occurs to a table of four rows, whose sum is the count; codes must be in range.

    Why four rows: equal codes in a row would each wait for the last one's count to be written.
    """
    _count(codes, counts)


def _compiled(function: Any) -> Any:
    return njit(nogil=True)(function)


@_compiled
def _flip(words: Any, answers: Any, out: Any, most: Any) -> None:
    for i in range(words.size):
        out[i] = answers[i] ^ (words[i] <= most)


@_compiled
def _divide(words: Any, answers: Any, out: Any, divisor: Any, last: Any) -> None:
    for i in range(words.size):
        q = words[i] // divisor
        answer = answers[i]
        if q >= last:
            out[i] = answer
        else:
            out[i] = q + np.uint64(q >= answer)


@_compiled
def _multiply(words: Any, answers: Any, out: Any, divisor: Any, reciprocal: Any, shift: Any, last: Any) -> None:
    """Divide by multiplying with R = ⌊(2^(32+s) − 1) / b⌋, where b has s + 1 bits, so that 2^31 ≤ R < 2^32.

    Why it is exact: e = ⌊⌊u / 2^32⌋ · R / 2^s⌋ is never above q = ⌊u / b⌋. With b ≥ 2^34 and so s ≥ 34, cutting u
    takes off at most R / 2^s ≤ 2^32 / b ≤ 1/4 and cutting R at most 2^32 · (1 + 1/b) / 2^s, hardly more than 1/4:
    so e is q or q − 1, and the remainder u − e·b tells which. No product passes 2^64.
    """
    for i in range(words.size):
        word = words[i]
        q = (((word >> _HALF) * (reciprocal & _LOW)) >> shift) & _LOW
        q += np.uint64(word - q * divisor >= divisor)
        out[i] = min(q, last)
    # A loop of its own in the width of the codes: more of them fit into a vector than words do.
    kept = out.dtype.type(last)
    for i in range(words.size):
        code = out[i]
        other = out.dtype.type(code + out.dtype.type(code >= answers[i]))
        out[i] = answers[i] if code >= kept else other


@_compiled
def _climb(words: Any, columns: Any, out: Any, steps: Any, width: Any) -> None:
    for i in range(words.size):
        start = columns[i] * width
        at = start
        half = width // 2
        while half > 0:
            at += half * (steps[at + half - 1] < words[i])
            half //= 2
        out[i] = at - start


@_compiled
def _count(codes: Any, counts: Any) -> None:
    even = codes.size - codes.size % 4
    for i in range(0, even, 4):
        counts[0, codes[i]] += 1
        counts[1, codes[i + 1]] += 1
        counts[2, codes[i + 2]] += 1
        counts[3, codes[i + 3]] += 1
    for i in range(even, codes.size):
        counts[0, codes[i]] += 1

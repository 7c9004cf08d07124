"""The draws over arrays of words, in NumPy. `kernels` holds the same functions compiled.

Each takes contiguous arrays of one length: a random word and a code for each answer. The words are scratch and may be
overwritten. Integers are compared with integers throughout.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deniable.engines.local.ladder import Ladder
from deniable.engines.local.words import WordArray

Codes = NDArray[np.unsignedinteger[Any]]


class Kernels(Protocol):
    """What `vectors` and `kernels` both offer."""

    def flip(self, words: WordArray, answers: Codes, out: Codes, below: int) -> None:
        """Turn the answers 0 and 1 around where the word is below a bound."""
        ...

    def divide(self, words: WordArray, answers: Codes, out: Codes, divisor: int, size: int) -> None:
        """Send the ⌊word / divisor⌋-th of the other categories, or the answer where there is none."""
        ...

    def climb(self, words: WordArray, columns: NDArray[np.intp], out: NDArray[np.intp], ladder: Ladder) -> None:
        """Count the steps of a ladder's column that lie below the word."""
        ...


def flip(words: WordArray, answers: Codes, out: Codes, below: int) -> None:
    """Turn the answers 0 and 1 around where the word is below a bound of at least 1."""
    # The bound may be 2^64 itself, which no word holds; one less always fits.
    np.bitwise_xor(answers, (words <= np.uint64(below - 1)).view(np.uint8), out=out)


def divide(words: WordArray, answers: Codes, out: Codes, divisor: int, size: int) -> None:
    """Send the q-th of the other categories with q = ⌊word / divisor⌋, or the answer where q ≥ size − 1."""
    np.floor_divide(words, np.uint64(divisor), out=words)
    np.minimum(words, np.uint64(size - 1), out=words)
    np.copyto(out, words, casting="unsafe")  # at most size − 1, which the type of codes holds
    send(out, answers, size)


def send(out: Codes, answers: Codes, size: int) -> None:
    """Turn q in `out`, at most size − 1, into the q-th of the other categories, or the answer where q = size − 1.

    Why the exclusive or: a masked copy stumbles over every second row where the answer is kept at random.
    """
    keep = out == out.dtype.type(size - 1)
    out += (out >= answers).view(np.uint8)
    change = out ^ answers
    change *= keep.view(np.uint8)
    out ^= change


def climb(words: WordArray, columns: NDArray[np.intp], out: NDArray[np.intp], ladder: Ladder) -> None:
    """Count the steps of a ladder's column that lie below the word, by halving."""
    start = columns * ladder.width
    at = start.copy()
    half = ladder.width // 2
    while half:
        at += half * (ladder.steps[at + (half - 1)] < words)
        half //= 2
    np.subtract(at, start, out=out)

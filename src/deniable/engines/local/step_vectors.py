"""The decisions of relaxations over arrays of words, in NumPy. `step_kernels` holds the same functions compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.engines.local.vectors import Codes
from deniable.engines.local.words import WordArray

raise_codes = None
"""One pass over the words does not pay here: every operation of NumPy is a pass of its own."""


def decide(words: WordArray, like: NDArray[np.bool_], keep: NDArray[np.bool_], yes: int, no: int) -> bool:
    """Say for each row whether its word is below the bound of its kind; return False where one may be equal.

    Why all words are compared with both bounds: that is several times quicker than to choose a bound for each.
    """
    words = np.ascontiguousarray(words)
    if (words == np.uint64(yes)).any() or (words == np.uint64(no)).any():
        return False
    if yes == no:
        np.less(words, np.uint64(yes), out=keep)
        return True
    below_no = words < np.uint64(no)
    below_no &= ~like
    below_yes = words < np.uint64(yes)
    below_yes &= like
    np.bitwise_or(below_yes, below_no, out=keep)
    return True


def decide_codes(words: WordArray, olds: Codes, answers: Codes, keep: NDArray[np.bool_], yes: int, no: int) -> bool:
    """Do the same where the kind is whether two codes are equal."""
    return decide(words, olds == answers, keep, yes, no)


def merge(olds: Codes, keep: NDArray[np.bool_], out: Codes) -> None:
    """Put back the old codes where they are kept.

    Why the exclusive or: a masked copy stumbles over every second row where it is kept at random.
    """
    change = out ^ olds
    change *= keep.view(np.uint8)
    out ^= change

"""Positions compared with the running sums of a column, many at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Steps: TypeAlias = NDArray[np.uint64]

_NEVER = (1 << 64) - 1  # no word is above it


class Ladder:
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
        self.base: NDArray[np.int64] = np.array([column.count(0) for column in columns], np.int64)
        table = np.full((len(columns), self.width), _NEVER, np.uint64)
        for row, column, zeros in zip(table, columns, self.base.tolist(), strict=True):
            row[: len(column) - zeros] = [self._step(threshold) for threshold in column[zeros:]]
        self.steps: Steps = table.reshape(-1)

    def _step(self, threshold: int) -> int:
        if self.words == 1:
            return threshold - 1
        return min(threshold >> 64 * (self.words - 1), _NEVER)

    def ties(self, heads: Steps, columns: NDArray[np.intp], passed: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the rows whose first word does not decide, given how many steps lie below it."""
        if self.words == 1:
            return np.empty(0, np.intp)
        return np.flatnonzero(self.steps[columns * self.width + passed] == heads)

    def add_base(self, passed: NDArray[np.intp], columns: NDArray[np.intp]) -> None:
        """Add the thresholds of 0, which every position passes."""
        if self.base.any():
            passed += self.base[columns]

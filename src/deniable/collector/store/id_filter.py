"""Bloom filter over the stored ids: finds ids of a batch that are certainly new without reading stored responses.

A batch of a hundred thousand has an id in nearly every pack of a question with millions of responses. So a store
of batches keeps, in memory, two bits of every id that is stored: an id with one of them unset is new, and the few
others are looked up. What another process has stored is noted first: runs have random names, and one that is not known
is read. Bits of what was erased stay; then more is looked up, and nothing is missed.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

import numpy as np
from numpy.typing import NDArray

from deniable.collector.store import packs
from deniable.collector.store.base import StoredQuestion
from deniable.collector.store.packs import Records
from deniable.db import Tables

# bits of a filter: 64 MB at most, whatever is stored
_MIN_BITS, _MAX_BITS = 1 << 20, 1 << 29
_EACH = 32  # bits for each id, where there is room for them: one of some hundred new ids is looked up
_KEPT = 4  # filters in memory at a time: those of the questions that batches came for last


class IdFilter:
    """Bloom filter with two bits for every id in some runs.

    Args:
        responses: expected number of ids.
    """

    def __init__(self, responses: int) -> None:
        n_bits = 1 << (2 * _EACH * responses).bit_length()
        self.size = max(_MIN_BITS, min(_MAX_BITS, n_bits))
        self.names: set[bytes] = set()
        self._bits = np.zeros(self.size // 8, np.uint8)

    def add_ids(self, ids: Records) -> None:
        """Add ids."""
        for half in ("high", "low"):
            words, bits = self._bit_positions(ids[half])
            np.bitwise_or.at(self._bits, words, bits)

    def find_candidates(self, ids: Records) -> NDArray[np.intp]:
        """Return the indices of ids that may have been added; all others were not."""
        (first, first_bits), (second, second_bits) = (
            self._bit_positions(ids["high"]),
            self._bit_positions(ids["low"]),
        )
        return np.flatnonzero(
            (self._bits[first] & first_bits).astype(bool)
            & (self._bits[second] & second_bits).astype(bool)
        )

    def _bit_positions(
        self, half: NDArray[np.uint64]
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
        numbers = half.astype(np.uint64) & np.uint64(self.size - 1)
        return numbers >> np.uint64(3), np.uint8(1) << (
            numbers & np.uint64(7)
        ).astype(np.uint8)


class IdFilters:
    """Filters of the questions with the latest batches. Callers have locked the survey."""

    def __init__(self) -> None:
        self._kept: OrderedDict[StoredQuestion, IdFilter] = OrderedDict()
        self._turn = threading.Lock()

    def get(self, tables: Tables, question: StoredQuestion) -> IdFilter:
        """Return the filter of a question's first stage, with all ids but those in rows of their own."""
        runs = [run for run in packs.runs(tables, question) if run.stage.number == 0]
        id_filter = self._take_cached(question, sum(run.responses for run in runs))
        for run in runs:
            if run.name not in id_filter.names:
                for ids in packs.read_id_halves(tables, run):
                    id_filter.add_ids(ids)
                id_filter.names.add(run.name)
        return id_filter

    def _take_cached(self, key: StoredQuestion, responses: int) -> IdFilter:
        with self._turn:
            id_filter = self._kept.pop(key, None)
            if id_filter is None or (
                id_filter.size < _MAX_BITS and _EACH * responses > id_filter.size
            ):
                id_filter = IdFilter(responses)
            self._kept[key] = id_filter
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
            return id_filter

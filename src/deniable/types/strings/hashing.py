"""Hashes of many strings at once: their seeds, and the bits that they set. Respondents and analysts use the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.types.strings.design import GOLDEN, MIXES, Bloom, seed_of


def seeds_of(texts: Iterable[str]) -> NDArray[np.uint64]:
    """Return the seed of each string.

    Raises:
        InvalidAnswer: no text. The message does not repeat it.
    """
    return np.fromiter((seed_of(text) for text in texts), np.uint64)


def places_of(
    bloom: Bloom, seeds: NDArray[np.uint64], cohorts: NDArray[Any] | None = None
) -> NDArray[np.int64]:
    """Return the places that strings set: a row for each seed, its hashes in all cohorts or in the one it is given.

    Args:
        bloom: how strings become bits.
        seeds: of the strings.
        cohorts: one for each seed; all of them for each, if left out.

    Returns:
        An array [seed, cohort, hash], or [seed, hash] where cohorts are given.
    """
    hashes = np.arange(1, bloom.hashes + 1, dtype=np.uint64)
    given = np.arange(bloom.cohorts) if cohorts is None else cohorts
    numbers = given.astype(np.uint64)[:, None] * np.uint64(bloom.hashes) + hashes
    starts = seeds[:, None] if cohorts is None else seeds
    words = starts[..., None] + numbers * np.uint64(GOLDEN)
    for shift, factor in MIXES:
        words = (words ^ words >> np.uint64(shift)) * np.uint64(factor)
    words ^= words >> np.uint64(31)
    positions: NDArray[np.int64] = (
        (words >> np.uint64(32)) * np.uint64(bloom.bits) >> np.uint64(32)
    ).astype(np.int64)
    return positions

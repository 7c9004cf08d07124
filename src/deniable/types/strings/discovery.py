"""Strings that nobody has listed: frequent prefixes, extended letter by letter, until whole strings may be there."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from statistics import NormalDist

import numpy as np

from deniable.types.strings.count import NoisyTally, StringTally
from deniable.types.strings.design import Bloom, Prefixes
from deniable.types.strings.hashing import places_of, seeds_of
from deniable.types.strings.regression import Floats, LeastSquares, Numbers, table

__all__ = ["BY_CHANCE", "frequent_strings", "threshold"]

BY_CHANCE = 100
"""Prefixes of each length that nobody has and that are looked at all the same."""

_ROUNDS = 4  # in which what is found is taken away, so that rarer ones stand out
_CLEARER = 0.98  # what is left has to vary by so much less for another round


def frequent_strings(tally: StringTally | NoisyTally) -> list[str]:
    """Return strings that may be there, the most frequent first: those whose prefixes of all lengths stand out.

    Implements: extension of frequent prefixes over groups of respondents, as in [WLJ17], with Bloom filters in cohorts.
    """
    bloom = tally.bloom
    assert isinstance(bloom, Prefixes)
    prefixes = [""]
    for level in range(len(bloom.lengths)):
        longer = [
            text for prefix in prefixes for text in _extend(bloom, prefix, level)
        ]
        prefixes = _select_prefixes(tally.at_level(level), longer, bloom.max_kept)
    return prefixes


def _extend(bloom: Prefixes, prefix: str, level: int) -> Iterator[str]:
    """Yield what a prefix may go on as at a level; one that is shorter than the level before is a whole string."""
    if level and len(prefix) < bloom.lengths[level - 1]:
        yield prefix
        return
    for letters in range(bloom.steps[level] + 1):
        for ending in product(bloom.alphabet, repeat=letters):
            yield prefix + "".join(ending)


@dataclass(frozen=True)
class _Level:
    """What the cohorts of one level tell about each bit.

    Attributes:
        bloom: how prefixes become bits.
        used: which cohorts there are.
        sizes: how many respondents each of them has.
        shares: the share of true ones at each place, a row for each cohort.
    """

    bloom: Bloom
    used: np.ndarray
    sizes: Floats
    shares: Floats

    @classmethod
    def of(cls, tally: StringTally | NoisyTally) -> _Level:
        used = tally.sizes > 0
        sizes = tally.sizes[used].astype(np.float64)
        return cls(tally.bloom, used, sizes, tally.true_shares())

    @property
    def spread(self) -> float:
        """The variance of the sum that `scores` takes over the cohorts, for a prefix that falls anywhere."""
        return float(self.sizes**2 @ self.shares.var(axis=1)) * self.bloom.ones

    def scores(self, seeds: np.ndarray) -> Floats:
        """Return by how many standard errors the bits of each prefix stand out."""
        centred = self.shares - self.shares.mean(axis=1, keepdims=True)
        pulls = centred * self.sizes[:, None]
        sums = np.zeros(len(seeds))
        for pull, cohort in zip(pulls, np.flatnonzero(self.used), strict=True):
            places = places_of(self.bloom, seeds, np.full(len(seeds), cohort))
            sums += pull[places].sum(axis=1)
        return sums / math.sqrt(max(self.spread, 1e-300))

    def without(self, seeds: np.ndarray) -> tuple[Floats, _Level]:
        """Return the shares of some prefixes, and what they leave of the cells."""
        weights = np.repeat(
            self.sizes / np.maximum(self.shares.var(axis=1).mean(), 1e-300),
            self.bloom.bits,
        )
        rows, cells = table(self.bloom, seeds, self.used), self.shares.reshape(-1)
        shares = LeastSquares(rows, cells, weights).fit(np.arange(len(seeds))).shares
        left = cells - np.asarray(rows.T @ shares, np.float64)
        return shares, replace(self, shares=left.reshape(self.shares.shape))


def _select_prefixes(
    tally: StringTally | NoisyTally, texts: list[str], max_kept: int
) -> list[str]:
    """Return the prefixes that stand out, the most frequent first. What is found is taken away before the next look."""
    seeds, needed = seeds_of(texts), threshold(len(texts))
    level = _Level.of(tally)
    left, chosen, shares = level, np.empty(0, np.intp), np.empty(0)
    for _ in range(_ROUNDS):
        scores = left.scores(seeds)
        scores[chosen] = 0.0
        fresh: Numbers = np.flatnonzero(scores > needed)
        if not fresh.size and not chosen.size:
            # There is always one to go on with: whole strings have yet to be tested.
            fresh = np.array([scores.argmax()])
        order = np.argsort(-scores[fresh], kind="stable")
        fresh = fresh[order][: max_kept - chosen.size]
        if not fresh.size:
            break
        chosen, before = np.concatenate([chosen, fresh]), left.spread
        shares, left = level.without(seeds[chosen])
        if left.spread > _CLEARER * before:
            break
    return [texts[number] for number in chosen[np.argsort(-shares, kind="stable")]]


def threshold(prefixes: int) -> float:
    """Return by how many errors a prefix must stand out to be kept."""
    return -NormalDist().inv_cdf(min(0.1, BY_CHANCE / prefixes))

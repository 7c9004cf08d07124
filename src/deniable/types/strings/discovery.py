"""Strings that nobody has listed: frequent prefixes, extended letter by letter, until whole strings may be there.

frequent_strings      the walk over the levels of `Prefixes`: what may be there
estimate_by_levels    which of it is there, told by the respondents who were asked for whole strings
discovery_limit       how frequent a string has to be
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from statistics import NormalDist

import numpy as np

from deniable.errors import InvalidRequest, NotEstimable
from deniable.types.strings.count import NoisyTally, StringTally
from deniable.types.strings.design import MOST_PREFIXES, Bloom, Prefixes, StringDesign
from deniable.types.strings.estimate import (
    Candidates,
    StringEstimate,
    estimate,
    string_detection_limit,
)
from deniable.types.strings.hashing import places_of, seeds_of
from deniable.types.strings.regression import Floats, LeastSquares, Numbers, table

__all__ = ["discovery_limit", "estimate_by_levels", "frequent_strings"]

_BY_CHANCE = (
    100  # prefixes of each length that nobody has and that are looked at all the same
)
_ROUNDS = 4  # in which what is found is taken away, so that rarer ones stand out
_CLEARER = 0.98  # what is left has to vary by so much less for another round


def estimate_by_levels(
    tally: StringTally | NoisyTally,
    candidates: Sequence[str] | Candidates | None = None,
    *,
    fdr: float = 0.05,
) -> StringEstimate:
    """Find which strings are there, from the respondents who were asked for whole strings.

    Why: candidates come from other respondents, who told prefixes, so that whoever tests them has not seen them before,
    and false discoveries are counted as for a list. What the prefixes kept too much costs respondents and no errors.

    Args:
        tally: counts of bits of `Prefixes`.
        candidates: strings that may be there; those that the prefixes lead to, if they are not given.
        fdr: the share of false ones among those found that is allowed on average.

    Raises:
        InvalidRequest: an fdr outside (0, 1), or candidates that were hashed for a filter.
        NotEstimable: a level without responses.
    """
    if isinstance(candidates, Candidates):
        raise InvalidRequest(
            "the candidates are hashed for all cohorts; expected a list of strings, or nothing."
        )
    empty = [
        level
        for level in range(tally.bloom.levels)
        if not _of_level(tally, level).respondents
    ]
    if empty:
        raise NotEstimable(
            f"nobody was asked at level {empty[0]}; expected responses at all {tally.bloom.levels}."
        )
    texts = frequent_strings(tally) if candidates is None else candidates
    found = estimate(_of_level(tally, tally.bloom.levels - 1), texts, fdr=fdr)
    asked = tally.design.hash if isinstance(tally, StringTally) else ""
    missing = tally.missing if isinstance(tally, StringTally) else 0
    return replace(found, respondents=tally.respondents, design=asked, missing=missing)


def frequent_strings(tally: StringTally | NoisyTally) -> list[str]:
    """Return strings that may be there, the most frequent first: those whose prefixes of all lengths stand out.

    Implements: extension of frequent prefixes over groups of respondents, as in [WLJ17], with Bloom filters in cohorts.
    """
    bloom = tally.bloom
    assert isinstance(bloom, Prefixes)
    found = [""]
    for level in range(len(bloom.lengths)):
        longer = [text for each in found for text in _extended(bloom, each, level)]
        found = _standing_out(_of_level(tally, level), longer, bloom.most_kept)
    return found


def _extended(bloom: Prefixes, prefix: str, level: int) -> Iterator[str]:
    """Yield what a prefix may go on as at a level; one that is shorter than the level before is a whole string."""
    if level and len(prefix) < bloom.lengths[level - 1]:
        yield prefix
        return
    for letters in range(bloom.steps[level] + 1):
        for ending in product(bloom.alphabet, repeat=letters):
            yield prefix + "".join(ending)


def _of_level(tally: StringTally | NoisyTally, level: int) -> StringTally | NoisyTally:
    """Return the counts of one level, as of a filter of which only these cohorts are in use."""
    bloom = tally.bloom
    own = np.arange(bloom.cohorts) // (bloom.cohorts // bloom.levels) == level
    plain = Bloom(bloom.bits, bloom.hashes, bloom.cohorts)
    ones, sizes = np.where(own[:, None], tally.ones, 0), np.where(own, tally.sizes, 0)
    if isinstance(tally, StringTally):
        return StringTally(StringDesign(plain, tally.design.channel), ones, sizes)
    return replace(tally, bloom=plain, ones=ones, sizes=sizes)


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
        used, (hit, stray) = tally.sizes > 0, tally.rates()
        sizes = tally.sizes[used].astype(np.float64)
        return cls(
            tally.bloom,
            used,
            sizes,
            (tally.ones[used] / sizes[:, None] - stray) / (hit - stray),
        )

    @property
    def spread(self) -> float:
        """The variance of the sum that `scores` takes over the cohorts, for a prefix that falls anywhere."""
        return float(self.sizes**2 @ self.shares.var(axis=1)) * self.bloom.ones

    def scores(self, seeds: np.ndarray) -> Floats:
        """Return by how many standard errors the bits of each prefix stand out."""
        pulls = (self.shares - self.shares.mean(axis=1, keepdims=True)) * self.sizes[
            :, None
        ]
        found = np.zeros(len(seeds))
        for pull, cohort in zip(pulls, np.flatnonzero(self.used), strict=True):
            found += pull[
                places_of(self.bloom, seeds, np.broadcast_to(cohort, len(seeds)))
            ].sum(axis=1)
        return found / math.sqrt(max(self.spread, 1e-300))

    def without(self, seeds: np.ndarray) -> tuple[Floats, _Level]:
        """Return the shares of some prefixes, and what they leave of the cells."""
        weights = np.repeat(
            self.sizes / np.maximum(self.shares.var(axis=1).mean(), 1e-300),
            self.bloom.bits,
        )
        rows, cells = table(self.bloom, seeds, self.used), self.shares.reshape(-1)
        found = LeastSquares(rows, cells, weights).fit(np.arange(len(seeds))).shares
        left = cells - np.asarray(rows.T @ found, np.float64)
        return found, replace(self, shares=left.reshape(self.shares.shape))


def _standing_out(
    tally: StringTally | NoisyTally, texts: list[str], most: int
) -> list[str]:
    """Return the prefixes that stand out, the most frequent first. What is found is taken away before the next look."""
    seeds, threshold = seeds_of(texts), _threshold(len(texts))
    whole = _Level.of(tally)
    left, chosen, shares = whole, np.empty(0, np.intp), np.empty(0)
    for _ in range(_ROUNDS):
        scores = left.scores(seeds)
        scores[chosen] = 0.0
        fresh: Numbers = np.flatnonzero(scores > threshold)
        if (
            not fresh.size and not chosen.size
        ):  # there is always one to go on with: whole strings have yet to be tested
            fresh = np.array([scores.argmax()])
        fresh = fresh[np.argsort(-scores[fresh], kind="stable")][: most - chosen.size]
        if not fresh.size:
            break
        chosen, before = np.concatenate([chosen, fresh]), left.spread
        shares, left = whole.without(seeds[chosen])
        if left.spread > _CLEARER * before:
            break
    return [texts[number] for number in chosen[np.argsort(-shares, kind="stable")]]


def _threshold(prefixes: int) -> float:
    """Return by how many errors a prefix must stand out to be kept."""
    return -NormalDist().inv_cdf(min(0.1, _BY_CHANCE / prefixes))


def discovery_limit(
    design: StringDesign, respondents: int, *, fdr: float = 0.05, target: float = 0.8
) -> float:
    """Return the smallest share that a string must have to be discovered with a probability of at least `target`.

    Why: its prefixes are at least as frequent as itself. At each level it is missed no more often than (1 − target) /
    levels: as a prefix, if it does not stand out among as many as are looked for at a time, or if more others stand out
    as much than are kept; as a whole string, if it is not told from as many candidates as are kept.

    Args:
        design: one stage, with `Prefixes`.
        respondents: how many there will be, at all levels together.
        fdr: the rate of false discoveries that is allowed.
        target: how surely such a string is to be found.

    Raises:
        InvalidRequest: numbers out of range, a filter without levels, or no share would be found.

    Example:
        >>> from deniable.types.strings.design import string_design
        >>> design = string_design(Prefixes.of("abcdefghijklmnopqrstuvwxyz", 10), epsilon=4, optimized=True)
        >>> round(discovery_limit(design, 1_000_000), 5)
        0.00396
    """
    bloom = design.bloom
    if not isinstance(bloom, Prefixes):
        raise InvalidRequest(
            "the design does not ask for prefixes; expected one that was built with Prefixes."
        )
    if not 0 < target < 1:
        raise InvalidRequest(
            f"the target is {target}; expected a probability between 0 and 1."
        )
    sure = 1 - (1 - target) / bloom.levels
    kept = string_detection_limit(
        design, respondents, candidates=1, fdr=_BY_CHANCE / MOST_PREFIXES, target=sure
    )
    told = string_detection_limit(
        design, respondents, candidates=bloom.most_kept, fdr=fdr, target=sure
    )
    return max(kept, told, _room(bloom.most_kept, NormalDist().inv_cdf(sure)))


def _room(kept: int, sure: float) -> float:
    """Return the smallest share with which a prefix is surely among those kept, if it stands out by the threshold.

    Why: with errors σ, and share s of (threshold + sure)·σ, its score is above the threshold t but for the chance
    allowed. One of share r = xσ is above t with chance Φ(x − t), which is at most c·r/s with c the largest
    Φ(x − t)·(t + sure)/x. Shares sum to at most 1, so that on average at most c/s prefixes that somebody has are above
    t, beside those that nobody has; five standard deviations are left for chance.

    Raises:
        InvalidRequest: chance alone fills the places.
    """
    room = kept - _BY_CHANCE - 5 * math.sqrt(kept)
    if room <= 0:
        raise InvalidRequest(
            f"{kept} prefixes are kept, of which chance alone takes about {_BY_CHANCE}; expected room for more.",
            "Let the lengths rise by fewer letters: Prefixes.of(alphabet, length) chooses them.",
        )
    threshold, normal = _threshold(MOST_PREFIXES), NormalDist()
    reached = (
        normal.cdf(x - threshold) * (threshold + sure) / x
        for x in np.linspace(0.5, threshold + 6, 500).tolist()
    )
    return float(max(reached)) / room

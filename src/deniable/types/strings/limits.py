"""How rare a string may be and still be found: the error of a share, and the limits of detection and discovery."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from deniable.errors import InvalidRequest
from deniable.types.strings.design import MAX_PREFIXES, Prefixes, StringDesign
from deniable.types.strings.discovery import BY_CHANCE, threshold

__all__ = ["discovery_limit", "share_error", "string_detection_limit"]

TAKEN = 0.1
"""The part of the rate of false discoveries for strings that are taken out before the others are tested."""

_NORMAL = NormalDist()
_LIMIT_ROUNDS = 200  # of a fixed point that is reached in a few
# beyond them fdr/candidates is smaller than normal quantiles tell apart
_MAX_CANDIDATES = 10**15


def share_error(
    design: StringDesign,
    respondents: int,
    *,
    share: float = 0.0,
    others: float = 0.0,
) -> float:
    """Return the standard error of a string's share.

    Args:
        design: one stage.
        respondents: how many there will be.
        share: how many of them send this string.
        others: the sum of the squares of the shares of strings that are no candidates or are not found. They look
            like noise, which more cohorts make smaller, and more respondents do not.

    Raises:
        InvalidRequest: nobody, or a share outside [0, 1].

    Example:
        >>> from deniable.types.strings.design import Bloom
        >>> from deniable.types.strings.design import string_design
        >>> round(share_error(string_design(Bloom(128), epsilon=4), 1_000_000), 6)
        0.000436
    """
    if not respondents >= 1 or not 0 <= share <= 1 or not 0 <= others <= 1:
        raise InvalidRequest(
            "expected at least one respondent, and shares from 0 to 1."
        )
    bloom, (p_true, p_false) = design.bloom, map(float, design.bit)
    ones, people = bloom.ones, respondents / bloom.levels
    cohorts = bloom.cohorts / bloom.levels
    filled = (
        ones / bloom.bits
    )  # the share of ones in a filter, all strings taken together
    rate = p_false + (p_true - p_false) * filled
    information = (p_true - p_false) ** 2 * ones * people * (1 - filled)
    device = rate * (1 - rate) / information
    confused = others * filled / (cohorts * ones)
    return math.sqrt(device + confused + share * (1 - share) / people)


def string_detection_limit(
    design: StringDesign,
    respondents: int,
    *,
    candidates: int,
    fdr: float = 0.05,
    target: float = 0.8,
    others: float | None = None,
) -> float:
    """Return the smallest share that a string must have to be found with a probability of at least `target`.

    Why: with one string found, the strictest case, its p-value has to be below fdr/candidates.

    Args:
        design: one stage.
        respondents: how many there will be.
        candidates: how many strings are looked for.
        fdr: the rate of false discoveries that is allowed.
        target: how surely such a string is to be found.
        others: the sum of the squares of the shares of strings that are not found; by default the most there can be,
            if none of them is above the limit.

    Raises:
        InvalidRequest: numbers out of range, or no share would be found.

    Example:
        >>> from deniable.types.strings.design import Bloom
        >>> from deniable.types.strings.design import string_design
        >>> design = string_design(Bloom(128, cohorts=1024), epsilon=4, optimized=True)
        >>> round(string_detection_limit(design, 1_000_000, candidates=10_000), 5)
        0.00172
    """
    if (
        not respondents >= 1
        or not 1 <= candidates <= _MAX_CANDIDATES
        or not 0 < fdr < 1
        or not 0 < target < 1
    ):
        raise InvalidRequest(
            f"expected at least one respondent, 1 to {_MAX_CANDIDATES:,} candidates, and rates between 0 and 1."
        )
    level, bloom = (1 - TAKEN) * fdr / candidates, design.bloom
    if bloom.cohorts * bloom.hashes * math.log(bloom.bits) < -math.log(level):
        raise InvalidRequest(
            f"{bloom.cohorts} cohorts do not tell a string from {candidates:,} that set the same bits; expected more.",
            "Take more cohorts, or look for fewer strings.",
        )
    strict, sure = -_NORMAL.inv_cdf(level), _NORMAL.inv_cdf(target)
    limit = 0.0
    for _ in range(_LIMIT_ROUNDS):
        confusion = limit if others is None else others
        null = share_error(design, respondents, others=confusion)
        new_limit = strict * null + sure * share_error(
            design, respondents, share=min(limit, 1.0), others=confusion
        )
        if new_limit >= 1:
            raise InvalidRequest(
                f"{respondents:,} respondents do not find any string among {candidates:,}; expected more of them.",
                "Ask more people, allow a larger ε, or look for fewer strings.",
            )
        if abs(new_limit - limit) < 1e-12:
            break
        limit = max(new_limit, 0.0)
    return limit


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
    _check_target(target)
    sure = 1 - (1 - target) / bloom.levels
    as_prefix = string_detection_limit(
        design, respondents, candidates=1, fdr=BY_CHANCE / MAX_PREFIXES, target=sure
    )
    as_string = string_detection_limit(
        design, respondents, candidates=bloom.max_kept, fdr=fdr, target=sure
    )
    return max(as_prefix, as_string, _room(bloom.max_kept, _NORMAL.inv_cdf(sure)))


def _check_target(target: float) -> None:
    if not 0 < target < 1:
        raise InvalidRequest(
            f"the target is {target}; expected a probability between 0 and 1."
        )


def _room(kept: int, sure: float) -> float:
    """Return the smallest share with which a prefix is surely among those kept, if it stands out by the threshold.

    Why: with errors σ, and share s of (threshold + sure)·σ, its score is above the threshold t but for the chance
    allowed. One of share r = xσ is above t with chance Φ(x − t), which is at most c·r/s with c the largest
    Φ(x − t)·(t + sure)/x. Shares sum to at most 1, so that on average at most c/s prefixes that somebody has are above
    t, beside those that nobody has; five standard deviations are left for chance.

    Raises:
        InvalidRequest: chance alone fills the places.
    """
    room = kept - BY_CHANCE - 5 * math.sqrt(kept)
    if room <= 0:
        raise InvalidRequest(
            f"{kept} prefixes are kept, of which chance alone takes about {BY_CHANCE}; expected room for more.",
            "Let the lengths rise by fewer letters: Prefixes.of(alphabet, length) chooses them.",
        )
    needed = threshold(MAX_PREFIXES)
    ratios = (
        _NORMAL.cdf(x - needed) * (needed + sure) / x
        for x in np.linspace(0.5, needed + 6, 500).tolist()
    )
    return float(max(ratios)) / room

"""How rare a string may be and still be found."""

from __future__ import annotations

import math
from statistics import NormalDist

from deniable.errors import InvalidRequest
from deniable.records.strings.designs import StringDesign

__all__ = ["detection_limit", "share_error"]

_NORMAL = NormalDist()
_ROUNDS = 200
_MOST = 10**15


def share_error(design: StringDesign, respondents: int, *, share: float = 0.0, others: float = 0.0) -> float:
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
        >>> from deniable.records.strings.designs import Bloom
        >>> from deniable.records.strings.designs import string_design
        >>> round(share_error(string_design(Bloom(128), epsilon=4), 1_000_000), 6)
        0.000436
    """
    if not respondents >= 1 or not 0 <= share <= 1 or not 0 <= others <= 1:
        raise InvalidRequest("expected at least one respondent, and shares from 0 to 1.")
    bloom, (hit, stray) = design.bloom, map(float, design.bit)
    ones, bits = bloom.ones, bloom.bits
    filled = ones / bits  # the share of ones in a filter, all strings taken together
    rate = stray + (hit - stray) * filled
    device = rate * (1 - rate) / ((hit - stray) ** 2 * ones * respondents * (1 - filled))
    confused = others * filled / (bloom.cohorts * ones)
    return math.sqrt(device + confused + share * (1 - share) / respondents)


def detection_limit(
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
        >>> from deniable.records.strings.designs import Bloom
        >>> from deniable.records.strings.designs import string_design
        >>> design = string_design(Bloom(128, cohorts=1024), epsilon=4, optimized=True)
        >>> round(detection_limit(design, 1_000_000, candidates=10_000), 5)
        0.00171
    """
    if not respondents >= 1 or not 1 <= candidates <= _MOST or not 0 < fdr < 1 or not 0 < target < 1:
        raise InvalidRequest(f"expected at least one respondent, 1 to {_MOST:,} candidates, and rates between 0 and 1.")
    strict, sure = -_NORMAL.inv_cdf(fdr / candidates), _NORMAL.inv_cdf(target)
    limit = 0.0
    for _ in range(_ROUNDS):
        rest = limit if others is None else others
        null = share_error(design, respondents, others=rest)
        wanted = strict * null + sure * share_error(design, respondents, share=min(limit, 1.0), others=rest)
        if wanted >= 1:
            raise InvalidRequest(
                f"{respondents:,} respondents do not find any string among {candidates:,}; expected more of them.",
                "Ask more people, allow a larger ε, or look for fewer strings.",
            )
        if abs(wanted - limit) < 1e-12:
            break
        limit = max(wanted, 0.0)
    return limit

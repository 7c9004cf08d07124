"""Strings → responses, many at once: hashed, randomized, raised and counted as packed rows of bits."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.bulk.columns import build_responses, read_objects
from deniable.bulk.gradual import upgrade_bits
from deniable.bulk.random_words import below_all
from deniable.bulk.steps import toss_rows
from deniable.chance import Source
from deniable.channel.coding import Rows
from deniable.errors import InvalidAnswer, InvalidRequest
from deniable.tallies.responses import Responses, add_missing
from deniable.types.strings.count import StringTally, count_ones
from deniable.types.strings.design import (
    Bloom,
    NoisySampling,
    StringDesign,
    relax_strings,
)
from deniable.types.strings.hashing import places_of, seeds_of

__all__ = [
    "Encoded",
    "count_ones",
    "count_sent",
    "draw_cohorts",
    "encode",
    "permanent",
    "respond",
    "respond_all",
    "sample",
    "tally",
    "upgrade",
]

_PIECE = 1 << 16


class Encoded(NamedTuple):
    """Strings as bits: the truth, which stays where the answers are.

    Attributes:
        cohorts: of each respondent; public.
        truths: the bits of each string, packed, ⌈bits/8⌉ bytes a row.
    """

    cohorts: NDArray[np.int64]
    truths: Rows


def respond_all(
    design: StringDesign,
    answers: object,
    *,
    cohorts: object = None,
    source: Source | None = None,
    fast: bool | None = None,
) -> Responses[StringDesign]:
    """Draw a cohort for each string where none is given, and randomize the bits of each string."""
    texts = read_objects(answers)
    present = np.array([text is not None for text in texts], np.bool_)
    wrong = [
        row
        for row, text in enumerate(texts)
        if text is not None and not isinstance(text, str)
    ]
    if wrong:
        raise InvalidAnswer(
            f"the answer at index {wrong[0]:,} is no text; expected a string."
        )
    if cohorts is None:
        drawn = draw_cohorts(design.bloom, len(texts), source=source)
    else:
        drawn = np.asarray(cohorts)
        if len(drawn) != len(texts):
            raise InvalidRequest(
                f"there are {len(drawn):,} cohorts and {len(texts):,} answers; expected one for each."
            )
    encoded = encode(
        design.bloom, [text for text in texts if text is not None], drawn[present]
    )
    return build_responses(
        design,
        present,
        encoded.cohorts,
        respond(design, encoded, source=source, fast=fast),
    )


def count_sent(responses: Responses[StringDesign]) -> StringTally:
    """Count the ones of each cohort at each place."""
    present = responses.present()
    return add_missing(
        tally(responses.design, present["cohort"], present["response"]), responses
    )


def draw_cohorts(
    bloom: Bloom, respondents: int, *, source: Source | None = None
) -> NDArray[np.int64]:
    """Draw a cohort for each respondent, once and for all: each equally likely, from secure random words."""
    if bloom.cohorts == 1:
        return np.zeros(respondents, np.int64)
    return below_all(bloom.cohorts, respondents, source)


def encode(bloom: Bloom, texts: Sequence[str], cohorts: NDArray[Any]) -> Encoded:
    """Hash a string for each respondent.

    Raises:
        InvalidAnswer: a row that is no text. The message does not repeat it.
        InvalidRequest: not a cohort for each.
    """
    given = np.asarray(cohorts)
    wrong = (
        given.ndim != 1 or given.dtype.kind not in "iu" or len(given) != len(texts)
    )
    if wrong or (len(given) and not 0 <= given.min() <= given.max() < bloom.cohorts):
        raise InvalidRequest(
            f"the cohorts are not one number below {bloom.cohorts} for each string; expected that."
        )
    parts = list(map(bloom.part, texts, given.tolist()))
    different = {part: number for number, part in enumerate(dict.fromkeys(parts))}
    seeds = seeds_of(different)[
        np.fromiter((different[part] for part in parts), np.intp, len(parts))
    ]
    truths = np.zeros((len(texts), -(-bloom.bits // 8)), np.uint8)
    for start in range(0, len(texts), _PIECE):
        part = slice(start, start + _PIECE)
        places = places_of(bloom, seeds[part], given[part])
        rows = np.arange(start, start + len(places))
        for hashed in places.T:
            truths[rows, hashed >> 3] |= (1 << (hashed & 7)).astype(np.uint8)
    return Encoded(given.astype(np.int64), truths)


def respond(
    design: StringDesign,
    encoded: Encoded,
    *,
    source: Source | None = None,
    fast: bool | None = None,
) -> Rows:
    """Randomize the bits of each string.

    Guarantee: every bit is drawn with exactly the weights from which the design's ε is derived, from a keystream under
    a fresh key of the operating system.

    Raises:
        MissingExtra: compiled kernels are demanded and Numba is not installed.
    """
    return _randomize_bits(
        design.bloom.bits, *design.bit, encoded.truths, source, fast
    )


def upgrade(
    old: StringDesign,
    new: StringDesign,
    rows: Rows,
    encoded: Encoded,
    *,
    source: Source | None = None,
    fast: bool | None = None,
) -> Rows:
    """Raise the rows that are out to the finer design.

    Raises:
        NotOrdered: the second design does not tell all that the first does.
        InvalidResponse: rows of another shape.
    """
    return upgrade_bits(
        relax_strings(old, new), rows, encoded.truths, source=source, fast=fast
    )


def permanent(
    noisy: NoisySampling,
    bloom: Bloom,
    encoded: Encoded,
    *,
    source: Source | None = None,
    fast: bool | None = None,
) -> Rows:
    """Draw RAPPOR's permanent bits, once; they stay where the answers are."""
    return _randomize_bits(
        bloom.bits, noisy.alpha, 1 - noisy.alpha, encoded.truths, source, fast
    )


def sample(
    noisy: NoisySampling,
    bloom: Bloom,
    kept: Rows,
    *,
    source: Source | None = None,
    fast: bool | None = None,
) -> Rows:
    """Draw one of RAPPOR's noisy samples of permanent bits."""
    return _randomize_bits(bloom.bits, noisy.p, noisy.q, kept, source, fast)


def tally(design: StringDesign, cohorts: NDArray[Any], rows: Rows) -> StringTally:
    """Count the rows of one stage.

    Raises:
        InvalidResponse: rows of another shape, or no cohorts.
    """
    return StringTally(design, *count_ones(design.bloom, cohorts, rows))


def _randomize_bits(
    bits: int,
    hit: Fraction,
    stray: Fraction,
    trues: Rows,
    source: Source | None,
    fast: bool | None,
) -> Rows:
    """Randomize rows of bits; each bit depends on its true value alone."""
    chances = ((stray, hit), (stray, hit))
    return toss_rows(
        bits, chances, np.zeros_like(trues), trues, source=source, fast=fast
    )

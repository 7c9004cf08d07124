"""Claims about a string, through the bits of its filter."""

from __future__ import annotations

import math

from deniable.claims.losses import LossSet, bit_losses
from deniable.claims.statements import (
    ClaimedPart,
    Claims,
    Priors,
    guarantee,
    index_text,
    refuse_prior,
)
from deniable.types.strings.design import StringDesign


def claims(design: StringDesign, prior: Priors = None) -> Claims:
    """Return the claims about any two strings, whichever bits their filters set.

    Raises:
        InvalidRequest: a prior, for strings that cannot be listed.
    """
    refuse_prior(prior)
    pairs = _differing_bits(design)
    one_ratio, zero_ratio = design.ratios
    first, second = max(
        pairs,
        key=lambda pair: math.prod((one_ratio,) * pair[0] + (zero_ratio,) * pair[1]),
    )
    likely, unlikely = (1 << first) - 1, ((1 << second) - 1) << first
    witness = {
        "response": index_text(likely),
        "likely": index_text(likely),
        "unlikely": index_text(unlikely),
    }
    return {
        "rule": "bits",
        **guarantee(design.parity, losses(design)),
        "witness": witness,
    }


def losses(design: StringDesign) -> LossSet:
    """Return the privacy losses of all pairs of strings, whichever bits their filters set."""
    hit, stray = design.bit
    return frozenset(
        bit_losses(hit, stray, *pair) for pair in _differing_bits(design)
    )


def _differing_bits(design: StringDesign) -> list[tuple[int, int]]:
    """Return how many bits are true for the first of two strings alone, and at most for the second."""
    bits, hashes = design.bloom.bits, design.bloom.hashes
    return [
        (first, min(hashes, bits - first))
        for first in range(1, min(hashes, bits - 1) + 1)
    ]


def caveats(design: StringDesign) -> tuple[str, ...]:  # noqa: ARG001 - the same for all
    """Return the assumptions and limits of the guarantee, in sentences."""
    return (
        "The cohort is sent along; it is drawn before anything is known of the string.",
    )


def labelled_design(design: StringDesign) -> None:  # noqa: ARG001 - none for any
    """Return None: strings cannot be listed."""
    return


def claimed_parts(design: StringDesign, claims: Claims) -> list[ClaimedPart]:  # noqa: ARG001 - none for any
    """Return no parts: a string is protected as a whole."""
    return []

"""Claims about a design for categories; of one for several attributes, about each and about all together."""

from __future__ import annotations

from deniable.claims.statements import (
    ClaimedPart,
    Claims,
    Priors,
    channel_claims,
    factor_claims,
)
from deniable.designs import Design


def claims(design: Design, prior: Priors = None) -> Claims:
    """Return the claims about a design.

    Raises:
        InvalidRequest: a prior that does not fit, or a kind of channel that the checker cannot read.
    """
    if design.factors:
        return factor_claims(dict(design.factors), prior)
    return channel_claims(design, prior)


def caveats(design: Design) -> tuple[str, ...]:
    """Return the assumptions and limits of the guarantee, in sentences."""
    return (design.caveat,) if design.caveat else ()


def labelled_design(design: Design) -> Design | None:
    """Return the design whose labels the claims are about; None for several attributes."""
    return None if design.factors else design


def claimed_parts(design: Design, claims: Claims) -> list[ClaimedPart]:
    """Return the attributes, each with its claims."""
    return [
        ClaimedPart(attribute, part, claims["parts"][attribute])
        for attribute, part in design.factors
    ]

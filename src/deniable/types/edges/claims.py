"""Claims about the weight of a respondent's one edge."""

from __future__ import annotations

from deniable.claims.statements import ClaimedPart, Claims, Priors, channel_claims
from deniable.designs import Design
from deniable.types.edges.design import EdgeDesign


def claims(design: EdgeDesign, prior: Priors = None) -> Claims:
    """Return the claims about the design for the weight.

    Raises:
        InvalidRequest: a prior that does not fit.
    """
    return channel_claims(design.choice, prior)


def caveats(design: EdgeDesign) -> tuple[str, ...]:
    """Return the assumptions and limits of the guarantee, in sentences."""
    return (design.caveat,)


def labelled_design(design: EdgeDesign) -> Design:
    """Return the design for the weight."""
    return design.choice


def claimed_parts(design: EdgeDesign, claims: Claims) -> list[ClaimedPart]:  # noqa: ARG001 - none for any
    """Return no parts: there is one weight."""
    return []


def privacy_facts(design: EdgeDesign) -> dict[str, object]:
    """Return the number of items."""
    return {"items": len(design.items)}

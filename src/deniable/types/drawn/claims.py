"""Claims about attributes of which some are drawn for each respondent."""

from __future__ import annotations

from deniable.claims.statements import ClaimedPart, Claims, Priors, factor_claims
from deniable.types.drawn.design import DrawnDesign


def claims(design: DrawnDesign, prior: Priors = None) -> Claims:
    """Return the claims about each attribute, and about as many together as are drawn.

    Raises:
        InvalidRequest: a prior that does not fit, or a kind of channel that the checker cannot read.
    """
    return factor_claims(dict(design.factors), prior, design.each)


def losses(design: DrawnDesign) -> None:  # noqa: ARG001 - unknown of all
    """Return None: δ is known where one attribute is drawn, and not which pair of answers attains it."""
    return


def caveats(design: DrawnDesign) -> tuple[str, ...]:
    """Return the assumptions and limits of the guarantee, in sentences."""
    drawn = (
        "Which items were drawn is sent along; it does not depend on the answers."
    )
    return (drawn, design.caveat) if design.caveat else (drawn,)


def labelled_design(design: DrawnDesign) -> None:  # noqa: ARG001 - none for any
    """Return None: the claims are about several attributes."""
    return


def claimed_parts(design: DrawnDesign, claims: Claims) -> list[ClaimedPart]:
    """Return the attributes, each with its claims."""
    return [
        ClaimedPart(attribute, part, claims["parts"][attribute])
        for attribute, part in design.factors
    ]

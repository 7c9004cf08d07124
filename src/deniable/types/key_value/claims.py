"""Claims about a respondent's items and their weights."""

from __future__ import annotations

from deniable.claims.losses import LossSet, privacy_losses
from deniable.claims.statements import (
    ClaimedPart,
    Claims,
    Priors,
    channel_claims,
    guarantee,
    refuse_prior,
)
from deniable.designs import Design
from deniable.types.key_value.design import KeyValueDesign, symbol_design
from deniable.types.key_value.schemes import Index, Padded


def claims(design: KeyValueDesign, prior: Priors = None) -> Claims:
    """Return the claims about whole rows: about one symbol, where a response is one, else those of the scheme.

    Raises:
        InvalidRequest: a prior that does not fit.
    """
    symbol = labelled_design(design)
    if symbol is not None:
        return channel_claims(symbol, prior)
    refuse_prior(prior)
    assert isinstance(design.scheme, Padded)
    return {
        "rule": "padded",
        **guarantee(design.parity, None),
        "witness": {"marked": str(design.scheme.marked)},
    }


def losses(design: KeyValueDesign) -> LossSet | None:
    """Return the privacy losses of all pairs of rows: those of one symbol, where a response is one; else None."""
    symbol = labelled_design(design)
    return None if symbol is None else privacy_losses(symbol.channel)


def caveats(design: KeyValueDesign) -> tuple[str, ...]:  # noqa: ARG001 - none for any
    """Return no sentences: the guarantee is about whole rows."""
    return ()


def labelled_design(design: KeyValueDesign) -> Design | None:
    """Return the design behind each symbol, where a response is a single one; None otherwise."""
    return symbol_design(design) if isinstance(design.scheme, Index) else None


def claimed_parts(design: KeyValueDesign, claims: Claims) -> list[ClaimedPart]:  # noqa: ARG001 - none for any
    """Return no parts: a row is protected as a whole."""
    return []


def privacy_facts(design: KeyValueDesign) -> dict[str, object]:
    """Return the family, the number of items, the ε of two devices one after the other, and the channel of an item."""
    symbol = design.scheme.symbol
    rows = [
        [str(symbol.probability(i, given=j)) for j in range(3)]
        for i in range(symbol.responses)
    ]
    return {
        "name": design.name,
        "items": len(design.items),
        "sequential": design.sequential,
        "saving": design.saving,
        "symbol": rows,
    }

"""Claims about a respondent's items and their weights."""

from __future__ import annotations

from deniable.claims.statements import (
    ClaimedPart,
    Claims,
    Priors,
    channel_claims,
    guarantee,
    refuse_prior,
)
from deniable.designs import Design
from deniable.rendering import formats
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


def caveats(design: KeyValueDesign) -> tuple[str, ...]:  # noqa: ARG001 - none for any
    """Return no sentences: the guarantee is about whole rows."""
    return ()


def labelled_design(design: KeyValueDesign) -> Design | None:
    """Return the design behind each symbol, where a response is a single one; None otherwise."""
    return symbol_design(design) if isinstance(design.scheme, Index) else None


def claimed_parts(design: KeyValueDesign, claims: Claims) -> list[ClaimedPart]:  # noqa: ARG001 - none for any
    """Return no parts: a row is protected as a whole."""
    return []


def privacy_sentences(design: KeyValueDesign) -> list[str]:
    """Return what a response reveals at most, and what two devices one after the other would be charged."""
    key, value = design.scheme.parts
    return [
        f"Whatever is sent, the odds between any two rows of items and weights change by a factor of at most "
        f"{formats.factor(design.parity)} (ε = {formats.epsilon(design.epsilon)}).",
        f"Key and value on their own change odds by up to {formats.factor(key)} and {formats.factor(value)}; one after "
        f"the other they would be charged ε = {formats.epsilon(design.sequential)}, {formats.number(design.saving)} "
        "more than is spent.",
    ]


def privacy_facts(design: KeyValueDesign) -> dict[str, object]:
    """Return the name of the family, the ε of two devices one after the other, and the channel of one item."""
    symbol = design.scheme.symbol
    rows = [
        [str(symbol.probability(i, given=j)) for j in range(3)]
        for i in range(symbol.responses)
    ]
    return {
        "name": design.name,
        "sequential": design.sequential,
        "saving": design.saving,
        "symbol": rows,
    }

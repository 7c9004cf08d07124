"""Planning with a deck of cards that is dealt."""

from __future__ import annotations

from fractions import Fraction

from deniable.designs import Deck
from deniable.errors import InvalidRequest
from deniable.estimates.covariances import Matrix
from deniable.estimates.decks import parts
from deniable.estimates.shares import read_shares
from deniable.types.categories.plan import (
    ComparedPrivacy,
    Goal,
    Shares,
    VarianceCurve,
)


def variance_curve(
    deck: Deck,
    shares: Shares | None,
    goal: Goal,  # noqa: ARG001 - both shares have one variance
    inverse: Matrix | None = None,  # noqa: ARG001 - there is one estimate of a deal
) -> VarianceCurve:
    """Return the variance of both shares as a function of n and f; in the worst case that of even shares."""
    share = (
        0.5
        if shares is None
        else float(read_shares(deck.with_replacement(), shares)[1])
    )

    def curve(n: int, f: float) -> float:
        if n > deck.cards:
            raise InvalidRequest(
                f"n is {n:,}; expected at most the {deck.cards:,} cards of the deck."
            )
        constant, slope = parts(deck, n, Fraction(f))
        return float(constant + slope * Fraction(share * (1 - share))) / n

    return curve


def compared_privacy(deck: Deck) -> ComparedPrivacy:
    """Return a name from the cards, ε against an attacker who sees one response and against a collector."""
    return ComparedPrivacy(
        f"deck {deck.counts}",
        deck.epsilon_alone,
        deck.epsilon_collector,
        deck.guarantee,
    )

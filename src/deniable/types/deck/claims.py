"""Claims about a deck: against a collector who sees all responses, and about one response that is seen alone."""

from __future__ import annotations

from deniable import exact
from deniable.channel import Dense
from deniable.claims.statements import (
    ClaimedPart,
    Claims,
    Priors,
    channel_claims,
    gamma_grid,
    guarantee,
    ratio_text,
)
from deniable.designs import Deck, Design
from deniable.designs.cards import excess

MOST_HANDS = 200_000
"""Terms of δ at each point of the curve: a second."""


def claims(deck: Deck, prior: Priors = None) -> Claims:
    """Return the claims about all responses to a collector who knows all other answers, and about one seen alone.

    Raises:
        InvalidRequest: a prior that does not fit.
    """
    others = deck.people - 1
    pairs = list(zip(deck.counts, reversed(deck.counts), strict=True))
    separating = [
        number
        for number, (count, _) in enumerate(pairs)
        if 2 * number + 1 != deck.numbers and count
    ]
    worst = max(
        separating,
        key=lambda number: exact.ratio(
            pairs[number][0], max(pairs[number][1] - others, 0)
        ),
    )
    remaining = deck.cards - others
    curve = [
        {
            "gamma": ratio_text(gamma),
            "delta": ratio_text(excess(deck.counts, remaining, gamma, MOST_HANDS)),
        }
        for gamma in gamma_grid(deck.parity_collector)
    ]
    return {
        "rule": "deck",
        **guarantee(deck.parity_collector, None),
        "delta": {"exact": True, "curve": curve},
        "witness": {"response": str(worst)},
        "alone": channel_claims(single_response_design(deck), prior),
    }


def single_response_design(deck: Deck) -> Design:
    """Return the design of one response that is seen alone: that of a card drawn from the full deck."""
    weights = tuple(zip(deck.counts, reversed(deck.counts), strict=True))
    symbols = [str(number) for number in range(1, deck.numbers + 1)]
    return Design("deck", deck.categories, symbols, Dense(weights, deck.cards))


def caveats(deck: Deck) -> tuple[str, ...]:  # noqa: ARG001 - the same for all
    """Return the assumptions and limits of the guarantee, in sentences."""
    return (
        "ε is that against a collector who sees all responses and knows the answers of all other respondents; a "
        "response that is seen alone has claims of its own.",
    )


def labelled_design(deck: Deck) -> None:  # noqa: ARG001 - none for any
    """Return None: the claims are about all responses together."""
    return


def claimed_parts(deck: Deck, claims: Claims) -> list[ClaimedPart]:
    """Return the claims about one response that is seen alone."""
    return [
        ClaimedPart(
            "one response, seen alone", single_response_design(deck), claims["alone"]
        )
    ]

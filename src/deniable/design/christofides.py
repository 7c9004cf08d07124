"""Christofides' design: numbered cards, drawn with replacement."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from deniable import chance, exact
from deniable.channel import Dense
from deniable.design.design import Design
from deniable.design.labels import Labels
from deniable.design.registry import register
from deniable.errors import InvalidDesign, InvalidRequest


@register(
    {"epsilon": 1, "middle": "1/5"},
    {"epsilon": "1/2"},
    {"cards": ["3/20", "1/4", "3/5"]},
    {"cards": ["1/10", "2/10", "3/10", "4/10"], "categories": ["never", "ever"]},
)
def christofides(
    epsilon: exact.Rational | None = None,
    *,
    cards: Sequence[exact.Rational] | None = None,
    middle: exact.Rational = 0,
    categories: Labels = ("no", "yes"),
) -> Design:
    """Draw a card from 1 … L and put it back; members send L + 1 − card, the others send the card.

    Give either the probabilities of the cards 1 … L, or ε for three cards with the share `middle` of twos (for two
    cards where it is 0). The people of the second category are the members.

    Implements: [Chr03]; the three cards for ε of [SYZ23], Theorem 5.5. Algorithms 3 and 4 as printed there have the two
    branches the wrong way round.

    Guarantee: parity max p_{L+1−k} / p_k. From ε: the middle card has weight round(2^64·middle); of the rest R, card 1
    has weight ⌈R/(r + 1)⌉ with r ≤ e^ε and card L what is left, so that their ratio is at most r.

    Why: the middle card is sent equally often whatever the answer, and tells nothing. At the same ε warner() is always
    better; middle cards serve only the deck that is dealt without replacement, `integer_deck()`.

    Raises:
        InvalidRequest: neither or both of ε and cards, or a middle share beside cards.
        InvalidDesign: cards that do not sum to 1, or that look the same from both ends, so that nothing is told.

    Example:
        >>> christofides(cards=["3/20", "1/4", "3/5"]).probability("1", given="yes")
        Fraction(3, 5)
    """
    if (epsilon is None) == (cards is None):
        raise InvalidRequest(
            "expected either epsilon or cards, and exactly one of them.",
            'For example epsilon=1, middle="1/5", or cards=["1/10", "3/10", "6/10"].',
        )
    if epsilon is not None:
        weights = _weights(exact.exp_below(exact.positive_epsilon(epsilon)), exact.probability(middle, name="middle"))
        shares = [Fraction(weight, chance.TOTAL) for weight in weights]
    else:
        assert cards is not None
        shares = _read_cards(cards, middle)
    channel = Dense.of(list(zip(shares, reversed(shares), strict=True)))
    symbols = [str(number) for number in range(1, len(shares) + 1)]
    return Design("christofides", categories, symbols, channel)  # type: ignore[arg-type]  # Design reads labels


def _read_cards(cards: Sequence[exact.Rational], middle: exact.Rational) -> list[Fraction]:
    if exact.rational(middle, name="middle") != 0:
        raise InvalidRequest("middle goes with epsilon; the probabilities of the cards hold it already.")
    if isinstance(cards, str) or not isinstance(cards, Sequence) or len(cards) < 2:
        raise InvalidDesign(
            "the cards are not a list of at least 2 probabilities.", 'For example ["1/10", "3/10", "6/10"].'
        )
    shares = [exact.probability(card, name=f"the share of card {number}") for number, card in enumerate(cards, 1)]
    if sum(shares) != 1:
        raise InvalidDesign(f"the shares of the cards sum to {sum(shares)}; expected exactly 1.")
    if shares == shares[::-1]:
        raise InvalidDesign(
            "the cards look the same from both ends, so that members send what the others send; expected other shares.",
            "Let the high cards be more frequent than the low ones.",
        )
    return shares


def _weights(ratio: Fraction, middle: Fraction) -> list[int]:
    between = math.floor(chance.TOTAL * middle + Fraction(1, 2))
    rest = chance.TOTAL - between
    first = math.ceil(rest / (ratio + 1))
    last = rest - first
    if last <= first:
        raise InvalidDesign(
            f"with a middle share of {float(middle):.4g} this ε leaves no difference between the first and the last "
            "card in weights that sum to 2^64; expected fewer middle cards or a larger ε."
        )
    return [first, between, last] if between else [first, last]

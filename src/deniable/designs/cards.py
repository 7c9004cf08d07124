"""Numbered cards: Christofides' design, which draws with replacement, and a deck that is dealt to a group."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from deniable import chance, documents, exact
from deniable.chance import TOTAL
from deniable.channel import Dense
from deniable.designs.design import AnyDesign, Design, read_labels
from deniable.designs.labels import NO_YES, Labels, read
from deniable.designs.registry import Purpose, register
from deniable.errors import (
    InvalidDesign,
    InvalidRequest,
    InvalidResponse,
    quoted,
    require_one,
)
from deniable.exact import Ratio, Rational
from deniable.rendering import formats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.estimates.sampling import SampledEstimate, Sampling
    from deniable.tallies.decks import DeckTally
    from deniable.types.deck import count as _count
    from deniable.types.deck import draw as _draw
    from deniable.types.deck import respond as _respond


@register(
    {"epsilon": 1, "middle": "1/5"},
    {"epsilon": "1/2"},
    {"cards": ["3/20", "1/4", "3/5"]},
    {"cards": ["1/10", "2/10", "3/10", "4/10"], "categories": ["never", "ever"]},
    purpose=Purpose.DEVICE,
)
def christofides(
    epsilon: Rational | None = None,
    *,
    cards: Sequence[Rational] | None = None,
    middle: Rational = 0,
    categories: Labels = NO_YES,
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

    Args:
        epsilon: the most that may be revealed; then there are three cards.
        cards: instead of ε, the share of each card from 1 to L.
        middle: with ε, the share of the card in the middle.
        categories: what the others and the members are called, in this order.

    Raises:
        InvalidRequest: neither or both of ε and cards, or a middle share beside cards.
        InvalidDesign: cards that do not sum to 1, or that look the same from both ends, so that nothing is told.

    Example:
        >>> christofides(cards=["3/20", "1/4", "3/5"]).probability("1", given="yes")
        Fraction(3, 5)
    """
    shares = _card_shares(epsilon, cards, middle)
    channel = Dense.from_rows(list(zip(shares, reversed(shares), strict=True)))
    symbols = [str(number) for number in range(1, len(shares) + 1)]
    design = Design("christofides", categories, symbols, channel)  # type: ignore[arg-type]  # Design reads labels
    return design.within(epsilon)


def _card_shares(
    epsilon: Rational | None, cards: Sequence[Rational] | None, middle: Rational
) -> list[Fraction]:
    """Return the share of each card: as given, or from ε of three cards, of which the middle one may be missing."""
    require_one(
        'For example epsilon=1, middle="1/5", or cards=["1/10", "3/10", "6/10"].',
        epsilon=epsilon,
        cards=cards,
    )
    if cards is not None:
        return _read_cards(cards, middle)
    assert epsilon is not None
    weights = _weights(
        exact.gamma_below(epsilon), exact.probability(middle, name="middle")
    )
    return [Fraction(weight, TOTAL) for weight in weights]


def _read_cards(cards: Sequence[Rational], middle: Rational) -> list[Fraction]:
    if exact.rational(middle, name="middle") != 0:
        raise InvalidRequest(
            "middle goes with epsilon; the probabilities of the cards hold it already."
        )
    if isinstance(cards, str) or not isinstance(cards, Sequence) or len(cards) < 2:
        raise InvalidDesign(
            "the cards are not a list of at least 2 probabilities.",
            'For example ["1/10", "3/10", "6/10"].',
        )
    shares = [
        exact.probability(card, name=f"the share of card {number}")
        for number, card in enumerate(cards, 1)
    ]
    if sum(shares) != 1:
        raise InvalidDesign(
            f"the shares of the cards sum to {sum(shares)}; expected exactly 1."
        )
    if shares == shares[::-1]:
        raise InvalidDesign(
            "the cards look the same from both ends, so that members send what the others send; expected other shares.",
            "Let the high cards be more frequent than the low ones.",
        )
    return shares


def _weights(ratio: Fraction, middle: Fraction) -> list[int]:
    between = math.floor(TOTAL * middle + Fraction(1, 2))
    remainder = TOTAL - between
    first = math.ceil(remainder / (ratio + 1))
    last = remainder - first
    if last <= first:
        raise InvalidDesign(
            f"with a middle share of {float(middle):.4g} this ε leaves no difference between the first and the last "
            "card in weights that sum to 2^64; expected fewer middle cards or a larger ε."
        )
    return [first, between, last] if between else [first, last]


_MAX_TERMS = 2_000_000  # terms of the exact sum
_MAX_CARDS = 2_000  # the number of hands has as many binary digits


def excess(
    counts: Sequence[int],
    remaining: int,
    gamma: Fraction,
    max_terms: int = _MAX_TERMS,
) -> Fraction:
    """Return Σ_k E[(a_k − γ·a_{L+1−k})₊] / remaining, with a the numbers of a random hand of `remaining` cards.

    This is δ at γ = e^ε against somebody who knows all other cards.

    Why: the n − 1 cards of the others and the M − n + 1 that remain are one random division of the deck, which does not
    depend on the target's answer. Given it, the target sends k with probability a_k / remaining or
    a_{L+1−k} / remaining, and the best set of responses takes each k where the first exceeds γ times the second.

    Raises:
        InvalidRequest: more terms than that, or more than 2,000 cards.
    """
    if remaining == 1:  # the last card is known
        middle = counts[len(counts) // 2] if len(counts) % 2 else 0
        return Fraction(sum(counts) - middle, sum(counts))
    pairs = [
        (a, b)
        for k, (a, b) in enumerate(zip(counts, reversed(counts), strict=True))
        if 2 * k + 1 != len(counts)
    ]
    terms = sum((min(a, remaining) + 1) * (min(b, remaining) + 1) for a, b in pairs)
    if terms > max_terms or sum(counts) > _MAX_CARDS:
        raise InvalidRequest(
            f"δ is a sum of {terms:,} terms for this deck of {sum(counts):,} cards; expected at most {max_terms:,} "
            f"terms and {_MAX_CARDS:,} cards.",
            "Use the ε against the collector, which is exact for every deck, or smaller groups.",
        )
    n_hands = math.comb(sum(counts), remaining)
    return (
        exact.total(
            _pair_excess(a, b, sum(counts), remaining, gamma) for a, b in pairs
        )
        / n_hands
        / remaining
    )


def _pair_excess(
    first: int, second: int, total: int, remaining: int, gamma: Fraction
) -> Fraction:
    """Return Σ over hands of (a − γ·b)₊, each weighted by the number of hands with a and b cards of two numbers."""
    up, down = gamma.numerator, gamma.denominator
    chosen = [math.comb(second, b) for b in range(min(second, remaining) + 1)]
    remaining_cards = total - first - second
    left = (
        [math.comb(remaining_cards, c) for c in range(remaining + 1)]
        if remaining_cards
        else [1] + [0] * remaining
    )
    result = 0
    for a in range(1, min(first, remaining) + 1):
        inner = 0
        for b, n_ways in enumerate(chosen[: remaining - a + 1]):
            gain = down * a - up * b
            if gain <= 0:
                break
            inner += gain * n_ways * left[remaining - a - b]
        result += math.comb(first, a) * inner
    return Fraction(result, down)


@dataclass(frozen=True, eq=False)
class Deck(AnyDesign):
    """Cards with the numbers 1 … L, of which each of `people` takes one and keeps it.

    Members, the people of the second category, send L + 1 − card; the others send the card.

    Attributes:
        counts: how many cards there are with each number, from 1 on.
        people: how many people draw, one card each.
        categories: what non-members and members are called.

    Example:
        >>> Deck((1, 1, 2), people=4).epsilon_collector
        inf
    """

    SCHEMA: ClassVar[str] = "deck"
    asks: ClassVar[str] = "deck"
    is_numbered: ClassVar[bool] = True
    is_dealt: ClassVar[bool] = True
    required: ClassVar[Mapping[str, tuple[str, str]]] = {
        "card": (
            "a deck is dealt, one card to each of its people; expected the card that this respondent holds.",
            "Deal it to everybody at once: dn.respond_all(deck, answers). Or pass card=, one of deck.shuffle().",
        ),
    }

    # signatures of the verbs; a design must not load what takes an answer
    if TYPE_CHECKING:
        respond = _respond.respond
        respond_all = _draw.respond_all
        tally = _count.tally

        def count_sent(self) -> DeckTally: ...
        def estimate_sampled(
            self,
            *,
            sampling: Sampling,
            denominator: object = None,
            domain: object = None,
            by: object = None,
        ) -> SampledEstimate: ...

    counts: tuple[int, ...]
    people: int
    categories: Sequence[str] = NO_YES

    def __post_init__(self) -> None:
        object.__setattr__(
            self,
            "counts",
            tuple(
                _read_integer(count, "a number of cards") for count in self.counts
            ),
        )
        object.__setattr__(
            self, "people", _read_integer(self.people, "the number of people")
        )
        object.__setattr__(self, "categories", read(self.categories))
        if len(self.counts) < 2 or len(self.categories) != 2:
            raise InvalidDesign(
                f"there are {len(self.counts)} numbers on the cards and {len(self.categories)} categories; "
                "expected at least 2 numbers and exactly 2 categories."
            )
        if not 2 <= self.people <= self.cards:
            raise InvalidDesign(
                f"there are {self.cards:,} cards for {self.people:,} people; expected a card for each of at least 2.",
                "Add cards in the same proportions, or make groups.",
            )
        if 2 * self.mean == self.numbers + 1:
            raise InvalidDesign(
                f"the mean of the cards is {self.mean}, in the middle, so that members and others send the same on "
                "average; expected another mean.",
                "Take more high cards than low ones.",
            )

    def symbols_in(self, column: str, rows: NDArray[Any]) -> list[str]:  # noqa: ARG002 - there is one column
        return [str(code + 1) for code in rows.tolist()]

    def response_number(self, symbol: object) -> int:
        """Return the number of a response, counted from 0, by the number that was sent: text, or a whole number.

        Raises:
            InvalidResponse: a number that is on no card.
        """
        text = str(
            int(symbol)
            if isinstance(symbol, float) and symbol.is_integer()
            else symbol
        )
        if isinstance(symbol, bool) or not (
            text.isascii() and text.isdecimal() and 1 <= int(text) <= self.numbers
        ):
            raise InvalidResponse(
                f"{quoted(text)} is on no card; expected a number from 1 to {self.numbers}."
            )
        return int(text) - 1

    @property
    def cards(self) -> int:
        """Number of cards."""
        return sum(self.counts)

    @property
    def numbers(self) -> int:
        """The largest number on a card."""
        return len(self.counts)

    @cached_property
    def mean(self) -> Fraction:
        """The mean of the cards."""
        return Fraction(
            sum(k * count for k, count in enumerate(self.counts, 1)), self.cards
        )

    @cached_property
    def spread(self) -> Fraction:
        """The variance of one card."""
        return (
            Fraction(
                sum(k * k * count for k, count in enumerate(self.counts, 1)),
                self.cards,
            )
            - self.mean**2
        )

    @cached_property
    def parity_alone(self) -> Ratio:
        """The largest factor by which one response, seen alone, changes the odds of an answer."""
        return max(
            exact.ratio(a, b)
            for a, b in zip(self.counts, reversed(self.counts), strict=True)
        )

    @property
    def epsilon_alone(self) -> float:
        """ε against an observer of a single response, rounded up."""
        return exact.log_above(self.parity_alone)

    @cached_property
    def parity_collector(self) -> Ratio:
        """The largest factor for a collector who sees all responses and knows the answers of all others.

        Implements: F11. The others' answers and responses give away their cards. At worst all n − 1 of them hold the
        same number k: then the target sends k with weight c_k − (n − 1) or c_{L+1−k}, depending on the answer.
        """
        n_known = self.people - 1
        pairs = zip(self.counts, reversed(self.counts), strict=True)
        distinguishing = [
            (a, b)
            for k, (a, b) in enumerate(pairs)
            if 2 * k + 1 != self.numbers and a + b > 0
        ]
        return max(
            exact.ratio(a, max(b - n_known, 0)) if a else Fraction(0)
            for a, b in distinguishing
        )

    @property
    def epsilon_collector(self) -> float:
        """The ε against a collector who sees all responses and knows the answers of all others, rounded up."""
        return exact.log_above(self.parity_collector)

    def delta_collector(self, epsilon: Rational) -> float:
        """Return the smallest δ at this ε against a collector who knows the answers of all others, rounded up.

        Where every card is dealt it is the share of cards that are not in the middle, whatever the ε.

        Raises:
            InvalidRequest: a deck with too many spare cards for the exact sum.

        Example:
            >>> Deck((1, 1, 2), people=4).delta_collector(1)
            0.75
        """
        gamma = exact.exp_below(exact.non_negative_epsilon(epsilon))
        return exact.float_above(
            excess(self.counts, self.cards - self.people + 1, gamma)
        )

    @property
    def guarantee(self) -> str:
        """Guarantee in words, with the attacker that it holds against."""
        factor = _factor(self.parity_alone)
        alone = f"Whoever sees one response and no other can change the odds of an answer by at most {factor}."
        if self.parity_collector != math.inf:
            return (
                f"{alone} A collector who sees all responses and knows the answers of all the others can change them "
                f"by at most {_factor(self.parity_collector)}."
            )
        if self.cards > self.people:
            return (
                f"{alone} This deck is not ε-locally private against the collector: it has too few spare cards, and a "
                "collector who sees all responses and knows the answers of all the others may be certain of an answer."
            )
        lost = Fraction(self.cards - self._middle, self.cards)
        return (
            f"{alone} This deck is not ε-locally private against the collector: every card is dealt, so a collector "
            "who sees all responses and knows the answers of all the others knows the last card too, and is certain of "
            f"the answer with probability {lost} (δ = {formats.upper_bound(lost, 3)} at every ε)."
        )

    @property
    def _middle(self) -> int:
        return self.counts[self.numbers // 2] if self.numbers % 2 else 0

    def shuffle(self, source: chance.Source = chance.SYSTEM) -> tuple[int, ...]:
        """Return a card for each person, drawn without replacement: every deal has the same probability, exactly."""
        cards = [
            number
            for number, count in enumerate(self.counts, 1)
            for _ in range(count)
        ]
        for index in range(self.people):
            swap_index = index + chance.below(self.cards - index, source)
            cards[index], cards[swap_index] = cards[swap_index], cards[index]
        return tuple(cards[: self.people])

    def with_replacement(self) -> Design:
        """Return the design in which everybody draws from the full deck and puts the card back."""
        shares = [Fraction(count, self.cards) for count in self.counts]
        return christofides(cards=shares, categories=self.categories)

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Deck:
        counts = tuple(
            documents.integer_field({"count": count}, "count")
            for count in documents.field(body, "counts", list)
        )
        return cls(
            counts,
            documents.integer_field(body, "people"),
            read_labels(body, "categories"),
        )

    def to_body(self) -> dict[str, Any]:
        return {
            "counts": list(self.counts),
            "people": self.people,
            "categories": list(self.categories),
        }


def integer_deck(
    people: int,
    epsilon: Rational,
    middle: Rational = 0,
    *,
    cards: int | None = None,
    collector: bool = False,
    categories: Sequence[str] = NO_YES,
) -> Deck:
    """Build an integer deck with the numbers 1, 2 and 3 for a group, with at most this ε.

    Implements: the integer rule of F11: c₂ = round(M·middle), c₁ = ⌈(M − c₂)/(e^ε + 1)⌉, c₃ the rest. For the ε against
    a collector with n people, c₁ = ⌈(M − c₂ + (n − 1)·e^ε)/(e^ε + 1)⌉, from c₃ ≤ e^ε·(c₁ − (n − 1)).

    Guarantee: `epsilon_alone` ≤ ε, or with `collector=True` `epsilon_collector` ≤ ε. With a card for each person and
    none to spare there is no ε against the collector, and `Deck.guarantee` says so.

    Args:
        people: how many draw.
        epsilon: the ε that must hold.
        middle: the share of cards with a 2, which tell nothing.
        cards: how many cards there are; as many as people, if it is not given.
        collector: let ε hold against a collector who knows the answers of all others.
        categories: what non-members and members are called.

    Raises:
        InvalidDesign: so many cards, in whole numbers and at this ε, cannot tell members from others.

    Example:
        >>> integer_deck(100, epsilon="1/2", middle="1/10").counts
        (34, 10, 56)
    """
    group = _read_integer(people, "the number of people")
    total = group if cards is None else _read_integer(cards, "the number of cards")
    share = exact.probability(middle, name="middle")
    n_known = group - 1 if collector else 0
    counts = _deck_counts(total, exact.gamma_below(epsilon), share, n_known)
    return Deck(counts, group, categories)


def _deck_counts(
    total: int, ratio: Fraction, middle: Fraction, n_known: int
) -> tuple[int, int, int]:
    """Return how many cards have each number, where so many people's answers are known to the collector."""
    between = math.floor(total * middle + Fraction(1, 2))
    remainder = total - between
    first = math.ceil((remainder + n_known * ratio) / (ratio + 1))
    counts = (first, between, remainder - first)
    if counts[2] <= first:
        raise _cannot_estimate(counts, ratio, n_known)
    return counts


def _cannot_estimate(
    counts: tuple[int, ...], ratio: Fraction, n_known: int
) -> InvalidDesign:
    first, between, last = counts
    problem = (
        f"this takes {first:,} cards with a 1, {between:,} with a 2 and {max(last, 0):,} with a 3, so that members and "
        "others send the same on average; expected more threes than ones."
    )
    if n_known:
        # c₃ ≤ r·(c₁ − known) and c₃ > c₁ ask for c₁ > r·known/(r − 1).
        ones = math.floor(ratio * n_known / (ratio - 1)) + 1
        hint = f"Against a collector this ε takes at least about {2 * ones + 1 + between:,} cards, or a larger ε."
        return InvalidDesign(problem, hint)
    ones = (first + last - 1) // 2
    if ones < 1:
        return InvalidDesign(problem, "Take more people, or fewer middle cards.")
    min_epsilon = formats.epsilon(
        exact.log_above(Fraction(first + last - ones, ones))
    )
    return InvalidDesign(
        problem,
        f"Take an ε of at least {min_epsilon}, more people, or fewer middle cards.",
    )


def _read_integer(number: object, name: str) -> int:
    if (
        isinstance(number, bool)
        or not hasattr(number, "__index__")
        or number.__index__() < 0
    ):
        raise InvalidDesign(
            f"{name} is {exact.text(number)}; expected a whole number, 0 or more."
        )
    return int(number.__index__())


def _factor(parity: Ratio) -> str:
    if parity == math.inf:
        return "any factor: some response proves the answer"
    return f"a factor of {formats.factor(parity, 4)} (ε = {formats.epsilon(exact.log_above(parity))})"

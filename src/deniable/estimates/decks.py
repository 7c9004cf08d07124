"""Estimates from cards that were dealt without replacement, where responses depend on each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Self

from deniable import documents, exact
from deniable.designs.cards import Deck
from deniable.errors import InvalidRequest, NotEstimable, quoted
from deniable.estimates import members
from deniable.estimates.covariances import Covariance, Full, Vector, vector
from deniable.estimates.intervals import wilson
from deniable.estimates.results import (
    Bounds,
    Caution,
    Description,
    IntervalMethod,
    IntervalRequest,
)
from deniable.estimates.shares import CountEvidence, Estimate, sampled_fraction
from deniable.estimates.summary import silent_note
from deniable.tallies.decks import DeckTally


def parts(
    deck: Deck, respondents: int, f: Fraction = Fraction(0)
) -> tuple[Fraction, Fraction]:
    """Return (α, β) with n·Var = α + β·π(1 − π), for n respondents.

    Implements: F11 for M ≥ n cards: with A = Var Y / (L + 1 − 2·EY)², a census has α = A(M − n)/(M − 1) and
    β = 4nA/(M − 1). For people drawn from a larger population, f as in F6, β becomes f + (1 − f/n)·4nA/(M − 1).

    Why: given the people, the cards alone are random. Over the draw of people, π_s(1 − π_s) has the mean
    π(1 − π)(1 − f/n), and π_s itself adds f·π(1 − π)/n.
    """
    n, total = respondents, deck.cards
    device = deck.spread / (deck.numbers + 1 - 2 * deck.mean) ** 2
    return device * (total - n) / (total - 1), f + (1 - f / n) * 4 * n * device / (
        total - 1
    )


def deck_variance(
    deck: Deck,
    share: exact.Rational,
    *,
    respondents: int | None = None,
    population: int | None = None,
) -> float:
    """Return the variance of the estimated share of members, if this is the true one.

    Args:
        deck: what was dealt.
        share: the true share of members; in the population, where there is one.
        respondents: how many sent a response; all people of the deck, if it is not given.
        population: how many people there are altogether: the number of respondents for a census, more for a sample
            without replacement, nothing for independent respondents.

    Example:
        >>> round(deck_variance(Deck((1, 2, 3), people=6), "1/3", population=6), 6)
        0.222222
    """
    pi = exact.probability(share, name="share")
    n = _respondents(deck, respondents)
    constant, slope = parts(deck, n, _fraction(n, population))
    return float((constant + slope * pi * (1 - pi)) / n)


def estimate_deck(
    tally: DeckTally, *, population: int | None = None
) -> Estimate[DeckEvidence]:
    """Estimate the share of members from the numbers that were sent.

    Args:
        tally: how often each number was sent.
        population: how many people there are altogether: the number of respondents for a census, more for a sample
            without replacement, nothing for independent respondents.

    Raises:
        InvalidRequest: a population smaller than the respondents, or no number.
        NotEstimable: fewer than two responses, or responses that these cards cannot give.

    Example:
        >>> estimate_deck(DeckTally(Deck((1, 2, 3), people=6), [1, 2, 3])).params["yes"]
        0.0
    """
    deck, counts, n = tally.design, tuple(tally.counts.tolist()), tally.respondents
    if n < 2:
        raise NotEstimable(
            f"there are {n} responses; expected at least 2, to say how sure an estimate is."
        )
    _fraction(n, population)  # refuses what is no population
    check_possible(deck, counts, n)
    mean = Fraction(sum(k * count for k, count in enumerate(counts, 1)), n)
    share = (mean - deck.mean) / (deck.numbers + 1 - 2 * deck.mean)
    evidence = DeckEvidence(deck, counts, tally.missing, share, population)
    return Estimate("deck", vector([1 - evidence.share, evidence.share]), evidence)


@dataclass(frozen=True, eq=False)
class DeckEvidence(CountEvidence):
    """Responses of a group of people to whom a deck was dealt.

    Attributes:
        design: what was dealt.
        counts: how often each number was sent.
        missing: how many people sent nothing.
        exactly: the unbiased share of members as a fraction; it may leave [0, 1].
        population: how many people there are altogether, as in `estimate_deck`.
    """

    type: ClassVar = "deck"
    dependent: ClassVar = "cards that are dealt to a whole group"

    design: Deck
    counts: tuple[int, ...]
    missing: int
    exactly: Fraction
    population: int | None = None

    @property
    def categories(self) -> Sequence[str]:
        """The names of the shares."""
        return self.design.categories

    @property
    def respondents(self) -> int:
        """The number of responses."""
        return sum(self.counts)

    @property
    def share(self) -> float:
        """The estimated share of members."""
        return float(self.exactly)

    @property
    def share_variance(self) -> float:
        """The unbiased estimate of the variance; where there is none, the largest variance that is possible.

        Why: n·Var = α + β·q with q = π(1 − π), and q̂ = π̂(1 − π̂) has the mean q − Var, so that (α + β·q̂)/(n − β) is
        unbiased; like every such estimate it can fall below 0. Where β ≥ n, as in very small groups, q̂ does not rise
        with q, and q = 1/4 is taken.
        """
        n = self.respondents
        constant, slope = self._parts()
        if slope >= n:
            return float((constant + slope / 4) / n)
        return float(
            (constant + slope * self.exactly * (1 - self.exactly)) / (n - slope)
        )

    @property
    def covariance(self) -> Covariance:
        """The covariance of the shares."""
        return Full(self.share_variance * vector([[1, -1], [-1, 1]]))

    def default_interval(self, method: str) -> str:  # noqa: ARG002 - there is one method
        """Return "exact", but for very large groups with spare cards."""
        _, *dealt = self._informative
        return (
            "exact" if members.dealt_terms(*dealt) <= members.MOST_TERMS else "score"
        )

    def intervals(self, estimate: Estimate[Self]) -> Mapping[str, IntervalMethod]:
        return {
            "exact": self._exact,
            "score": self._score,
            "normal": partial(estimate._bounds_around, "normal"),
            "chebyshev": partial(estimate._bounds_around, "chebyshev"),
        }

    def warnings(self, estimate: Estimate[Self]) -> tuple[Caution, ...]:  # noqa: ARG002 - of every estimate
        cautions = []
        if self.share_variance <= 0:
            text = "the variance is estimated at 0 or below, which says nothing: go by the interval."
            cautions.append(Caution("no-variance", text))
        lows, highs = self._score(0.95)
        if lows[1] <= 0 and highs[1] >= 1:
            text = "responses are too few to tell anything: the interval holds everything from 0 to 100%."
            cautions.append(Caution("few", f"{self.respondents:,} {text}"))
        return tuple(cautions)

    def single_variances(self, value: Vector, shares: Vector) -> Vector:  # noqa: ARG002 - they depend on shares alone
        """Return the variances of independent respondents."""
        constant, slope = map(float, self._parts(Fraction(1)))
        return vector(slope * shares * (1 - shares) + constant)

    def describe(
        self,
        estimate: Estimate[Self],
        request: IntervalRequest,  # noqa: ARG002 - nothing is said about intervals
    ) -> Description:
        deck, n = self.design, self.respondents
        notes = []
        if not 0 <= self.exactly <= 1:
            notes.append(
                "A share outside 0 … 1 is the price of an estimate without bias."
            )
        if self.missing:
            notes.append(silent_note(self.missing))
        return Description(
            title=f"deck of {deck.cards:,} cards {deck.counts}, {n:,} respondents",
            quantity="share",
            method=estimate.method,
            respondents=n,
            epsilon=deck.epsilon_collector,
            missing=self.missing,
            notes=(*notes, deck.guarantee),
        )

    def source(self, estimate: Estimate[Self]) -> dict[str, Any]:
        method = {} if estimate.method == "deck" else {"method": estimate.method}
        return {
            "counts": self.counts,
            "missing": self.missing,
            "population": self.population,
            **method,
        }

    @classmethod
    def read(cls, source: Mapping[str, Any], design: Deck) -> Estimate[DeckEvidence]:
        counted = DeckTally(
            design,
            documents.field(source, "counts", list),
            documents.integer_field(source, "missing"),
        )
        return estimate_deck(counted, population=source.get("population"))

    def _parts(self, f: Fraction | None = None) -> tuple[Fraction, Fraction]:
        n = self.respondents
        return parts(
            self.design, n, _fraction(n, self.population) if f is None else f
        )

    @property
    def _informative(self) -> tuple[int, int, int, int]:
        """How many responses point to members, and to anybody; how many cards do, and how many of them are plain."""
        cards = self.design.counts
        numbers = list(zip(self.counts, cards, reversed(cards), strict=True))
        return (
            sum(sent for sent, plain, mirrored in numbers if plain < mirrored),
            sum(sent for sent, plain, mirrored in numbers if plain != mirrored),
            sum(plain for _, plain, mirrored in numbers if plain != mirrored),
            sum(plain for _, plain, mirrored in numbers if plain > mirrored),
        )

    def _exact(self, level: float) -> Bounds:
        """Return the smallest and the largest share of members that the responses allow; the unbiased one among them.

        Members send more often what the others send less often. Numbers that both send equally often tell nothing: the
        respondents who sent another one are a random part of the people, to whom a deck of the other cards was dealt.
        """
        low, high = members.dealt(*self._informative).shares(self.population, level)
        return _both_shares(min(low, self.share), max(high, self.share))

    def _score(self, level: float) -> Bounds:
        """Return all shares whose own variance explains the distance."""
        constant, slope = map(float, self._parts())
        low, high = wilson(
            vector(self.share),
            1 + constant,
            constant,
            self.respondents,
            slope,
            level,
        )
        return _both_shares(float(low), float(high))


def _both_shares(low: float, high: float) -> Bounds:
    """Return the bounds of the share of the others and of that of members."""
    return vector([1 - high, low]), vector([1 - low, high])


def _fraction(respondents: int, population: int | None) -> Fraction:
    if population is None:
        return Fraction(1)
    sampled_fraction(respondents, population)  # refuses what is no population
    return Fraction(population - respondents, max(population - 1, 1))


def _respondents(deck: Deck, respondents: int | None) -> int:
    if respondents is None:
        return deck.people
    if isinstance(respondents, bool) or not 1 <= respondents <= deck.cards:
        raise InvalidRequest(
            f"there are {quoted(respondents)} respondents; expected at least 1 and a card for each, of {deck.cards:,}."
        )
    return respondents


def check_possible(deck: Deck, counts: tuple[int, ...], respondents: int) -> None:
    """Refuse responses that no deal gives: k and L + 1 − k can be sent only by those who hold one of the two.

    Raises:
        NotEstimable: such responses.
    """
    if respondents > deck.people:
        raise NotEstimable(
            f"there are {respondents:,} responses of {deck.people:,} people; expected at most one of each."
        )
    for k in range((deck.numbers + 1) // 2):
        other = deck.numbers - 1 - k
        sent, held = (
            sum(numbers[j] for j in {k, other}) for numbers in (counts, deck.counts)
        )
        if sent > held:
            raise NotEstimable(
                f"{k + 1} or {other + 1} was sent {sent:,} times, but only {held:,} cards lead to it.",
                "The responses belong to another deck, or somebody did not follow the card.",
            )

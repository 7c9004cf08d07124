"""Estimates from cards that were dealt without replacement, where responses depend on each other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from deniable import documents, exact
from deniable.designs.cards import Deck
from deniable.errors import InvalidRequest, NotEstimable, quoted
from deniable.estimates import members
from deniable.estimates.covariances import Matrix, vector
from deniable.estimates.intervals import Interval, one_of, quantile, wilson
from deniable.estimates.results import Caution, Result, Summary
from deniable.estimates.shares import ShareRow, sampled_fraction
from deniable.estimates.summary import cost, reference, worth
from deniable.tallies.decks import DeckTally

METHODS = ("exact", "score", "normal", "chebyshev")


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


def estimate_deck(tally: DeckTally, *, population: int | None = None) -> DeckEstimate:
    """Estimate the share of members from the numbers that were sent.

    Args:
        tally: how often each number was sent.
        population: how many people there are altogether: the number of respondents for a census, more for a sample
            without replacement, nothing for independent respondents.

    Raises:
        NotEstimable: fewer than two responses, or responses that these cards cannot give.

    Example:
        >>> estimate_deck(DeckTally(Deck((1, 2, 3), people=6), [1, 2, 3])).share
        0.0
    """
    deck, counts, n = tally.design, tuple(tally.counts.tolist()), tally.respondents
    if n < 2:
        raise NotEstimable(
            f"there are {n} responses; expected at least 2, to say how sure an estimate is."
        )
    check_possible(deck, counts, n)
    mean = Fraction(sum(k * count for k, count in enumerate(counts, 1)), n)
    share = (mean - deck.mean) / (deck.numbers + 1 - 2 * deck.mean)
    return DeckEstimate(deck, counts, tally.missing, share, population)


@dataclass(frozen=True, eq=False)
class DeckEstimate(Result):
    """The share of members in a group to which a deck was dealt.

    Attributes:
        deck: what was dealt.
        counts: how often each number was sent.
        missing: how many people sent nothing.
        exactly: the unbiased share as a fraction; it may leave [0, 1].
        population: how many people there are altogether, as in `estimate_deck`.
    """

    type: ClassVar = "deck"

    deck: Deck
    counts: tuple[int, ...]
    missing: int
    exactly: Fraction
    population: int | None = None

    @property
    def respondents(self) -> int:
        """How many responses were counted."""
        return sum(self.counts)

    @property
    def share(self) -> float:
        """The estimated share of members."""
        return float(self.exactly)

    @property
    def params(self) -> dict[str, float]:
        return dict(
            zip(self.deck.categories, (1 - self.share, self.share), strict=True)
        )

    @property
    def variance(self) -> float:
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
    def error(self) -> float:
        """The standard error of the share of members, and of the others."""
        return math.sqrt(max(self.variance, 0.0))

    @property
    def bse(self) -> dict[str, float]:
        return dict.fromkeys(self.deck.categories, self.error)

    def cov_params(self) -> Matrix:
        return self.variance * vector([[1, -1], [-1, 1]])

    @property
    def default_interval(self) -> str:
        """The interval method that is used when none is named."""
        _, *dealt = self._telling
        return "exact" if members.dealt_terms(*dealt) <= members.MOST_TERMS else "score"

    def conf_int(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,  # noqa: ARG002 - the shares move together
    ) -> dict[str, Interval]:
        """Return an interval for each category by name.

        Args:
            level: how often such an interval holds the true share.
            method: "exact" (all numbers of members that the responses allow; the default but for very large groups with
                spare cards), "score" (all π whose own variance explains the distance), "normal" or "chebyshev".
            simultaneous: changes nothing: the two shares move together, and one interval holds when the other does.

        Raises:
            InvalidRequest: a level outside (0, 1), or another method.
        """
        if method is not None and method not in METHODS:
            raise InvalidRequest(
                f"the interval method is {quoted(method)}; expected one of {', '.join(METHODS)}."
            )
        each, chosen = one_of(1, level), method or self.default_interval
        if chosen in ("normal", "chebyshev"):
            low, high = self._around(each, chosen)
        else:
            low, high = self._exact(each) if chosen == "exact" else self._score(each)
        return dict(
            zip(
                self.deck.categories,
                (Interval(1 - high, 1 - low), Interval(low, high)),
                strict=True,
            )
        )

    @property
    def warnings(self) -> tuple[Caution, ...]:
        doubts = []
        if self.variance <= 0:
            text = "the variance is estimated at 0 or below, which says nothing: go by the interval."
            doubts.append(Caution("no-variance", text))
        low, high = self._score(0.95)
        if low <= 0 and high >= 1:
            text = "responses are too few to tell anything: the interval holds everything from 0 to 100%."
            doubts.append(Caution("few", f"{self.respondents:,} {text}"))
        return tuple(doubts)

    def summary(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
    ) -> Summary[ShareRow]:
        """Return a table of both shares, with what privacy cost and what is promised against whom."""
        n = self.respondents
        intervals = self.conf_int(level=level, method=method)
        direct = wilson(
            vector(list(self.params.values())).clip(0.0, 1.0), 1.0, 0.0, n, 1.0, level
        )
        at = float(reference(vector([self.share]), vector([self.error]))[0])
        constant, slope = map(
            float, self._parts(Fraction(1))
        )  # for independent respondents
        _, direct_answers = worth(
            n, vector([at]), vector([slope * at * (1 - at) + constant])
        )
        rows = [
            ShareRow(
                name, share, self.error, *intervals[name], low, high, direct_answers
            )
            for (name, share), low, high in zip(
                self.params.items(), *(ends.tolist() for ends in direct), strict=True
            )
        ]
        notes = [cost(n, direct_answers, moved=at != self.share)]
        if not 0 <= self.exactly <= 1:
            notes.append(
                "A share outside 0 … 1 is the price of an estimate without bias."
            )
        if self.missing:
            notes.append(
                f"{self.missing:,} sent no response and take no part in the estimate."
            )
        return Summary(
            title=f"deck of {self.deck.cards:,} cards {self.deck.counts}, {n:,} respondents",
            quantity="share",
            rows=tuple(rows),
            notes=(*notes, self.deck.guarantee),
            warnings=self.warnings,
            level=level,
            interval=method or self.default_interval,
            method="deck",
            respondents=n,
            missing=self.missing,
            epsilon=self.deck.epsilon_collector,
            simultaneous=simultaneous,
        )

    @property
    def _design_hash(self) -> str:
        return self.deck.hash

    def _source(self) -> dict[str, Any]:
        return {
            "counts": self.counts,
            "missing": self.missing,
            "population": self.population,
        }

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: Deck) -> DeckEstimate:
        counted = DeckTally(
            design,
            documents.field(source, "counts", list),
            documents.integer_field(source, "missing"),
        )
        return estimate_deck(counted, population=source.get("population"))

    def _parts(self, f: Fraction | None = None) -> tuple[Fraction, Fraction]:
        n = self.respondents
        return parts(self.deck, n, _fraction(n, self.population) if f is None else f)

    def _around(self, level: float, method: str) -> tuple[float, float]:
        factor = (
            quantile(level, self.respondents - 1)
            if method == "normal"
            else (1 - level) ** -0.5
        )
        return self.share - factor * self.error, self.share + factor * self.error

    @property
    def _telling(self) -> tuple[int, int, int, int]:
        """How many responses point to members, and to anybody; how many cards do, and how many of them are plain."""
        sorts = list(
            zip(self.counts, self.deck.counts, reversed(self.deck.counts), strict=True)
        )
        return (
            sum(sent for sent, own, other in sorts if own < other),
            sum(sent for sent, own, other in sorts if own != other),
            sum(own for _, own, other in sorts if own != other),
            sum(own for _, own, other in sorts if own > other),
        )

    def _exact(self, level: float) -> tuple[float, float]:
        """Return the smallest and the largest share of members that the responses allow; the unbiased one among them.

        Members send more often what the others send less often. Numbers that both send equally often tell nothing: the
        respondents who sent another one are a random part of the people, to whom a deck of the other cards was dealt.
        """
        low, high = members.dealt(*self._telling).shares(self.population, level)
        return min(low, self.share), max(high, self.share)

    def _score(self, level: float, f: Fraction | None = None) -> tuple[float, float]:
        constant, slope = map(float, self._parts(f))
        low, high = wilson(
            vector(self.share), 1 + constant, constant, self.respondents, slope, level
        )
        return float(low), float(high)


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

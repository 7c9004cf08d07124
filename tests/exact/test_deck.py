"""Decks that are dealt, against every deal written out, in rationals."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import pytest

from deniable.chance import ScriptedSource
from deniable.designs import Deck
from deniable.designs.cards import excess
from deniable.estimates import estimate_deck
from deniable.estimates.decks import parts
from deniable.exact import Ratio
from deniable.tallies.decks import tally as tally_deck
from tests.support.brute import quotient
from tests.support.cards import deals, law, sent, worlds
from tests.support.positions import script

DECKS = [
    Deck((1, 1, 2), 4),
    Deck((1, 2, 3), 6),
    Deck((2, 1, 4), 3),
    Deck((3, 4), 2),
    Deck((3, 4), 3),
    Deck((0, 1, 4), 3),
    Deck((1, 2, 1, 3), 3),
    Deck((2, 0, 1, 0, 3), 4),
    Deck((3, 1, 3, 0), 2),
]
every_deck = pytest.mark.parametrize(
    "deck", DECKS, ids=lambda deck: f"{deck.counts}-{deck.people}"
)


def moments(values: list[tuple[Fraction, Fraction]]) -> tuple[Fraction, Fraction]:
    """Return mean and variance of (value, probability) pairs."""
    assert sum(p for _, p in values) == 1
    mean = sum((v * p for v, p in values), Fraction(0))
    return mean, sum((v * v * p for v, p in values), Fraction(0)) - mean**2


def estimates(
    deck: Deck, answers: tuple[int, ...], weight: Fraction = Fraction(1)
) -> list[tuple[Fraction, Fraction]]:
    return [
        (
            estimate_deck(
                tally_deck(deck, sent(deck, answers, hand))
            ).evidence.exactly,
            weight * p,
        )
        for hand, p in deals(deck, len(answers)).items()
    ]


@every_deck
def test_in_a_census_the_estimate_is_unbiased_and_its_variance_is_the_formula(
    deck: Deck,
) -> None:
    for answers in worlds(deck.people):
        share = Fraction(sum(answers), deck.people)
        mean, spread = moments(estimates(deck, answers))
        constant, slope = parts(deck, deck.people)
        assert mean == share
        assert spread == (constant + slope * share * (1 - share)) / deck.people


@every_deck
def test_with_no_card_to_spare_it_is_the_formula_of_the_document(deck: Deck) -> None:
    whole = Deck(deck.counts, deck.cards)
    n, share = whole.people, Fraction(1, 3)
    constant, slope = parts(whole, n)
    gap = whole.numbers + 1 - 2 * whole.mean
    assert constant == 0
    assert slope * share * (1 - share) / n == 4 * share * (
        1 - share
    ) * whole.spread / ((n - 1) * gap**2)


def test_somebody_who_sends_nothing_leaves_an_estimate_of_the_others() -> None:
    deck = Deck((1, 2, 3), 6)
    for answers in worlds(4):
        share = Fraction(sum(answers), 4)
        mean, spread = moments(estimates(deck, answers))
        constant, slope = parts(deck, 4)
        assert (mean, spread) == (
            share,
            (constant + slope * share * (1 - share)) / 4,
        )


@pytest.mark.parametrize(
    "deck", [Deck((1, 2), 3), Deck((1, 1, 3), 3), Deck((2, 1, 3), 2)], ids=str
)
@pytest.mark.parametrize("population", [3, 4, 5])
def test_people_drawn_from_a_population_add_their_own_variance(
    deck: Deck, population: int
) -> None:
    n = deck.people
    f = Fraction(population - n, population - 1)
    constant, slope = parts(deck, n, f)
    for people in worlds(population):
        share = Fraction(sum(people), population)
        samples = list(combinations(people, n))
        pairs = [
            pair
            for chosen in samples
            for pair in estimates(deck, chosen, Fraction(1, len(samples)))
        ]
        assert moments(pairs) == (
            share,
            (constant + slope * share * (1 - share)) / n,
        )


def test_independent_respondents_add_their_own_variance() -> None:
    deck, share = Deck((1, 1, 3), 3), Fraction(2, 7)
    constant, slope = parts(deck, 3, Fraction(1))
    pairs = [
        pair
        for answers in product((0, 1), repeat=3)
        for pair in estimates(
            deck, answers, share ** sum(answers) * (1 - share) ** (3 - sum(answers))
        )
    ]
    assert moments(pairs) == (share, (constant + slope * share * (1 - share)) / 3)


@pytest.mark.parametrize(
    "deck",
    [Deck((1, 6), 7), Deck((1, 1, 5), 7), Deck((1, 5), 4), Deck((1, 0, 6), 3)],
    ids=str,
)
def test_the_estimate_of_the_variance_is_unbiased(deck: Deck) -> None:
    n = deck.people
    constant, slope = parts(deck, n)
    assert slope < n
    for answers in worlds(n):
        share = Fraction(sum(answers), n)
        guesses = [
            (
                estimate_deck(
                    tally_deck(deck, sent(deck, answers, hand)), population=n
                ).evidence.share_variance,
                p,
            )
            for hand, p in deals(deck).items()
        ]
        truth = (constant + slope * share * (1 - share)) / n
        assert sum(value * float(p) for value, p in guesses) == pytest.approx(
            float(truth), rel=1e-12, abs=1e-12
        )


def test_where_it_cannot_be_estimated_the_largest_variance_is_told() -> None:
    deck = Deck((1, 2, 3), 6)
    constant, slope = parts(deck, 6)
    assert slope >= 6
    assert estimate_deck(
        tally_deck(deck, [1, 2, 2, 3, 3, 3]), population=6
    ).evidence.share_variance == float((constant + slope / 4) / 6)


def collector(deck: Deck) -> list[tuple[Fraction, Fraction]]:
    """Return for the worst world of the others the probabilities of all responses, the first answering no and yes."""
    # what the others answer only renames their responses
    others = (0,) * (deck.people - 1)
    no, yes = law(deck, (0, *others)), law(deck, (1, *others))
    return [(no.get(r, Fraction(0)), yes.get(r, Fraction(0))) for r in {*no, *yes}]


def test_what_the_others_answer_does_not_matter_to_a_collector_who_knows_it() -> (
    None
):
    deck = Deck((2, 1, 3), 3)
    found = set()
    for others in product((0, 1), repeat=2):
        no, yes = law(deck, (0, *others)), law(deck, (1, *others))
        pairs = Counter(
            (no.get(r, Fraction(0)), yes.get(r, Fraction(0))) for r in {*no, *yes}
        )
        found.add(frozenset(pairs.items()))
    assert len(found) == 1


@every_deck
def test_the_parity_against_a_collector_is_the_brute_force_one(deck: Deck) -> None:
    ratios: list[Ratio] = [
        quotient(a, b)
        for no, yes in collector(deck)
        for a, b in ((no, yes), (yes, no))
    ]
    assert deck.parity_collector == max(ratios)


@every_deck
@pytest.mark.parametrize(
    "gamma", [Fraction(1), Fraction(3, 2), Fraction(271, 100), Fraction(40)], ids=str
)
def test_delta_against_a_collector_is_the_brute_force_one(
    deck: Deck, gamma: Fraction
) -> None:
    pairs = collector(deck)
    up = sum((max(Fraction(0), no - gamma * yes) for no, yes in pairs), Fraction(0))
    down = sum(
        (max(Fraction(0), yes - gamma * no) for no, yes in pairs), Fraction(0)
    )
    assert excess(deck.counts, deck.cards - deck.people + 1, gamma) == up == down


@every_deck
def test_the_parity_of_one_response_alone_is_that_of_the_independent_cards(
    deck: Deck,
) -> None:
    assert deck.parity_alone == deck.with_replacement().parity
    for answer, other in ((0, 1), (1, 0)):
        one, two = law(deck, (answer,)), law(deck, (other,))
        worst = max(quotient(p, two.get(r, Fraction(0))) for r, p in one.items())
        assert worst <= deck.parity_alone
    assert deck.parity_collector >= deck.parity_alone


def test_with_all_cards_dealt_delta_is_the_share_of_cards_beside_the_middle() -> (
    None
):
    for counts in ((1, 2, 3), (5, 90, 10), (0, 1, 2)):
        deck = Deck(counts, sum(counts))
        assert deck.parity_collector == math.inf
        for gamma in (Fraction(1), Fraction(7), Fraction(10**9)):
            assert excess(counts, 1, gamma) == 1 - Fraction(counts[1], sum(counts))


@pytest.mark.parametrize(
    "deck",
    [Deck((1, 1, 2), 4), Deck((2, 3), 3), Deck((2, 1, 3), 2), Deck((1, 0, 4), 5)],
    ids=str,
)
def test_every_deal_has_exactly_its_probability(deck: Deck) -> None:
    totals = [deck.cards - place for place in range(deck.people)]
    found: Counter[tuple[int, ...]] = Counter()
    for positions in product(*map(range, totals)):
        words = b"".join(
            script(position, total)
            for position, total in zip(positions, totals, strict=True)
        )
        source = ScriptedSource(words)
        found[deck.shuffle(source)] += 1
        assert source.used == len(words)
    total = math.prod(totals)
    assert {hand: Fraction(count, total) for hand, count in found.items()} == deals(
        deck
    )

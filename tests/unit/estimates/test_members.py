"""Intervals among people who can be counted keep their level: summed over all samples, deals and responses."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

import deniable as dn
from deniable.estimates import backing, estimate_deck, members
from deniable.tallies.decks import DeckTally

LEAST = 0.95  # these intervals are exact
SAMPLES = ((10, 10), (10, 25), (30, 30), (30, 60))


def law_of_hits(
    design: dn.Design, n: int, population: int, number: int
) -> np.ndarray:
    """How likely each number of responses with the second symbol is, if so many people have the second answer."""
    p, q = (float(design.channel.probability(1, given=answer)) for answer in (1, 0))
    law = np.zeros(n + 1)
    for m, weight in enumerate(
        hypergeom.pmf(np.arange(n + 1), population, number, n)
    ):
        if weight > 0:
            law += weight * np.convolve(
                binom.pmf(range(m + 1), m, p), binom.pmf(range(n - m + 1), n - m, q)
            )
    return law


def coverage(
    design: dn.Design,
    n: int,
    population: int,
    method: str | None = None,
    numbers: Iterable[int] | None = None,
) -> list[float]:
    """The coverage for every number of people with the second answer, or for some."""
    made = [
        dn.estimate(dn.Tally(design, [n - hits, hits]), population=population)
        for hits in range(n + 1)
    ]
    low, high = np.array(
        [each.interval(design.categories[1], method=method) for each in made]
    ).T
    return [
        float(
            law_of_hits(design, n, population, number)
            @ ((low - 1e-9 <= share) & (share <= high + 1e-9))
        )
        for number in numbers or range(population + 1)
        for share in [number / population]
    ]


@pytest.mark.parametrize(("n", "population"), SAMPLES)
@pytest.mark.parametrize(
    "design",
    [dn.warner(2), dn.warner(8), dn.warner(p="1/10"), dn.binary("99/100", "4/5")],
    ids=str,
)
def test_some_of_so_many_people(design: dn.Design, n: int, population: int) -> None:
    assert (
        dn.estimate(dn.Tally(design, [n, 0]), population=population).default_interval
        == "exact"
    )
    assert min(coverage(design, n, population)) >= LEAST


def test_value_and_error_alone_would_not_do() -> None:
    """The check can fail."""
    assert min(coverage(dn.warner(8), 10, 25, "normal")) < 0.8


def test_the_score_interval_of_large_samples_knows_the_population() -> None:
    for population in (300, 600):
        assert (
            dn.estimate(
                dn.Tally(dn.warner(2), [250, 50]), population=population
            ).default_interval
            == "score"
        )
        found = coverage(
            dn.warner(2), 300, population, numbers=(0, 1, 2, 3, 10, 60, 150)
        )
        assert min(found) >= 0.92
        assert np.mean(found) >= 0.94


def test_independent_respondents_stand_in_where_the_sum_is_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Theirs is the wider interval."""
    close = dn.estimate(dn.Tally(dn.warner(8), [25, 5]), population=40).interval(
        "yes"
    )
    monkeypatch.setattr(backing, "MOST_TERMS", 0)
    low, high = dn.estimate(dn.Tally(dn.warner(8), [25, 5]), population=40).interval(
        "yes"
    )
    assert low < close.low < close.high < high
    for n, population in SAMPLES:
        assert min(coverage(dn.warner(8), n, population)) >= LEAST


def test_other_answers_that_differ_are_bounded_from_both_sides() -> None:
    """Six of nine people, whichever of the other answers they have."""
    design = dn.matrix(
        [["3/5", 0, "3/10"], ["1/5", "3/5", "1/10"], ["1/5", "2/5", "3/5"]]
    )
    matrix, n = design.channel.floats(), 6
    counts = [
        each for each in itertools.product(range(n + 1), repeat=3) if sum(each) == n
    ]
    ends = {
        each: np.array(
            list(
                dn.estimate(dn.Tally(design, each), population=9)
                .conf_int(method="exact")
                .values()
            )
        ).T
        for each in counts
    }
    for people in ((9, 0, 0), (0, 5, 4), (4, 5, 0), (3, 0, 6), (1, 1, 7)):
        held = np.zeros(3)
        for sample, ways in deals(people, n).items():
            for sent, chance in multinomials(matrix, sample).items():
                low, high = ends[sent]
                held += (
                    ways
                    * chance
                    * (
                        (low <= np.divide(people, 9) + 1e-9)
                        & (np.divide(people, 9) <= high + 1e-9)
                    )
                )
        assert held.min() >= LEAST


def multinomials(
    matrix: np.ndarray, sample: tuple[int, ...]
) -> dict[tuple[int, ...], float]:
    """The law of the counts of three responses, given how many respondents have each answer."""
    law: dict[tuple[int, ...], float] = {(0, 0, 0): 1.0}
    for column in np.repeat(matrix.T, sample, axis=0):
        after: Counter[tuple[int, ...]] = Counter()
        for counts, chance in law.items():
            for response, each in enumerate(column):
                after[
                    tuple(
                        count + (response == at) for at, count in enumerate(counts)
                    )
                ] += chance * each
        law = dict(after)
    return law


@cache
def deals(cards: tuple[int, ...], number: int) -> dict[tuple[int, ...], float]:
    """How likely each hand of so many cards is."""
    hands = [
        each
        for each in itertools.product(
            *(range(min(count, number) + 1) for count in cards)
        )
        if sum(each) == number
    ]
    return {
        hand: math.prod(map(math.comb, cards, hand)) / math.comb(sum(cards), number)
        for hand in hands
    }


def responses(deck: dn.Deck, n: int, m: int) -> dict[tuple[int, ...], float]:
    """The law of what n respondents send, m of them members."""
    law: Counter[tuple[int, ...]] = Counter()
    for hand, chance in deals(deck.counts, m).items():
        left = tuple(np.subtract(deck.counts, hand).tolist())
        for others, chance_of_others in deals(left, n - m).items():
            law[tuple(np.add(others, hand[::-1]).tolist())] += (
                chance * chance_of_others
            )
    return dict(law)


DECKS = (
    (dn.integer_deck(10, 2), 10),
    (dn.integer_deck(10, 2, "1/5"), 10),
    (dn.Deck((2, 3, 7), people=10), 8),
    (dn.Deck((1, 2, 3, 4), people=8), 8),
    (dn.Deck((3, 1, 1, 2, 5), people=9), 9),
)


@cache
def deck_ends(
    deck: dn.Deck,
    counts: tuple[int, ...],
    population: int | None,
    method: str | None,
) -> tuple[float, float]:
    tally = DeckTally(deck, np.array(counts), missing=deck.people - sum(counts))
    return estimate_deck(tally, population=population).interval("yes", method=method)


def deck_coverage(
    deck: dn.Deck, n: int, population: int | None, method: str | None = None
) -> float:
    """The smallest coverage of all numbers of members; of some shares, for independent respondents."""
    laws = [responses(deck, n, m) for m in range(n + 1)]
    found = []
    for share in np.linspace(0, 1, 1 + (population or 40)):
        number = np.arange(n + 1)
        chances = (
            binom.pmf(number, n, share)
            if population is None
            else hypergeom.pmf(number, population, round(share * population), n)
        )
        held = 0.0
        for chance, law in zip(chances, laws, strict=True):
            for counts, each in law.items():
                low, high = deck_ends(deck, counts, population, method)
                held += chance * each * (low - 1e-9 <= share <= high + 1e-9)
        found.append(held)
    return min(found)


@pytest.mark.parametrize(
    "population", [1, 3, None], ids=["census", "a third", "independent"]
)
@pytest.mark.parametrize(
    ("deck", "n"), DECKS, ids=lambda each: str(getattr(each, "counts", each))
)
def test_cards_that_are_dealt(deck: dn.Deck, n: int, population: int | None) -> None:
    assert deck_coverage(deck, n, population and population * n) >= LEAST


def test_two_moments_would_not_do_for_cards() -> None:
    """The check can fail."""
    deck, n = DECKS[0]
    assert deck_coverage(deck, n, n, "score") < 0.9
    assert deck_coverage(deck, n, n, "normal") < 0.9


def test_long_sums_and_short_ones_agree() -> None:
    """The terms that are left out of long sums are next to nothing."""
    for n, cards, plain in ((200, 900, 500), (200, 5000, 4500)):
        assert (cards - n) // 2 > 2 * members._hand(n, cards, plain)
        tails = members.dealt(70, n, cards, plain)
        for m in (0, 1, 60, 200):
            mine = hypergeom.pmf(np.arange(m + 1), cards, plain, m)
            expected = sum(
                chance * hypergeom.cdf(n - m - 70 + a, cards - m, plain - a, n - m)
                for a, chance in enumerate(mine)
            )
            assert tails.as_many[m] == pytest.approx(expected, abs=1e-9)

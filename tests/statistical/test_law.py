"""Tallies drawn in law have the law of tallies that are counted response by response; wrong laws are found.

The law is known exactly, from every way in which a few people can respond (`tests.support.worlds`). Each test stays
silent at a rate of 1e-9, shared among all tallies that can be.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, hypergeom

import deniable as dn
from deniable import simulate as law
from deniable.attacks.simulated import generator
from deniable.chance import Source
from deniable.designs import Deck, Design
from deniable.order.relaxation import ladder
from deniable.types.deck.respond import respond as respond_with_card
from deniable.types.strings.design import NoisySampling
from tests.support import worlds
from tests.support.worlds import FALSE_ALARM, assert_tallies_follow

REPETITIONS = 20_000

found = pytest.raises(AssertionError, match="follow the law")

DESIGNS = [
    (dn.warner(1), (2, 2)),
    (dn.k_ary(3, 1), (2, 0, 1)),
    (dn.k_ary(3, 1, low=True), (1, 1, 1)),
    (dn.binary("9/10", "7/10"), (1, 3)),
    (dn.matrix([["1/2", 0], ["1/2", "1/4"], [0, "3/4"]]), (2, 1)),
    (dn.christofides(1, middle="1/4"), (2, 1)),
    (dn.product([dn.warner(1), dn.k_ary(3, 1)]), (1, 0, 1, 0, 0, 1)),
    (dn.hadamard(3, 1), (1, 1, 1)),
    (dn.local_hashing(3, 1), (1, 0, 1)),
    (dn.subset(4, 1, t=2), (1, 0, 2, 0)),
    (dn.unary(3, 1), (1, 1, 0)),
    (dn.rappor(3, 2), (1, 1, 0)),
    (dn.truncated_rappor(3, 2), (0, 1, 1)),
    (dn.mixture(3, {1: "1/2", 2: "1/2"}, epsilon=1), (0, 1, 1)),
]
DECKS = [
    (Deck((1, 1, 2), people=4), (3, 1)),
    (Deck((2, 1, 3), people=4), (2, 2)),
    (Deck((1, 4), people=3), (1, 2)),
]
every_design = pytest.mark.parametrize(
    ("design", "people"), DESIGNS, ids=lambda each: repr(each)[:40]
)
every_deck = pytest.mark.parametrize(("deck", "people"), DECKS, ids=repr)


@pytest.fixture
def draws(seeded: Source) -> np.random.Generator:
    return generator(seeded)


def one_by_one(
    design: Design, people: tuple[int, ...], repetitions: int, source: Source
) -> NDArray[np.int64]:
    """Count what everybody sends, response by response."""
    channel, rows = (
        design.channel,
        np.zeros((repetitions, design.channel.cells), np.int64),
    )
    for row in rows:
        for answer, number in enumerate(people):
            for _ in range(number):
                row[list(channel.cells_of(channel.draw(answer, source)))] += 1
    return rows


@pytest.mark.statistical
@every_design
def test_tallies_of_a_design_follow_its_law(
    design: Design,
    people: tuple[int, ...],
    draws: np.random.Generator,
    seeded: Source,
) -> None:
    exactly = worlds.of_design(design, people)
    assert_tallies_follow(
        exactly, law.tallies(design, people, REPETITIONS, draws=draws)
    )
    assert_tallies_follow(exactly, one_by_one(design, people, 2_000, seeded))


@pytest.mark.statistical
@every_deck
def test_tallies_of_a_deck_follow_its_law(
    deck: Deck, people: tuple[int, ...], draws: np.random.Generator, seeded: Source
) -> None:
    exactly = worlds.of_deck(deck, people)
    assert_tallies_follow(
        exactly, law.tallies(deck, people, REPETITIONS, draws=draws)
    )
    rows = np.zeros((2_000, deck.numbers), np.int64)
    for row in rows:
        answers = ["no"] * people[0] + ["yes"] * people[1]
        for answer, card in zip(answers, deck.shuffle(seeded), strict=False):
            row[int(respond_with_card(deck, answer, card).symbol) - 1] += 1
    assert_tallies_follow(exactly, rows)


@pytest.mark.statistical
@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize(
    "subject",
    [dn.k_ary(3, 1), dn.binary("9/10", "7/10"), Deck((1, 1, 3), people=3)],
    ids=repr,
)
def test_samples_of_people_follow_their_law(
    subject: Design | Deck, replaced: bool, draws: np.random.Generator
) -> None:
    people = (3, 2, 1)[: len(subject.categories)]
    one = worlds.of_deck if isinstance(subject, Deck) else worlds.of_design
    drawn = worlds.samples(people, 3, replaced=replaced)
    exactly = worlds.mixed(
        (one(subject, sample), chance) for sample, chance in drawn
    )  # type: ignore[operator]
    rows = law.tallies(
        subject, people, REPETITIONS, respondents=3, replaced=replaced, draws=draws
    )
    assert_tallies_follow(exactly, rows)


STAGES = {
    "k-ary": (
        ladder([dn.k_ary(3, "1/2"), dn.k_ary(3, 1), dn.k_ary(3, 2)]),
        (1, 1, 0),
    ),
    "sets": (ladder([dn.subset(3, 1, t=2), dn.subset(3, 2, t=2)]), (1, 0, 1)),
    "bits": (ladder([dn.unary(2, 1), dn.unary(2, 2)]), (1, 1)),
}


@pytest.mark.statistical
@pytest.mark.parametrize("name", sorted(STAGES))
def test_tallies_of_all_stages_together_follow_their_law(
    name: str, draws: np.random.Generator
) -> None:
    rungs, people = STAGES[name]
    exactly = worlds.of_ladder(rungs, people)
    assert_tallies_follow(
        exactly, np.hstack(law.stages(rungs, people, REPETITIONS, draws=draws))
    )


@pytest.mark.statistical
def test_noisy_samples_follow_their_law(draws: np.random.Generator) -> None:
    noisy = NoisySampling.of("3/4", "7/10", "4/10")

    def one(bit: int) -> worlds.Law:
        kept = noisy.alpha if bit else 1 - noisy.alpha
        told: worlds.Law = {}
        for first, second in np.ndindex(2, 2):
            told[first, second] = sum(
                weight * (p if first else 1 - p) * (p if second else 1 - p)
                for weight, p in ((kept, noisy.p), (1 - kept, noisy.q))
            )
        return told

    exactly = worlds.together(one, (1, 2))
    assert_tallies_follow(
        exactly, law.noisy_samples(noisy, 2, 1, 2, REPETITIONS, draws=draws)
    )


@pytest.mark.statistical
def test_large_numbers_follow_the_binomial_and_the_hypergeometric_law(
    draws: np.random.Generator,
) -> None:
    """Twenty stretches of equal chance; NumPy takes other ways for large numbers than for a few."""
    n, rows = 3_252_599, REPETITIONS
    deck = Deck((n // 3, 0, n - n // 3), people=n // 2)
    cases = [
        (
            binom(n, 0.75),
            law.tallies(dn.warner(p="3/4"), [0, n], rows, draws=draws)[:, 1],
        ),
        (
            hypergeom(n, n // 3, n // 2),
            law.tallies(deck, [n // 2, 0], rows, draws=draws)[:, 0],
        ),
    ]
    for exactly, drawn in cases:
        edges = exactly.ppf(np.arange(1, 20) / 20)
        chances = np.diff([0, *exactly.cdf(edges), 1])
        seen = np.bincount(np.searchsorted(edges, drawn), minlength=20)
        tail = FALSE_ALARM / 40
        assert (binom.ppf(tail, rows, chances) <= seen).all()
        assert (seen <= binom.isf(tail, rows, chances)).all()


@pytest.mark.statistical
@every_deck
def test_cards_that_are_put_back_are_found(
    deck: Deck, people: tuple[int, ...], draws: np.random.Generator
) -> None:
    with found:
        assert_tallies_follow(
            worlds.of_deck(deck, people),
            law.tallies(deck.with_replacement(), people, REPETITIONS, draws=draws),
        )


@pytest.mark.statistical
def test_independent_respondents_instead_of_a_census_are_found(
    draws: np.random.Generator,
) -> None:
    design, people = dn.k_ary(3, 1), (2, 0, 1)
    rows = law.tallies(design, people, REPETITIONS, replaced=True, draws=draws)
    with found:
        assert_tallies_follow(worlds.of_design(design, people), rows)


@pytest.mark.statistical
def test_an_epsilon_that_is_larger_by_a_quarter_is_found(
    draws: np.random.Generator,
) -> None:
    with found:
        assert_tallies_follow(
            worlds.of_design(dn.warner(1), (2, 2)),
            law.tallies(dn.warner("5/4"), (2, 2), REPETITIONS, draws=draws),
        )


@pytest.mark.statistical
def test_a_normal_approximation_is_found(draws: np.random.Generator) -> None:
    """With the right mean and the right variance."""
    exactly = worlds.of_design(dn.warner(p="3/4"), (0, 4))
    yes = (
        np.round(draws.normal(3, 0.75**0.5, REPETITIONS)).astype(np.int64).clip(0, 4)
    )
    with found:
        assert_tallies_follow(exactly, np.column_stack([4 - yes, yes]))


@pytest.mark.statistical
@pytest.mark.parametrize("name", sorted(STAGES))
def test_stages_that_are_drawn_afresh_are_found(
    name: str, draws: np.random.Generator
) -> None:
    """Every stage alone would be right; only together they are not."""
    rungs, people = STAGES[name]
    afresh = np.hstack(
        [law.tallies(design, people, REPETITIONS, draws=draws) for design in rungs]
    )
    with found:
        assert_tallies_follow(worlds.of_ladder(rungs, people), afresh)

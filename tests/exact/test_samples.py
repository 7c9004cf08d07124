"""Every sample and every response to it: totals and their variances are right on average, device included."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.errors import NotEstimable
from deniable.estimates.decks import deck_variance
from deniable.estimates.sampling import Asked, People, estimate_values
from deniable.estimates.sampling.cards import dealt_values

DESIGNS = [
    (dn.forced_response("2/3", "1/6", "1/6"), [0, 1, 1, 0, 1]),
    (dn.k_ary(3, epsilon=1), [0, 1, 2, 0, 0]),
    (dn.unary(["a", "b"], 2), [0, 1, 1, 0, 0]),
]


def every_response(
    design: dn.Design, people: tuple[int, ...], categories: list[int]
) -> Iterator[tuple[Any, float]]:
    """Yield all rows that these people may send, with their probability."""
    table = design.channel.floats()
    possible = [
        number
        for number in range(design.channel.responses)
        if design.channel.possible(number)
    ]
    for sent in product(possible, repeat=len(people)):
        chance = float(
            np.prod(
                [
                    table[each, categories[who]]
                    for each, who in zip(sent, people, strict=True)
                ]
            )
        )
        column = [design.symbols[each] for each in sent]
        yield dn.Responses.of(design, column), chance


def moments(
    design: dn.Design,
    categories: list[int],
    samples: list[tuple[int, ...]],
    sampling: Any,
) -> Any:
    """Return what `over_worlds` does, of one design."""
    return over_worlds(
        lambda people, known: every_response(design, people, known),
        categories,
        samples,
        sampling,
    )


@pytest.mark.parametrize(
    ("design", "categories"), DESIGNS, ids=lambda each: getattr(each, "name", "")
)
@pytest.mark.parametrize(
    "known",
    ["population", "inclusion", "horvitz-thompson", "sen-yates-grundy", "jackknife"],
)
def test_a_sample_without_replacement(
    design: dn.Design, categories: list[int], known: str
) -> None:
    everybody, n = len(categories), 2
    pairs = np.full((n, n), n * (n - 1) / everybody / (everybody - 1))
    np.fill_diagonal(pairs, n / everybody)
    given: dict[str, Any] = {
        "population": {"strata": ["all"] * n, "population": {"all": everybody}},
        "inclusion": {"inclusion": [n / everybody] * n},
        "jackknife": {
            "weights": [everybody / n] * n,
            "fraction": n / everybody,
            "replicates": "jackknife",
        },
    }.get(known, {"joint": pairs, "rule": known})
    samples = list(combinations(range(everybody), n))
    mean, true, told = moments(
        design, categories, samples, lambda _: dn.Sampling(**given)
    )
    assert mean == pytest.approx(
        np.bincount(categories, minlength=len(design.categories))
    )
    assert told == pytest.approx(true)


def test_whole_clusters_without_replacement() -> None:
    """Two of three clusters are drawn and everybody in them responds; a second stratum is drawn whole."""
    design, categories, clusters = (
        dn.forced_response("2/3", "1/6", "1/6"),
        [0, 1, 1, 0, 1, 0],
        [0, 0, 1, 2, 3, 4],
    )
    samples = [
        (*(who for who in range(4) if clusters[who] in pair), 4, 5)
        for pair in combinations(range(3), 2)
    ]

    def sampling(people: tuple[int, ...]) -> dn.Sampling:
        strata = ["drawn" if who < 4 else "all" for who in people]
        weights = [1.5 if who < 4 else 1.0 for who in people]
        of = [clusters[who] for who in people]
        return dn.Sampling(
            weights, strata=strata, clusters=of, fraction={"drawn": 2 / 3, "all": 1}
        )

    mean, true, told = moments(design, categories, samples, sampling)
    assert mean == pytest.approx([3, 3])
    assert told == pytest.approx(true)


def test_clusters_with_replacement_hold_the_whole_device() -> None:
    """Two draws of a cluster, perhaps twice the same: nothing is added for the device, which is drawn anew."""
    design, categories = dn.k_ary(3, epsilon=1), [0, 1, 2]
    samples = list(product(range(3), repeat=2))
    mean, true, told = moments(
        design, categories, samples, lambda _: dn.Sampling([1.5, 1.5])
    )
    assert mean == pytest.approx([1, 1, 1])
    assert told == pytest.approx(true)


def test_weights_of_a_sample_of_unequal_chances() -> None:
    """One of two people with a third or two thirds, another always: the total is right on average."""
    design, categories = dn.forced_response("2/3", "1/6", "1/6"), [1, 0, 1]
    samples = [(0, 2), (1, 2), (1, 2)]
    chances = [1 / 3, 2 / 3, 1.0]
    mean, _, _ = moments(
        design,
        categories,
        samples,
        lambda people: dn.Sampling([1 / chances[who] for who in people]),
    )
    assert mean == pytest.approx([1, 2])


DEVICES = {
    "RR": dn.forced_response("2/3", "1/6", "1/6"),
    "cards": dn.kuk("4/5", "1/5", draws=2),
    "DQ": dn.direct(),
}
STAGES = dn.ladder([dn.warner(p="2/3"), dn.warner(p="4/5")])
DECK = dn.Deck((1, 4), people=4)  # five cards: one is left over


def of_devices(
    people: tuple[int, ...], categories: list[int]
) -> Iterator[tuple[Any, float]]:
    """Yield all rows that people may send, who were asked with one device after the other, with their probability."""
    names = [list(DEVICES)[who % len(DEVICES)] for who in people]
    possible = [range(DEVICES[name].channel.responses) for name in names]
    for sent in product(*possible):
        chances = [
            DEVICES[name].channel.probability(each, given=categories[who])
            for name, each, who in zip(names, sent, people, strict=True)
        ]
        chance = float(np.prod([float(each) for each in chances]))
        if chance:
            yield (
                dn.Responses.of(DEVICES, list(sent), devices=names, codes=True),
                chance,
            )


def of_deals(
    people: tuple[int, ...], categories: list[int]
) -> Iterator[tuple[Any, float]]:
    """Yield all rows that people may send to whom the deck is dealt, with their probability."""
    cards = [
        number for number, count in enumerate(DECK.counts) for _ in range(count)
    ]
    deals = Counter(permutations(cards, len(people)))
    for hands, times in deals.items():
        sent = [
            DECK.numbers - 1 - hand if categories[who] else hand
            for hand, who in zip(hands, people, strict=True)
        ]
        yield (
            dn.Responses(DECK, {"response": np.array(sent, np.uint8)}),
            times / deals.total(),
        )


def over_worlds(
    worlds: Any,
    categories: list[int],
    samples: list[tuple[int, ...]],
    sampling: Any,
    estimate: Any = dn.estimate,
    **given: Any,
) -> Any:
    """Return mean, covariance and mean estimated covariance of the total, over even samples and all their worlds."""
    mean, square, told = 0.0, 0.0, 0.0
    for people in samples:
        for rows, chance in worlds(people, categories):
            found = estimate(rows, sampling=sampling(people), **given).total
            part = chance / len(samples)
            mean, square = (
                mean + part * found.value,
                square + part * np.outer(found.value, found.value),
            )
            told = told + part * found.cov_params()
    return mean, square - np.outer(mean, mean), told


def test_rows_of_several_devices_without_replacement() -> None:
    categories = [0, 1, 1, 0, 1]
    samples = list(combinations(range(5), 3))
    sampling = dn.Sampling(strata=["all"] * 3, population={"all": 5})
    mean, true, told = over_worlds(
        of_devices, categories, samples, lambda _: sampling, method="strata"
    )
    assert mean == pytest.approx([2, 3])
    assert told == pytest.approx(true)


def of_stages(
    people: tuple[int, ...], categories: list[int]
) -> Iterator[tuple[Any, float]]:
    """Yield all rows that people may send, both stages of each, with their probability."""
    for sent in product(product(range(2), repeat=2), repeat=len(people)):
        chances = [
            STAGES.probability(each, given=categories[who])
            for each, who in zip(sent, people, strict=True)
        ]
        columns = {
            name: np.array([each[at] for each in sent], np.uint8)
            for at, name in enumerate(STAGES.columns)
        }
        yield (
            dn.Responses(STAGES, columns),
            float(np.prod([float(each) for each in chances])),
        )


def test_rows_of_several_stages_without_replacement() -> None:
    categories, reached = [0, 1, 1, 0], [2, 1, 2]
    samples = list(combinations(range(4), 3))
    sampling = dn.Sampling(strata=["all"] * 3, population={"all": 4})
    mean, true, told = over_worlds(
        of_stages,
        categories,
        samples,
        lambda _: sampling,
        reached=reached,
        method="strata",
    )
    assert mean == pytest.approx([2, 2])
    assert told == pytest.approx(true)


@pytest.mark.parametrize("known", ["population", "jackknife", "sen-yates-grundy"])
def test_a_deck_that_is_dealt_to_a_sample_without_replacement(known: str) -> None:
    categories, n = [0, 1, 0, 0, 1, 1], 4
    pairs = np.full((n, n), n * (n - 1) / 6 / 5)
    np.fill_diagonal(pairs, n / 6)
    given: dict[str, Any] = {
        "population": {"strata": ["all"] * n, "population": {"all": 6}},
        "jackknife": {
            "weights": [1.5] * n,
            "fraction": 2 / 3,
            "replicates": "jackknife",
        },
    }.get(known, {"joint": pairs, "rule": known})
    samples = list(combinations(range(6), n))
    mean, true, told = over_worlds(
        of_deals, categories, samples, lambda _: dn.Sampling(**given)
    )
    assert mean == pytest.approx([3, 3])
    assert told == pytest.approx(true)


def without_a_floor(rows: Any, sampling: dn.Sampling) -> dn.SampledEstimate:
    """What is estimated of a deck before its variance is brought to that of people drawn one by one."""
    return estimate_values(
        [dealt_values(rows, sampling)], sampling, Asked(None, "deck", np.inf)
    )


@pytest.mark.parametrize("share", [0, 1, 2, 3])
@pytest.mark.parametrize("replicates", [None, "jackknife"])
def test_a_deck_that_is_dealt_over_clusters(
    share: int, replicates: str | None
) -> None:
    """Two draws of one of three couples, in which the cards of one are those that the other cannot have."""
    categories = [int(who < share) for who in range(6)]
    samples = [
        (2 * one, 2 * one + 1, 2 * two, 2 * two + 1)
        for one, two in product(range(3), repeat=2)
    ]
    sampling = dn.Sampling(
        [1.5] * 4, clusters=["one", "one", "two", "two"], replicates=replicates
    )
    mean, true, told = over_worlds(
        of_deals, categories, samples, lambda _: sampling, without_a_floor
    )
    assert mean == pytest.approx([6 - share, share])
    assert told == pytest.approx(true)
    _, _, at_least = over_worlds(of_deals, categories, samples, lambda _: sampling)
    assert at_least[1, 1] >= true[1, 1] * (1 - 1e-9)


@pytest.mark.parametrize(
    "categories", [[0, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0]], ids=str
)
def test_of_a_census_only_the_deal_is_random(categories: list[int]) -> None:
    """Also with uneven weights: A/(M − 1)·[M·Σ w² − (Σ w·s)²]; even ones are the deck's own variance."""
    for weights in ([1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 3.0, 4.0]):
        sampling = dn.Sampling(weights, fraction=1)
        mean, true, told = over_worlds(
            of_deals, categories, [(0, 1, 2, 3)], lambda _, one=sampling: one
        )
        assert mean[1] == pytest.approx(np.dot(weights, categories))
        assert told == pytest.approx(true)
        single = float(DECK.spread / (DECK.numbers + 1 - 2 * DECK.mean) ** 2)
        signs = 1 - 2 * np.array(categories)
        whole = DECK.cards * np.dot(weights, weights) - np.dot(weights, signs) ** 2
        assert told[1, 1] == pytest.approx(single / (DECK.cards - 1) * whole)
        if len(set(weights)) == 1:
            share = Fraction(sum(categories), 4)
            assert told[1, 1] / 16 == pytest.approx(
                deck_variance(DECK, share, population=4)
            )


def test_two_deals_in_one_cluster_and_across() -> None:
    """Of two deals each is on its own; a cluster that holds a deal holds all that its cards have in common."""
    categories = [0, 1, 0, 0, 0, 0, 1, 1]

    def twice(
        people: tuple[int, ...], categories: list[int]
    ) -> Iterator[tuple[Any, float]]:
        for (one, first), (two, second) in product(
            of_deals(people[:4], categories), of_deals(people[4:], categories)
        ):
            yield one + two, first * second

    for clusters, fraction in (
        ([0] * 4 + [1] * 4, 1),
        ([0, 1, 2, 3] * 2, 1),
        ([0, 1, 2, 3] * 2, 0.5),
    ):
        sampling = dn.Sampling([1.0] * 8, clusters=clusters, fraction=fraction)
        mean, true, told = over_worlds(
            twice,
            categories,
            [tuple(range(8))],
            lambda _, one=sampling: one,
            without_a_floor,
        )
        assert mean == pytest.approx([5, 3])
        # of the people, who are no sample here
        held = People.of(sampling).total_covariance(np.array(categories))[0, 0]
        assert told - held * np.array([[1, -1], [-1, 1]]) == pytest.approx(true)


def test_a_cluster_that_holds_a_deal_needs_no_more() -> None:
    """A deck too small to estimate from how its cards depend on each other, dealt to each of two clusters."""
    deck, categories = dn.Deck((1, 2), people=3), [0, 1, 0, 1, 1, 0, 0, 0, 0]
    cards = [0, 1, 1]

    def worlds(
        people: tuple[int, ...], categories: list[int]
    ) -> Iterator[tuple[Any, float]]:
        deals = list(product(set(permutations(cards)), repeat=2))
        for deal in deals:
            hands = [card for each in deal for card in each]
            sent = [
                1 - hand if categories[who] else hand
                for hand, who in zip(hands, people, strict=True)
            ]
            yield (
                dn.Responses(deck, {"response": np.array(sent, np.uint8)}),
                1 / len(deals),
            )

    samples = [
        (*range(3 * one, 3 * one + 3), *range(3 * two, 3 * two + 3))
        for one, two in product(range(3), repeat=2)
    ]
    sampling = dn.Sampling([1.5] * 6, clusters=[0, 0, 0, 1, 1, 1])
    mean, true, told = over_worlds(worlds, categories, samples, lambda _: sampling)
    assert mean == pytest.approx([6, 3])
    assert told == pytest.approx(true)
    rows = next(worlds(samples[0], categories))[0]
    with pytest.raises(NotEstimable, match="a deck of 3 cards is too small"):
        dn.estimate(rows, sampling=dn.Sampling([1.0] * 6))

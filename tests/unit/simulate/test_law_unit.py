from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable import simulate as law
from deniable.designs import Deck, Design
from deniable.errors import InvalidRequest
from deniable.estimates import estimate, estimate_deck
from deniable.order.relaxation import ladder
from deniable.tallies import Tally
from deniable.tallies.decks import tally as tally_deck
from deniable.types.strings.design import NoisySampling

DESIGNS = [
    dn.warner(1),
    dn.k_ary(4, 1),
    dn.christofides(1, middle="1/4"),
    dn.subset(4, 1, t=2),
    dn.rappor(3, 2),
]


@pytest.mark.parametrize("design", DESIGNS, ids=repr)
def test_shares_are_those_of_the_estimate(design: Design) -> None:
    people = [40, 30, 20, 10][: len(design.categories)]
    n = sum(people)
    rows = law.tallies(design, people, 5)
    found = law.shares(design, rows, n)
    for row, shares in zip(rows, found, strict=True):
        assert shares == pytest.approx(
            list(estimate(Tally(design, row, respondents=n)).params.values())
        )


def test_customary_shares_are_those_of_the_customary_estimate() -> None:
    design = dn.rappor(3, 2)
    rows = law.tallies(design, [50, 30, 20], 3)
    for row, shares in zip(
        rows, law.shares(design, rows, 100, method="customary"), strict=True
    ):
        usual = estimate(Tally(design, row, respondents=100), method="customary")
        assert shares == pytest.approx(list(usual.params.values()))


def test_shares_of_noisy_samples_are_those_of_all_samples_so_far() -> None:
    noisy = NoisySampling.of("3/4", "7/10", "4/10")
    rows = law.noisy_samples(noisy, 60, 40, 3, 4)
    for row, shares in zip(rows, law.noisy_shares(noisy, rows, 100), strict=True):
        for samples in (1, 2, 3):
            ones = Fraction(int(row[:samples].sum()), 100)
            assert shares[samples - 1] == pytest.approx(
                float(noisy.share(ones, samples))
            )


def test_shares_of_a_deck_are_those_of_its_estimate() -> None:
    deck = dn.integer_deck(100, 1, "1/10")
    rows = law.tallies(deck, {"yes": 30, "no": 70}, 5)
    for row, shares in zip(rows, law.shares(deck, rows, 100), strict=True):
        counted = dict(enumerate(row.tolist(), 1))
        assert shares[1] == pytest.approx(
            estimate_deck(tally_deck(deck, counted)).params["yes"]
        )


def test_many_categories_are_drawn_without_writing_the_channel_out() -> None:
    people = np.full(100_000, 3)
    assert law.tallies(dn.k_ary(100_000, 2), people, 2).sum(axis=1).tolist() == [
        300_000,
        300_000,
    ]
    assert law.tallies(dn.unary(100_000, 2), people, 2).shape == (2, 100_000)
    assert law.tallies(dn.unary(100, 2, by_size=False), people[:100], 2).shape == (
        2,
        100,
    )
    with pytest.raises(InvalidRequest, match="by_size=False"):
        law.tallies(dn.unary(100, 2), people[:100], 2)


def test_people_by_name_are_people_in_order() -> None:
    design = dn.direct(["a", "b", "c"])
    for people in ({"c": 2, "a": 1}, [1, 0, 2], np.array([1, 0, 2], np.uint8)):
        assert law.tallies(design, people).tolist() == [[1, 0, 2]]


def test_by_default_no_two_draws_are_alike() -> None:
    one, two = (law.tallies(dn.warner(1), [10**6, 10**6], 20) for _ in range(2))
    assert one.tolist() != two.tolist()


@pytest.mark.parametrize(
    "people",
    [[1], [1, 2, 3], [1, -1], [0, 0], [1.0, 2.0], {"perhaps": 3, "yes": 1}, "ab"],
    ids=repr,
)
def test_what_is_no_number_of_people_is_refused(people: object) -> None:
    with pytest.raises(InvalidRequest, match="expected 2 whole numbers"):
        law.tallies(dn.warner(1), people)  # type: ignore[arg-type]


@pytest.mark.parametrize("repetitions", [0, -1, 2.5, True])
def test_what_is_no_number_of_repetitions_is_refused(repetitions: int) -> None:
    with pytest.raises(InvalidRequest, match="repetitions"):
        law.tallies(dn.warner(1), [1, 1], repetitions)


@pytest.mark.parametrize("respondents", [0, 3, 1.5, True])
def test_more_respondents_than_people_are_refused(respondents: int) -> None:
    with pytest.raises(InvalidRequest, match="of 2 people"):
        law.tallies(dn.warner(1), [1, 1], respondents=respondents)


def test_more_respondents_than_the_deck_was_made_for_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="at most the 2 people"):
        law.tallies(Deck((1, 2, 3), people=2), [2, 1])


def test_a_channel_that_is_too_large_is_refused_with_a_way_on() -> None:
    with pytest.raises(InvalidRequest, match="fewer to draw in law") as refused:
        law.tallies(dn.subset(60, 1, t=20), [1] * 60)
    assert "engines.local" in refused.value.hint


def test_a_thousand_million_people_are_not_sampled_without_replacement() -> None:
    with pytest.raises(InvalidRequest, match="1,000,000,000 or more"):
        law.tallies(dn.warner(1), [10**9, 10**9], respondents=5)


def test_every_stage_counts_everybody() -> None:
    rungs = ladder(dn.k_ary(5, epsilon=e) for e in ("1/10", "1/2", 1))
    for rows in law.stages(rungs, [100, 200, 300, 400, 500], 7):
        assert rows.shape == (7, 5)
        assert set(rows.sum(axis=1).tolist()) == {1500}

"""The statistical test is tested: planted faults must fail it, and too few draws must stop it before it starts."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb

import numpy as np
import pytest

from deniable.chance import Source
from deniable.designs import Design, k_ary, matrix, product, warner
from deniable.documents import Response
from deniable.responses import respond
from tests.support.draws import (
    COARSE,
    Regions,
    TooFewDraws,
    assert_counts_follow,
    assert_draws_follow,
    draws_needed,
)
from tests.support.registered import parameters

found = pytest.raises(AssertionError, match="do not follow its channel")


def drawing_as(
    claimed: Design, run: Design, source: Source
) -> Callable[[str], Response]:
    """Claim one design and run another with the same labels."""
    return lambda answer: Response(
        claimed.hash, respond(run, answer, source=source).symbol
    )


def coarsely(design: Design, draw: Callable[[str], Response]) -> None:
    assert_draws_follow(
        design, draw, n=draws_needed(design, catches=COARSE), catches=COARSE
    )


def changes_answers(design: Design) -> bool:
    """Whether a design sends categories, and often another one than the answer."""
    kept = [
        design.channel.probability(j, given=j)
        for j in range(min(design.channel.answers, design.channel.responses))
    ]
    return (
        tuple(design.categories) == tuple(design.symbols) and min(kept) <= 1 - COARSE
    )


@pytest.mark.parametrize("design", parameters(changes_answers))
@pytest.mark.statistical
def test_an_answer_that_is_never_changed_is_found(design: Design) -> None:
    with found:
        coarsely(design, lambda answer: Response(design.hash, answer))


def sent_to_all(design: Design) -> list[int]:
    """The responses that come often enough to be missed, whatever the answer, but never surely."""
    answers = range(design.channel.answers)
    return [
        i
        for i in range(design.channel.responses)
        if all(
            COARSE <= design.channel.probability(i, given=j) <= 1 - COARSE
            for j in answers
        )
    ]


@pytest.mark.parametrize(
    "design", parameters(lambda design: bool(sent_to_all(design)))
)
@pytest.mark.statistical
def test_a_symbol_that_is_never_sent_is_found(
    design: Design, seeded: Source
) -> None:
    never = design.symbols[sent_to_all(design)[-1]]

    def draw(answer: str) -> Response:
        while (response := respond(design, answer, source=seeded)).symbol == never:
            pass
        return response

    with found:
        coarsely(design, draw)


@pytest.mark.statistical
def test_a_bit_that_is_never_flipped_is_found(seeded: Source) -> None:
    bits = [warner(1, categories=["0", "1"])] * 3
    claimed = product(bits)
    stuck = matrix([[1, 0], [0, 1]], categories=["0", "1"])
    run = product([*bits[:-1], stuck])
    with found:
        assert_draws_follow(
            claimed, drawing_as(claimed, run, seeded), n=draws_needed(claimed)
        )


@pytest.mark.parametrize(
    "build",
    [warner, lambda e: k_ary(3, e), lambda e: k_ary(4, e)],
    ids=["warner", "3", "4"],
)
@pytest.mark.statistical
def test_an_epsilon_that_is_larger_by_a_quarter_is_found(
    build: Callable[..., Design], seeded: Source
) -> None:
    claimed, run = build(Fraction(1)), build(Fraction(5, 4))
    with found:
        assert_draws_follow(
            claimed, drawing_as(claimed, run, seeded), n=draws_needed(claimed)
        )


@pytest.mark.statistical
def test_swapped_columns_are_found(seeded: Source) -> None:
    rows = [[0.5, 0.1], [0.25, 0.25], [0.25, 0.65]]
    claimed, run = matrix(rows), matrix([row[::-1] for row in rows])
    with found:
        assert_draws_follow(
            claimed, drawing_as(claimed, run, seeded), n=draws_needed(claimed)
        )


@pytest.mark.statistical
def test_a_fault_in_the_last_column_alone_is_found(seeded: Source) -> None:
    claimed = matrix([[0.6, 0.2, 0.1], [0.3, 0.5, 0.2], [0.1, 0.3, 0.7]])
    run = matrix([[0.6, 0.2, "13/100"], [0.3, 0.5, 0.2], [0.1, 0.3, "67/100"]])
    with found:
        assert_draws_follow(
            claimed, drawing_as(claimed, run, seeded), n=draws_needed(claimed)
        )


@pytest.mark.statistical
def test_a_response_that_names_another_design_is_found(seeded: Source) -> None:
    design, other = warner(1), warner(2)
    with pytest.raises(AssertionError, match="another design"):
        assert_draws_follow(
            design,
            lambda answer: respond(other, answer, source=seeded),
            n=draws_needed(design),
        )


@pytest.mark.statistical
def test_an_unknown_symbol_is_found() -> None:
    design = warner(1)
    with pytest.raises(AssertionError, match="were counted"):
        assert_draws_follow(
            design,
            lambda _: Response(design.hash, "perhaps"),
            n=draws_needed(design),
        )


def test_counts_are_held_to_the_same_regions() -> None:
    design = k_ary(["a", "b", "c"], p="1/2")
    assert_counts_follow(
        design,
        [
            [20_000, 10_000, 10_000],
            [10_000, 20_000, 10_000],
            [10_000, 10_000, 20_000],
        ],
    )
    with found:
        assert_counts_follow(
            design,
            [
                [20_000, 10_000, 10_000],
                [10_000, 20_000, 10_000],
                [11_000, 10_000, 19_000],
            ],
        )


def test_too_few_draws_are_refused_before_the_first() -> None:
    design = warner(1)

    def draw(answer: str) -> Response:
        raise AssertionError(f"drawn for {answer}")

    with pytest.raises(TooFewDraws, match="off by 3/100"):
        assert_draws_follow(design, draw, n=draws_needed(design) // 2)


def binomial(n: int, p: Fraction) -> list[Fraction]:
    return [comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]


def test_the_regions_are_the_exact_binomial_ones() -> None:
    design, n, rate = matrix([["1/3", "4/5"], ["2/3", "1/5"]]), 60, 1e-3
    regions = Regions.of(design, n, rate)
    tail = Fraction(rate) / 4 / 2
    for j, i in np.ndindex(2, 2):
        weights = binomial(n, design.channel.probability(i, given=j))
        low, high = int(regions.low[j, i]), int(regions.high[j, i])
        assert sum(weights[:low]) <= tail < sum(weights[: low + 1])
        assert sum(weights[high + 1 :]) <= tail < sum(weights[high:])


def test_the_promised_power_is_the_exact_one() -> None:
    design, n, shift = matrix([["1/3", "4/5"], ["2/3", "1/5"]]), 60, Fraction(1, 10)
    regions = Regions.of(design, n, 1e-3)
    exactly = []
    for j, i in np.ndindex(2, 2):
        for moved in (-shift, shift):
            weights = binomial(n, design.channel.probability(i, given=j) + moved)
            exactly.append(
                sum(weights[: regions.low[j, i]])
                + sum(weights[regions.high[j, i] + 1 :])
            )
    assert regions.power(0.1) == pytest.approx(float(min(exactly)), rel=1e-9)


def test_a_cell_without_room_needs_no_power_on_that_side() -> None:
    certain = matrix([["1/100", "99/100"], ["99/100", "1/100"]])
    assert draws_needed(certain) < draws_needed(warner(p="51/100"))


def test_impossible_and_certain_cells_accept_nothing_else() -> None:
    regions = Regions.of(matrix([[0, 1], [1, 0]]), 1000, 1e-9)
    assert regions.low.tolist() == regions.high.tolist() == [[0, 1000], [1000, 0]]

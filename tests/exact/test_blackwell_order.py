"""Blackwell's order in rationals: C·fine is the coarse design with ==, and proofs that there is no C are replayed."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import product

import pytest

from deniable.channel import (
    Channel,
    Dense,
    Diagonal,
    Hadamard,
    Hashing,
    Product,
)
from deniable.designs import (
    binary,
    hadamard,
    k_ary,
    local_hashing,
    matrix,
    subset,
    warner,
)
from deniable.order.blackwell import (
    Garbling,
    Separation,
    by_tables,
    compare,
    garbling,
)
from deniable.order.programs import Feasible, Infeasible, feasible, reduce, solve
from deniable.order.sets import one_size
from deniable.order.steps import Step
from tests.support.rational import applied, rank, table, times
from tests.support.subset_order import subset_at, subset_inclusion, subsets_ordered
from tests.support.tables import random_channel, rows, subset_channel


def replay(
    found: Garbling | Step | Separation, coarse: Channel, fine: Channel
) -> None:
    """Check either outcome from its definition, with nothing but the two tables."""
    ours, theirs = table(coarse), table(fine)
    if not isinstance(found, Separation):
        channel = found.written() if isinstance(found, Step) else found.channel
        assert channel is not None
        cells = table(channel)
        assert times(cells, theirs) == ours
        assert all(
            sum(column) == 1 and min(column) >= 0
            for column in zip(*cells, strict=True)
        )
        return
    none = (Fraction(0),) * coarse.answers
    pays = [found.payoffs.get(i, none) for i in range(coarse.responses)]
    earned = sum(
        (applied((pay,), row)[0] for pay, row in zip(pays, ours, strict=True)),
        Fraction(0),
    )
    best = sum((max(applied(pays, row)) for row in theirs), Fraction(0))
    assert (earned, best) == (found.coarse, found.fine)
    assert earned > best


def test_what_is_garbled_is_found_and_the_rest_is_proved() -> None:
    order = random.Random(51)
    seen = set()
    for _ in range(60):
        answers = order.randint(2, 4)
        fine = random_channel(order, answers, order.randint(2, 6), lowest=0)
        blur = random_channel(order, fine.responses, order.randint(2, 5), lowest=0)
        coarse = blur.after(fine)
        down = garbling(coarse, fine)
        assert down
        replay(down, coarse, fine)
        other = random_channel(order, answers, order.randint(2, 6))
        verdict = compare(other, fine)
        replay(verdict.second_from_first, fine, other)
        replay(verdict.first_from_second, other, fine)
        seen.add(verdict.relation)
    assert "incomparable" in seen


def test_responses_that_never_occur_or_say_the_same_do_not_matter() -> None:
    fine = matrix(
        [
            ["1/2", "1/6", "1/3"],
            ["1/4", "1/12", "1/6"],
            [0, 0, 0],
            ["1/4", "3/4", "1/2"],
        ]
    )
    coarse = matrix([["3/4", "1/4", "1/2"], [0, 0, 0], ["1/4", "3/4", "1/2"]])
    verdict = compare(fine, coarse)
    assert verdict.relation == "equal"
    replay(verdict.second_from_first, coarse.channel, fine.channel)
    replay(verdict.first_from_second, fine.channel, coarse.channel)


def test_a_coarse_response_that_never_occurs_does_not_spoil_the_proof() -> None:
    order = random.Random(3)
    fine = random_channel(order, 2, 5)
    sharp = Dense.from_rows(
        [
            [Fraction(9, 10), Fraction(1, 100)],
            [Fraction(1, 10), Fraction(99, 100)],
            [Fraction(0)] * 2,
        ]
    )
    found = by_tables(sharp, fine)
    assert not found
    replay(found, sharp, fine)


def test_a_design_that_says_nothing_comes_from_everything() -> None:
    nothing = Dense.from_rows([[Fraction(1, 4)] * 3, [Fraction(3, 4)] * 3])
    for fine in (k_ary(3, p="1/2").channel, subset_channel(3, 2, Fraction(2))):
        verdict = compare(nothing, fine)
        assert verdict.relation == "coarser"
        replay(verdict.first_from_second, nothing, fine)
        replay(verdict.second_from_first, fine, nothing)


PAIRS = [
    Diagonal(4, *weights)
    for weights in ((5, 1), (3, 1), (2, 1), (1, 2), (0, 1), (1, 9), (1, 1))
]


@pytest.mark.parametrize(("one", "two"), list(product(PAIRS, PAIRS)))
def test_diagonal_channels_in_closed_form_and_by_tables(
    one: Diagonal, two: Diagonal
) -> None:
    found = garbling(one, two)
    replay(found, one, two)
    assert bool(by_tables(one, two)) == bool(found)


CODED = [
    (Hadamard(5, 3, 1), Hadamard(5, 2, 1)),
    (Hadamard(3, 9, 2), Hadamard(3, 9, 2)),
    (Hashing(5, 3, 7, 2), Hashing(5, 3, 3, 2)),
    (Hashing(4, 2, 2, 1), Hashing(4, 2, 3, 1)),
    (Hashing(4, 2, 2, 1), Hashing(4, 3, 3, 1)),
]


@pytest.mark.parametrize(("one", "two"), CODED)
def test_coded_channels_in_closed_form(one: Channel, two: Channel) -> None:
    for coarse, fine in ((one, two), (two, one)):
        found = garbling(coarse, fine)
        replay(found, coarse, fine)
        assert bool(by_tables(coarse, fine)) == bool(found)


def test_a_million_categories_are_compared_in_closed_form() -> None:
    for build in (k_ary, hadamard, local_hashing):
        lower, higher = (
            build(1_000_000, epsilon=1),
            build(1_000_000, epsilon="11/10"),
        )
        if build is local_hashing:
            higher = local_hashing(
                1_000_000, epsilon="11/10", values=lower.channel.values
            )
        verdict = compare(lower, higher)
        assert verdict.relation == "coarser"
        step = verdict.first_from_second
        assert isinstance(step, Garbling)
        assert isinstance(step.channel, Diagonal)
        keep = step.channel
        for answer in (0, 999_999):
            for response in (0, 5, lower.channel.responses - 1):
                # A diagonal garbling sends a response's own probability, and evenly everything else.
                own = higher.channel.probability(response, given=answer)
                sent = (keep.same * own + keep.other * (1 - own)) / keep.total
                assert sent == lower.channel.probability(response, given=answer)
        assert compare(lower, lower).relation == "equal"


ORDERED = [
    (k, t1, gamma1, t2, gamma2)
    for k in (4, 5)
    for t1, t2 in product(range(1, k), repeat=2)
    for gamma1, gamma2 in (
        (Fraction(3, 2), Fraction(2)),
        (Fraction(2), Fraction(4)),
        (Fraction(6, 5), Fraction(7, 5)),
    )
]


@pytest.mark.parametrize(("k", "t1", "gamma1", "t2", "gamma2"), ORDERED)
def test_the_order_of_subsets_is_that_of_the_linear_program(
    k: int, t1: int, gamma1: Fraction, t2: int, gamma2: Fraction
) -> None:
    coarse, fine = subset_channel(k, t1, gamma1), subset_channel(k, t2, gamma2)
    found = by_tables(coarse, fine)
    assert bool(found) == subsets_ordered(k, t1, gamma1, t2, gamma2)
    replay(found, coarse, fine)
    held, cap = subset_inclusion(k, t1, gamma1, t2, gamma2)
    assert (held <= cap) == bool(found)
    shares = one_size(subset_at(k, t1, gamma1), subset_at(k, t2, gamma2))
    assert (shares is not None) == bool(found)


@pytest.mark.parametrize(
    ("k", "t1", "gamma1", "t2", "gamma2"), [case for case in ORDERED if case[0] == 4]
)
def test_subset_channels_in_closed_form(
    k: int, t1: int, gamma1: Fraction, t2: int, gamma2: Fraction
) -> None:
    coarse, fine = subset_at(k, t1, gamma1), subset_at(k, t2, gamma2)
    found = garbling(coarse, fine)
    assert bool(found) == subsets_ordered(k, t1, gamma1, t2, gamma2)
    replay(found, coarse, fine)


def test_large_subset_designs_are_compared_without_a_table() -> None:
    lower, higher = subset(10_000, epsilon=1), subset(10_000, epsilon=2)
    verdict = compare(lower, higher)
    assert isinstance(verdict.second_from_first, Separation)
    assert verdict.second_from_first.coarse > verdict.second_from_first.fine
    step = garbling(subset(10_000, t=20, p="1/2"), subset(10_000, t=10, p="9/10"))
    assert isinstance(step, Garbling)
    assert "superset" in step.recipe


BOUNDARIES = [
    (4, 1, Fraction(3, 2), 2, Fraction(2)),
    (5, 3, Fraction(2), 2, Fraction(5, 2)),
    (4, 2, Fraction(3), 1, Fraction(5)),
]


@pytest.mark.parametrize(("k", "t1", "gamma1", "t2", "gamma2"), BOUNDARIES)
@pytest.mark.parametrize(
    "beyond", [Fraction(0), Fraction(1, 10**12), Fraction(1, 10**30)]
)
def test_the_border_is_exact_far_below_what_floats_can_tell(
    k: int, t1: int, gamma1: Fraction, t2: int, gamma2: Fraction, beyond: Fraction
) -> None:
    coarse, fine = (
        subset_channel(k, t1, gamma1 + beyond),
        subset_channel(k, t2, gamma2),
    )
    found = by_tables(coarse, fine)
    assert (
        bool(found)
        == (beyond == 0)
        == subsets_ordered(k, t1, gamma1 + beyond, t2, gamma2)
    )
    replay(found, coarse, fine)


def test_the_border_is_exact_for_square_designs() -> None:
    fine = binary("9/10", "7/10")
    for beyond in (Fraction(0), Fraction(1, 10**40)):
        # Kept with probability 1/2 and else "yes": on the border, and then a little beyond it.
        no = [Fraction(9, 20) + beyond, Fraction(3, 20) - beyond]
        coarse = matrix([no, [1 - cell for cell in no]], categories=["no", "yes"])
        found = garbling(coarse, fine)
        assert bool(found) == (beyond == 0)
        replay(found, coarse.channel, fine.channel)


def test_products_are_compared_factor_by_factor() -> None:
    low, high = warner(p="3/5").channel, warner(p="4/5").channel
    three, four = k_ary(3, p="1/2").channel, k_ary(3, p="3/4").channel
    ordered = compare(Product((low, three)), Product((high, four)))
    assert ordered.relation == "coarser"
    crossed = compare(Product((low, four)), Product((high, three)))
    assert crossed.relation == "incomparable"
    replay(ordered.first_from_second, Product((low, three)), Product((high, four)))
    replay(ordered.second_from_first, Product((high, four)), Product((low, three)))
    replay(crossed.first_from_second, Product((low, four)), Product((high, three)))
    replay(crossed.second_from_first, Product((high, three)), Product((low, four)))
    dense = by_tables(Product((low, four)), Product((high, three)))
    assert not dense


def test_elimination_solves_and_counts() -> None:
    order = random.Random(7)
    for _ in range(30):
        size = order.randint(1, 5)
        square = [
            [
                Fraction(order.randint(-4, 4), order.randint(1, 3))
                for _ in range(size)
            ]
            for _ in range(size)
        ]
        right = [Fraction(order.randint(-4, 4)) for _ in range(size)]
        found = solve(square, right)
        if found is not None:
            assert applied(tuple(map(tuple, square)), found) == tuple(right)
        assert (found is not None) or rank(square) < size
        assert len(reduce([[2, 4], [1, 2]], 2).columns) == 1


def test_the_exact_simplex_ends_in_a_point_or_a_proof() -> None:
    order = random.Random(13)
    kinds = set()
    for _ in range(80):
        height, width = order.randint(1, 4), order.randint(1, 5)
        equations = [
            [
                Fraction(order.randint(-3, 3), order.randint(1, 2))
                for _ in range(width)
            ]
            for _ in range(height)
        ]
        right = [Fraction(order.randint(0, 3)) for _ in range(height)]
        found = feasible(equations, right, first=[width - 1])
        kinds.add(type(found))
        if isinstance(found, Feasible):
            assert min(found.point) >= 0
            assert applied(tuple(map(tuple, equations)), found.point) == tuple(right)
        else:
            y = found.multipliers
            assert max(applied(tuple(zip(*equations, strict=True)), y)) <= 0
            assert sum(map(Fraction.__mul__, y, right)) > 0
    assert kinds == {Feasible, Infeasible}


def test_garbling_never_raises_the_parity_of_what_was_found() -> None:
    order = random.Random(5)
    fine = random_channel(order, 3, 5)
    blur = random_channel(order, 5, 4)
    coarse = blur.after(fine)
    assert coarse.parity <= fine.parity
    assert fine.parity < math.inf
    assert rows(coarse) == times(rows(blur), rows(fine))

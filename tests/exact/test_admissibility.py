"""Theorems 5.4 and 5.5 in rationals: every repair ends in an admissible design from which the old one can be made."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise, product

import pytest

from deniable.channel import Dense
from deniable.designs import (
    hadamard,
    k_ary,
    matrix,
    subset,
    truncated_rappor,
    warner,
)
from deniable.order.admissibility import (
    admissible,
    drop_constant,
    merge,
    raise_parity,
    repair,
    split_row,
    split_rows,
)
from tests.support.rational import Table, rank, times
from tests.support.tables import random_channel, rows

FACTORS = [Fraction(1), Fraction(1), Fraction(11, 10), Fraction(3, 2), Fraction(4)]


def awkward(number: int) -> tuple[Dense, Fraction]:
    """Return an inadmissible design with whatever can be wrong: small or no parity, twins, rows that never occur."""
    order = random.Random(number)
    answers, responses = order.randint(2, 6), order.randint(2, 7)
    table = rows(random_channel(order, answers, responses))
    kind = number % 4
    if kind == 1:  # a response that says nothing
        table = (
            *(tuple(cell / 2 for cell in row) for row in table),
            (Fraction(1, 2),) * answers,
        )
    if kind == 2:  # twins, and a row that never occurs
        first = tuple(cell / 3 for cell in table[0])
        table = (
            first,
            *table[1:],
            tuple(2 * cell for cell in first),
            (Fraction(0),) * answers,
        )
    if kind == 3 and answers > 2:  # two answers that are never told apart
        table = tuple((row[1], *row[1:]) for row in table)
    channel = Dense.from_rows(table)
    parity = channel.parity
    assert isinstance(parity, Fraction)
    return channel, max(parity, Fraction(9, 8)) * order.choice(FACTORS)


def inadmissible(count: int) -> list[tuple[Dense, Fraction]]:
    found = []
    number = 0
    while len(found) < count:
        channel, gamma = awkward(number)
        if not admissible(channel, gamma):
            found.append((channel, gamma))
        number += 1
    return found


def check(channel: Dense, gamma: Fraction, split: str) -> None:
    better = repair(channel, gamma, split=split)
    assert times(rows(better.garbling), rows(better.channel)) == rows(channel)
    assert all(
        sum(column) == 1 for column in zip(*rows(better.garbling), strict=True)
    )
    verdict = admissible(better.channel, gamma)
    assert verdict, str(verdict)
    assert verdict.groups == ()
    assert better.channel.parity == gamma == better.gamma
    assert rank(rows(better.channel)) >= rank(rows(channel))


def test_five_hundred_designs_come_back_admissible() -> None:
    for channel, gamma in inadmissible(500):
        check(channel, gamma, "nested")


def test_the_split_of_the_proof_ends_in_an_admissible_design_too() -> None:
    for channel, gamma in inadmissible(60):
        check(channel, gamma, "independent")


def test_two_answers_are_repaired_to_warner() -> None:
    order = random.Random(2)
    for responses in (2, 3, 5):
        channel = random_channel(order, 2, responses)
        gamma = Fraction(channel.parity) * 2
        better = repair(channel, gamma)
        assert better.channel == warner(p=gamma / (gamma + 1)).channel.dense()
        check(channel, gamma, "nested")


def test_a_design_that_says_nothing_is_repaired_from_nothing() -> None:
    channel = Dense.from_rows([[Fraction(1, 3)] * 4, [Fraction(2, 3)] * 4])
    check(channel, Fraction(3), "nested")


def test_an_admissible_design_is_left_as_it_is() -> None:
    for design in (
        k_ary(5, p="1/2"),
        warner(p="2/3"),
        k_ary(4, p="1/10"),
        hadamard(7, 1),
        hadamard(5, 2),
    ):
        verdict = admissible(design)
        assert verdict
        channel = design.channel.dense()
        better = repair(channel)
        assert better.channel == channel
        assert better.steps == ()
        assert better.garbling == Dense.from_rows(
            [
                [Fraction(i == j) for j in range(channel.responses)]
                for i in range(channel.responses)
            ]
        )


def test_a_subset_design_is_admissible_and_a_coarser_gamma_makes_it_inadmissible() -> (
    None
):
    design = subset(5, t=2, p="3/4")
    assert admissible(design)
    assert admissible(design.channel.dense())
    above = admissible(design, 2 * Fraction(design.parity))
    assert not above
    assert "< γ" in above.flaws[0].problem
    below = admissible(design, Fraction(design.parity) / 2)
    assert "> γ" in below.flaws[0].problem


def test_slack_looks_past_the_last_bits_and_no_further() -> None:
    design = truncated_rappor(4, 1)
    assert not admissible(design)
    assert admissible(design, slack=1e-12)
    assert not admissible(
        design, Fraction(design.parity) * Fraction(101, 100), slack=1e-12
    )
    assert admissible(
        design, Fraction(design.parity) * Fraction(101, 100), slack="1/50"
    )


@pytest.mark.parametrize("size", range(2, 18))
def test_the_closed_form_for_hadamard_rows_is_that_of_the_table(size: int) -> None:
    design = hadamard(size, 1)
    assert (
        bool(admissible(design))
        == bool(admissible(design.channel.dense()))
        == (size > 2)
    )
    if size > 2:
        assert admissible(design.channel.dense()).groups == ()


@pytest.mark.parametrize("number", range(12))
def test_each_step_gives_the_design_back(number: int) -> None:
    channel, gamma = awkward(number)
    steps = [merge(channel)]
    if steps[-1].channel.responses > 1:
        steps.append(drop_constant(steps[-1].channel))
        if admissible(steps[-1].channel, gamma).flaws:
            steps.append(split_rows(steps[-1].channel, "nested"))
    for before, step in zip(
        [channel, *(each.channel for each in steps)], steps, strict=False
    ):
        assert step.garbling.after(step.channel) == before


def test_raising_a_row_stops_exactly_at_gamma() -> None:
    channel = matrix(
        [["0.5", "0.4", "0.35"], ["0.2", "0.3", "0.35"], ["0.3", "0.3", "0.3"]]
    ).channel
    for partner in (1, 2):
        xi, step = raise_parity(channel, 2, 0, partner)
        raised = rows(step.channel)
        assert xi > 1
        assert max(raised[0]) / min(raised[0]) == 2
        assert max(raised[partner]) / min(raised[partner]) == max(
            rows(channel)[partner]
        ) / min(rows(channel)[partner])
        assert step.garbling.after(step.channel) == channel
    assert raise_parity(channel, 2, 0, 1)[0] == Fraction(7, 5)


def pattern_rows(row: tuple[Fraction, ...], split: str) -> Table:
    ratio = max(row) / min(row)
    return tuple(
        tuple(small * (ratio if j in large else 1) for j in range(len(row)))
        for large, small in split_row(row, split=split)
    )


@pytest.mark.parametrize("split", ["nested", "independent"])
def test_the_pieces_of_a_row_add_up_to_it(split: str) -> None:
    for cells in product((1, 2, 3, 5), repeat=4):
        row = tuple(Fraction(cell, 7) for cell in cells)
        if len(set(row)) == 1:
            continue
        pieces = pattern_rows(row, split)
        assert tuple(map(sum, zip(*pieces, strict=True))) == row
        assert all(
            len(set(piece)) == 2 and max(piece) / min(piece) == max(row) / min(row)
            for piece in pieces
        )
        expected = (
            len(set(row)) - 1
            if split == "nested"
            else 2 ** sum(min(row) < cell < max(row) for cell in row)
        )
        assert len(pieces) == expected


def test_nested_pieces_are_nested() -> None:
    row = [Fraction(n) for n in (1, 5, 2, 4, 4, 3)]
    sets = sorted(
        (set(large) for large, _ in split_row(row, split="nested")), key=len
    )
    assert all(one < two for one, two in pairwise(sets))

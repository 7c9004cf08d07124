from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from deniable import exact
from deniable.chance import TOTAL
from deniable.channel import Dense
from deniable.designs.rounding import realize
from deniable.errors import InvalidDesign

F = Fraction


@st.composite
def targets(draw: st.DrawFn) -> tuple[list[list[Fraction]], Fraction]:
    """A target, and a γ that is its own parity or a little less."""
    answers, responses = draw(st.integers(2, 4)), draw(st.integers(2, 5))
    cells = st.integers(1, 60)
    columns = [
        draw(st.lists(cells, min_size=responses, max_size=responses))
        for _ in range(answers)
    ]
    table = [[F(cell, sum(column)) for cell in column] for column in columns]
    parity = max(max(row) / min(row) for row in zip(*table, strict=True))
    return table, parity * (
        1 - draw(st.sampled_from([F(0), F(1, 10**12), F(1, 10**9)]))
    )


@settings(max_examples=300)
@given(targets())
def test_the_parity_is_never_above_gamma_and_the_target_is_close(
    case: tuple[list[list[Fraction]], Fraction],
) -> None:
    columns, gamma = case
    assume(gamma > 1 + F(1, 1000))
    channel = realize(columns, gamma)
    assert channel.parity <= gamma
    assert TOTAL % channel.total == 0
    for j, column in enumerate(columns):
        for i, cell in enumerate(column):
            assert abs(channel.probability(i, given=j) - cell) < F(1, 10**6)


def test_a_target_of_parity_gamma_changes_by_next_to_nothing() -> None:
    gamma = exact.exp_below(1)
    p, r = gamma / (gamma + 6), 1 / (gamma + 6)
    channel = realize(
        [[p if i == j else r for i in range(7)] for j in range(7)], gamma
    )
    assert gamma - F(1, 10**17) < channel.parity <= gamma
    # still one on and one off the diagonal
    assert len({channel.weights[i][j] for i in range(7) for j in range(7)}) == 2


def test_floats_that_miss_the_sum_and_the_ratio_by_rounding_are_taken() -> None:
    gamma = exact.exp_below("1/10")
    target = [[0.1 * 5.25, 1 - 0.1 * 5.25], [1 - 0.1 * 5.25, 0.1 * 5.25]]
    assert target[0][0] / target[0][1] > float(gamma)
    with pytest.raises(
        InvalidDesign, match="expected a target of about this parity"
    ):
        realize(target, gamma)
    near = float(gamma) / (float(gamma) + 1)
    assert realize([[near, 1 - near], [1 - near, near]], gamma).parity <= gamma


def test_what_fits_is_left_as_it_is() -> None:
    assert realize([["3/4", "1/4"], ["1/4", "3/4"]], F(3)) == Dense(
        ((3, 1), (1, 3)), 4
    )


def test_a_response_that_never_occurs_does_not_begin_to() -> None:
    channel = realize([["2/3", 0, "1/3"], ["1/3", 0, "2/3"]], F(2))
    assert channel.weights[1] == (0, 0)
    assert channel.parity <= 2


def test_mirrored_columns_stay_mirrored() -> None:
    gamma = exact.exp_below("1/2")
    b, u = gamma / (gamma**2 + 2), (gamma**2 - 2 * gamma + 2) / (gamma**2 + 2)
    a = gamma**2 / (gamma**2 + 2)
    channel = realize([[a, (1 - a) / 2, (1 - a) / 2], [b, u, b], [b, b, u]], gamma)
    rows = channel.weights
    assert rows[1] == (rows[2][0], rows[2][2], rows[2][1])
    assert rows[0][1] == rows[0][2] == rows[1][2]
    assert channel.parity <= gamma


@pytest.mark.parametrize(
    ("columns", "gamma", "problem"),
    [
        ([[1], [1]], F(2), "not a table"),
        ([["1/2", "1/2"]], F(2), "not a table"),
        ([["1/2", "1/2"], [1]], F(2), "not a table"),
        ([["1/2", "1/3"], ["1/2", "1/2"]], F(2), "column 0"),
        ([["3/2", "-1/2"], ["1/2", "1/2"]], F(2), "column 0"),
        ([["2/3", "1/3"], ["1/3", "2/3"]], F(1), "expected more than 1"),
        ([[1, 0], [0, 1]], F(3), "about this parity"),
        ([["2/3", "1/3"], ["1/3", "2/3"]], 1 + F(1, 10**18), "about this parity"),
    ],
    ids=range(8),
)
def test_what_cannot_be_realized_is_refused(
    columns: Any, gamma: Fraction, problem: str
) -> None:
    with pytest.raises(InvalidDesign, match=problem):
        realize(columns, gamma)

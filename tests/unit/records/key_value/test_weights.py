from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from deniable.chance import ScriptedSource
from deniable.errors import InvalidAnswer
from deniable.records.key_value.schemes import GRID, MINUS, NONE, PLUS, read_weight, round_weight
from tests.support.positions import script


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (1, Fraction(1)),
        (-1.0, Fraction(-1)),
        ("1/3", Fraction(1, 3)),
        (Decimal("0.7"), Fraction(7, 10)),
        (Fraction(2, 3), Fraction(2, 3)),
        (0.7, Fraction(0.7)),  # the number that a float holds, as in bulk
        (np.float32(0.7), Fraction(float(np.float32(0.7)))),
        (1e-30, Fraction(0)),
    ],
)
def test_weights_are_read_exactly(given: object, expected: Fraction) -> None:
    assert read_weight(given) == expected  # type: ignore[arg-type]


def test_tiny_floats_lie_on_the_grid() -> None:
    weight = read_weight(0.3 / 4096)
    assert (weight * GRID).denominator == 1
    assert abs(weight - Fraction(0.3 / 4096)) <= Fraction(1, 2 * GRID)


@pytest.mark.parametrize("given", [1.0000001, -2, "11/10", float("nan"), float("inf"), True, None, "zebra", 10**400])
def test_other_weights_are_refused_and_not_repeated(given: object) -> None:
    with pytest.raises(InvalidAnswer, match="from -1 to 1") as caught:
        read_weight(given)  # type: ignore[arg-type]
    assert "zebra" not in str(caught.value)


def test_scales_are_brought_to_minus_one_and_one() -> None:
    low, high = Fraction(1, 2), Fraction(5)
    assert read_weight(0.5, low, high) == -1
    assert read_weight(5, low, high) == 1
    assert read_weight("11/4", low, high) == 0
    assert abs(read_weight(4.9, low, high) - read_weight("4.9", low, high)) < Fraction(1, 10**15)
    with pytest.raises(InvalidAnswer, match=r"from 0.5 to 5"):
        read_weight(0.4, low, high)


def test_rounding_keeps_the_mean_and_takes_a_word_for_nothing_too() -> None:
    found = [round_weight(Fraction(1, 3), ScriptedSource(script(position, 6, last=True))) for position in range(6)]
    assert found == [PLUS] * 4 + [MINUS] * 2
    source = ScriptedSource(bytes(8))
    assert round_weight(None, source) == NONE
    assert source.used == 8

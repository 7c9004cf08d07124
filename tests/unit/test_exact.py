from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from deniable import exact
from deniable.errors import InvalidNumber


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (0.7, Fraction(7, 10)),
        (0.1, Fraction(1, 10)),
        (1e-7, Fraction(1, 10**7)),
        (2, Fraction(2)),
        ("1/6", Fraction(1, 6)),
        (" 0.25 ", Fraction(1, 4)),
        ("1e-3", Fraction(1, 1000)),
        (Fraction(1, 6), Fraction(1, 6)),
        (Decimal("0.7"), Fraction(7, 10)),
        (np.float64(0.7), Fraction(7, 10)),
        (np.float32(0.7), Fraction(7, 10)),
        (np.int64(3), Fraction(3)),
        (np.uint8(200), Fraction(200)),
    ],
)
def test_numbers_are_read_as_they_are_shown(written: Any, meant: Fraction) -> None:
    assert exact.rational(written) == meant


def test_the_integers_of_an_array_leave_their_64_bits() -> None:
    read = exact.rational(np.int64(2**62))  # type: ignore[arg-type]
    assert type(read.numerator) is int
    assert read * 2**64 == 2**126


UNREADABLE: list[Any] = [
    math.nan,
    math.inf,
    -math.inf,
    True,
    np.bool_(True),
    "",
    "one",
    "1/0",
    "0x10",
    "nan",
    None,
    1j,
    [0.5],
    Decimal("NaN"),
    Decimal("Infinity"),
    "1e999999999",
    "1e-999999999",
    "1e9_999_999_999",
    Decimal("1e99999"),
    "9" * 5000,
]


@pytest.mark.parametrize(
    "written", UNREADABLE, ids=lambda written: f"{written!r:.20}"
)
def test_what_is_no_number_is_refused_in_a_short_message(written: Any) -> None:
    with pytest.raises(
        InvalidNumber, match=r"share is .*; expected a finite number"
    ) as caught:
        exact.rational(written, name="share")
    assert len(str(caught.value)) < 200
    assert caught.value.hint


@pytest.mark.parametrize(
    "written",
    [-0.1, 1.1, "3/2", -1, 2, 10**5000, Fraction(-1, 10**5000)],
    ids=exact.text,
)
def test_probabilities_lie_between_0_and_1(written: Any) -> None:
    with pytest.raises(
        InvalidNumber, match=r"p is .*; expected a probability from 0 to 1"
    ):
        exact.probability(written, name="p")


def test_the_ends_are_probabilities() -> None:
    assert exact.probability(0) == 0
    assert exact.probability(1.0) == 1


@pytest.mark.parametrize("written", [0, -1, -0.5, "0", -(10**5000)], ids=exact.text)
def test_an_epsilon_is_positive(written: Any) -> None:
    with pytest.raises(InvalidNumber, match="expected a positive number") as caught:
        exact.positive_epsilon(written)
    assert "ε = 1" in caught.value.hint


@pytest.mark.parametrize("written", [64.1, 100, "1e300", 10**5000], ids=exact.text)
def test_an_epsilon_that_hides_nothing_is_refused(written: Any) -> None:
    with pytest.raises(InvalidNumber, match="expected at most 64"):
        exact.positive_epsilon(written)


def test_the_smaller_reading_of_a_float_is_taken() -> None:
    assert exact.positive_epsilon(0.1) == Fraction(1, 10) < Fraction(0.1)
    assert exact.positive_epsilon(0.7) == Fraction(0.7) < Fraction(7, 10)
    assert exact.positive_epsilon(np.float32(0.7)) == Fraction(
        float(np.float32(0.7))
    )  # type: ignore[arg-type]


def test_other_numbers_become_a_float_that_is_not_above_them() -> None:
    assert exact.positive_epsilon("0.7") == Fraction(0.7)
    assert (
        exact.positive_epsilon("0.1")
        == Fraction(math.nextafter(0.1, 0))
        < Fraction(1, 10)
    )
    assert exact.positive_epsilon(2) == 2


def test_where_something_is_asked_a_float_is_what_it_holds() -> None:
    assert exact.non_negative_epsilon(0.1) == Fraction(0.1)
    assert exact.non_negative_epsilon("0.1") == Fraction(1, 10)
    assert exact.non_negative_epsilon(0) == 0
    with pytest.raises(InvalidNumber, match="expected 0 or more"):
        exact.non_negative_epsilon(-0.5)
    with pytest.raises(InvalidNumber, match="expected a finite number"):
        exact.non_negative_epsilon(math.inf)


def test_the_exponential_of_zero_is_one() -> None:
    assert exact.exp_below(0) == exact.exp_above(0) == 1


def test_e_lies_between_its_bounds() -> None:
    e = "2.71828182845904523536028747135266249775724709369995957496696762772407663035354759457138"
    assert exact.exp_below(1) < Fraction(e) < exact.exp_above(1)
    assert exact.exp_above(1) - exact.exp_below(1) < Fraction(1, 10**55)


@pytest.mark.parametrize(
    "exponent", [100_001, -100_001, 10**5000, "1e4000"], ids=exact.text
)
def test_exponents_without_end_are_refused(exponent: Any) -> None:
    with pytest.raises(InvalidNumber, match="expected at most 100,000"):
        exact.exp_below(exponent)
    with pytest.raises(InvalidNumber, match="expected at most 100,000"):
        exact.exp_above(exponent)


def test_logarithms_at_the_ends() -> None:
    assert exact.log_above(math.inf) == math.inf
    assert exact.log_above(Fraction(0)) == -math.inf
    assert exact.log_above(Fraction(1)) == 0
    assert exact.log_above(Fraction(2)) == math.nextafter(math.log(2), 1)
    assert exact.log_above(1 + Fraction(1, 10**400)) == 5e-324


def test_numbers_in_messages_are_short() -> None:
    assert exact.text(0.7) == "0.7"
    assert exact.text("x" * 100) == "x" * 60
    assert exact.text(10**5000) == "a number of thousands of digits"

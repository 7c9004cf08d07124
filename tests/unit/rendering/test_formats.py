"""Numbers as text: bounds are rounded towards safety, percentages have one spelling."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.rendering import formats


@given(value=st.floats(1e-6, 1e4), digits=st.integers(2, 6))
def test_an_epsilon_is_never_shown_too_small(value: float, digits: int) -> None:
    text = formats.epsilon(value, digits).replace(",", "")
    assert Fraction(text) >= Fraction(str(value)) * (1 - Fraction(1, 10**15))


@given(value=st.floats(1e-6, 1e4), digits=st.integers(2, 6))
def test_a_lower_bound_is_never_shown_too_large(value: float, digits: int) -> None:
    text = formats.epsilon_at_least(value, digits).replace(",", "")
    assert Fraction(text) <= Fraction(str(value)) * (1 + Fraction(1, 10**15))


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0%"),
        (0.1, "10%"),
        (0.12345, "12.3%"),
        (-0.05, "-5%"),
        (-0.0, "0%"),
        (1, "100%"),
        (0.9996, "99.96%"),
        (1 - 1e-6, "99.9999%"),
        (12.34, "1,234%"),
        (Fraction(1, 3), "33.3%"),
    ],
)
def test_a_share_in_percent(share: float, text: str) -> None:
    assert formats.percent(share) == text


@given(share=st.floats(0, 1))
def test_only_certainty_is_shown_as_certain(share: float) -> None:
    assert (formats.percent(share, 2) == "100%") <= (share > 1 - 1e-11)
    assert (formats.percent(share, 2) == "0%") == (share == 0)


def test_ends_of_an_interval_are_rounded_outward() -> None:
    low, high = (
        formats.fixed_percent(0.1019, 1, math.floor),
        formats.fixed_percent(0.1011, 1, math.ceil),
    )
    assert (low, high) == ("10.1%", "10.2%")
    assert formats.interval(formats.points(0.1019), high) == "10.2 … 10.2%"


def test_a_rounded_percentage_is_never_minus_zero() -> None:
    assert formats.fixed_percent(-1e-9, 2) == "0.00%"


def test_levels_keep_their_digits() -> None:
    assert [formats.level(each) for each in (0.95, 0.9875, 0.9999)] == [
        "95%",
        "98.75%",
        "99.99%",
    ]


def test_cells_of_any_kind() -> None:
    cells = ["three", None, 12345, 0.123456, math.inf, math.nan]
    assert [formats.cell(each) for each in cells] == [
        "three",
        "—",
        "12,345",
        "0.1235",
        "∞",
        "—",
    ]

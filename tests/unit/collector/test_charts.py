from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.collector.charts import (
    HEIGHT,
    MAX_LINES,
    axis,
    curve_chart,
    days_chart,
    shares_chart,
)
from deniable.collector.results import CategoryResult
from deniable.estimates import ShareRow


@given(st.floats(-5, 5), st.floats(1e-4, 10))
def test_an_axis_holds_both_ends_between_its_first_and_last_tick(
    low: float, room: float
) -> None:
    made = axis(low, low + room, str)
    assert made.low <= low + 1e-9 * room
    assert low + room <= made.high + 1e-6 * room
    assert [tick.at for tick in made.ticks] == sorted(tick.at for tick in made.ticks)
    assert (made.ticks[0].at, made.ticks[-1].at) == (0, 100)
    assert 2 <= len(made.ticks) <= 8


def test_what_lies_outside_stands_at_the_end() -> None:
    made = axis(0, 1, str)
    assert (made.at(-1), made.at(0.25), made.at(7)) == (0, 25, 100)


def share(label: str, value: float, low: float, high: float) -> CategoryResult:
    row = ShareRow("x", value, 0.1, low, high, value - 0.01, value + 0.01, 10)
    return CategoryResult(label, row, ())


def test_shares_stand_in_their_order_and_zero_is_shown() -> None:
    made = shares_chart([share("a", 0.4, 0.3, 0.5), share("b", -0.02, -0.1, 0.06)])
    assert made.axis.low <= -0.1
    assert made.axis.high >= 0.5
    for line in made.lines:
        assert (
            0
            <= line.low
            < line.direct_low
            < line.value
            < line.direct_high
            < line.high
            <= 100
        )
    assert made.left_out == 0


def test_of_many_shares_the_largest_are_drawn() -> None:
    shares = [
        share(str(number), number / 100, number / 100 - 0.02, number / 100 + 0.02)
        for number in range(60)
    ]
    made = shares_chart(shares)
    assert len(made.lines) == MAX_LINES
    assert made.lines[0].label == "59"
    assert made.left_out == 60 - MAX_LINES


def test_days_without_responses_leave_a_gap() -> None:
    made = days_chart(
        [(date(2026, 3, 1), 10), (date(2026, 3, 2), 0), (date(2026, 3, 4), 20)]
    )
    assert made is not None
    first, last = made.bars
    assert (first.height, last.height, made.most) == (HEIGHT / 2, HEIGHT, 20)
    assert last.at == pytest.approx(3 * (last.width / 0.86), abs=0.01)
    assert (made.first, made.last) == (date(2026, 3, 1), date(2026, 3, 4))


def test_only_the_last_two_months_are_drawn_and_nobody_is_nothing() -> None:
    made = days_chart([(date(2025, 1, 1), 99), (date(2026, 3, 4), 20)])
    assert made is not None
    assert [bar.responses for bar in made.bars] == [20]
    assert made.most == 20
    assert days_chart([(date(2025, 1, 1), 0)]) is None


def test_a_curve_runs_from_end_to_end_and_goes_down_where_values_fall() -> None:
    made = curve_chart(
        [(0.1, 0.9), (1, 0.3), (10, 0.1)],
        (1, 0.3),
        [(0.1, 0.05), (10, 0.05)],
        [0.1, 1, 10],
    )
    points, others = (
        [tuple(map(float, point.split(","))) for point in curve.split()]
        for curve in (made.points, made.compared)
    )
    assert [x for x, _ in points] == [0, 50, 100]
    assert [x for x, _ in others] == [0, 100]
    assert (
        points[0][1]
        < points[1][1]
        < points[2][1]
        < others[0][1]
        == others[1][1]
        <= 100
    )
    assert (made.x, made.y) == (50, pytest.approx(points[1][1], abs=0.1))
    assert [tick.at for tick in made.across] == [0, 50, 100]

"""Boundaries as points and as functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from deniable.criteria import Boundaries, posterior_bounds
from deniable.criteria import boundaries as lines
from deniable.designs import warner
from deniable.errors import InvalidNumber, InvalidRequest

F = Fraction
POINTS = [(0, 0.2), (0.25, 0.6), (0.5, 0.8), (1, 1)]


def test_bounds_between_and_at_points() -> None:
    both = Boundaries(lower=[(0, 0), ("1/2", "1/4"), (1, 1)], upper=POINTS)
    assert both.bounds("1/8") == (F(1, 16), F(2, 5))
    assert both.bounds("1/2") == (F(1, 4), F(4, 5))
    assert both.bounds(0) == (0, F(1, 5))
    assert both.bounds(1) == (1, 1)
    assert Boundaries(upper=POINTS).bounds("1/2").lower == 0
    assert Boundaries(lower=[(0, 0), (1, "1/2")]).bounds("1/2") == (F(1, 4), 1)


def test_at_a_jump_the_tighter_value_counts() -> None:
    step = Boundaries(upper=[(0, "1/2"), ("1/3", "1/2"), ("1/3", 1), (1, 1)])
    assert step.bounds("1/3").upper == F(1, 2)
    assert step.bounds("2/5").upper == 1
    down = Boundaries(lower=[(0, 0), ("2/3", 0), ("2/3", "1/2"), (1, "1/2")])
    assert down.bounds("2/3").lower == F(1, 2)
    assert down.parity == step.parity == 2


def test_the_witness_of_a_lower_boundary_is_a_belief_that_falls() -> None:
    verdict = Boundaries(lower=[(0, 0), ("1/2", "1/5"), (1, 1)]).check(
        warner(p="3/4")
    )
    witness = verdict.witness
    assert witness is not None
    assert not witness.upward
    assert "gives it only" in verdict.sentence
    assert (
        1 - witness.posterior
        < Boundaries(lower=[(0, 0), ("1/2", "1/5"), (1, 1)])
        .bounds(1 - witness.prior)
        .lower
    )


def test_the_tighter_of_two_boundaries_decides() -> None:
    lower = [(0, 0), ("1/2", "1/5"), (1, 1)]
    assert Boundaries(lower=lower).parity == F(8, 5)
    assert Boundaries(lower=lower, upper=POINTS).parity == F(8, 5)
    assert str(Boundaries(lower=lower, upper=POINTS)) == "the given boundaries"
    assert str(Boundaries(upper=POINTS)) == "the given upper boundary"
    assert str(Boundaries(lower=lower)) == "the given lower boundary"


@pytest.mark.parametrize("reading", ["steps", "chords"])
@pytest.mark.parametrize("gamma", [F(3, 2), F(50)])
def test_a_function_never_allows_more_than_it_says(
    reading: Any, gamma: Fraction
) -> None:
    upper = Boundaries(
        upper=lambda p: posterior_bounds(gamma, p).upper, reading=reading
    )
    lower = Boundaries(
        lower=lambda p: posterior_bounds(gamma, p).lower, reading=reading
    )
    least = gamma * (
        F(993, 1000) if reading == "steps" else 1 - (gamma + 10) / 10**6
    )
    assert least <= upper.parity <= gamma
    assert least <= lower.parity <= gamma
    assert upper.bounds("1/3").upper <= posterior_bounds(gamma, "1/3").upper
    assert lower.bounds("1/3").lower >= posterior_bounds(gamma, "1/3").lower


@pytest.mark.parametrize(
    ("function", "infimum"),
    [
        (math.sqrt, 2.0),  # R falls to 2 as p goes to 1
        (np.sqrt, 2.0),
        (lambda p: p**0.5, 2.0),
        (lambda p: min(1, 3 * p), 3.0),
        # a + b − 1 = ab = 0.3
        (lambda p: min(1.0, 0.3 + p), 1 + (0.3 + 0.3 + 2 * 0.3) / 0.49),
        (lambda p: 0.6 if p < 0.2 else 1, 6.0),
    ],
    ids=["math", "numpy", "power", "line", "touching", "step"],
)
def test_functions_of_every_sort(
    function: Callable[[Any], Any], infimum: float
) -> None:
    assert 0.993 * infimum <= float(Boundaries(upper=function).parity) <= infimum


def test_a_function_that_is_not_defined_at_zero_starts_there_at_zero() -> None:
    found = Boundaries(upper=lambda p: min(1.0, 1 / (1 - math.log(p))))
    assert found.bounds(0).upper == 0
    assert found.parity >= 1


def test_a_function_that_touches_the_diagonal_allows_nothing() -> None:
    assert Boundaries(upper=lambda p: max(p, 0.5)).parity == 1


def test_thousands_of_points_are_read_exactly_as_a_few() -> None:
    few = Boundaries(upper=POINTS)
    ticks = [F(i, 1000) for i in range(1001)]
    many = Boundaries(upper=[(p, few.bounds(p).upper) for p in ticks])
    assert many.parity == few.parity == F(5, 2)


def test_the_quick_look_leaves_the_infimum_in() -> None:
    line = lines.read_function(lambda p: min(1, F(3, 10) + p), "upper", chords=True)
    every = lines.to_segments(line)
    assert min(piece.infimum() for piece in every)[0] == lines.infimum(line)[0]
    assert len(lines._drop_dominated(every)) < len(every) / 4


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "there is no boundary"),
        ({"upper": POINTS, "reading": "dots"}, "expected steps or chords"),
        ({"upper": 3}, "not a list of points"),
        ({"upper": [1, 2]}, "not a list of points"),
        ({"upper": [(0, 1)]}, "do not rise from 0 to 1"),
        ({"upper": [(0.1, 1), (1, 1)]}, "do not rise from 0 to 1"),
        ({"upper": [(0, 1), (0.6, 1), (0.5, 1), (1, 1)]}, "do not rise from 0 to 1"),
        (
            {"upper": [(0, 0), (0.5, 0.6), (0.5, 0.7), (0.5, 0.8), (1, 1)]},
            "more than two points",
        ),
        ({"upper": [(0, 0), (0.5, 0.4), (1, 1)]}, "upper crosses the diagonal"),
        ({"lower": [(0, 0), (0.5, 0.6), (1, 1)]}, "lower crosses the diagonal"),
        (
            {"upper": lambda p: p / 2},
            "expected a probability, lower ≤ prior ≤ upper",
        ),
        (
            {"upper": lambda p: p + 1},
            "expected a probability, lower ≤ prior ≤ upper",
        ),
        ({"upper": lambda p: max(p, 1 - p)}, "falls somewhere"),
        (
            {"upper": lambda p: max(p, (1 + p**4) / 2), "reading": "chords"},
            "not of one curvature",
        ),
    ],
)
def test_what_is_no_boundary_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidRequest, match=says):
        Boundaries(**given)


def test_numbers_that_are_none_are_refused() -> None:
    with pytest.raises(InvalidNumber, match="upper is 2"):
        Boundaries(upper=[(0, 2), (1, 1)])
    with pytest.raises(InvalidNumber, match="finite"):
        Boundaries(upper=lambda p: math.nan if p == F(1, 2) else 1.0)

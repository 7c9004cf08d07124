"""Windows over levels: the channel of the definition, the parity, and the choice of levels and width."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable import exact
from deniable.designs.numbers import (
    best_scores,
    best_window,
    window_columns,
    worst_variance,
)
from deniable.errors import InvalidDesign

UNIT = Fraction(1, 1 << 64)


@pytest.mark.parametrize(
    ("size", "width"), [(2, 1), (3, 2), (5, 2), (7, 6), (11, 5)]
)
@pytest.mark.parametrize("epsilon", ["1/10", 1, 4])
def test_a_window_is_that_of_its_definition(
    size: int, width: int, epsilon: str | int
) -> None:
    design = dn.window(size, width, epsilon)
    gamma = exact.exp_below(exact.positive_epsilon(epsilon))
    small = 1 / (width * gamma + size - 1)
    for level in range(size):
        for response in range(size + width - 1):
            wanted = small * (gamma if level <= response < level + width else 1)
            assert (
                abs(design.channel.probability(response, given=level) - wanted)
                < 2 * size * UNIT
            )
    assert 1 < design.parity <= gamma
    assert np.linalg.matrix_rank(design.channel.floats()) == size


@pytest.mark.parametrize("width", [0, 3, -1, 1.5, True, None])
def test_a_width_that_does_not_fit_is_refused(width: object) -> None:
    with pytest.raises(InvalidDesign, match="width"):
        dn.window(3, width, 1)  # type: ignore[arg-type]
    with pytest.raises(InvalidDesign, match="at most 200"):
        dn.window(1000, 2, 1)


def test_a_smaller_epsilon_is_a_garbling_of_a_larger_one() -> None:
    stages = dn.ladder(
        dn.number_design(0, 80, each, levels=5, width=2) for each in (1, 2)
    )
    assert stages.epsilons == (1.0, 2.0)


def published(epsilon: float) -> list[float]:
    """The largest variances of the mechanisms of Duchi et al., piecewise and hybrid."""
    x, h = math.exp(epsilon), math.exp(epsilon / 2)
    duchi = ((x + 1) / (x - 1)) ** 2
    hybrid = (
        (h + 3) / (3 * h * (h - 1)) + (x + 1) ** 2 / (h * (x - 1) ** 2)
        if epsilon > 0.609352
        else duchi
    )
    return [duchi, 1 / (h - 1) + (h + 3) / (3 * (h - 1) ** 2), hybrid]


@pytest.mark.parametrize("epsilon", [0.1, 0.25, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8])
def test_the_worst_variance_is_below_that_of_mechanisms_in_use(
    epsilon: float,
) -> None:
    design = dn.number_design(-1, 1, epsilon)
    assert design.worst_variance() < min(published(epsilon))
    assert dn.number_design(
        -1, 1, epsilon, levels=2
    ).worst_variance() == pytest.approx(published(epsilon)[0])
    assert dn.number_design(0, 10, epsilon).worst_variance() == pytest.approx(
        25 * design.worst_variance()
    )


@pytest.mark.parametrize(
    ("levels", "width", "ratio"), [(2, 1, 3.0), (5, 2, 7.4), (7, 6, 2.7)]
)
def test_scores_are_those_of_the_estimate(
    levels: int, width: int, ratio: float
) -> None:
    columns = window_columns(levels, width, ratio)
    scores = np.array(best_scores(columns))
    assert np.array(columns) @ scores == pytest.approx(np.linspace(-1, 1, levels))
    seconds = np.array(columns) @ scores**2
    fine = np.linspace(-1, 1, 20_001)
    everywhere = np.interp(fine, np.linspace(-1, 1, levels), seconds) - fine**2
    assert worst_variance(columns) == pytest.approx(everywhere.max(), rel=1e-6)


def test_a_distribution_takes_the_width_that_tells_the_shares_below_each_level_best() -> (
    None
):
    def cost(width: int) -> float:
        channel = dn.window(8, width, 1).channel.floats()
        inverse = np.linalg.inv(
            channel.T @ (channel / channel.mean(axis=1)[:, None])
        )
        below = np.tril(np.ones((8, 8)))[:-1]
        return float(np.trace(below @ inverse @ below.T))

    assert best_window("distribution", math.e, 8) == (8, min(range(1, 8), key=cost))
    assert dn.number_design(0, 1, 3, goal="distribution").name == "k_ary"


@pytest.mark.parametrize(
    ("low", "high", "names"),
    [
        (0, 80, ("0", "40", "80")),
        ("-1/3", "1/3", ("-1/3", "0", "1/3")),
        (0, "0.5", ("0", "0.25", "0.5")),
    ],
)
def test_levels_are_called_as_they_are_exactly(
    low: object, high: object, names: tuple[str, ...]
) -> None:
    design = dn.number_design(low, high, 1, levels=3)  # type: ignore[arg-type]
    assert tuple(design.categories) == names
    assert tuple(map(Fraction, names)) == design.scale.values


@pytest.mark.parametrize("goal", ["mean", "distribution"])
def test_next_to_no_privacy_budget_has_one_window(goal: str) -> None:
    small, smaller = (
        dn.number_design(0, 1, epsilon, goal=goal) for epsilon in (1e-6, 1e-9)
    )
    assert small.symbols == smaller.symbols
    with pytest.raises(InvalidDesign, match="larger ε"):
        dn.number_design(0, 1, 1e-15, goal=goal)

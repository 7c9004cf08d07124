from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import LinearConstraint, minimize

from deniable import exact
from deniable.designs import k_ary, rr3_club, rr3_dagger, rr3_ddagger
from deniable.designs.three_answers_best import (
    SLICES,
    Club,
    club,
    conditions,
    corners,
    edges,
    find,
    optimum,
    risk_of,
)
from deniable.errors import (
    DeniableError,
    InvalidDesign,
    InvalidNumber,
    InvalidRequest,
)
from tests.support.rational import table
from tests.support.three_answers import covariance, feasible

F = Fraction
BUILDERS: dict[str, Any] = {
    "rr3_dagger": rr3_dagger,
    "rr3_ddagger": rr3_ddagger,
    "rr3_club": rr3_club,
}
GOALS = [
    ((1, 1, 1), ("1/3", "1/3", "1/3")),
    ((1, 1, 1), ("0.9", "0.08", "0.02")),
    ((8, 1, 1), ("0.8", "0.15", "0.05")),
    ((0, 1, 0), ("0.2", "0.7", "0.1")),
    ((1, 0, 3), ("0", "1/2", "1/2")),
]


@pytest.mark.parametrize("family", BUILDERS)
@pytest.mark.parametrize("epsilon", ["1/1000", 0.1, 1, "5/2", 12])
@pytest.mark.parametrize(("importance", "guess"), GOALS[1:3])
def test_the_certified_epsilon_is_at_most_the_requested_one_and_very_close(
    family: str, epsilon: Any, importance: Any, guess: Any
) -> None:
    design = BUILDERS[family](epsilon=epsilon, importance=importance, guess=guess)
    wanted = exact.positive_epsilon(epsilon)
    assert design.parity <= exact.exp_below(wanted)
    assert design.epsilon <= (
        epsilon if isinstance(epsilon, float) else float(wanted)
    )
    assert design.epsilon > float(wanted) * (1 - 1e-9)


@pytest.mark.parametrize("family", BUILDERS)
def test_a_design_for_epsilon_is_an_exact_member_of_the_large_family(
    family: str,
) -> None:
    design = BUILDERS[family](epsilon=1, importance=[5, 1, 1])
    (a, b, again), (h, u, v), (h2, v2, u2) = table(design.channel)
    assert (b, h, u, v) == (again, h2, u2, v2)
    assert Club(a, u + v, u / (u + v)).parity == design.parity
    best = optimum(family, exact.exp_below(1), importance=(5, 1, 1))
    assert np.allclose(
        [float(each) for each in (a, u + v)],
        [float(best.club.p1), float(best.club.p2)],
        atol=1e-15,
    )


def test_the_dagger_of_the_smallest_total_is_k_ary() -> None:
    ours, known = rr3_dagger(epsilon=1), k_ary(3, 1)
    assert np.allclose(
        np.array(table(ours.channel), np.float64),
        np.array(table(known.channel), np.float64),
        rtol=1e-15,
    )


def test_importance_and_guess_may_be_given_by_name() -> None:
    names = ["no", "a little", "a lot"]
    one = rr3_club(
        epsilon=1,
        importance={"no": 8, "a lot": 1},
        guess={"no": 0.5, "a lot": 0.5},
        categories=names,
    )
    assert one == rr3_club(
        epsilon=1, importance=[8, 0, 1], guess=[0.5, 0, 0.5], categories=names
    )
    assert tuple(one.categories) == tuple(one.symbols) == tuple(names)
    with pytest.raises(InvalidRequest, match="'often' is not a category"):
        rr3_club(epsilon=1, importance={"often": 1}, categories=names)


@pytest.mark.parametrize(
    ("family", "arguments", "error", "problem"),
    [
        (
            "rr3_dagger",
            {"p1": "2/5", "p2": "1/5"},
            InvalidDesign,
            "2·p1 \\+ p2 is not 1",
        ),
        ("rr3_dagger", {"p1": "2/5", "p2": "1/3"}, InvalidDesign, "p2 is not 1/3"),
        ("rr3_ddagger", {"p1": "1/2", "p2": "1/5"}, InvalidDesign, "p1 is not 1/2"),
        ("rr3_ddagger", {"p1": "4/5", "p2": "1/2"}, InvalidDesign, "p2 is not 1/2"),
        ("rr3_ddagger", {"p1": 0, "p2": "1/5"}, InvalidDesign, "p1 is not 0"),
        (
            "rr3_club",
            {"p1": "4/5", "p2": "1/5", "q": 1},
            InvalidDesign,
            "p1 \\+ p2 is not 1",
        ),
        (
            "rr3_club",
            {"p1": "4/5", "p2": "1/2", "q": "1/2"},
            InvalidDesign,
            "q is not 1/2",
        ),
        ("rr3_club", {"p1": "4/5", "p2": "1/2"}, InvalidRequest, "all of p1, p2, q"),
        ("rr3_dagger", {}, InvalidRequest, "either epsilon or all of p1, p2"),
        (
            "rr3_dagger",
            {"p1": "4/5", "p2": "1/2", "epsilon": 1},
            InvalidRequest,
            "either epsilon",
        ),
        (
            "rr3_dagger",
            {"p1": "4/5", "p2": "1/2", "importance": [1, 1, 1]},
            InvalidRequest,
            "go with epsilon",
        ),
        ("rr3_dagger", {"p1": "6/5", "p2": "1/2"}, InvalidNumber, "p1 is 6/5"),
        ("rr3_dagger", {"epsilon": 0}, InvalidNumber, "positive"),
        ("rr3_dagger", {"epsilon": 1, "categories": 4}, InvalidDesign, "expected 3"),
        (
            "rr3_dagger",
            {"epsilon": 1, "importance": [1, 0, 0]},
            InvalidDesign,
            "importance for each",
        ),
        (
            "rr3_club",
            {"epsilon": 1, "importance": [1, 0, 0]},
            InvalidDesign,
            "importance for each",
        ),
        (
            "rr3_club",
            {"epsilon": 1, "importance": [1, -1, 1]},
            InvalidRequest,
            "0 or more",
        ),
        (
            "rr3_club",
            {"epsilon": 1, "importance": [0, 0, 0]},
            InvalidRequest,
            "not all 0",
        ),
        (
            "rr3_club",
            {"epsilon": 1, "guess": [0.5, 0.6, 0.1]},
            InvalidRequest,
            "sum to 1",
        ),
        (
            "rr3_club",
            {"epsilon": 1, "guess": [0.5, 0.5]},
            InvalidRequest,
            "three shares",
        ),
    ],
    ids=range(20),
)
def test_what_does_not_fit_is_refused(
    family: str, arguments: dict[str, Any], error: type[DeniableError], problem: str
) -> None:
    with pytest.raises(error, match=problem):
        BUILDERS[family](**arguments)


def test_the_condition_printed_for_ddagger_would_refuse_a_good_design() -> None:
    # p1·p2 = 1/2, and yet all shares can be estimated
    assert rr3_ddagger("4/5", "5/8").parity > 1


def grid(family: str, gamma: float, steps: int) -> NDArray[np.float64]:
    """Feasible points (a, u, v) of a fine grid, from the conditions and from nothing else."""
    line = np.linspace(0.0005, 0.9995, steps)
    if family == "rr3_club":
        p1, p2, q = (each.ravel() for each in np.meshgrid(line, line, line))
    else:
        p1, second = (each.ravel() for each in np.meshgrid(line, line))
        p2, q = (
            ((1 + second) / 2, 2 * second / (1 + second))
            if family == "rr3_dagger"
            else (p1, second)
        )
    a, b, h, u, v = p1, 1 - p2, (1 - p1) / 2, p2 * q, p2 * (1 - q)
    first = np.maximum(a, b) <= gamma * np.minimum(a, b)
    rest = np.max([h, u, v], axis=0) <= gamma * np.min([h, u, v], axis=0)
    return np.stack([a, u, v], axis=1)[first & rest]


@pytest.mark.parametrize("family", BUILDERS)
@pytest.mark.parametrize("epsilon", [0.3, 1, 3])
@pytest.mark.parametrize(("importance", "guess"), GOALS)
def test_no_point_of_a_fine_grid_is_better(
    family: str, epsilon: float, importance: Any, guess: Any
) -> None:
    gamma = exact.exp_below(epsilon)
    found = optimum(family, gamma, importance=importance, guess=guess)
    risk = risk_of(
        tuple(map(float, importance)), tuple(float(F(each)) for each in guess)
    )  # type: ignore[arg-type]
    points = grid(family, float(gamma), 70 if family == "rr3_club" else 400)
    assert len(points) > 50
    lowest = min(risk(tuple(point)) for point in points.tolist())
    assert found.risk <= lowest * (1 + 1e-12)
    assert lowest < 2 * found.risk  # the grid comes close enough to find a mistake


@pytest.mark.parametrize("family", BUILDERS)
@pytest.mark.parametrize(("importance", "guess"), GOALS)
def test_a_general_optimizer_finds_nothing_better(
    family: str, importance: Any, guess: Any
) -> None:
    gamma = exact.exp_below(1)
    found = optimum(family, gamma, importance=importance, guess=guess)
    risk = risk_of(
        tuple(map(float, importance)), tuple(float(F(each)) for each in guess)
    )  # type: ignore[arg-type]
    planes = np.array(conditions(gamma), np.float64)
    bounds = [LinearConstraint(planes[:, :3], ub=planes[:, 3])]
    equal = np.array(SLICES[family].planes, np.float64).reshape(-1, 4)
    bounds += [LinearConstraint(row[:3], row[3], row[3]) for row in equal]
    ends = np.array([corner.point for corner in corners(family, gamma)], np.float64)
    rng = np.random.default_rng(7)
    best = np.inf
    for _ in range(12):
        start = rng.dirichlet(np.ones(len(ends))) @ ends
        result = minimize(
            lambda x: min(risk(tuple(x)), 1e9),
            start,
            method="SLSQP",
            constraints=bounds,
        )
        if (planes[:, :3] @ result.x <= planes[:, 3] + 1e-9).all():
            best = min(best, float(result.fun))
    assert found.risk <= best * (1 + 1e-6)
    assert best < 1.5 * found.risk


def test_the_risk_is_the_weighted_trace_of_the_covariance() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        p1, p2, q = (F(int(each), 1000) for each in rng.integers(1, 1000, 3))
        parts = rng.integers(1, 100, 3)
        shares = tuple(F(int(each), int(parts.sum())) for each in parts)
        weights = tuple(float(each) for each in rng.random(3))
        member = Club(p1, p2, q)
        if member.first_gap == 0 or member.other_gap == 0:
            continue
        expected = sum(
            w * float(covariance(member, shares)[j][j])
            for j, w in enumerate(weights)
        )
        got = risk_of(weights, tuple(map(float, shares)))(
            (float(p1), float(p2 * q), float(p2 * (1 - q)))
        )  # type: ignore[arg-type]
        assert got == pytest.approx(expected, rel=1e-9)


def test_the_large_family_is_never_worse_than_its_members() -> None:
    for epsilon, (importance, guess) in product((0.3, 1, 3), GOALS):
        gamma = exact.exp_below(epsilon)
        risks = {
            name: optimum(name, gamma, importance=importance, guess=guess).risk
            for name in SLICES
        }
        assert risks["rr3_club"] <= min(risks.values()) * (1 + 1e-12)


def test_an_optimum_inside_an_edge_is_found() -> None:
    found = optimum(
        "rr3_club",
        exact.exp_below(1),
        importance=(8, 1, 1),
        guess=("0.8", "0.15", "0.05"),
    )
    assert not found.corner
    assert found.estimable
    assert found.club.q > F(1, 2)
    shaken = [
        optimum(
            "rr3_club", exact.exp_below(1), importance=(8, 1, 1), guess=guess
        ).risk
        for guess in (("0.8", "0.15", "0.05"), ("0.8", "0.05", "0.15"))
    ]
    # the two other answers are alike
    assert shaken[0] == pytest.approx(shaken[1], rel=1e-12)


def test_corners_and_edges_close_the_regions() -> None:
    gamma = F(3)
    for family in ("rr3_dagger", "rr3_ddagger"):
        assert len(corners(family, gamma)) == len(list(edges(family, gamma)))
    found = corners("rr3_club", gamma)
    lines = list(edges("rr3_club", gamma))
    # Euler: every one of the eight conditions is a face
    assert len(found) - len(lines) + 8 == 2
    cut = corners("rr3_club", gamma, q="3/4")
    assert all(3 * v == u for _, u, v in (corner.point for corner in cut))


@pytest.mark.parametrize(
    ("ask", "problem"),
    [
        (lambda: find("rr4"), "expected one of rr3_dagger"),
        (lambda: club("rr3_club", 1, 1), "p1, p2, q; 2 were given"),
        (lambda: corners("rr3_dagger", F(1)), "expected more than 1"),
        (lambda: corners("rr3_dagger", F(2), q="1/2"), "no parameter q"),
        (lambda: feasible("rr3_dagger", 1, gamma=F(2)), "1 were given"),
    ],
    ids=range(5),
)
def test_questions_about_regions_are_checked(ask: Any, problem: str) -> None:
    with pytest.raises(InvalidRequest, match=problem):
        ask()

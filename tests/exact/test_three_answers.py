"""RR3†, RR3‡ and RR3♣ in rationals: estimates, covariances, regions and the corrected optimum."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from deniable import exact
from deniable.designs import Design, rr3_club, rr3_dagger, rr3_ddagger
from deniable.designs.three_answers_best import (
    SLICES,
    Club,
    club,
    corners,
    kink,
    optimum,
    parameters_at,
    star,
)
from deniable.estimates import covariance
from deniable_papers.rr3 import p1_range
from tests.support import brute
from tests.support import three_answers as closed_form
from tests.support.rational import Table, applied, inverse, table, transposed
from tests.support.three_answers import dagger_for_first, feasible, region_part

F = Fraction
MEMBERS = [
    ("rr3_dagger", "7/10", "11/20"),
    ("rr3_dagger", "1/10", "1/5"),
    ("rr3_dagger", "4/5", "1/4"),
    ("rr3_ddagger", "3/4", "4/5"),
    ("rr3_ddagger", "1/5", "1/4"),
    ("rr3_club", "4/5", "13/20", "7/10"),
    ("rr3_club", "1/6", "2/5", "1/9"),
]
BUILDERS = {
    "rr3_dagger": rr3_dagger,
    "rr3_ddagger": rr3_ddagger,
    "rr3_club": rr3_club,
}
SHARES = [
    (F(1, 3), F(1, 3), F(1, 3)),
    (F(1, 5), F(3, 10), F(1, 2)),
    (F(1), F(0), F(0)),
]
GAMMAS = [
    F(11, 10),
    F(3, 2),
    F(2),
    F(5, 2),
    exact.exp_below(1),
    F(4),
    exact.exp_below(2),
]

members = pytest.mark.parametrize("given", MEMBERS, ids=" ".join)


def built(given: tuple[str, ...]) -> tuple[Club, Design, Table]:
    family, *parameters = given
    design = BUILDERS[family](*parameters)
    return club(family, *parameters), design, table(design.channel)


def shares_of(numbers: Sequence[int]) -> tuple[Fraction, ...]:
    return tuple(F(list(numbers).count(i), len(numbers)) for i in range(3))


@members
def test_the_columns_are_those_of_the_channel(given: tuple[str, ...]) -> None:
    member, _, rows = built(given)
    assert member.columns == transposed(rows)
    assert member.parity == brute.parity(rows)


@members
def test_the_closed_form_is_the_inverse(given: tuple[str, ...]) -> None:
    member, _, rows = built(given)
    for counts in [(2, 1, 1), (1, 2, 1), (40, 35, 25), (0, 0, 7)]:
        observed = tuple(F(count, sum(counts)) for count in counts)
        assert closed_form.estimates(member, observed) == applied(
            inverse(rows), observed
        )


@members
def test_the_estimate_is_unbiased_in_every_world_of_two_respondents(
    given: tuple[str, ...],
) -> None:
    member, _, rows = built(given)
    for answers in product(range(3), repeat=2):
        mean = [F(0)] * 3
        for responses in product(range(3), repeat=2):
            chance = rows[responses[0]][answers[0]] * rows[responses[1]][answers[1]]
            found = closed_form.estimates(member, shares_of(responses))
            mean = [m + chance * e for m, e in zip(mean, found, strict=True)]
        assert tuple(mean) == shares_of(answers)


@members
@pytest.mark.parametrize("shares", SHARES, ids=range(3))
def test_the_covariance_is_that_of_all_worlds_of_two_respondents(
    given: tuple[str, ...], shares: tuple[Fraction, ...]
) -> None:
    member, design, rows = built(given)
    lam = applied(rows, shares)
    moments = [[F(0)] * 3 for _ in range(3)]
    for responses in product(range(3), repeat=2):
        found = closed_form.estimates(member, shares_of(responses))
        error = [e - s for e, s in zip(found, shares, strict=True)]
        for i, j in product(range(3), repeat=2):
            moments[i][j] += (
                lam[responses[0]] * lam[responses[1]] * error[i] * error[j]
            )
    closed = closed_form.covariance(member, shares)
    assert moments == [[cell / 2 for cell in row] for row in closed]
    general = covariance(design, [float(share) for share in shares], 2)
    assert np.allclose(
        general, np.array(moments, np.float64), rtol=1e-12, atol=1e-13
    )


def test_the_term_by_term_rule_leaves_out_the_covariances() -> None:
    """Document 000, Section 3.2: for RR3† at .7, .6 and four respondents .3375 is printed."""
    variance = (
        closed_form.covariance(
            Club.dagger(F(7, 10), F(3, 5)), (F(1, 5), F(3, 10), F(1, 2))
        )[1][1]
        / 4
    )
    assert variance == F("0.3084375")


@pytest.mark.parametrize("gamma", GAMMAS, ids=float)
def test_the_regions_are_where_the_parity_is_at_most_gamma(gamma: Fraction) -> None:
    steps = [F(i, 18) for i in range(19)]
    for family, names in ((name, each.parameters) for name, each in SLICES.items()):
        values = (
            [*steps, gamma / (gamma + 2), 1 / (gamma + 1)]
            if len(names) == 2
            else steps[::3]
        )
        for parameters in product(values, repeat=len(names)):
            rows = transposed(club(family, *parameters).columns)
            assert feasible(family, *parameters, gamma=gamma) == (
                brute.parity(rows) <= gamma
            ), parameters


@pytest.mark.parametrize("gamma", GAMMAS, ids=float)
def test_the_two_parts_of_the_printed_region_are_corrected(gamma: Fraction) -> None:
    values = [F(1, 3) + F(i, 36) for i in range(1, 24)]
    inside = 0
    for p1, p2 in product(values, repeat=2):
        parity = brute.parity(transposed(Club.dagger(p1, p2).columns))
        expected = 0 if p1 == p2 or parity > gamma else 1 if p1 < p2 else 2
        assert region_part(p1, p2, gamma=gamma) == expected
        inside += expected > 0
    assert inside > 0 or gamma < F(3, 2)
    # the printed inequalities let it in; its ε is 1.54
    assert region_part("0.34", "0.7", gamma=exact.exp_below(1)) == 0


@pytest.mark.parametrize("gamma", GAMMAS, ids=float)
def test_every_corner_is_in_the_region_and_has_parity_gamma(gamma: Fraction) -> None:
    for family in SLICES:
        found = corners(family, gamma)
        assert len(found) >= 4
        for corner in found:
            member = club(family, *parameters_at(family, corner.point))
            constant = member.first_gap == member.other_gap == 0
            assert member.parity == (1 if constant else gamma)
            assert len(corner.tight) >= len(SLICES[family].parameters)


def test_the_range_of_p1_ends_where_the_region_does() -> None:
    gamma, step = F(5, 2), F(1, 10**9)
    assert p1_range("rr3_dagger", "1/3", gamma=gamma) == (F(2, 15), F(11, 15))
    for family, others in (
        ("rr3_dagger", ["2/5"]),
        ("rr3_ddagger", ["3/5"]),
        ("rr3_club", ["3/5", "13/20"]),
    ):
        found = p1_range(family, *others, gamma=gamma)
        assert found is not None
        low, high = found
        assert feasible(family, low, *others, gamma=gamma)
        assert feasible(family, high, *others, gamma=gamma)
        assert not feasible(family, low - step, *others, gamma=gamma)
        assert not feasible(family, high + step, *others, gamma=gamma)
    assert p1_range("rr3_dagger", "9/10", gamma=gamma) is None
    assert p1_range("rr3_ddagger", "9/10", gamma=gamma) is None


@pytest.mark.parametrize("x", GAMMAS, ids=float)
@pytest.mark.parametrize(
    "share", [F(0), F(1, 20), F(1, 3), F(9, 10), F(1)], ids=float
)
def test_the_two_candidates_have_the_variances_of_the_corrected_theorem(
    x: Fraction, share: Fraction
) -> None:
    rest = (1 - share) / 2

    def variance(point: tuple[Fraction, Fraction]) -> Fraction:
        p1, p2 = point
        lam, D = (1 - p2) / 2 + (2 * p1 + p2 - 1) / 2 * share, (2 * p1 + p2 - 1) / 2
        return lam * (1 - lam) / D**2

    at_star = (x + 1) / (x - 1) ** 2 + x * share / (x - 1) - share**2
    if x < 2:
        at_kink = (
            (x**2 - x + 2) / (x * (x - 1) ** 2)
            + (x**2 - 2 * x + 2) * share / (x * (x - 1))
            - share**2
        )
    else:
        at_kink = x**2 / (2 * (x - 1) ** 2) + x * share / (2 * (x - 1)) - share**2
    assert variance(star(x)) == at_star
    assert variance(kink(x)) == at_kink
    assert variance(dagger_for_first(x, share)) == min(at_star, at_kink)
    found = optimum("rr3_dagger", x, importance=(1, 0, 0), guess=(share, rest, rest))
    assert found.corner
    assert variance((found.parameters[0], found.parameters[1])) == min(
        at_star, at_kink
    )
    assert found.risk == pytest.approx(float(min(at_star, at_kink)), rel=1e-12)


@pytest.mark.parametrize("gamma", GAMMAS, ids=float)
def test_the_total_is_smallest_at_the_star(gamma: Fraction) -> None:
    for shares in SHARES:
        assert optimum("rr3_dagger", gamma, guess=shares).parameters == star(gamma)

"""Verdicts on small channels against every prior of a grid, every event and every response."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations

import pytest

from deniable.criteria import (
    BayesFactor,
    BetaFactor,
    Boundaries,
    Epsilon,
    KnownPrior,
    PosteriorCap,
    RhoToRho,
    Strict,
    posterior_bounds,
)
from deniable.designs import Design, binary, k_ary, matrix, warner
from tests.support.brute import posterior
from tests.support.rational import Table, table

F = Fraction

DESIGNS = [
    warner(p="3/4"),
    warner(p="1/5"),
    binary("9/10", "7/10"),
    binary("99/100", "1/20"),
    binary(1, "1/10"),
    k_ary(3, p="1/2"),
    k_ary(3, p="1/10"),
    matrix([[0.6, 0.2, 0.1], [0.3, 0.5, 0.2], [0.1, 0.3, 0.7]]),
    matrix([["1/2", "1/2", "1/2"], ["1/4", "1/4", "1/5"], ["1/4", "1/4", "3/10"]]),
]

# What each definition forbids, as (prior, posterior) of an event; the criteria's own code is not asked.
DEMANDS: list[tuple[Strict, Callable[[Fraction, Fraction], bool]]] = [
    (BetaFactor(2), lambda p, q: q > 2 * p or q < p / 2),
    (BetaFactor("9/2"), lambda p, q: q > F(9, 2) * p or q < p * F(2, 9)),
    (BetaFactor(20), lambda p, q: q > 20 * p or q < p / 20),
    (
        RhoToRho("1/5", "3/5"),
        lambda p, q: (p < F(1, 5) and q > F(3, 5)) or (p > F(3, 5) and q < F(1, 5)),
    ),
    (
        RhoToRho("1/4", "2/5"),
        lambda p, q: (p < F(1, 4) and q > F(2, 5)) or (p > F(2, 5) and q < F(1, 4)),
    ),
    (PosteriorCap("1/10", "1/2"), lambda p, q: p <= F(1, 10) and q > F(1, 2)),
    (PosteriorCap("1/4", "1/2"), lambda p, q: p <= F(1, 4) and q > F(1, 2)),
    (
        BayesFactor(4),
        lambda p, q: q * (1 - p) > 4 * p * (1 - q) or p * (1 - q) > 4 * q * (1 - p),
    ),
    (
        Boundaries(upper=[(0, "1/5"), ("1/4", "3/5"), ("1/2", "4/5"), (1, 1)]),
        lambda p, q: (
            q
            > min(
                F(1, 5) + p * F(8, 5), F(2, 5) + p * F(4, 5), F(3, 5) + p * F(2, 5)
            )
        ),
    ),
    (
        Boundaries(lower=[(0, 0), ("1/2", "1/5"), (1, 1)]),
        lambda p, q: q < max(p * F(2, 5), p * F(8, 5) - F(3, 5)),
    ),
]


def grid(size: int) -> Iterator[tuple[Fraction, ...]]:
    """All priors in steps of 1/n: fine where only one share is free."""
    n = {2: 400, 3: 30}[size]
    if size == 2:
        yield from ((F(i, n), F(n - i, n)) for i in range(1, n))
    else:
        yield from (
            (F(i, n), F(j, n), F(n - i - j, n))
            for i in range(n)
            for j in range(n - i + 1)
            if i + j < n
        )
        # the corners of beliefs: all of it on two answers
        for pair in combinations(range(3), 2):
            for one, two in grid(2):
                prior = [F(0)] * 3
                prior[pair[0]], prior[pair[1]] = one, two
                yield tuple(prior)


def beliefs(rows: Table) -> set[tuple[Fraction, Fraction]]:
    """All (prior, posterior) of all events after all responses that can occur."""
    size = len(rows[0])
    events = [
        event
        for number in range(1, size)
        for event in combinations(range(size), number)
    ]
    found = set()
    for prior in grid(size):
        for response, row in enumerate(rows):
            if any(p * q for p, q in zip(prior, row, strict=True)):
                after = posterior(rows, prior, response)
                found |= {
                    (sum(prior[j] for j in event), sum(after[j] for j in event))
                    for event in events
                }
    return found


@pytest.fixture(scope="module", params=DESIGNS, ids=repr)
def judged(
    request: pytest.FixtureRequest,
) -> tuple[Design, set[tuple[Fraction, Fraction]]]:
    return request.param, beliefs(table(request.param.channel))


@pytest.mark.parametrize(
    ("criterion", "forbidden"),
    [pytest.param(*each, id=str(each[0])) for each in DEMANDS],
)
def test_a_verdict_is_what_brute_force_finds(
    judged: tuple[Design, set[tuple[Fraction, Fraction]]],
    criterion: Strict,
    forbidden: Callable[[Fraction, Fraction], bool],
) -> None:
    design, found = judged
    broken = any(forbidden(p, q) for p, q in found if 0 < p < 1)
    verdict = criterion.check(design)
    if verdict.holds:
        assert not broken
    else:
        witness = verdict.witness
        assert witness is not None
        pair = (witness.prior, witness.posterior)
        assert forbidden(*(pair if witness.upward else (1 - pair[0], 1 - pair[1])))
        # The grid finds it too, unless the parity is only a little above what is allowed.
        assert broken or design.parity < F(11, 10) * criterion.parity


def test_beliefs_fill_the_region_of_the_parity_up_to_its_border(
    judged: tuple[Design, set[tuple[Fraction, Fraction]]],
) -> None:
    design, found = judged
    for p in (F(1, 10), F(1, 2), F(9, 10)):
        after = [q for prior, q in found if prior == p]
        assert (min(after), max(after)) == tuple(posterior_bounds(design.parity, p))


@pytest.mark.parametrize("design", DESIGNS[:8], ids=repr)
def test_a_cap_for_a_known_prior_is_what_brute_force_finds(design: Design) -> None:
    rows = table(design.channel)
    size = len(rows[0])
    for prior in (
        ((F(7, 10), F(3, 10)), (F(1, 4), F(3, 4)))
        if size == 2
        else ((F(1, 2), F(3, 10), F(1, 5)),)
    ):
        after = [posterior(rows, prior, i) for i in range(len(rows))]
        for event in [
            event
            for number in range(1, size)
            for event in combinations(range(size), number)
        ]:
            worst = max(sum(each[j] for j in event) for each in after)
            before = sum(prior[j] for j in event)
            for cap in (before, (before + worst) / 2, worst, (worst + 1) / 2):
                if cap < 1:
                    verdict = KnownPrior(prior, cap, event).check(design)
                    assert (verdict.holds, verdict.attained) == (worst <= cap, worst)
        each = KnownPrior(prior, F(99, 100)).check(design)
        assert each.attained == max(max(share) for share in after)


def test_the_golden_boundary_by_hand() -> None:
    # The last piece is 3/5 + 2p/5: R = (3/5 + 2p/5)/(2p/5) falls to 1/(2/5) as p goes to 1.
    assert Boundaries(upper=[(0, 0.2), (0.25, 0.6), (0.5, 0.8), (1, 1)]).parity == F(
        5, 2
    )


def test_steps_are_rho1_to_rho2() -> None:
    rho1, rho2 = F(1, 5), F(3, 5)
    up = [(0, rho2), (rho1, rho2), (rho1, 1), (1, 1)]
    down = [(0, 0), (rho2, 0), (rho2, rho1), (1, rho1)]
    expected = RhoToRho(rho1, rho2).parity
    assert (
        Boundaries(upper=up).parity == Boundaries(lower=down).parity == expected == 6
    )
    assert Boundaries(lower=down, upper=up).parity == 6


def test_lines_are_the_beta_factor() -> None:
    beta = F(7, 2)
    up = [(0, 0), (1 / beta, 1), (1, 1)]
    down = [(0, 0), (1, 1 / beta)]
    assert (
        Boundaries(upper=up).parity
        == Boundaries(lower=down).parity
        == BetaFactor(beta).parity
        == beta
    )


def test_an_infimum_inside_a_piece_that_is_rational() -> None:
    # a = 1/2, b = 1: √(ab) = √(a + b − 1) = √(1/2), so γ = 1 + (2√(1/2))²/(1/4) = 9, where the line touches h_9 at 1/4.
    line = Boundaries(upper=[(0, "1/2"), ("1/2", 1), (1, 1)])
    assert line.parity == 9
    assert line.bounds("1/4").upper == posterior_bounds(9, "1/4").upper == F(3, 4)


def test_an_infimum_inside_a_piece_that_is_not_rational_is_rounded_down() -> None:
    line = Boundaries(upper=[(0, "1/5"), ("1/2", 1), (1, 1)])
    # a = 1/5, b = 8/5: γ = 1 + (28/25 + 2√(32/125))/(16/25); (γ − 1 − 7/4)² = (25/8)²·32/125 = 5/2.
    below, above = line.parity, line.parity + F(1, 2**200)
    assert (below - F(11, 4)) ** 2 < F(5, 2) < (above - F(11, 4)) ** 2


def test_a_boundary_that_forbids_nothing_allows_every_parity() -> None:
    free = Boundaries(upper=[(0, 1), (1, 1)])
    assert free.parity == float("inf")
    assert free.check(binary(1, "1/10")).holds


def test_epsilon_is_compared_with_e_to_the_epsilon_from_below() -> None:
    for epsilon in (F(1, 10), F(1), F(7, 3)):
        design = warner(epsilon)
        assert Epsilon(epsilon).check(design).holds
        assert Epsilon(design.epsilon).check(design).holds
        assert not Epsilon(epsilon * (1 - F(1, 10**12))).check(design).holds

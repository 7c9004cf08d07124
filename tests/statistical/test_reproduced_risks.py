"""Simulated points of the first three papers lie on their theory, and the papers' own slips are flagged.

Points that are right stay within 7.5 standard errors (false alarms below 1e-9 for all of them together); faults are
such that their points lie at least 8 standard errors off, so that the limit of 4 misses one of them with 1e-4.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from deniable import simulate as law
from deniable.attacks.simulated import generator
from deniable.chance import Source
from deniable.designs import Design, k_ary, rr3_dagger
from deniable.estimates import covariance
from deniable_papers import binary, figures, minimax, rr3
from deniable_papers.values import Exhibit, Setting

FAR = 7.5
SIMULATED = ("corollary-1", "corollary-4", "binary-figure-1", "minimax-figure-6")
EXHIBITS = [
    exhibit
    for exhibit in (*rr3.exhibit, *minimax.exhibit, *binary.exhibit)
    if exhibit.name.endswith(SIMULATED)
]


@pytest.mark.statistical
@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda exhibit: exhibit.name)
def test_simulated_points_lie_on_their_theory(
    exhibit: Exhibit, seeded: Source
) -> None:
    content = exhibit.make(Setting(generator(seeded), 1_000))
    assert len(content.points) >= 6
    assert [point for point in content.points if point.distance > FAR] == []


def without_covariances(
    design: Design, shares: list[float], respondents: int
) -> np.ndarray:
    """The variances that Section 3.2 of document 000 prints: term by term, without the covariances (erratum 0.5)."""
    channel = design.channel.dense()
    matrix = np.array(
        [
            [float(channel.probability(i, given=j)) for j in range(3)]
            for i in range(3)
        ]
    )
    inverse, sent = np.linalg.inv(matrix), matrix @ np.array(shares)
    # With the last share left out, as the paper writes its estimates.
    reduced = inverse[:, :2] - inverse[:, 2:]
    return np.diag(reduced**2 @ (sent * (1 - sent))[:2]) / respondents


def one_factor(design: Design, shares: list[float], respondents: int) -> np.ndarray:
    """The variance of eq. (27) of document 000, whose second factor lacks n − 2 (erratum 0.1)."""
    n, p = (
        len(design.categories),
        float(design.probability(design.symbols[0], given=design.categories[0])),
    )
    lift = (n * p - 1) * np.array(shares)
    return np.diag((1 - p + lift) * (p - lift) / ((n * p - 1) ** 2 * respondents))


FAULTS = [
    (
        without_covariances,
        rr3_dagger(0.7, 0.6),
        [0.2, 0.3, 0.5],
        ["variance of π_1"],
    ),
    (
        one_factor,
        k_ary(4, p=0.5),
        [0.1, 0.2, 0.3, 0.4],
        [f"variance of π_{number}" for number in range(4)],
    ),
]


@pytest.mark.statistical
@pytest.mark.parametrize(("fault", "design", "shares", "found"), FAULTS)
def test_a_printed_variance_that_is_wrong_is_flagged(
    fault: Callable[..., np.ndarray],
    design: Design,
    shares: list[float],
    found: list[str],
    seeded: Source,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chosen = Setting(generator(seeded), 20_000)
    right = figures.moments("here", design, shares, 400, chosen)
    assert [point for point in right if point.distance > FAR] == []
    monkeypatch.setattr(figures, "covariance", fault)
    flagged = {
        point.where.removeprefix("here: ")
        for point in figures.moments("here", design, shares, 400, chosen)
        if point.flagged
    }
    assert set(found) <= flagged
    assert not any(where.startswith("mean") for where in flagged)


@pytest.mark.statistical
def test_a_constant_that_is_wrong_moves_the_mean(
    seeded: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eq. (28) of document 000 as printed: π_1 is too small by 1/(p2 + 2·p1 − 1) (erratum 0.2)."""

    def as_printed(*given: object, **options: object) -> np.ndarray:
        return law.shares(*given, **options) - np.array([0.0, 1.0, -1.0])  # type: ignore[arg-type]

    monkeypatch.setattr(figures, "shares", as_printed)
    points = figures.moments(
        "here",
        rr3_dagger(0.7, 0.6),
        [0.2, 0.3, 0.5],
        400,
        Setting(generator(seeded), 1_000),
    )
    flagged = {point.where for point in points if point.flagged}
    assert {
        "here: mean of π_1",
        "here: mean of π_2",
        "here: variance of π_1",
    } <= flagged
    assert "here: mean of π_0" not in flagged


@pytest.mark.statistical
def test_the_approximate_risk_is_flagged_where_it_does_not_hold(
    seeded: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The display after (6.25) of document 001 in place of the risk (erratum 1.4)."""

    def approximate(design: Design, true: list[float], method: str) -> float:  # noqa: ARG001 - as `risk` takes them
        k, gamma = len(design.categories), float(design.parity)
        return 4 * (k - 1) ** 2 * gamma / (k * (gamma - 1) ** 2)

    even = [0.1] * 10
    chosen = Setting(generator(seeded), 4_000)
    assert [
        point
        for point in figures.risks("right", k_ary(10, 3), even, chosen)
        if point.distance > FAR
    ] == []
    assert covariance(k_ary(10, 3), even, 1).trace() > 0
    monkeypatch.setattr(figures, "risk", approximate)
    (point,) = figures.risks("wrong", k_ary(10, 3), even, chosen)
    assert point.flagged

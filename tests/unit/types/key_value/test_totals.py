"""Intervals of a whole graph's numbers keep their level with few respondents: summed over all tallies."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
from scipy.stats import multinomial

import deniable as dn
from deniable.estimates.linear import floats
from deniable.types.edges.count import EdgeTally
from deniable.types.edges.estimate import estimate as estimate_edges
from deniable.types.key_value.count import KeyValueTally
from deniable.types.key_value.design import KeyValueDesign
from deniable.types.key_value.estimate import ItemEstimate, Quantity, estimate

N, ITEMS = 4, 2
DESIGN = dn.lpp_club(ITEMS, 8, low=1, high=5)
PEOPLE = [(0.0, 0.0), (0.02, 0.0), (0.05, 0.2), (0.5, 0.5)]
"""The frequencies of two items, with weights of 1 and 4."""


@cache
def tallies(n: int, cells: int) -> np.ndarray:
    """All tallies of n responses."""
    bars = itertools.combinations(range(n + cells - 1), cells - 1)
    return np.array([np.diff([-1, *each, n + cells - 1]) - 1 for each in bars])


@cache
def made() -> list[ItemEstimate]:
    counts = tallies(N, 2 * DESIGN.width)
    return [
        estimate(KeyValueTally(DESIGN, each.reshape(ITEMS, -1), N))
        for each in counts
    ]


def rates(design: KeyValueDesign, frequencies: tuple[float, ...]) -> np.ndarray:
    """How often each symbol is sent about each item; everybody is asked about one."""
    sent = design.scheme.symbol.floats()
    plus = np.array([0.0, 0.75])
    shares = [
        (1 - f, f * up, f * (1 - up))
        for f, up in zip(frequencies, plus, strict=True)
    ]
    return np.concatenate([sent @ each for each in shares]) / ITEMS


@cache
def intervals(method: str | None) -> dict[str, np.ndarray]:
    """The intervals of all tallies."""
    told = {
        "edges": [each.edges() for each in made()],
        "weight of an item": [each.average_weight("items") for each in made()],
        "weight of an edge": [each.average_weight() for each in made()],
    }
    return {
        name: np.array([one.interval(method=method) for one in each])
        for name, each in told.items()
    }


def truths(frequencies: tuple[float, ...]) -> dict[str, float]:
    edges, weight = sum(frequencies), frequencies[0] + 4 * frequencies[1]
    known = {"edges": N * edges, "weight of an item": N * weight / ITEMS}
    return {**known, "weight of an edge": weight / edges} if edges else known


def coverage(frequencies: tuple[float, ...], method: str | None) -> dict[str, float]:
    chances = multinomial.pmf(
        tallies(N, 2 * DESIGN.width), N, rates(DESIGN, frequencies)
    )
    assert chances.sum() == pytest.approx(1)
    return {
        name: held(intervals(method)[name], chances, truth)
        for name, truth in truths(frequencies).items()
    }


def held(ends: np.ndarray, chances: np.ndarray, truth: float) -> float:
    return float(
        chances @ ((ends[:, 0] - 1e-6 <= truth) & (truth <= ends[:, 1] + 1e-6))
    )


def test_numbers_of_the_whole_graph_are_held() -> None:
    found = [coverage(each, None) for each in PEOPLE]
    assert min(min(each.values()) for each in found) >= 0.92
    assert np.mean([rate for each in found for rate in each.values()]) >= 0.94


def test_value_and_error_alone_would_not_do() -> None:
    assert min(coverage((0.05, 0.2), "normal").values()) < 0.8


def test_the_average_weight_of_one_edge_each() -> None:
    design, n = dn.one_edge(["a", "b"], 8), 6
    sent, counts = floats(design.choice.channel), tallies(n, 3)
    found = [
        estimate_edges(
            EdgeTally(design, np.array([each, [0, 0, 0]]))
        ).average_weight()
        for each in counts
    ]
    tested, plain = (
        np.array([each.interval(method=method) for each in found])
        for method in (None, "normal")
    )
    for shares in ((1, 0, 0), (0.97, 0, 0.03), (0.8, 0.1, 0.1), (0, 0, 1)):
        assert (
            held(
                tested,
                multinomial.pmf(counts, n, sent @ shares),
                shares[1] / 2 + shares[2],
            )
            >= 0.92
        )
    assert (
        held(plain, multinomial.pmf(counts, n, sent @ (0.97, 0, 0.03)), 0.03) < 0.5
    )


def test_in_other_units_the_interval_goes_along() -> None:
    found = made()[100]
    assert found.density().interval() == pytest.approx(
        [end / (N * ITEMS) for end in found.edges().interval()]
    )
    everybody = Quantity(2.0, 0.0)
    assert everybody.times(3).interval() == (6.0, 6.0)


def test_large_samples_come_to_value_and_error() -> None:
    counts = np.array([[40_000, 6_000, 4_000], [30_000, 10_000, 10_000]])
    found = estimate(
        KeyValueTally(dn.lpp_club(ITEMS, 2, low=1, high=5), counts, counts.sum())
    )
    for each in (found.edges(), found.density()):
        assert each.interval() == pytest.approx(
            each.interval(method="normal"), rel=2e-3
        )
    for each in (found.average_weight(), found.average_weight("items")):
        assert each.interval() == pytest.approx(
            each.interval(method="normal"), rel=0.02
        )

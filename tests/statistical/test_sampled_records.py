"""How often intervals hold for items, edges and strings in weighted samples of clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import deniable as dn
from tests.support.seeded import seeded

SAMPLES, SHARES, NAMES = 120, (0.02, 0.1, 0.5), ["a", "b", "c", "d"]
FALSE_ALARM, LEAST = 1e-9, 0.93
CLUSTERS = np.repeat(np.arange(24), 20)
DESIGNS: dict[str, tuple[Any, dict[str, Any]]] = {
    "lpp_club": (dn.lpp_club(NAMES, 3, low=1, high=5), {"scaling": "conditional"}),
    "pckv_ue": (dn.pckv_ue(NAMES, 3, low=1, high=5, padding=1), {}),
    "one_edge": (dn.one_edge(NAMES, 2), {}),
    "strings": (dn.string_design(dn.Bloom(32, cohorts=8), 4), {"candidates": NAMES}),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_intervals_hold_as_often_as_they_say(name: str) -> None:
    """Clusters differ in who has what, and weigh 1, 2 or 4; everybody has one item, of weight 1, or one string."""
    design, options = DESIGNS[name]
    rng, source = np.random.default_rng(24), seeded(f"sampled {name}")
    held = []
    for _ in range(SAMPLES):
        shares = rng.dirichlet(19 * np.array([*SHARES, 1 - sum(SHARES)]), 24)[
            CLUSTERS
        ]
        own = (
            (rng.random((len(CLUSTERS), 1)) > np.cumsum(shares, axis=1))
            .sum(axis=1)
            .clip(0, 3)
        )
        given = [
            NAMES[at] if design.asks == "strings" else {NAMES[at]: 1} for at in own
        ]
        weights = rng.choice([1.0, 2.0, 4.0], 24)[CLUSTERS]
        sampling = dn.Sampling(weights, clusters=CLUSTERS)
        found = dn.estimate(
            dn.respond_all(design, given, source=source),
            sampling=sampling,
            **options,
        )
        ends = found.conf_int()
        told = [
            ends[item].low <= share <= ends[item].high
            for item, share in zip(NAMES, SHARES, strict=False)
        ]
        means = (
            []
            if design.asks == "strings"
            else [found.about("mean").conf_int()[item] for item in NAMES[1:3]]
        )
        held.append([*told, *(low <= 1 <= high for low, high in means)])
    least = binom.ppf(FALSE_ALARM, SAMPLES, LEAST)
    assert np.sum(held, axis=0).min() >= least

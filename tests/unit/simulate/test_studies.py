from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import deniable as dn
from deniable.errors import InvalidRequest

ALARM = 1e-9
DESIGNS = {
    "forced": dn.forced_response("2/3", "1/6", "1/6"),
    "crosswise": dn.crosswise("1/4"),
    "triangular": dn.triangular("1/4"),
    "four kinds": dn.k_ary(4, 2),
}


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize(
    "test",
    [{"null": 0.0}, {"null": 0.35, "two_sided": True}, {"null": 0.3, "alpha": 0.2}],
)
def test_studies_find_what_was_planned(name: str, test: dict[str, Any]) -> None:
    found = dn.simulate.studies(
        DESIGNS[name],
        150,
        20_000,
        share=0.15,
        draws=np.random.default_rng(7),
        **test,
    )
    planned = float(found.lines[0]["planned"])
    assert planned == dn.plan.power(DESIGNS[name], 150, share=0.15, **test)
    hits = round(found.value * 20_000)
    assert (
        min(binom.cdf(hits, 20_000, planned), binom.sf(hits - 1, 20_000, planned))
        > ALARM / 2
    )


def test_widths_and_estimates_are_those_of_estimate() -> None:
    design, n = dn.kuk("4/5", "3/10", draws=3), 200
    found = dn.simulate.studies(
        design, n, 50, share=0.2, draws=np.random.default_rng(1)
    )
    people = [800_000_000, 200_000_000]
    counts = dn.simulate.tallies(
        design,
        people,
        50,
        respondents=n,
        replaced=True,
        draws=np.random.default_rng(1),
    )
    rows = [np.repeat(np.arange(4), row).tolist() for row in counts]
    ends = [
        dn.estimate(dn.tally(design, row, codes=True)).conf_int(method="normal")[
            "yes"
        ]
        for row in rows
    ]
    assert found.lines[1]["simulated"] == pytest.approx(
        np.mean([end.high - end.low for end in ends])
    )
    assert found.lines[2]["simulated"] == np.mean(
        [end.low <= 0.2 <= end.high for end in ends]
    )


def test_progress_is_told_and_ends_with_all() -> None:
    told: list[int] = []
    dn.simulate.studies(
        DESIGNS["forced"], 100, 2_500, share=0.2, progress=told.append
    )
    assert told == [1_000, 2_000, 2_500]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="repetitions"):
        dn.simulate.studies(DESIGNS["forced"], 100, 0, share=0.2)
    with pytest.raises(InvalidRequest, match="table of probabilities"):
        dn.simulate.studies(dn.unary(30, 1, by_size=False), 100, 10, share=0.2)

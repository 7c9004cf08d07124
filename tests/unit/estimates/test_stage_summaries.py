from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.estimates import estimate
from deniable.estimates.stages import combine
from deniable.order.relaxation import Ladder, ladder
from deniable.tallies import Tally
from deniable.tallies.stages import StageTallies
from tests.support.commands import done, run

STAGES = ladder([dn.k_ary(3, epsilon=1), dn.k_ary(3, epsilon=2)])


def tallied(counts: list[list[int]], stages: Ladder = STAGES) -> StageTallies:
    finest = tuple(
        Tally(design, each) for design, each in zip(stages, counts, strict=True)
    )
    return StageTallies(stages, finest, finest)


def test_a_summary_tells_what_the_estimate_holds() -> None:
    combined = combine(tallied([[500, 300, 200], [600, 250, 150]]))
    told = combined.summary(level=0.9)
    assert [row.estimate for row in told.rows] == combined.value.tolist()
    assert [(row.low, row.high) for row in told.rows] == [
        tuple(combined.interval(each, level=0.9)) for each in combined.params
    ]
    assert (told.respondents, told.epsilon, told.method) == (
        2000,
        STAGES.epsilons[1],
        "information",
    )
    for row in told.rows:
        assert row.direct_low < row.estimate < row.direct_high
        assert row.direct_high - row.direct_low < row.high - row.low
        assert 0 < row.effective < 2000
    assert "Respondents by the finest stage they sent: ε = 1: 1,000" in told.notes[1]
    assert str(told).count("\n") >= 6


def test_one_stage_costs_about_what_its_design_does() -> None:
    told = combine(tallied([[4500, 3000, 2500], [0, 0, 0]])).summary()
    plain = estimate(Tally(STAGES.designs[0], [4500, 3000, 2500])).summary()
    assert told.epsilon == plain.epsilon
    assert np.allclose(
        [row.effective for row in told.rows],
        [row.effective for row in plain.rows],
        rtol=0.02,
    )


def test_stages_that_differ_are_told() -> None:
    alike, apart = (
        [[500, 250, 250], [550, 230, 220]],
        [[700, 150, 150], [200, 700, 100]],
    )
    assert not combine(tallied(alike)).warnings
    assert any(
        "the stages differ by more than chance" in each.text
        for each in combine(tallied(apart)).warnings
    )


def test_the_command_takes_a_ladder(tmp_path: Path) -> None:
    counts = tallied([[500, 300, 200], [600, 250, 150]])
    (tmp_path / "ladder.json").write_text(STAGES.to_json(indent=2), encoding="utf-8")
    (tmp_path / "tally.json").write_text(counts.to_json(indent=2), encoding="utf-8")
    words = (
        "estimate",
        tmp_path / "ladder.json",
        tmp_path / "tally.json",
        "--level",
        "0.9",
    )
    told = json.loads(done(*words, "--json").stdout)
    expected = combine(counts).summary(level=0.9)
    assert [row["low"] for row in told["rows"]] == [row.low for row in expected.rows]
    assert "finest stage" in done(*words).stdout
    likely = json.loads(done(*words, "--json", "--method", "likelihood").stdout)
    assert [row["estimate"] for row in likely["rows"]] == pytest.approx(
        [row.estimate for row in expected.rows], 1e-3
    )
    refused = run(*words, "--method", "inversion")
    assert refused.exit_code == 2
    assert (
        "expected one of information, likelihood, linear, strata" in refused.stderr
    )


@pytest.mark.parametrize("level", [0.0, 1.0])
def test_levels_outside_the_range_are_refused(level: float) -> None:
    with pytest.raises(dn.errors.InvalidRequest, match="level"):
        combine(tallied([[50, 30, 20], [60, 25, 15]])).summary(level=level)

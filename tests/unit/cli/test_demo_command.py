from __future__ import annotations

import json
from pathlib import Path

import pytest

from deniable.cli.demo import FILES, PEOPLE, TRUTH
from deniable.design import Design
from deniable.estimate import Estimate
from deniable.tally import Tally
from tests.support.commands import done, run


def test_the_demo_leaves_a_whole_survey(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "demo"
    shown = " ".join(done("demo", "--out", folder).stdout.split())
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
    design = Design.from_json((folder / "design.json").read_bytes())
    counted = Tally.from_json((folder / "tally.json").read_bytes(), design)
    made = Estimate.from_json((folder / "estimate.json").read_bytes(), design)
    assert tuple(design.categories) == tuple(TRUTH)
    assert (counted.respondents, counted.missing) == (PEOPLE, 0)
    assert (folder / "estimate.png").read_bytes().startswith(b"\x89PNG")
    for category, share in made.params.items():
        assert f"{share:.1%}" in shown
        # Seven standard errors: false alarms at a rate far below 1e-9.
        assert abs(share - TRUTH[category]) < 7 * made.errors.max()
    assert "estimate.png" in shown


def test_the_demo_for_programs_and_again_by_force(tmp_path: Path) -> None:
    told = json.loads(done("demo", "--out", tmp_path, "--json").stdout)
    assert told["truth"] == TRUTH
    assert [row["category"] for row in told["rows"]] == list(TRUTH)
    assert [Path(name).name for name in told["files"]] == list(FILES)
    assert run("demo", "--out", tmp_path).exit_code == 2
    done("demo", "--out", tmp_path, "--force")


def test_the_truth_is_a_population() -> None:
    assert sum(TRUTH.values()) == pytest.approx(1)
    assert sum(round(share * PEOPLE) for share in TRUTH.values()) == PEOPLE

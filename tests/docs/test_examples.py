"""Every program of the examples runs at its small size in an empty folder, and ends well; their list is whole."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
PROGRAMS = sorted(EXAMPLES.glob("*.py"))
TELLS = {  # what a reader should see at the end of it, besides that its own assertions hold
    "audit_theirs": "== mended: consistent",
    "data_market": "Anna and Bert hold the same response: True",
    "frame_released": "200,000 rows released",
    "key_value_panel": "most liked: ",
    "nigeria": "All values agree.",
    "strings_with_cohorts": "discovered without a list: ",
    "telemetry": "60,000 responses in 20 batches",
}
SURVEY = ROOT.parent / "shared" / "data" / "nigeria.csv"


def run(path: Path, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        # Users are warned by chance, once in a hundred surveys, of a share below 0.
        [
            sys.executable,
            "-W",
            "error",
            "-W",
            "ignore::UserWarning",
            str(path),
            *options,
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def test_each_program_is_known_here() -> None:
    assert {path.stem for path in PROGRAMS} == set(TELLS)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_runs_and_leaves_nothing_behind(
    path: Path, tmp_path: Path
) -> None:
    if path.stem == "nigeria" and not SURVEY.exists():
        reason = "left out: the rows of nigeria are read from ../shared/data, which is not beside this repository"
        print(reason)
        pytest.skip(reason)
    ended = run(path, tmp_path)
    assert ended.returncode == 0, f"{ended.stdout[-2000:]}\n{ended.stderr[-3000:]}"
    assert TELLS[path.stem] in ended.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_survey_that_is_not_there_is_told(tmp_path: Path) -> None:
    ended = run(EXAMPLES / "nigeria.py", tmp_path, "--rows", "nowhere/nigeria.csv")
    assert ended.returncode == 0
    assert ended.stdout.startswith(
        "Left out: the rows of the survey are not part of this project"
    )


def test_a_survey_that_disagrees_is_found(tmp_path: Path) -> None:
    """A fault planted: everybody says no."""
    rows = (
        "rr.q1,cov.age,cov.asset.index,cov.married,cov.education,cov.female\n"
        + "0,30,1,0,4,1\n" * 20
    )
    (tmp_path / "other.csv").write_text(rows)
    ended = run(EXAMPLES / "nigeria.py", tmp_path, "--rows", "other.csv")
    assert ended.returncode == 1


def test_the_list_has_every_example_once() -> None:
    told = re.findall(
        r"^\| \[`([^`]+)`\]\(([^)]+)\) \|",
        (EXAMPLES / "README.md").read_text(encoding="utf-8"),
        re.M,
    )
    assert all(name == link for name, link in told)
    there = {path.name for path in EXAMPLES.iterdir() if path.is_file()} - {
        "README.md"
    }
    assert sorted(name for name, _ in told) == sorted(there)

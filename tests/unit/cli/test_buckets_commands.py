"""Numbers in buckets from the shell: design → plan → respond → tally → estimate."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from tests.support import answers
from tests.support.commands import done, run

SECRET = "87.25"
DESIGN = dn.bucket_design(0, 80, 4, count=64)


@pytest.fixture
def design(tmp_path: Path) -> Path:
    path = tmp_path / "hours.json"
    words = ("--low", "0", "--high", "80", "-e", "4", "--count", "64")
    done("design", "bucket_design", *words, "--out", path)
    assert dn.BucketDesign.from_json(path.read_bytes()) == DESIGN
    assert "one of 3 levels of 64 buckets" in done("design", "show", path).stdout
    return path


def test_a_file_of_numbers_becomes_quantiles(design: Path, tmp_path: Path) -> None:
    numbers = np.random.default_rng(2).gamma(9, 4, 3_000).clip(0, 80)
    answers.write(tmp_path / "answers.csv", {"hours": [*numbers.tolist(), None]})
    source, sent = tmp_path / "answers.csv", tmp_path / "sent.parquet"
    words = ("--answers", source, "--column", "hours", "--out", sent, "--json")
    written = json.loads(done("respond", design, *words).stdout)
    assert (written["rows"], written["missing"]) == (3_001, 1)
    counted = tmp_path / "counted.json"
    assert "1/64: " in done("tally", design, sent, "--out", counted).stdout
    tally = dn.BucketTally.from_json(counted.read_bytes(), DESIGN)
    shown = done("estimate", design, counted, "--quantiles", "0.5,0.99").stdout
    for words in ("64 buckets (linear)", "median", "quantile 0.99", "95% interval"):
        assert words in shown
    assert "quantile 0.95" not in shown
    told = done("estimate", design, counted, "--level", "0.9", "--json").stdout
    expected = dn.estimate(tally)
    assert dn.Statistic.from_json(told, DESIGN) == expected
    for (low, high), truth in zip(
        expected.conf_int(level=1 - 1e-9).values(),
        np.quantile(numbers, [0.5, 0.95, 0.99]),
        strict=True,
    ):
        assert low <= truth <= high


def test_lines_of_numbers_become_lines_that_tally_reads(design: Path) -> None:
    said = done("respond", design, stdin="79.5\n\n12\n" * 40).stdout
    shown = done("tally", design, "-", "--json", stdin=said).stdout
    tally = dn.BucketTally.from_json(shown, DESIGN)
    assert (tally.respondents, tally.missing) == (80, 40)
    unresolved = done("estimate", design, "-", stdin=shown).stdout
    assert "not resolved" in unresolved


@pytest.mark.parametrize("line", [SECRET, "much", "-1", "nan"])
def test_what_is_no_number_of_the_range_is_refused_and_not_repeated(
    design: Path, line: str
) -> None:
    refused = run("respond", design, stdin=f"{line}\n")
    assert refused.exit_code == 2
    assert "expected" in refused.stderr
    assert line not in refused.output.replace("line 1", "")


def test_a_quantile_is_planned(design: Path) -> None:
    words = ("--quantile", "95%", "--numbers", "0,20,30,40,80")
    sizes = done("plan", "quantile", design, *words, "--width", "10%").stdout
    planned = dn.plan.quantile(
        DESIGN, quantile=0.95, width=0.1, numbers=[0, 20, 30, 40, 80]
    )
    assert f"Ask {planned.value:,} people" in " ".join(sizes.split())
    told = json.loads(
        done("plan", "quantile", design, *words, "-n", "5000", "--json").stdout
    )
    assert 0.01 < told["value"] < 0.1
    assert "exactly one of them" in run("plan", "quantile", design).stderr

"""`deniable by-answer` gives what the library gives for the columns that its options name."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from tests.support.commands import done, run

COLUMNS = ("load_time", "value", "rate", "visitor", "page", "w")


@pytest.fixture
def rows() -> dict[str, list[str]]:
    rng = np.random.default_rng(2)
    values = (
        rng.exponential(900, 400).round(1),
        rng.choice(["low", "high"], 400),
        rng.choice(["0.1", "0.4769846", "1"], 400),
        np.arange(400) % 40,
        rng.choice(["a", "b"], 400),
        rng.integers(1, 4, 400),
    )
    return {
        name: list(map(str, column))
        for name, column in zip(COLUMNS, values, strict=True)
    }


@pytest.fixture
def file(rows: dict[str, list[str]], tmp_path: Path) -> Path:
    path = tmp_path / "loads.csv"
    lines = [",".join(COLUMNS), *map(",".join, zip(*rows.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return path


ASKED = ("--outcome", "load_time", "--response", "value")


def test_columns_of_a_file_are_those_of_the_library(
    rows: dict[str, list[str]], file: Path
) -> None:
    y = list(map(float, rows["load_time"]))
    sent = dn.read_confidence(rows["value"], rows["rate"])
    sample = dn.Sampling(list(map(float, rows["w"])), clusters=rows["visitor"])
    found = dn.by_answer(y, sent, sampling=sample, by=rows["page"])
    options = (*ASKED, "--rate", "rate", "--weights", "w", "--clusters", "visitor")
    printed = done("by-answer", file, *options, "--by", "page", "--json").stdout
    assert dn.SampledEstimate.from_json(printed, None) == found
    quantiles = done("by-answer", file, *options, "--quantiles", "0.5,0.9", "--json")
    expected = dn.quantiles_by_answer(y, sent, [0.5, 0.9], sampling=sample)
    assert dn.Statistic.from_json(quantiles.stdout, None) == expected


def test_a_page_load_says_how_far_both_groups_lie_apart(file: Path) -> None:
    text = done("by-answer", file, *ASKED, "--rate", "rate").stdout
    assert "with a device that says nothing (weight 0)" in " ".join(text.split())
    assert "high − low" in text
    picture = file.with_name("picture.svg")
    done("by-answer", file, *ASKED, "--rate", "rate", "--chart", picture)
    assert "<svg" in picture.read_text()


def test_any_design_takes_the_place_of_a_rate(
    rows: dict[str, list[str]], file: Path
) -> None:
    design = dn.warner(epsilon=1, categories=["high", "low"])
    path = file.with_name("design.json")
    path.write_text(design.to_json())
    options = (*ASKED, "--design", path, "--level", "0.8", "--json")
    body = json.loads(done("by-answer", file, *options).stdout)
    found = dn.by_answer(
        list(map(float, rows["load_time"])), dn.Responses.of(design, rows["value"])
    )
    low, high = found.interval("high", level=0.8)
    row = next(row for row in body["rows"] if row["name"] == "high")
    assert [row["low"], row["high"]] == pytest.approx([low, high])


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ((), "expected --rate or --design"),
        (("--rate", "rate", "--interpolation", "mdn"), "expected --quantiles"),
        (("--rate", "speed"), "no columns called 'speed'"),
    ],
)
def test_what_is_missing_is_named(
    file: Path, options: tuple[str, ...], problem: str
) -> None:
    result = run("by-answer", file, *ASKED, *options)
    assert result.exit_code == 2
    assert problem in " ".join(result.stderr.split())

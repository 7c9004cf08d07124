"""Numbers from the shell: a design, responses from a column and from lines, a tally, an estimate."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from tests.support.commands import done, run

VALUES = np.random.default_rng(2).gamma(9, 4, 3000).clip(0, 80).round(1)


@pytest.fixture
def design(tmp_path: Path) -> Path:
    path = tmp_path / "hours.json"
    done(
        "design",
        "number_design",
        "--low",
        "0",
        "--high",
        "80",
        "-e",
        "4",
        "--levels",
        "5",
        "-o",
        str(path),
    )
    return path


def test_from_a_column_to_quantiles(design: Path, tmp_path: Path) -> None:
    answers, sent, tally = (
        tmp_path / name for name in ("answers.csv", "sent.csv", "tally.json")
    )
    answers.write_text(
        "hours\n" + "\n".join([*map(str, VALUES), ""]) + "\n", encoding="utf-8"
    )
    done(
        "respond",
        str(design),
        "--answers",
        str(answers),
        "--column",
        "hours",
        "--out",
        str(sent),
    )
    done("tally", str(design), str(sent), "--out", str(tally))
    found = json.loads(done("estimate", str(design), str(tally), "--json").stdout)
    rows = {row["name"]: row for row in found["rows"]}
    assert list(rows)[:2] == ["mean", "sd"]
    # fails once in 10^9
    assert abs(rows["mean"]["estimate"] - VALUES.mean()) < 6 * rows["mean"]["error"]
    shown = done("estimate", str(design), str(tally)).stdout
    assert "median" in shown
    assert "%" in shown


def test_every_row_is_rounded_by_itself(design: Path, tmp_path: Path) -> None:
    """30 lies between 20 and 40: if all rows went to the same level, four in five responses would hold it alone."""
    answers, sent = tmp_path / "same.csv", tmp_path / "sent.csv"
    answers.write_text("hours\n" + "30\n" * 2000, encoding="utf-8")
    done(
        "respond",
        str(design),
        "--answers",
        str(answers),
        "--column",
        "hours",
        "--out",
        str(sent),
    )
    read = dn.Design.from_json(design.read_text(encoding="utf-8"))
    shares = dn.estimate(
        dn.tally(
            read,
            [
                row["response"]
                for row in csv.DictReader(sent.read_text().splitlines())
            ],
        )
    ).shares  # type: ignore[attr-defined]
    assert 0.3 < shares.params["20"] < 0.7
    assert 0.3 < shares.params["40"] < 0.7


def test_from_lines(design: Path) -> None:
    found = done("respond", str(design), stdin="37.5\n\n80\n")
    lines = [json.loads(line) for line in found.stdout.splitlines()]
    read = dn.Design.from_json(design.read_text(encoding="utf-8"))
    assert [each["design"] for each in lines] == [read.hash] * 3
    assert lines[1]["response"] is None
    assert lines[0]["response"] in read.symbols


@pytest.mark.parametrize("wrong", ["80.1", "4711x", "-3"])
def test_a_number_that_does_not_fit_is_refused_and_not_repeated(
    design: Path, tmp_path: Path, wrong: str
) -> None:
    found = run("respond", str(design), stdin=f"{wrong}\n")
    assert found.exit_code != 0
    assert wrong not in found.stderr
    answers = tmp_path / "answers.csv"
    answers.write_text(f"hours\n5\n{wrong}\n", encoding="utf-8")
    out = str(tmp_path / "sent.csv")
    found = run(
        "respond",
        str(design),
        "--answers",
        str(answers),
        "--column",
        "hours",
        "--out",
        out,
    )
    assert found.exit_code != 0
    assert wrong not in found.stderr
    assert not Path(out).exists()

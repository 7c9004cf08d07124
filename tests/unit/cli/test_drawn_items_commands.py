"""Several questions of which some are drawn, from the shell: design → respond → tally → estimate."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from tests.support import answers
from tests.support.commands import done, run

SECRET = "zq☠secretanswer"
DESIGN = dn.drawn_items(
    {"smokes": dn.direct(["no", "yes"]), "age": dn.direct(["young", "old"])}
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, part in DESIGN.factors:
        (tmp_path / f"{name}.json").write_text(part.to_json())
    (tmp_path / "design.json").write_text(DESIGN.to_json())
    columns = {
        "smokes": ["yes", "no", None, "yes"] * 50,
        "age": ["old", "old", "young", "old"] * 50,
    }
    answers.write(tmp_path / "answers.csv", columns)
    return tmp_path


def test_designs_are_built_shown_and_chosen(folder: Path) -> None:
    parts = [f"{name}={folder / name}.json" for name in DESIGN.attributes]
    done(
        "design",
        "drawn_items",
        *parts,
        "--each",
        "1",
        "--out",
        folder / "built.json",
    )
    assert dn.DrawnDesign.from_json((folder / "built.json").read_bytes()) == DESIGN
    told = json.loads(done("design", "show", folder / "built.json", "--json").stdout)
    assert told["each"] == 1
    assert list(told["attributes"]) == ["smokes", "age"]
    assert (
        "Everybody answers 1 of 2 questions"
        in done("design", "show", folder / "built.json").stdout
    )
    words = (
        "design",
        "optimal-items",
        "smokes=no,yes",
        "age=3",
        "-e",
        "1",
        "--out",
        folder / "best.json",
    )
    assert "one of the 2 questions" in done(*words).stdout
    assert dn.DrawnDesign.from_json((folder / "best.json").read_bytes()).epsilon <= 1
    assert (
        "such as smokes=no,yes"
        in run("design", "optimal-items", "smokes", "age=3", "-e", "1").stderr
    )


@pytest.mark.parametrize("format", answers.FORMATS)
def test_a_file_of_answers_becomes_an_estimate(folder: Path, format: str) -> None:
    out, counted, design = (
        folder / f"responses.{format}",
        folder / "counted.json",
        folder / "design.json",
    )
    written = done(
        "respond",
        design,
        "--answers",
        folder / "answers.csv",
        "--out",
        out,
        "--json",
    )
    assert json.loads(written.stdout) == {
        "path": str(out),
        "design": DESIGN.hash,
        "rows": 200,
        "missing": 50,
    }
    shown = done("tally", design, out, "--out", counted).stdout
    assert "150 responses" in shown
    assert "smokes: yes" in shown
    tally = dn.DrawnTally.from_json(counted.read_bytes(), DESIGN)
    assert tally.missing == 50
    assert tally.of("age").counts.tolist() == [0, tally.of("age").respondents]
    assert (
        dn.DrawnTally.from_json(
            done("tally", design, counted, out, "--json").stdout, DESIGN
        )
        == tally + tally
    )
    words = (
        "estimate",
        design,
        counted,
        "--population",
        "200",
        "--interval",
        "normal",
        "--json",
    )
    assert dn.DrawnEstimate.from_json(done(*words).stdout, DESIGN) == dn.estimate(
        tally, population=200
    )
    assert "smokes: yes" in done("estimate", design, counted).stdout


def test_lines_of_answers_become_lines_that_tally_reads(folder: Path) -> None:
    line = json.dumps({"smokes": "yes", "age": "old"})
    said = done("respond", folder / "design.json", stdin=f"{line}\n\n{line}\n")
    sent = [json.loads(each)["response"] for each in said.stdout.splitlines()]
    assert sent[1] is None
    assert {sent[0], sent[2]} <= {"smokes: yes", "age: old"}
    counted = dn.DrawnTally.from_json(
        done(
            "tally", folder / "design.json", "-", "--json", stdin=said.stdout
        ).stdout,
        DESIGN,
    )
    assert counted == dn.tally(DESIGN, sent)


@pytest.mark.parametrize(
    "line",
    [
        SECRET,
        f'{{"smokes": "{SECRET}", "age": "old"}}',
        f'["{SECRET}"]',
        '{"smokes": "yes"}',
    ],
)
def test_what_is_no_answer_is_refused_and_not_repeated(
    folder: Path, line: str
) -> None:
    refused = run("respond", folder / "design.json", stdin=f"{line}\n")
    assert refused.exit_code == 2
    assert "expected" in refused.stderr
    assert SECRET not in refused.output
    answers.write(
        folder / "wrong.csv", {"smokes": ["yes", SECRET], "age": ["old", "old"]}
    )
    refused = run(
        "respond",
        folder / "design.json",
        "--answers",
        folder / "wrong.csv",
        "--out",
        folder / "r.csv",
    )
    assert refused.exit_code == 2
    assert SECRET not in refused.output
    assert not (folder / "r.csv").exists()


def test_options_and_columns_that_do_not_fit_are_refused(folder: Path) -> None:
    words = ("respond", folder / "design.json", "--answers", folder / "answers.csv")
    assert (
        "expected no other column"
        in run(*words, "--column", "smokes", "--out", folder / "r.csv").stderr
    )
    assert "--answers, --column and --out together" in run(*words).stderr
    answers.write(folder / "half.csv", {"smokes": ["yes"]})
    assert (
        "called 'age'"
        in run(*words[:3], folder / "half.csv", "--out", folder / "r.csv").stderr
    )
    assert (
        "would replace"
        in run(*words, "--out", folder / "answers.csv", "--force").stderr
    )
    other = dn.drawn_items({"smokes": dn.warner(1), "age": dn.warner(1)})
    (folder / "other.json").write_text(other.to_json())
    (folder / "tally.json").write_text(
        dn.DrawnTally(DESIGN, np.ones(4, int)).to_json()
    )
    assert (
        run("estimate", folder / "other.json", folder / "tally.json").exit_code == 3
    )

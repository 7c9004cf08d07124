from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from deniable_papers import run as registry
from deniable_papers.cli import app
from deniable_papers.values import Content, Exhibit


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def done(*words: object) -> Result:
    result = run(*words)
    assert result.exit_code == 0, result.output
    return result


def test_a_table_is_printed_against_ours(tmp_path: Path) -> None:
    shown = " ".join(
        done("binary", "--example", "1", "--out", tmp_path / "new").stdout.split()
    )
    assert "Four cases of Theorem 3" in shown
    assert "002-ex1-g" in shown
    assert (
        "Of 13 numbers printed, 11 agree, 0 hold with a condition, 2 are wrong."
        in shown
    )
    assert not (tmp_path / "new").exists(), "there was no picture to write"


def test_a_verdict_takes_one_line_and_its_reason_stands_below(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = [
        line.rstrip()
        for line in done(
            "cards", "--table", "2", "--out", tmp_path
        ).stdout.splitlines()
    ]
    (at,) = [
        number
        for number, line in enumerate(shown)
        if line.startswith("003-table2-ic-0.5 ")
    ]
    assert shown[at].split(maxsplit=3)[1:] == [
        "(blank)",
        "16",
        "holds with a condition",
    ]
    told = " ".join(" ".join(shown[at + 1 : at + 3]).split())
    assert told.startswith(
        "Table 2: minimum N, improved; eps = 0.5, pi = 0.1; erratum 3.7: the cell is blank, and"
    )
    assert shown[at + 3].startswith("003-table2-text ")


def test_a_figure_is_written_in_both_formats(tmp_path: Path) -> None:
    told = json.loads(
        done("binary", "--figure", "2", "--out", tmp_path, "--json").stdout
    )
    assert [Path(name).name for name in told["files"]] == [
        "binary-figure-2.png",
        "binary-figure-2.svg",
    ]
    assert all(Path(name).exists() for name in told["files"])
    again = run("binary", "--figure", "2", "--out", tmp_path)
    assert again.exit_code == 2
    assert "--force" in again.stderr


def test_several_exhibits_for_programs(tmp_path: Path) -> None:
    told = json.loads(
        done(
            "rr3", "--lemma", "1", "--lemma", "2", "--out", tmp_path, "--json"
        ).stdout
    )
    assert [exhibit["name"] for exhibit in told["exhibits"]] == [
        "rr3-lemma-1",
        "rr3-lemma-2",
    ]
    assert not any(told["counts"]["number"].values())
    assert told["counts"]["formula"] == {
        "agrees": 1, "holds with a condition": 1, "the paper is wrong": 2, "differs": 0
    }  # fmt: skip
    first = told["exhibits"][0]["values"][0]
    assert (first["id"], first["printed"], first["erratum"]) == (
        "000-lemma1",
        2.0,
        "0.14",
    )


def test_a_whole_document_comes_with_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exhibits = registry.document("minimax").exhibits[:1]
    monkeypatch.setattr(registry.SourceDocument, "exhibits", exhibits)
    shown = done("minimax", "--repetitions", "100", "--out", tmp_path).stdout
    assert "report.html" in shown
    assert "Eq.(3.6)" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_what_does_not_exist_is_refused_before_any_work(tmp_path: Path) -> None:
    for wrong in (
        ["tables"],
        ["cards", "--table", "9"],
        ["all", "--table", "1"],
        ["rr3", "--repetitions", "5"],
    ):
        failed = run(*wrong, "--out", tmp_path / "new")
        assert failed.exit_code == 2
        assert "expected" in failed.stderr
        assert "Traceback" not in failed.stderr
    assert not (tmp_path / "new").exists()


def test_a_value_that_differs_is_a_mistake_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = registry.everything()["001-eq36"]
    broken = Exhibit(
        "minimax",
        "equation",
        "3.6",
        "wrong",
        lambda _: Content((entry.against(8.0),)),
    )
    monkeypatch.setattr(registry.SourceDocument, "exhibits", (broken,))
    failed = run("minimax", "--equation", "3.6", "--out", tmp_path)
    assert failed.exit_code == 1
    assert "differs" in failed.stdout

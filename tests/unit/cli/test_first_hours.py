"""What people new to the program stumble over: typing errors, percentages, warnings, and things told twice."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import deniable as dn
from deniable.cli.designs import Families
from tests.support.commands import done, run

DIE = dn.forced_response(honest="3/4", yes="1/6")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "die.json").write_text(DIE.to_json())
    (tmp_path / "few.json").write_text(
        dn.tally(DIE, {"yes": 50, "no": 450}).to_json()
    )
    rows = [
        f"{region},{answer}"
        for region, yes in (("north", 90), ("south", 110))
        for answer in ["yes"] * yes + ["no"] * 210
    ]
    (tmp_path / "said.csv").write_text("\n".join(["region,answer", *rows]) + "\n")
    return tmp_path


def test_a_doubt_is_told_once_and_without_a_line_of_source(folder: Path) -> None:
    told = done("estimate", folder / "die.json", folder / "few.json")
    assert told.stderr == ""
    assert (
        told.stdout.count("standard errors below")
        + " ".join(told.stdout.split()).count("usually mean")
        == 2
    )
    assert "-8.9%" in " ".join(told.stdout.split())
    assert not re.search(r"-0\.0\d", told.stdout), (
        "shares of one output are all percentages"
    )
    refused = run(
        "estimate", folder / "die.json", folder / "few.json", "--interval", "nothing"
    )
    assert (refused.exit_code, refused.stderr.count("error:")) == (2, 1)
    assert "Implausible" not in refused.stderr


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["esitmate"], "estimate"),
        (["design", "crosswize"], "crosswise"),
        (["design", "Warner"], "warner"),
        (["plan", "siez"], "size"),
        (["release", "opne"], "open"),
    ],
)
def test_a_word_that_is_no_command_is_answered_with_the_nearest(
    words: list[str], meant: str
) -> None:
    refused = run(*words)
    assert refused.exit_code == 2
    assert f"no such command {words[-1]!r}. Did you mean {meant!r}" in refused.stderr
    assert "Did you mean" not in run(*words[:-1], "xyzzyx").stderr


def test_a_column_is_suggested_and_missing_in_one_way(folder: Path) -> None:
    for words in (
        ["--column", "Answer"],
        ["--column", "answer", "--by", "Region"],
        [],
    ):
        refused = run("tally", folder / "die.json", folder / "said.csv", *words)
        assert refused.exit_code == 2
        assert not words or f"Did you mean {words[-1].lower()!r}?" in refused.stderr


def test_of_groups_nothing_is_told_twice_and_shares_stay_percentages(
    folder: Path,
) -> None:
    done(
        "tally",
        folder / "die.json",
        folder / "said.csv",
        "--column",
        "answer",
        "--by",
        "region",
        "--out",
        folder / "g.json",
    )
    told = done("estimate", folder / "die.json", folder / "g.json").stdout
    assert told.count("Test that all groups are alike") == 1
    assert told.count("was named by the person who counted") == 1
    assert "1 comparisons" not in told
    assert re.search(r"north − south · yes +-\d\.\d%", told)


def test_every_family_stands_under_one_purpose() -> None:
    purposes = Families(name="design").purposes()
    listed = [name for names in purposes.values() for name in names]
    assert sorted(listed) == sorted(Families(name="design").builders())
    shown = done("design", "-h").stdout
    assert all(title in shown for title in purposes)
    assert (
        shown.index("warner")
        < shown.index("Apps and telemetry")
        < shown.index("k_ary")
    )


def test_what_is_the_same_of_every_response_is_told_once() -> None:
    told = done("design", "number_design", "--low", 0, "--high", 10, "-e", 1).stdout
    assert " ".join(told.split()).count("by a factor of at most") == 1
    assert told.count("Of 100 people whose answer") == 1


def test_what_is_left_of_a_question_is_never_more_than_of_all(folder: Path) -> None:
    ledger = folder / "mine.ledger"
    done("release", "open", ledger, "--budget", 3)
    done("release", "answer", ledger, "smoking", folder / "die.json", stdin="yes\n")
    done("release", "stage", ledger, "smoking", folder / "die.json", "--to", "[me]")
    shown = done("release", "show", ledger).stdout
    lines = {line.split("  ")[0].strip(): line for line in shown.splitlines()}
    assert "0.697" in lines["smoking"]
    assert "0.697" in lines["all together"]
    assert "[me]" in lines["smoking"]
    assert "no limit" not in shown

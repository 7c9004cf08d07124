"""Responses that were collected elsewhere, from the shell: counted, kept apart, estimated, against each other."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from tests.support import answers
from tests.support.commands import done, run

DESIGN = dn.warner(p="3/4")
OTHER = dn.warner(p="2/3")
VALUES = ("--value", "1=yes", "--value", "2=no")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "design.json").write_text(DESIGN.to_json())
    (tmp_path / "other.json").write_text(OTHER.to_json())
    (tmp_path / "unary.json").write_text(dn.unary(["tea", "milk"], 2).to_json())
    rows = {"q3": [1, 2, 1, None] * 25, "q4": ["yes", "no", "no", "no"] * 25, "region": ["N", "S"] * 50}
    answers.write(tmp_path / "answers.csv", rows)
    (tmp_path / "questions.toml").write_text(
        '[columns.q3]\ndesign = "design.json"\nvalues = { 1 = "yes", 2 = "no" }\n[columns.q4]\ndesign = "other.json"\n'
    )
    return tmp_path


def test_the_design_that_is_handed_over_is_written_into_the_tally(folder: Path) -> None:
    words = ("tally", folder / "design.json", folder / "answers.csv", "--column", "q3", *VALUES)
    told = done(*words, "--out", folder / "t.json")
    assert "The design of 100 rows was declared by whoever counted" in told.stderr
    counted = dn.Tally.from_json((folder / "t.json").read_text(), DESIGN)
    assert counted == dn.Tally(DESIGN, [25, 50], 25, declared=dn.Declared(100))
    shown = " ".join(done("estimate", folder / "design.json", folder / "t.json").stdout.split())
    assert "declared by whoever counted: the file of these 100 rows does not name it" in shown
    assert run("estimate", folder / "other.json", folder / "t.json").exit_code == 3
    piped = done(*words[:2], "-", *words[3:], "--json", stdin=(folder / "answers.csv").read_bytes()).stdout
    assert dn.Tally.from_json(piped, DESIGN) == counted
    again = done(
        "tally", folder / "design.json", folder / "t.json", folder / "answers.csv", *words[3:], "--json"
    ).stdout
    assert dn.Tally.from_json(again, DESIGN) == counted + counted


def test_values_that_are_no_symbols_are_shown(folder: Path) -> None:
    sent = answers.write(folder / "a.csv", {"q": ["yes", "Yes", "hm", "hm"]})
    told = done("tally", folder / "design.json", sent, "--column", "q", "--json")
    assert "q: 3 rows hold what is no symbol of the design: 'hm' (2), 'Yes' (1)" in told.stderr
    assert "--value Yes=yes" in told.stderr
    assert dn.Tally.from_json(told.stdout, DESIGN).declared == dn.Declared(4, 3)
    assert "no symbol" in done("tally", folder / "design.json", sent, "--column", "q").stdout
    refused = run("tally", folder / "design.json", folder / "answers.csv", "--column", "q3")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "There are '1' (50), '2' (25)" in refused.stderr
    assert "--value 1=…" in refused.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--column", "Q3"), "It has 'q3', 'q4', 'region'"),
        (("--column", "q3", *VALUES, "--by", "county"), "It has 'q3', 'q4', 'region'"),
        (("--column", "q3", "--column", "q4"), "there are 2 of --column and one design"),
        (("--column", "q3", "--value", "1"), "expected VALUE=SYMBOL"),
        (("--column", "q3", "--value", "1=si"), "said to mean 'si'"),
        (("--column", "q3", *VALUES, "--codes"), "values and codes"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, words: tuple[str, ...], message: str) -> None:
    refused = run("tally", folder / "design.json", folder / "answers.csv", *words)
    assert refused.exit_code == 2
    assert message in refused.stderr


def test_groups_are_counted_written_added_and_estimated(folder: Path) -> None:
    words = ("tally", folder / "design.json", folder / "answers.csv", "--column", "q3", *VALUES, "--by", "region")
    shown = done(*words, "--out", folder / "g.json").stdout
    assert "q3, region = N" in shown
    apart = dn.SeparateTallies.from_json((folder / "g.json").read_text(), DESIGN)
    assert {name: each.counts.tolist() for name, each in apart.groups().items()} == {"N": [0, 50], "S": [25, 0]}
    both = done("tally", folder / "design.json", folder / "g.json", folder / "answers.csv", *words[3:], "--json").stdout
    assert dn.SeparateTallies.from_json(both, DESIGN) == apart + apart
    mixed = answers.write(folder / "m.csv", {"q": ["yes", "no"] * 60, "region": ["N", "N", "S", "S"] * 30})
    done("tally", folder / "design.json", mixed, "--column", "q", "--by", "region", "--out", folder / "m.json")
    told = json.loads(done("estimate", folder / "design.json", folder / "m.json", "--json").stdout)
    assert [each["group"] for each in told["estimates"]] == [{"region": "N"}, {"region": "S"}]
    expected = dn.estimate(dn.Tally(DESIGN, [30, 30])).params["yes"]
    assert [each["result"]["rows"][1]["estimate"] for each in told["estimates"]] == [expected] * 2
    done("estimate", folder / "design.json", folder / "m.json", "--out", folder / "m.out.csv")
    lines = list(csv.DictReader(io.StringIO((folder / "m.out.csv").read_text())))
    assert [(each["column"], each["region"], each["name"]) for each in lines] == [
        ("q", region, name) for region in "NS" for name in ("no", "yes")
    ]
    for option in (("--chart", folder / "c.png"), ("--out", folder / "m.html")):
        assert run("estimate", folder / "design.json", folder / "m.json", *option).exit_code == 2
    plain = ("tally", folder / "design.json", folder / "answers.csv", "--column", "q3", *VALUES, folder / "g.json")
    assert "some tallies are kept apart" in run(*plain).stderr


def test_a_group_without_responses_does_not_stop_the_others(folder: Path) -> None:
    sent = answers.write(folder / "a.csv", {"q": ["yes", "no", "yes", "no", None], "g": ["a"] * 4 + ["b"]})
    done("tally", folder / "design.json", sent, "--column", "q", "--by", "g", "--out", folder / "g.json")
    shown = done("estimate", folder / "design.json", folder / "g.json").stdout
    assert "No estimate: there are no responses" in shown
    told = json.loads(done("estimate", folder / "design.json", folder / "g.json", "--json").stdout)["estimates"]
    assert [sorted(each) for each in told] == [["column", "group", "result"], ["column", "group", "problem"]]


@pytest.mark.parametrize("format", answers.FORMATS)
def test_groups_of_our_own_files_are_checked_row_by_row(folder: Path, format: str) -> None:
    rows = {"response": ["yes", "no", None, "yes"], "region": ["N", "S", "S", None], "design": [DESIGN.hash] * 4}
    sent = answers.write(folder / f"r.{format}", rows)
    for column in ((), ("--column", "response")):
        told = done("tally", folder / "design.json", sent, "--by", "region", *column, "--json").stdout
        apart = dn.SeparateTallies.from_json(told, DESIGN)
        assert apart.groups() == {
            "N": dn.Tally(DESIGN, [0, 1]),
            "S": dn.Tally(DESIGN, [1, 0], 1),
            None: dn.Tally(DESIGN, [0, 1]),
        }, "their file names the design: nothing is declared"
        assert run("tally", folder / "other.json", sent, "--by", "region", *column).exit_code == 3
    said = ("tally", folder / "design.json", sent, "--value", "1=yes")
    assert "expected --column with them" in run(*said).stderr
    assert "this one names its design" in run(*said, "--column", "response").stderr
    refused = run("tally", folder / "design.json", sent, "--by", "county")
    assert refused.exit_code in (2, 4)
    assert "county" in refused.stderr


def test_groups_of_what_is_no_category_are_refused(folder: Path) -> None:
    ladder = dn.ladder([dn.warner(1), dn.warner(2)])
    (folder / "ladder.json").write_text(ladder.to_json())
    assert "this design asks for ladder" in run("tally", folder / "ladder.json", folder, "--by", "region").stderr


def test_several_columns_go_through_a_mapping_file(folder: Path) -> None:
    words = ("tally", folder / "questions.toml", folder / "answers.csv")
    done(*words, "--out", folder / "both.json")
    both = dn.tally_columns(folder / "questions.toml", folder / "answers.csv")
    assert dn.SeparateTallies.from_json((folder / "both.json").read_text(), [DESIGN, OTHER]) == both
    told = json.loads(done("estimate", folder / "questions.toml", folder / "both.json", "--json").stdout)["estimates"]
    assert [each["column"] for each in told] == ["q3", "q4"]
    one = json.loads(done(*words, "--column", "q4", "--by", "region", "--json").stdout)
    assert {each["column"] for each in one["tallies"]} == {"q4"}
    summed = done(*words, folder / "both.json", "--json").stdout
    assert dn.SeparateTallies.from_json(summed, [DESIGN, OTHER]) == both + both
    done("tally", folder / "other.json", folder / "answers.csv", "--column", "q4", "--out", folder / "q4.json")
    assert (
        "this tally was not counted with one" in run("estimate", folder / "questions.toml", folder / "q4.json").stderr
    )
    for more, message in (
        (("--column", "q5"), "says nothing about the column 'q5'; expected one of q3, q4"),
        (("--codes",), "a mapping file says what values mean"),
        (("--sql", "--table", "t"), "expected a design, not a mapping file"),
    ):
        assert message in run(*words, *more).stderr


def test_two_columns_against_each_other(folder: Path) -> None:
    rng = np.random.default_rng(7)
    first = ["yes" if each else "no" for each in rng.random(20_000) < 0.5]
    sent = {
        "q3": [{"yes": "1", "no": "2"}[each] for each in dn.respond_all(DESIGN, first)],
        "q4": list(dn.respond_all(OTHER, first)),
    }
    path = answers.write(folder / "both.csv", sent)
    told = done("crosstab", folder / "questions.toml", path, "q3", "q4", "--out", folder / "table.json")
    assert told.stdout.startswith("q3 by q4")
    assert "Cramér's V" in told.stdout
    assert told.stderr.count("is declared in the mapping file") == 2
    made: Any = json.loads((folder / "table.json").read_text())
    # Half would say yes to both: the share of each equal pair is 1/2, of each unequal pair 0. A product of both scores
    # has a standard deviation below 3, a share one below 0.022: 0.25 is eleven of them, a false alarm rarer than 1e-9.
    assert [each["estimate"] for each in made["rows"]] == pytest.approx([0.5, 0.0, 0.0, 0.5], abs=0.25)
    for words, message in (
        ((folder / "questions.toml", path, "q3", "q3"), "named twice"),
        ((folder / "design.json", path, "q3", "q4"), "no mapping file"),
        ((folder / "questions.toml", path, "q3", "q5"), "says nothing about the column 'q5'"),
    ):
        assert message in run("crosstab", *words).stderr


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_columns_of_our_own_against_each_other(folder: Path, format: str) -> None:
    held = answers.write(folder / "held.csv", {"q3": ["yes", "no"] * 500, "q4": ["no", "yes"] * 500})
    sent = folder / f"sent.{format}"
    columns = ("--column", f"q3={folder / 'design.json'}", "--column", f"q4={folder / 'other.json'}")
    done("respond", *columns, "--answers", held, "--out", sent)
    told = done("crosstab", folder / "questions.toml", sent, "q3", "q4")
    assert told.stdout.startswith("q3 by q4")
    assert "declared" not in told.stderr
    both = json.loads(done("tally", folder / "questions.toml", sent, "--json").stdout)["tallies"]
    assert [(each["column"], each["tally"]["respondents"]) for each in both] == [("q3", 1000), ("q4", 1000)]
    assert all("declared" not in each["tally"] for each in both), "the file names both designs"
    swapped = '[columns.q3]\ndesign = "other.json"\n[columns.q4]\ndesign = "design.json"\n'
    (folder / "swapped.toml").write_text(swapped)
    assert run("crosstab", folder / "swapped.toml", sent, "q3", "q4").exit_code == 3
    assert run("tally", folder / "swapped.toml", sent).exit_code == 3

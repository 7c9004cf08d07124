"""Responses that were collected elsewhere, from the shell: counted, kept apart, estimated, against each other."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import deniable as dn
from tests.support import answers
from tests.support.commands import done, run
from tests.support.warehouses import as_labels

DESIGN = dn.warner(p="3/4")
OTHER = dn.warner(p="2/3")
VALUES = ("--value", "1=yes", "--value", "2=no")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "design.json").write_text(DESIGN.to_json())
    (tmp_path / "other.json").write_text(OTHER.to_json())
    (tmp_path / "unary.json").write_text(dn.unary(["tea", "milk"], 2).to_json())
    rows = {
        "q3": [1, 2, 1, None] * 25,
        "q4": ["yes", "no", "no", "no"] * 25,
        "region": ["N", "S"] * 50,
    }
    answers.write(tmp_path / "answers.csv", rows)
    (tmp_path / "questions.toml").write_text(
        '[columns.q3]\ndesign = "design.json"\nvalues = { 1 = "yes", 2 = "no" }\n[columns.q4]\ndesign = "other.json"\n'
    )
    return tmp_path


def test_the_design_that_is_handed_over_is_written_into_the_tally(
    folder: Path,
) -> None:
    words = (
        "tally",
        folder / "design.json",
        folder / "answers.csv",
        "--column",
        "q3",
        *VALUES,
    )
    told = done(*words, "--out", folder / "t.json")
    assert "The design of 100 rows is the one you named" in told.stderr
    counted = dn.Tally.from_json((folder / "t.json").read_text(), DESIGN)
    assert counted == dn.Tally(DESIGN, [25, 50], 25, declared=dn.Declared(100))
    shown = " ".join(
        done("estimate", folder / "design.json", folder / "t.json").stdout.split()
    )
    assert (
        "named by the person who counted: the file of these 100 rows does not say which"
        in shown
    )
    assert run("estimate", folder / "other.json", folder / "t.json").exit_code == 3
    piped = done(
        *words[:2],
        "-",
        *words[3:],
        "--json",
        stdin=(folder / "answers.csv").read_bytes(),
    ).stdout
    assert dn.Tally.from_json(piped, DESIGN) == counted
    again = done(
        "tally",
        folder / "design.json",
        folder / "t.json",
        folder / "answers.csv",
        *words[3:],
        "--json",
    ).stdout
    assert dn.Tally.from_json(again, DESIGN) == counted + counted


def test_values_that_are_no_symbols_are_shown(folder: Path) -> None:
    sent = answers.write(folder / "a.csv", {"q": ["yes", "Yes", "hm", "hm"]})
    told = done("tally", folder / "design.json", sent, "--column", "q", "--json")
    assert (
        "q: 3 rows hold a value that is not a response of this design: 'hm' (2), 'Yes' (1)"
        in told.stderr
    )
    assert "--value Yes=yes" in told.stderr
    assert dn.Tally.from_json(told.stdout, DESIGN).declared == dn.Declared(4, 3)
    assert (
        "not a response of this design"
        in done("tally", folder / "design.json", sent, "--column", "q").stdout
    )
    refused = run(
        "tally", folder / "design.json", folder / "answers.csv", "--column", "q3"
    )
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "There are '1' (50), '2' (25)" in refused.stderr
    assert "--value 1=…" in refused.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--column", "Q3"), "It has 'q3', 'q4', 'region'"),
        (
            ("--column", "q3", *VALUES, "--by", "county"),
            "It has 'q3', 'q4', 'region'",
        ),
        (
            ("--column", "q3", "--column", "q4"),
            "there are 2 of --column and one design",
        ),
        (("--column", "q3", "--value", "1"), "expected VALUE=SYMBOL"),
        (("--column", "q3", "--value", "1=si"), "said to mean 'si'"),
        (("--column", "q3", *VALUES, "--codes"), "values and codes"),
    ],
)
def test_what_is_wrong_is_said(
    folder: Path, words: tuple[str, ...], message: str
) -> None:
    refused = run("tally", folder / "design.json", folder / "answers.csv", *words)
    assert refused.exit_code == 2
    assert message in refused.stderr


def test_groups_are_counted_written_added_and_estimated(folder: Path) -> None:
    words = (
        "tally",
        folder / "design.json",
        folder / "answers.csv",
        "--column",
        "q3",
        *VALUES,
        "--by",
        "region",
    )
    told = done(*words, "--out", folder / "g.json")
    assert "region = N" in told.stdout
    assert "The design of 100 rows is the one you named" in told.stderr
    groups = dn.GroupedTally.from_json((folder / "g.json").read_text(), DESIGN)
    assert groups.by == ("region",)
    assert {name: each.counts.tolist() for name, each in groups.items()} == {
        "N": [0, 50],
        "S": [25, 0],
    }
    both = done(
        "tally",
        folder / "design.json",
        folder / "g.json",
        folder / "answers.csv",
        *words[3:],
        "--json",
    ).stdout
    assert dn.GroupedTally.from_json(both, DESIGN) == groups + groups
    plain = (
        "tally",
        folder / "design.json",
        folder / "answers.csv",
        "--column",
        "q3",
        *VALUES,
        folder / "g.json",
    )
    assert "some tallies are by group or column" in run(*plain).stderr
    pairs = (
        "tally",
        folder / "other.json",
        folder / "answers.csv",
        "--column",
        "q4",
        "--by",
        "region",
        "--by",
        "q3",
    )
    assert "region = S, q3 = (none)" in done(*pairs).stdout


def test_groups_are_estimated_tested_and_compared(folder: Path) -> None:
    rows = {
        "q": ["yes", "no"] * 60 + ["yes"] * 40,
        "region": ["N", "N", "S", "S"] * 30 + ["S"] * 40,
    }
    path, design = answers.write(folder / "m.csv", rows), folder / "design.json"
    done(
        "tally",
        design,
        path,
        "--column",
        "q",
        "--by",
        "region",
        "--out",
        folder / "m.json",
    )
    counted = dn.Tally(DESIGN, [30, 30]), dn.Tally(DESIGN, [30, 70])
    expected = dn.estimate(
        dn.GroupedTally.from_json((folder / "m.json").read_text(), DESIGN)
    )
    assert expected.params["N · yes"] == dn.estimate(counted[0]).params["yes"]
    assert expected.params["S · yes"] == dn.estimate(counted[1]).params["yes"]
    shown = " ".join(done("estimate", design, folder / "m.json").stdout.split())
    for said in (
        "2 groups of region, warner, ε = 1.099, 160 respondents",
        f"{expected.homogeneity()}",
        "Differences between each pair of groups",
        "N − S · yes",
        "named by the person who counted: the file of these 160 rows",
    ):
        assert said in shown
    told = json.loads(done("estimate", design, folder / "m.json", "--json").stdout)
    assert [each["name"] for each in told["rows"]] == list(expected.params)
    for against, found in (
        ("pairs", expected.pairwise()),
        ("rest", expected.against_rest()),
    ):
        done(
            "estimate",
            design,
            folder / "m.json",
            "--differences",
            against,
            "--out",
            folder / f"{against}.csv",
        )
        lines = list(
            csv.DictReader(io.StringIO((folder / f"{against}.csv").read_text()))
        )
        assert [(each["name"], float(each["adjusted"])) for each in lines] == list(
            found.adjusted.items()
        )
    done(
        "estimate",
        design,
        folder / "m.json",
        "--chart",
        folder / "c.png",
        "--out",
        folder / "m.html",
    )
    assert (folder / "c.png").stat().st_size > 0
    for option, message in (
        (("--differences", "all"), "expected pairs or rest"),
        (("--population", "1000"), "population does not go with groups"),
    ):
        assert message in run("estimate", design, folder / "m.json", *option).stderr
    done("tally", design, path, "--column", "q", "--out", folder / "plain.json")
    refused = run(
        "estimate", design, folder / "plain.json", "--differences", "pairs"
    )
    assert (refused.exit_code, "with a tally by groups" in refused.stderr) == (
        2,
        True,
    )


def test_a_group_without_responses_does_not_stop_the_others(folder: Path) -> None:
    sent = answers.write(
        folder / "a.csv",
        {"q": ["yes", "no", "yes", "no", None], "g": ["a"] * 4 + ["b"]},
    )
    done(
        "tally",
        folder / "design.json",
        sent,
        "--column",
        "q",
        "--by",
        "g",
        "--out",
        folder / "g.json",
    )
    shown = " ".join(
        done("estimate", folder / "design.json", folder / "g.json").stdout.split()
    )
    assert "1 groups have fewer than 2 responses: b" in shown
    assert "a · yes" in shown


@pytest.mark.parametrize("format", answers.FORMATS)
def test_groups_of_our_own_files_are_checked_row_by_row(
    folder: Path, format: str
) -> None:
    rows = {
        "response": ["yes", "no", None, "yes"],
        "region": ["N", "S", "S", None],
        "design": [DESIGN.hash] * 4,
    }
    sent = answers.write(folder / f"r.{format}", rows)
    for column in ((), ("--column", "response")):
        told = done(
            "tally",
            folder / "design.json",
            sent,
            "--by",
            "region",
            *column,
            "--json",
        ).stdout
        groups = dn.GroupedTally.from_json(told, DESIGN)
        assert dict(groups.items()) == {
            "N": dn.Tally(DESIGN, [0, 1]),
            "S": dn.Tally(DESIGN, [1, 0], 1),
            None: dn.Tally(DESIGN, [0, 1]),
        }, "their file names the design: nothing is declared"
        assert (
            run(
                "tally", folder / "other.json", sent, "--by", "region", *column
            ).exit_code
            == 3
        )
    said = ("tally", folder / "design.json", sent, "--value", "1=yes")
    assert "expected --column with them" in run(*said).stderr
    assert "this one names its design" in run(*said, "--column", "response").stderr
    refused = run("tally", folder / "design.json", sent, "--by", "county")
    assert refused.exit_code in (2, 4)
    assert "county" in refused.stderr


GROUPED: dict[str, tuple[Any, list[Any]]] = {
    "categories": (dn.warner(1), ["yes", "no", None, "yes"]),
    "sets of categories": (
        dn.unary(["tea", "milk", "water"], 2),
        ["tea", "milk", None, "tea"],
    ),
    "ladder": (dn.ladder([dn.warner(1), dn.warner(2)]), ["yes", "no", None, "yes"]),
    "numbers": (dn.number_design(0, 9, 1), [1, 2, None, 9]),
    "key-value": (
        dn.lpp_ddagger(["tea", "milk"], 2),
        [{"tea": 1}, {"milk": -1}, None, {}],
    ),
    "edges": (
        dn.one_edge(["tax", "roads"], 2),
        [{"tax": 1}, {"roads": 0}, None, {"tax": 1}],
    ),
    "strings": (dn.string_design(dn.Bloom(8, cohorts=2), 2), ["a", "b", None, "c"]),
    "drawn items": (
        dn.drawn_items({"a": dn.warner(1), "b": dn.warner(2)}),
        [{"a": "yes", "b": "no"}, None] * 2,
    ),
}


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("asked", GROUPED)
def test_groups_of_every_type_of_design(
    folder: Path, asked: str, format: str
) -> None:
    design, held = GROUPED[asked]
    assert design.asks in asked
    sent, regions = dn.respond_all(design, held), ["N", "S", "S", None]
    table = (
        sent.to_arrow() if format == "parquet" else as_labels(sent)
    ).append_column("region", [regions])
    path = folder / f"sent.{format}"
    if format == "parquet":
        pq.write_table(table, path)
    else:
        answers.write(path, table.to_pydict())
    (folder / "d.json").write_text(design.to_json())
    told = done("tally", folder / "d.json", path, "--by", "region", "--json").stdout
    assert dn.GroupedTally.from_json(told, design) == dn.tally(
        sent, by=pd.Series(regions, name="region")
    )


def test_a_deck_has_no_groups(folder: Path) -> None:
    (folder / "deck.json").write_text(dn.Deck((1, 1, 2), people=4).to_json())
    refused = run(
        "tally", folder / "deck.json", folder / "answers.csv", "--by", "region"
    )
    assert (
        refused.exit_code,
        "a deck is dealt to all of its people at once" in refused.stderr,
    ) == (2, True)


def test_several_columns_go_through_a_mapping_file(folder: Path) -> None:
    words = ("tally", folder / "questions.toml", folder / "answers.csv")
    done(*words, "--out", folder / "both.json")
    both = dn.tally_columns(folder / "questions.toml", folder / "answers.csv")
    assert (
        dn.SeparateTallies.from_json(
            (folder / "both.json").read_text(), [DESIGN, OTHER]
        )
        == both
    )
    told = json.loads(
        done(
            "estimate", folder / "questions.toml", folder / "both.json", "--json"
        ).stdout
    )["estimates"]
    assert [each["column"] for each in told] == ["q3", "q4"]
    done(*words, "--by", "region", "--out", folder / "apart.json")
    shown = done("estimate", folder / "questions.toml", folder / "apart.json").stdout
    assert shown.count("2 groups of region") == 2
    assert shown.count("Differences between each pair of groups") == 2
    done(
        "estimate",
        folder / "questions.toml",
        folder / "apart.json",
        "--out",
        folder / "apart.csv",
    )
    lines = list(csv.DictReader(io.StringIO((folder / "apart.csv").read_text())))
    names = [f"{region} · {answer}" for region in "NS" for answer in ("no", "yes")]
    assert [(each["column"], each["name"]) for each in lines] == [
        (q, name) for q in ("q3", "q4") for name in names
    ]
    for option in (("--chart", folder / "c.png"), ("--out", folder / "m.html")):
        assert (
            run(
                "estimate", folder / "questions.toml", folder / "both.json", *option
            ).exit_code
            == 2
        )
    one = done(*words, "--column", "q4", "--by", "region", "--json").stdout
    assert (
        dn.GroupedTally.from_json(one, OTHER)
        == dn.tally_columns(
            folder / "questions.toml", folder / "answers.csv", by="region"
        )["q4"]
    ), "one column with one design is what it is by itself"
    summed = done(*words, folder / "both.json", "--json").stdout
    assert dn.SeparateTallies.from_json(summed, [DESIGN, OTHER]) == both + both
    done(
        "tally",
        folder / "other.json",
        folder / "answers.csv",
        "--column",
        "q4",
        "--out",
        folder / "q4.json",
    )
    by_mapping = done(*words, "--column", "q4", "--json").stdout
    assert dn.Tally.from_json(by_mapping, OTHER) == dn.Tally.from_json(
        (folder / "q4.json").read_text(), OTHER
    )
    assert (
        "named by the person"
        in done("estimate", folder / "questions.toml", folder / "q4.json").stdout
    )
    for more, message in (
        (
            ("--column", "q5"),
            "says nothing about the column 'q5'; expected one of q3, q4",
        ),
        (("--codes",), "a mapping file says what values mean"),
    ):
        assert message in run(*words, *more).stderr
    assert (
        "expected a design, not a mapping file"
        in run("tally-query", words[1], "--table", "t").stderr
    )


def test_rows_that_differ_in_their_device(folder: Path) -> None:
    mapping = folder / "devices.toml"
    mapping.write_text(
        '[columns.q]\ndevices = "m"\ndesign = { A = "design.json", B = "other.json" }\n'
    )
    sent = answers.write(
        folder / "d.csv",
        {"q": ["yes", "no"] * 40, "m": ["A", "A", "B", "B"] * 20, "r": ["N"] * 80},
    )
    done("tally", mapping, sent, "--out", folder / "d.json")
    counted = dn.SeparateTallies.from_json(
        (folder / "d.json").read_text(), [DESIGN, OTHER]
    )
    (whole,) = json.loads(
        done("estimate", mapping, folder / "d.json", "--json").stdout
    )["estimates"]
    assert (
        whole["result"]["rows"][1]["estimate"]
        == dn.estimate(counted["q"]).params["yes"]
    )
    shown = done(
        "tally", mapping, sent, "--by", "r", "--out", folder / "r.json"
    ).stdout
    assert "q, asked with A, r = N" in shown
    (north,) = json.loads(
        done("estimate", mapping, folder / "r.json", "--json").stdout
    )["estimates"]
    assert (north["group"], north["result"]["rows"]) == (
        {"r": "N"},
        whole["result"]["rows"],
    )


def test_a_column_without_responses_does_not_stop_the_others(folder: Path) -> None:
    sent = answers.write(folder / "a.csv", {"q3": ["1", "2"] * 9, "q4": [None] * 18})
    done("tally", folder / "questions.toml", sent, "--out", folder / "t.json")
    assert (
        "No estimate: "
        in done("estimate", folder / "questions.toml", folder / "t.json").stdout
    )
    told = json.loads(
        done(
            "estimate", folder / "questions.toml", folder / "t.json", "--json"
        ).stdout
    )["estimates"]
    assert [sorted(each) for each in told] == [
        ["column", "result"],
        ["column", "problem"],
    ]


def test_two_columns_against_each_other(folder: Path) -> None:
    rng = np.random.default_rng(7)
    first = ["yes" if each else "no" for each in rng.random(20_000) < 0.5]
    sent = {
        "q3": [
            {"yes": "1", "no": "2"}[each] for each in dn.respond_all(DESIGN, first)
        ],
        "q4": list(dn.respond_all(OTHER, first)),
    }
    path = answers.write(folder / "both.csv", sent)
    told = done(
        "crosstab",
        folder / "questions.toml",
        path,
        "q3",
        "q4",
        "--out",
        folder / "table.json",
    )
    assert told.stdout.startswith("q3 by q4")
    for said in ("Test of independence: χ²", "Odds ratio: ", "Cramér's V", "\nall"):
        assert said in told.stdout
    assert told.stderr.count("is declared in the mapping file") == 2
    made: Any = json.loads((folder / "table.json").read_text())
    assert any(
        "named by the person who counted: the file of these 20,000 rows" in each
        for each in made["notes"]
    )
    narrow = done(
        "crosstab",
        folder / "questions.toml",
        path,
        "q3",
        "q4",
        "--level",
        "0.5",
        "--method",
        "likelihood",
    )
    assert narrow.stdout.splitlines()[-1] != told.stdout.splitlines()[-1]
    # Half would say yes to both: the share of each equal pair is 1/2, of each unequal pair 0. A product of both scores
    # has a standard deviation below 3, a share one below 0.022: 0.25 is eleven of them, a false alarm rarer than 1e-9.
    assert [each["estimate"] for each in made["rows"]] == pytest.approx(
        [0.5, 0.0, 0.0, 0.5], abs=0.25
    )
    for words, message in (
        ((folder / "questions.toml", path, "q3", "q3"), "named twice"),
        ((folder / "design.json", path, "q3", "q4"), "no mapping file"),
        (
            (folder / "questions.toml", path, "q3", "q5"),
            "says nothing about the column 'q5'",
        ),
    ):
        assert message in run("crosstab", *words).stderr


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_columns_of_our_own_against_each_other(folder: Path, format: str) -> None:
    held = answers.write(
        folder / "held.csv", {"q3": ["yes", "no"] * 500, "q4": ["no", "yes"] * 500}
    )
    sent = folder / f"sent.{format}"
    columns = (
        "--column",
        f"q3={folder / 'design.json'}",
        "--column",
        f"q4={folder / 'other.json'}",
    )
    done("respond", *columns, "--answers", held, "--out", sent)
    told = done("crosstab", folder / "questions.toml", sent, "q3", "q4")
    assert told.stdout.startswith("q3 by q4")
    assert "declared" not in told.stderr
    both = json.loads(
        done("tally", folder / "questions.toml", sent, "--json").stdout
    )["tallies"]
    assert [(each["column"], each["tally"]["respondents"]) for each in both] == [
        ("q3", 1000),
        ("q4", 1000),
    ]
    assert all("declared" not in each["tally"] for each in both), (
        "the file names both designs"
    )
    swapped = (
        '[columns.q3]\ndesign = "other.json"\n[columns.q4]\ndesign = "design.json"\n'
    )
    (folder / "swapped.toml").write_text(swapped)
    assert run("crosstab", folder / "swapped.toml", sent, "q3", "q4").exit_code == 3
    assert run("tally", folder / "swapped.toml", sent).exit_code == 3

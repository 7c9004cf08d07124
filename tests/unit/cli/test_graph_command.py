"""`deniable graph`: the whole flow over files, in every kind of design."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import deniable as dn
from tests.support.commands import done, run

EDGES = [
    ("ann", "tea", "1"),
    ("ann", "milk", "0.5"),
    ("bob", "tea", "0"),
    ("eve", "coffee", "1"),
]


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    path = tmp_path / "edges.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("person", "item", "weight"), *EDGES])
    return path


KINDS = {
    "lpp_club": ["--epsilon", "1"],
    "lpp_ddagger": ["--epsilon1", "1", "--epsilon2", "1"],
    "lpp": ["--epsilon1", "1", "--epsilon2", "1"],
    "vpp": ["--epsilon", "1"],
    "pckv_ue": ["--epsilon", "2", "--padding", "2", "--importance", "mean"],
    "pckv_grr": [
        "--epsilon",
        "2",
        "--padding",
        "2",
        "--importance",
        "frequency=1,mean=2",
    ],
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_whole_flow(kind: str, edges: Path, tmp_path: Path) -> None:
    design, responses, tally = (
        tmp_path / "d.json",
        tmp_path / "r.parquet",
        tmp_path / "t.json",
    )
    shown = done(
        "graph",
        "design",
        kind,
        "--items",
        "tea,coffee,milk",
        *KINDS[kind],
        "--out",
        design,
    )
    assert (
        "the odds between any two rows of items and weights"
        in shown.stdout.replace("\n", " ")
    )
    assert "one after the" in shown.stdout
    done(
        "graph",
        "respond",
        design,
        "--edges",
        edges,
        "--people",
        "50",
        "--out",
        responses,
    )
    done("graph", "tally", design, responses, "--out", tally)
    twice = json.loads(
        done("graph", "tally", design, responses, tally, "--json").stdout
    )
    assert twice["respondents"] == 100
    chart = [] if kind == "vpp" else ["--chart", tmp_path / "g.png"]
    told = done(
        "graph", "estimate", design, tally, "--out", tmp_path / "e.json", *chart
    )
    assert "50 respondents" in told.stdout
    assert json.loads((tmp_path / "e.json").read_text())["respondents"] == 50
    assert kind == "vpp" or (tmp_path / "g.png").read_bytes().startswith(b"\x89PNG")
    body = json.loads(
        done(
            "graph", "estimate", design, tally, "--json", "--population", "census"
        ).stdout
    )
    assert [row["name"] for row in body["rows"]] == ["tea", "coffee", "milk"]
    assert body["source"]["population"] == "census"


def test_the_commands_for_all_designs_take_items_too(
    edges: Path, tmp_path: Path
) -> None:
    """`design`, `tally` and `estimate` do what those of `graph` do, with degrees, weights and the warning."""
    design, responses, tally = (tmp_path / f"{name}.json" for name in "dst")
    responses = responses.with_suffix(".csv")
    options = ["--items", "tea,coffee,milk", "-e", "6", "--padding", "2"]
    shown = done("design", "pckv_grr", *options, "--out", design)
    assert "the odds between any two rows" in shown.stdout.replace("\n", " ")
    facts = [
        json.loads(done(*command, "show", design, "--json").stdout)
        for command in (["design"], ["graph"])
    ]
    assert facts[0] == facts[1]
    assert (facts[0]["name"], facts[0]["items"]) == ("pckv_grr", 3)
    filled = ["--edges", edges, "--people", "60", "--out", responses]
    done("graph", "respond", design, *filled)
    done("tally", design, responses, "--out", tally)
    told = done("estimate", design, tally).stdout
    assert "degree" in told
    assert "weight" in told
    assert "people with more than 2 items are counted with 2" in told.replace(
        "\n", " "
    )
    missing = run("design", "pckv_grr", "--items", "a,b", "-e", "1")
    assert missing.exit_code == 2
    assert "pckv_grr needs --padding too" in missing.stderr


def test_one_edge_each(edges: Path, tmp_path: Path) -> None:
    design, responses, tally = (
        tmp_path / "d.json",
        tmp_path / "r.csv",
        tmp_path / "t.json",
    )
    edges.write_text("who,what,much\nann,tea,1\nbob,tea,0.5\neve,coffee,0\n")
    shown = done(
        "graph",
        "design",
        "one_edge",
        "--items",
        "tea,coffee",
        "-e",
        "1",
        "-o",
        design,
    )
    assert "sent as it is" in shown.stdout
    named = ["--person", "who", "--item", "what", "--weight", "much"]
    written = done(
        "graph",
        "respond",
        design,
        "--edges",
        edges,
        *named,
        "--out",
        responses,
        "--json",
    )
    assert json.loads(written.stdout)["rows"] == 3
    done("graph", "tally", design, responses, "--out", tally)
    assert "mean" in done("graph", "estimate", design, tally).stdout
    body = json.loads(done("graph", "estimate", design, tally, "--json").stdout)
    assert [(row["name"], row["degree"]) for row in body["rows"]] == [
        ("tea", 2),
        ("coffee", 1),
    ]
    done(
        "graph",
        "estimate",
        design,
        tally,
        "--chart",
        tmp_path / "g.png",
        "--out",
        tmp_path / "e.csv",
    )
    assert (
        (tmp_path / "e.csv")
        .read_text()
        .startswith("name,estimate,error,low,high,degree,mean,mean_error\ntea,")
    )
    assert (
        run("graph", "estimate", design, tally, "--population", "census").exit_code
        == 2
    )


def test_a_design_is_shown_with_what_it_saves(tmp_path: Path) -> None:
    design = tmp_path / "d.json"
    (tmp_path / "items.txt").write_text("tea\n\ncoffee\n", encoding="utf-8")
    done(
        "graph",
        "design",
        "lpp_club",
        "--items",
        f"@{tmp_path / 'items.txt'}",
        "-e",
        "1",
        "-o",
        design,
    )
    told = json.loads(done("graph", "show", design, "--json").stdout)
    assert told["saving"] == pytest.approx(1)
    assert told["sequential"] == pytest.approx(2)
    assert told["items"] == 2
    assert "2, 1 more than is spent" in done("graph", "show", design).stdout.replace(
        "\n", " "
    )
    printed = json.loads(
        done(
            "graph", "design", "lpp_club", "--items", "3", "-e", "1", "--json"
        ).stdout
    )
    assert printed["items"] == 3


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["design", "lpp_club", "--items", "a,b"], "lpp_club needs --epsilon too"),
        (["design", "lpp_club", "-e", "1"], "lpp_club needs --items too"),
        (
            ["design", "lpp", "--items", "a,b", "--epsilon1", "1"],
            "lpp needs --epsilon2 too",
        ),
        (
            ["design", "pckv_ue", "--items", "a,b", "-e", "1", "--epsilon1", "1"],
            "no such option: --epsilon1",
        ),
        (
            ["design", "pckv_ue", "--items", "a,b", "-e", "1", "--padding", "3"],
            "padding is 3",
        ),
        (
            [
                "design",
                "lpp_club",
                "--items",
                "a,b",
                "-e",
                "1",
                "--importance",
                "height",
            ],
            "the importance does not fit",
        ),
        (["design", "lpp_club", "--items", "a,b", "-e", "0"], "epsilon is 0"),
        (
            [
                "design",
                "lpp_club",
                "--items",
                "a,b",
                "-e",
                "1",
                "--importance",
                "frequency=1,mean",
            ],
            "importance",
        ),
        (
            [
                "design",
                "lpp_club",
                "--items",
                "a,b",
                "-e",
                "1",
                "--importance",
                "mean=1,mean=2",
            ],
            "stands twice",
        ),
        (
            ["design", "lpp_club", "--items", "a,b", "-e", "1", "--padding", "2"],
            "no such option: --padding",
        ),
        (
            ["design", "vpp", "--items", "a,b", "-e", "1", "--importance", "mean"],
            "no such option: --importance",
        ),
        (
            ["design", "one_edge", "--items", "a,b", "-e", "1", "--low", "0"],
            "no such option: --low",
        ),
    ],
)
def test_mistakes_are_told_without_a_traceback(
    words: list[str], problem: str
) -> None:
    result = run("graph", *words)
    assert result.exit_code == 2
    assert problem in result.stderr.replace("\n", " ")
    assert "Traceback" not in result.output


def test_a_row_that_does_not_fit_is_named_and_never_repeated(
    edges: Path, tmp_path: Path
) -> None:
    design, out = tmp_path / "d.json", tmp_path / "r.csv"
    done(
        "graph",
        "design",
        "lpp_club",
        "--items",
        "tea,coffee,milk",
        "-e",
        "1",
        "-o",
        design,
    )
    edges.write_text("person,item,weight\nann,tea,1\nzebra,zebra,7731\n")
    result = run("graph", "respond", design, "--edges", edges, "--out", out)
    assert result.exit_code == 2
    assert "row 2" in result.stderr
    assert "zebra" not in result.output
    assert "7731" not in result.output
    assert not out.exists()


def test_files_that_do_not_belong_are_refused(edges: Path, tmp_path: Path) -> None:
    one, two, out = tmp_path / "one.json", tmp_path / "two.json", tmp_path / "r.csv"
    for path, epsilon in ((one, "1"), (two, "2")):
        done(
            "graph",
            "design",
            "lpp_club",
            "--items",
            "tea,coffee,milk",
            "-e",
            epsilon,
            "-o",
            path,
        )
    done("graph", "respond", one, "--edges", edges, "--out", out)
    assert run("graph", "tally", two, out).exit_code == 3
    # exists
    assert (
        run("graph", "respond", one, "--edges", edges, "--out", out).exit_code == 2
    )
    assert (
        run(
            "graph", "respond", one, "--edges", edges, "--out", edges, "--force"
        ).exit_code
        == 2
    )
    assert run("graph", "show", edges).exit_code == 4
    assert run("graph", "tally", one, tmp_path / "nothing.csv").exit_code == 4


def test_responses_are_counted_from_stdin_too(edges: Path, tmp_path: Path) -> None:
    design, out = tmp_path / "d.json", tmp_path / "r.csv"
    done(
        "graph",
        "design",
        "lpp_club",
        "--items",
        "tea,coffee,milk",
        "-e",
        "1",
        "-o",
        design,
    )
    done("graph", "respond", design, "--edges", edges, "--out", out)
    told = json.loads(
        done("graph", "tally", design, "-", "--json", stdin=out.read_bytes()).stdout
    )
    assert told["respondents"] == 3


def test_a_synthetic_graph_is_written_and_described(tmp_path: Path) -> None:
    people = [{}, {"tea": 1}, {"tea": 1, "milk": -1}] * 100
    items = dn.lpp_club(["tea", "coffee", "milk"], 8)
    sizes = dn.k_ary(["0", "1", "2"], 8)
    paths = []
    for name, design, answers in (
        ("items", items, people),
        ("sizes", sizes, [str(len(row)) for row in people]),
    ):
        tally = dn.tally(dn.respond_all(design, answers))
        for kind, document in (("design", design), ("tally", tally)):
            paths.append(tmp_path / f"{name}-{kind}.json")
            paths[-1].write_text(document.to_json(), encoding="utf-8")
    out = tmp_path / "synthetic.csv"
    shown = done(
        "graph", "synthesize", *paths, "--people", "200", "--out", out
    ).stdout
    assert "It preserves" in shown
    assert "ε = 16" in shown.replace("\n", " ")
    with out.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert f"200 people and 3 items: {len(rows)} edges" in shown
    assert len({(row["person"], row["item"]) for row in rows}) == len(rows) > 100
    body = json.loads(done("graph", "synthesize", *paths, "--json").stdout)
    assert body["epsilon"] == pytest.approx(16, abs=1e-6)
    assert len(body["person"]) == len(body["weight"])

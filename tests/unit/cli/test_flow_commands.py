from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.designs import Design, k_ary, matrix, unary
from deniable.estimates import Estimate, estimate, stages
from deniable.estimates.intervals import METHODS as INTERVALS
from deniable.estimates.shares import METHODS
from deniable.tallies import Tally, tally
from tests.support import answers
from tests.support.commands import done, run
from tests.support.sets import with_sums

SECRET = "zq☠secretanswer"
LABELS = ["never", "once", "often", None] * 25
DESIGN = k_ary(["never", "once", "often"], epsilon=1)
OPEN = matrix(
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    categories=["never", "once", "often"],
    symbols=["N", "O", "F"],
)
COUNTED = Tally(DESIGN, np.array([400, 330, 270]), missing=3)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "design.json").write_text(DESIGN.to_json())
    (tmp_path / "open.json").write_text(OPEN.to_json())
    (tmp_path / "other.json").write_text(
        k_ary(["never", "once", "often"], epsilon=2).to_json()
    )
    (tmp_path / "tally.json").write_text(COUNTED.to_json())
    answers.write(tmp_path / "answers.csv", {"x": LABELS, "region": ["N", "S"] * 50})
    return tmp_path


@pytest.mark.parametrize("format", answers.FORMATS)
def test_a_file_of_answers_becomes_a_tally(folder: Path, format: str) -> None:
    out, counted = folder / f"responses.{format}", folder / "counted.json"
    words = (
        "respond",
        folder / "open.json",
        "--answers",
        folder / "answers.csv",
        "--column",
        "x",
        "--out",
        out,
    )
    result = done(*words, "--keep", "region", "--keep-order", "--json")
    assert json.loads(result.stdout) == {
        "path": str(out),
        "design": OPEN.hash,
        "rows": 100,
        "missing": 25,
    }
    assert [row["region"] for row in answers.read(out)] == ["N", "S"] * 50
    shown = done("tally", folder / "open.json", out, out, "--out", counted)
    assert "150 responses" in shown.stdout
    assert Tally.from_json(counted.read_bytes(), OPEN) == Tally(
        OPEN, np.array([50, 50, 50]), missing=50
    )


def test_lines_from_stdin_become_lines_that_tally_reads(folder: Path) -> None:
    said = done("respond", folder / "open.json", stdin="never\nonce\r\n\noften")
    assert [json.loads(line)["response"] for line in said.stdout.splitlines()] == [
        "N",
        "O",
        None,
        "F",
    ]
    counted = done("tally", folder / "open.json", "-", "--json", stdin=said.stdout)
    assert Tally.from_json(counted.stdout, OPEN) == tally(
        OPEN, ["N", "O", None, "F"]
    )
    assert (
        done(
            "respond", folder / "open.json", "--labels", stdin="never\n\noften\n"
        ).stdout
        == "N\n\nF\n"
    )


def test_stdin_is_drawn_with_the_channel(folder: Path) -> None:
    sent = done(
        "respond", folder / "design.json", "--labels", stdin="never\n" * 2000
    ).stdout.split()
    # P(never | never) = 0.576 and n = 2000: fifteen standard errors to either side.
    assert 0.41 < sent.count("never") / 2000 < 0.74


def test_tallies_and_responses_add_up(folder: Path) -> None:
    sent = answers.write(
        folder / "r.ndjson",
        {"response": ["once", None], "design": [DESIGN.hash] * 2},
    )
    result = done(
        "tally",
        folder / "design.json",
        folder / "tally.json",
        sent,
        folder / "tally.json",
        "--json",
    )
    assert Tally.from_json(result.stdout, DESIGN) == COUNTED + COUNTED + tally(
        DESIGN, ["once", None]
    )


@pytest.mark.parametrize(
    ("options", "method", "kind", "simultaneous"),
    [
        ((), "inversion", "score", False),
        (("--interval", "exact"), "inversion", "exact", False),
        (
            ("--interval", "chebyshev", "--simultaneous"),
            "inversion",
            "chebyshev",
            True,
        ),
        (("--method", "likelihood"), "likelihood", "profile", False),
        (
            (
                "--method",
                "likelihood",
                "--interval",
                "normal",
                "--population",
                "5000",
            ),
            "likelihood",
            "normal",
            False,
        ),
    ],
)
def test_estimates_are_those_of_python(
    folder: Path,
    options: tuple[str, ...],
    method: str,
    kind: str,
    simultaneous: bool,
) -> None:
    words = (
        "estimate",
        folder / "design.json",
        folder / "tally.json",
        "--level",
        "0.9",
        *options,
    )
    told: dict[str, Any] = json.loads(done(*words, "--json").stdout)
    population = 5000 if "--population" in options else None
    made = estimate(COUNTED, method=method, population=population)
    expected = made.conf_int(level=0.9, method=kind, simultaneous=simultaneous)
    assert [(row["low"], row["high"]) for row in told["rows"]] == [
        tuple(each) for each in expected.values()
    ]
    assert [row["estimate"] for row in told["rows"]] == made.value.tolist()
    assert (told["method"], told["interval"], told["simultaneous"]) == (
        method,
        kind,
        simultaneous,
    )
    assert (told["level"], told["respondents"], told["missing"]) == (0.9, 1000, 3)
    shown = done(*words).stdout
    assert "90% interval" in shown
    assert "cost of privacy" in shown
    assert f"{made.value[0]:.1%}" in shown


def test_an_estimate_is_written_and_drawn(folder: Path) -> None:
    words = (
        "estimate",
        folder / "design.json",
        folder / "tally.json",
        "--out",
        folder / "e.json",
    )
    for name in ("chart.png", "chart.svg"):
        done(*words, "--chart", folder / name, "--force")
    assert (folder / "chart.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (folder / "chart.svg").read_bytes()
    again = Estimate.from_json((folder / "e.json").read_bytes(), DESIGN)
    assert again.value.tolist() == estimate(COUNTED).value.tolist()
    assert not list(folder.glob(".*"))


def test_json_is_the_same_printed_and_written(folder: Path) -> None:
    words = (
        "estimate",
        folder / "design.json",
        folder / "tally.json",
        "--level",
        "0.9",
    )
    printed = done(*words, "--json", "--out", folder / "e.json").stdout
    assert printed == (folder / "e.json").read_text()
    assert printed == estimate(COUNTED).to_json(level=0.9, indent=2) + "\n"
    assert (
        done(*words[:2], "-", *words[3:], "--json", stdin=COUNTED.to_json()).stdout
        == printed
    )


@pytest.mark.parametrize(
    ("ending", "holds"),
    [
        ("csv", "name,estimate,"),
        ("md", "| never |"),
        ("tex", "toprule"),
        ("html", "<svg"),
    ],
)
def test_the_ending_decides_what_is_written(
    folder: Path, ending: str, holds: str
) -> None:
    done(
        "estimate",
        folder / "design.json",
        folder / "tally.json",
        "--out",
        folder / f"e.{ending}",
    )
    assert holds in (folder / f"e.{ending}").read_text()


def test_an_unknown_ending_is_refused_before_any_work(folder: Path) -> None:
    result = run(
        "estimate",
        folder / "none.json",
        folder / "none.json",
        "--out",
        folder / "e.xls",
    )
    assert result.exit_code == 2
    assert "expected a name that ends in .json, .csv" in result.stderr


def test_methods_are_those_of_the_library(folder: Path) -> None:
    shown = " ".join(done("estimate", "--help").stdout.split())
    for name in (*METHODS, *INTERVALS, *stages.METHODS):
        assert name in shown
    sets = unary(3, 2)
    (folder / "unary.json").write_text(sets.to_json())
    (folder / "sets.json").write_text(with_sums(sets, [50, 60, 70], 100).to_json())
    words = (
        "estimate",
        folder / "unary.json",
        folder / "sets.json",
        "--method",
        "customary",
        "--json",
    )
    assert json.loads(done(*words).stdout)["method"] == "customary"


def test_responses_are_not_taken_for_counts(folder: Path) -> None:
    sent = answers.write(
        folder / "r.csv", {"response": ["once"], "design": [DESIGN.hash]}
    )
    named = folder / "responses"
    named.write_bytes(sent.read_bytes())
    packed = folder / "r.csv.gz"
    packed.write_bytes(gzip.compress(sent.read_bytes()))
    typed = [
        answers.write(folder / f"r.{format}", {"response": [1]}).rename(
            folder / format
        )
        for format in answers.TYPED
    ]
    line = json.dumps({"response": "once", "design": DESIGN.hash})
    for words, given in (
        *((each, None) for each in (sent, named, packed, folder, *typed)),
        ("-", line),
    ):
        result = run("estimate", folder / "design.json", words, stdin=given)
        assert result.exit_code == 2
        assert "these are responses" in result.stderr
        assert "Tally them first" in result.stderr


def test_a_picture_of_very_many_categories_shows_the_largest(folder: Path) -> None:
    design = k_ary(1000, epsilon=5)
    (folder / "many.json").write_text(design.to_json())
    (folder / "counts.json").write_text(Tally(design, np.full(1000, 50)).to_json())
    done(
        "estimate",
        folder / "many.json",
        folder / "counts.json",
        "--chart",
        folder / "many.png",
    )
    assert (folder / "many.png").read_bytes().startswith(b"\x89PNG")


def test_what_belongs_to_another_design_exits_with_3(folder: Path) -> None:
    sent = answers.write(
        folder / "r.csv", {"response": ["once"], "design": [DESIGN.hash]}
    )
    out = folder / "new.json"
    for words in (
        ("tally", folder / "other.json", sent, "--out", out),
        ("tally", folder / "other.json", folder / "tally.json", "--out", out),
        ("estimate", folder / "other.json", folder / "tally.json", "--out", out),
    ):
        result = run(*words)
        assert result.exit_code == 3
        assert DESIGN.hash[:19] in result.stderr
        assert result.stdout == ""
    assert not out.exists()


def test_what_cannot_be_read_exits_with_4(folder: Path) -> None:
    (folder / "cut.json").write_text(COUNTED.to_json()[:-9])
    (folder / "cut.parquet").write_bytes(b"PAR1")
    none, design = folder / "none", folder / "design.json"
    respond = (
        "respond",
        design,
        "--column",
        "x",
        "--out",
        folder / "out.csv",
        "--answers",
    )
    for words in (
        ("respond", none),
        (*respond, none),
        (*respond, folder / "cut.parquet"),
        ("tally", none, none),
        ("tally", design, none),
        ("tally", design, folder / "cut.parquet"),
        ("tally", design, folder / "cut.json"),
        ("tally", folder / "tally.json", none),
        ("estimate", design, none),
        ("estimate", design, folder / "cut.json"),
        ("estimate", design, design),
        ("estimate", design, folder / "tally.json", "--out", none / "e.json"),
    ):
        result = run(*words)
        assert (words, result.exit_code) == (words, 4)
        assert result.stderr.startswith("error: ")
        assert "Traceback" not in result.stderr
    assert not (folder / "out.csv").exists()


def test_bad_input_exits_with_2(folder: Path) -> None:
    design, counted, held = (
        folder / "design.json",
        folder / "tally.json",
        folder / "answers.csv",
    )
    (folder / "empty.json").write_text(Tally.empty(DESIGN).to_json())
    unknown = answers.write(
        folder / "unknown.csv", {"response": ["maybe"], "design": [DESIGN.hash]}
    )
    out = folder / "out.csv"
    for words in (
        (),
        ("unheard-of",),
        ("respond",),
        ("respond", design, "--answers", held),
        ("respond", design, "--answers", folder, "--column", "x", "--out", out),
        (
            "respond",
            design,
            "--answers",
            folder / "none-*.csv",
            "--column",
            "x",
            "--out",
            out,
        ),
        ("respond", "--column", "x", "--answers", held, "--out", out),
        (
            "respond",
            "--column",
            f"x={design}",
            "--column",
            f"x={design}",
            "--answers",
            held,
            "--out",
            out,
        ),
        ("tally", design, folder),
        ("tally", design, unknown, "--column", "x", "--column", "y"),
        ("respond", design, "--answers", held, "--column", "y", "--out", out),
        (
            "respond",
            design,
            "--answers",
            held,
            "--column",
            "x",
            "--column",
            "x",
            "--out",
            out,
        ),
        (
            "respond",
            design,
            "--answers",
            held,
            "--column",
            "x",
            "--out",
            folder / "out.xlsx",
        ),
        (
            "respond",
            design,
            "--answers",
            held,
            "--column",
            "x",
            "--out",
            out,
            "--keep",
            "x",
        ),
        (
            "respond",
            design,
            "--answers",
            held,
            "--column",
            "x",
            "--out",
            held,
            "--force",
        ),
        (
            "respond",
            design,
            "--answers",
            held,
            "--column",
            "x",
            "--out",
            out,
            "--threads",
            "0",
        ),
        (
            "respond",
            design,
            "--answers",
            held,
            "--column",
            "x",
            "--out",
            out,
            "--labels",
        ),
        ("respond", design, "--threads", "2"),
        ("respond", design, "--force"),
        ("respond", design, "--labels", "--json"),
        ("tally", design),
        ("tally", design, unknown),
        ("tally", design, unknown, "--out", folder),
        ("estimate", design, counted, "--level", "2"),
        (
            "estimate",
            design,
            counted,
            "--level",
            "0.9999999999999999",
            "--simultaneous",
        ),
        ("estimate", design, counted, "--level", "high"),
        ("estimate", design, counted, "--method", "magic"),
        ("estimate", design, counted, "--interval", "magic"),
        ("estimate", design, counted, "--population", "10"),
        ("estimate", design, counted, "--chart", folder / "chart.docx"),
        ("estimate", design, folder / "empty.json"),
    ):
        result = run(*words)
        assert (words, result.exit_code) == (words, 2)
        assert "Traceback" not in result.output
    assert not out.exists()


def test_files_are_overwritten_only_by_force(folder: Path) -> None:
    out = folder / "precious.csv"
    out.write_text("precious")
    picture = folder / "precious.png"
    picture.write_text("precious")
    design, counted = folder / "design.json", folder / "tally.json"
    respond = (
        "respond",
        design,
        "--answers",
        folder / "answers.csv",
        "--column",
        "x",
        "--out",
        out,
    )
    commands: tuple[tuple[Any, ...], ...] = (
        respond,
        ("tally", design, counted, "--out", out),
        ("estimate", design, counted, "--out", out),
        ("estimate", design, counted, "--chart", picture),
    )
    for words in commands:
        result = run(*words)
        assert result.exit_code == 2
        assert "exists already" in result.stderr
        assert (out.read_text(), picture.read_text()) == ("precious", "precious")
    for words in commands:
        done(*words, "--force")
    assert picture.read_bytes() != b"precious"


@pytest.mark.parametrize("format", answers.FORMATS)
def test_no_command_repeats_an_answer(folder: Path, format: str) -> None:
    # whose names are surely names, and are told
    named = "y" if format in answers.TYPED else SECRET
    held = answers.write(
        folder / f"held.{format}", {"x": ["never", SECRET], named: ["a", "b"]}
    )
    design, out = folder / "design.json", folder / "out.parquet"
    results = [
        run("respond", design, "--answers", held, "--column", "x", "--out", out),
        run(
            "respond", design, "--answers", held, "--column", "nothing", "--out", out
        ),
        run(
            "respond",
            design,
            "--answers",
            held,
            "--column",
            "x",
            "--out",
            out,
            "--keep",
            "nothing",
        ),
        run("respond", design, stdin=f"never\n{SECRET}\n"),
        run("respond", design, "--labels", stdin=f"{SECRET}\n"),
    ]
    for result in results:
        assert result.exit_code in (2, 4)
        assert "secretanswer" not in result.output
    assert "row 2 of held" in results[0].stderr
    assert format not in answers.TYPED or "It has x, y." in results[1].stderr
    assert "line 2" in results[3].stderr
    assert not out.exists()


def test_an_unexpected_failure_while_responding_tells_no_values(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Design, answer: str) -> int:
        raise RuntimeError(f"cannot handle {answer}")

    monkeypatch.setattr(Design, "category_number", broken)
    result = run("respond", folder / "design.json", stdin=f"{SECRET}\n")
    assert result.exit_code == 1
    assert "secretanswer" not in result.output
    assert "unexpected RuntimeError at " in result.stderr


def test_an_infinite_epsilon_is_null_for_programs(folder: Path) -> None:
    (folder / "sure.json").write_text(Tally(OPEN, np.array([5, 3, 2])).to_json())
    told = json.loads(
        done("estimate", folder / "open.json", folder / "sure.json", "--json").stdout
    )
    assert told["epsilon"] is None
    assert [row["estimate"] for row in told["rows"]] == pytest.approx(
        [0.5, 0.3, 0.2]
    )


def test_a_level_next_to_1_is_still_a_level(folder: Path) -> None:
    words = (
        "estimate",
        folder / "design.json",
        folder / "tally.json",
        "--level",
        "0.9999999999999999",
        "--json",
    )
    row = json.loads(done(*words).stdout)["rows"][0]
    assert (
        row["low"]
        < row["estimate"] - 5 * row["error"]
        < row["estimate"] + 5 * row["error"]
        < row["high"]
    )


def test_a_file_that_is_named_twice_is_mentioned(folder: Path) -> None:
    counted = folder / "tally.json"
    assert (
        "more than once"
        in done("tally", folder / "design.json", counted, counted).stderr
    )
    assert (
        "more than once" not in done("tally", folder / "design.json", counted).stderr
    )


def test_a_file_of_answers_is_refused_without_a_word_of_it(folder: Path) -> None:
    held = folder / "no-header.csv"
    held.write_text("MARKED,42\nother,43\n")
    result = run("tally", folder / "design.json", held)
    assert result.exit_code == 2
    assert "no columns called 'response'" in result.stderr
    assert "MARKED" not in result.output


def test_several_columns_and_folders_go_all_the_way(folder: Path) -> None:
    number, ladder = (
        dn.number_design(0, 80, 1),
        dn.ladder([DESIGN, k_ary(["never", "once", "often"], epsilon=2)]),
    )
    designs = {"x": DESIGN, "age": number, "again": ladder}
    for name, design in designs.items():
        (folder / f"{name}.json").write_text(design.to_json())
    (folder / "many").mkdir()
    for each in range(3):
        columns = {
            "x": LABELS,
            "age": [30.5, None] * 50,
            "again": LABELS,
            "region": ["N"] * 100,
        }
        answers.write(folder / f"many/{each}.ndjson", columns)
    columns = [
        word
        for name in designs
        for word in ("--column", f"{name}={folder / name}.json")
    ]
    words = (
        "respond",
        *columns,
        "--answers",
        folder / "many",
        "--out",
        folder / "sent",
        "--keep",
        "region",
        "--json",
    )
    told = json.loads(done(*words).stdout)
    assert (told["rows"], told["designs"]["age"]) == (300, number.hash)
    assert json.loads(done(*words).stdout) == told, "the same again draws nothing"
    for name, design in designs.items():
        counted = folder / f"{name} tally.json"
        done(
            "tally",
            folder / f"{name}.json",
            folder / "sent",
            "--column",
            name,
            "--out",
            counted,
        )
        assert (
            "95% interval"
            in done("estimate", folder / f"{name}.json", counted).stdout
            or design is number
        )
        assert json.loads(
            done("estimate", folder / f"{name}.json", counted, "--json").stdout
        )["rows"]
    refused = run("tally", folder / "x.json", folder / "sent")
    assert (refused.exit_code, "--column x" in refused.stderr) == (2, True)
    assert (
        "one design and 2 of --column"
        in run("respond", folder / "x.json", "--column", "a", "--column", "b").stderr
    )


def test_answers_come_from_a_pipe_into_a_file(folder: Path) -> None:
    words = (
        "respond",
        folder / "open.json",
        "--answers",
        "-",
        "--column",
        "x",
        "--keep-order",
    )
    said = done(
        *words, "--out", folder / "piped.csv", stdin="x\nnever\n\noften\n"
    ).stderr
    assert [row["response"] for row in answers.read(folder / "piped.csv")] == [
        "N",
        None,
        "F",
    ]
    assert "whose response is whose" in said
    assert run(*words, "--out", folder / "sent", stdin="x\nnever\n").exit_code == 2

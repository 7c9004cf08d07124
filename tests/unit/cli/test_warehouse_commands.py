"""`deniable tally-query` prints a query that somebody else runs, and `tally-result` reads what came back."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from tests.support.commands import done, run
from tests.support.warehouses import InDuckDB, as_labels, stored

DESIGN = dn.unary(20, 1)
SENT = dn.respond_all(DESIGN, ["3", None, "7", "19"] * 10)
HOSTILE = 'a"; drop table x --'


@pytest.fixture
def warehouse() -> Iterator[InDuckDB]:
    with closing(InDuckDB()) as opened:
        yield opened


@pytest.fixture
def design(tmp_path: Path) -> Path:
    (tmp_path / "design.json").write_text(DESIGN.to_json())
    return tmp_path / "design.json"


def brought(found: tuple[list[str], list[Any]], path: Path) -> Path:
    """Write what a query returned as whoever ran it would."""
    names, rows = found
    if path.suffix == ".csv":
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([names, *rows])
    else:
        objects = [json.dumps(dict(zip(names, row, strict=True))) for row in rows]
        path.write_text(
            "\n".join(objects)
            if path.suffix == ".ndjson"
            else f"[{', '.join(objects)}]"
        )
    return path


@pytest.mark.parametrize("name", ["counts.csv", "counts.json", "counts.ndjson"])
def test_there_and_back(
    warehouse: InDuckDB, design: Path, tmp_path: Path, name: str
) -> None:
    warehouse.load(stored(SENT), HOSTILE)
    query = done("tally-query", design, "--table", HOSTILE).stdout
    path = brought(warehouse.rows(query), tmp_path / name)
    told = done(
        "tally-result", design, path, "--out", tmp_path / "tally.json", "--json"
    )
    assert json.loads(told.stdout) == json.loads(dn.tally(SENT).to_json())
    assert dn.Tally.from_json(
        (tmp_path / "tally.json").read_text(), DESIGN
    ) == dn.tally(SENT)
    assert "40" not in done("tally-result", design, path).stderr
    assert (
        done("tally-result", design, "-", "--json", stdin=path.read_bytes()).stdout
        == told.stdout
    )


def test_groups_labels_and_a_schema(
    warehouse: InDuckDB, design: Path, tmp_path: Path
) -> None:
    table = (
        as_labels(SENT).drop_columns("design").append_column("g", [["x", None] * 20])
    )
    warehouse.load(table.rename_columns(["r", "g"]))
    words = (
        "--schema",
        "main",
        "--table",
        "sent",
        "--column",
        "r",
        "--by",
        "g",
        "--labels",
        "--no-design",
    )
    query = done("tally-query", design, *words).stdout
    path = brought(warehouse.rows(query), tmp_path / "counts.csv")
    told = done(
        "tally-result",
        design,
        path,
        "--by",
        "g",
        "--out",
        tmp_path / "t.json",
        "--json",
    ).stdout
    found = dn.GroupedTally.from_json(told, DESIGN)
    assert (found.by, set(found)) == (("g",), {"x", None})
    assert found.overall == dn.tally(SENT)
    assert (
        dn.GroupedTally.from_json((tmp_path / "t.json").read_bytes(), DESIGN)
        == found
    )
    assert "g = x" in done("tally-result", design, path, "--by", "g").stdout
    assert "\nx\n" in "\n" + done("tally-result", design, path).stdout
    assert "x · 16" in done("estimate", design, tmp_path / "t.json").stdout
    refused = run("tally-result", design, path, "--by", "g", "--by", "h")
    assert refused.exit_code == 2
    assert "expected one for each of 'g', 'h'" in refused.stderr


def test_a_ladder_in_the_words_of_every_database(tmp_path: Path) -> None:
    path, ladder = tmp_path / "ladder.json", dn.ladder([dn.warner(1), dn.warner(2)])
    path.write_text(ladder.to_json())
    for dialect in ("duckdb", "postgres", "spark"):
        text = done(
            "tally-query",
            path,
            "--table",
            "t",
            "--dialect",
            dialect,
            "--reached",
            "until",
        ).stdout
        assert (
            text
            == f"{dn.engines.sql.query(ladder, 't', dialect=dialect, reached='until')};\n"
        )


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("tally",), 2, "missing argument 'FILE…'"),
        (("tally-query",), 2, "missing option '--table'"),
        (
            ("tally-query", "--table", "t", "--dialect", "oracle"),
            2,
            "the dialect is 'oracle'",
        ),
        (
            ("tally-query", "--table", "t", "--column", "a", "--column", "b"),
            2,
            "2 columns are named",
        ),
        (("tally-result", "counts.csv"), 4, "cannot read"),
    ],
)
def test_what_cannot_be_asked(
    design: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    command, *options = words
    result = run(command, design, *options)
    assert (result.exit_code, message in result.stderr) == (code, True)


@pytest.mark.parametrize(
    "text", ["", "{", "[1]", '[{"a": []}]', "a,b\n1", '"a', "\xff", "a,b\n1,2"]
)
def test_files_that_hold_no_counts(design: Path, tmp_path: Path, text: str) -> None:
    path = tmp_path / "counts"
    path.write_bytes(text.encode("latin-1"))
    result = run("tally-result", design, path)
    assert result.exit_code == 4, result.output


def test_counts_of_another_design(
    warehouse: InDuckDB, design: Path, tmp_path: Path
) -> None:
    warehouse.load(stored(SENT))
    path = brought(
        warehouse.rows(done("tally-query", design, "--table", "sent").stdout),
        tmp_path / "counts.csv",
    )
    design.write_text(dn.unary(20, 2).to_json())
    result = run("tally-result", design, path)
    assert (result.exit_code, "these are counts of the design" in result.stderr) == (
        3,
        True,
    )

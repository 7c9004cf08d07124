"""No text of an export is a formula to a spreadsheet, numbers stay, and our own files read back as they were."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import deniable
from deniable.collector import exports
from deniable.collector.store import open_store
from deniable.designs import k_ary
from deniable.engines.files import respond_file, tally_file
from deniable.files.cells import safe_cell
from deniable.files.spreadsheets import plain_batch, safe_batch
from tests.support.filled import fill, opened
from tests.support.surveys import question, small

FORMULAS = [
    "=HYPERLINK(1)",
    "+cmd|x",
    "-1+1",
    "@SUM(A1)",
    "\tx",
    "\rx",
    "'=x",
    "''@x",
]
PLAIN = ["yes", "", "'", "'yes", "a=b", "-1", "+2.5e-3", ".5", "−1"]
SOURCE = Path(deniable.__file__).parent


def is_formula(cell: str) -> bool:
    return cell.startswith(("=", "+", "-", "@", "\t", "\r")) and not re.fullmatch(
        r"[+-]?[0-9.]+(e-?[0-9]+)?", cell
    )


def test_a_formula_is_text_and_what_is_none_stays_as_it_is() -> None:
    assert [safe_cell(cell) for cell in FORMULAS] == [
        f"'{cell}" for cell in FORMULAS
    ]
    assert [safe_cell(cell) for cell in [*PLAIN, -1, -0.5, None]] == [
        *PLAIN,
        -1,
        -0.5,
        None,
    ]


@given(st.lists(st.one_of(st.none(), st.text("'=+-@\t\r1.ea"))))
def test_columns_are_made_safe_as_cells_are_and_read_back(
    cells: list[str | None],
) -> None:
    text = pa.array(cells, pa.string())
    batch = pa.record_batch(
        {
            "text": text,
            "coded": text.dictionary_encode(),
            "number": [-1] * len(cells),
        }
    )
    safe = safe_batch(batch)
    assert (
        safe.column(0).to_pylist()
        == safe.column(1).to_pylist()
        == [safe_cell(cell) for cell in cells]
    )
    assert safe.column(2).to_pylist() == [-1] * len(cells)
    assert plain_batch(safe).to_pydict() == batch.to_pydict()


def test_responses_in_csv_are_no_formulas_and_are_counted_as_what_they_are(
    tmp_path: Path,
) -> None:
    design = k_ary([*FORMULAS[:4], "-1"], epsilon=3)
    with (tmp_path / "answers.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [["x", "=kept"], *([each, "=1+1"] for each in design.categories * 40)]
        )
    respond_file(
        design,
        tmp_path / "answers.csv",
        tmp_path / "out.csv",
        column="x",
        keep=["=kept"],
    )
    rows = list(
        csv.reader(io.StringIO((tmp_path / "out.csv").read_text(), newline=""))
    )
    assert not any(is_formula(cell) for row in rows for cell in row)
    assert tally_file(design, tmp_path / "out.csv").respondents == 200
    assert {row[0] for row in rows[1:]} == {f"'{each}" for each in FORMULAS[:4]} | {
        "-1"
    }


def test_what_a_collector_exports_is_no_formula(tmp_path: Path) -> None:
    survey = small(
        questions=(question("asked", k_ary(["=1+1", "@x"], epsilon=1)),),
        groups=("-north", "+south"),
    )
    store = open_store(tmp_path / "deniable.db")
    fill(store, opened(store, survey), {0: 40, 1: 40})
    with (tmp_path / "out.csv").open("wb") as file:
        exports.write(store, store.survey(survey.name), 0, "csv", file)
    store.shut()
    rows = list(
        csv.reader(io.StringIO((tmp_path / "out.csv").read_text(), newline=""))
    )
    assert len(rows) == 81
    assert {row[1] for row in rows[1:]} == {"'-north", "'+south"}
    assert not any(is_formula(cell) for row in rows for cell in row)
    assert (
        tally_file(survey.questions[0].design, tmp_path / "out.csv").respondents
        == 80
    )


def test_whoever_writes_csv_makes_it_safe() -> None:
    texts = {
        file.relative_to(SOURCE).as_posix(): file.read_text(encoding="utf-8")
        for file in SOURCE.rglob("*.py")
    }
    writers = {
        name
        for name, text in texts.items()
        if re.search(r"csv\.writer\(|DictWriter\(|CSVWriter|write_csv\(", text)
    }
    assert len(writers) >= 4
    assert {
        name
        for name in writers
        if not re.search("safe_(cell|batch)\\(|safe_batch,", texts[name])
    } == set()

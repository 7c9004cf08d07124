"""Results as files: the ending decides, names cannot do harm, numbers keep their digits."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from docx import Document
from openpyxl import load_workbook

import deniable as dn
from deniable.cli.estimates import ENDINGS, format_result
from deniable.errors import InvalidRequest
from deniable.estimates import Row
from deniable.estimates.formats import sheet
from deniable.files.cells import safe_cell
from deniable.rendering import Sheet
from deniable.rendering.office import to_docx, to_xlsx

RISKY = ["=HYPERLINK(1)", "a|b*c_d", "50% & more {x}", "<script>alert(1)</script>"]
FOUND = dn.estimate(
    dn.Tally(dn.k_ary(RISKY, epsilon=2), [400, 300, 200, 100], missing=3)
)


def content(ending: str) -> str | bytes:
    return format_result(FOUND, Path(f"result{ending}"), level=0.9)


def text(ending: str) -> str:
    return str(content(ending))


def stream(ending: str) -> io.BytesIO:
    return io.BytesIO(bytes(content(ending)))  # type: ignore[arg-type]


def test_json_is_the_result_itself() -> None:
    assert text(".json") == FOUND.to_json(level=0.9, indent=2)
    assert dn.Estimate.from_json(text(".json"), FOUND.design) == FOUND


def test_csv_keeps_every_digit_and_starts_no_formula() -> None:
    rows = list(csv.DictReader(io.StringIO(text(".csv"))))
    assert [row["name"] for row in rows] == ["'=HYPERLINK(1)", *RISKY[1:]]
    assert [float(row["estimate"]) for row in rows] == list(FOUND.params.values())
    assert [float(row["high"]) for row in rows] == [
        high for _, high in FOUND.conf_int(level=0.9).values()
    ]
    for risky in ("+a", "-a", "@x", "\tx", "\rx"):
        assert safe_cell(risky) == f"'{risky}"
    assert safe_cell(-0.5) == -0.5


def test_excel_keeps_its_sixteen_digits_and_starts_no_formula() -> None:
    book = load_workbook(stream(".xlsx"))
    head, *rows = book["table"].iter_rows()
    cells = [
        dict(zip([cell.value for cell in head], row, strict=True)) for row in rows
    ]
    assert [row["name"].value for row in cells] == RISKY
    assert {row["name"].data_type for row in cells} == {"s"}
    shares = [row["estimate"].value for row in cells]
    assert shares == pytest.approx([*FOUND.params.values()], rel=1e-15)
    notes = [cell.value for (cell,) in book["notes"].iter_rows()]
    summary = FOUND.summary(level=0.9)
    assert notes[1:] == [*summary.notes, *summary.warnings]


def test_word_has_the_table_that_people_read() -> None:
    document = Document(stream(".docx"))
    (table,) = document.tables
    cells = [tuple(cell.text for cell in row.cells) for row in table.rows]
    expected = sheet(FOUND.summary(level=0.9), percent=False)
    assert cells == [expected.heads, *expected.cells]
    assert [note.text for note in document.paragraphs] == [
        expected.caption,
        *expected.notes,
    ]


def test_control_characters_are_spelled_out_in_office_files() -> None:
    table = Sheet("", ("", "share"), (("yes\x1b[2J", "12%"),))
    name = load_workbook(io.BytesIO(to_xlsx(table)))["table"]["A2"].value
    (row,) = Document(io.BytesIO(to_docx(table))).tables[0].rows[1:]
    assert name == row.cells[0].text == r"yes\x1b[2J"


def test_markdown_and_latex_escape_names() -> None:
    assert r"| a\|b\*c\_d |" in text(".md")
    assert r"\<script\>" in text(".md")
    latex = text(".tex")
    assert r"50\% \& more \{x\} & " in latex
    assert latex.count(r"\\") == 1 + len(RISKY)
    assert "3 sent no response" in text(".md")
    below = dn.estimate(dn.Tally(dn.warner(2), [200, 30])).to_latex()
    assert "no & " in below
    assert re.search(r"yes & (\$-\$)?\d", below)
    assert re.search(r"\$-\$0\.\d+ \\dots", below)  # a minus sign, no hyphen
    assert not re.search(r"[ &]-\d", below)


def test_html_stands_alone_and_runs_nothing() -> None:
    page = text(".html")
    assert page.startswith("<!doctype html>")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert page.count("<svg ") == len(RISKY)
    for outside in ("http://", "https://", "src=", "url("):
        assert outside not in page


def test_of_very_many_numbers_a_page_shows_the_largest_and_a_table_all() -> None:
    many = dn.estimate(dn.Tally(dn.k_ary(100, epsilon=5), np.arange(50, 150)))
    page = many._repr_html_()
    assert page.count("<svg ") == 40
    assert "The largest 40 of 100." in page
    assert format_result(many, Path("a.csv"), level=0.95).count("\n") == 100
    assert len(json.loads(many.to_json())["rows"]) == 100


@pytest.mark.parametrize("name", ["result.xls", "result", "result.json.gz", ".json"])
def test_an_ending_that_says_nothing_is_refused(name: str) -> None:
    with pytest.raises(
        InvalidRequest,
        match=r"expected a name that ends in \.json, \.csv, \.md, \.tex, \.html, \.docx, \.xlsx",
    ):
        format_result(FOUND, Path(name), level=0.95)
    assert ENDINGS == (".json", ".csv", ".md", ".tex", ".html", ".docx", ".xlsx")


def test_a_table_has_a_head_for_each_column_and_tiny_numbers_are_not_shown_as_nothing() -> (
    None
):
    summary = FOUND.summary()
    heads, cells = summary.table()
    assert heads == ["", "share", "error", "95% interval", "asked directly", "worth"]
    assert cells[0][0] == RISKY[0]
    assert str(summary).splitlines()[0] == summary.title
    rows = (
        Row("tiny", 1.2e-7, 0.0, -0.25, 0.25),
        Row("unknown", math.nan, math.nan, math.nan, math.nan),
    )
    _, (tiny, unknown) = replace(summary, rows=rows).table()
    assert tiny == ["tiny", "1.2e-07", "0.0000", "-0.2500 … 0.2500"]
    assert unknown == ["unknown", "—", "—", "—"]

"""Tables as documents of Word (.docx) and workbooks of Excel (.xlsx)."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any

from deniable.rendering.formats import printable

if TYPE_CHECKING:
    from deniable.rendering import Sheet

_WIDEST = 60  # characters of a column of a workbook


def to_docx(sheet: Sheet) -> bytes:
    """Return a document with the table, its title above and its notes below it.

    Raises:
        MissingExtra: python-docx is not installed.
    """
    from docx import Document
    from docx.enum.text import WD_ALIGN_PARAGRAPH

    document = Document()
    document.add_paragraph(printable(sheet.caption or sheet.title), style="Caption")
    table = document.add_table(rows=0, cols=len(sheet.heads), style="Table Grid")
    for number, row in enumerate((sheet.heads, *sheet.cells)):
        cells = table.add_row().cells
        for cell, text, is_text in zip(cells, row, sheet.is_text, strict=True):
            paragraph = cell.paragraphs[0]
            paragraph.add_run(printable(text)).bold = number == 0
            if not is_text:
                paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
    for note in (*sheet.rest, *sheet.notes):
        document.add_paragraph(printable(note))
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def to_xlsx(sheet: Sheet) -> bytes:
    """Return a workbook of one sheet: a line of names and all rows, and a second sheet of notes.

    Raises:
        MissingExtra: openpyxl is not installed.
    """
    from openpyxl import Workbook
    from openpyxl.styles import Font

    book = Workbook()
    table, notes = book.active, book.create_sheet("notes")
    table.title = "table"
    rows = (sheet.names or sheet.heads, *(sheet.values or sheet.cells))
    for row, values in enumerate(rows, start=1):
        for column, value in enumerate(values, start=1):
            _write_cell(table.cell(row, column), value)
    for cell in table[1]:
        cell.font = Font(bold=True)
    for column in table.columns:
        widths = [len(str(cell.value or "")) for cell in column]
        letter = column[0].column_letter
        table.column_dimensions[letter].width = min(_WIDEST, max(widths) + 2)
    table.freeze_panes = "B2"
    for row, text in enumerate(
        (sheet.caption or sheet.title, *sheet.notes), start=1
    ):
        _write_cell(notes.cell(row, 1), text)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def _write_cell(cell: Any, value: object) -> None:
    """Write a number as a number, and a text as a text, also where a program would take it for a formula."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is None or (is_number and not math.isfinite(value)):  # type: ignore[arg-type]
        return
    cell.value = value if is_number else printable(str(value))
    if not is_number:
        cell.data_type = "s"

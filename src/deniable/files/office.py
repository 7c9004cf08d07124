"""Files of survey tools, spreadsheets and statistics programs: Excel (.xlsx), SPSS (.sav, .zsav) and Stata (.dta).

Cells come as text: 1.0 as "1", a date in ISO form. SPSS and Stata keep numbers, what each is called, and which of them
say why somebody did not answer. Whoever reads labels gets what each number is called, and nothing where it is such a
reason; whoever reads codes gets the numbers, and `meanings` tells the rest.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from string import ascii_lowercase
from typing import IO, TYPE_CHECKING, Any

from deniable.errors import InvalidRequest, MissingExtra, quoted
from deniable.files.columns import BATCH, ColumnFile, Meanings

if TYPE_CHECKING:
    import pyarrow as pa

_PROGRAMS = {"spss": "SPSS", "stata": "Stata"}


def cell_text(cell: object) -> str | None:
    """Return a cell as text; None where it holds nothing.

    Example:
        >>> cell_text(1.0), cell_text(0.5), cell_text("01"), cell_text(float("nan")), cell_text(" "), cell_text(True)
        ('1', '0.5', '01', None, None, 'True')
    """
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return None
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell) if str(cell).strip() else None


class ExcelFile(ColumnFile):
    """A sheet of a workbook, whose first row names the columns."""

    def __init__(self, stream: IO[bytes], name: str, sheet: str | None) -> None:
        super().__init__(stream, name)
        self._sheet = self._choose_sheet(sheet)
        header = [cell_text(cell) or "" for cell in _first_row(self._sheet)]
        while header and not header[-1]:
            header.pop()
        if not header:
            raise self.damaged("its first row names no columns")
        self._header = header
        self.names = tuple(header)

    def _choose_sheet(self, sheet: str | None) -> Any:
        try:
            from openpyxl import load_workbook
        except ImportError:
            raise _missing_package_error("openpyxl", "a workbook") from None
        try:
            # about styles, which are not read
            with warnings.catch_warnings(action="ignore"):
                book: Any = load_workbook(
                    self._stream, read_only=True, data_only=True
                )
        except Exception:  # whatever it meets in a file that is no workbook
            raise self.damaged("it is not a complete workbook of Excel") from None
        titles = []
        for worksheet in book.worksheets:
            # Some programs write that a sheet has one cell, and fill many.
            worksheet.reset_dimensions()
            if any(map(cell_text, _first_row(worksheet))):
                titles.append(worksheet.title)
        if sheet is None and len(titles) != 1:
            listed = ", ".join(map(repr, titles)) or "none"
            raise InvalidRequest(
                f"{self.name} has {len(titles)} sheets that hold something ({listed:.400}); expected one, or the name "
                "of the one that is meant.",
                "Name it: --sheet NAME, or sheet=….",
            )
        if sheet is not None and sheet not in book.sheetnames:
            listed = ", ".join(map(repr, book.sheetnames))
            raise InvalidRequest(
                f"{self.name} has no sheet {quoted(sheet)}; expected one of {listed:.400}."
            )
        return book[sheet or titles[0]]

    def _read(
        self, labels: list[str], keep: list[str], size: int
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        names, width = labels + keep, len(self._header)
        indexes = [self._header.index(name) for name in names]
        rows = self._sheet.iter_rows(min_row=2, max_col=width, values_only=True)
        while block := list(islice(rows, size)):
            columns = [
                pa.array([_cell_at(row, index) for row in block], pa.string())
                for index in indexes
            ]
            yield pa.record_batch(columns, names=names)


def _first_row(sheet: Any) -> Sequence[Any]:
    return next(sheet.iter_rows(max_row=1, values_only=True), ())


def _cell_at(row: Sequence[object], index: int) -> str | None:
    return cell_text(row[index]) if index < len(row) else None


class StatisticsFile(ColumnFile):
    """A file of SPSS or of Stata."""

    named = True

    def __init__(self, file: IO[bytes] | Path, name: str, program: str) -> None:
        super().__init__(file, name)
        try:
            import pyreadstat
        except ImportError:
            raise _missing_package_error(
                "pyreadstat", f"a file of {_PROGRAMS[program]}"
            ) from None
        self._program = program
        self._reader: Any = (
            pyreadstat.read_sav if program == "spss" else pyreadstat.read_dta
        )
        self._rows = 0
        _, self._about = self._read_file(metadataonly=True)
        self.names = tuple(self._about.column_names)

    def _read_file(self, **options: Any) -> tuple[dict[str, list[Any]], Any]:
        if not isinstance(self._stream, Path):
            self._stream.seek(0)
        try:
            rows, about = self._reader(
                self._stream, user_missing=True, output_format="dict", **options
            )
        except Exception:  # pyreadstat has a class of its own for each thing that may be wrong with a file
            raise self.damaged(
                f"it is not a complete file of {_PROGRAMS[self._program]}"
            ) from None
        return rows, about

    @property
    def share(self) -> float | None:
        rows = self._about.number_rows
        return self._rows / rows if rows and rows > 0 else None

    def meanings(self, column: str) -> Meanings:
        about = self._about
        texts = {
            cell_text(code): str(label)
            for code, label in about.variable_value_labels.get(column, {}).items()
        }
        missing, ranges = set(), []
        for bounds in about.missing_ranges.get(column, []):
            if isinstance(bounds["lo"], str):
                missing.add(bounds["lo"])
            else:
                ranges.append((float(bounds["lo"]), float(bounds["hi"])))
        is_text = about.readstat_variable_types.get(column) == "string"
        if self._program == "stata" and not is_text:
            # .a to .z, which come as letters among numbers
            missing.update(ascii_lowercase)
        labels = {code: label for code, label in texts.items() if code is not None}
        return Meanings(labels, frozenset(missing), tuple(ranges))

    def _read(
        self, labels: list[str], keep: list[str], size: int
    ) -> Iterator[pa.RecordBatch]:
        names = labels + keep
        meanings = {name: self.meanings(name) for name in names}
        return self._read_cells(
            names, size, lambda name, code: meanings[name].label(code)
        )

    def coded_batches(
        self, columns: Sequence[str], size: int = BATCH
    ) -> Iterator[pa.RecordBatch]:
        return self._read_cells(list(columns), size, lambda _, code: code)

    def _read_cells(
        self, names: list[str], size: int, read: Callable[[str, str], str | None]
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        selected = list(dict.fromkeys(names))
        while True:
            rows, _ = self._read_file(
                usecols=selected, row_offset=self._rows, row_limit=size
            )
            count = len(rows[names[0]]) if names else 0
            if count == 0:
                return
            self._rows += count
            columns: list[Any] = []
            for name in names:
                texts: dict[object, str | None] = {}
                for cell in set(rows[name]):
                    text = cell_text(cell)
                    texts[cell] = None if text is None else read(name, text)
                cells = [texts[cell] for cell in rows[name]]
                columns.append(pa.array(cells, pa.string()))
            yield pa.record_batch(columns, names=names)


def _missing_package_error(package: str, what: str) -> MissingExtra:
    return MissingExtra(
        f"{what} is read with the package {package!r}, which is not installed.",
        "Install it: pip install 'deniable[elsewhere]'.",
    )

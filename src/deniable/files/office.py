"""Files of survey tools, spreadsheets and statistics programs: Excel (.xlsx), SPSS (.sav, .zsav) and Stata (.dta).

Cells come as text: 1.0 as "1", a date in ISO form. SPSS and Stata keep numbers, what each is called, and which of them
say why somebody did not answer. Whoever reads labels gets what each number is called, and nothing where it is such a
reason; whoever reads codes gets the numbers, and `meanings` tells the rest.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from string import ascii_lowercase
from typing import IO, TYPE_CHECKING, Any

from deniable.errors import InvalidRequest, MissingExtra, quoted
from deniable.files.columns import BATCH, ColumnFile, Meanings

if TYPE_CHECKING:
    import pyarrow as pa

_PROGRAMS = {"spss": "SPSS", "stata": "Stata"}


def cell_text(cell: Any) -> str | None:
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
        super().__init__(name, None)
        self._sheet = self._chosen(stream, sheet)
        named = [cell_text(cell) or "" for cell in _first_row(self._sheet)]
        while named and not named[-1]:
            named.pop()
        if not named:
            raise self.damaged("its first row names no columns")
        self._names = tuple(named)

    def _chosen(self, stream: IO[bytes], sheet: str | None) -> Any:
        try:
            from openpyxl import load_workbook
        except ImportError:
            raise _missing("openpyxl", "a workbook") from None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore"
                )  # about styles, of which nothing is read
                book: Any = load_workbook(stream, read_only=True, data_only=True)
        except Exception:  # whatever it meets in a file that is no workbook
            raise self.damaged("it is not a complete workbook of Excel") from None
        for each in book.worksheets:
            each.reset_dimensions()  # some programs write that a sheet has one cell, and fill many
        there = [
            each.title
            for each in book.worksheets
            if any(map(cell_text, _first_row(each)))
        ]
        if sheet is None and len(there) != 1:
            listed = ", ".join(map(repr, there)) or "none"
            raise InvalidRequest(
                f"{self.name} has {len(there)} sheets that hold something ({listed:.400}); expected one, or the name "
                "of the one that is meant.",
                "Name it: --sheet NAME, or sheet=….",
            )
        if sheet is not None and sheet not in book.sheetnames:
            listed = ", ".join(map(repr, book.sheetnames))
            raise InvalidRequest(
                f"{self.name} has no sheet {quoted(sheet)}; expected one of {listed:.400}."
            )
        return book[sheet or there[0]]

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    @property
    def share(self) -> float | None:
        return None

    def batches(
        self,
        labels: Sequence[str],
        keep: Sequence[str] = (),
        pieces: range | None = None,
        size: int = BATCH,
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        assert pieces is None, "this format is read as a whole"
        wanted = [*labels, *keep]
        places = [self._names.index(name) for name in wanted]
        rows = self._sheet.iter_rows(
            min_row=2, max_col=len(self._names), values_only=True
        )
        try:
            while block := list(islice(rows, size)):
                columns = [
                    pa.array([_at(row, place) for row in block], pa.string())
                    for place in places
                ]
                yield pa.record_batch(columns, names=wanted)
        except (OSError, ValueError, KeyError, EOFError):
            raise self.damaged() from None


def _first_row(sheet: Any) -> Sequence[Any]:
    return next(sheet.iter_rows(max_row=1, values_only=True), ())


def _at(row: Sequence[Any], place: int) -> str | None:
    return cell_text(row[place]) if place < len(row) else None


class StatisticsFile(ColumnFile):
    """A file of SPSS or of Stata."""

    named = True

    def __init__(self, file: IO[bytes] | Path, name: str, program: str) -> None:
        super().__init__(name, None)
        try:
            import pyreadstat
        except ImportError:
            raise _missing("pyreadstat", f"a file of {_PROGRAMS[program]}") from None
        self._given = file
        self._program = program
        self._reader: Any = (
            pyreadstat.read_sav if program == "spss" else pyreadstat.read_dta
        )
        self._rows = 0
        _, self._about = self._read(metadataonly=True)

    def _read(self, **options: Any) -> tuple[dict[str, list[Any]], Any]:
        given = self._given
        if not isinstance(given, Path):
            given.seek(0)
        try:
            rows, about = self._reader(
                given, user_missing=True, output_format="dict", **options
            )
        except Exception:  # pyreadstat has a class of its own for each thing that may be wrong with a file
            raise self.damaged(
                f"it is not a complete file of {_PROGRAMS[self._program]}"
            ) from None
        return rows, about

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._about.column_names)

    @property
    def share(self) -> float | None:
        rows = self._about.number_rows
        return self._rows / rows if rows and rows > 0 else None

    def meanings(self, column: str) -> Meanings:
        labels = self._about.variable_value_labels.get(column, {})
        ranges = self._about.missing_ranges.get(column, [])
        words = [str(each["lo"]) for each in ranges if isinstance(each["lo"], str)]
        if (
            self._program == "stata"
            and self._about.readstat_variable_types.get(column) != "string"
        ):
            words.extend(
                ascii_lowercase
            )  # .a to .z, which come as letters among numbers
        return Meanings(
            {
                text: str(label)
                for code, label in labels.items()
                if (text := cell_text(code)) is not None
            },
            frozenset(words),
            tuple(
                (float(each["lo"]), float(each["hi"]))
                for each in ranges
                if not isinstance(each["lo"], str)
            ),
        )

    def batches(
        self,
        labels: Sequence[str],
        keep: Sequence[str] = (),
        pieces: range | None = None,
        size: int = BATCH,
    ) -> Iterator[pa.RecordBatch]:
        assert pieces is None, "this format is read as a whole"
        known = {name: self.meanings(name) for name in (*labels, *keep)}
        yield from self._cells(
            [*labels, *keep], size, lambda name, code: known[name].label(code)
        )

    def coded_batches(
        self, columns: Sequence[str], size: int = BATCH
    ) -> Iterator[pa.RecordBatch]:
        yield from self._cells(columns, size, lambda _, code: code)

    def _cells(
        self, names: Sequence[str], size: int, read: Any
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        while True:
            rows, _ = self._read(
                usecols=list(dict.fromkeys(names)),
                row_offset=self._rows,
                row_limit=size,
            )
            count = len(rows[names[0]]) if names else 0
            if count == 0:
                return
            self._rows += count
            columns: list[Any] = []
            for name in names:
                known: dict[Any, str | None] = {}
                for cell in rows[name]:
                    if cell not in known:
                        text = cell_text(cell)
                        known[cell] = None if text is None else read(name, text)
                columns.append(
                    pa.array([known[cell] for cell in rows[name]], pa.string())
                )
            yield pa.record_batch(columns, names=list(names))


def _missing(package: str, what: str) -> MissingExtra:
    return MissingExtra(
        f"{what} is read with the package {package!r}, which is not installed.",
        "Install it: pip install 'deniable[elsewhere]'.",
    )

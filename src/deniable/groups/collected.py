"""Responses that were collected elsewhere: columns of a file that does not name their design → tallies.

Files that `deniable` writes name the design of every row, and are refused under another one. A file of a survey tool
names none, so that whoever counts it vouches for the design, and says which value means which symbol. Both are written
into the tally: `Tally.declared`. Nothing is guessed: a value that is no symbol is counted apart, and told.
"""

from __future__ import annotations

import os
import re
import shlex
import tomllib
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from deniable.designs import Design
from deniable.designs.labels import format_labels
from deniable.errors import (
    InvalidRequest,
    InvalidResponse,
    UnknownValues,
    UnreadableFile,
    nearest,
    quoted,
)
from deniable.files.columns import ColumnFile, File, Meanings, open_columns
from deniable.files.inputs import Input, Paths, find_inputs
from deniable.files.office import cell_text
from deniable.groups.separate import SeparateTallies, TallyKey
from deniable.groups.tallies import GroupedTally, tallies_by_values
from deniable.tallies.counts import Declared, Tally, zeros
from deniable.tallies.files import Progress
from deniable.tallies.responses import Responses
from deniable.tallies.running import Running
from deniable.tallies.weighted import WeightedTally, read_weights, tally_weighted

if TYPE_CHECKING:
    import pyarrow as pa

_SHOWN_VALUES = 8  # that are no symbol, in a message
# how programs write whole numbers in a column with gaps
_WHOLE = re.compile(r"-?\d+\.0+")
_IMPORT = '{"ImportId"'  # how the third line of a Qualtrics export begins; the second holds the questions


@dataclass(frozen=True)
class CollectedColumn:
    """What whoever counts a column says about it.

    Attributes:
        design: what the responses were drawn with; of rows that differ in their device, a design for each by name.
        values: which value means which symbol, by value; a value of SPSS or Stata may be named by its number or by its
            label. Empty where the values are the symbols themselves. Where there are some, no other counts.
        missing: values that mean that nothing was sent, beside those that the file itself says are such.
        codes: whether values are the numbers of the symbols, from 0.
        devices: the column that names the device of each row; empty where there is one design.
    """

    design: Design | Mapping[str, Design]
    values: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    codes: bool = False
    devices: str = ""

    def __post_init__(self) -> None:
        if bool(self.devices) == isinstance(self.design, Design) or not self.designs:
            raise InvalidRequest(
                "the design and the devices do not fit; expected one design, or a design for each device by name and "
                "the column that names the device of each row."
            )
        if self.codes and self.values:
            raise InvalidRequest("there are values and codes; expected either.")
        for each in self.designs.values():
            if not isinstance(each, Design) or each.asks != "categories":
                raise InvalidRequest(
                    "a column of symbols belongs to a design for categories; expected one."
                )
            for symbol in self.values.values():
                _check_symbol(each, symbol)
        object.__setattr__(
            self,
            "values",
            {str(value): symbol for value, symbol in self.values.items()},
        )
        object.__setattr__(self, "missing", tuple(map(str, self.missing)))

    @property
    def designs(self) -> dict[str | None, Design]:
        """The design of each device; under None, where there is one for all."""
        return (
            {None: self.design}
            if isinstance(self.design, Design)
            else dict(self.design.items())
        )


def _check_symbol(design: Design, symbol: str) -> None:
    try:
        design.symbol_number(symbol)
    except InvalidResponse:
        raise InvalidRequest(
            f"a value is said to mean {quoted(symbol)}; expected a symbol of the design: "
            f"{format_labels(design.symbols)}."
        ) from None


@overload
def tally_column(
    design: Design,
    file: Paths | File,
    column: str,
    *,
    values: Mapping[str, str] | None = None,
    missing: Iterable[str] = (),
    codes: bool = False,
    sheet: str | None = None,
    format: str | None = None,
    progress: Progress | None = None,
) -> Tally: ...
@overload
def tally_column(
    design: Design,
    file: Paths | File,
    column: str,
    *,
    by: str | Sequence[str],
    weights: str | None = None,
    values: Mapping[str, str] | None = None,
    missing: Iterable[str] = (),
    codes: bool = False,
    sheet: str | None = None,
    format: str | None = None,
    progress: Progress | None = None,
) -> GroupedTally: ...
@overload
def tally_column(
    design: Design,
    file: Paths | File,
    column: str,
    *,
    weights: str,
    values: Mapping[str, str] | None = None,
    missing: Iterable[str] = (),
    codes: bool = False,
    sheet: str | None = None,
    format: str | None = None,
    progress: Progress | None = None,
) -> WeightedTally: ...
def tally_column(
    design: Design,
    file: Paths | File,
    column: str,
    *,
    by: str | Sequence[str] | None = None,
    weights: str | None = None,
    values: Mapping[str, str] | None = None,
    missing: Iterable[str] = (),
    codes: bool = False,
    sheet: str | None = None,
    format: str | None = None,
    progress: Progress | None = None,
) -> Tally | GroupedTally | WeightedTally:
    """Count a column of responses that were collected elsewhere, with a design that you vouch for.

    Cells are compared as text, and 1.0 is read as 1. Empty cells, and values that the file itself calls missing, are
    counted as missing, with the reason where there is one. Two further lines of header, as Qualtrics writes them, are
    passed over. Each row counts once.

    Args:
        design: what the responses were drawn with. Nothing in the file says so: the tally tells that it was declared.
        file: CSV, Parquet, Arrow IPC, NDJSON, Excel (.xlsx), SPSS (.sav) or Stata (.dta); a file, a pattern, a folder,
            several of them, or an open file.
        column: which column holds the responses.
        by: a column, or several, by whose values to count apart.
        weights: the column that holds how many people each row stands for.
        values: which value means which symbol, such as {"1": "yes", "2": "no"}; no other value counts then. By default
            the values are the symbols themselves, or the labels of values are.
        missing: values that mean that nothing was sent.
        codes: whether values are the numbers of the symbols, from 0.
        sheet: of a workbook: which sheet.
        format: of a file whose name does not tell.
        progress: told after each batch.

    Returns:
        A tally; with `weights` a `WeightedTally`; with `by` a `GroupedTally`, of either.

    Raises:
        InvalidRequest: a column that is not there (those that are there are listed), or a symbol that is none.
        InvalidResponse: no row holds a symbol of the design.
        UnreadableFile: truncated, or no file of columns.
        MissingExtra: the package that reads this format is not installed.

    Warns:
        UnknownValues: some rows hold something that is no symbol. They are counted in `Tally.declared`.

    Example:
        >>> from io import BytesIO
        >>> from deniable.designs import warner
        >>> rows = b"q3,region\\n1,N\\n0,S\\n,S\\n1,S\\n"
        >>> found = tally_column(warner(p="3/4"), BytesIO(rows), "q3", values={"0": "no", "1": "yes"})
        >>> found.counts.tolist(), found.missing, found.declared.rows
        ([1, 2], 1, 4)
    """
    asked = CollectedColumn(design, dict(values or {}), tuple(missing), codes)
    found = count_columns(
        {column: asked},
        file,
        by=by or (),
        sheet=sheet,
        format=format,
        progress=progress,
    )
    found.warn()
    tally: Tally | GroupedTally = found.tallies[column]
    if weights is None:
        return tally
    return weigh(tally, asked, file, column, weights, sheet=sheet, format=format)


def weigh(
    tally: Tally | GroupedTally,
    asked: CollectedColumn,
    file: Paths | File,
    column: str,
    weights: str,
    *,
    sheet: str | None = None,
    format: str | None = None,
) -> WeightedTally | GroupedTally:
    """Return the tally of a column with the weights that stand beside it, read once more; by groups where it is.

    Raises:
        InvalidResponse: a weight that is missing, negative or no number.
    """
    _rewind(file)
    (design,) = asked.designs.values()
    sent, _ = _rows(asked, design, file, column, sheet, format)
    _rewind(file)
    by = tally.by if isinstance(tally, GroupedTally) else ()
    beside: list[str | None] = []
    rows: dict[Any, list[int]] = {}
    for columns, batch in _batches(file, [column, weights], by, sheet, format):
        known = [
            (columns.meanings(name), _texts(batch.column(name)).to_pylist())
            for name in by
        ]
        for number, texts in enumerate(
            zip(*(texts for _, texts in known), strict=True), len(beside)
        ):
            group = tuple(
                _group(meanings, text)
                for (meanings, _), text in zip(known, texts, strict=True)
            )
            rows.setdefault(group if len(by) > 1 else group[0], []).append(number)
        beside += _texts(batch.column(weights)).to_pylist()
    every = read_weights(beside, len(sent))
    if not isinstance(tally, GroupedTally):
        return _weighed(tally, sent, every)
    parts = {
        group: _weighed(each, sent[at := np.array(rows[group])], every[at])
        for group, each in tally.items()
    }
    return GroupedTally(tally.design, parts, by)


def _weighed(
    tally: Tally, sent: Responses[Design], weights: object
) -> WeightedTally:
    """Count rows with their weights; what is no symbol is missing there, and told apart in the tally."""
    return replace(
        tally_weighted(sent, weights), missing=tally.missing, declared=tally.declared
    )


def _rewind(file: Paths | File) -> None:
    if not isinstance(file, str | os.PathLike | Sequence):
        file.seek(0)


def tally_columns(
    questions: str | os.PathLike[str] | Mapping[str, CollectedColumn],
    file: Paths | File,
    *,
    by: str | Sequence[str] = (),
    sheet: str | None = None,
    format: str | None = None,
    progress: Progress | None = None,
) -> SeparateTallies:
    """Count several columns of responses that were collected elsewhere, each with its own design.

    Args:
        questions: what is said about each column; or the path of a mapping file (TOML), which says it.
        file: as for `tally_column`.
        by: a column, or several, by whose values to count apart.
        sheet: of a workbook: which sheet.
        format: of a file whose name does not tell.
        progress: told after each batch.

    Raises:
        As `tally_column`.

    Warns:
        UnknownValues: some rows hold something that is no symbol.

    Example:
        >>> from io import BytesIO
        >>> from deniable.designs import mangat, warner
        >>> asked = {"q3": CollectedColumn(warner(p="3/4")), "q4": CollectedColumn(mangat("2/3"), codes=True)}
        >>> found = tally_columns(asked, BytesIO(b"q3,q4\\nyes,1\\nno,0\\n"))
        >>> found.columns, found["q4"].counts.tolist()
        (('q3', 'q4'), [1, 1])
    """
    described = (
        read_mapping(Path(questions))
        if isinstance(questions, str | os.PathLike)
        else questions
    )
    counted = count_columns(
        described, file, by=by, sheet=sheet, format=format, progress=progress
    )
    counted.warn()
    return counted.tallies


def read_responses(
    design: Design,
    file: Paths | File,
    column: str,
    *,
    values: Mapping[str, str] | None = None,
    missing: Iterable[str] = (),
    codes: bool = False,
    sheet: str | None = None,
    format: str | None = None,
) -> Responses[Design]:
    """Return a column of responses that were collected elsewhere, row by row, for what needs more than counts.

    What is missing, or no symbol, is a missing response. `association` of two columns of one file is their cross table.

    Args:
        design: what the responses were drawn with.
        file: as for `tally_column`.
        column: which column holds the responses.
        values: which value means which symbol.
        missing: values that mean that nothing was sent.
        codes: whether values are the numbers of the symbols, from 0.
        sheet: of a workbook: which sheet.
        format: of a file whose name does not tell.

    Raises:
        As `tally_column`; and InvalidRequest for sets of categories, whose symbols are no numbers.

    Warns:
        UnknownValues: some rows hold something that is no symbol.

    Example:
        >>> from io import BytesIO
        >>> from deniable.designs import warner
        >>> list(read_responses(warner(p="3/4"), BytesIO(b"q3\\nyes\\n\\nno\\n"), "q3"))
        ['yes', None, 'no']
    """
    if design.channel.coding.ndim > 1:
        raise InvalidRequest(
            "a response of this design is a set of categories; expected a design with a few symbols."
        )
    asked = CollectedColumn(design, dict(values or {}), tuple(missing), codes)
    sent, unknown = _rows(asked, design, file, column, sheet, format)
    if unknown:
        _warn(column, unknown)
    return sent


def _rows(
    asked: CollectedColumn,
    design: Design,
    file: Paths | File,
    column: str,
    sheet: str | None,
    format: str | None,
) -> tuple[Responses[Design], Counter[str]]:
    """Return a column row by row, and which values are no symbols."""
    unknown: Counter[str] = Counter()
    codes_sent = []
    for columns, batch in _batches(file, [column], (), sheet, format):
        reading = _Reading(asked, columns.meanings(column), design)
        encoded = _texts(batch.column(column)).dictionary_encode()
        places = [reading.read(text) for text in encoded.dictionary.to_pylist()]
        numbers = [
            -1 if each.symbol is None else design.symbol_number(each.symbol)
            for each in places
        ]
        rows = np.asarray(encoded.indices.fill_null(len(numbers)))
        for text, times in zip(
            encoded.dictionary.to_pylist(),
            np.bincount(rows, minlength=len(numbers)),
            strict=False,
        ):
            if reading.read(text).unknown:
                unknown[reading.called(text)] += int(times)
        codes_sent.append(np.array([*numbers, -1], np.int64)[rows])
    every = np.concatenate(codes_sent) if codes_sent else np.zeros(0, np.int64)
    return Responses(design, {"response": np.maximum(every, 0)}, every < 0), unknown


class CountedColumns(NamedTuple):
    """What was counted, and which values were no symbols: those are told where the file is, and not written down.

    Attributes:
        tallies: by column and device; with groups a `GroupedTally` for each.
        unknown: of each column, values that are no symbol, and how often they occur.
    """

    tallies: SeparateTallies
    unknown: Mapping[str, Counter[str]]

    def warn(self) -> None:
        """Warn of values that are no symbols."""
        for column, counted in self.unknown.items():
            _warn(column, counted)


def _warn(column: str, counted: Counter[str]) -> None:
    warnings.warn(UnknownValues(f"{column}: {told_values(counted)}"), stacklevel=4)


def told_values(counted: Counter[str]) -> str:
    """Tell values that are no symbols, the most frequent first."""
    rows = counted.total()
    hold = "rows hold a value" if rows > 1 else "row holds a value"
    return (
        f"{rows:,} {hold} that is not a response of this design: {_listed(counted)}"
    )


def _listed(counted: Counter[str]) -> str:
    values = [
        f"{quoted(value)} ({times:,})"
        for value, times in counted.most_common(_SHOWN_VALUES)
    ]
    more = (
        f", and {len(counted) - _SHOWN_VALUES:,} other values"
        if len(counted) > _SHOWN_VALUES
        else ""
    )
    return ", ".join(values) + more


def count_columns(
    questions: Mapping[str, CollectedColumn],
    file: Paths | File,
    *,
    by: str | Sequence[str] = (),
    sheet: str | None = None,
    format: str | None = None,
    progress: Progress | None = None,
) -> CountedColumns:
    """Count columns as `tally_columns` does, and return with the tallies which values were no symbols."""
    if not questions:
        raise InvalidRequest(
            "there are no columns of responses; expected one at least."
        )
    groups = (by,) if isinstance(by, str) else tuple(by)
    counter = _ColumnCounter(questions, groups)
    read = list(
        dict.fromkeys(
            [
                *questions,
                *(each.devices for each in questions.values() if each.devices),
            ]
        )
    )
    rows = 0
    for columns, batch in _batches(file, read, groups, sheet, format):
        counter.add(columns, batch)
        rows += len(batch)
        if progress:
            progress(rows, columns.share)
    return counter.result()


def _batches(
    file: Paths | File,
    names: Sequence[str],
    by: Sequence[str],
    sheet: str | None,
    format: str | None,
) -> Iterator[tuple[ColumnFile, pa.RecordBatch]]:
    """Read columns of one file or of several; those that folders name are there, too."""
    import pyarrow as pa

    given = (
        find_inputs(file)
        if isinstance(file, str | os.PathLike | Sequence)
        else [file]
    )
    for each in given:
        folders = each.named if isinstance(each, Input) else {}
        wanted = list(
            dict.fromkeys([*names, *(name for name in by if name not in folders)])
        )
        with open_columns(
            each.path if isinstance(each, Input) else each, format, sheet=sheet
        ) as columns:
            check_columns(columns, wanted, by)
            for number, batch in enumerate(columns.coded_batches(wanted)):
                there = _without_header(batch, names) if number == 0 else batch
                for name in (name for name in by if name in folders):
                    there = there.append_column(
                        name, pa.array([folders[name]] * len(there), pa.string())
                    )
                yield columns, there


def check_columns(
    columns: ColumnFile, wanted: Sequence[str], by: Sequence[str] = ()
) -> None:
    """Refuse a column that is not there, and list those that are; of `by`, several names in one are told apart.

    The first line of a CSV file without a header is somebody's row: it is listed only where it looks like names.
    """
    if columns.names is None:
        return
    for name in wanted:
        times = columns.names.count(name)
        if times != 1:
            listed = ", ".join(map(repr, columns.names[:100]))
            raise InvalidRequest(
                f"{columns.name} has {times or 'no'} columns called {quoted(name, 80)}; expected one.",
                f"{_meant(name, columns.names, by)} It has {listed:.2000}.".lstrip()
                if columns.named or _are_names(columns.names)
                else "Its first line does not look like names of columns; write them there.",
            )


def _meant(name: str, known: Sequence[str], by: Sequence[str]) -> str:
    """Return what somebody may have meant by a column that is not there."""
    parts = [part_name.strip() for part_name in name.split(",")]
    if name not in by or len(parts) == 1 or not set(parts) <= set(known):
        return nearest(name, known)
    options = " ".join(f"--by {shlex.quote(part_name)}" for part_name in parts)
    return f"Name each by itself: {options}, or by={parts!r:.200}."


def _are_names(names: Sequence[str]) -> bool:
    return len(set(names)) == len(names) and all(
        name.strip() and not re.fullmatch(r"[-+.,\d\s]*", name) for name in names
    )


def _without_header(batch: pa.RecordBatch, names: Sequence[str]) -> pa.RecordBatch:
    """Pass over two more lines of header: the questions, and what Qualtrics calls them."""
    second = batch.column(names[0])[1].as_py() if len(batch) > 1 else None
    return (
        batch.slice(2)
        if isinstance(second, str) and second.startswith(_IMPORT)
        else batch
    )


def _texts(column: Any) -> Any:
    """Return a column as text: whole numbers without a point, nothing where a cell is empty."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        encoded = (
            column
            if isinstance(column, pa.DictionaryArray)
            else column.dictionary_encode()
        )
    except pa.ArrowException:
        raise InvalidResponse(
            f"a column is of type {column.type}; expected text or numbers."
        ) from None
    values: Any = encoded.dictionary
    texts = pa.array([cell_text(value) for value in values.to_pylist()], pa.string())
    return pc.take(texts, encoded.indices)


def _plain(text: str) -> str:
    """Return a whole number without the point behind which other programs write zeros; other text as it is."""
    return text.partition(".")[0] if _WHOLE.fullmatch(text) else text


class _Read(NamedTuple):
    """What a cell means: a symbol; or that nothing was sent, and why; or neither."""

    symbol: str | None = None
    reason: str | None = None
    unknown: bool = False


class _Reading:
    """How the cells of a column are read."""

    def __init__(
        self, asked: CollectedColumn, meanings: Meanings, design: Design
    ) -> None:
        self._asked = asked
        self._meanings = meanings
        self._design = design
        self._known: dict[str | None, _Read] = {}

    def read(self, text: str | None) -> _Read:
        """Return what a cell means."""
        if text not in self._known:
            self._known[text] = _Read() if text is None else self._meaning(text)
        return self._known[text]

    def called(self, text: str | None) -> str:
        """Return a value as the file calls it."""
        return self._meanings.labels.get(_plain(str(text)), str(text))

    def _meaning(self, text: str) -> _Read:
        number = _plain(text)
        label = self._meanings.labels.get(number)
        names = [text, number, *([] if label is None else [label])]
        asked = self._asked
        if any(each in asked.missing for each in names):
            return _Read(reason=label or number)
        if asked.values:
            symbols = [asked.values[each] for each in names if each in asked.values]
            if symbols:
                return _Read(symbols[0])
        if self._meanings.is_missing(number):
            return _Read(reason=label or number)
        if asked.values:
            return _Read(unknown=True)
        if asked.codes:
            code = int(number) if re.fullmatch(r"0|[1-9][0-9]{0,15}", number) else -1
            known = (
                0 <= code < self._design.channel.responses
                and self._design.channel.possible(code)
            )
            return (
                _Read(self._design.symbols[code]) if known else _Read(unknown=True)
            )
        found = list(dict.fromkeys(each for each in names if self._is_symbol(each)))
        if len(found) > 1 and label is not None:
            raise InvalidResponse(
                f"the value {quoted(number)} is a symbol, and so is what the file calls it, {quoted(label)}; expected "
                "to know which is meant.",
                "Say which value means which symbol: --value VALUE=SYMBOL, or values={…}.",
            )
        return _Read(found[0]) if found else _Read(unknown=True)

    def _is_symbol(self, text: str) -> bool:
        try:
            return self._design.channel.possible(self._design.symbol_number(text))
        except InvalidResponse:
            return False


class _ColumnCounter:
    """Counts columns batch by batch: how often each value occurs with each group and device."""

    def __init__(
        self, questions: Mapping[str, CollectedColumn], by: tuple[str, ...]
    ) -> None:
        self._questions = questions
        self._by = by
        self._tallies: dict[TallyKey, dict[tuple[str | None, ...], Tally]] = {}
        self._unknown: dict[str, Counter[str]] = {}

    def add(self, columns: ColumnFile, batch: pa.RecordBatch) -> None:
        """Count a batch. Each row counts once."""
        import pyarrow as pa

        texts = {name: _texts(batch.column(name)) for name in batch.schema.names}
        groups = {name: columns.meanings(name) for name in self._by}
        for column, asked in self._questions.items():
            chosen = [
                texts[column],
                *([texts[asked.devices]] if asked.devices else []),
                *(texts[n] for n in self._by),
            ]
            table: Any = pa.table(
                chosen, names=[str(number) for number in range(len(chosen))]
            )
            counted = (
                table.group_by(table.column_names)
                .aggregate([([], "count_all")])
                .to_pylist()
            )
            meanings = columns.meanings(column)
            readings = {
                device: _Reading(asked, meanings, each)
                for device, each in asked.designs.items()
            }
            cells: dict[
                tuple[str | None, tuple[str | None, ...]], Counter[str | None]
            ] = {}
            for row in counted:
                text, *rest = (row[name] for name in table.column_names)
                device = (
                    _device(asked, column, columns, rest.pop(0))
                    if asked.devices
                    else None
                )
                named = zip(rest, groups.values(), strict=True)
                group = tuple(_group(known, each) for each, known in named)
                cells.setdefault((device, group), Counter())[text] += row[
                    "count_all"
                ]
            for (device, group), found in cells.items():
                part = self._part(
                    column, readings[device], asked.designs[device], found
                )
                own = self._tallies.setdefault(TallyKey(column, device), {})
                own[group] = own[group] + part if group in own else part

    def _part(
        self,
        column: str,
        reading: _Reading,
        design: Design,
        counted: Counter[str | None],
    ) -> Tally:
        """Return the tally of the values of one group and device."""
        running = Running(design, codes=False)
        unknown, reasons, symbols = 0, Counter[str](), Counter[str]()
        for text, times in counted.items():
            read = reading.read(text)
            if read.symbol is not None:
                symbols[read.symbol] += times
            elif read.unknown:
                unknown += times
                self._unknown.setdefault(column, Counter())[
                    reading.called(text)
                ] += times
            else:
                running.add_missing(times)
                if read.reason is not None:
                    reasons[read.reason] += times
        running.add_distinct(symbols.items(), locate=lambda _: 0)
        made = running.tally()
        declared = Declared(counted.total(), unknown, tuple(reasons.items()))
        return Tally(design, made.counts, made.missing, made.respondents, declared)

    def result(self) -> CountedColumns:
        """Return what was counted.

        Raises:
            InvalidResponse: of some column no row holds a symbol, and some hold something else.
        """
        counted = dict.fromkeys(self._questions, 0)
        for key, groups in self._tallies.items():
            counted[key.column] += sum(each.respondents for each in groups.values())
        for column, unknown in self._unknown.items():
            if not counted[column]:
                raise _nothing_known(column, unknown, self._questions[column])
        found: dict[TallyKey, Tally | GroupedTally] = {}
        for column, asked in self._questions.items():
            rows = any(key.column == column for key in self._tallies)
            for device, design in asked.designs.items():
                key = TallyKey(column, device)
                if key in self._tallies or not rows:
                    found[key] = self._whole(design, self._tallies.get(key, {}))
        return CountedColumns(SeparateTallies(found), self._unknown)

    def _whole(
        self, design: Design, groups: Mapping[tuple[str | None, ...], Tally]
    ) -> Tally | GroupedTally:
        """Return the tally of one column and device, by groups where they were asked for."""
        if self._by:
            return tallies_by_values(design, groups, self._by)
        return (
            groups[()]
            if groups
            else Tally(design, zeros(design), respondents=0, declared=Declared(0))
        )


def _called(meanings: Meanings, text: str) -> str:
    """Return what a file calls a value: its label, or the value itself."""
    return meanings.labels.get(_plain(text), _plain(text))


def _group(meanings: Meanings, text: str | None) -> str | None:
    """Return what a group is called; None where a file says nothing."""
    return None if text is None else _called(meanings, text)


def _device(
    asked: CollectedColumn, column: str, columns: ColumnFile, device: str | None
) -> str:
    named = (
        None if device is None else _called(columns.meanings(asked.devices), device)
    )
    for each in (device, None if device is None else _plain(device), named):
        if each is not None and each in asked.designs:
            return each
    known = format_labels([str(each) for each in asked.designs])
    raise InvalidResponse(
        f"a row of {columns.name} was asked with {quoted(named)} in {quoted(asked.devices)}; expected one of {known}.",
        f"Name the design of each device for the column {quoted(column)}.",
    )


def _nothing_known(
    column: str, counted: Counter[str], asked: CollectedColumn
) -> InvalidResponse:
    symbols = next(iter(asked.designs.values())).symbols
    few = [value for value, _ in counted.most_common(_SHOWN_VALUES)]
    words = " ".join(
        f"--value {shlex.quote(f'{value:.40}=')}…" for value in sorted(few)[:3]
    )
    hint = (
        f"Say which value means which symbol: {words}; in Python with values={{…}}."
    )
    if (
        not asked.codes
        and not asked.values
        and all(re.fullmatch(r"\d+(\.0+)?", each) for each in few)
    ):
        hint += f" Or --codes, if they number the symbols: 0 for {quoted(symbols[0])}, 1 for {quoted(symbols[1])}."
    return InvalidResponse(
        f"no row of the column {quoted(column, 80)} holds a symbol of the design; expected {format_labels(symbols)}. "
        f"There are {_listed(counted)}.",
        hint,
    )


# The mapping file


def read_mapping(path: Path) -> dict[str, CollectedColumn]:
    """Read a mapping file: TOML that says the design of each column, and which value means which symbol.

        values = { 0 = "no", 1 = "yes" }          # for all columns that say nothing else
        missing = [98, 99]

        [columns.smokes]
        design = "smokes.json"

        [columns.response]
        devices = "model"                         # the column that names the device of each row
        design = { CM = "crosswise.json", DQ = "direct.json" }
        codes = true

    Designs are files, named relative to the mapping file.

    Raises:
        UnreadableFile: no TOML, or something else than this.
        InvalidRequest: what is said does not fit together.
        OSError: a file is not there, or may not be read.
    """
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UnreadableFile(f"{path.name} is no TOML: {error}.") from None
    columns = given.pop("columns", None)
    if not isinstance(columns, dict) or not columns:
        raise UnreadableFile(
            f"{path.name} names no columns; expected a table for each.",
            '[columns.q3]\ndesign = "q3.json"',
        )
    common = _checked(path, given, ("values", "missing", "codes"), "the file")
    return {
        column: _column(path, column, about, common)
        for column, about in columns.items()
    }


def _checked(
    path: Path, given: object, known: Sequence[str], where: str
) -> dict[str, Any]:
    kinds = {
        "values": dict,
        "missing": list,
        "codes": bool,
        "design": (str, dict),
        "devices": str,
    }
    if not isinstance(given, dict):
        raise UnreadableFile(
            f"{path.name}: {where} is no table; expected {', '.join(known)}."
        )
    for name, value in given.items():
        if name not in known:
            raise UnreadableFile(
                f"{path.name}: {where} has {quoted(name)}; expected {', '.join(known)}."
            )
        if not isinstance(value, kinds[name]):  # type: ignore[arg-type]  # types, or a tuple of them
            raise UnreadableFile(
                f"{path.name}: {name!r} of {where} is a {type(value).__name__}."
            )
    return given


def _column(
    path: Path, column: str, about: object, common: Mapping[str, Any]
) -> CollectedColumn:
    own = _checked(
        path,
        about,
        ("design", "devices", "values", "missing", "codes"),
        f"the column {quoted(column, 80)}",
    )
    if "design" not in own:
        raise UnreadableFile(
            f"{path.name}: the column {quoted(column, 80)} has no design; expected its file."
        )
    named = own["design"]
    designs = (
        {device: _design(path, each) for device, each in named.items()}
        if isinstance(named, dict)
        else None
    )
    meant = own if {"values", "codes"} & set(own) else common
    return CollectedColumn(
        designs or _design(path, named),
        {
            str(value): str(symbol)
            for value, symbol in meant.get("values", {}).items()
        },
        tuple(
            text
            for each in own.get("missing", common.get("missing", ()))
            if (text := cell_text(each)) is not None
        ),
        meant.get("codes", False),
        own.get("devices", ""),
    )


def _design(path: Path, named: object) -> Design:
    if not isinstance(named, str):
        raise UnreadableFile(
            f"{path.name}: a design is a {type(named).__name__}; expected the name of its file."
        )
    return Design.from_json((path.parent / named).read_bytes())

"""What is asked in columns of a file: a design, where its answers are, and what its responses are called."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.chance import Source
from deniable.designs import AnyDesign, Design, Numbered
from deniable.engines.answer_blocks import Block
from deniable.errors import InvalidAnswer, InvalidRequest
from deniable.tallies.files import metadata_key
from deniable.types.surfaces import check_surface

if TYPE_CHECKING:
    from deniable.engines import Engine
    from deniable.tallies.responses import Responses


@dataclass(frozen=True)
class AskedColumns:
    """A design, and its columns.

    Attributes:
        design: what to draw with.
        answers: which column holds the answers; or one for each attribute.
        prefix: what the names of its columns of responses begin with; empty where it is the only question.
        codes: what whole numbers are, as in `deniable.respond_all`.
        cohorts: of strings: which column holds them; None to draw them.
    """

    design: AnyDesign
    answers: tuple[str, ...]
    prefix: str = ""
    codes: bool | None = None
    cohorts: str | None = None
    by_attribute: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that tell about somebody, and are read."""
        return self.answers if self.cohorts is None else (*self.answers, self.cohorts)

    @property
    def labels(self) -> tuple[str, ...]:
        """Those of them that hold labels or text."""
        return self.answers if self.design.answer_form in ("labels", "text") else ()

    @property
    def others(self) -> tuple[str, ...]:
        """Those that are read as they are."""
        return tuple(name for name in self.columns if name not in self.labels)

    @property
    def metadata_key(self) -> str:
        """Where the metadata of a file names the design."""
        return metadata_key(self.prefix.removesuffix("."))

    def told(self) -> dict[str, Any]:
        """Return what makes this question this one."""
        return {
            "design": self.design.hash,
            "answers": list(self.answers),
            "prefix": self.prefix,
            "codes": self.codes,
            "cohorts": self.cohorts,
        }

    def drawing(
        self, engine: Engine, source: Source | None
    ) -> Callable[[Block], Responses[Any]]:
        """Return what draws the responses to block after block."""
        options: dict[str, Any] = {} if source is None else {"source": source}
        if self.design.accepts_codes:
            options["codes"] = self._codes()
        draw = (
            self._stream(engine, options)
            if self.design.is_streamed
            else self._each(engine, options)
        )

        def drawn(block: Block) -> Responses[Any]:
            try:
                return draw(block)
            except InvalidAnswer as error:
                raise block.located(error) from None

        return drawn

    def _stream(
        self, engine: Engine, options: dict[str, Any]
    ) -> Callable[[Block], Responses[Any]]:
        """Draw with a design that is made ready once."""
        assert isinstance(self.design, Design)
        waiting: deque[Any] = deque()

        def given() -> Iterator[Any]:
            while True:
                yield waiting.popleft()

        sent = engine.respond_stream(self.design, given(), **options)

        def draw(block: Block) -> Responses[Any]:
            waiting.append(self._given(block))
            return next(sent)

        return draw

    def _each(
        self, engine: Engine, options: dict[str, Any]
    ) -> Callable[[Block], Responses[Any]]:
        def draw(block: Block) -> Responses[Any]:
            more = (
                {}
                if self.cohorts is None
                else {"cohorts": _whole_numbers(block.table.column(self.cohorts))}
            )
            return engine.respond_all(
                self.design, self._given(block), **options, **more
            )

        return draw

    def _given(self, block: Block) -> Any:
        """Return the answers of a block in a form that `deniable.respond_all` takes."""
        if self.by_attribute:
            return {name: block.table.column(name) for name in self.answers}
        column = block.table.column(self.answers[0])
        read = _READ_ANSWERS.get(self.design.answer_form)
        return column if read is None else read(column)

    def _codes(self) -> bool | None:
        if self.codes is not None:
            return self.codes
        parts = (
            [part for _, part in getattr(self.design, "factors", ())]
            if self.by_attribute
            else []
        )
        first: Any = getattr(self.design, "designs", (self.design,))[0]
        return not any(map(_labelled_by_numbers, parts or [first]))

    def columns_of(self, sent: Responses[Any], *, stored: bool) -> dict[str, Any]:
        """Return responses as columns of Arrow: in their stored form, or as labels."""
        table = sent.to_arrow() if stored else None
        found = {
            name: _labels(sent, name) if table is None else table.column(name)
            for name in sent.columns
        }
        return {self.prefix + name: one_array(column) for name, column in found.items()}

    def named(self, rows: int) -> Any:
        """Return the column that names the design in each row: rows travel, and metadata is lost on the way."""
        import pyarrow as pa

        return pa.DictionaryArray.from_arrays(
            np.zeros(rows, np.int8), pa.array([self.design.hash])
        )


def ask(
    design: AnyDesign | Mapping[str, AnyDesign],
    column: str | None,
    *,
    codes: bool | None = None,
    cohorts: str | None = None,
) -> tuple[AskedColumns, ...]:
    """Return the questions: one, or one for each column of a mapping.

    Raises:
        InvalidRequest: a column too many or too few, or a design whose answers are no column.
    """
    if isinstance(design, Mapping):
        if column is not None or cohorts is not None or not design:
            raise InvalidRequest(
                "there is a design for each column, and a column or cohorts besides; expected the mapping alone."
                if design
                else "there are no columns; expected a design for one at least."
            )
        alone = len(design) == 1
        return tuple(
            AskedColumns(_asked(each), (name,), "" if alone else f"{name}.", codes)
            for name, each in design.items()
        )
    _asked(design)
    attributes = tuple(getattr(design, "attributes", ()))
    if column is None and not attributes:
        raise InvalidRequest("there is no column of answers; expected its name.")
    if column is not None and design.needs_attributes:
        raise InvalidRequest(
            "the columns are called as the questions are; expected no other column.",
            f"They are {', '.join(attributes)}.",
        )
    if cohorts is not None and "cohort" not in design.columns:
        raise InvalidRequest(
            "cohorts belong to strings; expected none of them with this design."
        )
    answers = attributes if column is None else (column,)
    return (
        AskedColumns(design, answers, "", codes, cohorts, by_attribute=column is None),
    )


def _asked(design: AnyDesign) -> AnyDesign:
    check_surface(
        design,
        "files",
        "Draw for all people at once in Python: dn.respond_all(design, answers).",
    )
    return design


@cache
def _labelled_by_numbers(design: Design) -> bool:
    """Tell whether a whole number is the label of one category and the code of another."""
    if isinstance(design.categories, Numbered):
        return False
    return any(
        label.isdecimal() and label != str(code)
        for code, label in enumerate(design.categories)
    )


def _mappings(column: Any) -> Any:
    """Return weights by item for each person: from maps, from structs, or from JSON."""
    import pyarrow as pa

    if pa.types.is_map(column.type):
        return column
    rows = column.to_pylist()
    if pa.types.is_struct(column.type):
        return [
            None
            if row is None
            else {item: weight for item, weight in row.items() if weight is not None}
            for row in rows
        ]
    return [
        None if row is None else _parsed(row, index) for index, row in enumerate(rows)
    ]


def _parsed(text: Any, index: int) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidAnswer(
            f'the answer at index {index:,} is no weights by item; expected such as {{"tea": 0.5}}.'
        )
    return found


def _numbers(column: Any) -> Any:
    """Return numbers, also from text."""
    import pyarrow as pa

    text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    if not text and not pa.types.is_dictionary(column.type):
        return column
    try:
        return column.cast(pa.string()).cast(pa.float64())
    except pa.ArrowException:
        wrong = next(
            index
            for index, each in enumerate(column.to_pylist())
            if not _is_number(each)
        )
        raise InvalidAnswer(
            f"the answer at index {wrong:,} is no number; expected one."
        ) from None


def _is_number(text: Any) -> bool:
    try:
        return text is None or float(text) is not None
    except ValueError:
        return False


_READ_ANSWERS: dict[str, Callable[[Any], Any]] = {
    "weights": _mappings,
    "numbers": _numbers,
}
"""How `answer_form` is read, where columns are not taken as they are."""


def _whole_numbers(column: Any) -> Any:
    import pyarrow as pa

    try:
        return column.cast(pa.int64()).to_numpy()
    except pa.ArrowException:
        raise InvalidAnswer(
            "a cohort is no whole number; expected one for each respondent."
        ) from None


def _labels(sent: Responses[Any], name: str) -> Any:
    """Return a column of responses as labels."""
    import pyarrow as pa

    rows = sent.columns[name]
    present = np.ones(len(sent), np.bool_) if sent.missing is None else ~sent.missing
    device = sent.design.device_of(name)
    if isinstance(device, Design):
        return device.channel.coding.labels(rows, device.symbols, present)
    symbols = iter(device.symbols_in(name, sent.present()[name]))
    spread = [next(symbols) if there else None for there in present.tolist()]
    return pa.array(spread, pa.int64() if name == "cohort" else pa.string())


def one_array(column: Any) -> Any:
    """Return a column of Arrow in one piece."""
    import pyarrow as pa

    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column

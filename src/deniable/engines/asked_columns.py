"""What is asked in columns of a file: a design, where its answers are, and what its responses are called."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deniable.chance import Source
from deniable.designs import AnyDesign, Design
from deniable.engines.answer_blocks import Block
from deniable.errors import InvalidAnswer, InvalidRequest
from deniable.files.arrow import is_text
from deniable.files.columns import DESIGN
from deniable.tallies.files import metadata_key
from deniable.tallies.running import are_renumbered
from deniable.types.surfaces import check_surface

if TYPE_CHECKING:
    import pyarrow as pa

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
        return (
            self.answers if self.cohorts is None else (*self.answers, self.cohorts)
        )

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

    def to_plan(self) -> dict[str, Any]:
        """Return what makes this question this one."""
        return {
            "design": self.design.hash,
            "answers": list(self.answers),
            "prefix": self.prefix,
            "codes": self.codes,
            "cohorts": self.cohorts,
        }

    def block_drawer(
        self, engine: Engine, source: Source | None
    ) -> Callable[[Block], Responses[Any]]:
        """Return the function that draws the responses to each block."""
        options: dict[str, Any] = {} if source is None else {"source": source}
        if self.design.accepts_codes:
            options["codes"] = self._codes()
        draw_column = (
            self._stream(engine, options) if self.design.is_streamed else None
        )

        def draw(block: Block) -> Responses[Any]:
            try:
                answers = self._read_answers(block)
                if draw_column is not None:
                    return draw_column(answers)
                if self.cohorts is not None:
                    cohorts = block.table.column(self.cohorts)
                    options["cohorts"] = _to_integers(cohorts)
                return engine.respond_all(self.design, answers, **options)
            except InvalidAnswer as error:
                raise block.located(error) from None

        return draw

    def _stream(
        self, engine: Engine, options: dict[str, Any]
    ) -> Callable[[Any], Responses[Any]]:
        """Draw with a design that is made ready once."""
        assert isinstance(self.design, Design)
        columns: deque[Any] = deque()

        def take_columns() -> Iterator[Any]:
            while True:
                yield columns.popleft()

        responses = engine.respond_stream(self.design, take_columns(), **options)

        def draw(answers: object) -> Responses[Any]:
            columns.append(answers)
            return next(responses)

        return draw

    def _read_answers(self, block: Block) -> Any:
        """Return the answers of a block in a form that `deniable.respond_all` takes."""
        if self.by_attribute:
            return {name: block.table.column(name) for name in self.answers}
        column = block.table.column(self.answers[0])
        read = _READ_ANSWERS.get(self.design.answer_form)
        return column if read is None else read(column)

    def _codes(self) -> bool | None:
        if self.codes is not None:
            return self.codes
        first: Any = getattr(self.design, "designs", (self.design,))[0]
        factors = getattr(self.design, "factors", ()) if self.by_attribute else ()
        parts = [part for _, part in factors] or [first]
        return not any(are_renumbered(part.categories) for part in parts)

    def columns_of(
        self, responses: Responses[Any], *, stored: bool
    ) -> dict[str, pa.Array[Any]]:
        """Return responses as columns of Arrow: in their stored form, or as labels."""
        read = (
            responses.to_arrow().column if stored else partial(_to_labels, responses)
        )
        return {
            self.prefix + name: one_array(read(name)) for name in responses.columns
        }

    def hashes(self, rows: int) -> pa.Array[Any]:
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
        is_single = len(design) == 1
        for part in design.values():
            _check_files(part)
        return tuple(
            AskedColumns(part, (name,), "" if is_single else f"{name}.", codes)
            for name, part in design.items()
        )
    _check_files(design)
    attributes = _check_column(design, column, cohorts)
    answers = attributes if column is None else (column,)
    return (
        AskedColumns(
            design, answers, "", codes, cohorts, by_attribute=column is None
        ),
    )


def _check_column(
    design: AnyDesign, column: str | None, cohorts: str | None
) -> tuple[str, ...]:
    """Return the attributes of a design, if the columns that are named go with it."""
    attributes = design.answer_columns
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
    return attributes


def _check_files(design: AnyDesign) -> None:
    hint = "Draw for all people at once in Python: dn.respond_all(design, answers)."
    check_surface(design, "files", hint)


def check_keep(keep: Sequence[str], questions: Sequence[AskedColumns]) -> None:
    """Refuse to keep the answers, or what would be taken for something else.

    Raises:
        InvalidRequest: a column that may not be kept.
    """
    read = {name for question in questions for name in question.columns}
    written = {
        question.prefix + name
        for question in questions
        for name in (*question.design.columns, DESIGN)
    }
    for name in keep:
        if name in read:
            raise InvalidRequest(
                f"the column {name!r} holds the answers and cannot be kept; expected other columns.",
                "Beside its answer a response protects nobody.",
            )
        if name in written or keep.count(name) > 1:
            raise InvalidRequest(
                f"the column {name!r} cannot be kept; expected different names, and none of "
                f"{', '.join(map(repr, sorted(written)))}.",
                "These are written by deniable. Rename the column first.",
            )


def _read_weights(column: pa.ChunkedArray[Any]) -> Any:
    """Return weights by item for each person: from maps, from structs, or from JSON."""
    import pyarrow as pa

    if pa.types.is_map(column.type):
        return column
    read = _without_gaps if pa.types.is_struct(column.type) else _parse_weights
    return [
        None if row is None else read(row, index)
        for index, row in enumerate(column.to_pylist())
    ]


def _without_gaps(row: dict[str, Any], _: int) -> dict[str, Any]:
    return {item: weight for item, weight in row.items() if weight is not None}


def _parse_weights(text: Any, index: int) -> dict[str, Any]:
    try:
        weights = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        weights = None
    if not isinstance(weights, dict):
        raise InvalidAnswer(
            f'the answer at index {index:,} is no weights by item; expected such as {{"tea": 0.5}}.'
        )
    return weights


def _read_numbers(column: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    """Return numbers, also from text."""
    import pyarrow as pa

    if not is_text(column.type) and not pa.types.is_dictionary(column.type):
        return column
    try:
        return column.cast(pa.string()).cast(pa.float64())
    except pa.ArrowException:
        texts = enumerate(column.to_pylist())
        wrong = next(index for index, text in texts if not _is_number(text))
        raise InvalidAnswer(
            f"the answer at index {wrong:,} is no number; expected one."
        ) from None


def _is_number(text: str | None) -> bool:
    try:
        return text is None or float(text) is not None
    except ValueError:
        return False


_READ_ANSWERS: dict[str, Callable[[Any], Any]] = {
    "weights": _read_weights,
    "numbers": _read_numbers,
}
"""How `answer_form` is read, where columns are not taken as they are."""


def _to_integers(column: Any) -> NDArray[np.int64]:
    import pyarrow as pa

    try:
        return np.asarray(column.cast(pa.int64()))
    except pa.ArrowException:
        raise InvalidAnswer(
            "a cohort is no whole number; expected one for each respondent."
        ) from None


def _to_labels(responses: Responses[Any], name: str) -> Any:
    """Return a column of responses as labels."""
    import pyarrow as pa

    present = ~responses.gaps
    device = responses.design.device_of(name)
    if isinstance(device, Design):
        column = responses.columns[name]
        return device.channel.coding.labels(column, device.symbols, present)
    symbols = iter(device.symbols_in(name, responses.present()[name]))
    labels = [
        next(symbols) if is_present else None for is_present in present.tolist()
    ]
    return pa.array(labels, pa.int64() if name == "cohort" else pa.string())


def one_array(column: object) -> Any:
    """Return a column of Arrow in one piece."""
    import pyarrow as pa

    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column

"""A design → the query that counts its responses where they are.

Whatever somebody else has named, a table or a column, is written once, in quotes, and under a name of ours from there
on. All else in a query are words of ours, whole numbers and the hash of the design.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from deniable.designs import AnyDesign
from deniable.errors import InvalidRequest, quoted
from deniable.files.columns import DESIGN
from deniable.tallies.stored.dialects import DIALECTS, Dialect
from deniable.tallies.stored.forms import (
    SingleCell,
    StoredForm,
    StoredLabels,
    StoredRows,
)
from deniable.types import operation

Names: TypeAlias = str | Sequence[str]
"""A name, or several."""

GROUP = "group_"
"""What the columns of groups are called in the counts, numbered from 1."""

_RESPONSES = "CAST(sum(times) AS BIGINT) AS responses"
_HASH = re.compile(r"sha256:[0-9a-f]{64}")


def query(
    design: AnyDesign,
    table: Names,
    columns: Names | None = None,
    *,
    dialect: str,
    by: Names = (),
    labels: bool = False,
    checked: bool = True,
    reached: str | None = None,
) -> str:
    """Return the query that counts a table of responses; `read_counts` makes a tally of what it returns.

    Args:
        design: what the responses were drawn with, of any type.
        table: what the table is called; a tuple where it is in a schema: `("survey", "responses")`.
        columns: what the columns of responses are called, in the order of `design.columns`; by default as there.
        dialect: "duckdb", "postgres" or "spark".
        by: columns by whose values responses are counted apart.
        labels: whether the responses are stored as text; by default as `Responses.to_arrow` has them.
        checked: whether the table has a column `design`, with the hash of each response's design, to be looked at.
        reached: of a ladder: the column that says how many stages were released to each respondent: 0 for none, 2 up to
            `stage_2`, null for all.

    Raises:
        InvalidRequest: a dialect that is not known, a number of columns that the design does not have, or names that
            cannot be written.

    Example:
        >>> from deniable.designs import warner
        >>> print(query(warner(1), "sent", dialect="postgres", checked=False).splitlines()[-1])
        GROUP BY raised, part, cell
    """
    if dialect not in DIALECTS:
        raise InvalidRequest(
            f"the dialect is {quoted(dialect)}; expected one of {', '.join(map(repr, DIALECTS))}."
        )
    source = _CountedTable(
        DIALECTS[dialect],
        design,
        several(table),
        columns_of(design, columns),
        several(by),
        checked,
        reached,
    )
    stored = operation(design, "forms")(design, labels=labels)
    if reached is not None and not design.has_stages:
        raise InvalidRequest(
            "a column of stages that were reached goes with a ladder; expected none of it."
        )
    return "\nUNION ALL\n".join(
        source.block(form, stage, labels=labels)
        for stage, form in enumerate(stored, 1)
    )


def names_of(groups: int, *, labels: bool) -> tuple[str, ...]:
    """Return what the columns of the counts are called, in their order."""
    named = tuple(f"{GROUP}{number}" for number in range(1, groups + 1))
    return (
        *named,
        "design",
        "stage",
        "raised",
        "part",
        "cell",
        *(("label",) if labels else ()),
        "responses",
    )


@dataclass(frozen=True)
class _CountedTable:
    """What a query reads, and in which words."""

    dialect: Dialect
    design: AnyDesign
    table: tuple[str, ...]
    columns: tuple[str, ...]
    by: tuple[str, ...]
    checked: bool
    reached: str | None

    def block(self, form: StoredForm, stage: int, *, labels: bool) -> str:
        """Return the query that counts one stage."""
        if isinstance(form, StoredRows):
            return self._spread(form, stage, labels=labels)
        assert isinstance(form, SingleCell)
        cell = "label" if isinstance(form, StoredLabels) else "cell"
        keys = (*self._groups, "raised", "part")
        one = f"{_when_counted(form.counted(self.dialect))} AS {cell}"
        counted = _select(
            [*keys, one, "times"],
            self._checked(form, stage, self._distinct_rows(form, stage), "times"),
        )
        columns = [
            *self._label_columns(stage, **{cell: cell}, labels=labels),
            _RESPONSES,
        ]
        return f"{_select(columns, counted)}\nGROUP BY {', '.join((*keys, cell))}"

    def _distinct_rows(self, form: SingleCell, stage: int) -> str:
        """Return the rows with how often each occurs, so that few are looked at; text as it is, which may be alike."""
        rows = self._given(form, stage)
        names = (
            *self._groups,
            *form.columns,
            *(("design",) if self.checked else ()),
        )
        names += ("reached",) if self.reached else ()
        if isinstance(form, StoredLabels):
            return _select([*names, "1 AS times"], rows)
        return f"{_select([*names, 'count(*) AS times'], rows)}\nGROUP BY {', '.join(names)}"

    def _spread(self, form: StoredRows, stage: int, *, labels: bool) -> str:
        """Count what stands at each place of a row, and of that the bits: rows are read once, not once for each bit."""
        dialect, unit = self.dialect, form.unit
        keys = (*self._groups, "raised", "part", "line", "place")
        value = f"{form.value(dialect, 'piece')} AS value"
        values = _select([*keys, value, "times"], self._pieces(form, stage, keys))
        cell = f"{form.cells + 1} * line + CASE WHEN bit = {unit} THEN 0 ELSE 1 + {unit} * place + bit END"
        columns = [*self._label_columns(stage, cell=cell, labels=labels), _RESPONSES]
        return (
            f"{_select(columns, values)}\nCROSS JOIN {dialect.numbers(unit + 1, 'bit')}\n"
            f"WHERE (bit = {unit} AND place = 0) OR {dialect.has_bit('value', 'bit')}\n"
            f"GROUP BY {', '.join((*keys, 'bit'))}"
        )

    def _pieces(self, form: StoredRows, stage: int, keys: tuple[str, ...]) -> str:
        """Return how often each piece stands at each place; rows that are not counted stand at the first one."""
        line, content = map(
            _when_counted, (form.line(self.dialect), form.content(self.dialect))
        )
        rows = _select(
            [*keys[:-2], f"{line} AS line", f"{content} AS content"],
            self._checked(form, stage, self._given(form, stage)),
        )
        piece = form.piece(self.dialect, "content", "place")
        return (
            f"{_select([*keys, f'{piece} AS piece', 'count(*) AS times'], rows)}\n"
            f"CROSS JOIN {self.dialect.numbers(form.places, 'place')}\n"
            "WHERE part = 'counted' OR place = 0\n"
            f"GROUP BY {', '.join((*keys, piece))}"
        )

    def _label_columns(
        self, stage: int, *, cell: str = "NULL", label: str = "NULL", labels: bool
    ) -> list[str]:
        """Return the columns that label a count."""
        columns = [
            *self._groups,
            f"'{_hash(self.design)}' AS design",
            f"{stage} AS stage",
            "raised",
            "part",
        ]
        columns.append(f"CAST({cell} AS BIGINT) AS cell")
        return (
            [*columns, f"CAST({label} AS {self.dialect.type_of_text}) AS label"]
            if labels
            else columns
        )

    def _checked(self, form: StoredForm, stage: int, given: str, *kept: str) -> str:
        """Return the rows of a stage, each with what is to be done with it."""
        raised = str(int(stage < self._last))
        if self.reached:
            raised = f"CASE WHEN reached > {stage} THEN 1 ELSE 0 END"
        columns = [
            *self._groups,
            *form.columns,
            *kept,
            f"{raised} AS raised",
            f"{self._part(form)} AS part",
        ]
        rows = _select(columns, given)
        return (
            f"{rows}\nWHERE reached >= {stage} OR reached < 0"
            if self.reached
            else rows
        )

    def _part(self, form: StoredForm) -> str:
        part = "'counted'"
        # an AND may be evaluated in any order, a CASE not
        for condition in reversed(form.conditions(self.dialect)):
            part = f"CASE WHEN {condition} THEN {part} ELSE 'refused' END"
        absent = " AND ".join(f"{name} IS NULL" for name in form.columns)
        foreign = (
            f"WHEN design IS DISTINCT FROM '{_hash(self.design)}' THEN 'foreign' "
            if self.checked
            else ""
        )
        beyond = (
            f"WHEN reached NOT BETWEEN 0 AND {self._last} THEN 'refused' "
            if self.reached
            else ""
        )
        return f"CASE {foreign}{beyond}WHEN {absent} THEN 'missing' ELSE {part} END"

    def _given(self, form: StoredForm, stage: int) -> str:
        """Return the rows as they stand in the table, under names of ours."""
        name = self.dialect.name
        stored = (self.columns[stage - 1],) if self._last else self.columns
        pairs = [
            *zip(self.by, self._groups, strict=True),
            *zip(stored, form.columns, strict=True),
        ]
        columns = [f"{name(theirs)} AS {ours}" for theirs, ours in pairs]
        columns += [f"{name(DESIGN)} AS design"] if self.checked else []
        columns += (
            [f"coalesce({name(self.reached)}, {self._last}) AS reached"]
            if self.reached
            else []
        )
        return f"SELECT {', '.join(columns)}\nFROM {name(*self.table)}"

    @property
    def _last(self) -> int:
        """The number of the last stage; 0 where there are no stages."""
        return len(getattr(self.design, "designs", ()))

    @property
    def _groups(self) -> tuple[str, ...]:
        return names_of(len(self.by), labels=False)[: len(self.by)]


def several(names: Names) -> tuple[str, ...]:
    """Return a name, or several, as several."""
    return (names,) if isinstance(names, str) else tuple(names)


def columns_of(design: AnyDesign, names: Names | None) -> tuple[str, ...]:
    """Return what the columns of a design's responses are called in a table.

    Raises:
        InvalidRequest: more or fewer names than the design has columns.
    """
    columns = design.columns if names is None else several(names)
    if len(columns) != len(design.columns):
        raise InvalidRequest(
            f"{len(columns)} columns are named; expected {len(design.columns)}: those of "
            f"{', '.join(map(repr, design.columns)):.200}."
        )
    return columns


def _hash(design: AnyDesign) -> str:
    assert _HASH.fullmatch(design.hash)
    return design.hash


def _select(shown: Sequence[str], rows: str) -> str:
    # Nothing is indented: a name of somebody else may hold a line break.
    return f"SELECT {', '.join(shown)}\nFROM (\n{rows}\n) AS given"


def _when_counted(expression: str) -> str:
    return f"CASE WHEN part = 'counted' THEN {expression} END"

"""A query and what it returns, on a connection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from deniable.designs import AnyDesign
from deniable.engines.sql.counts import read_counts
from deniable.engines.sql.queries import Names, columns_of, names_of, query, several
from deniable.errors import InvalidRequest, quoted
from deniable.files.columns import DESIGN
from deniable.tallies.stored.forms import COHORT
from deniable.types import operation


class Connected(Protocol):
    """A table in a database that can be asked."""

    @property
    def dialect(self) -> str:
        """Which words the database understands."""
        ...

    @property
    def table(self) -> tuple[str, ...]:
        """What the table is called there."""
        ...

    def kinds(self) -> Mapping[str, str]:
        """Return the columns of the table with what each holds: "numbers", "text", "bytes", or a type by its name."""
        ...

    def rows(self, query: str) -> Iterable[Sequence[Any]]:
        """Return all rows."""
        ...


def count_on(
    connected: Connected,
    design: AnyDesign,
    columns: Names | None = None,
    *,
    by: Names = (),
    reached: str | None = None,
) -> Any:
    """Count a table of responses where it is, in one query.

    What is looked up first is what its columns are of type: text is read as labels, and where there is a column
    `design`, it is looked at.

    Raises:
        Incompatible: rows of another design.
        InvalidRequest: a column that is not there, or of a type that holds no responses of this design.
        InvalidResponse: rows that hold something which the design cannot send.
    """
    stored, kinds = columns_of(design, columns), connected.kinds()
    _check_columns(stored, by, reached, kinds)
    labels = kinds[stored[-1]] == "text"
    _check_kinds(design, stored, kinds, labels=labels)
    text = query(
        design,
        connected.table,
        stored,
        dialect=connected.dialect,
        by=by,
        labels=labels,
        checked=DESIGN in kinds,
        reached=reached,
    )
    return read_counts(
        design,
        names_of(len(several(by)), labels=labels),
        connected.rows(text),
        by=by,
    )


def _check_columns(
    stored: Sequence[str], by: Names, reached: str | None, kinds: Mapping[str, str]
) -> None:
    for name in (*stored, *several(by), *(() if reached is None else (reached,))):
        if name not in kinds:
            raise InvalidRequest(
                f"the table has no column {quoted(name, 60)}; expected one of {', '.join(map(repr, kinds)):.400}."
            )


def _check_kinds(
    design: AnyDesign,
    stored: Sequence[str],
    kinds: Mapping[str, str],
    *,
    labels: bool,
) -> None:
    expected = []
    for form in operation(design, "forms")(design, labels=labels):
        expected += [
            "numbers" if name == COHORT else form.KIND for name in form.columns
        ]
    for name, kind in zip(stored, expected, strict=True):
        if kinds[name] != kind:
            raise InvalidRequest(
                f"the column {quoted(name, 60)} holds {kinds[name]}; expected {kind}, or text in all columns of "
                "responses.",
                "Responses are stored as Responses.to_arrow() has them, or as labels.",
            )

"""Spark counts, we estimate: a frame of responses → a tally, by one query that runs on the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class View:
    """A frame under a name that its session knows, as `engines.sql` asks it."""

    frame: DataFrame
    table: tuple[str, ...]
    dialect: str = "spark"

    def kinds(self) -> Mapping[str, str]:
        """Return the columns of the frame, and what each holds."""
        return {each.name: _kind(each.dataType) for each in self.frame.schema}

    def rows(self, query: str) -> Iterable[Sequence[Any]]:
        """Return all rows."""
        found: list[Sequence[Any]] = self.frame.sparkSession.sql(query).collect()
        return found


@contextmanager
def named(frame: DataFrame) -> Iterator[View]:
    """Give a frame a name that no other one has, for as long as it is asked."""
    name = f"deniable_{uuid4().hex}"
    frame.createTempView(name)
    try:
        yield View(frame, (name,))
    finally:
        frame.sparkSession.catalog.dropTempView(name)


def _kind(of: Any) -> str:
    from pyspark.sql import types

    if isinstance(of, types.NumericType):
        return "numbers"
    if isinstance(of, types.StringType):
        return "text"
    return "bytes" if isinstance(of, types.BinaryType) else str(of.typeName())

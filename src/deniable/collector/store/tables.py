"""What the two kinds of database have in common, inside a transaction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar


class Tables(ABC):
    """The tables inside a transaction. Statements have `?` for values."""

    dialect: ClassVar[Mapping[str, str]]
    """How this kind of database writes what differs: a column of bytes, a table that lies in the order of its key,
    the lock of a row, and that of the whole database, until the end of the transaction."""

    @abstractmethod
    def run(self, statement: str, *values: Any) -> int:
        """Run a statement and return how many rows it changed."""

    @abstractmethod
    def rows(self, statement: str, *values: Any) -> list[Any]:
        """Return all rows."""

    @abstractmethod
    def stream(self, statement: str, *values: Any) -> Iterator[Any]:
        """Yield rows without holding all of them."""

    @abstractmethod
    def find(self, survey: int, question: int, ids: Sequence[bytes]) -> list[tuple[bytes, int, int, bytes]]:
        """Return id, stage, group and code of all responses with these ids."""

    @abstractmethod
    def copy(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Add many rows to a table."""

    def value(self, statement: str, *values: Any) -> Any:
        """Return the first value of the first row; None where there is no row."""
        found = self.rows(statement, *values)
        return found[0][0] if found else None

"""The steps over many rows. `Engine` says what an engine does; `engines.local` is this machine.

`engines.files` takes files of any size. `engines.duckdb` and `engines.postgres` count responses where they are stored,
with the queries of `engines.sql`.

Every engine draws as docs/draws.md says: given the same random bytes it gives the same responses as
`deniable.respond`, answer by answer, and its tallies add up with everybody else's, as
tests/conformance/test_every_engine.py makes sure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from deniable.designs import AnyDesign, Design
    from deniable.engines import duckdb, files, local, postgres, spark, sql
    from deniable.engines.local.engine import Local
    from deniable.tallies.responses import Responses

__all__ = ["Engine", "Local", "duckdb", "files", "local", "postgres", "spark", "sql"]


class Engine(Protocol):
    """Where rows run. Options are those of `deniable.respond_all` and `deniable.tally` that go with a design."""

    def respond_all(
        self, design: AnyDesign, answers: object, **options: Any
    ) -> Responses[Any]:
        """Draw a response to each of many answers; a missing answer gives a missing response.

        Raises:
            InvalidAnswer: a row that the design does not know; only its index is told.
        """
        ...

    def respond_stream(
        self, design: Design, chunks: Iterable[Any], **options: Any
    ) -> Iterator[Responses[Design]]:
        """Respond to columns of answers as they come, each when it is asked for."""
        ...

    def tally(self, design: AnyDesign, responses: object, **options: Any) -> Any:
        """Count `Responses` of any type of design; or a column of labels, codes or packed rows, of categories.

        Raises:
            Incompatible: `Responses` of another design.
            InvalidResponse: something the design cannot send; the message names the first such row.
        """
        ...


if not TYPE_CHECKING:  # a checker knows every name from the imports above

    def __getattr__(name: str) -> object:
        # An engine is loaded when it is first used: NumPy and OpenSSL are not what `import deniable` should wait for.
        if name in ("duckdb", "files", "local", "postgres", "spark", "sql"):
            return import_module(f"deniable.engines.{name}")
        if name == "Local":
            return import_module("deniable.engines.local.engine").Local
        raise AttributeError(f"module 'deniable.engines' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

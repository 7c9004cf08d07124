"""The steps over many rows. An engine is anything with `respond` and `tally`; `engines.local` is this machine.

Every engine draws as docs/draws.md says: given the same random bytes it gives the same responses as
`deniable.respond`, answer by answer, and its tallies add up with everybody else's.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from deniable.designs import Design
    from deniable.engines import local
    from deniable.tallies import Tally

__all__ = ["Engine", "local"]


class Engine(Protocol):
    """Where rows run: two functions, and a module that holds them will do."""

    def respond(self, design: Design, answers: Any) -> Any:
        """Return a column of responses, one drawn for each answer."""
        ...

    def tally(self, design: Design, responses: Any) -> Tally:
        """Count a column of responses."""
        ...


if not TYPE_CHECKING:  # a checker knows every name from the import above

    def __getattr__(name: str) -> object:
        # An engine is loaded when it is first used: NumPy and OpenSSL are not what `import deniable` should wait for.
        if name == "local":
            return import_module(f"deniable.engines.{name}")
        raise AttributeError(f"module 'deniable.engines' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

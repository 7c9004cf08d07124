"""This machine as an engine: NumPy always, compiled kernels with the `fast` extra, threads, constant memory.

Local            the engine, for every type of design
respond_all      a column of answers → Responses
draw_all         the same, as the bare array of codes or of packed rows
draw_stream      the same over columns that come one after another
tally            a column of responses → a Tally
tally_stream     the same over columns that come one after another
join_attributes  a column of answers for each attribute → one column of codes
Keystream        secure random words in bulk
gradual          responses that are out → finer or coarser ones; `key_value`, `numbers`, `strings`: other types in bulk
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from deniable.bulk.columns import (
    draw_all,
    draw_stream,
    join_attributes,
    respond_all,
    tally,
    tally_stream,
)
from deniable.bulk.random_words import Keystream
from deniable.engines.local.engine import Local

if TYPE_CHECKING:
    from deniable.bulk import gradual
    from deniable.types.key_value import draw as key_value
    from deniable.types.numbers import draw as numbers
    from deniable.types.strings import draw as strings

__all__ = [
    "Keystream",
    "Local",
    "draw_all",
    "draw_stream",
    "gradual",
    "join_attributes",
    "key_value",
    "numbers",
    "respond_all",
    "strings",
    "tally",
    "tally_stream",
]

_MODULES = {
    "gradual": "bulk.gradual",
    "key_value": "types.key_value.draw",
    "numbers": "types.numbers.draw",
    "strings": "types.strings.draw",
}

if not TYPE_CHECKING:  # a checker knows the modules from the import above

    def __getattr__(name: str) -> object:
        if name in _MODULES:
            return import_module(f"deniable.{_MODULES[name]}")
        raise AttributeError(
            f"module 'deniable.engines.local' has no attribute {name!r}"
        )


def __dir__() -> list[str]:
    return sorted(__all__)

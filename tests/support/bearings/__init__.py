"""A type of question that the library does not know: where somebody goes, as a bearing on a compass.

It stands for whatever type comes next. `added()` lists the folder for as long as a test runs; the library is unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from deniable import types

ASKS = "bearings"


@contextmanager
def added() -> Iterator[None]:
    """Add this type of question to the library's list."""
    types.FOLDERS[ASKS] = __name__
    try:
        yield
    finally:
        del types.FOLDERS[ASKS]
        types._operation.cache_clear()
        types._operation_names.cache_clear()

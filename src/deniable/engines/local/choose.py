"""Which hand draws: NumPy, or kernels compiled with Numba; and on how many threads."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from deniable.chance import Source
from deniable.errors import InvalidRequest, MissingExtra

ENOUGH = 1 << 24
"""Rows from which on loading and compiling the kernels, about a second once in a process, begins to pay."""

_HOME = "deniable.engines.local.kernels"


def compiled(fast: bool | None, rows: int) -> Any | None:
    """Return the compiled kernels where they are wanted and there, else None.

    Args:
        fast: True to demand them, False to do without, None to take them where they are installed and either loaded
            already or worth loading for so many rows. The responses do not depend on it.
        rows: how many there are to work on.

    Raises:
        MissingExtra: they are demanded and Numba is not installed.
    """
    if fast is False:
        return None
    if fast is None and _HOME not in sys.modules and (rows < ENOUGH or find_spec("numba") is None):
        return None
    try:
        return import_module(_HOME)
    except ImportError as error:
        if fast is None:  # there, but not usable with this Python or NumPy
            return None
        raise MissingExtra(
            f"compiled kernels need Numba, which cannot be imported here ({error.name or 'numba'}).",
            "Install it with: pip install 'deniable[fast]'. Without fast=True NumPy gives the same responses.",
        ) from None


def check_threads(threads: int, source: Source | None = None) -> None:
    """Refuse anything but a positive whole number, and several threads that would share a given source.

    Raises:
        InvalidRequest: otherwise.
    """
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise InvalidRequest(f"threads is {threads!r:.40}; expected a whole number, 1 or more.")
    if source is not None and threads > 1:
        raise InvalidRequest(
            f"{threads} threads cannot share one source in a fixed order; expected threads=1 with a source.",
            "Leave the source out: each thread then has a secure stream of its own.",
        )


@contextmanager
def workers(threads: int) -> Iterator[Callable[[Callable[[int], Any], Iterable[int]], list[Any]]]:
    """Give a function that maps over numbers, on as many threads; with one thread, on this one."""
    if threads == 1:
        yield lambda work, numbers: [work(number) for number in numbers]
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="deniable") as pool:
        yield lambda work, numbers: list(pool.map(work, numbers))

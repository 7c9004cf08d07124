"""The walk of a call through the source: which files run, and how often control passes from one file to another."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import deniable

SOURCE = Path(deniable.__file__).resolve().parent


def walk(run: Callable[[], object]) -> list[str]:
    """Return the file of each change of file while this runs, below `src/deniable`; call it once before, to load."""
    files: list[str] = []

    def watch(frame: FrameType, event: str, argument: object) -> None:  # noqa: ARG001 - as sys.setprofile calls it
        code = frame.f_code
        # The body of a module or class runs while it is imported, and is not a step of the walk.
        if (
            event != "call"
            or code.co_name == "<module>"
            or "__qualname__" in code.co_names
        ):
            return
        path = Path(code.co_filename)
        if SOURCE in path.parents:
            name = path.relative_to(SOURCE).as_posix()
            if not files or files[-1] != name:
                files.append(name)

    sys.setprofile(watch)
    try:
        run()
    finally:
        sys.setprofile(None)
    return files

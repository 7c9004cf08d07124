"""Which files a path stands for: itself, those that a pattern matches, or all of a folder, with what its folders name.

A folder may be partitioned as Hive, Spark and DuckDB write it, `region=north/part-0.parquet`: every file then has the
columns that its folders name, each with one text.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote

from deniable.errors import InvalidRequest
from deniable.files.columns import guess

Paths: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""A file, a folder or a pattern such as `2024-*.parquet`; or several of them."""

_NOTHING = "__HIVE_DEFAULT_PARTITION__"  # what Hive writes where a value is missing


@dataclass(frozen=True)
class Input:
    """A file to read, and the columns that its folders name."""

    path: Path
    named: dict[str, str | None] = field(default_factory=dict)

    @property
    def stamp(self) -> tuple[int, int]:
        """Size and time of the last change: another file has another one."""
        found = self.path.stat()
        return found.st_size, found.st_mtime_ns


def find_inputs(paths: Paths) -> list[Input]:
    """Return the files that paths stand for, those of a folder or a pattern in the order of their names.

    Of a folder all files are taken, also in folders below, but those whose names begin with `.` or `_`, by which
    programs mark what is no data.

    Raises:
        InvalidRequest: there is no such file, one is named twice, or a folder holds a file whose format is not known.

    Example:
        >>> find_inputs("no-such-*.csv")
        Traceback (most recent call last):
        deniable.errors.InvalidRequest: no file matches no-such-*.csv; expected one at least.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found = [each for path in given for each in _found(Path(path))]
    if not found:
        raise InvalidRequest("there are no files; expected one at least.")
    seen = [each.path.resolve() for each in found]
    if len(set(seen)) < len(seen):
        twice = next(path for path in seen if seen.count(path) > 1)
        raise InvalidRequest(
            f"{twice.name} is named more than once; expected each file once.",
            "Its rows would be read as often.",
        )
    columns = {tuple(each.named) for each in found}
    if len(columns) > 1:
        raise InvalidRequest(
            "some files lie in folders that name other columns; expected the same for all of them."
        )
    return found


def _found(path: Path) -> Iterator[Input]:
    if path.is_dir():
        yield from _in_folder(path)
    elif path.exists() or not glob.has_magic(str(path)):
        yield Input(path)
    else:
        matched = sorted(glob.glob(str(path), recursive=True))
        if not matched:
            raise InvalidRequest(f"no file matches {path}; expected one at least.")
        for each in map(Path, matched):
            yield from (
                _in_folder(each)
                if each.is_dir()
                else [Input(each, _named(each.parent.parts))]
            )


def _in_folder(folder: Path) -> Iterator[Input]:
    files = sorted(
        each
        for each in folder.rglob("*")
        if each.is_file() and not _hidden(each.relative_to(folder))
    )
    if not files:
        raise InvalidRequest(
            f"the folder {folder} holds no files; expected one at least."
        )
    for each in files:
        if guess(each.name) is None:
            raise InvalidRequest(
                f"{each.relative_to(folder)} in {folder} is of no format that is known here; expected files of columns "
                "alone.",
                f"Name those that are meant: '{folder}/*.parquet'.",
            )
        yield Input(each, _named(each.relative_to(folder).parent.parts))


def _hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)


def _named(folders: Sequence[str]) -> dict[str, str | None]:
    pairs = [
        folder.partition("=")
        for folder in folders
        if folder.partition("=")[1] and folder.partition("=")[0]
    ]
    return {
        unquote(name): None if text == _NOTHING else unquote(text)
        for name, _, text in pairs
    }

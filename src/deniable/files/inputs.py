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
from typing import IO, TypeAlias
from urllib.parse import unquote

from deniable.errors import InvalidRequest
from deniable.files.columns import File, guess

Paths: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""A file, a folder or a pattern such as `2024-*.parquet`; or several of them."""

_NOTHING = "__HIVE_DEFAULT_PARTITION__"  # what Hive writes where a value is missing


@dataclass(frozen=True)
class Input:
    """A file to read, and the columns that its folders name; or an open file, which is read once."""

    file: Path | IO[bytes]
    named: dict[str, str | None] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """Where the file is."""
        assert isinstance(self.file, Path), "an open file has no path"
        return self.file

    @property
    def stamp(self) -> tuple[int, int]:
        """Size and time of the last change: another file has another one."""
        status = self.path.stat()
        return status.st_size, status.st_mtime_ns


def read_inputs(files: Paths | File) -> list[Input]:
    """Return the files that paths stand for, or the one that is open.

    Raises:
        InvalidRequest: as `find_inputs`.
    """
    if isinstance(files, str | os.PathLike | Sequence):
        return find_inputs(files)
    return [Input(files)]


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
    listed = [paths] if isinstance(paths, str | os.PathLike) else paths
    inputs = [file for path in listed for file in _expand(Path(path))]
    if not inputs:
        raise InvalidRequest("there are no files; expected one at least.")
    resolved = [file.path.resolve() for file in inputs]
    if len(set(resolved)) < len(resolved):
        twice = next(path for path in resolved if resolved.count(path) > 1)
        raise InvalidRequest(
            f"{twice.name} is named more than once; expected each file once.",
            "Its rows would be read as often.",
        )
    if len({tuple(file.named) for file in inputs}) > 1:
        raise InvalidRequest(
            "some files lie in folders that name other columns; expected the same for all of them."
        )
    return inputs


def _expand(path: Path) -> Iterator[Input]:
    if path.is_dir():
        yield from _in_folder(path)
    elif path.exists() or not glob.has_magic(str(path)):
        yield Input(path)
    else:
        matched = sorted(glob.glob(str(path), recursive=True))
        if not matched:
            raise InvalidRequest(f"no file matches {path}; expected one at least.")
        for match in map(Path, matched):
            if match.is_dir():
                yield from _in_folder(match)
            else:
                yield Input(match, _read_folders(match.parent.parts))


def _in_folder(folder: Path) -> Iterator[Input]:
    files = sorted(
        file
        for file in folder.rglob("*")
        if file.is_file() and not _is_hidden(file.relative_to(folder))
    )
    if not files:
        raise InvalidRequest(
            f"the folder {folder} holds no files; expected one at least."
        )
    for file in files:
        if guess(file.name) is None:
            raise InvalidRequest(
                f"{file.relative_to(folder)} in {folder} is of no format that is known here; expected files of columns "
                "alone.",
                f"Name those that are meant: '{folder}/*.parquet'.",
            )
        yield Input(file, _read_folders(file.relative_to(folder).parent.parts))


def _is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)


def _read_folders(folders: Sequence[str]) -> dict[str, str | None]:
    """Return the columns that folders name."""
    parts = [folder.partition("=") for folder in folders]
    return {
        unquote(name): None if text == _NOTHING else unquote(text)
        for name, sign, text in parts
        if name and sign
    }

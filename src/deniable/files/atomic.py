"""Files that appear only when they are complete, and replace nothing unless asked to."""

from __future__ import annotations

import glob
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from deniable.errors import InvalidRequest

try:
    import fcntl
except (
    ImportError
):  # pragma: no cover - not on Windows, where a file that is open cannot be erased
    fcntl = None  # type: ignore[assignment]


def check_free(path: Path, *, overwrite: bool) -> None:
    """Refuse to write where something is already, unless it is a file that may be overwritten.

    Raises:
        InvalidRequest: there is something.
    """
    if path.exists() and not path.is_file():
        raise InvalidRequest(
            f"{path} is not a file; expected the name of a file to write."
        )
    if path.exists() and not overwrite:
        raise InvalidRequest(
            f"{path} exists already; expected a new name.",
            "Allow it to be overwritten (--force), or choose another.",
        )


@contextmanager
def atomic_write(
    path: str | os.PathLike[str], *, overwrite: bool = False, private: bool = False
) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes its name at the end, complete and on the disk; after an error nothing is left.

    Args:
        path: where.
        overwrite: whether a file that is there may be replaced.
        private: whether its owner alone may read it, from the first byte on.

    Raises:
        InvalidRequest: something of this name exists and may not be overwritten.
        OSError: the folder is not there, or may not be written to.
    """
    final = Path(path)
    check_free(final, overwrite=overwrite)
    _erase_leftovers(final)
    partial = final.with_name(f".{final.name}.{secrets.token_hex(4)}.partial")
    try:
        descriptor = os.open(
            partial,
            os.O_CREAT | os.O_EXCL | os.O_WRONLY,
            0o600 if private else 0o666,
        )
        with open(descriptor, "wb") as file:
            _lock(file.fileno())
            yield file
            file.flush()
            os.fsync(file.fileno())
        check_free(final, overwrite=overwrite)  # somebody may have been quicker
        partial.replace(final)
        sync_folder(final.parent)
    finally:
        partial.unlink(missing_ok=True)


def _erase_leftovers(final: Path) -> None:
    """Erase what programs that were killed have left of the same file; one that still writes holds its lock."""
    for leftover in final.parent.glob(f".{glob.escape(final.name)}.*.partial"):
        with suppress(FileNotFoundError), leftover.open("rb") as left:
            if _lock(left.fileno()):
                leftover.unlink()


@contextmanager
def file_lock(path: Path) -> Iterator[bool]:
    """Hold a lock that ends with the program; yield False where another program holds it."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        yield _lock(descriptor)
    finally:
        os.close(descriptor)


def _lock(opened: int) -> bool:
    if fcntl is None:  # pragma: no cover
        return True
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def sync_folder(folder: Path) -> None:
    """Force the names in a folder onto the disk: a file that was written survives a power cut under its own.

    Some systems cannot open or force a folder; they keep names by themselves.
    """
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)

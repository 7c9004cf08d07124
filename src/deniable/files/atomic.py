"""Files that appear only when they are complete, and replace nothing unless asked to."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from deniable.errors import InvalidRequest


def check_free(path: Path, *, overwrite: bool) -> None:
    """Refuse to write where something is already, unless it is a file that may be overwritten.

    Raises:
        InvalidRequest: there is something.
    """
    if path.exists() and not path.is_file():
        raise InvalidRequest(f"{path} is not a file; expected the name of a file to write.")
    if path.exists() and not overwrite:
        raise InvalidRequest(
            f"{path} exists already; expected a new name.", "Allow it to be overwritten (--force), or choose another."
        )


@contextmanager
def atomic_write(
    path: str | os.PathLike[str], *, overwrite: bool = False, private: bool = False
) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes its name at the end, complete; after an error nothing is left.

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
    partial = final.with_name(f".{final.name}.{secrets.token_hex(4)}.partial")
    try:
        made = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600 if private else 0o666)
        with open(made, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        check_free(final, overwrite=overwrite)  # somebody may have been quicker
        partial.replace(final)
    finally:
        partial.unlink(missing_ok=True)

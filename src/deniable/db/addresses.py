"""Addresses of databases: what they are, and what of them may be told."""

from __future__ import annotations

import os
from urllib.parse import SplitResult, parse_qs, urlsplit


def is_address(where: str | os.PathLike[str]) -> bool:
    """Say whether this is the address of a server, and not a path."""
    return os.fspath(where).startswith(("postgresql://", "postgres://"))


def shown(where: str | os.PathLike[str]) -> str:
    """Name a database to people: of an address the host and the name, without users, passwords and options.

    Example:
        >>> shown("postgresql://ann:secret@db.example/survey?password=secret"), shown("deniable.db")
        ('postgresql://db.example/survey', 'deniable.db')
    """
    if not is_address(where):
        return os.fspath(where)
    parts = _parts(where)
    return f"postgresql://{parts.hostname or ''}{parts.path}" if parts else "postgresql://…"


def has_password(where: str | os.PathLike[str]) -> bool:
    """Say whether a password stands in an address, before the host or among the options.

    Example:
        >>> [has_password(f"postgresql://{each}") for each in ("ann:secret@db/survey", "db/s?password=x", "ann@db/s")]
        [True, True, False]
    """
    parts = _parts(where) if is_address(where) else None
    if parts is None:
        return is_address(where)
    return parts.password is not None or any(name.endswith("password") for name in parse_qs(parts.query))


def _parts(where: str | os.PathLike[str]) -> SplitResult | None:
    try:
        return urlsplit(os.fspath(where))
    except ValueError:  # whose words repeat the address
        return None

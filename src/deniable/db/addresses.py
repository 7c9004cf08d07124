"""Addresses of databases: recognition, and names without secrets."""

from __future__ import annotations

import os
from urllib.parse import SplitResult, parse_qs, urlsplit


def is_address(location: str | os.PathLike[str]) -> bool:
    """Say whether this is the address of a server, and not a path."""
    return os.fspath(location).startswith(("postgresql://", "postgres://"))


def name_database(location: str | os.PathLike[str]) -> str:
    """Name a database to people: of an address the host and the name, without users, passwords and options.

    Example:
        >>> name_database("postgresql://ann:secret@db.example/survey?password=secret"), name_database("deniable.db")
        ('postgresql://db.example/survey', 'deniable.db')
    """
    if not is_address(location):
        return os.fspath(location)
    url = _split_url(location)
    return (
        f"postgresql://{url.hostname or ''}{url.path}" if url else "postgresql://…"
    )


def has_password(location: str | os.PathLike[str]) -> bool:
    """Say whether a password stands in an address, before the host or among the options.

    Example:
        >>> [has_password(f"postgresql://{each}") for each in ("ann:secret@db/survey", "db/s?password=x", "ann@db/s")]
        [True, True, False]
    """
    url = _split_url(location) if is_address(location) else None
    if url is None:
        return is_address(location)
    return url.password is not None or any(
        name.endswith("password") for name in parse_qs(url.query)
    )


def _split_url(location: str | os.PathLike[str]) -> SplitResult | None:
    try:
        return urlsplit(os.fspath(location))
    except ValueError:  # whose words repeat the address
        return None

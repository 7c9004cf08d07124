"""`deniable serve`: run the collector."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.cli.common import guard_command, say
from deniable.db import has_password
from deniable.errors import InvalidRequest, MissingExtra

if TYPE_CHECKING:
    from deniable.collector.settings import Settings


@guard_command
def serve(
    *,
    settings: Path | None = None,
    database: str | None = None,
    host: str | None = None,
    port: int | None = None,
    address: str | None = None,
    proxies: str | None = None,
    unencrypted: bool = False,
) -> None:
    """Run the collector: surveys in the browser, responses in a database, estimates on pages.

    Every setting can also come from the file, or from the environment as `DENIABLE_PORT` and the like.

    Args:
        host: the address of this machine to listen on; by default 127.0.0.1.
        port: the port to listen on; by default 8000.
        address: what people type to get here, such as https://survey.example.
        proxies: addresses of proxies in front that say where requests come from.
        unencrypted: serve pages to other machines without HTTPS.
    """
    chosen = read_settings(
        settings, database=database, host=host, port=port, address=address, proxies=proxies,
        unencrypted=unencrypted or None,
    )  # fmt: skip
    with require_extra():
        from deniable.collector.serve import serve as run
    run(
        chosen,
        lambda running: say(
            f"The collector is at {running.base}; stop it with Ctrl-C."
        ),
    )


def read_settings(file: Path | None, **given: Any) -> Settings:
    """Read the settings of a collector: file, environment, options.

    Raises:
        MissingExtra: the packages of the collector are not installed.
        InvalidRequest: a password among the options, where all on the machine see it.
    """
    if has_password(given.get("database") or ""):
        raise InvalidRequest(
            "the address of the database holds a password, and everybody on this machine sees the command line; "
            "expected one without.",
            "Set DENIABLE_DATABASE, name a file with --settings, or keep the password in a PGPASSFILE.",
        )
    with require_extra():
        from deniable.collector.settings import read
    return read(file, os.environ, given)


@contextmanager
def require_extra() -> Iterator[None]:
    """Import something of the collector.

    Raises:
        MissingExtra: the packages of the collector are not installed.
    """
    try:
        yield
    except ImportError as error:
        raise MissingExtra(
            f"the collector needs the package {error.name!r}, which is not installed.",
            'Install it: pip install "deniable[collect]".',
        ) from None

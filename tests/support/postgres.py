"""A Postgres server of our own, for as long as the tests run.

The server's programs come from the system (`scripts/postgres` installs them where it may). Where there are none, the
tests that need them are skipped, and say so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

USER = "postgres"
"""Postgres refuses to run as root; where tests do, the server runs as the user that its package has made."""


def programs() -> Path | None:
    """Return the folder with `initdb` and `pg_ctl`, the newest version first; None where there is none."""
    debian = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"),
        key=lambda path: -float(path.parts[-3]),
    )
    found = shutil.which("initdb")
    paths = [*debian, *([Path(found)] if found else [])]
    return paths[0].parent if paths else None


def missing() -> str:
    """Return why there is no server; empty where there can be one."""
    try:
        import psycopg  # noqa: F401 - only whether it is there
    except ImportError:
        return (
            "left out: psycopg is not installed (pip install 'deniable[postgres]')"
        )
    if programs() is None:
        return "left out: no Postgres server is installed (scripts/postgres installs it as root on Debian)"
    if os.geteuid() == 0 and not _has_user():
        return f"left out: tests run as root, and there is no user {USER!r} to run the server"
    return ""


@contextmanager
def server() -> Iterator[str]:
    """Start a server on a socket of its own; yield the address of a database."""
    found = programs()
    assert found is not None
    folder = Path(tempfile.mkdtemp(prefix="deniable-postgres-"))
    data = folder / "data"
    if os.geteuid() == 0:
        shutil.chown(folder, USER, USER)
    try:
        _run(
            found / "initdb",
            "-D",
            data,
            "-U",
            USER,
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-sync",
            "--no-locale",
        )
        # no test cuts the power: what was written need not have reached the disk
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c max_connections=20 -c fsync=off"
        _run(
            found / "pg_ctl",
            "-D",
            data,
            "-l",
            folder / "log",
            "-w",
            "-o",
            options,
            "start",
        )
        try:
            yield f"postgresql://{USER}@/postgres?host={folder}"
        finally:
            _run(found / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fresh_database(address: str, name: str) -> str:
    """Make an empty database and return its address."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return address.replace("/postgres?", f"/{name}?")


def fresh_schema(address: str, name: str) -> str:
    """Make an empty schema in the same database, which is quicker, and return an address that leads into it."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{address}&options=-csearch_path%3D{name}"


def _run(program: Path, *words: object) -> None:
    command = [str(program), *map(str, words)]
    if os.geteuid() == 0:
        command = [
            "setpriv",
            f"--reuid={USER}",
            f"--regid={USER}",
            "--init-groups",
            *command,
        ]
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        cwd="/",
    )
    assert done.returncode == 0, f"{' '.join(command)}:\n{done.stdout}"


def _has_user() -> bool:
    import pwd

    try:
        pwd.getpwnam(USER)
    except KeyError:
        return False
    return True

"""Places for panels: a file, and a database of a Postgres server that is started once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.support import postgres

_numbers = count(1)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a server that runs until the tests have ended."""
    reason = postgres.missing()
    if reason:
        pytest.skip(reason)
    with postgres.server() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a panel, empty."""
    if request.param == "sqlite":
        return str(tmp_path / "panel.db")
    address = request.getfixturevalue("postgres_server")
    return postgres.fresh_database(address, f"panel_{next(_numbers)}")

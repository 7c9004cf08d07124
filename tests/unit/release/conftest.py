"""Places for panels: a file, and a database of the Postgres server."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from tests.support import postgres

_numbers = count(1)


@pytest.fixture(params=["sqlite", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a panel, empty."""
    if request.param == "sqlite":
        return str(tmp_path / "panel.db")
    address = request.getfixturevalue("postgres_server")
    return postgres.fresh_database(address, f"panel_{next(_numbers)}")

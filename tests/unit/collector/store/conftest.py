"""Stores to test: a SQLite file, and a database of the Postgres server."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from deniable.collector.store import Entry, Store, open_store
from tests.support import postgres
from tests.support.surveys import small

_numbers = count(1)


@pytest.fixture(params=["sqlite", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a store, empty."""
    if request.param == "sqlite":
        return str(tmp_path / "collector.db")
    address = request.getfixturevalue("postgres_server")
    return postgres.fresh_schema(address, f"collector_{next(_numbers)}")


@pytest.fixture
def store(where: str) -> Iterator[Store]:
    """A store, empty; it writes anew half of the time: who withdraws waits once as long as it takes, not nine times."""
    opened = open_store(where, rewriting=0.5)
    yield opened
    opened.shut()


@pytest.fixture
def entry(store: Store) -> Entry:
    """The small survey, open."""
    store.create(small())
    return store.open("small")

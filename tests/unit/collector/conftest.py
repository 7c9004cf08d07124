"""A collector with the small survey, asked without a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from deniable.collector.app import make_app
from deniable.collector.settings import Settings
from deniable.collector.store import Store, Token, open_store
from deniable.survey import Survey
from tests.support.collector import Inside
from tests.support.surveys import small


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Store]:
    """A store with the small survey, open, and with minimum 3."""
    store = open_store(tmp_path / "collector.db")
    store.create(small(minimum=3))
    store.open("small")
    yield store
    store.shut()


@pytest.fixture
def survey(database: Store) -> Survey:
    return database.survey("small").survey


@pytest.fixture
def collector(database: Store) -> Iterator[Inside]:
    with Inside(make_app(Settings(), database)) as inside:
        yield inside


@pytest.fixture
def device(database: Store) -> str:
    """The header of a device that sends batches."""
    return f"Bearer {database.issue_token(Token('tablet', 'device'))}"


@pytest.fixture
def analyst(database: Store) -> str:
    """The header of an analyst."""
    return f"Bearer {database.issue_token(Token('ann', 'analyst'))}"


@pytest.fixture
def admin(database: Store) -> str:
    """The header of an administrator."""
    return f"Bearer {database.issue_token(Token('ada', 'admin'))}"

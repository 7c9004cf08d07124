"""A ledger of its own for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from deniable.chance import Source
from deniable.release.ledger import Ledger


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mine.ledger"


@pytest.fixture
def ledger(path: Path, seeded: Source) -> Ledger:
    return Ledger.create(path, source=seeded)

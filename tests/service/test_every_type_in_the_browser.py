"""The respondent's browser reads the designs that the table of surfaces says it draws, and refuses all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deniable.types import FOLDERS, surfaces
from tests.support import browser
from tests.support.types import TYPES

if TYPE_CHECKING:
    from playwright.sync_api import Page

READERS = {"ladder": "readLadder", "deck": "readDeck"}


@pytest.mark.parametrize("asks", FOLDERS)
def test_a_design_is_read_or_refused(asks: str, scripts: Page) -> None:
    reader = READERS.get(asks, "readDesign")
    found = browser.run(scripts, "call", [[reader, TYPES[asks]().design.to_json()]])
    assert ("name" in found) == ("browser draw" in surfaces.refusals(asks)), found

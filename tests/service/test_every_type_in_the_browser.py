"""The respondent's browser reads the designs that the table of surfaces says it draws, and refuses all others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deniable.collector.app import make_app
from deniable.collector.store import open_store
from deniable.types import FOLDERS, find_operation, operation, surfaces
from tests.support import bearings, browser
from tests.support.bearings.design import bearing_design
from tests.support.collector import UNLIMITED, listening
from tests.support.respondents import Visit
from tests.support.types import TYPES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LABELS = {"strings": "Smith", "unlisted strings": "ab"}
"""What is entered, where there is no first category."""

READERS = {"ladder": "readLadder", "deck": "readDeck"}


@pytest.mark.parametrize("asks", FOLDERS)
def test_a_design_is_read_or_refused(asks: str, scripts: Page) -> None:
    reader = READERS.get(asks, "readDesign")
    found = browser.run(scripts, "call", [[reader, TYPES[asks]().design.to_json()]])
    assert ("name" in found) == ("browser draw" in surfaces.refusals(asks)), found


PAGED = [
    name
    for name, build in TYPES.items()
    if find_operation(build().design, "page_design")
]


@pytest.mark.parametrize("name", PAGED)
def test_a_page_knows_the_epsilon_that_python_knows(
    name: str, scripts: Page
) -> None:
    """It works it out from the weights that it draws with, whatever a definition says, and refuses what is above."""
    design = TYPES[name]().design
    for ceiling, refused in (
        (design.epsilon * 0.999, True),
        (design.epsilon, False),
    ):
        page = operation(design, "page_design")(design)
        steps = [
            ["readDesign", design.to_json(), {"ceiling": ceiling}],
            ["respond", None, LABELS.get(name) or page.categories[0]],
        ]
        found = browser.run(scripts, "call", steps)
        assert (found.get("name") == "OverBudget") == refused, found
        assert ("value" in found) != refused


def test_a_type_that_the_scripts_do_not_know_is_drawn_by_the_design_that_it_names(
    chromium: Browser, tmp_path: Path
) -> None:
    design = bearing_design(2)
    with bearings.added():
        store = open_store(tmp_path / "store.db")
        store.create(bearings.survey(design))
        entry = store.open("ways")
        context = chromium.new_context(locale="en")
        with listening(make_app(UNLIMITED, store)) as address:
            visit = Visit(context, address)
            assert visit.take_part("ways", 2) == ""
            [sent] = visit.sent()
            [response] = sent["responses"]
            assert design.response_number(response["symbol"]) in range(4)
            assert "south" not in visit.kept().replace(response["symbol"], "")
            assert visit.complaints == []
        context.close()
        assert store.tallies(entry.id, 0).respondents == 1
        store.shut()

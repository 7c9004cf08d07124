"""Signing in, in a browser: with the keyboard, on small screens, and for everybody."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from deniable.collector.app import make_app
from deniable.collector.settings import Settings
from deniable.collector.store import Token, open_store
from tests.support.collector import listening
from tests.support.surveys import small

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The address of a collector, and a token for it."""
    store = open_store(tmp_path_factory.mktemp("session") / "c.db")
    store.create(small())
    token = store.issue_token(Token("ann", "analyst"))
    with listening(make_app(Settings(), store)) as address:
        yield address, token
    store.shut()


def violations(page: Page) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe

    return [each["id"] for each in Axe().run(page).response["violations"]]


@pytest.mark.parametrize("width", [320, 1280])
def test_signing_in_and_out_with_the_keyboard(
    chromium: Browser, place: tuple[str, str], width: int
) -> None:
    address, token = place
    with chromium.new_context(viewport={"width": width, "height": 700}) as context:
        page = context.new_page()
        page.goto(f"{address}/a/small")
        assert page.url == f"{address}/a/login?next=/a/small"
        assert not violations(page)
        page.focus("#token")
        page.keyboard.type("wrong")
        page.keyboard.press("Enter")
        page.wait_for_selector("[role=alert]")
        assert not violations(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.focus("#token")
        page.keyboard.type(token)
        page.keyboard.press("Enter")
        page.wait_for_url(f"{address}/a/small")
        (session,) = [
            each for each in context.cookies() if each["name"] == "deniable-session"
        ]
        assert (session["httpOnly"], session["sameSite"]) == (True, "Strict")
        page.goto(f"{address}/a/login")
        assert "ann" in page.inner_text("main")
        assert not violations(page)
        page.click("button")
        page.wait_for_selector("#token")
        assert not [
            each for each in context.cookies() if each["name"] == "deniable-session"
        ]


def test_a_page_that_is_not_there_is_for_everybody_too(
    chromium: Browser, place: tuple[str, str]
) -> None:
    with chromium.new_context(viewport={"width": 320, "height": 700}) as context:
        page = context.new_page()
        answered = page.goto(f"{place[0]}/nothing")
        assert answered
        assert answered.status == 404
        assert not violations(page)

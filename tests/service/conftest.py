"""Fixtures of the tests that need a browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support import browser
from tests.support.respondents import running, visit  # noqa: F401 - fixtures of the tests of pages

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Chromium, until the tests of this file have ended: while it runs, its thread can run no other event loop."""
    reason = browser.missing()
    if reason:
        pytest.skip(reason)
    with browser.browser() as started:
        yield started


@pytest.fixture(scope="module")
def scripts(chromium: Browser) -> Iterator[Page]:
    """An empty page that can import the collector's scripts."""
    with browser.scripts(chromium) as page:
        yield page

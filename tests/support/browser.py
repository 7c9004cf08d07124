"""Chromium without a window, for tests of pages and of the script that runs in them.

The browser comes from the system (`scripts/chromium` installs it where it may). Where there is none, the tests that
need it are skipped, and say so. Nothing is downloaded, and the browser asks nobody for anything on its own.
"""

from __future__ import annotations

import base64
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import deniable

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

STATIC = Path(deniable.__file__).parent / "collector" / "static"
"""Scripts, styles and pictures of the collector's pages."""

HAND = Path(__file__).parent / "hand.js"
"""What tests have the scripts do."""

FLAGS = (
    "--headless",
    "--no-sandbox",  # tests may run as root, where Chromium's sandbox refuses to start
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",  # containers give /dev/shm too little room
)


def missing() -> str:
    """Return why there is no browser; empty where there is one."""
    try:
        import playwright  # noqa: F401 - only whether it is there
    except ImportError:
        return "left out: playwright is not installed (pip install --group dev)"
    if shutil.which("chromium") is None:
        return "left out: Chromium is not installed (scripts/chromium installs it as root on Debian)"
    return ""


@contextmanager
def browser(*, goes_back: bool = False) -> Iterator[Browser]:
    """Start Chromium, and stop it at the end. Each test makes a context of its own (`chromium.new_context()`).

    Playwright switches off that pages are kept to go back to, as every browser does; `goes_back` leaves it on.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=list(FLAGS),
            ignore_default_args=["--disable-back-forward-cache"]
            if goes_back
            else [],
        )
        try:
            yield started
        finally:
            started.close()


@contextmanager
def scripts(chromium: Browser, address: str = "http://localhost/") -> Iterator[Page]:
    """Open an empty page that can import the collector's scripts, and `hand.js`, by name; no network is asked.

    A page of localhost is as safe as one over https to a browser; one of another address is not.
    """
    context = chromium.new_context()
    try:
        page = context.new_page()
        page.route("**/*", _from_disk)
        page.goto(address)
        yield page
    finally:
        context.close()


def run(page: Page, name: str, argument: object) -> Any:
    """Call a function of `hand.js` in a page."""
    return page.evaluate(
        f"async (argument) => (await import('/hand.js')).{name}(argument)", argument
    )


def packed(script: bytes) -> str:
    """Return bytes as `hand.js` reads them."""
    return base64.b64encode(script).decode()


def _from_disk(route: Route) -> None:
    path = urlsplit(route.request.url).path
    file = HAND if path == "/hand.js" else STATIC / path[1:]
    if path == "/":
        route.fulfill(
            content_type="text/html", body="<!doctype html><title>scripts</title>"
        )
    elif file.is_file():
        route.fulfill(content_type="text/javascript", path=file)
    else:
        route.abort()

"""The page of an audit in a browser: on a phone and on a desk, light and dark, without a network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deniable.auditor import audit

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), (1280, "light")])
def test_everybody_can_read_it_and_it_asks_nobody(
    chromium: Browser, tmp_path: Path, width: int, scheme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    found = audit(
        lambda answer: answer,
        ["yes", "no"],
        epsilon=1,
        draws=1_000,
        checks=["worst event", "size"],
    )
    (tmp_path / "report.html").write_text(found.to_html(), encoding="utf-8")
    context = chromium.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme
    )  # type: ignore[arg-type]
    try:
        page = context.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto((tmp_path / "report.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width, (
            "the page is wider than the screen"
        )
        assert page.locator("svg .bound").count() == len(found.events)
        assert [url for url in asked if not url.startswith("file:")] == []
        assert Axe().run(page).response["violations"] == []
    finally:
        context.close()

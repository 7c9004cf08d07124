"""The page of `deniable-papers` in a browser: on a phone and on a desk, light and dark, without a network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deniable_papers.page import REPORT, Folder
from deniable_papers.run import Made, Reproduction, document
from tests.support.reproduced import FEW, made

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SCREENS = [(320, "dark"), (1280, "light")]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    contents = made("rr3")
    every = [
        Made(exhibit, contents[exhibit.name]) for exhibit in document("rr3").exhibits
    ]
    folder = Folder(tmp_path_factory.mktemp("reproduced"))
    for each in every:
        folder.add(each)
    folder.finish(Reproduction(tuple(every), FEW, whole=True))
    return folder.path / REPORT


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_everybody_can_read_it_and_it_asks_nobody(
    chromium: Browser, report: Path, width: int, scheme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    context = chromium.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme
    )  # type: ignore[arg-type]
    try:
        page = context.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(report.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width, (
            "the page is wider than the screen"
        )
        assert page.evaluate(
            "[...document.images].every(image => image.naturalWidth > 0)"
        )
        assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
        assert Axe().run(page).response["violations"] == []
    finally:
        context.close()

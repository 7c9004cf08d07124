"""The page of a certificate in a browser: nothing is cut off, nothing is asked for, light and dark differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

import deniable as dn
from tests.support import browser
from tests.support.surveys import small

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.skipif(bool(browser.missing()), reason=browser.missing())


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser.browser() as started:
        yield started


def test_a_certificate_fits_a_telephone_and_a_desk(chromium: Browser) -> None:
    long = [
        "a rather long label for an answer",
        "another one that is just as long",
        "no",
    ]
    pages = [
        dn.certify(small()).to_html(),
        dn.certify(dn.k_ary(long, 1), prior=["1/3", "1/3", "1/3"]).to_html(),
    ]
    grounds = set()
    for scheme in ("light", "dark"):
        for width in (375, 1280):
            context = chromium.new_context(
                color_scheme=scheme, viewport={"width": width, "height": 800}
            )
            page, asked = context.new_page(), []
            page.on(
                "request", lambda request, asked=asked: asked.append(request.url)
            )
            for content in pages:
                page.set_content(content)
                assert page.evaluate("document.documentElement.scrollWidth") <= width
            grounds.add(
                page.evaluate("getComputedStyle(document.body).backgroundColor")
            )
            assert not asked
            context.close()
    assert len(grounds) == 2

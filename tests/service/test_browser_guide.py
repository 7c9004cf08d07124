"""What docs/guides/browser.md shows runs in a browser, and does what it says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import deniable as dn
from deniable.blind import EXPONENT
from deniable.order.relaxation import ladder
from tests.support import browser
from tests.support.signing import KEYS, signed_by

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "browser.md"
SHOWN = re.findall(
    r"^```(html|js)\n(.*?)^```$",
    GUIDE.read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)
DESIGN = dn.warner(p="3/4")
STAGES = ladder([dn.k_ary(["red", "green", "blue"], epsilon=e) for e in (0.5, 1, 2)])
KEY = KEYS[0]


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    def exchange(route: Route) -> None:
        route.fulfill(
            body=f"{signed_by(KEY, int(route.request.post_data or '', 16)):x}"
        )

    files = {
        "design": DESIGN.to_json(),
        "ladder": STAGES.to_json(),
        "key": KEY.to_json(),
    }
    with browser.scripts(chromium) as opened:
        opened.route(
            "**/*.json",
            lambda route: route.fulfill(body=files[Path(route.request.url).stem]),
        )
        opened.route("**/exchange", exchange)
        yield opened


def test_there_are_a_page_and_two_scripts() -> None:
    assert [kind for kind, _ in SHOWN] == ["html", "js", "js"]


def test_the_page_sends_a_response_and_nothing_else(page: Page) -> None:
    sent: list[str] = []

    def take(route: Route) -> None:
        sent.append(route.request.post_data or "")
        route.fulfill(status=204)

    page.route("**/responses", take)
    page.route(
        "**/guide",
        lambda route: route.fulfill(content_type="text/html", body=SHOWN[0][1]),
    )
    page.goto("http://localhost/guide")
    page.get_by_role("button", name="Yes").click()
    page.wait_for_function("document.querySelector('output').textContent")
    shown = page.text_content("output")
    assert [json.loads(each) for each in sent] in [
        [{"design": DESIGN.hash, "symbol": each}] for each in ("yes", "no")
    ]
    assert shown == f"Sent: {json.loads(sent[0])['symbol']}"


def test_the_stages(page: Page) -> None:
    page.add_script_tag(type="module", content=SHOWN[1][1])
    page.wait_for_function(
        f"localStorage.getItem('question')?.includes('{STAGES.designs[1].hash}')"
    )
    kept = json.loads(page.evaluate("localStorage.getItem('question')"))
    assert kept["answer"] == "green"
    assert kept["response"]["symbol"] in STAGES.categories


def test_the_invitation(page: Page) -> None:
    page.add_script_tag(type="module", content=SHOWN[2][1])
    page.wait_for_function("localStorage.getItem('signature')")
    signature = int(page.evaluate("localStorage.getItem('signature')"), 16)
    assert 1 < pow(signature, EXPONENT, KEY.modulus) < KEY.modulus

"""The analyst's pages in a browser: accessible, on small screens and large, light and dark, with and without script."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import deniable as dn
from deniable.collector.app import make_app
from deniable.collector.settings import Settings
from deniable.collector.store import Token, open_store
from deniable.designs import Design
from deniable.errors import ImplausibleResponses
from deniable.tallies import Tally
from tests.support import filled
from tests.support.collector import listening
from tests.support.commands import done
from tests.support.surveys import small

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PAGES = (
    "/a",
    "/a/working-life",
    "/a/working-life/overtime",
    "/a/working-life/overtime?group=office",
    "/a/working-life/exhaustion",
    "/a/small/apps",  # with a warning
    "/a/small/colour",  # with too few responses
    "/a/plan",
    "/a/plan?epsilon=0.2&respondents=500000&categories=40&prior=1",
)
LOOKS = ({"width": 320, "scheme": "dark"}, {"width": 1280, "scheme": "light"})


class Place(NamedTuple):
    """A collector with two surveys, and a token for its results."""

    address: str
    token: str

    def get(self, path: str, **headers: str) -> bytes:
        asked = urllib.request.Request(
            self.address + path,
            headers={"Authorization": f"Bearer {self.token}"} | headers,
        )
        with urllib.request.urlopen(asked) as answer:
            return bytes(answer.read())


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    store = open_store(tmp_path_factory.mktemp("analyst") / "c.db")
    filled.fill(store, filled.opened(store, filled.example()), {0: 1500, 1: 900})
    entry = filled.opened(store, small())
    rows = np.zeros((600, 12), np.uint8)
    rows[:, [1, 4, 7]] = 1
    filled.add(
        store, entry, 2, [np.packbits(rows, axis=1, bitorder="little")], group=0
    )
    filled.ask(store, entry, 1, [0, 1, 2])
    store.close("small")
    token = store.issue_token(Token("tests", "analyst"))
    with listening(
        make_app(Settings(database=":memory:", rate=0), store)
    ) as address:
        yield Place(address, token)
    store.shut()


def opened(
    chromium: Browser,
    place: Place,
    width: int,
    scheme: Any = "light",
    *,
    script: bool = True,
) -> Page:
    context = chromium.new_context(
        viewport={"width": width, "height": 800},
        color_scheme=scheme,
        java_script_enabled=script,
        extra_http_headers={"Authorization": f"Bearer {place.token}"},
    )
    return context.new_page()


@pytest.mark.parametrize(
    "look", LOOKS, ids=lambda look: f"{look['width']}-{look['scheme']}"
)
def test_every_page_is_accessible_and_keeps_to_itself(
    chromium: Browser, place: Place, look: dict[str, Any]
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = opened(chromium, place, look["width"], look["scheme"])
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    for path in PAGES:
        answer = page.goto(place.address + path)
        assert answer is not None
        assert answer.status == 200, path
        assert (
            page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        ), f"{path} scrolls sideways"
        found = Axe().run(page)
        assert found.violations_count == 0, f"{path}: {found.generate_report()}"
    assert said == []  # a broken content security policy would be told here
    assert {url for url in asked if not url.startswith(place.address)} == set()
    page.context.close()


def test_a_warning_is_seen_where_responses_are_fabricated(
    chromium: Browser, place: Place
) -> None:
    page = opened(chromium, place, 1280)
    page.goto(f"{place.address}/a/small")
    assert "about the responses" in page.get_by_text("warning").first.inner_text()
    page.get_by_role("link", name="What about apps?").click()
    assert page.get_by_role(
        "heading", name="These responses look fabricated"
    ).is_visible()
    assert page.get_by_text("A set of 3 was sent by 600 of 600").first.is_visible()
    page.goto(f"{place.address}/a/working-life/overtime")
    assert page.get_by_text("Nothing looks fabricated").is_visible()
    page.context.close()


def test_live_pages_say_why_intervals_are_wide_and_closed_ones_need_not(
    place: Place,
) -> None:
    live = place.get("/a/working-life/overtime").decode()
    assert "95% always-valid intervals" in live
    assert "however often one looks at growing data" in live
    assert "So they are wider than intervals for one look." in live
    assert "Intervals for one look are shown when the survey is closed." in live
    assert "--always --planned 10000" in live
    figure = place.get("/a/working-life/overtime/figure.svg").decode()
    assert "95% always-valid intervals" in figure
    closed = place.get("/a/small/apps").decode()
    assert "always" not in closed.split("<main", 1)[-1]
    for path, always in (("working-life/overtime", True), ("small/apps", False)):
        design = Design.from_json(place.get(f"/a/{path}/design.json"))
        tally = Tally.from_json(place.get(f"/a/{path}/tally.json"), design)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ImplausibleResponses)
            expected = dn.estimate(tally).conf_int(always=always)
        page = json.loads(place.get(f"/a/{path}.json"))["results"]["shares"]
        got = [(each["row"]["low"], each["row"]["high"]) for each in page]
        assert got == [pytest.approx(tuple(each)) for each in expected.values()]


def test_the_planner_follows_its_sliders(chromium: Browser, place: Place) -> None:
    page = opened(chromium, place, 1280)
    page.goto(f"{place.address}/a/plan")
    before = page.locator("#result").inner_text()
    slider = page.get_by_role("slider", name="ε, the privacy budget")
    slider.press("End")
    page.wait_for_function(
        "before => document.getElementById('result').innerText !== before",
        arg=before,
    )
    assert page.locator("#epsilon").input_value() == "8"
    assert slider.get_attribute("aria-valuetext") == "8"
    assert "epsilon=8" in page.url
    told = json.loads(place.get("/a/plan.json?epsilon=8"))
    assert (
        f"±{100 * told['margin']:.1f} instead"
        in page.locator("#result").inner_text()
    )
    page.locator("#respondents").fill("20000")
    page.locator("#respondents").press("Enter")
    page.wait_for_function(
        "() => document.getElementById('plan').innerText.includes('20,000 respondents')"
    )
    page.context.close()


def test_the_planner_works_without_script(chromium: Browser, place: Place) -> None:
    page = opened(chromium, place, 320, script=False)
    page.goto(f"{place.address}/a/plan")
    assert page.get_by_role("slider").count() == 0
    page.fill("#respondents", "5000")
    page.get_by_role("button", name="Calculate").click()
    assert "respondents=5000" in page.url
    assert "With 5,000 respondents" in page.locator("#plan").inner_text()
    page.context.close()


def test_the_numbers_of_a_page_come_out_of_its_command_again(
    chromium: Browser, place: Place, tmp_path: Path
) -> None:
    page = opened(chromium, place, 1280)
    for question in ("overtime", "exhaustion"):
        page.goto(f"{place.address}/a/working-life/{question}")
        words = page.locator("pre").inner_text().split()
        for name, file in zip(
            ("the design", "the ladder", "the tally"),
            (words[2], words[2], words[3]),
            strict=True,
        ):
            link = page.get_by_role("link", name=name)
            if link.count():
                with page.expect_download() as download:
                    link.click()
                assert download.value.suggested_filename == file
                download.value.save_as(tmp_path / file)
        told = json.loads(
            done(
                "estimate",
                tmp_path / words[2],
                tmp_path / words[3],
                *words[4:],
                "--json",
            ).stdout
        )
        shown = page.locator("#estimate ~ .beside tbody tr").all_inner_texts()
        assert [re.split(r"\s*\t\s*", line)[1:3] for line in shown] == [
            [
                f"{100 * row['estimate']:.1f}%",
                f"{100 * row['low']:.1f} … {100 * row['high']:.1f}%",
            ]
            for row in told["rows"]
        ]
        assert words[4:] == ["--always", "--planned", "10000"]
    page.context.close()


def test_exports_and_forms_are_linked_and_there(
    chromium: Browser, place: Place
) -> None:
    page = opened(chromium, place, 1280)
    page.goto(f"{place.address}/a/working-life/overtime?group=office")
    links = [
        link.get_attribute("href") or "" for link in page.get_by_role("link").all()
    ]
    files = [link for link in links if re.search(r"\.(json|csv|parquet|svg)", link)]
    assert len(files) == 5, "responses come when the survey has ended"
    for link in files:
        assert len(place.get(link)) > 50, link
    told = json.loads(place.get("/a/working-life/overtime.json?group=office"))
    assert (told["group"], told["results"]["respondents"]) == ("office", 1480), (
        "but for the last step"
    )
    page.context.close()


@pytest.mark.parametrize(
    "look", LOOKS, ids=lambda look: f"{look['width']}-{look['scheme']}"
)
def test_the_figure_is_downloaded_and_seen(
    chromium: Browser, place: Place, look: dict[str, Any], tmp_path: Path
) -> None:
    with chromium.new_context(
        viewport={"width": look["width"], "height": 800}, color_scheme=look["scheme"]
    ) as context:
        page = context.new_page()
        page.goto(f"{place.address}/a/working-life/overtime")
        page.fill("#token", place.token)
        page.keyboard.press("Enter")
        page.wait_for_url(f"{place.address}/a/working-life/overtime")
        with page.expect_download() as downloaded:
            page.get_by_role("link", name="Download the figure").click()
        assert downloaded.value.suggested_filename == "overtime.svg"
        downloaded.value.save_as(tmp_path / "figure.svg")
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        (tmp_path / "shown.html").write_text('<img src="figure.svg" alt="">')
        page.goto((tmp_path / "shown.html").as_uri())
        assert page.evaluate("document.images[0].naturalWidth") == 800
        # it needs nothing from elsewhere
        assert all(url.startswith("file:") for url in asked)
        page.set_content((tmp_path / "figure.svg").read_text(encoding="utf-8"))
        inside = page.evaluate(
            "[...document.querySelectorAll('text')].every(each => { const box = each.getBBox();"
            " return box.x >= 0 && box.x + box.width <= 800 })"
        )
        assert inside, "every word is on the picture"
        ground = page.evaluate(
            "getComputedStyle(document.querySelector('.paper')).fill"
        )
        assert (
            ground
            == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 24, 29)"}[
                look["scheme"]
            ]
        )


def test_a_page_says_as_of_how_many_it_is(chromium: Browser, place: Place) -> None:
    page = opened(chromium, place, 1280)
    for query, words in (
        (
            "",
            "As of 2,360 responses; the next step at 2,400 or more, when a group has grown enough,",
        ),
        (
            "?group=office",
            "As of 1,480 responses; the next step at 1,520 or more, or when the survey ends.",
        ),
    ):
        page.goto(f"{place.address}/a/working-life/overtime{query}")
        assert page.get_by_text(words).is_visible()
    page.goto(f"{place.address}/a/small/apps")
    assert page.get_by_text("As of").count() == 0, "it is complete"
    page.context.close()


def test_who_has_not_signed_in_sees_nothing(chromium: Browser, place: Place) -> None:
    page = chromium.new_page()
    page.goto(f"{place.address}/a/working-life/overtime")
    assert page.url == f"{place.address}/a/login?next=/a/working-life/overtime"
    page.get_by_label("Your token").fill(place.token)
    page.get_by_role("button", name="Sign in").click()
    assert page.url == f"{place.address}/a/working-life/overtime"
    assert "answer “None”" in page.locator(".headline").inner_text()
    page.close()
    for path in (
        "/a.json",
        "/a/working-life/overtime.csv",
        "/a/working-life/overtime/tally.json",
        "/a/plan.json",
    ):
        with pytest.raises(urllib.error.HTTPError) as refused:
            place.get(path, Authorization="Bearer nothing")
        assert refused.value.code == 401
        refused.value.close()


def test_what_is_not_there_is_told(place: Place) -> None:
    for path, status in (
        ("/a/none", 404), ("/a/none/overtime.json", 404), ("/a/working-life/none.csv", 400),
        ("/a/working-life/overtime/answers.json", 404), ("/a/small/colour/tally.json", 403),
        ("/a/plan.json?prior=x", 400), ("/a/none/overtime/design.json", 404),
    ):  # fmt: skip
        with pytest.raises(urllib.error.HTTPError) as refused:
            place.get(path)
        assert refused.value.code == status, path
        assert json.loads(refused.value.read())["error"]["what"]
        refused.value.close()

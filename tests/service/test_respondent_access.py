"""Everybody can use the respondent's page: by keyboard, on a small screen, in every language, without script."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe

from deniable.collector.app import make_app
from deniable.collector.settings import Settings
from deniable.survey.catalogue import LANGUAGES, locale
from deniable.survey.signed import StoredReceipt
from tests.support import respondents
from tests.support.collector import listening
from tests.support.respondents import Coming, Running, Visit

if TYPE_CHECKING:
    from playwright.sync_api import Page

NARROW = {"width": 320, "height": 640}
MOST_BYTES = 100_000
SHOW_ALL = """
for (const each of document.querySelectorAll("[hidden]")) each.hidden = false;
for (const each of document.querySelectorAll("details")) each.open = true;
for (const each of document.querySelectorAll("template[data-stage]")) {
  document.querySelector("#laters").append(each.content.cloneNode(true));
}
for (const each of document.querySelectorAll("template[data-reveals]")) {
  document.querySelector("#laters").append(each.content.cloneNode(true));
}
document.querySelector("#fruit-0")?.click();
document.querySelector("#draw")?.click();
"""


def faults(page: Page) -> list[str]:
    """Return what axe finds, and how far the page is wider than its window."""
    found = [
        f"{each['id']}: {node['html']:.120}"
        for each in Axe().run(page).response["violations"]
        for node in each["nodes"]
    ]
    wider = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return found + ([f"{wider} px wider than the window"] if wider else [])


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_keeps_anybody_out(visit: Coming, language: str) -> None:
    """Every part of every page at once, on the narrowest screen: 0 violations, and nothing to scroll sideways."""
    with visit(
        viewport=NARROW, color_scheme="dark" if language in ("de", "ar") else "light"
    ) as found:
        for path in (
            "several",
            "stages",
            "bait",
            "dependent",
            "arms",
            "physical?group=North",
        ):
            page = found.go(f"/s/{path}{'&' if '?' in path else '?'}lang={language}")
            found.wait()
            page.evaluate(SHOW_ALL)
            assert faults(page) == []
            assert page.get_attribute("html", "lang") == language
            assert page.get_attribute("html", "dir") == locale(language).direction
        for path in ("", "s/nothing"):
            assert faults(found.go(f"/{path}?lang={language}")) == []
        found.complaints.clear()  # the browser tells that there is nothing at the last address


def test_axe_would_find_something(visit: Coming) -> None:
    with visit() as found:
        page = found.go("/")
        page.evaluate(
            "document.querySelector('h1').outerHTML = '<img src=\"data:,\"><button></button>'"
        )
        assert {each.partition(":")[0] for each in faults(page)} >= {
            "image-alt",
            "button-name",
        }


def test_keyboard_alone(visit: Coming) -> None:
    with visit(viewport=NARROW) as found:
        page = found.go("/s/browser")
        found.wait()
        press(page, "#agree", "Space")
        for step, then in (("consent", "#explain"), ("explain", "#try")):
            press(page, f"[data-step={step}] [data-next]", "Enter")
            page.wait_for_function(
                "now => document.activeElement === document.querySelector(now)",
                arg=then,
            )
        press(page, "[name=fruit]", "Space")
        press(page, "#draw", "Enter")
        assert locale("en").words["try"]["result"].partition("{")[
            0
        ] in page.inner_text("#drawn")
        press(page, "[data-step=try] [data-next]", "Enter")
        press(page, "[data-step=question] [data-next]", "Enter")
        assert (
            page.inner_text("#problem") == locale("en").words["question"]["choose"]
        )
        assert page.evaluate("document.activeElement.type") == "radio", (
            "the focus is led to what is missing"
        )
        page.keyboard.press("Space")
        page.keyboard.press("ArrowDown")
        assert page.is_checked("#q-1-1")
        press(page, "[data-step=question] [data-next]", "Enter")
        page.wait_for_function(
            "() => document.activeElement === document.querySelector('#done-title')"
        )
        press(page, "#withdraw", "Enter")
        page.keyboard.press("Enter")
        page.wait_for_selector("#status:not(:empty)")


def press(page: Page, selector: str, key: str) -> None:
    """Reach something with the Tab key alone, see that the focus shows, and press a key there."""
    for _ in range(40):
        if page.evaluate(
            "sought => document.activeElement.matches(sought)", selector
        ):
            break
        page.keyboard.press("Tab")
    else:
        raise AssertionError(f"{selector} cannot be reached with the Tab key")
    outline = "getComputedStyle(document.activeElement.closest('.choice') ?? document.activeElement).outlineStyle"
    assert page.evaluate(outline) != "none"
    page.keyboard.press(key)


def test_weight_and_what_was_sent(visit: Coming) -> None:
    """All that is loaded, on the first visit and with stages on a later one, in the language that takes most."""
    for survey, answers in (
        ("several", (0, 0, 0, 0)),
        ("stages", (0,)),
        ("physical", (0, 0)),
    ):
        with visit() as found:
            found.take_part(f"{survey}?lang=ar", *answers)
            assert weight(found) < MOST_BYTES
            assert faults(found.page) == []
            if survey == "stages":
                found.requests.clear()
                found.page.reload()
                found.page.locator("#laters input[type=radio]").nth(1).check()
                found.page.click("[data-raise]")
                found.page.wait_for_function(
                    "() => document.querySelector('#laters').childElementCount === 0"
                )
                assert 20_000 < weight(found) < MOST_BYTES


def weight(found: Visit) -> int:
    return sum(each.sizes()["responseBodySize"] for each in found.requests)


def test_dice_without_script(visit: Coming, running: Running) -> None:
    survey = running.store.survey("physical").id
    with visit(java_script_enabled=False, viewport=NARROW) as found:
        page = found.go("/s/physical?lang=de")
        page.check("#agree")
        page.select_option("#group", "South")
        page.check("#q-1-2")
        page.click("[data-plain] button")
        words = locale("de").words
        assert page.inner_text("h1") == words["sent"]["title"]
        assert page.inner_text(".said b") == words["sent"]["words_physical"].format(
            response="numbat"
        )
        key = bytes.fromhex(page.inner_text("code"))
        assert [
            (each.question, each.code) for each in running.store.stored(survey, key)
        ] == [(0, 2)]
        page.reload()  # the browser sends the form again
        assert sum(running.store.tallies(survey, 0, 1).counts) == 1, (
            "what comes twice counts once"
        )
        with page.expect_download() as download:
            page.click("form:not(#withdrawal) button")
        receipt = Path(download.value.path()).read_text(encoding="utf-8")
        assert (
            len(
                StoredReceipt.from_json(receipt).check(
                    running.store.survey("physical").survey, key=key
                )
            )
            == 1
        )
        assert not any(key.hex() in each.url for each in found.requests)
        page.click("summary >> nth=1")
        page.fill("#code", key.hex())
        page.click("#withdrawal button")
        assert page.inner_text(".lead") == words["withdraw"]["done"]
        assert running.store.stored(survey, key) == ()


def test_a_script_that_does_not_load_leaves_the_form(visit: Coming) -> None:
    with visit(viewport=NARROW) as found:
        found.context.route("**/*.js", lambda route: route.abort())
        page = found.go("/s/physical?lang=ar")
        page.check("#agree")
        page.check("#q-2-1")
        page.click("[data-plain] button")
        assert page.inner_text("h1") == locale("ar").words["sent"]["title"]
        assert faults(page) == []
        found.complaints.clear()  # the browser tells that a script did not load


def test_an_invitation_without_script(visit: Coming, running: Running) -> None:
    [code] = running.store.invite("invited-physical", 1)
    with visit(java_script_enabled=False) as found:
        for given, said in (("", 422), ("wrong", 403), (code, 200), (code, 403)):
            page = found.go("/s/invited-physical")
            page.check("#agree")
            page.check("#q-1-0")
            page.fill("#invitation", given)
            page.evaluate("document.querySelector('#survey').noValidate = true")
            with page.expect_navigation() as answered:
                page.click("[data-plain] button")
            assert answered.value.status == said
        found.complaints.clear()  # the browser tells of the refusals
    assert (
        sum(
            running.store.tallies(
                running.store.survey("invited-physical").id, 0
            ).counts
        )
        == 1
    )


def test_no_answer_can_be_posted_without_script(visit: Coming) -> None:
    with visit(java_script_enabled=False) as found:
        page = found.go("/s/browser")
        assert page.is_visible("#needs-script")
        assert (
            page.locator("main :is(input, select):not(#agree, #code)").count()
            == page.locator("[name=fruit]").count()
        )
        assert page.locator("form:visible").count() == 0
        assert not [
            animal
            for animal in respondents.ANIMALS
            if page.locator(f"input[value={animal}]").count()
        ]


def test_the_overview_lists_what_is_open_in_the_language_of_the_browser(
    running: Running,
) -> None:
    running.store.create(respondents.DRAFT)
    with httpx.Client(
        base_url=running.address, headers={"accept-language": "de-AT, en;q=0.5"}
    ) as other:
        words = locale("de").words
        listed = other.get("/").text
        assert words["overview"]["title"] in listed
        digest = running.store.survey("browser").survey.hash.removeprefix("sha256:")
        assert f'<a href="/s/browser?lang=de#definition={digest}' in listed
        assert "/s/draft" not in listed
        draft = other.get("/s/draft")
        assert (draft.status_code, words["standing"]["draft"] in draft.text) == (
            409,
            True,
        )
        missing = other.get("/s/nothing?lang=ar")
        assert (
            missing.status_code,
            locale("ar").words["problem"]["missing"] in missing.text,
        ) == (404, True)
        named = other.get("/s/physical?group=South").text
        assert '<input type="hidden" id="group" name="group" value="South">' in named
        assert "<option>South</option>" in other.get("/s/physical?group=East").text


def test_nobody_is_led_to_the_surveys_of_others(
    visit: Coming, running: Running
) -> None:
    with visit() as found:
        for path in ("/s/browser", "/s/physical", "/s/nothing"):
            page = found.go(path)
            led = page.evaluate(
                "[...document.querySelectorAll('a')].map((each) => new URL(each.href).pathname)"
            )
            assert set(led) == {path}
        found.complaints.clear()  # the browser tells that there is nothing at the last address
    with listening(
        make_app(Settings(database=str(running.file)), running.store)
    ) as address:
        told = httpx.get(f"{address}/").text
    assert locale("en").words["overview"]["unlisted"] in told
    assert "/s/" not in told


@pytest.mark.parametrize("language", LANGUAGES)
def test_buttons_stand_side_by_side_on_a_desktop(
    visit: Coming, language: str
) -> None:
    """Back, skip and the main button: in one row on a wide screen, one below the other on a narrow one."""
    rows = "new Set([...document.querySelectorAll('[data-question] > .actions > button')].map((each) => {0}.{1})).size"
    for width, expected in ((1280, 1), (600, 1), (375, 3)):
        with visit(viewport={"width": width, "height": 900}) as found:
            page = found.go(f"/s/browser?lang={language}")
            found.wait()
            page.evaluate(
                "for (const each of document.querySelectorAll('[data-step]')) each.hidden = false"
            )
            assert (
                page.evaluate(rows.format("each.getBoundingClientRect()", "bottom"))
                == expected
            )
            assert faults(page) == []


def test_a_form_of_another_site_is_refused(running: Running) -> None:
    address = f"{running.address}/s/physical"
    before = sum(
        running.store.tallies(running.store.survey("physical").id, 0).counts
    )
    fields = {"consent": "yes", "key": "0" * 32, "q-1": "01"}
    with httpx.Client() as other:
        assert other.post(address, data=fields).status_code == 403
        page = other.get(address).text
        fields["form"] = page.partition('name="form" value="')[2].partition('"')[0]
        assert (
            other.post(
                address, data=fields, headers={"sec-fetch-site": "cross-site"}
            ).status_code
            == 403
        )
        assert (
            sum(running.store.tallies(running.store.survey("physical").id, 0).counts)
            == before
        )
        assert other.post(address, data=fields).status_code == 200
        for wrong in (
            {"consent": ""},
            {"key": "x"},
            {"q-1": "okapi"},
            {"q-1": "03"},
            {"q-1": ""},
            {"group": "East"},
        ):
            answered = other.post(address, data=fields | wrong)
            assert 400 <= answered.status_code < 500
            assert locale("en").words["problem"]["form"] in answered.text
    assert (
        sum(running.store.tallies(running.store.survey("physical").id, 0).counts)
        == before + 1
    )


def test_what_was_sent_can_be_seen_and_withdrawn_when_the_survey_is_closed(
    visit: Coming, running: Running
) -> None:
    entry = running.store.survey("closed")
    with visit() as found:
        found.take_part("closed", 0)
        running.store.close("closed")
        with visit() as other:
            # a definition is remembered for a second
            while other.go("/s/closed").locator("[data-step]").count():
                time.sleep(0.1)
            assert locale("en").words["standing"]["closed"] in other.page.inner_text(
                "main"
            )
            assert faults(other.page) == []
        found.page.reload()
        found.page.wait_for_selector("#done:not([hidden])")
        found.page.click("#withdraw")
        found.page.click("#withdraw")
        found.page.wait_for_function("() => document.querySelector('#done').hidden")
    assert sum(running.store.tallies(entry.id, 0).counts) == 0

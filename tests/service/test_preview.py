"""A survey is looked at before it is frozen, and tried in a pilot: marked on every screen, and nothing is left."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import httpx
import pytest

from deniable.collector.store import Token
from deniable.survey.catalogue import LANGUAGES, locale
from tests.service.test_respondent_access import NARROW, SHOW_ALL, faults
from tests.support import respondents
from tests.support.respondents import Coming, Running, Visit

DRAFTS = (
    respondents.SEVERAL,
    respondents.STAGES,
    respondents.PHYSICAL,
    respondents.INVITED,
)
ANSWERS = {
    "several": (0, 1, 2, 29),
    "stages": (1,),
    "physical": (0, 1),
    "invited": (2,),
}


@pytest.fixture(scope="module")
def token(running: Running) -> str:
    """The token of an analyst, beside drafts called `my-…`."""
    for survey in DRAFTS:
        running.store.create(replace(survey, name=f"my-{survey.name}"))
    return running.store.issue_token(Token("ann", "analyst"))


@contextmanager
def signed_in(visit: Coming, token: str, **options: object) -> Iterator[Visit]:
    with visit(**options) as found:
        found.go("/preview/my-several")
        found.page.fill("#token", token)
        found.page.click("button")
        found.wait()
        assert found.page.url.endswith("/preview/my-several"), (
            "whoever signs in comes back to it"
        )
        found.requests.clear()
        found.complaints.clear()  # Chromium would like a name with the token
        yield found


def everything(running: Running) -> list[tuple[object, ...]]:
    """Return all rows that could come of somebody taking part."""
    with running.store.transaction(write=False) as tables:
        return [
            row
            for each in ("response", "tally", "day", "invitation", "spent")
            for row in sorted(tables.rows(f"SELECT * FROM {each}"))
        ]


@pytest.mark.parametrize("survey", ANSWERS)
def test_a_preview_goes_through_every_step_and_sends_nothing(
    visit: Coming, running: Running, token: str, survey: str
) -> None:
    before = everything(running)
    with signed_in(visit, token) as found:
        page = found.go(f"/preview/my-{survey}")
        found.wait()
        assert found.answer(*ANSWERS[survey]) == ""
        assert page.is_visible("#done")
        assert page.inner_text(".mark-bar") == locale("en").words["mark"]["preview"]
        message = json.loads(page.text_content("#message") or "")
        assert len(message["responses"]) == len(ANSWERS[survey]), (
            "the devices have drawn"
        )
        for stage in range(2 if survey == "stages" else 0):  # without a later visit
            page.locator("#laters input[type=radio]").nth(1).check()
            page.click("[data-raise]")
            page.wait_for_function(
                "n => document.querySelector('#message').textContent.split('key').length === n",
                arg=stage + 3,
            )
        page.click("#withdraw")
        page.click("#withdraw")
        page.wait_for_selector("#status:not(:empty)")
        assert {each.method for each in found.requests} == {"GET"}
        assert not [each.url for each in found.requests if "/api/" in each.url], (
            "not even the definition is asked for"
        )
        assert found.kept() == "{}{}"
        page.reload()
        found.wait()
        assert page.is_visible("[data-step=consent]"), "nothing is left"
    assert everything(running) == before
    assert running.store.survey(f"my-{survey}").state == "draft"


def test_the_browser_would_not_let_a_preview_send(visit: Coming, token: str) -> None:
    with signed_in(visit, token) as found:
        tried = found.page.evaluate(
            "fetch('/health').then(() => 'sent', () => 'kept here')"
        )
        assert tried == "kept here"
        assert "connect-src 'none'" in found.complaints.pop(0)
        found.complaints.clear()


def test_a_preview_leaves_what_was_really_sent_alone(
    visit: Coming, token: str
) -> None:
    with signed_in(visit, token) as found:
        found.take_part("browser", 0)
        kept = found.kept()
        found.go("/preview/browser")
        found.wait()
        assert found.answer(1) == ""
        found.page.click("#forget")
        found.wait()
        assert found.kept() == kept


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_screen_of_a_preview_is_marked(
    visit: Coming, token: str, language: str
) -> None:
    scheme = "dark" if language in ("de", "ar") else "light"
    with signed_in(visit, token, viewport=NARROW, color_scheme=scheme) as found:
        for survey in ("my-several", "my-stages", "my-physical"):
            page = found.go(f"/preview/{survey}?lang={language}")
            found.wait()
            for step in page.locator("[data-step]").all():
                step.evaluate(
                    "each => document.querySelectorAll('[data-step]').forEach((one) => (one.hidden = one !== each))"
                )
                page.evaluate("scrollTo(0, document.body.scrollHeight)")
                assert page.locator(".mark-bar").evaluate(
                    "each => each.getBoundingClientRect().bottom > 0"
                )
                assert (
                    page.inner_text(".mark-bar")
                    == locale(language).words["mark"]["preview"]
                )
            page.evaluate("scrollTo(0, 0)")
            page.evaluate(SHOW_ALL)
            assert faults(page) == []


def test_a_preview_is_for_those_with_a_token(running: Running, token: str) -> None:
    address = f"{running.address}/preview/my-stages"
    other = running.store.issue_token(Token("eve", "analyst", "browser"))
    device = running.store.issue_token(Token("box", "device"))
    for header, status in (
        ("", 401),
        (f"Bearer {token}x", 401),
        (f"Bearer {other}", 403),
        (f"Bearer {device}", 403),
    ):
        assert (
            httpx.get(
                address, headers={"authorization": header} if header else {}
            ).status_code
            == status
        )
    assert (
        httpx.get(address, headers={"authorization": f"Bearer {token}"}).status_code
        == 200
    )
    asked = httpx.get(address, headers={"accept": "text/html"})
    assert (asked.status_code, asked.headers["location"]) == (
        303,
        "/a/login?next=/preview/my-stages",
    )
    listed = httpx.get(
        f"{running.address}/a/my-stages",
        headers={"authorization": f"Bearer {token}"},
    ).text
    assert 'href="/preview/my-stages"' in listed


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_pilot_says_so_and_is_thrown_away(
    visit: Coming, running: Running, language: str
) -> None:
    name, words = f"trial-{language}", locale(language).words
    running.store.create(replace(respondents.BROWSER, name=name))
    pilot = running.store.start_pilot(name)
    with visit(viewport=NARROW) as found:
        assert found.take_part(f"{name}-pilot?lang={language}", 0) == ""
        assert found.page.inner_text(".mark-bar") == words["mark"]["pilot"]
        assert faults(found.page) == []
        assert running.store.tallies(pilot.id, 0).respondents == 1
        entry = running.store.open(name)
        assert running.store.tallies(pilot.id, 0).respondents == 0
        # a definition is remembered for a second
        while name not in found.go(f"/?lang={language}").content():
            time.sleep(0.1)
        time.sleep(1.1)
        found.go(f"/s/{name}-pilot?lang={language}")
        assert words["standing"]["ended"] in found.page.inner_text("main")
        assert found.take_part(f"{name}?lang={language}", 0) == "", (
            "whoever was in the pilot is new to the survey"
        )
        assert found.page.locator(".mark-bar").count() == 0
        assert running.store.tallies(entry.id, 0).respondents == 1

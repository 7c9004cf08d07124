"""One device, many people: nothing of one is left on it when the next one comes, wherever one looks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deniable.survey.catalogue import LANGUAGES, locale
from tests.service.test_respondent_access import NARROW, faults
from tests.support.respondents import Coming, Running, Visit

WORDS = locale("en").words["kiosk"]

LEFT = """
async () => ({
  local: JSON.stringify(localStorage), session: JSON.stringify(sessionStorage), state: history.state, name: window.name,
  databases: (await indexedDB.databases()).length, cached: (await caches.keys()).length, cookie: document.cookie,
  workers: (await navigator.serviceWorker.getRegistrations()).length,
})
"""
NOTHING = {
    "local": "{}", "session": "{}", "state": None, "name": "", "databases": 0, "cached": 0, "cookie": "", "workers": 0,
}  # fmt: skip
ENTERED = """
[...document.querySelectorAll("input:not([type=hidden]), select")].filter((each) =>
  ["radio", "checkbox"].includes(each.type) ? each.checked : each.value !== "").map((each) => each.outerHTML)
"""


def come(found: Visit, survey: str, query: str = "") -> None:
    found.go(f"/s/{survey}{query}#kiosk")
    found.wait()


def hand_on(found: Visit) -> None:
    """Press the button for the next person, and wait for the page to be there anew."""
    found.page.evaluate("window.marked = true")
    found.page.click("#hand-on")
    found.page.wait_for_function(
        "() => !window.marked && document.querySelector('#kiosk:not(:empty)')"
    )
    found.wait()


def seen(found: Visit) -> str:
    """Return all that the page holds, also where it is hidden."""
    return str(found.page.content())


@pytest.mark.parametrize(
    ("survey", "answers"),
    [
        ("several", (1, 0, 2, 7)),
        ("stages", (1,)),
        ("physical", (2, 1)),
        ("amount", ("1234",)),
    ],
)
def test_nothing_is_left_of_the_person_before(
    visit: Coming, survey: str, answers: tuple[int | str, ...]
) -> None:
    with visit() as found:
        come(found, survey)
        keys = []
        length = found.page.evaluate("history.length")
        fresh = seen(found)
        for _ in range(3):
            assert found.answer(*answers) == ""
            assert found.page.is_visible("#done")
            assert found.page.evaluate(LEFT) == NOTHING
            key = found.sent()[-1]["key"]
            assert key in seen(found), "who wants to withdraw can write it down"
            hand_on(found)
            assert found.page.evaluate(LEFT) == NOTHING
            assert found.page.evaluate(ENTERED) == []
            for said in (
                key,
                *(each["symbol"] for each in found.sent()[-1]["responses"]),
            ):
                assert seen(found).count(said) == fresh.count(said), (
                    "no more than before anybody came"
                )
            assert not found.page.is_visible("#done")
            keys.append(key)
        assert found.page.evaluate("history.length") == length, (
            "there is nowhere to go back to"
        )
        assert len(set(keys)) == 3
        assert len(found.sent()) == 3
        cookies = {each["name"]: each for each in found.context.cookies()}
        assert set(cookies) <= {"deniable-form"}, (
            "the form without script has one, which is of the device"
        )


def test_going_back_or_reloading_shows_nothing(visit: Coming) -> None:
    with visit() as found:
        come(found, "browser")
        assert found.answer(1) == ""
        key = found.sent()[0]["key"]
        found.go("/?lang=en")
        found.page.go_back()
        found.wait()
        assert key not in seen(found)
        assert found.page.is_visible("[data-step=consent]")
        assert found.answer(1) == ""
        found.page.reload()
        found.wait()
        assert found.page.is_visible("[data-step=consent]")
        assert len({each["key"] for each in found.sent()}) == 2


def test_who_goes_away_in_the_middle_leaves_nothing(visit: Coming) -> None:
    with visit() as found:
        found.page.clock.install()
        come(found, "browser")
        assert WORDS["lead"].format(seconds=120) == found.page.inner_text("#kiosk")
        found.page.evaluate("window.marked = true")
        found.page.clock.run_for(300_000)
        assert found.page.evaluate("window.marked"), (
            "nothing to be cleared, nothing is loaded anew"
        )
        found.page.check("#agree")
        for step in ("consent", "explain", "try"):
            found.page.click(f"[data-step={step}] [data-next]")
        found.page.check("#q-1-1")
        found.page.clock.run_for(100_000)
        assert found.page.is_checked("#q-1-1")
        found.page.clock.run_for(30_000)
        found.page.wait_for_function(
            "() => !window.marked && document.querySelector('#kiosk:not(:empty)')"
        )
        found.wait()
        assert found.page.evaluate(ENTERED) == []
        assert found.page.is_visible("[data-step=consent]")
        assert found.sent() == []


def test_what_the_device_kept_for_its_owner_is_neither_read_nor_changed(
    visit: Coming,
) -> None:
    with visit() as found:
        assert found.take_part("browser", 1) == ""
        own = found.kept()
        assert "messages" in own
        found.go("/?lang=en")
        come(found, "browser")
        assert found.page.is_visible("[data-step=consent]")
        assert found.answer(0) == ""
        assert found.kept() == own
        assert len({each["key"] for each in found.sent()}) == 2


def test_each_person_draws_an_arm_and_has_an_invitation_of_their_own(
    visit: Coming, running: Running
) -> None:
    asked = "[...document.querySelectorAll('[data-step=question]')].length"
    with visit() as found:
        come(found, "arms")
        drawn = set()
        while len(drawn) < 2:
            drawn.add(found.page.evaluate(asked))
            assert found.answer(*[1] * found.page.evaluate(asked)) == ""
            # one arm alone comes with a chance below 3e-11
            assert len(found.sent()) < 60
            hand_on(found)
    codes = running.store.invite("invited", 2)
    with visit() as found:
        found.go(f"/s/invited#invitation={codes[0]}&kiosk")
        found.wait()
        for code in codes:
            assert found.page.input_value("#invitation") == ""
            found.page.fill("#invitation", code)
            assert found.answer(0) == ""
            assert code not in found.page.url
            hand_on(found)


def test_the_next_person_starts_in_the_language_of_the_link(visit: Coming) -> None:
    with visit() as found:
        come(found, "browser", "?lang=de")
        found.page.click("nav a[lang=ar]")
        found.page.wait_for_selector("html[lang=ar]")
        found.wait()
        assert found.answer(0) == ""
        hand_on(found)
        assert found.page.get_attribute("html", "lang") == "de"


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_shared_device_must_not_do_is_not_offered(
    visit: Coming, language: str
) -> None:
    with visit(viewport=NARROW) as found:
        come(found, "stages", f"?lang={language}")
        hidden: tuple[Any, ...] = (
            ".withdrawal",
            ".keeping",
            "#receipt",
            "#clear",
            "#laters",
        )
        assert not any(found.page.is_visible(each) for each in hidden)
        assert found.answer(1) == ""
        assert not any(found.page.is_visible(each) for each in hidden)
        said = locale(language).words["kiosk"]
        assert said["unkept"] in found.page.inner_text("#kept")
        assert said["next"] == found.page.inner_text("#hand-on")
        assert faults(found.page) == []
        assert (
            json.loads(found.page.text_content("#message") or "") == found.sent()[0]
        )

"""Who goes back, forward or reloads, or opens a closed tab again, finds nothing of an answer: in a browser that keeps
pages to go back to, as all but those of tests do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support import browser
from tests.support.respondents import Coming, Visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ENTERED = """
[...document.querySelectorAll("input, select")].filter((each) => each.matches(
  "#agree:checked, [data-step=question] :checked:not([value='']), [data-step=question] [data-amount], #fruits :checked"
) && (each.checked || each.value)).map((each) => each.id + each.value)
"""
"""What is chosen or entered on the page."""

ANSWERS = {
    "browser": ("#q-1-1", None),
    "several": ("#q-1-2", None),
    "amount": ("#amount-1", "4321"),
    "stages": ("#q-1-0", None),
    "together": ("#q-1-1-1", None),
    "physical": ("#q-1-1", None),
}
"""Where the first question of a survey is answered, and what is entered there."""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    reason = browser.missing()
    if reason:
        pytest.skip(reason)
    with browser.browser(goes_back=True) as started:
        yield started


def begin(found: Visit, survey: str) -> None:
    """Take part until the first question is answered and nothing was sent."""
    field, text = ANSWERS[survey]
    found.go(f"/s/{survey}?lang=en")
    found.wait()
    page = found.page
    page.check("#agree")
    while not page.is_visible("[data-step=question]"):
        if page.is_visible("#fruits"):
            page.check("#fruits input >> nth=0")
        page.click("[data-step]:not([hidden]) [data-next]")
    if text:
        page.fill(field, text)
    else:
        page.check(field)
    if page.locator("[data-keep]").count():
        page.check("[data-keep]")
    assert len(page.evaluate(ENTERED)) >= 2


def travel(found: Visit, direction: str) -> None:
    """Go back or forward as a person does, and wait until the page that comes is the one that is shown.

    Playwright's own calls ask the page that is left for its history, which it refuses from the moment it is kept.
    """
    with found.page.expect_navigation(wait_until="commit"):
        found.page.evaluate(f"void setTimeout(() => history.{direction}())")
    found.page.wait_for_function("document.visibilityState === 'visible'")


def is_kept(found: Visit) -> bool:
    """Return whether a page is still the same one after somebody has left it and come back."""
    found.go("/?lang=en")
    found.page.evaluate("window.marked = true")
    found.go("/?lang=de")
    travel(found, "back")
    return bool(found.page.evaluate("window.marked === true"))


def test_this_browser_keeps_pages_to_go_back_to(visit: Coming) -> None:
    """It may throw one of them away where memory is short, and not all."""
    with visit() as found:
        assert any(is_kept(found) for _ in range(3)), "or the others test nothing"


@pytest.mark.parametrize("survey", ANSWERS)
def test_who_goes_back_finds_no_answer(visit: Coming, survey: str) -> None:
    with visit() as found:
        begin(found, survey)
        found.go("/?lang=en")
        travel(found, "back")
        found.wait()
        assert found.page.evaluate(ENTERED) == []
        assert found.page.is_visible("[data-step=consent]")
        begin(found, survey)
        travel(found, "back")
        travel(found, "forward")
        found.wait()
        assert found.page.evaluate(ENTERED) == []
        assert found.sent() == []


@pytest.mark.parametrize("survey", ANSWERS)
def test_who_reloads_finds_no_answer(visit: Coming, survey: str) -> None:
    with visit() as found:
        begin(found, survey)
        found.page.reload()
        found.wait()
        assert found.page.evaluate(ENTERED) == []
        assert "4321" not in found.page.content() + found.kept()


def test_nothing_of_an_answer_is_kept_from_one_question_to_the_next(
    visit: Coming,
) -> None:
    with visit() as found:
        begin(found, "several")
        before = found.kept()
        found.page.click("[data-step]:not([hidden]) [data-next]")
        found.page.wait_for_selector("#q-2-0", state="visible")
        assert found.kept() == before


def test_a_page_that_is_left_is_empty(visit: Coming) -> None:
    """What the browser keeps holds no answer, also in the moment before it is loaded anew."""
    with visit() as found:
        begin(found, "browser")
        found.page.evaluate(
            "dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))"
        )
        assert found.page.evaluate(ENTERED) == []
        assert found.page.inner_text("body") == ""

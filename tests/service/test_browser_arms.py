"""Arms in the browser: drawn once, told as they are, and the collector learns the arm and no more."""

from __future__ import annotations

import json
from pathlib import Path

from deniable.survey.catalogue import locale
from deniable.survey.signed import StoredReceipt
from tests.support.respondents import Coming, Running, Visit

WORDS = locale("en").words
ASKED = "[...document.querySelectorAll('[data-step=question]')].map((each) => each.dataset.question)"


def opened(found: Visit, path: str = "/s/arms") -> str:
    """Open the page; return the arm that was drawn, after seeing that what is on the page is of this arm."""
    found.go(path)
    found.wait()
    arms = {("coffee", "cheated", "check"): "masked", ("coffee", "again"): "open"}
    arm = arms[tuple(found.page.evaluate(ASKED))]
    assert found.page.locator("template[data-arm]").count() == 0
    return arm


def test_each_arm_is_told_what_it_sends_and_the_collector_learns_the_arm_alone(
    visit: Coming, running: Running
) -> None:
    entry = running.store.survey("arms")
    met = []
    while {"masked", "open"} - set(met):
        # either arm is missed in 60 draws with a chance below 3e-11
        assert len(met) < 60
        with visit() as found:
            arm = opened(found)
            assert opened(found, "/s/arms?lang=de") == arm, (
                "what is opened again is not drawn again"
            )
            assert opened(found) == arm
            told = found.page.inner_text("[data-step=consent]")
            assert WORDS["consent"]["arms"] in told
            if arm == "masked":
                # e^1.5 times the odds 1:9, which is 33.2 of 100
                assert "at most 34 of 100" in told
                assert WORDS["consent"]["sent"] in told
                assert WORDS["consent"]["check"] in told
                assert WORDS["question"]["direct"] not in told
                assert found.answer(1, 1, 1) == ""
            else:
                assert WORDS["question"]["direct"] in told
                assert WORDS["consent"]["sent_bare"] in told
                assert WORDS["consent"]["check"] not in told
                assert found.answer(1, 1) == ""
            [sent] = found.sent()
            assert set(sent) == {"survey", "key", "responses"}
            asked = [each["question"] for each in sent["responses"]]
            assert asked == (
                ["coffee", "cheated", "check"]
                if arm == "masked"
                else ["coffee", "again"]
            )
            last = sent["responses"][-1]["symbol"]
            assert last == ("no" if arm == "masked" else "yes"), (
                "a check and a direct answer are sent as they are"
            )
            met.append(arm)
    counts = [
        running.store.tallies(entry.id, number).respondents for number in range(4)
    ]
    assert counts == [
        len(met),
        met.count("masked"),
        met.count("open"),
        met.count("masked"),
    ]


def test_a_check_is_told_as_what_it_is_and_is_counted_in_no_bound(
    visit: Coming, running: Running
) -> None:
    for _ in range(60):
        with visit() as found:
            if opened(found) != "masked":
                continue
            page = found.page
            page.evaluate(
                "for (const each of document.querySelectorAll('[data-step]')) each.hidden = false"
            )
            check = page.inner_text("[data-question=check]")
            assert WORDS["question"]["check"] in check
            assert WORDS["question"]["hint"] not in check
            assert (
                page.inner_text("[data-question=check] [data-next]")
                == WORDS["question"]["send_direct"]
            )
            assert page.locator("[data-question=check] details").count() == 0
            found.go("/s/arms")
            found.wait()
            assert found.answer(0, 1, 2) == ""
            said = page.inner_text("#said li:last-child")
            assert WORDS["question"]["check"] in said
            assert "at most 34 of 100" in page.inner_text("#done")
            with page.expect_download() as download:
                page.click("#receipt")
            saved = json.loads(
                Path(download.value.path()).read_text(encoding="utf-8")
            )
            survey = running.store.survey("arms").survey
            receipt = StoredReceipt.from_json(json.dumps(saved["receipt"]))
            assert len(receipt.check(survey)) == 3
            revealed = receipt.reveals["en"]
            assert revealed["responses"]["check"] == WORDS["question"]["check"]
            assert "at most 34 of 100" in revealed["together"]
            break
    else:
        raise AssertionError("no device drew the arm with the check")


def test_the_arm_alone_is_kept_before_anything_is_sent(
    visit: Coming, running: Running
) -> None:
    with visit() as found:
        opened(found)
        kept = found.page.evaluate("Object.keys(localStorage)")
        assert kept == ["deniable:" + running.store.survey("arms").survey.hash]
        assert (
            json.loads(
                found.page.evaluate(
                    "localStorage.getItem(Object.keys(localStorage)[0])"
                )
            )["messages"]
            == []
        )

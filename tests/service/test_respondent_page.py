"""The respondent's page, in Chromium, against a collector that really listens.

What must hold: an answer, and the draw that hides it, never leave the page; everybody can use it.
"""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from deniable.survey.catalogue import LANGUAGES, locale
from deniable.survey.signed import StoredReceipt
from tests.support import respondents
from tests.support.respondents import ANIMALS, Coming, Running, Visit
from tests.support.seeded import Seeded

SESSIONS = 50
POSTED = "/api/surveys/browser/responses"
SCRIPTED = """
const word = sessionStorage.getItem("word");
const real = crypto.getRandomValues.bind(crypto);
crypto.getRandomValues = (array) => array.length === 8 ? (array.set(JSON.parse(word)), array) : real(array);
"""  # words of a draw are eight bytes; keys and tokens are longer, and stay random


def stored(running: Running, survey: str) -> list[tuple[int, ...]]:
    """Return what is counted of a survey's first question, stage by stage."""
    tallies = running.store.tallies(running.store.survey(survey).id, 0)
    return [
        tuple(map(int, tally.counts))
        for tally in getattr(tallies, "seen", [tallies])
    ]


def session(found: Visit, running: Running, answer: int, word: bytes) -> list[str]:
    """Take part with the bytes of the draw given; return all that was sent. The key, which is random, is called KEY."""
    found.wait()  # until the page before has all that it asked for
    found.page.evaluate(
        "word => (localStorage.clear(), sessionStorage.setItem('word', word))",
        json.dumps(list(word)),
    )
    running.traffic.clear()
    found.requests.clear()
    assert found.take_part("browser", answer) == ""
    key = found.sent()[0]["key"]
    assert json.loads(found.page.text_content("#message")) == found.sent()[0], (
        "the page shows what was sent"
    )
    return sorted(each.replace(key, "KEY") for each in running.traffic)


def test_fifty_sessions_leave_neither_answer_nor_draw(
    visit: Coming, running: Running
) -> None:
    source, words = Seeded("sessions"), []
    [counts] = stored(running, "browser")
    before = at_rest(running.file)
    with visit() as found:
        found.context.add_init_script(SCRIPTED)
        found.go("/s/browser")
        for _ in range(SESSIONS // 2):
            # Position 1 of 4 sends the second of the other animals, which is the last one for both of the others.
            word = source.read(7) + bytes([0x40 | source.read(1)[0] & 0x3F])
            words.append(word)
            seen = [session(found, running, 0, word)]
            assert ANIMALS[0] not in found.kept() + found.page.inner_text("body")
            seen.append(session(found, running, 1, word))
            assert ANIMALS[1] not in found.kept() + found.page.inner_text("body")
            assert by_page(seen[0]) == by_page(seen[1]), (
                "what is sent depends on the answer, where the response does not"
            )
            assert f'"symbol":"{ANIMALS[2]}"' in "".join(seen[0])
            secrets = [*ANIMALS[:2], *shapes(word)]
            assert not [
                text
                for text in seen[0] + seen[1]
                if any(secret in text for secret in secrets)
            ]
    assert stored(running, "browser") == [(*counts[:2], counts[2] + SESSIONS)]
    after = at_rest(running.file)
    for animal in map(str.encode, ANIMALS[:2]):
        assert after.count(animal) == before.count(animal) > 0, (
            "the definition names it, and nothing else"
        )
    assert not [word for word in words if word in after or word[::-1] in after]


def test_no_cookie_goes_with_what_the_page_asks_for_and_sends(
    visit: Coming, running: Running
) -> None:
    """An analyst who takes part in the same browser is signed in; whoever is known by a cookie stays unknown."""
    named = [
        {"name": name, "value": "somebody", "url": running.address}
        for name in ("deniable-session", "deniable-form", "another")
    ]
    with visit() as found:
        found.context.add_cookies(named)  # type: ignore[arg-type]  # as playwright's own TypedDict
        running.traffic.clear()
        assert found.take_part("browser", 1) == ""
    asked = [each for each in running.traffic if " /api/" in each.partition("?")[0]]
    assert any(each.startswith(f"POST {POSTED}") for each in asked)
    assert not [each for each in asked if "somebody" in each or "b'cookie'" in each]
    assert any(
        "somebody" in each for each in running.traffic if each.startswith("GET /s/")
    ), "the browser has them"


def test_a_page_that_told_would_be_found_out(
    visit: Coming, running: Running
) -> None:
    """The comparison above is not blind: position 0 sends the first of the other animals, which hangs on the answer."""
    with visit() as found:
        found.context.add_init_script(SCRIPTED)
        found.go("/s/browser")
        one, two = (session(found, running, answer, bytes(8)) for answer in (0, 1))
        assert by_page(one) != by_page(two)


def by_page(sent: list[str]) -> list[str]:
    """Leave out files, which a browser fetches, or finds in its cache, when it likes."""
    own = [each for each in sent if not each.startswith("GET /static/")]
    assert [each.partition("?")[0] for each in own] == [
        "GET /api/surveys/browser",
        "GET /s/browser",
        f"POST {POSTED}",
    ]
    return own


def at_rest(file: Path) -> bytes:
    """Return all bytes of a database, its journal emptied."""
    with sqlite3.connect(file) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    return b"".join(each.read_bytes() for each in sorted(file.parent.iterdir()))


def shapes(word: bytes) -> list[str]:
    """Return how eight random bytes could be written."""
    numbers = [int.from_bytes(word, order) for order in ("little", "big")]
    return [
        word.hex(),
        word[::-1].hex(),
        *map(str, numbers),
        str(list(word)),
        ",".join(map(str, word)),
    ]


def test_the_browser_draws_with_its_own_randomness(
    visit: Coming, running: Running
) -> None:
    before = stored(running, "several")[0]
    with visit() as found:
        found.take_part("several", 0, 1, 2, 29)
        sent = found.sent()[0]
        assert [each["question"] for each in sent["responses"]] == [
            "animal",
            "coin",
            "set",
            "many",
        ]
        assert len(set(sent["key"])) > 4
        assert json.loads(found.page.text_content("#message")) == sent
        assert found.context.cookies() == []
        assert sent["key"] in found.kept()
    assert sum(stored(running, "several")[0]) == sum(before) + 1


def test_a_question_may_be_skipped_and_nothing_is_sent_where_all_are(
    visit: Coming,
) -> None:
    with visit() as found:
        found.take_part("several", -1, 0, -1, -1)
        assert [each["question"] for each in found.sent()[0]["responses"]] == [
            "coin"
        ]
        assert (
            found.page.inner_text("#said li:first-child b")
            == locale("en").words["sent"]["skipped"]
        )
    with visit() as found:
        found.take_part("several", -1, -1, -1, -1)
        assert found.sent() == []
        assert (
            found.page.inner_text("#status") == locale("en").words["sent"]["nothing"]
        )


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_response_is_called_by_a_word_of_the_language(
    visit: Coming, language: str
) -> None:
    words = locale(language).words
    with visit() as found:
        assert found.take_part(f"crossed?lang={language}", 0) == ""
        symbol = found.sent()[0]["responses"][0]["symbol"]
        said = words["sent"]["words"].format(response=words["symbols"][symbol])
        assert found.page.inner_text("#said b") == said


def test_a_broken_connection_sends_the_same_message_again(
    visit: Coming, running: Running
) -> None:
    before = sum(stored(running, "browser")[0])
    with visit() as found:
        found.context.route("**/responses", lambda route: route.abort(), times=1)
        assert (
            found.take_part("browser", 0) == locale("en").words["problem"]["network"]
        )
        assert sum(stored(running, "browser")[0]) == before
        found.page.reload()
        found.page.wait_for_selector("#done:not([hidden])")
        first, second = found.sent()
        assert first == second
        found.complaints.clear()  # the browser tells that a request failed
    assert sum(stored(running, "browser")[0]) == before + 1


def test_two_tabs_draw_once(visit: Coming, running: Running) -> None:
    before = sum(stored(running, "browser")[0])
    with visit() as found:
        first = found.go("/s/browser")
        found.wait()
        found.page = found.context.new_page()
        assert found.take_part("browser", 0) == ""
        found.page = first
        assert found.answer(0) == ""
        assert json.loads(found.page.text_content("#message")) == found.sent()[0]
        assert len({each["key"] for each in found.sent()}) == 1
    assert sum(stored(running, "browser")[0]) == before + 1


def test_receipt_and_withdrawal(visit: Coming, running: Running) -> None:
    before = stored(running, "browser")
    with visit() as found:
        found.take_part("browser", 1)
        with found.page.expect_download() as download:
            found.page.click("#receipt")
        saved = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
        key = bytes.fromhex(saved["withdrawal_code"])
        survey = running.store.survey("browser").survey
        signed = StoredReceipt.from_json(json.dumps(saved["receipt"])).check(
            survey, key=key
        )
        assert list(signed) == found.sent()[0]["responses"]
        found.page.click("#withdraw")
        assert stored(running, "browser") != before, (
            "one press asks, and does nothing"
        )
        found.page.click("#withdraw")
        found.page.wait_for_selector("#status:not(:empty)")
        assert (
            found.page.inner_text("#status")
            == locale("en").words["withdraw"]["done"]
        )
        assert stored(running, "browser") == before
        assert saved["withdrawal_code"] not in found.kept()
        found.page.reload()
        found.wait()
        assert (
            found.page.inner_text("#status")
            == locale("en").words["withdraw"]["done"]
        ), "nothing is drawn anew"
        found.page.click("#forget")
        found.page.wait_for_selector(
            "[data-step=consent] [data-progress]:not([hidden])"
        )


def test_withdrawal_with_a_code_from_paper(visit: Coming, running: Running) -> None:
    before = stored(running, "browser")
    with visit() as found:
        found.take_part("browser", 1)
        code = found.page.inner_text("#key")
    with visit() as found:
        found.go("/s/browser")
        found.wait()
        for said in ("done", "none"):
            found.page.evaluate("document.querySelector('.withdrawal').open = true")
            found.page.fill("#code", code)
            found.page.click("#withdrawal button")
            found.page.wait_for_function(
                "text => document.querySelector('#withdrawal-said').textContent === text",
                arg=locale("en").words["withdraw"][said],
            )
    assert stored(running, "browser") == before


def test_a_withdrawal_that_is_overwritten_later_says_so(visit: Coming) -> None:
    for language in LANGUAGES:
        with visit() as found:
            found.take_part(f"browser?lang={language}", 1)
            found.context.route(
                "**/withdrawals",
                lambda route: route.fulfill(
                    json={"withdrawn": 1, "overwritten": False}
                ),
            )
            for _ in range(2):
                found.page.click("#withdraw")
            found.page.wait_for_selector("#status:not(:empty)")
            assert (
                found.page.inner_text("#status")
                == locale(language).words["withdraw"]["soon"]
            )
            found.page.reload()
            found.wait()
            assert (
                found.page.inner_text("#status")
                == locale(language).words["withdraw"]["soon"]
            )


@pytest.mark.parametrize("keep", [False, True])
def test_stages_are_released_on_later_visits(
    visit: Coming, running: Running, keep: bool
) -> None:
    before = [sum(each) for each in stored(running, "stages")]
    with visit() as found:
        found.take_part("stages", 1, keep=keep)
        assert ("okapi" in found.kept()) == keep, (
            "the answer is kept only where that was asked for"
        )
        for stage in (1, 2):
            found.page.reload()
            found.page.wait_for_selector("[data-raise]")
            if not keep:
                found.page.locator("#laters input[type=radio]").nth(1).check()
            found.page.click("[data-raise]")
            found.page.wait_for_function(
                "n => document.querySelector('#status').textContent === n",
                arg=locale("en").words["later"]["done"],
            )
            assert len(found.sent()) == stage + 1
        designs = [each["responses"][0]["design"] for each in found.sent()]
        assert designs == [
            each.hash for each in respondents.STAGES.questions[0].designs
        ]
        assert len({each["key"] for each in found.sent()}) == 1
        assert "okapi" not in found.kept(), (
            "nothing is left to draw, so the answer is forgotten"
        )
        found.page.reload()
        found.wait()
        assert found.page.locator("[data-raise]").count() == 0
    assert [sum(each) for each in stored(running, "stages")] == [
        each + 1 for each in before
    ]


def test_an_answer_that_is_kept_for_stages_goes_with_what_is_withdrawn(
    visit: Coming,
) -> None:
    with visit() as found:
        found.take_part("stages", 1, keep=True)
        assert "okapi" in found.kept()
        for _ in range(2):
            found.page.click("#withdraw")
        found.page.wait_for_selector("#status:not(:empty)")
        assert "okapi" not in found.kept()


def test_a_stage_is_drawn_once_though_the_connection_breaks(visit: Coming) -> None:
    with visit() as found:
        found.take_part("stages", 1, keep=True)
        found.page.reload()
        found.context.route("**/responses", lambda route: route.abort(), times=1)
        for said in ("#problem:not(:empty)", "#status:has-text('more exact')"):
            found.page.click("[data-raise]")
            found.page.wait_for_selector(said)
        _, first, second = found.sent()
        assert first == second
        found.complaints.clear()  # the browser tells that a request failed


def test_an_invitation_counts_once_and_cannot_be_joined_to_the_response(
    visit: Coming, running: Running
) -> None:
    [code] = running.store.invite("invited", 1)
    running.traffic.clear()
    with visit() as found:
        found.take_part(f"invited?group=South#invitation={code}", 0)
        exchange, response = found.sent()
        assert exchange["code"] == code
        assert response["group"] == "South"
        # The token is random and was signed unseen: nothing that went out with the code comes back with the response.
        assert response["token"]["message"] not in json.dumps(exchange)
        assert not {exchange["code"], exchange["blinded"]} & set(texts_in(response))
        assert len([each for each in running.traffic if code in each]) == 1, (
            "in the body of the exchange, nowhere else"
        )
        assert code not in found.page.url + found.kept()
    with visit() as found:
        assert locale("en").words["problem"]["refused"] in found.take_part(
            f"invited#invitation={code}", 0
        )
        found.complaints.clear()  # the browser tells of the refusal
    entry = running.store.survey("invited")
    assert (
        sum(running.store.tallies(entry.id, 0, entry.survey.group("South")).counts)
        == 1
    )


def texts_in(body: Any) -> list[str]:
    if isinstance(body, dict):
        return [text for each in body.values() for text in texts_in(each)]
    return (
        [text for each in body for text in texts_in(each)]
        if isinstance(body, list)
        else [str(body)]
    )


AT_MOST = {"en": r"at most ([\d.]+) of 100", "de": r"von höchstens ([\d,]+) von 100"}


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize(
    ("survey", "each", "worst", "together"),
    [
        ("bait", ["11", "99.96"], 1, "99.97"),
        ("dependent", ["24", "34", "24"], 1, "79"),
    ],
)
def test_every_question_and_all_together_are_told_before_consent_and_where_they_are_asked(
    visit: Coming,
    running: Running,
    survey: str,
    each: list[str],
    worst: int,
    together: str,
    language: str,
) -> None:
    """One question's odds do not stand for another's: what is read on the screen, step by step."""
    asked = running.store.survey(survey).survey.questions

    def told(selector: str) -> list[str]:
        return [
            found.replace(",", ".")
            for found in re.findall(AT_MOST[language], page.inner_text(selector))
        ]

    with visit() as found:
        page = found.go(f"/s/{survey}?lang={language}")
        found.wait()
        assert asked[worst].texts[language].text in page.inner_text("#revealed")
        assert told("#revealed") == [each[worst], together]
        assert page.is_visible("#agree")
        for number, question in enumerate(asked):
            page.evaluate(
                "for (const each of document.querySelectorAll('[data-step]')) each.hidden = false"
            )
            assert told(f"[data-question={question.name}] .revealed") == [
                each[number]
            ]
    with visit() as found:
        page = found.page
        assert (
            found.take_part(f"{survey}?lang={language}", *[0, -1, 0][: len(asked)])
            == ""
        )
        # the second question was skipped, and nothing is told of it
        sent = [each[0], *each[2:]]
        assert told("#said") == sent
        assert told("#done") == [*sent, together]


def test_one_question_is_drawn_and_asked_and_it_stays_that_one(
    visit: Coming, running: Running
) -> None:
    asked = set()
    for _ in range(8):
        with visit() as found:
            found.go("/s/drawn")
            found.wait()
            [name] = found.page.evaluate(
                "[...document.querySelectorAll('[data-step=question]')].map((each) => each.dataset.question)"
            )
            found.go("/s/drawn?lang=de")
            found.wait()
            again = found.page.evaluate(
                "document.querySelector('[data-step=question]').dataset.question"
            )
            assert again == name, (
                "a page that is opened again draws no other question"
            )
            assert "1 von 4" in found.page.inner_text("main")
            assert found.answer(1) == ""
            [sent] = found.sent()
            assert [each["question"] for each in sent["responses"]] == [name]
            assert found.page.locator("#said li").count() == 1
            asked.add(name)
    assert len(asked) > 1
    entry = running.store.survey("drawn")
    assert (
        sum(running.store.tallies(entry.id, at).respondents for at in range(4)) == 8
    )

"""Whoever sees the line and not what is in it learns nothing: all messages of a survey have one size."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product as pairs
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deniable.blind import Key
from deniable.client import Client, Hub
from deniable.collector.store import Token
from deniable.designs import k_ary, product, unary
from deniable.order.relaxation import ladder
from deniable.survey import Keys
from tests.support import browser
from tests.support.respondents import ANIMALS, Running, Visit
from tests.support.signing import KEYS
from tests.support.surveys import question, small
from tests.support.wire import Relay, relayed

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ANSWERS: dict[str, list[tuple[Any, ...]]] = {
    "browser": [(0,), (1,), (2,)],
    "several": [(0, 0, 0, 0), (1, 1, 1, 29), (2, -1, 2, 9), (-1, 0, -1, -1)],
    "stages": [(0,), (1,), (2,)],
    "drawn": [(0,), (1,), (0,), (1,)],
    "arms": [(0, 0, 0), (1, 1, 1), (1, 0, -1), (1, 1, 2)],
    "crossed": [(0,), (1,)],
    "amount": [("0",), ("8000",), ("417",)],
    "together": [([0, 0],), ([1, 2],), ([1, 1],)],
    "rated": [({"ticked": []},), ({"ticked": [[at, 1 + at] for at in range(5)]},)],
    "marked": [({"ticked": []},), ({"ticked": [[2, 5]]},)],
    "written": [("quagga",), ("x" * 200,)],
    "ticked": [({"ticked": []},), ({"ticked": [[at, 0] for at in range(5)]},)],
    "physical": [(0, 0), (1, 1), (2, -1)],
    "invited": [(0,), (1,), (2,)],
}
"""Answers to every kind of question, by survey; a negative one is left out."""


@pytest.fixture
def line(running: Running) -> Iterator[Relay]:
    with relayed(running.address) as relay:
        yield relay


@pytest.mark.parametrize("name", ANSWERS)
def test_messages_of_a_browser_have_one_size(
    name: str, running: Running, line: Relay, chromium: Browser
) -> None:
    for answers in 2 * ANSWERS[name]:
        context = chromium.new_context()
        code = running.store.invite(name, 1)[0] if name == "invited" else ""
        visit = Visit(context, line.address)
        group = "?group=South" if code and answers[0] else ""
        assert visit.take_part(f"{name}{group}#invitation={code}", *answers) == ""
        if name == "stages":
            visit.page.reload()
            visit.page.locator("#laters input[type=radio]").nth(answers[0]).check()
            visit.page.click("[data-raise]")
            visit.page.wait_for_selector("[data-raise]", state="detached")
        with visit.page.expect_download():
            visit.page.click("#receipt")
        context.close()
    sent = line.sizes(f"POST /api/surveys/{name}/responses")
    assert len(sent) >= 2 * len(ANSWERS[name])
    assert len(set(sent)) == 1, sent
    if name not in (
        "several",
        "drawn",
        "arms",
        "physical",
    ):  # where not all are asked
        receipts = line.sizes(f"POST /api/surveys/{name}/receipts")
        assert len({reply for _, reply in receipts}) == 1, receipts


def test_a_form_without_script_and_its_reply_have_one_size(
    line: Relay, chromium: Browser
) -> None:
    for first, second in pairs(range(3), range(2)):
        context = chromium.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(f"{line.address}/s/physical")
        page.check("#agree")
        page.check(f"#q-1-{first}")
        page.check(f"#q-2-{second}")
        page.click("[data-plain] button")
        page.wait_for_selector("form >> [name=receipt]", state="attached")
        context.close()
    sent = line.sizes("POST /s/physical")
    assert len(sent) == 6
    assert len({request for request, _ in sent}) == 1, sent
    assert len({reply for _, reply in sent}) == 1, sent


def test_messages_of_devices_have_one_size(
    running: Running, line: Relay, tmp_path: Path
) -> None:
    survey = running.store.survey("several").survey
    link = f"{line.address}/s/several#definition={survey.hash[7:]}"
    secret = running.store.issue_token(Token("hub", "device"))
    for number in range(8):
        with Client(link, tmp_path / f"{number}.db", patience=0.0) as client:
            client.answer("animal", ANIMALS[number % 3])
            if number % 2:
                client.answer("coin", "yes")
            client.send()
            client.receipt()
        with Hub(
            link, tmp_path / f"hub-{number}.db", token=secret, patience=0.0
        ) as hub:
            hub.add([{"animal": ANIMALS[number % 3], "coin": "no"}] * 3)
            hub.send()
    assert len(set(line.sizes("POST /api/surveys/several/responses"))) == 1
    assert (
        len({size for size, _ in line.sizes("POST /api/surveys/several/batches")})
        == 1
    )


@pytest.mark.parametrize("tokens", [None, KEYS[0]])
def test_a_browser_writes_messages_as_python_does(
    tokens: Key | None, scripts: Page
) -> None:
    design = k_ary(["a", "\u0627\u0644", 'quo"ted', "\U0001f600"], epsilon=1)
    both = product({"a": design, "b": unary(11, epsilon=1)})
    stages = ladder([k_ary(1001, epsilon=1), k_ary(1001, epsilon=2)])
    survey = small(
        questions=tuple(map(question, "abc", (design, both, stages))),
        admission="invitation" if tokens else "open",
        keys=Keys("0" * 64, tokens),
        groups=("north", "\u0627\u0644\u0639"),
    )
    definition = ["readSurvey", survey.to_json(), {"definition": survey.hash[7:]}]
    for symbol in design.symbols:
        response = {"design": design.hash, "question": "a", "symbol": symbol}
        body = {"key": "0" * 32, "responses": [response], "survey": survey.hash}
        written = browser.run(
            scripts, "call", [definition, ["encodeMessage", None, body]]
        )
        assert written["value"] == survey.encode_message(body).decode()
    long = ["encodeMessage", None, {**body, "responses": 20 * [response]}]
    assert browser.run(scripts, "call", [definition, long])["known"]

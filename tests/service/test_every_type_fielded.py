"""Questions of every type that asks for more than one category: from the page over the wire to the estimate.

What is sent is what Python sends with the same random bytes, and depends on the answer through the response alone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

import deniable as dn
from deniable.collector import results
from deniable.collector.pages.analyst import question_page, tally_file, to_csv
from deniable.collector.pages.render import render
from deniable.collector.store import Sent, Submission
from deniable.survey.catalogue import locale
from tests.support.respondents import (
    ANIMALS,
    MARKED,
    RATED,
    TICKED,
    WRITTEN,
    Answer,
    Coming,
    Running,
)
from tests.support.seeded import Seeded
from tests.support.vectors import written

SCRIPTED = """(byte) => {
  const real = crypto.getRandomValues.bind(crypto);
  crypto.getRandomValues = (array) => (array.length === 16 ? real(array) : array.fill(byte)); // a key is 16 bytes
}"""


@dataclass(frozen=True)
class Fielded:
    """A survey with one question of a type.

    Attributes:
        survey: what is asked.
        answers: two ways to answer on the page, and what Python is told of the same.
        byte: of which all random bytes are, so that the responses to both are one and the same.
        missing: something that the page refuses.
        options: of `estimate`.
    """

    survey: dn.Survey
    answers: tuple[tuple[Answer, Any], tuple[Answer, Any]]
    byte: int
    missing: Answer
    options: dict[str, Any]

    @property
    def name(self) -> str:
        return self.survey.name

    @property
    def design(self) -> Any:
        return self.survey.questions[0].about


class Constant:
    """Random bytes that are all alike."""

    def __init__(self, byte: int) -> None:
        self.byte = byte

    def read(self, count: int) -> bytes:
        return bytes([self.byte] * count)


def ticked(*items: int) -> dict[str, str]:
    return {f"item{at}": "yes" if at in items else "no" for at in range(5)}


FIELDED = [
    Fielded(
        TICKED,
        (({"ticked": [[1, 0], [2, 0]]}, ticked(1, 2)), ({"ticked": []}, ticked())),
        0,
        [],
        {},
    ),
    Fielded(
        RATED,
        (
            ({"ticked": [[1, 5], [3, 2]]}, {"item1": 5, "item3": 2}),
            ({"ticked": [[2, 1]]}, {"item2": 1}),
        ),
        0,
        {"ticked": [[1, 0]]},
        {},
    ),
    Fielded(
        MARKED,
        (
            ({"ticked": [[0, 5], [4, 2]]}, {"item0": 1, "item4": -0.5}),
            ({"ticked": []}, {}),
        ),
        0,
        [],
        {},
    ),
    Fielded(
        WRITTEN,
        ((f"  {ANIMALS[0]} ", ANIMALS[0]), (ANIMALS[1], ANIMALS[1])),
        0,
        "x" * 201,
        {"candidates": ANIMALS},
    ),
]
every_type = pytest.mark.parametrize(
    "fielded", FIELDED, ids=[each.name for each in FIELDED]
)


def shown(found: Any) -> str:
    """Return all that the page holds of answers: what is ticked, chosen and entered in the questions."""
    return str(
        found.page.evaluate(
            """[...document.querySelectorAll("[data-step=question] :is(input, select)")]
               .map((each) => (["radio", "checkbox"].includes(each.type) ? String(each.checked) : each.value)).join()"""
        )
    )


@every_type
def test_a_page_sends_what_python_sends_and_nothing_else_of_the_answer(
    fielded: Fielded, visit: Coming, running: Running
) -> None:
    seen = []
    for typed, told in fielded.answers:
        wanted = dn.respond(fielded.design, told, source=Constant(fielded.byte))
        with visit(locale="en", viewport={"width": 375, "height": 800}) as found:
            found.go(f"/s/{fielded.name}")
            found.wait()
            found.page.evaluate(SCRIPTED, fielded.byte)
            untouched = shown(found)
            running.traffic.clear()
            assert found.answer(typed) == ""
            [sent] = found.sent()
            [response] = sent["responses"]
            assert response == {
                "question": fielded.survey.questions[0].name,
                "design": wanted.design,
                "symbol": written(wanted),
            }
            assert json.loads(found.page.text_content("#message") or "") == sent
            assert shown(found) == untouched
            assert found.page.evaluate("document.documentElement.scrollWidth") == 375
            kept = found.kept() + found.page.inner_text("body")
            seen.append(
                [
                    text.replace(sent["key"], "KEY")
                    for text in sorted([*running.traffic, kept])
                ]
            )
    assert seen[0] == seen[1], "more than the response depends on the answer"


def number_of(fielded: Fielded, response: Any) -> int:
    """Return the number of what Python has drawn, as a collector counts it."""
    return fielded.survey.questions[0].design.symbol_number(written(response))


@every_type
def test_what_is_left_open_is_asked_for(fielded: Fielded, visit: Coming) -> None:
    words = locale("en").words["question"]
    with visit(locale="en") as found:
        found.go(f"/s/{fielded.name}")
        found.wait()
        assert found.answer(fielded.missing).split(" ")[0] == "Please"
        assert found.sent() == []
        assert words["skip"] in found.page.inner_text("[data-step=question]")
        found.page.click("[data-step=question] [data-skip]")
        found.page.wait_for_selector("[data-step=question]", state="hidden")
        assert found.sent() == []


@every_type
def test_the_estimate_of_the_collector_is_that_of_python(
    fielded: Fielded, running: Running
) -> None:
    store, source = running.store, Seeded(fielded.name)
    entry = store.survey(fielded.name)
    before = store.tallies(entry.id, 0)
    (_, often), (_, rarely) = fielded.answers
    sent = [
        dn.respond(fielded.design, rarely if person % 4 else often, source=source)
        for person in range(400)
    ]
    store.add(
        [
            Submission(
                entry.id,
                source.read(16),
                None,
                (Sent(0, 0, number_of(fielded, response)),),
            )
            for response in sent
        ]
    )
    store.close(fielded.name)
    tally = before + dn.tally(fielded.design, sent)
    assert store.tallies(entry.id, 0) == tally
    name = fielded.survey.questions[0].name
    assert json.loads(tally_file(store, fielded.name, name)) == json.loads(
        tally.to_json()
    )
    estimate = dn.estimate(tally, **fielded.options)
    found = results.read(store.shown(entry.id, 0))
    assert [(row.name, row.estimate, row.low) for row in found.numbers] == [
        (row.name, row.estimate, row.low) for row in estimate.summary().rows
    ]
    page = question_page(store, fielded.name, name)
    text = render(page)
    assert found.sentence in text
    assert all(row[0] in text for row in found.table[1:])
    assert len(to_csv(page).splitlines()) == 1 + len(found.numbers)


@every_type
def test_the_survey_is_certified_and_its_codebook_written(fielded: Fielded) -> None:
    certificate = dn.certify(fielded.survey)
    assert certificate.claims["parity"] == str(fielded.design.parity)
    assert type(certificate).from_json(certificate.to_json()) == certificate
    assert fielded.design.hash in fielded.survey.codebook().to_markdown()

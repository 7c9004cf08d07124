"""Two questions on one page, answered together: one response is sent, and the analyst sees both and their table."""

from __future__ import annotations

import json

import pytest

import deniable as dn
from deniable.collector import results
from deniable.collector.pages.analyst import question_page, to_csv
from deniable.collector.pages.render import render
from deniable.collector.store import Sent, Submission
from deniable.errors import InvalidRequest
from deniable.survey import Survey
from tests.support.respondents import ANIMALS, TOGETHER, Coming, Running
from tests.support.seeded import Seeded

DESIGN = TOGETHER.questions[0].design
ZEROS = """() => {
  const drawn = crypto.getRandomValues.bind(crypto);
  crypto.getRandomValues = (array) => (array.length === 16 ? drawn(array) : array.fill(0)); // a key is 16 bytes
}"""


def test_each_is_asked_by_itself_and_one_response_is_sent(
    visit: Coming, running: Running
) -> None:
    before = len(running.traffic)
    with visit(locale="en") as found:
        page = found.go("/s/together")
        found.wait()
        assert page.locator("[data-step=question] fieldset").count() == 2
        assert found.answer([1, 2]) == ""
        [sent] = found.sent()
        [response] = sent["responses"]
        assert response["design"] == DESIGN.hash
        assert response["symbol"] in DESIGN.symbols
        words = [
            each.capitalize() if each in ("no", "yes") else each
            for each in response["symbol"].split(" · ")
        ]
        assert " · ".join(words) in (page.text_content("#said") or "")
        assert json.loads(page.text_content("#message") or "") == sent
        # the consent alone
        assert (
            page.evaluate("document.querySelectorAll('input:checked').length") <= 1
        )
        assert not found.complaints
    answers = [each for each in running.traffic[before:] if "responses" in each]
    assert answers
    assert all('"answer"' not in each for each in answers)


@pytest.mark.parametrize("chosen", [[1, 2], [0, 0], [0, 1]], ids=str)
def test_the_combination_that_was_chosen_is_the_one_that_is_drawn_from(
    visit: Coming, chosen: list[int]
) -> None:
    """With the same bytes, the page sends what Python sends of the same two answers."""
    with visit(locale="en") as found:
        page = found.go("/s/together")
        found.wait()
        page.evaluate(ZEROS)
        assert found.answer(chosen) == ""
        [sent] = found.sent()[0]["responses"]
    wanted = {
        (smokes, animal): dn.respond(
            DESIGN, f"{['no', 'yes'][smokes]} · {ANIMALS[animal]}", source=_Zeros()
        ).symbol
        for smokes, animal in [(1, 2), (0, 0), (0, 1)]
    }
    assert sent["symbol"] == wanted[chosen[0], chosen[1]]
    assert len(set(wanted.values())) >= 2


class _Zeros:
    """Random bytes that are all 0, as the browser's are in this test."""

    def read(self, count: int) -> bytes:
        return bytes(count)


def test_one_that_is_left_open_is_asked_for(visit: Coming) -> None:
    with visit(locale="en") as found:
        found.go("/s/together")
        found.wait()
        assert found.answer([1, -1]) != ""
        assert found.sent() == []
        # the focus goes to what is open
        assert found.page.evaluate("document.activeElement.name").endswith("-2")


def test_a_language_brings_its_own_words(visit: Coming) -> None:
    with visit(locale="de") as found:
        page = found.go("/s/together")
        found.wait()
        text = page.evaluate(
            "document.querySelector('[data-step=question]').textContent"
        )
        assert "Rauchen Sie?" in text
        assert "Ja" in text
        assert "eine Rückmeldung" in text


def test_the_analyst_sees_margins_and_the_table_with_its_test(
    running: Running,
) -> None:
    source, entry = Seeded("together"), running.store.survey("together")
    for person in range(400):
        answer = {
            "smokes": "yes" if person % 4 == 0 else "no",
            "animal": ANIMALS[0 if person % 4 == 0 else person % 3],
        }
        number = DESIGN.symbol_number(
            dn.respond(DESIGN, answer, source=source).symbol
        )
        running.store.add(
            [Submission(entry.id, source.read(16), None, (Sent(0, 0, number),))]
        )
    running.store.close("together")
    found = results.read(running.store.shown(running.store.survey("together").id, 0))
    assert [each.text for each in found.margins] == [
        "Do you smoke?",
        "Which animal is it?",
    ]
    assert found.margins[0].labels == ("No", "Yes")
    tally = running.store.shown(entry.id, 0).everybody.tally
    table = dn.cross_table(tally)
    assert [row.estimate for row in found.margins[0].rows] == pytest.approx(
        table.row_totals.tolist()
    )
    [pair] = found.pairs
    cells = [[cell.estimate for cell in row] for row in pair.cells]
    assert cells == [pytest.approx(row) for row in table.shares.tolist()]
    assert pair.notes[0] == f"{table.independence()}."
    page = question_page(running.store, "together", "habits")
    text = render(page)
    assert "Do you smoke?</bdi> by <bdi>Which animal is it?" in text
    assert "Test of independence: χ²" in text
    assert "No · " in to_csv(page)


def test_parts_that_are_not_those_of_the_design_are_refused() -> None:
    def survey(design: object, parts: list[object], **others: object) -> Survey:
        asked = {
            "name": "q",
            "design": design,
            "texts": {"en": {"text": "?", "parts": parts}},
            **others,
        }
        return Survey.from_document(
            {"name": "s", "texts": {"en": {"title": "t"}}, "questions": [asked]}
        )

    warner = {"family": "warner", "epsilon": 1}
    both = {"family": "product", "designs": [warner, warner]}
    parts: list[object] = [{"text": "a?"}, {"text": "b?"}]
    made = survey(both, parts)
    assert Survey.from_json(made.to_json()) == made
    assert list(made.questions[0].labels("en"))[1] == "no · yes"
    with pytest.raises(InvalidRequest, match="has 1 parts; expected 2"):
        survey(both, parts[:1])
    with pytest.raises(InvalidRequest, match="has 2 parts; expected none"):
        survey(warner, parts)
    with pytest.raises(InvalidRequest, match="a device in the browser"):
        survey(both, parts, device="physical")
    with pytest.raises(InvalidRequest, match="3 labels; expected 2"):
        survey(both, [{"text": "a?", "labels": ["x", "y", "z"]}, {"text": "b?"}])
    with pytest.raises(InvalidRequest, match="called as its answers are"):
        survey(
            {
                "family": "product",
                "designs": [warner, {"family": "crosswise", "p": "1/4"}],
            },
            parts,
        )
    with pytest.raises(InvalidRequest, match="'text' is missing"):
        survey(both, [{"labels": ["x", "y"]}, {"text": "b?"}])

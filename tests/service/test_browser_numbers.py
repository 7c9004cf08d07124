"""A number in the respondent's page, from its field to the analyst: rounded and drawn there, and never sent."""

from __future__ import annotations

import json

import numpy as np
import pytest

from deniable.collector import results
from deniable.designs import NumberDesign
from deniable.survey import Survey
from deniable.survey.catalogue import locale
from tests.support.respondents import AMOUNT, Coming, Running
from tests.support.seeded import Seeded

DESIGN = AMOUNT.questions[0].design
SECRET = "4711.25"

DRAW_MANY = """
async ({ definition, amounts }) => {
  const { readSurvey, rounded, respond } = await import("/static/respond.js");
  const hash = JSON.parse(definition).hash.slice(7);
  const { questions } = await readSurvey(definition, { definition: hash });
  const [design] = questions[0].designs;
  return amounts.map((each) => respond(design, rounded(design, each)).symbol);
}
"""


def test_a_number_goes_from_the_field_to_the_estimate_and_never_leaves_the_page(
    visit: Coming, running: Running
) -> None:
    before = len(running.traffic)
    with visit(locale="en") as found:
        assert found.take_part("amount", SECRET) == ""
        [sent] = found.sent()
        [response] = sent["responses"]
        assert response["design"] == DESIGN.hash
        assert response["symbol"] in DESIGN.symbols
        assert response["symbol"].replace("000", ",000") in found.page.text_content(
            "#said"
        )
        assert json.loads(found.page.text_content("#message") or "") == sent
        for place in (found.kept(), found.page.content(), *running.traffic[before:]):
            assert "4711" not in place
            assert "4,711" not in place
        assert (
            found.page.evaluate(
                "[...document.querySelectorAll('input')].map(each => each.value).join()"
            ).count("4")
            == 0
        )
    tally = running.store.tallies(running.store.survey("amount").id, 0)
    assert tally.respondents >= 1


@pytest.mark.parametrize(
    ("language", "wrong"),
    [
        ("en", ["", "many", "-1", "8000.01", "1,250", "1e3"]),
        ("de", ["", "1.250", "8000,01", "1 250", "-0,5"]),
    ],
)
def test_what_is_no_number_of_the_range_is_complained_about_and_not_cut_off(
    visit: Coming, language: str, wrong: list[str]
) -> None:
    said = locale(language).words["number"]["complaint"]
    high = {"en": "8,000", "de": "8.000"}[language]
    with visit(locale=language) as found:
        for each in wrong:
            assert found.take_part("amount", each) == said.format(
                low="0", high=high
            ), each
        assert found.sent() == []


def test_decimals_are_written_as_in_the_language(visit: Coming) -> None:
    with visit(locale="de") as found:
        assert found.take_part("amount", "8000,0") == ""
        assert len(found.sent()) == 1
        assert "." in (found.page.text_content("#said b") or ".")


def test_a_skipped_number_sends_nothing(visit: Coming) -> None:
    with visit() as found:
        assert found.take_part("amount", -1) == ""
        assert found.sent() == []


def test_a_number_that_was_entered_and_is_skipped_is_not_sent(visit: Coming) -> None:
    with visit(locale="en") as found:
        page = found.go("/s/amount")
        found.wait()
        page.check("#agree")
        for _ in range(3):
            page.click("[data-step]:not([hidden]) [data-next]")
        page.fill("[data-step=question] [data-amount]", str(SECRET))
        page.click("[data-step=question] [data-skip]")
        page.wait_for_function("document.querySelector('#status').textContent")
        assert page.input_value("[data-step=question] [data-amount]") == ""
        assert found.sent() == []


def test_the_device_can_be_tried_with_a_harmless_number(visit: Coming) -> None:
    with visit(locale="en") as found:
        page = found.go("/s/amount")
        found.wait()
        page.check("#agree")
        for _ in range(2):
            page.click("[data-step]:not([hidden]) [data-next]")
        page.wait_for_selector("[data-step=try]:visible")
        page.click("#draw")
        assert "0 to 8" in (page.text_content("#drawn") or "")
        page.fill("#glasses", "3")
        page.click("#draw-many")
        counts = page.locator("#counts tbody td:last-child").all_text_contents()
        assert sum(map(int, counts)) == 20
        assert len(counts) == len(DESIGN.symbols)


@pytest.mark.statistical
def test_what_browsers_send_gives_the_mean_on_the_analysts_page(
    visit: Coming, running: Running
) -> None:
    """Six standard errors: a false alarm in 10^9 tests. Drawn in Chromium with its own source."""
    amounts = np.random.default_rng(5).gamma(4, 600, 4000).clip(0, 8000).round(2)
    with visit() as found:
        found.go("/s/amount")
        symbols = found.page.evaluate(
            DRAW_MANY,
            {
                "definition": _sealed(running),
                "amounts": [f"{each:.2f}" for each in amounts],
            },
        )
    import deniable as dn

    assert isinstance(DESIGN, NumberDesign)
    estimate = dn.estimate(dn.tally(DESIGN, symbols)).mean
    assert abs(estimate.value - amounts.mean()) < 6 * estimate.error


def _sealed(running: Running) -> str:
    survey: Survey = running.store.survey("amount").survey
    return survey.to_json()


def test_the_analyst_is_told_mean_deviation_and_quantiles(running: Running) -> None:
    source, entry = Seeded("analyst"), running.store.survey("amount")
    import deniable as dn
    from deniable.collector.store import Sent, Submission

    assert isinstance(DESIGN, NumberDesign)
    for amount in (
        np.random.default_rng(6).gamma(4, 600, 60).clip(0, 8000).round(2).tolist()
    ):
        symbol = dn.respond(DESIGN, amount, source=source).symbol
        running.store.add(
            [
                Submission(
                    entry.id,
                    source.read(16),
                    None,
                    (Sent(0, 0, DESIGN.symbol_number(symbol)),),
                )
            ]
        )
    running.store.close("amount")
    found = results.read(running.store.shown(running.store.survey("amount").id, 0))
    assert [row.name for row in found.numbers] == [
        "mean", "sd", "quantile 0.1", "quantile 0.25", "median", "quantile 0.75", "quantile 0.9",
    ]  # fmt: skip
    assert found.sentence.startswith("The mean is about ")
    assert [each.label for each in found.shares] == [
        "0",
        "2,000",
        "4,000",
        "6,000",
        "8,000",
    ]

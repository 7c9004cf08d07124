"""Surveys to start from, and harmless questions with the share that they say."""

from __future__ import annotations

import tomllib
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from deniable.errors import InvalidRequest
from deniable.survey import HARMLESS, TEMPLATES, Survey, harmless_question, survey_template
from deniable.survey.templates import template_title
from tests.support.commands import done, run


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_passes_the_check_as_it_is(name: str, tmp_path: Path) -> None:
    file = tmp_path / "survey.toml"
    done("survey", "new", "--template", name, "--out", file)
    assert file.read_text(encoding="utf-8") == survey_template(name)
    assert run("survey", "check", file).exit_code == 0
    survey = Survey.read(file)
    assert survey.languages[:2] == ("en", "de")
    assert all(texts.contact.startswith("<") for texts in survey.texts.values())
    assert f"{name}: {template_title(name)}" in done("survey", "new").stdout


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("languages", [["en"], ["de"], ["de", "en"]])
def test_languages_that_are_not_wanted_are_left_out(name: str, languages: list[str]) -> None:
    whole, kept = (tomllib.loads(survey_template(name, languages=each)) for each in ((), languages))
    assert kept["languages"] == languages
    for one, other in zip([whole, *whole["questions"]], [kept, *kept["questions"]], strict=True):
        assert other["texts"] == {tag: one["texts"][tag] for tag in languages}
        assert other.keys() == one.keys()
    assert Survey.from_document(kept).languages == tuple(languages)


def test_what_there_is_no_template_of_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="expected one of yes-no"):
        survey_template("weather")
    with pytest.raises(InvalidRequest, match="not written in 'tlh'; expected en, de"):
        survey_template("dice", languages=["tlh"])
    file = tmp_path / "mine.toml"
    file.write_text("mine", encoding="utf-8")
    assert run("survey", "new", "--template", "dice", "--out", file).exit_code == 2
    assert file.read_text(encoding="utf-8") == "mine"


def test_birthdays_have_the_share_of_all_days_of_the_calendar() -> None:
    """Counted day by day over the 400 years after which the Gregorian calendar repeats."""
    first = date(1600, 1, 1)
    days = [first + timedelta(days=number) for number in range(146_097)]
    assert days[-1] == date(1999, 12, 31)
    held = {
        "mother-january-to-march": lambda day: day.month in (1, 2, 3),
        "mother-november-december": lambda day: day.month in (11, 12),
        "father-first-to-fifth": lambda day: day.day in range(1, 6),
        "father-first-to-tenth": lambda day: day.day in range(1, 11),
        "friend-even-day": lambda day: day.day % 2 == 0,
    }
    digits = {"banknote-digit-0-to-2": Fraction(3, 10), "banknote-digit-even": Fraction(1, 2)}
    counted = {name: Fraction(sum(map(holds, days)), len(days)) for name, holds in held.items()}
    assert {each.name: each.share for each in HARMLESS} == counted | digits
    assert all(set(each.texts) == {"en", "de", "es", "fr"} for each in HARMLESS)


@pytest.mark.parametrize(
    ("template", "name"), [("crosswise", "mother-january-to-march"), ("unrelated", "banknote-digit-0-to-2")]
)
def test_a_template_asks_the_harmless_question_whose_share_its_design_has(template: str, name: str) -> None:
    (question,) = Survey.from_document(tomllib.loads(survey_template(template))).questions
    harmless = harmless_question(name)
    for language, texts in question.texts.items():
        assert harmless.texts[language] in texts.instructions
    if template == "crosswise":
        assert question.design.probability("same", given="yes") == harmless.share
    else:
        assert question.design.probability("yes", given="no") == Fraction(1, 4) * harmless.share
        assert question.design.probability("yes", given="yes") == Fraction(3, 4) + Fraction(1, 4) * harmless.share


def test_harmless_questions_are_listed_with_their_shares() -> None:
    told = done("survey", "harmless").stdout
    assert "mother-january-to-march  36097/146097 = 0.2471" in told
    with pytest.raises(InvalidRequest, match="expected one of mother-january-to-march"):
        harmless_question("weather")

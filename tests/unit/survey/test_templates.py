"""Surveys to start from, and harmless questions with the share that they say."""

from __future__ import annotations

import re
import tomllib
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from deniable.designs import crosswise, direct
from deniable.errors import InvalidRequest
from deniable.plan import sample_size
from deniable.survey import (
    HARMLESS,
    TEMPLATES,
    Survey,
    harmless_question,
    survey_template,
)
from deniable.survey.templates import template_title
from tests.support.commands import done, run

P = harmless_question("mother-january-to-march").share


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
def test_languages_that_are_not_wanted_are_left_out(
    name: str, languages: list[str]
) -> None:
    whole, kept = (
        tomllib.loads(survey_template(name, languages=each))
        for each in ((), languages)
    )
    assert kept["languages"] == languages
    for one, other in zip(
        [whole, *whole["questions"]], [kept, *kept["questions"]], strict=True
    ):
        if "check" not in one:  # whose words are not the author's
            assert other["texts"] == {tag: one["texts"][tag] for tag in languages}
        assert other.keys() == one.keys()
    assert Survey.from_document(kept).languages == tuple(languages)


def test_what_there_is_no_template_of_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="expected one of yes-no"):
        survey_template("weather")
    with pytest.raises(
        InvalidRequest, match="not written in 'tlh'; expected en, de"
    ):
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
    digits = {
        "banknote-digit-0-to-2": Fraction(3, 10),
        "banknote-digit-even": Fraction(1, 2),
    }
    counted = {
        name: Fraction(sum(map(holds, days)), len(days))
        for name, holds in held.items()
    }
    assert {each.name: each.share for each in HARMLESS} == counted | digits
    assert all(set(each.texts) == {"en", "de", "es", "fr"} for each in HARMLESS)


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ("crosswise", "mother-january-to-march"),
        ("unrelated", "banknote-digit-0-to-2"),
    ],
)
def test_a_template_asks_the_harmless_question_whose_share_its_design_has(
    template: str, name: str
) -> None:
    (question,) = Survey.from_document(
        tomllib.loads(survey_template(template))
    ).questions
    harmless = harmless_question(name)
    for language, texts in question.texts.items():
        assert harmless.texts[language] in texts.instructions
    if template == "crosswise":
        assert question.design.probability("same", given="yes") == harmless.share
    else:
        assert (
            question.design.probability("yes", given="no")
            == Fraction(1, 4) * harmless.share
        )
        assert (
            question.design.probability("yes", given="yes")
            == Fraction(3, 4) + Fraction(1, 4) * harmless.share
        )


def test_harmless_questions_are_listed_with_their_shares() -> None:
    told = done("survey", "harmless").stdout
    assert "mother-january-to-march  36097/146097 = 0.2471" in told
    with pytest.raises(
        InvalidRequest, match="expected one of mother-january-to-march"
    ):
        harmless_question("weather")


def test_each_harmless_question_says_what_it_is_good_for() -> None:
    """Every p is refused by the design, or usable with the ε that is told, or told to be of no use."""
    listed = done("survey", "harmless").stdout
    for each in HARMLESS:
        assert each.use in listed
        if each.share == Fraction(1, 2):
            assert "not for crosswise, which tells nothing" in each.use
            continue
        design = crosswise(each.share)
        said = float(each.use.partition("ε = ")[2].partition(",")[0])
        assert design.epsilon <= said < design.epsilon * 1.01
        assert ("not for crosswise" in each.use) == (design.epsilon < 0.1)
    (times,) = re.findall(
        "([0-9.]+) times", harmless_question("mother-january-to-march").use
    )
    people, direct_people = (
        sample_size(asked, margin=0.03, shares=[0.9, 0.1])
        for asked in (crosswise(P), direct())
    )
    assert float(times) == pytest.approx(people / direct_people, rel=0.02)


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_as_it_is_can_be_looked_at_and_not_opened(
    name: str, tmp_path: Path
) -> None:
    file, base = (
        tmp_path / "survey.toml",
        ("--database", str(tmp_path / "deniable.db")),
    )
    done("survey", "new", "--template", name, "--language", "en", "--out", file)
    survey = Survey.read(file)
    left = (
        "<who asks> in texts.en.intro",
        "<why> in texts.en.intro",
        "<Name, e-mail or telephone> in texts.en.contact",
    )
    assert survey.placeholders == left
    checked = run("survey", "check", file)
    assert checked.exit_code == 0
    assert all(
        f"to be filled in before the survey can be opened: {each}" in checked.output
        for each in left
    )
    refused = run("survey", "create", file, "--open", *base)
    assert refused.exit_code != 0
    assert all(each in " ".join(refused.output.split()) for each in left)
    assert not (tmp_path / "deniable.db").exists()
    assert left[0] in run("survey", "create", file, *base).output
    refused = run("survey", "open", survey.name, *base)
    assert refused.exit_code != 0
    assert left[0] in " ".join(refused.output.split())
    for command in ("preview", "pilot"):
        tried = run("survey", command, survey.name, *base)
        assert tried.exit_code == 0, tried.output
        assert left[0] in tried.output
    file.write_text(
        re.sub("<[^>]*>", "somebody", file.read_text(encoding="utf-8")),
        encoding="utf-8",
    )
    filled = run("survey", "create", file, "--open", *base)
    assert filled.exit_code == 0, filled.output
    assert "filled in" not in filled.output


def test_addresses_and_comparisons_are_no_placeholders() -> None:
    body = tomllib.loads(survey_template("yes-no", languages=["en"]))
    body["texts"]["en"] |= {
        "intro": "For ages < 18 and > 65; a <5, b> 6; <b>bold</b>, <script>x</script>, <img src=x>.",
        "contact": "Ann <ann@work.example>, <https://work.example>",
    }
    assert Survey.from_document(body).placeholders == ()
    body["questions"][0]["texts"]["en"]["labels"] = ["No", "<your label>"]
    (found,) = Survey.from_document(body).placeholders
    assert found.startswith("<your label> in ")
    assert found.endswith(".texts.en.labels")


def test_the_consent_of_the_crosswise_template_agrees_with_what_is_promised() -> (
    None
):
    survey = Survey.from_document(tomllib.loads(survey_template("crosswise")))
    assert "Nobody can tell" not in survey.texts["en"].consent
    assert "likelier or less likely" in survey.texts["en"].consent
    assert "wahrscheinlicher oder unwahrscheinlicher" in survey.texts["de"].consent


def test_two_hashes_are_told_apart(tmp_path: Path) -> None:
    """That of the file, by check and codebook, and that of the definition with the collector's keys, in the link."""
    file, base = (
        tmp_path / "survey.toml",
        ("--database", str(tmp_path / "deniable.db")),
    )
    text = re.sub("<[^>]*>", "somebody", survey_template("dice", languages=["en"]))
    file.write_text(text, encoding="utf-8")
    for command in (("check", file), ("codebook", file)):
        assert "A collector adds its keys" in done("survey", *command).stdout
    link = run("survey", "create", file, "--open", *base).output
    assert Survey.read(file).hash.removeprefix("sha256:") not in link
    done("survey", "definition", "die", "--out", tmp_path / "definition.json", *base)
    fielded = Survey.read(tmp_path / "definition.json")
    assert f"#definition={fielded.hash.removeprefix('sha256:')}" in link
    assert (
        "A collector adds its keys"
        not in done("survey", "check", tmp_path / "definition.json").stdout
    )

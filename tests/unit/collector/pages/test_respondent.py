from __future__ import annotations

import json
import re
from dataclasses import fields
from html import unescape
from importlib.resources import files

import pytest
from jinja2 import meta, nodes

from deniable.collector.messages import ResponseBody, SubmissionBody
from deniable.collector.pages.render import Context, environment, render
from deniable.collector.pages.respondent import (
    Form,
    Message,
    Overview,
    SentPage,
    SurveyPage,
    page,
    responses_in_words,
    survey_page,
)
from deniable.designs import FAMILIES
from deniable.survey import Question, Survey
from deniable.survey.catalogue import LANGUAGES, Locale, locale
from deniable.survey.disclosure import Disclosure
from deniable.types.categories.form import trial_design
from tests.support import respondents

FRUITS = locale("en").words["try"]["labels"]


def reads(name: str) -> set[str]:
    """Return the names that a template reads, also by way of those that it extends."""
    text, _, _ = environment().loader.get_source(environment(), name)  # type: ignore[union-attr]
    parsed = environment().parse(text)
    others = [
        each
        for each in meta.find_referenced_templates(parsed)
        if each and each.endswith("base.html")
    ]
    made = {each.target for each in parsed.find_all(nodes.Import)}
    made |= {each.target.name for each in parsed.find_all(nodes.Assign)}
    return (set(meta.find_undeclared_variables(parsed)) - made).union(
        *map(reads, others)
    )


@pytest.mark.parametrize("context", [Overview, Message, SurveyPage, SentPage])
def test_a_template_reads_what_its_context_holds_and_nothing_else(
    context: type[Context],
) -> None:
    held = {each.name for each in fields(context)}
    missing = reads(context.TEMPLATE) - held
    assert missing == set()
    assert held - reads(context.TEMPLATE) <= {"language"}, (
        "every page knows the language of its survey"
    )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("survey", respondents.ALL, ids=lambda each: each.name)
def test_every_survey_has_a_page_in_every_language(
    survey: Survey, language: str
) -> None:
    html = render(
        survey_page(survey, language, form=Form("form", "value", "0" * 32))
    )
    assert f'lang="{language}"' in html
    for question in survey.questions:
        assert question.texts[language].text in html
    assert " style=" not in html
    assert "onclick" not in html


@pytest.mark.parametrize("language", [each for each in LANGUAGES if each != "en"])
def test_responses_are_called_by_words_of_the_language(language: str) -> None:
    html = render(survey_page(respondents.CROSSED, language))
    for word in ("no", "yes", "different", "same"):
        assert re.search(rf"[>“„«]{word}[<”“»]", html) is None, word
        assert locale(language).words["symbols"][word] in html


def test_a_survey_that_says_how_to_use_its_device_is_not_contradicted() -> None:
    """The page would give outcomes of a die by itself, and perhaps others."""
    told = {
        "text": "Really?",
        "instructions": "Roll a die. 1: enter yes. 6: enter no.",
    }
    asked = {
        "name": "q",
        "device": "physical",
        "design": {"family": "k_ary", "categories": ["no", "yes"], "p": "5/6"},
    }
    document = {
        "name": "x",
        "texts": {"en": {"title": "x"}},
        "questions": [asked | {"texts": {"en": told}}],
    }
    html = render(survey_page(Survey.from_document(document), "en"))
    assert told["instructions"] in html
    assert 'class="rules"' not in html
    del told["instructions"]
    assert 'class="rules"' in render(
        survey_page(Survey.from_document(document), "en")
    )


def test_what_a_survey_says_is_escaped() -> None:
    evil = "<script>alert(1)</script>{{ 7 * 70007 }}{title}"
    texts = {
        "en": {
            "title": evil,
            "intro": evil,
            "consent": evil,
            "thanks": evil,
            "contact": evil,
        }
    }
    labels = [evil, "b", "c"]
    question = {
        "name": "q",
        "texts": {"en": {"text": evil, "help": evil, "labels": labels}},
        "design": {"family": "k_ary", "categories": 3, "epsilon": 1},
    }
    html = render(
        survey_page(
            Survey.from_document(
                {"name": "x", "texts": texts, "questions": [question]}
            ),
            "en",
        )
    )
    assert "<script>alert" not in html
    assert "490049" not in html
    assert (
        html.count("&lt;script&gt;alert(1)&lt;/script&gt;{{ 7 * 70007 }}{title}")
        >= 8
    )


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_every_design_can_be_tried_with_fruit(name: str) -> None:
    for design in FAMILIES[name].designs():
        tried = trial_design(design, FRUITS)
        if tried is None:
            assert design.epsilon in (0, float("inf"))
            continue
        assert list(tried.categories) == FRUITS[: len(tried.categories)]
        assert tried.epsilon <= design.epsilon


def test_a_survey_with_a_device_in_the_page_has_no_form_around_answers() -> None:
    """Without script a browser could submit what stands in a form; answers therefore never do."""
    html = render(survey_page(respondents.SEVERAL, "en"))
    before, _, _ = html.partition('id="withdrawal"')
    assert before.count("<form") == 1
    assert before.rstrip().endswith(
        '<form method="post" action="/s/several?lang=en"'
    )
    assert (
        "okapi"
        not in before.partition("<template>")[0].partition('data-step="question"')[2]
    )


def test_the_trial_is_not_about_the_question() -> None:
    made = survey_page(respondents.BROWSER, "en").tellings[0].trial
    assert made is not None
    assert not [animal for animal in respondents.ANIMALS if animal in made.design]
    assert json.loads(made.design)["categories"] == FRUITS[:3]


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_was_sent_without_script_tells_what_it_reveals(language: str) -> None:
    survey, spoken = respondents.PHYSICAL, locale(language)
    body = SubmissionBody(
        survey.hash,
        "0" * 32,
        [
            ResponseBody(each.name, each.design.hash, "yes")
            for each in survey.questions[1:]
        ],
    )
    sent = page(
        SentPage, language, "Title", address="/s/physical", thanks="", message="{}", key="0" * 32,
        responses=responses_in_words(survey, language, body), together=survey.disclosure,
        form=Form("form", "value", "0" * 32),
    )  # fmt: skip
    html = text_of(render(sent))
    assert all(
        sentence in html
        for sentence in survey.questions[1].disclosure.response_words(spoken)
    )
    assert survey.disclosure.together_words(spoken)[1] not in html, (
        "one response is not all of several"
    )


def test_pages_without_anything_to_show() -> None:
    for listed, said in ((True, "none"), (False, "unlisted")):
        empty = render(page(Overview, "de", "Titel", surveys=(), listed=listed))
        assert locale("de").words["overview"][said] in empty


@pytest.mark.parametrize(("p00", "certain"), [("1", True), ("3/4", False)])
def test_a_device_that_can_give_an_answer_away_says_so(
    p00: str, certain: bool
) -> None:
    question = {
        "name": "q",
        "texts": {"en": {"text": "Q?"}},
        "design": {"family": "binary", "p00": p00, "p11": "1/2"},
        "acknowledge": "inf",
    }
    survey = Survey.from_document(
        {
            "name": "x",
            "texts": {"en": {"title": "T"}},
            "questions": [question],
            "acknowledge": "inf",
        }
    )
    html = render(survey_page(survey, "en"))
    said = locale("en").words["disclosure"]["response"]
    assert html.count(said["certain"]) == (4 if certain else 0), (
        "before consent, explained, asked, and when it is sent"
    )
    assert html.count(said["hidden"]) == (0 if certain else 4)


def text_of(part: str) -> str:
    return re.sub(r"[ \n]+", " ", unescape(re.sub(r"<[^>]*>", " ", part)))


def parts_of(survey: Survey, language: str) -> dict[str, str]:
    """Return the text of a page by step; each question by its name."""
    html = render(survey_page(survey, language)).partition('id="done"')[0]
    cards = re.findall(
        r'<section class="card" data-step="(\w+)"(?: data-question="([\w-]+)")?(.*?)</section>',
        html,
        re.S,
    )
    return {name or step: text_of(part) for step, name, part in cards}


def told_of(
    question: Question, disclosure: Disclosure, spoken: Locale
) -> tuple[str, ...]:
    """Return what is said of a question; where answers are sent as they are, just that."""
    if question.direct:
        return (spoken.words["question"]["check" if question.check else "direct"],)
    return disclosure.response_words(spoken)


SEVERAL = [
    survey
    for survey in respondents.ALL
    if len(survey.questions) > 1 and not survey.arms
]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("survey", respondents.ALL, ids=lambda each: each.name)
def test_each_question_tells_its_own_odds(survey: Survey, language: str) -> None:
    spoken, parts = locale(language), parts_of(survey, language)
    for question in survey.questions:
        for sentence in told_of(
            question, Disclosure(question.design.parity), spoken
        ):
            assert sentence in parts[question.name], "told where it is asked"
        if question.ladder:
            assert (
                spoken.number(question.disclosure.after)
                in parts[question.name].partition(sentence)[2]
            )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("survey", SEVERAL, ids=lambda each: each.name)
def test_consent_tells_the_worst_question_and_all_together(
    survey: Survey, language: str
) -> None:
    spoken, parts = locale(language), parts_of(survey, language)
    worst = max(survey.questions, key=lambda each: each.designs[-1].epsilon)
    together = survey.disclosure.together_words(spoken)
    for step in ("consent", "explain"):
        assert worst.texts[language].text in parts[step]
        assert all(
            sentence in parts[step]
            for sentence in worst.disclosure.response_words(spoken)
        )
        assert all(
            (sentence in parts[step]) == (survey.each != 1) for sentence in together
        ), "one is not several"
    for question in survey.questions:
        assert (
            question.disclosure.line(question.texts[language].text, spoken)
            in parts["explain"]
        )


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_arm_is_told_what_it_reveals_itself(language: str) -> None:
    survey, spoken = respondents.ARMS, locale(language)
    html = render(survey_page(survey, language)).partition('id="done"')[0]
    found = re.findall(r'<template data-arm="(\w+)">(.*?)</template>', html, re.S)
    for arm, hand in zip(survey.arms, survey.arm_questions, strict=True):
        told = " ".join(text_of(part) for name, part in found if name == arm.name)
        about = [question for question in hand if not question.check]
        worst = max(about, key=lambda question: question.design.epsilon)
        for sentence in (
            *told_of(worst, worst.disclosure, spoken),
            worst.texts[language].text,
        ):
            assert sentence in told
        for sentence in Disclosure.of(
            [question.design for question in about]
        ).together_words(spoken):
            assert sentence in told
        for other in survey.questions:
            line = other.disclosure.line(other.texts[language].text, spoken)
            assert (line in told) == (other in about)


def test_the_bait_is_told_as_what_it_is() -> None:
    parts = parts_of(respondents.BAIT, "en")
    assert "“Have you ever taken hard drugs?”" in parts["consent"]
    assert "at most 99.96 of 100" in parts["consent"]
    assert "at most 99.97 of 100" in parts["consent"], "all together"
    assert "practically give your answer away" in parts["drugs"]
    assert "at most 99,996 times in 100,000" in parts["drugs"]
    assert "99,995 devices send “Yes”" in parts["drugs"]
    assert "Caution" not in parts["coffee"]
    assert "at most 11 of 100" in parts["coffee"]
    assert "never leaves this device" not in parts["consent"]
    assert not [step for step, part in parts.items() if "cannot tell" in part]


def test_three_questions_that_hang_together_are_told_together() -> None:
    parts = parts_of(respondents.DEPENDENT, "en")
    assert [re.findall(r"at most (\d+) of 100", parts[name]) for name in ("cheated", "last-year", "again")] == [
        ["24"], ["34"], ["24"]
    ]  # fmt: skip
    assert re.findall(r"at most (\d+) of 100", parts["consent"]) == ["34", "79"]


def test_the_script_finds_all_the_words_that_it_says() -> None:
    html = render(survey_page(respondents.BROWSER, "en"))
    words = json.loads(html.partition('id="words">')[2].partition("</script>")[0])
    given = {name for name, each in words.items() if isinstance(each, str)}
    given |= {
        f"{name}.{key}"
        for name, each in words.items()
        if isinstance(each, dict)
        for key in each
    }
    static = files("deniable.collector").joinpath("static")
    script = static.joinpath("page.js").read_text(encoding="utf-8")
    trial_script = static.joinpath("page", "trial.js").read_text(encoding="utf-8")
    said = set(re.findall(r"\bwords\.(\w+(?:\.\w+)?)", script)) - {"try"}
    assert (
        said
        | {f"try.{each}" for each in re.findall(r"\bwords\.(\w+)", trial_script)}
        == given
    )

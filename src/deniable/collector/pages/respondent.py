"""The respondent's pages: which surveys are open, taking part in one, and a form for those without script.

Each page is a frozen context, built from a survey in one language. A browser that runs scripts draws by itself and
talks to the API; what is posted here are responses alone, of people who hold their device in their hands.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from html import escape
from typing import Any, ClassVar, TypeVar
from urllib.parse import urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from deniable.collector import access, signing
from deniable.collector.intake import FieldedSurvey, submit
from deniable.collector.messages import ResponseBody, SubmissionBody
from deniable.collector.pages.devices import Odds, odds
from deniable.collector.pages.render import choose_language, render
from deniable.collector.refusals import Refused, refusal_of, status_of
from deniable.collector.settings import Collector
from deniable.collector.store.base import Entry, Erasure, today
from deniable.designs import Design
from deniable.errors import DeniableError
from deniable.survey import Question, Survey
from deniable.survey.catalogue import LANGUAGES, Locale, fill, locale
from deniable.survey.disclosure import Disclosure
from deniable.survey.survey import worst_of
from deniable.survey.tools import Tool, tool_for
from deniable.types import operation

_KEY = re.compile("[0-9a-f]{32}")  # a withdrawal code
_MOST_SIDE_BY_SIDE = 12  # choices; more go into a list to choose from
_COUNTED_PEOPLE = 100  # of whom it is told how many send what

_Page = TypeVar("_Page", bound="Page")


@dataclass(frozen=True, slots=True)
class LanguageLink:
    """A way to the same page in another language."""

    address: str
    language: str
    name: str
    here: bool


@dataclass(frozen=True, slots=True)
class Page:
    """What every page has.

    Attributes:
        language: of the survey's texts.
        locale: of the page's own words.
        words: these words, by section and name.
        title: what the page is called.
        links: the same page in the other languages.
        mark: what is said on every screen of a pilot or a preview; else empty.
    """

    language: str
    locale: Locale
    words: Mapping[str, Any]
    title: str
    links: tuple[LanguageLink, ...]
    mark: str


@dataclass(frozen=True, slots=True)
class Overview(Page):
    """All open surveys: address, title and introduction of each; none where they are not listed."""

    TEMPLATE: ClassVar[str] = "respondent/overview.html"
    surveys: tuple[tuple[str, str, str], ...]
    listed: bool


@dataclass(frozen=True, slots=True)
class Message(Page):
    """Something that is said to a respondent: what is the matter, how to go on, and a link to go there."""

    TEMPLATE: ClassVar[str] = "respondent/message.html"
    what: str
    next: str
    address: str


@dataclass(frozen=True, slots=True)
class Amount:
    """A number that is entered.

    Attributes:
        range: where it lies, in words.
        complaint: what is said where something else is entered.
        how: how it is rounded, and how often a response holds it, in natural frequencies.
    """

    range: str
    complaint: str
    how: str

    @classmethod
    def of(cls, design: Design, spoken: Locale) -> Amount:
        """Put a design for numbers into words."""
        number_words, levels = (
            spoken.words["number"],
            tuple(map(spoken.written, design.categories)),
        )
        base = _COUNTED_PEOPLE
        facts = {
            "low": levels[0],
            "second": levels[1],
            "high": levels[-1],
            "count": len(levels),
        }
        facts |= {
            "base": spoken.number(base),
            "held": spoken.number(round(_p_level_held(design) * base)),
        }
        how = "how_ends" if len(levels) == 2 else "how"
        return cls(
            fill(number_words["range"], **facts),
            fill(number_words["complaint"], **facts),
            fill(number_words[how], **facts),
        )


def _p_level_held(design: Design) -> Fraction:
    """Return how often a response holds the level that a number was rounded to: of the first level as of all others."""
    width = design.channel.responses - design.channel.answers + 1
    return sum(
        (design.channel.probability(response, given=0) for response in range(width)),
        Fraction(0),
    )


@dataclass(frozen=True, slots=True)
class AskedPart:
    """One of several questions that are answered together; as `AskedQuestion` where they share a field."""

    text: str
    help: str
    labels: tuple[str, ...]
    few: bool
    physical: bool = False


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question as it is shown.

    Attributes:
        name: what programs call it.
        text: the question.
        help: what helps to understand it.
        instructions: how to use a physical device, where the survey says it.
        physical: whether only the response is asked for.
        labels: what the categories are called.
        symbols: each response with what it is called; for a physical device only.
        few: whether the choices are shown side by side.
        stages: what the device does, stage by stage.
        disclosure: what responses to it reveal at most, all stages together.
        tool: a physical device that makes this design, where the survey does not say how to use one.
        amount: what a number that is entered must be; None where categories are chosen from.
        parts: the questions that are asked one by one and answered together; none where there is one.
        direct: whether the answer is sent as it is.
        check: whether it is about the device, and not about the respondent.
    """

    name: str
    text: str
    help: str
    instructions: str
    physical: bool
    labels: Sequence[str]
    symbols: tuple[tuple[str, str], ...]
    few: bool
    stages: tuple[Odds, ...]
    disclosure: Disclosure
    tool: Tool | None
    amount: Amount | None
    parts: tuple[AskedPart, ...]
    direct: bool
    check: bool

    def called(self, stage: Odds, number: int) -> str:
        """Return what a row of the odds is called: a response, or a category in a set."""
        return (
            self.symbols[number][1]
            if stage.kind == "sends" and self.symbols
            else self.labels[number]
        )


@dataclass(frozen=True, slots=True)
class Trial:
    """A harmless question to try a device with.

    Attributes:
        question: the question whose device it is.
        design: of the harmless one, as JSON.
        labels: of the harmless one.
        same: whether the odds are the same, not only what is revealed.
        amount: what a number that is entered must be; None where categories are chosen from.
    """

    question: str
    design: str
    labels: tuple[str, ...]
    same: bool
    amount: Amount | None = None


@dataclass(frozen=True, slots=True)
class ArmTelling:
    """What respondents are told before they answer: those of one arm, or all where there are no arms.

    Attributes:
        arm: which one; empty where there are no arms.
        questions: what reveals something about them, when they are asked it.
        worst: the one of these whose responses reveal most.
        together: what all responses reveal at most.
        direct: whether no device is used at all.
        trial: a harmless question, if a device runs in the page.
    """

    arm: str
    questions: tuple[AskedQuestion, ...]
    worst: AskedQuestion
    together: Disclosure
    direct: bool
    trial: Trial | None


@dataclass(frozen=True, slots=True)
class Form:
    """What the form without script holds besides choices: the withdrawal code, and what proves it to be ours."""

    field: str
    value: str
    key: str


@dataclass(frozen=True, slots=True)
class SurveyPage(Page):
    """A survey to take part in.

    Attributes:
        name: what the survey is called in addresses.
        hash: of its definition.
        intro: who asks, and why.
        consent: what a respondent agrees to.
        thanks: what is said at the end.
        contact: whom to ask.
        group: the group that the link names, or none.
        groups: the groups to choose from, where the link names none.
        group_count: how many groups there are.
        invited: whether an invitation is needed.
        questions: what is asked.
        each: how many of the questions are drawn for a respondent; 0 where all are asked.
        tellings: what is told before; one for each arm, where there are some.
        form: where everything can be sent without script, or at least withdrawn.
        notice: why nothing is taken now, and how to go on; empty where responses are taken.
        definition: of a preview, the whole definition: nothing is asked of the collector; else empty.
    """

    TEMPLATE: ClassVar[str] = "respondent/survey.html"
    name: str
    hash: str
    intro: str
    consent: str
    thanks: str
    contact: str
    group: str
    groups: tuple[str, ...]
    group_count: int
    invited: bool
    questions: tuple[AskedQuestion, ...]
    each: int
    tellings: tuple[ArmTelling, ...]
    form: Form | None
    notice: str
    definition: str


@dataclass(frozen=True, slots=True)
class SentPage(Page):
    """What was sent without script.

    Attributes:
        address: of the survey.
        thanks: what the survey says at the end.
        responses: each question with the response in words, and what it reveals at most.
        together: what all of them reveal at most.
        message: the whole of it as JSON.
        key: the withdrawal code.
        form: to ask for the receipt with, and to withdraw.
    """

    TEMPLATE: ClassVar[str] = "respondent/sent.html"
    address: str
    thanks: str
    responses: tuple[tuple[str, str, Disclosure], ...]
    together: Disclosure
    message: str
    key: str
    form: Form


def page(
    kind: type[_Page],
    language: str,
    title: str,
    links: tuple[LanguageLink, ...] = (),
    *,
    marked: str = "",
    **facts: Any,
) -> _Page:
    """Build a page in a language, marked as "pilot", as "preview", or as neither."""
    spoken = locale(language)
    mark = spoken.words["mark"][marked] if marked else ""
    return kind(
        language=language,
        locale=spoken,
        words=spoken.words,
        title=title,
        links=links,
        mark=mark,
        **facts,
    )


def survey_page(
    survey: Survey,
    language: str,
    links: tuple[LanguageLink, ...] = (),
    *,
    group: str = "",
    form: Form | None = None,
    notice: str = "",
    preview: bool = False,
) -> SurveyPage:
    """Build the page of a survey.

    Args:
        survey: what is asked.
        language: one of the survey's.
        links: the other languages.
        group: the group that the link names; empty for none.
        form: what the form without script holds; None where the device runs in the page.
        notice: why nothing is taken now; empty where responses are taken.
        preview: whether it is only looked at.
    """
    texts = survey.texts[language]
    questions = tuple(
        asked_question(question, language) for question in survey.questions
    )
    return page(
        SurveyPage,
        language,
        texts.title,
        links,
        name=survey.name,
        hash=survey.hash,
        intro=texts.intro,
        consent=texts.consent,
        thanks=texts.thanks,
        contact=texts.contact,
        group=group,
        groups=() if group else survey.groups,
        group_count=len(survey.groups),
        invited=survey.admission == "invitation",
        questions=questions,
        each=survey.each or 0,
        tellings=_arm_disclosures(survey, questions, language),
        form=form,
        notice=notice,
        marked="preview" if preview else _marked(survey),
        definition=survey.to_json() if preview else "",
    )


def _arm_disclosures(
    survey: Survey, questions: Sequence[AskedQuestion], language: str
) -> tuple[ArmTelling, ...]:
    questions_by_name = {question.name: question for question in questions}
    arms = [arm.name for arm in survey.arms] or [""]
    return tuple(
        _arm_disclosure(survey, arm, arm_questions, questions_by_name, language)
        for arm, arm_questions in zip(arms, survey.arm_questions, strict=True)
    )


def _arm_disclosure(
    survey: Survey,
    arm: str,
    arm_questions: Sequence[Question],
    questions_by_name: Mapping[str, AskedQuestion],
    language: str,
) -> ArmTelling:
    about = [question for question in arm_questions if not question.check]
    return ArmTelling(
        arm=arm,
        questions=tuple(questions_by_name[question.name] for question in about),
        worst=questions_by_name[worst_of(arm_questions).name],
        together=survey.together(
            {question.name: question.disclosure.parity for question in about}
        ),
        direct=all(question.direct for question in about),
        trial=trial(arm_questions, language),
    )


def _marked(survey: Survey) -> str:
    return "pilot" if survey.pilot else ""


def asked_question(question: Question, language: str) -> AskedQuestion:
    """Build a question in a language."""
    texts, physical = question.texts[language], question.device == "physical"
    sends = (
        question.designs[0].channel.responses <= 100
        and not question.designs[0].channel.sizes
    )
    symbol_names = (
        zip(question.design.symbols, question.symbols(language), strict=True)
        if sends
        else ()
    )
    return AskedQuestion(
        name=question.name,
        text=texts.text,
        help=texts.help,
        instructions=texts.instructions,
        physical=physical,
        labels=question.labels(language),
        symbols=tuple(symbol_names),
        few=(
            question.design.channel.responses
            if physical
            else question.design.channel.answers
        )
        <= _MOST_SIDE_BY_SIDE,
        stages=tuple(odds(design) for design in question.designs),
        disclosure=question.disclosure,
        tool=tool_for(question.design, locale(language).words["device"])
        if physical and not texts.instructions
        else None,
        amount=None if physical else _amount(question.design, language),
        parts=_parts(question, language),
        direct=question.direct,
        check=bool(question.check),
    )


def _parts(question: Question, language: str) -> tuple[AskedPart, ...]:
    texts = question.texts[language].parts
    labels = question.part_labels(language) if texts else ()
    return tuple(
        AskedPart(words.text, words.help, called, len(called) <= _MOST_SIDE_BY_SIDE)
        for words, called in zip(texts, labels, strict=True)
    )


def _amount(design: Design, language: str) -> Amount | None:
    return (
        Amount.of(design, locale(language)) if design.answer_form == "numbers" else None
    )


def trial(questions: Sequence[Question], language: str) -> Trial | None:
    """Return a harmless question for the device in the page whose first response reveals most; None without one."""
    browser_questions = [
        question
        for question in questions
        if question.device == "browser" and not question.direct
    ]
    if not browser_questions:
        return None
    worst = max(browser_questions, key=lambda question: question.design.parity)
    labels = locale(language).words["try"]["labels"]
    harmless: Design | None = operation(worst.design, "trial_design")(
        worst.design, labels
    )
    if harmless is None:
        return None
    same = harmless.channel == worst.design.channel
    shown = (
        harmless.symbols if harmless.answer_form == "numbers" else harmless.categories
    )
    return Trial(
        worst.texts[language].text,
        harmless.to_json(),
        tuple(shown),
        same,
        _amount(harmless, language),
    )


async def overview(request: Request) -> HTMLResponse:
    """List the surveys that take responses today, where this collector lists them."""
    language, links = _languages(request, LANGUAGES)
    collector = Collector.from_request(request)
    listed = collector.settings.listed
    entries = await asyncio.to_thread(collector.store.surveys) if listed else []
    day, surveys = today(), []
    for entry in entries:
        if (
            entry.takes(day) and not entry.survey.pilot
        ):  # who is to try a pilot is given its link
            survey = entry.survey
            texts = survey.texts[choose_language(survey.languages, language, "")]
            behind = entry.link("").text.partition("#")[2]
            surveys.append(
                (
                    f"/s/{survey.name}?{urlencode({'lang': language})}#{behind}",
                    texts.title,
                    texts.intro,
                )
            )
    title = locale(language).words["overview"]["title"]
    return await asyncio.to_thread(
        _html,
        page(Overview, language, title, links, surveys=tuple(surveys), listed=listed),
    )


PAGES_KEPT = 200
"""Pages of surveys that are kept rendered, at most."""

_kept: dict[tuple[object, ...], str] = {}
_BLANK = Form(
    access.FIELD, secrets.token_hex(16), secrets.token_hex(16)
)  # in kept pages, where each visitor's own go


async def take_part(request: Request) -> HTMLResponse:
    """Show a survey."""
    try:
        fielded = await Collector.from_request(request).surveys.find(
            request.path_params["name"]
        )
    except Refused as error:
        return _no_survey(request, error)
    language, links = _languages(request, fielded.survey.languages)
    notice = standing_notice(fielded.entry, today(), locale(language))
    if fielded.entry.state == "draft":
        return _message(fielded, language, 409, notice, "")
    group = request.query_params.get("group", "")
    group = group if group in fielded.survey.groups else ""
    if not notice and not works_without_script(fielded.survey):
        return HTMLResponse(
            await _survey_html(fielded.survey, language, links, group, notice, None)
        )
    form = _form(request)
    text = await _survey_html(fielded.survey, language, links, group, notice, _BLANK)
    response = HTMLResponse(
        text.replace(_BLANK.key, form.key).replace(_BLANK.value, escape(form.value))
    )  # the cookie's is a visitor's
    access.keep_form_value(request, response, form.value)
    return response


async def _survey_html(
    survey: Survey,
    language: str,
    links: tuple[LanguageLink, ...],
    group: str,
    notice: str,
    form: Form | None,
) -> str:
    """Return a survey's page, rendered in a thread unless one with the same contents is kept; nobody's own is in it."""
    contents = (survey.hash, language, links, group, notice, form)
    if contents not in _kept:
        html = await asyncio.to_thread(
            lambda: render(
                survey_page(
                    survey, language, links, group=group, form=form, notice=notice
                )
            )
        )
        while len(_kept) >= PAGES_KEPT:
            del _kept[next(iter(_kept))]
        _kept[contents] = html
        return html
    return _kept[contents]


async def preview(request: Request) -> HTMLResponse:
    """Show a survey, also a draft, to whoever may see its results: all of it works, and nothing leaves the page."""
    fielded = await Collector.from_request(request).surveys.find(
        request.path_params["name"]
    )
    language, links = _languages(request, fielded.survey.languages)
    group = request.query_params.get("group", "")
    group = group if group in fielded.survey.groups else ""
    html = await asyncio.to_thread(
        lambda: _html(
            survey_page(fielded.survey, language, links, group=group, preview=True)
        )
    )
    html.headers["content-security-policy"] = (
        "connect-src 'none'; form-action 'none'"  # besides that of all pages
    )
    return html


async def post(request: Request) -> Response:
    """Take a response, or a withdrawal, from a page without script; or give it its receipt."""
    collector = Collector.from_request(request)
    try:
        fielded = await collector.surveys.find(request.path_params["name"])
    except Refused as error:
        return _no_survey(request, error)
    language, links = _languages(request, fielded.survey.languages)
    words = locale(language).words
    address = f"{request.url.path}?{urlencode({'lang': language})}"
    try:
        fields = await access.read_form(request)
        if "withdraw" in fields:
            outcome = await withdraw(collector, fielded, fields)
            return _message(fielded, language, 200, words["withdraw"][outcome.said], "")
        if "receipt" in fields:
            return await receipt(collector, fielded, fields)
        collector.limits.count_responses(request, len(fielded.survey.questions))
        submission = await send(collector, fielded, fields)
    except DeniableError as error:
        return _form_problem(fielded, language, error, address)
    form = _form(request)
    sent_page = page(
        SentPage,
        language,
        fielded.survey.texts[language].title,
        links,
        marked=_marked(fielded.survey),
        address=address,
        thanks=fielded.survey.texts[language].thanks,
        responses=responses_in_words(fielded.survey, language, submission),
        together=Disclosure.of(
            fielded.survey.question(response.question).design
            for response in submission.responses
        ),
        message=as_json(submission),
        key=submission.key,
        form=form,
    )
    return await asyncio.to_thread(_with_form, request, sent_page, form)


def works_without_script(survey: Survey) -> bool:
    """Say whether a survey can be taken part in without script: only if no answer would have to be sent for it.

    An arm is drawn by the script.
    """
    return not survey.arms and all(
        question.device == "physical" for question in survey.questions
    )


async def send(
    collector: Collector, fielded: FieldedSurvey, fields: Mapping[str, str]
) -> SubmissionBody:
    """Store the responses of a form, and return them as they were stored.

    Raises:
        DeniableError: something is missing or does not fit, or the survey takes no responses.
    """
    body = _read(fielded.survey, fields)
    invitation = fields.get("invitation", "").strip()
    if fielded.entry.public is not None and not invitation:
        raise Refused(
            422, "the invitation code is missing; expected the one that you were given."
        )
    await submit(collector, fielded.survey.name, body, invitation)
    return body


async def withdraw(
    collector: Collector, fielded: FieldedSurvey, fields: Mapping[str, str]
) -> Erasure:
    """Erase what was sent with a withdrawal code.

    Raises:
        Refused: not a code.
    """
    outcome = await asyncio.to_thread(
        collector.store.withdraw, fielded.entry.id, _withdrawal_code(fields["withdraw"])
    )
    collector.metrics.responses(fielded.survey.name, "withdrawn", outcome.responses)
    return outcome


async def receipt(
    collector: Collector, fielded: FieldedSurvey, fields: Mapping[str, str]
) -> Response:
    """Return the receipt of what was sent with a withdrawal code, as a file.

    Raises:
        Refused: not a code.
    """
    key = _withdrawal_code(fields["receipt"])
    text = await asyncio.to_thread(signing.receipt, collector.store, fielded.entry, key)
    headers = {
        "Content-Disposition": f'attachment; filename="receipt-{fielded.survey.name}.json"'
    }
    return Response(text, media_type="application/json", headers=headers)


def responses_in_words(
    survey: Survey, language: str, body: SubmissionBody
) -> tuple[tuple[str, str, Disclosure], ...]:
    """Return each question that was responded to with the response, as they are called, and what it reveals."""
    sentences = []
    for response in body.responses:
        question = survey.question(response.question)
        symbol = question.symbols(language)[
            question.design.symbol_number(response.symbol)
        ]
        sentences.append((question.texts[language].text, symbol, question.disclosure))
    return tuple(sentences)


def as_json(body: SubmissionBody) -> str:
    """Return what was sent as JSON to read."""
    return json.dumps(msgspec.to_builtins(body), indent=2, ensure_ascii=False)


def standing_notice(entry: Entry, day: date, spoken: Locale) -> str:
    """Say why a survey takes no response on a day, and how to go on; empty where it takes them."""
    standing = entry.standing(day)
    if standing == "open":
        return ""
    survey, standing_words = entry.survey, spoken.words["standing"]
    changes_on = {"early": survey.opens, "over": survey.closes}.get(standing)
    reason = fill(
        standing_words[standing], day=spoken.day(changes_on) if changes_on else ""
    )
    return f"{reason} {standing_words[f'{standing}_next']}"


def _withdrawal_code(text: str) -> bytes:
    key = text.strip().lower()
    if not _KEY.fullmatch(key):
        raise Refused(
            422,
            "this is no withdrawal code; expected 32 digits 0 to 9 and letters a to f.",
        )
    return bytes.fromhex(key)


def _form(request: Request) -> Form:
    return Form(access.FIELD, access.form_value(request), secrets.token_hex(16))


def _with_form(request: Request, context: Page, form: Form | None) -> HTMLResponse:
    """Return a page; a cookie comes with it only where there is a form for which somebody must not be impersonated."""
    response = _html(context)
    if form:
        access.keep_form_value(request, response, form.value)
    return response


def _form_problem(
    fielded: FieldedSurvey, language: str, error: DeniableError, address: str
) -> HTMLResponse:
    words = locale(language).words["problem"]
    problem = refusal_of(error).error.what
    return _message(
        fielded,
        language,
        status_of(error),
        f"{words['form']} {problem}",
        words["form_next"],
        address,
    )


def _message(
    fielded: FieldedSurvey,
    language: str,
    status: int,
    problem: str,
    then: str,
    address: str = "",
) -> HTMLResponse:
    title = fielded.survey.texts[language].title
    message_page = page(
        Message,
        language,
        title,
        marked=_marked(fielded.survey),
        what=problem,
        next=then,
        address=address,
    )
    return _html(message_page, status)


def _no_survey(request: Request, error: Refused) -> HTMLResponse:
    language, links = _languages(request, LANGUAGES)
    words = locale(language).words["problem"]
    missing = page(
        Message,
        language,
        words["title"],
        links,
        what=words["missing"],
        next=words["missing_next"],
        address="",
    )
    return _html(missing, error.status)


def _languages(
    request: Request, offered: Sequence[str]
) -> tuple[str, tuple[LanguageLink, ...]]:
    """Return the language of a page, and links to the same page in all of them."""
    accepted = request.headers.get("accept-language", "")
    language = choose_language(offered, request.query_params.get("lang", ""), accepted)
    kept_query = {
        name: value for name, value in request.query_params.items() if name == "group"
    }
    return language, tuple(
        LanguageLink(
            f"{request.url.path}?{urlencode({**kept_query, 'lang': code})}",
            code,
            _name(code),
            code == language,
        )
        for code in offered
    )


def _name(language: str) -> str:
    """Return what speakers call a language; its tag where the pages do not speak it."""
    return (
        locale(language).name if language.partition("-")[0] in LANGUAGES else language
    )


def _html(context: Page, status: int = 200) -> HTMLResponse:
    return HTMLResponse(render(context), status)  # type: ignore[arg-type]  # every page but the base has a template


def _read(survey: Survey, fields: Mapping[str, str]) -> SubmissionBody:
    if fields.get("consent") != "yes":
        raise Refused(422, "the box was not ticked; expected consent.")
    if not _KEY.fullmatch(fields.get("key", "")):
        raise Refused(
            422, "this form has no withdrawal code; expected the one that it came with."
        )
    responses = [
        ResponseBody(question.name, question.design.hash, fields[f"q-{number}"])
        for number, question in enumerate(survey.questions, 1)
        if fields.get(f"q-{number}")
    ]
    if not responses:
        raise Refused(422, "no response was chosen; expected at least one.")
    return SubmissionBody(
        survey.hash, fields["key"], responses, group=fields.get("group") or None
    )


routes = [
    Route("/", overview, methods=["GET"]),
    Route("/s/{name}", take_part, methods=["GET"]),
    Route("/s/{name}", post, methods=["POST"]),
]

previews = [Route("/preview/{name}", preview, methods=["GET"])]
"""What only those may see who have signed in."""

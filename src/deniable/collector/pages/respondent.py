"""The respondent's pages: which surveys are open, taking part in one, and a form for those without script.

Each page is a frozen context, built from a survey in one language. A browser that runs scripts draws by itself and
talks to the API; what is posted here are responses alone, of people who hold their device in their hands.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from html import escape
from typing import Any, ClassVar, TypeVar
from urllib.parse import urlencode

import msgspec
from markupsafe import escape as markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from deniable.collector import access, signing
from deniable.collector.intake import FieldedSurvey, submit, withdraw
from deniable.collector.messages import ResponseBody, SubmissionBody
from deniable.collector.pages.devices import Odds, odds
from deniable.collector.pages.render import choose_language, render
from deniable.collector.refusals import Refused, refusal_of, status_of
from deniable.collector.settings import Collector
from deniable.collector.store.base import Entry, today
from deniable.designs import Design, FieldedDesign
from deniable.designs.labels import Texts
from deniable.errors import DeniableError
from deniable.survey import Question, QuestionTexts, Survey, SurveyTexts
from deniable.survey.catalogue import LANGUAGES, Locale, fill, locale
from deniable.survey.disclosure import Disclosure
from deniable.survey.survey import worst_of
from deniable.survey.texts import PartTexts
from deniable.survey.tools import Tool, tool_for
from deniable.types import find_operation, operation

_KEY = re.compile("[0-9a-f]{32}")  # a withdrawal code
_CODE = re.compile("[0-9]{2}")  # of at most 100 responses
_MAX_SIDE_BY_SIDE = 12  # choices; more go into a list to choose from
_MAX_NAMED = 100  # responses that have names of their own
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
    def from_design(cls, design: Design, spoken: Locale) -> Amount | None:
        """Put a design for numbers into words; None for a design whose categories are chosen from."""
        if design.answer_form != "numbers":
            return None
        sentences = spoken.words["number"]
        levels = tuple(map(spoken.written, design.categories))
        facts = {
            "low": levels[0],
            "second": levels[1],
            "high": levels[-1],
            "count": len(levels),
            "base": spoken.number(_COUNTED_PEOPLE),
            "held": spoken.number(round(_p_level_held(design) * _COUNTED_PEOPLE)),
        }
        how = "how_ends" if len(levels) == 2 else "how"
        return cls(
            *(fill(sentences[name], **facts) for name in ("range", "complaint", how))
        )


def _p_level_held(design: Design) -> Fraction:
    """Return how often a response holds the level that a number was rounded to: of the first level as of all others."""
    width = design.channel.responses - design.channel.answers + 1
    return sum(
        (design.channel.probability(response, given=0) for response in range(width)),
        Fraction(0),
    )


@dataclass(frozen=True, slots=True)
class Choices:
    """What is chosen from: of a question, or of one of several that are answered together.

    Attributes:
        texts: the question, and what helps to understand it.
        labels: what the categories are called.
        few: whether the choices are shown side by side.
        physical: whether only the response is asked for.
    """

    texts: QuestionTexts | PartTexts
    labels: Sequence[str]
    few: bool
    physical: bool


@dataclass(frozen=True, slots=True)
class AskedQuestion(Choices):
    """A question as it is shown.

    Attributes:
        definition: what is asked, with which device, and what responses to it reveal at most.
        symbols: each response with what it is called; for a physical device only.
        stages: what the device does, stage by stage.
        tool: a physical device that makes this design, where the survey does not say how to use one.
        amount: what a number that is entered must be; None where categories are chosen from.
        parts: the questions that are asked one by one and answered together; none where there is one.
        how: how one response is made of all of them, where they are not drawn side by side.
        pictured: what the answers are called that the picture of the odds is about.
    """

    definition: Question
    symbols: tuple[tuple[str, str], ...]
    stages: tuple[Odds, ...]
    tool: Tool | None
    amount: Amount | None
    parts: tuple[Choices, ...]
    how: str
    pictured: Sequence[str]

    @property
    def entered(self) -> bool:
        """Whether a text is entered."""
        return isinstance(self.definition.design.categories, Texts)

    def called(self, stage: Odds, number: int) -> str:
        """Return what a row of the odds is called: a response, or a category in a set."""
        return (
            self.symbols[number][1]
            if stage.kind == "sends" and self.symbols
            else self.pictured[number]
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
    amount: Amount | None


@dataclass(frozen=True, slots=True)
class ArmTelling:
    """What respondents are told before they answer: those of one arm, or all where there are no arms.

    Attributes:
        arm: which one; empty where there are no arms.
        questions: what reveals something about them, when they are asked it.
        worst: the one of these whose responses reveal most.
        together: what all responses reveal at most.
        direct: whether no device is used at all.
        checked: whether a check, which is sent as it is, is among what is asked.
        trial: a harmless question, if a device runs in the page.
    """

    arm: str
    questions: tuple[AskedQuestion, ...]
    worst: AskedQuestion
    together: Disclosure
    direct: bool
    checked: bool
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
        survey: what is asked, and of whom.
        texts: its words in this language.
        group: the group that the link names, or none.
        questions: what is asked.
        tellings: what is told before; one for each arm, where there are some.
        form: where everything can be sent without script, or at least withdrawn.
        notice: why nothing is taken now, and how to go on; empty where responses are taken.
        definition: of a preview, the whole definition: nothing is asked of the collector; else empty.
    """

    TEMPLATE: ClassVar[str] = "respondent/survey.html"
    survey: Survey
    texts: SurveyTexts
    group: str
    questions: tuple[AskedQuestion, ...]
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
    **facts: object,
) -> _Page:
    """Build a page in a language, marked as "pilot", as "preview", or as neither."""
    spoken = locale(language)
    mark = spoken.words["mark"][marked] if marked else ""
    common = (language, spoken, spoken.words, title, links, mark)
    return kind(*common, **facts)  # type: ignore[arg-type]  # each page has fields of its own


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
    questions = [ask_question(question, language) for question in survey.questions]
    return page(
        SurveyPage,
        language,
        texts.title,
        links,
        survey=survey,
        texts=texts,
        group=group,
        questions=tuple(questions),
        tellings=tuple(_arm_disclosures(survey, questions, language)),
        form=form,
        notice=notice,
        marked="preview" if preview else _marked_texts(survey),
        definition=survey.to_json() if preview else "",
    )


def _arm_disclosures(
    survey: Survey, questions: Sequence[AskedQuestion], language: str
) -> Iterator[ArmTelling]:
    """Yield what the respondents of each arm are told before they answer."""
    questions_by_name = {
        question.definition.name: question for question in questions
    }
    arms = [arm.name for arm in survey.arms] or [""]
    for arm, arm_questions in zip(arms, survey.arm_questions, strict=True):
        about = [question for question in arm_questions if not question.check]
        parities = {question.name: question.disclosure.parity for question in about}
        yield ArmTelling(
            arm=arm,
            questions=tuple(questions_by_name[name] for name in parities),
            worst=questions_by_name[worst_of(arm_questions).name],
            together=survey.together(parities),
            direct=all(question.direct for question in about),
            checked=len(about) < len(arm_questions),
            trial=trial(arm_questions, language),
        )


def _marked_texts(survey: Survey) -> str:
    return "pilot" if survey.pilot else ""


def ask_question(question: Question, language: str) -> AskedQuestion:
    """Build a question in a language."""
    spoken, texts, design = (
        locale(language),
        question.texts[language],
        question.design,
    )
    channel, physical = design.channel, question.device == "physical"
    names_responses = channel.responses <= _MAX_NAMED and not channel.sizes
    symbol_names = tuple(
        zip(
            design.symbols if names_responses else (),
            question.symbols(language) if names_responses else (),
            strict=True,
        )
    )
    pictured = question.labels(language)
    if isinstance(design, FieldedDesign):
        symbol_names, pictured = _pictured(question, design, language, spoken)
    n_choices = channel.responses if physical else channel.answers
    has_tool = physical and not texts.instructions
    part_labels = question.part_labels(language) if texts.parts else ()
    device_words = find_operation(question.about, "device_words")
    how, facts = device_words(question.about) if device_words else ("", {})
    return AskedQuestion(
        texts=texts,
        labels=question.labels(language),
        few=n_choices <= _MAX_SIDE_BY_SIDE,
        physical=physical,
        definition=question,
        symbols=symbol_names,
        stages=tuple(map(odds, question.designs)),
        tool=tool_for(design, spoken.words["device"]) if has_tool else None,
        amount=None if physical else Amount.from_design(design, spoken),
        parts=tuple(
            Choices(words, labels, len(labels) <= _MAX_SIDE_BY_SIDE, physical=False)
            for words, labels in zip(texts.parts, part_labels, strict=True)
        ),
        how=fill(spoken.words["form"][how], **facts) if how else "",
        pictured=pictured,
    )


def _pictured(
    question: Question, design: FieldedDesign, language: str, spoken: Locale
) -> tuple[tuple[tuple[str, str], ...], Sequence[str]]:
    """Return what the responses and the answers are called that the picture of the odds is about."""
    if design.pictured is None:
        return (), ()
    for known, labels in zip(
        question.part_categories, question.part_labels(language), strict=True
    ):
        if known == design.pictured.categories:
            return (), labels
    symbols = design.pictured.symbols
    return tuple(zip(symbols, symbols, strict=True)), spoken.words["question"][
        "rated"
    ]


def trial(questions: Sequence[Question], language: str) -> Trial | None:
    """Return a harmless question for the device in the page whose first response reveals most; None without one."""
    drawn = [
        question
        for question in questions
        if question.device == "browser" and not question.direct
    ]
    if not drawn:
        return None
    worst, spoken = (
        max(drawn, key=lambda asked: asked.design.parity),
        locale(language),
    )
    harmless: Design | None = operation(worst.design, "trial_design")(
        worst.design, spoken.words["try"]["labels"]
    )
    if harmless is None:
        return None
    amount = Amount.from_design(harmless, spoken)
    return Trial(
        question=worst.texts[language].text,
        design=harmless.to_json(),
        labels=tuple(harmless.symbols if amount else harmless.categories),
        same=harmless.channel == worst.design.channel,
        amount=amount,
    )


async def overview(request: Request) -> HTMLResponse:
    """List the surveys that take responses today, where this collector lists them."""
    language, links = _languages(request, LANGUAGES)
    collector = Collector.from_request(request)
    listed = collector.settings.listed
    entries = await asyncio.to_thread(collector.store.surveys) if listed else []
    day, surveys = today(), []
    for entry in entries:
        # who is to try a pilot is given its link
        if entry.takes(day) and not entry.survey.pilot:
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
        page(
            Overview, language, title, links, surveys=tuple(surveys), listed=listed
        ),
    )


PAGES_KEPT = 200
"""Pages of surveys that are kept rendered, at most."""

_kept: dict[tuple[object, ...], str] = {}
# in kept pages, where each visitor's own go
_BLANK = Form(access.FIELD, secrets.token_hex(16), secrets.token_hex(16))


async def take_part(request: Request) -> HTMLResponse:
    """Show a survey."""
    try:
        fielded = await _find_survey(request)
    except Refused as error:
        return _no_survey(request, error)
    survey, entry = fielded.survey, fielded.entry
    language, links = _languages(request, survey.languages)
    notice = standing_notice(entry, today(), locale(language))
    if entry.state == "draft":
        return _message(survey, language, 409, notice)
    contents = (survey, language, links, _named_group(request, survey), notice)
    if not notice and not works_without_script(survey):
        return HTMLResponse(await _survey_html(*contents, None))
    form = _form(request)
    text = await _survey_html(*contents, _BLANK)
    # The value of the cookie is a visitor's.
    html = text.replace(_BLANK.key, form.key).replace(
        _BLANK.value, escape(form.value)
    )
    response = HTMLResponse(html)
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
    survey = (await _find_survey(request)).survey
    language, links = _languages(request, survey.languages)
    group = _named_group(request, survey)
    html = await asyncio.to_thread(
        lambda: _html(
            survey_page(survey, language, links, group=group, preview=True)
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
        fielded = await _find_survey(request)
    except Refused as error:
        return _no_survey(request, error)
    survey = fielded.survey
    language, links = _languages(request, survey.languages)
    words = locale(language).words
    address = f"{request.url.path}?{urlencode({'lang': language})}"
    try:
        fields = await access.read_form(request)
        if "withdraw" in fields:
            key = _withdrawal_code(fields["withdraw"])
            outcome = await withdraw(collector, fielded, key)
            return _message(survey, language, 200, words["withdraw"][outcome.said])
        if "receipt" in fields:
            return await receipt(collector, fielded, fields["receipt"])
        collector.limits.count_responses(request, len(survey.questions))
        body = await send(collector, fielded, fields)
    except DeniableError as error:
        problem = f"{words['problem']['form']} {refusal_of(error).error.what}"
        then = words["problem"]["form_next"]
        return _message(survey, language, status_of(error), problem, then, address)
    form = _form(request)
    context = _sent_page(survey, language, links, body, address, form)
    text = await asyncio.to_thread(render, context)
    html = HTMLResponse(text + " " * _missing_size(survey, language, body))
    access.keep_form_value(request, html, form.value)
    return html


def _sent_page(
    survey: Survey,
    language: str,
    links: tuple[LanguageLink, ...],
    body: SubmissionBody,
    address: str,
    form: Form,
) -> SentPage:
    """Build the page that tells what was sent without script."""
    texts = survey.texts[language]
    designs = [survey.question(sent.question).design for sent in body.responses]
    return page(
        SentPage,
        language,
        texts.title,
        links,
        marked=_marked_texts(survey),
        address=address,
        thanks=texts.thanks,
        responses=responses_in_words(survey, language, body),
        together=Disclosure.of(designs),
        message=json.dumps(msgspec.to_builtins(body), indent=2, ensure_ascii=False),
        key=body.key,
        form=form,
    )


def _missing_size(survey: Survey, language: str, body: SubmissionBody) -> int:
    """Return the bytes that the page of what was sent lacks to that of the longest responses to these questions."""
    missing = 0
    for response in body.responses:
        question = survey.question(response.question)
        pairs = zip(question.design.symbols, question.symbols(language), strict=True)
        sizes = {
            symbol: len(
                markup(json.dumps(symbol, ensure_ascii=False) + label).encode()
            )
            for symbol, label in pairs
        }
        missing += max(sizes.values()) - sizes[response.symbol]
    return missing


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
            422,
            "the invitation code is missing; expected the one that you were given.",
        )
    await submit(collector, fielded.survey.name, body, invitation)
    return body


async def receipt(
    collector: Collector, fielded: FieldedSurvey, code: str
) -> Response:
    """Return the receipt of what was sent with a withdrawal code, as a file.

    Raises:
        Refused: not a code.
    """
    key = _withdrawal_code(code)
    text = await asyncio.to_thread(
        signing.receipt, collector.store, fielded.entry, key
    )
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
        sentences.append(
            (question.texts[language].text, symbol, question.disclosure)
        )
    return tuple(sentences)


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


def _message(
    survey: Survey,
    language: str,
    status: int,
    problem: str,
    then: str = "",
    address: str = "",
) -> HTMLResponse:
    message_page = page(
        Message,
        language,
        survey.texts[language].title,
        marked=_marked_texts(survey),
        what=problem,
        next=then,
        address=address,
    )
    return _html(message_page, status)


def _no_survey(request: Request, error: Refused) -> HTMLResponse:
    language, links = _languages(request, LANGUAGES)
    words = locale(language).words["problem"]
    message_page = page(
        Message,
        language,
        words["title"],
        links,
        what=words["missing"],
        next=words["missing_next"],
        address="",
    )
    return _html(message_page, error.status)


async def _find_survey(request: Request) -> FieldedSurvey:
    return await Collector.from_request(request).surveys.find(
        request.path_params["name"]
    )


def _named_group(request: Request, survey: Survey) -> str:
    """Return the group that the link names; empty where it names none of the survey's."""
    group = request.query_params.get("group", "")
    return group if group in survey.groups else ""


def _languages(
    request: Request, offered: Sequence[str]
) -> tuple[str, tuple[LanguageLink, ...]]:
    """Return the language of a page, and links to the same page in all of them."""
    query, path = request.query_params, request.url.path
    accepted = request.headers.get("accept-language", "")
    language = choose_language(offered, query.get("lang", ""), accepted)
    group = {"group": query["group"]} if "group" in query else {}
    links = [
        LanguageLink(
            f"{path}?{urlencode({**group, 'lang': tag})}",
            tag,
            locale(tag).name if tag.partition("-")[0] in LANGUAGES else tag,
            tag == language,
        )
        for tag in offered
    ]
    return language, tuple(links)


def _html(context: Page, status: int = 200) -> HTMLResponse:
    return HTMLResponse(render(context), status)  # type: ignore[arg-type]  # every page but the base has a template


def _read(survey: Survey, fields: Mapping[str, str]) -> SubmissionBody:
    if fields.get("consent") != "yes":
        raise Refused(422, "the box was not ticked; expected consent.")
    if not _KEY.fullmatch(fields.get("key", "")):
        raise Refused(
            422,
            "this form has no withdrawal code; expected the one that it came with.",
        )
    responses = [
        _response(question, fields[f"q-{number}"])
        for number, question in enumerate(survey.questions, 1)
        if fields.get(f"q-{number}")
    ]
    if not responses:
        raise Refused(422, "no response was chosen; expected at least one.")
    return SubmissionBody(
        survey.hash, fields["key"], responses, group=fields.get("group") or None
    )


def _response(question: Question, code: str) -> ResponseBody:
    """Return the response that a form names by its number, in two digits."""
    design = question.design
    if not _CODE.fullmatch(code) or int(code) >= design.channel.responses:
        raise Refused(
            422, "a response is not one of those offered; expected its number."
        )
    return ResponseBody(question.name, design.hash, design.symbols[int(code)])


routes = [
    Route("/", overview),
    Route("/s/{name}", take_part),
    Route("/s/{name}", post, methods=["POST"]),
]

previews = [Route("/preview/{name}", preview)]
"""What only those may see who have signed in."""

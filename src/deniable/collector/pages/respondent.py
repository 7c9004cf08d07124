"""The respondent's pages: which surveys are open, taking part in one, and a form for those without script.

A browser that runs scripts draws by itself and talks to the API; what is posted here are responses alone, of people who
hold their device in their hands.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from deniable.collector import security
from deniable.collector.intake import Known
from deniable.collector.pages import respondent_form
from deniable.collector.pages.locale import LANGUAGES, chosen, locale
from deniable.collector.pages.render import render
from deniable.collector.pages.respondent_context import Form, Link, Message, Overview, Page, Sent, page, survey_page
from deniable.collector.refusals import Refused, status_of, told
from deniable.collector.state import Collector
from deniable.errors import DeniableError


async def overview(request: Request) -> HTMLResponse:
    """List the surveys that take responses today."""
    language, links = _spoken(request, LANGUAGES)
    entries = await asyncio.to_thread(_collector(request).store.surveys)
    today, shown = datetime.now(UTC).date(), []
    for entry in entries:
        if entry.takes(today):
            survey = entry.survey
            texts = survey.texts[chosen(survey.languages, language, "")]
            shown.append((f"/s/{survey.name}?{urlencode({'lang': language})}", texts.title, texts.intro))
    return _html(page(Overview, language, locale(language).words["overview"]["title"], links, surveys=tuple(shown)))


async def take_part(request: Request) -> HTMLResponse:
    """Show a survey."""
    try:
        known = await _collector(request).surveys.find(request.path_params["name"])
    except Refused as error:
        return _missing(request, error)
    language, links = _spoken(request, known.survey.languages)
    if known.entry.state == "draft":
        words = locale(language).words["problem"]
        return _message(known, language, 409, words["draft"], words["draft_next"])
    closed = _closed(known)
    group = request.query_params.get("group", "")
    made = survey_page(
        known.survey,
        language,
        links,
        group=group if group in known.survey.groups else "",
        form=_form(request) if closed or respondent_form.possible(known.survey) else None,
        closed=closed,
    )
    return _with_form(request, made, made.form)


async def post(request: Request) -> HTMLResponse:
    """Take a response, or a withdrawal, from a page without script."""
    collector = _collector(request)
    try:
        known = await collector.surveys.find(request.path_params["name"])
    except Refused as error:
        return _missing(request, error)
    language, links = _spoken(request, known.survey.languages)
    words = locale(language).words
    address = f"{request.url.path}?{urlencode({'lang': language})}"
    try:
        fields = await security.read_form(request)
        if "withdraw" in fields:
            count = await respondent_form.withdraw(collector, known, fields)
            return _message(known, language, 200, words["withdraw"]["done" if count else "none"], "")
        submission = await respondent_form.send(collector, known, fields)
    except DeniableError as error:
        return _told(known, language, error, address)
    form = _form(request)
    sent = page(
        Sent,
        language,
        known.survey.texts[language].title,
        links,
        address=address,
        thanks=known.survey.texts[language].thanks,
        responses=respondent_form.in_words(known.survey, language, submission),
        message=respondent_form.in_json(submission),
        key=submission.key,
        receipt=f"/api/surveys/{known.survey.name}/receipts/{submission.key}",
        form=form,
    )
    return _with_form(request, sent, form)


def _closed(known: Known) -> bool:
    """Say whether a survey takes nothing any more; what was sent can then still be seen and withdrawn."""
    try:
        known.check_open()
    except Refused:
        return True
    return False


def _form(request: Request) -> Form:
    return Form(security.FIELD, security.form_value(request), secrets.token_hex(16))


def _with_form(request: Request, context: Page, form: Form | None) -> HTMLResponse:
    """Return a page; a cookie comes with it only where there is a form for which somebody must not be impersonated."""
    response = _html(context)
    if form:
        security.keep_form_value(request, response, form.value)
    return response


def _told(known: Known, language: str, error: DeniableError, address: str) -> HTMLResponse:
    words = locale(language).words["problem"]
    said = told(error).error
    return _message(known, language, status_of(error), f"{words['form']} {said.what}", words["form_next"], address)


def _message(known: Known, language: str, status: int, what: str, then: str, address: str = "") -> HTMLResponse:
    title = known.survey.texts[language].title
    return _html(page(Message, language, title, what=what, next=then, address=address), status)


def _missing(request: Request, error: Refused) -> HTMLResponse:
    language, links = _spoken(request, LANGUAGES)
    words = locale(language).words["problem"]
    said = page(Message, language, words["title"], links, what=words["missing"], next=words["missing_next"], address="")
    return _html(said, error.status)


def _spoken(request: Request, offered: Sequence[str]) -> tuple[str, tuple[Link, ...]]:
    """Return the language of a page, and links to the same page in all of them."""
    accepted = request.headers.get("accept-language", "")
    language = chosen(offered, request.query_params.get("lang", ""), accepted)
    kept = {name: value for name, value in request.query_params.items() if name == "group"}
    return language, tuple(
        Link(f"{request.url.path}?{urlencode({**kept, 'lang': each})}", each, _name(each), each == language)
        for each in offered
    )


def _name(language: str) -> str:
    """Return what speakers call a language; its tag where the pages do not speak it."""
    return locale(language).name if language.partition("-")[0] in LANGUAGES else language


def _html(context: Page, status: int = 200) -> HTMLResponse:
    return HTMLResponse(render(context), status)  # type: ignore[arg-type]  # every page but the base has a template


def _collector(request: Request) -> Collector:
    collector: Collector = request.app.state.collector
    return collector


routes = [
    Route("/", overview, methods=["GET"]),
    Route("/s/{name}", take_part, methods=["GET"]),
    Route("/s/{name}", post, methods=["POST"]),
]

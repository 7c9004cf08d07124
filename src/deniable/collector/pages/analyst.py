"""The analyst's pages: all surveys, one survey, one question, and the planner; each also as JSON and CSV.

The application lets nobody in here who has not signed in; `request.state.token` says who it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from deniable.collector.pages import analyst_context as contexts
from deniable.collector.pages.analyst_tables import to_csv
from deniable.collector.pages.render import render
from deniable.collector.refusals import Refused
from deniable.collector.store import Store

Page = contexts.OverviewPage | contexts.SurveyPage | contexts.QuestionPage | contexts.PlanPage
Build = Callable[[Request, Store], Page]


def _overview(request: Request, store: Store) -> Page:
    return contexts.overview(store, request.state.token)


def _survey(request: Request, store: Store) -> Page:
    return contexts.survey_page(store, request.path_params["name"])


def _question(request: Request, store: Store) -> Page:
    parts = request.path_params
    return contexts.question_page(store, parts["name"], parts["question"], request.query_params.get("group", ""))


def _plan(request: Request, store: Store) -> Page:  # noqa: ARG001 - as the others
    return contexts.plan_page(request.query_params)


def _html(page: Page) -> Response:
    return HTMLResponse(render(page))


def _json(page: Page) -> Response:
    return Response(msgspec.json.encode(page.facts), media_type="application/json")


def _csv(page: Page) -> Response:
    return Response(to_csv(page), media_type="text/csv; charset=utf-8")


FORMS: dict[str, Callable[[Page], Response]] = {".json": _json, ".csv": _csv, "": _html}
"""How a page is told, by the ending of its address."""


def _answer(build: Build, form: Callable[[Page], Response]) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        return form(await asyncio.to_thread(build, request, request.app.state.collector.store))

    return answer


async def _file(request: Request) -> Response:
    """Return the design, the ladder or the counts of a question, to be read by the command line."""
    store, parts = request.app.state.collector.store, request.path_params
    name, question, kind = parts["name"], parts["question"], parts["kind"]
    if kind == "tally":
        group = request.query_params.get("group", "")
        text = await asyncio.to_thread(contexts.tally_file, store, name, question, group)
    elif kind in {"design", "ladder"}:
        text = await asyncio.to_thread(contexts.about_file, store, name, question)
    else:
        raise Refused(404, "there is no such file; expected design.json, ladder.json or tally.json.")
    headers = {"Content-Disposition": f'attachment; filename="{question}-{kind}.json"'}
    return Response(text, media_type="application/json", headers=headers)


routes = [
    *(
        Route(f"{path}{ending}", _answer(build, form), methods=["GET"])
        for path, build in (("/a", _overview), ("/a/plan", _plan), ("/a/{name}", _survey))
        for ending, form in FORMS.items()
    ),
    *(
        Route(f"/a/{{name}}/{{question}}{ending}", _answer(_question, form), methods=["GET"])
        for ending, form in FORMS.items()
    ),
    Route("/a/{name}/{question}/{kind}.json", _file, methods=["GET"]),
]

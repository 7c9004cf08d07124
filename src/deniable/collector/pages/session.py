"""Signing in and out. A token is typed in once; after that its browser holds a session that only it can send."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import ClassVar

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from deniable.collector import access
from deniable.collector.pages.render import render
from deniable.collector.refusals import Refused
from deniable.collector.settings import Collector

LOGIN = "/a/login"
_INSIDE = re.compile(r"/(a|preview)(/[a-z0-9-]+)*(\.json|\.csv)?")


@dataclass(frozen=True, slots=True)
class Session:
    """The page for signing in, or out.

    Attributes:
        title: what the page is called.
        name: of the token that is signed in; empty where none is.
        problem: why signing in failed; empty at first.
        next: the page that was asked for.
        field: the name of the form's hidden field.
        value: what is in it.
    """

    TEMPLATE: ClassVar[str] = "session.html"
    title: str
    name: str
    problem: str
    next: str
    field: str
    value: str


async def show(request: Request) -> Response:
    """Show who is signed in, or a form to sign in."""
    try:
        name = (await access.admit(request, "analyst", shared=True)).name
    except Refused:
        name = ""
    return _page(request, name, "", request.query_params.get("next", ""))


async def sign_in(request: Request) -> Response:
    """Open a session with a token."""
    fields = await access.read_form(request)
    token = fields.get("token", "").strip()
    next_path = fields.get("next", "")
    token_entry = await asyncio.to_thread(
        Collector.from_request(request).store.find_token, token
    )
    if token_entry is None or token_entry.scope == "device":
        return _page(
            request,
            "",
            "This token does not work. Check it, or ask for another one.",
            next_path,
            403,
        )
    response = RedirectResponse(
        next_path if _INSIDE.fullmatch(next_path) else "/a", 303
    )
    await access.keep_session(request, response, token)
    return response


async def sign_out(request: Request) -> Response:
    """End a session."""
    await access.read_form(request)
    response = RedirectResponse(LOGIN, 303)
    await access.end_session(request, response)
    return response


def signed_in(route: Route) -> Route:
    """Return a route of the analyst's pages that sends whoever is not signed in to the form, and programs away."""
    run: Callable[[Request], Awaitable[Response]] = route.endpoint

    async def guarded(request: Request) -> Response:
        try:
            # The overview leaves out the surveys that a token is not for.
            request.state.token = await access.admit(request, "analyst", shared=True)
        except Refused as error:
            if error.status == 401 and "text/html" in request.headers.get(
                "accept", ""
            ):
                path = request.url.path
                return RedirectResponse(
                    f"{LOGIN}?next={path}" if _INSIDE.fullmatch(path) else LOGIN, 303
                )
            raise
        return await run(request)

    return Route(
        route.path, guarded, methods=sorted(route.methods or ()), name=route.name
    )


def _page(
    request: Request, name: str, problem: str, next_path: str, status: int = 200
) -> Response:
    value = access.form_value(request)
    title = "Signed in" if name else "Sign in"
    response = HTMLResponse(
        render(Session(title, name, problem, next_path, access.FIELD, value)), status
    )
    access.keep_form_value(request, response, value)
    return response


routes = [
    Route(LOGIN, show),
    Route(LOGIN, sign_in, methods=["POST"]),
    Route("/a/logout", sign_out, methods=["POST"]),
]

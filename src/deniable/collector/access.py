"""Who may do what: tokens in a header, sessions that a token has opened, and forms that only our own pages can send."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response

from deniable.collector.refusals import Refused
from deniable.collector.settings import Collector
from deniable.collector.store import Token

FIELD = "form"
"""The hidden field of a form that repeats its cookie."""

_SESSION_COOKIE, _FORM_COOKIE = "deniable-session", "deniable-form"
_MAX_FIELDS = 1000  # of a form: a survey has at most 200 questions


async def admit(request: Request, scope: str, *, shared: bool = False) -> Token:
    """Return the token of a request. A session opens pages and downloads; changes need the token itself.

    Args:
        request: what is asked for; `name` in its path is the survey that it is about.
        scope: what the token must be for.
        shared: whether what is about no survey is there for tokens of a single one, too.

    Raises:
        Refused: no token, one that does not work, or one that is for something else.
    """
    collector = Collector.from_request(request)
    text, session, token = _bearer(request), _session_name(request), None
    if text:
        token = await asyncio.to_thread(collector.store.find_token, text)
    elif session and request.method in {"GET", "HEAD"}:
        token = await asyncio.to_thread(collector.store.find_session, session)
    if token is None:
        raise Refused(
            401,
            "this needs a token that works; expected the header `Authorization: Bearer …`.",
            "Sign in at /a/login, or ask an administrator: `deniable survey token NAME`.",
            headers={"WWW-Authenticate": "Bearer"},
        )
    survey = request.path_params.get("name", "")
    if not _allows(token, scope, survey, shared=shared):
        scope_text = "this survey" if survey else "all surveys"
        raise Refused(
            403,
            f"this token is not for that; expected one of scope {scope} for {scope_text}.",
        )
    return token


async def keep_session(request: Request, response: Response, token: str) -> None:
    """Open a session with a token, and set its cookie, which no script can read and no other site can send."""
    collector = Collector.from_request(request)
    seconds = 3600 * collector.settings.session
    name = await asyncio.to_thread(
        collector.store.start_session, token, seconds=seconds
    )
    _set_cookie(request, response, _SESSION_COOKIE, name, round(seconds))


async def end_session(request: Request, response: Response) -> None:
    """End the session of a request, and erase its cookie."""
    collector = Collector.from_request(request)
    await asyncio.to_thread(collector.store.end_session, _session_name(request))
    settings = collector.settings
    response.delete_cookie(
        settings.cookie(_SESSION_COOKIE),
        path="/",
        secure=settings.encrypted,
        httponly=True,
        samesite="strict",
    )


def form_value(request: Request) -> str:
    """Return what a form's hidden field `FIELD` must hold: the value of its cookie, or a new one."""
    return _form_cookie(request) or secrets.token_urlsafe(24)


def keep_form_value(request: Request, response: Response, value: str) -> None:
    """Set the cookie that a form's hidden field repeats. It says nothing about anybody, and ends with the browser."""
    _set_cookie(request, response, _FORM_COOKIE, value)


async def read_form(request: Request) -> dict[str, str]:
    """Read a form that one of our own pages has sent. A field that occurs twice counts with its last value.

    Raises:
        Refused: too large, not a form, or sent by another site's page.
    """
    if (
        request.headers.get("content-type", "").partition(";")[0].strip()
        != "application/x-www-form-urlencoded"
    ):
        raise Refused(
            415, "this is not a form; expected application/x-www-form-urlencoded."
        )
    body = await Collector.from_request(request).limits.read(request)
    try:
        fields = dict(
            parse_qsl(
                body.decode("ascii"),
                keep_blank_values=True,
                max_num_fields=_MAX_FIELDS,
                errors="strict",
            )
        )
    except ValueError:
        raise Refused(
            400,
            "this form cannot be read; expected fields in UTF-8, percent-encoded.",
        ) from None
    if not _is_own_form(request, fields.pop(FIELD, "")):
        raise Refused(
            403,
            "this form was not sent from its own page; expected the field and the cookie that came with it.",
            "Allow cookies for this address, load the page again, and send it from there.",
        )
    return fields


def _is_own_form(request: Request, value: str) -> bool:
    """Say whether the hidden field of a form repeats its cookie, and the browser names no other site."""
    cookie = _form_cookie(request)
    site = request.headers.get("sec-fetch-site", "same-origin")
    repeats = hmac.compare_digest(cookie.encode(), value.encode())
    return bool(cookie) and repeats and site in {"same-origin", "none"}


def _bearer(request: Request) -> str:
    kind, _, text = request.headers.get("authorization", "").partition(" ")
    return text.strip() if kind.lower() == "bearer" else ""


def _allows(token: Token, scope: str, survey: str, *, shared: bool) -> bool:
    if token.scope not in {"admin", scope}:
        return False
    return token.survey in ("", survey) or (shared and not survey)


def _form_cookie(request: Request) -> str:
    return request.cookies.get(
        Collector.from_request(request).settings.cookie(_FORM_COOKIE), ""
    )


def _session_name(request: Request) -> str:
    return request.cookies.get(
        Collector.from_request(request).settings.cookie(_SESSION_COOKIE), ""
    )


def _set_cookie(
    request: Request,
    response: Response,
    cookie: str,
    value: str,
    age: int | None = None,
) -> None:
    settings = Collector.from_request(request).settings
    response.set_cookie(
        settings.cookie(cookie),
        value,
        age,
        secure=settings.encrypted,
        httponly=True,
        samesite="strict",
        path="/",
    )

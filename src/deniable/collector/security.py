"""Headers that tell a browser to trust nothing else, and forms that only our own pages can send."""

from __future__ import annotations

import hmac
import secrets
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response

from deniable.collector.limits import read_body
from deniable.collector.refusals import Refused

if TYPE_CHECKING:
    from deniable.collector.settings import Settings

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
"""The content security policy of every page: nothing from elsewhere, nothing inline, nobody's frame."""

_STATIC = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), browsing-topics=()",
}

FIELD = "form"
"""The hidden field of a form that repeats its cookie."""

_MOST_FIELDS = 1000

Headers = list[tuple[bytes, bytes]]


def headers(*, encrypted: bool) -> Headers:
    """Return the headers of every answer."""
    every = _STATIC | ({"strict-transport-security": "max-age=31536000"} if encrypted else {})
    return [(name.encode(), value.encode()) for name, value in every.items()]


def add_headers(given: Headers, every: Headers, path: str) -> None:
    """Add the headers of every answer; what has no rule for caches is not kept by any."""
    given += every
    if not any(name == b"cache-control" for name, _ in given):
        given.append((b"cache-control", b"no-cache" if path.startswith("/static/") else b"no-store"))


def form_value(request: Request) -> str:
    """Return what a form's hidden field `FIELD` must hold: the value of its cookie, or a new one."""
    return request.cookies.get(_cookie(_settings(request))) or secrets.token_urlsafe(24)


def keep_form_value(request: Request, response: Response, value: str) -> None:
    """Set the cookie that a form's hidden field repeats. It says nothing about anybody, and ends with the browser."""
    settings = _settings(request)
    response.set_cookie(_cookie(settings), value, secure=settings.encrypted, httponly=True, samesite="strict", path="/")


async def read_form(request: Request) -> dict[str, str]:
    """Read a form that one of our own pages has sent. A field that occurs twice counts with its last value.

    Raises:
        Refused: too large, not a form, or sent by another site's page.
    """
    settings = _settings(request)
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise Refused(415, "this is not a form; expected application/x-www-form-urlencoded.")
    body = await read_body(request, settings.largest, settings.patience)
    try:
        fields = dict(
            parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
        )
    except ValueError:
        raise Refused(400, "this form cannot be read; expected fields in UTF-8, percent-encoded.") from None
    cookie = request.cookies.get(_cookie(settings), "")
    ours = cookie and hmac.compare_digest(cookie.encode(), fields.pop(FIELD, "").encode())
    if not ours or request.headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
        raise Refused(
            403,
            "this form was not sent from its own page; expected the field and the cookie that came with it.",
            "Allow cookies for this address, load the page again, and send it from there.",
        )
    return fields


def _cookie(settings: Settings) -> str:
    return f"{'__Host-' if settings.encrypted else ''}deniable-form"


def _settings(request: Request) -> Settings:
    settings: Settings = request.app.state.collector.settings
    return settings

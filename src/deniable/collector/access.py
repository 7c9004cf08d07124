"""Who may see results and change surveys: tokens in a header, or a session that a token has opened."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from deniable.collector.refusals import Refused
from deniable.collector.state import Collector
from deniable.collector.store import Token

_MOST = 10_000  # sessions at a time


class Sessions:
    """Browsers in which somebody has signed in. They are kept in memory: a restart signs everybody out."""

    def __init__(self, hours: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = 3600 * hours
        self._clock = clock
        self._known: dict[bytes, tuple[float, str]] = {}

    def start(self, token: str) -> str:
        """Return the name of a new session, which is told to its browser alone."""
        now = self._clock()
        self._known = {place: each for place, each in self._known.items() if each[0] > now}
        while len(self._known) >= _MOST:
            del self._known[next(iter(self._known))]
        name = secrets.token_urlsafe(24)
        self._known[_place(name)] = (now + self._seconds, token)
        return name

    def token(self, name: str) -> str:
        """Return the token that opened a session; empty for one that does not exist or has ended."""
        until, token = self._known.get(_place(name), (0.0, ""))
        return token if until > self._clock() else ""

    def end(self, name: str) -> None:
        """End a session."""
        self._known.pop(_place(name), None)


async def admit(request: Request, scope: str, *, shared: bool = False) -> Token:
    """Return the token of a request. A session opens pages and downloads; changes need the token itself.

    Args:
        request: what is asked for; `name` in its path is the survey that it is about.
        scope: what the token must be for.
        shared: whether what is about no survey is there for tokens of a single one, too.

    Raises:
        Refused: no token, one that does not work, or one that is for something else.
    """
    collector: Collector = request.app.state.collector
    text = _bearer(request)
    if not text and request.method in {"GET", "HEAD"}:
        text = collector.sessions.token(request.cookies.get(cookie_name(collector), ""))
    token = await asyncio.to_thread(collector.store.find_token, text) if text else None
    if token is None:
        raise Refused(
            401,
            "this needs a token that works; expected the header `Authorization: Bearer …`.",
            "Sign in at /a/login, or ask an administrator: `deniable survey token`.",
            headers={"WWW-Authenticate": "Bearer"},
        )
    survey = request.path_params.get("name", "")
    if not _allows(token, scope, survey, shared=shared):
        wanted = "this survey" if survey else "all surveys"
        raise Refused(403, f"this token is not for that; expected one of an {scope} for {wanted}.")
    return token


def keep_session(request: Request, response: Response, name: str) -> None:
    """Set the cookie of a session, which no script can read and no other site can send."""
    collector: Collector = request.app.state.collector
    settings = collector.settings
    response.set_cookie(
        cookie_name(collector),
        name,
        max_age=round(3600 * settings.session),
        secure=settings.encrypted,
        httponly=True,
        samesite="strict",
        path="/",
    )


def cookie_name(collector: Collector) -> str:
    """Return what the cookie of a session is called."""
    return f"{'__Host-' if collector.settings.encrypted else ''}deniable-session"


def _bearer(request: Request) -> str:
    kind, _, text = request.headers.get("authorization", "").partition(" ")
    return text.strip() if kind.lower() == "bearer" else ""


def _allows(token: Token, scope: str, survey: str, *, shared: bool) -> bool:
    if token.scope not in {"admin", scope}:
        return False
    return token.survey in ("", survey) or (shared and not survey)


def _place(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()

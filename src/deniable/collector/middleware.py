"""What every request passes on its way in and out: limits, headers, errors told in one way, counts, and the log."""

from __future__ import annotations

import logging
import time

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deniable.collector.monitoring import log_crash, log_event, log_request
from deniable.collector.pages.render import problem
from deniable.collector.refusals import Refused, refusal_of, status_of
from deniable.collector.settings import Collector
from deniable.collector.store import StoreFailed
from deniable.errors import DeniableError

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
"""The content security policy of every page: nothing from elsewhere, nothing inline, nobody's frame."""

_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), browsing-topics=()",
}

NOWHERE = "(none)"
"""What the log and the counts call a request that no route takes."""

_HTTP_PROBLEMS: dict[int, tuple[str, str]] = {
    404: (
        "there is nothing at this address.",
        "Open the link that you were given. Results are at /a; programs find all addresses in /openapi.json.",
    ),
    405: (
        "this method does not exist here.",
        "/openapi.json lists the methods of every address.",
    ),
}

Headers = list[tuple[bytes, bytes]]


class RequestGate:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp, collector: Collector) -> None:
        self._app = app
        self._limits = collector.limits
        self._metrics = collector.metrics
        self._settings = collector.settings
        self._headers = common_headers(encrypted=collector.settings.encrypted)
        self._warned = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reply to a request, whatever happens on the way."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                add_headers(message["headers"], self._headers, scope["path"])
            await send(message)

        try:
            self._check_encrypted(scope)
            # a page loads a dozen, and a classroom shares one address
            if not scope["path"].startswith("/static/"):
                client = scope.get("client")
                address = client[0] if client else ""
                self._warn_of_proxies(scope, address)
                self._limits.requests.check(address)
            with self._limits.bodies.of_request(scope):
                await self._app(scope, receive, sending)
        except (
            Exception
        ) as error:  # the last resort: nobody's words leave in a traceback
            await self._refuse(error, scope, receive, sending, begun=bool(status))
        seconds = time.perf_counter() - started
        route = pattern(scope)
        self._metrics.request(scope["method"], route, status, seconds)
        if status >= 400:
            log_request(scope["method"], route, status, seconds)

    def _check_encrypted(self, scope: Scope) -> None:
        """Refuse what came in the clear where people are promised HTTPS; a program may ask whether all is well.

        Raises:
            Refused: it did, or the proxy in front does not say otherwise.
        """
        settings = self._settings
        if settings.encrypted and scope["scheme"] != "https":
            if scope["path"] == "/health":
                return
            raise Refused(
                403,
                "this request came without encryption; expected HTTPS.",
                f"Open {settings.base}. A proxy that speaks HTTPS says so in the header X-Forwarded-Proto.",
            )

    def _warn_of_proxies(self, scope: Scope, address: str) -> None:
        """Write a line, once, where a proxy says for whom it asks and is not believed: all whom it asks for are one."""
        if self._warned:
            return
        forwarded = b",".join(
            value for name, value in scope["headers"] if name == b"x-forwarded-for"
        )
        if forwarded and address.encode() not in forwarded:
            self._warned = True
            log_event(
                "a proxy is not named in `proxies`, so all its requests share one limit",
                level=logging.WARNING,
            )

    async def _refuse(
        self,
        error: Exception,
        scope: Scope,
        receive: Receive,
        send: Send,
        *,
        begun: bool,
    ) -> None:
        expected = expected_error(error)
        if expected is None:
            log_crash(error, pattern(scope))
            expected = Refused(
                500, "the collector made a mistake.", "Try again later."
            )
        if not begun:
            await refusal(expected, scope)(scope, receive, send)


def common_headers(*, encrypted: bool) -> Headers:
    """Return the headers of every reply."""
    all_headers = _HEADERS | (
        {"strict-transport-security": "max-age=31536000"} if encrypted else {}
    )
    return [(name.encode(), value.encode()) for name, value in all_headers.items()]


def add_headers(headers: Headers, common: Headers, path: str) -> None:
    """Add the headers of every reply; what has no rule for caches is not kept by any."""
    headers += common
    if not any(name == b"cache-control" for name, _ in headers):
        headers.append(
            (
                b"cache-control",
                b"no-cache" if path.startswith("/static/") else b"no-store",
            )
        )


def pattern(scope: Scope) -> str:
    """Return the pattern of the route that a request took; never the path itself: anything can stand in it."""
    return getattr(scope.get("route"), "path", NOWHERE)


def refusal(error: DeniableError, scope: Scope) -> Response:
    """Return how an error is told: as JSON to programs, as a page to people."""
    if isinstance(error, StoreFailed):
        log_event("database failed", level=logging.ERROR, problem=error.problem)
    status, body = status_of(error), refusal_of(error)
    headers = error.headers if isinstance(error, Refused) else {}
    if wants_page(scope):
        return HTMLResponse(problem(body.error), status, headers)
    return Response(
        msgspec.json.encode(body), status, headers, media_type="application/json"
    )


def wants_page(scope: Scope) -> bool:
    """Whether a request comes from somebody who reads pages."""
    accept = b",".join(
        value for name, value in scope["headers"] if name == b"accept"
    )
    return not scope["path"].startswith("/api/") and b"text/html" in accept


def expected_error(error: Exception) -> DeniableError | None:
    """Return an error that says what is wrong; None for one that nobody expected."""
    if isinstance(error, DeniableError):
        return error
    if isinstance(error, HTTPException):
        return Refused(
            error.status_code,
            *_HTTP_PROBLEMS.get(error.status_code, (f"{error.detail}.", "")),
        )
    return None

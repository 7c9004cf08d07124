"""The way to a collector: a connection that asks again while it is worth it."""

from __future__ import annotations

import http.client
import json
import secrets
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

from deniable.errors import DeniableError

_TIMEOUT = 30.0
_FIRST, _LONGEST = 0.25, 30.0  # seconds between two attempts
_AGAIN = {408, 425, 429, 500, 502, 503, 504}
_MAX_REPLY = 64 << 20  # bytes
_CHANCE = secrets.SystemRandom()


class NotSent(DeniableError, OSError):
    """The collector could not be reached. Everything is kept, and can be sent later."""


class NotTaken(DeniableError, ValueError):
    """Refusal of a submission by the collector.

    Attributes:
        status: the HTTP status.
    """

    def __init__(self, problem: str, hint: str = "", *, status: int = 0) -> None:
        super().__init__(problem, hint)
        self.status = status


class Connection:
    """The connection to one collector: repeats what fails, ever more slowly, and follows no redirect.

    Args:
        base: its address.
        patience: seconds for which it is tried again.
        sleep: how to wait.
    """

    def __init__(
        self,
        base: str,
        *,
        patience: float,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._base = base
        self._patience = patience
        self._sleep = sleep
        self._opener = urllib.request.build_opener(_NoRedirects)

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        kind: str = "application/json",
        token: str = "",
    ) -> bytes:
        """Send a request until it is answered; return the body of the answer.

        Only requests that may be repeated go here: all of them may.

        Raises:
            NotSent: no answer within the patience.
            NotTaken: the collector refuses.
        """
        waited, wait = 0.0, _FIRST
        while True:
            try:
                return self._once(method, path, body, kind, token)
            except _Later as later:
                # A random part of the time, so that all devices do not come back at one moment.
                pause = max(later.seconds, _CHANCE.uniform(0, wait))
                if waited + pause > self._patience:
                    raise NotSent(
                        f"the collector at {self._base} does not answer ({later.reason}); nothing is lost.",
                        "Send again when there is a connection.",
                    ) from None
            self._sleep(pause)
            waited, wait = waited + pause, min(2 * wait, _LONGEST)

    def _once(
        self, method: str, path: str, body: bytes | None, kind: str, token: str
    ) -> bytes:
        headers = {"Content-Type": kind} if body is not None else {}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        request = urllib.request.Request(  # noqa: S310 - by Link
            self._base + path, body, headers, method=method
        )
        try:
            with self._opener.open(request, timeout=_TIMEOUT) as reply:
                body_read: bytes = reply.read(_MAX_REPLY)
                return body_read
        except urllib.error.HTTPError as error:
            with error:
                if error.code in _AGAIN:
                    raise _Later(
                        f"status {error.code}",
                        _seconds(error.headers.get("Retry-After")),
                    ) from None
                raise _refusal(error.code, error.read(1 << 16)) from None
        except (OSError, http.client.HTTPException) as error:
            raise _Later(type(error).__name__) from None


class _Later(Exception):
    """It may work in a while."""

    def __init__(self, reason: str, seconds: float = 0.0) -> None:
        self.reason = reason
        self.seconds = seconds
        super().__init__(reason)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows none: a response, and the key that withdraws it, go to the collector of the link or nowhere."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _seconds(text: str | None) -> float:
    return (
        float(text)
        if text and text.isascii() and text.isdecimal() and len(text) < 6
        else 0.0
    )


def _refusal(status: int, body: bytes) -> NotTaken:
    """Return the error for a collector's refusal."""
    try:
        fields = json.loads(body)["error"]
        refusal, expected, hint = (
            str(fields[name]) for name in ("what", "expected", "next")
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return NotTaken(
            f"the collector refuses, with the status {status}.", status=status
        )
    problem = f"{refusal} Expected {expected}" if expected else refusal
    return NotTaken(problem, hint, status=status)

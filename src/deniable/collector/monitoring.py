"""What the collector tells about itself: lines of JSON on stderr, and counts for Prometheus.

Requests that were refused leave a line, and so does what administrators do and analysts take away. A line holds words
of ours, a method, the pattern of a route, a status and a duration. It holds no address, no query, no header, no key,
secret, code or response. A request that went well leaves no line, it is only counted: a list of the moments at which
responses arrived could be laid beside what somebody saw on the network. Counts say how much happened, never who or
what: their labels come from short fixed lists.
"""

from __future__ import annotations

import logging
import sys
import time
import traceback
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

LOGGER = logging.getLogger("deniable.collector")

MEDIA = "text/plain; version=0.0.4; charset=utf-8"
"""The media type of the counts."""

_METHODS = frozenset({"GET", "HEAD", "POST", "DELETE"})
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class JsonLines(logging.Formatter):
    """One record, one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        # Without an exception's words, and another package's line with nothing filled in: both could hold what
        # somebody sent.
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created))
        event = record.getMessage() if record.name == LOGGER.name else str(record.msg).partition("\n")[0]
        facts: dict[str, Any] = getattr(record, "facts", {})
        line = {"at": at, "level": record.levelname.lower(), "event": event, **facts}
        return msgspec.json.encode(line).decode()


def configure_log() -> None:
    """Send lines to stderr; what other packages say comes from warnings on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    LOGGER.setLevel(logging.INFO)


def log_event(event: str, *, level: int = logging.INFO, **facts: str | float) -> None:
    """Write a line."""
    LOGGER.log(level, event, extra={"facts": facts})


def log_request(method: str, route: str, status: int, seconds: float) -> None:
    """Write the line of a request."""
    level = logging.ERROR if status >= 500 else logging.INFO
    log_event("request", level=level, method=method, route=route, status=status, ms=round(1000 * seconds, 1))


def log_crash(error: BaseException, route: str) -> None:
    """Write down an error that nobody expected: its kind and its place. Its words could hold what somebody sent."""
    frames = traceback.extract_tb(error.__traceback__)
    last = next((each for each in reversed(frames) if "deniable" in Path(each.filename).parts), None)
    where = f"{Path(last.filename).name}:{last.lineno}" if last else "?"
    log_event("crash", level=logging.ERROR, kind=type(error).__name__, where=where, route=route)


class Metrics:
    """What one collector counts since it was started."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "deniable_requests",
            "Requests, by route and status.",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "deniable_request_seconds", "How long requests took.", ("route",), buckets=_SECONDS, registry=self._registry
        )
        self._responses = Counter(
            "deniable_responses", "Responses that arrived, by outcome.", ("survey", "outcome"), registry=self._registry
        )

        self._requests_of = cache(self._requests.labels)  # a look-up of ours is several times quicker than theirs
        self._seconds_of = cache(self._seconds.labels)
        self._responses_of = cache(self._responses.labels)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests_of(method if method in _METHODS else "other", route, status).inc()
        self._seconds_of(route).observe(seconds)

    def responses(self, survey: str, outcome: str, count: int = 1) -> None:
        """Count responses that were stored, repeated, refused or withdrawn."""
        self._responses_of(survey, outcome).inc(count)

    def render(self) -> bytes:
        """Return all counts as Prometheus reads them."""
        return generate_latest(self._registry)

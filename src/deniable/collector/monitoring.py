"""What the collector tells about itself: lines of JSON on stderr, and counts for Prometheus.

Requests that were refused leave a line, and so does what administrators do and analysts take away. A line holds words
of ours, a method, the pattern of a route, a status and a duration. It holds no address, no query, no header, no key,
secret, code or response. A request that went well leaves no line, it is only counted: a list of the moments at which
responses arrived could be laid beside what somebody saw on the network. For the same reason counts are told by the day:
whoever reads them every second would have that list. They say how much happened, never who or what: their labels come
from short fixed lists.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    disable_created_metrics,
    generate_latest,
)

LOGGER = logging.getLogger("deniable.collector")

MEDIA = "text/plain; version=0.0.4; charset=utf-8"
"""The media type of the counts."""

_DAY = 86_400  # seconds
_METHODS = frozenset({"GET", "HEAD", "POST", "DELETE"})
_SECONDS = (
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
)

# They say to the microsecond when something was counted for the first time.
disable_created_metrics()  # type: ignore[no-untyped-call]


class JsonLines(logging.Formatter):
    """One record, one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        # Without an exception's words, and another package's line with nothing filled in: both could hold what
        # somebody sent.
        timestamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created))
        event = (
            record.getMessage()
            if record.name == LOGGER.name
            else str(record.msg).partition("\n")[0]
        )
        facts: dict[str, Any] = getattr(record, "facts", {})
        line = {
            "at": timestamp,
            "level": record.levelname.lower(),
            "event": event,
            **facts,
        }
        return msgspec.json.encode(line).decode()


def configure_log() -> None:
    """Send lines to stderr; what other packages say comes from warnings on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    LOGGER.setLevel(logging.INFO)


def log_event(
    event: str, *, level: int = logging.INFO, **facts: str | float
) -> None:
    """Write a line."""
    LOGGER.log(level, event, extra={"facts": facts})


def log_request(method: str, route: str, status: int, seconds: float) -> None:
    """Write the line of a request."""
    level = logging.ERROR if status >= 500 else logging.INFO
    log_event(
        "request",
        level=level,
        method=method,
        route=route,
        status=status,
        ms=round(1000 * seconds, 1),
    )


def log_crash(error: BaseException, route: str) -> None:
    """Write down an error that nobody expected: its kind and its place. Its words could hold what somebody sent."""
    frames = traceback.extract_tb(error.__traceback__)
    last = next(
        (
            frame
            for frame in reversed(frames)
            if "deniable" in Path(frame.filename).parts
        ),
        None,
    )
    place_in_code = f"{Path(last.filename).name}:{last.lineno}" if last else "?"
    log_event(
        "crash",
        level=logging.ERROR,
        kind=type(error).__name__,
        where=place_in_code,
        route=route,
    )


class Pulse:
    """Whether the collector can store anything now: it tries, once at a time for all who ask.

    Args:
        try_write: writes something, and raises an error where that fails.
        patience: seconds to wait for it. A database that is busy is not ill: then what was known before is told.
    """

    def __init__(self, try_write: Callable[[], None], patience: float = 2.0) -> None:
        self._try_write = try_write
        self._patience = patience
        self._trial: asyncio.Task[None] | None = None
        self._problem: BaseException | None = None

    async def check(self) -> None:
        """Do nothing if all is well.

        Raises:
            StoreFailed: nothing can be stored.
        """
        if self._trial is None or self._trial.done():
            self._trial = asyncio.create_task(asyncio.to_thread(self._try_write))
        finished, _ = await asyncio.wait({self._trial}, timeout=self._patience)
        if finished:
            self._problem = self._trial.exception()
        if self._problem is not None:
            raise self._problem


class Metrics:
    """What one collector counts since it was started.

    Everything is told as it was at the end of the last day (UTC). Only failures of the collector itself are told at
    once: whoever runs it has to know, and what failed was not stored.

    Args:
        clock: seconds since 1970.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._failing, self._registry = CollectorRegistry(), CollectorRegistry()
        self._failures = Counter(
            "deniable_failures", "Requests that failed here, by route and status.", ("route", "status"),
            registry=self._failing,
        )  # fmt: skip
        self._requests = Counter(
            "deniable_requests",
            "Requests until yesterday, by route and status.",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "deniable_request_seconds", "How long requests took until yesterday.", ("route",),
            buckets=_SECONDS, registry=self._registry,
        )  # fmt: skip
        self._responses = Counter(
            "deniable_responses", "Responses that arrived until yesterday, by outcome.", ("survey", "outcome"),
            registry=self._registry,
        )  # fmt: skip
        self._day, self._told = self._today(), generate_latest(self._registry)

        # a look-up of ours is several times quicker than theirs
        self._requests_of = cache(self._requests.labels)
        self._seconds_of = cache(self._seconds.labels)
        self._responses_of = cache(self._responses.labels)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._write_past_days()
        if status >= 500:
            self._failures.labels(route, status).inc()
        self._requests_of(
            method if method in _METHODS else "other", route, status
        ).inc()
        self._seconds_of(route).observe(seconds)

    def responses(self, survey: str, outcome: str, count: int = 1) -> None:
        """Count responses that were stored, repeated, refused or withdrawn."""
        self._write_past_days()
        self._responses_of(survey, outcome).inc(count)

    def render(self) -> bytes:
        """Return all counts as Prometheus reads them."""
        self._write_past_days()
        return generate_latest(self._failing) + self._told

    def _today(self) -> int:
        return int(self._clock() // _DAY)

    def _write_past_days(self) -> None:
        """Write down the counts of the days that have ended, before anything of a new one is counted."""
        if (today := self._today()) != self._day:
            self._day, self._told = today, generate_latest(self._registry)

"""Counts for Prometheus. They say how much happened, never who or what: labels come from short fixed lists."""

from __future__ import annotations

from functools import cache

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

MEDIA = "text/plain; version=0.0.4; charset=utf-8"

_METHODS = frozenset({"GET", "HEAD", "POST", "DELETE"})
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


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

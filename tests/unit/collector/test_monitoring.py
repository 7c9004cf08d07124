"""Counts are told by the day: nobody who reads them often learns when a response came."""

from __future__ import annotations

import pytest

from deniable.collector.monitoring import Metrics

DAY = 86_400.0


class Clock:
    """A clock that is set by hand."""

    now = 20_000 * DAY

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_counts_are_those_of_the_days_that_have_ended(clock: Clock) -> None:
    metrics = Metrics(clock)
    before = metrics.render()
    for number in range(3):
        clock.now += 3600 * number
        metrics.responses("small", "stored")
        metrics.request("POST", "/api/surveys/{name}/responses", 204, 0.01)
        metrics.request("POST", "/api/surveys/{name}/responses", 422, 0.01)
        assert metrics.render() == before
    clock.now = 20_001 * DAY
    metrics.responses("small", "stored")
    told = metrics.render()
    assert b'deniable_responses_total{outcome="stored",survey="small"} 3.0' in told
    assert b'status="204"} 3.0' in told
    metrics.responses("small", "withdrawn")
    assert metrics.render() == told
    clock.now += DAY
    assert b'deniable_responses_total{outcome="stored",survey="small"} 4.0' in metrics.render()


def test_no_count_says_when_it_began(clock: Clock) -> None:
    metrics = Metrics(clock)
    metrics.responses("small", "stored")
    metrics.request("GET", "/health", 503, 0.01)
    clock.now += DAY
    told = metrics.render()
    assert b"_created" not in told
    assert not [word for line in told.splitlines() for word in line.split()[1:] if word.startswith(b"1.7")]


def test_failures_are_told_at_once(clock: Clock) -> None:
    metrics = Metrics(clock)
    metrics.request("POST", "/api/surveys/{name}/responses", 503, 0.01)
    assert b'deniable_failures_total{route="/api/surveys/{name}/responses",status="503"} 1.0' in metrics.render()

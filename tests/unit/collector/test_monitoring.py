"""Counts are told by the day, so that nobody learns when a response came; whether all is well is tried."""

from __future__ import annotations

import asyncio
import threading

import pytest

from deniable.collector.monitoring import Metrics, Pulse
from deniable.collector.store import StoreFailed

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
    assert (
        b'deniable_responses_total{outcome="stored",survey="small"} 4.0'
        in metrics.render()
    )


def test_no_count_says_when_it_began(clock: Clock) -> None:
    metrics = Metrics(clock)
    metrics.responses("small", "stored")
    metrics.request("GET", "/health", 503, 0.01)
    clock.now += DAY
    told = metrics.render()
    assert b"_created" not in told
    assert not [
        word
        for line in told.splitlines()
        for word in line.split()[1:]
        if word.startswith(b"1.7")
    ]


def test_failures_are_told_at_once(clock: Clock) -> None:
    metrics = Metrics(clock)
    metrics.request("POST", "/api/surveys/{name}/responses", 503, 0.01)
    assert (
        b'deniable_failures_total{route="/api/surveys/{name}/responses",status="503"} 1.0'
        in metrics.render()
    )


def test_a_pulse_is_taken_once_at_a_time_and_a_busy_database_is_not_ill() -> None:
    tries, go_on = [], threading.Event()

    def slow() -> None:
        tries.append(None)
        assert go_on.wait(60)
        if len(tries) == 2:
            raise StoreFailed("the disk is full.")

    async def run() -> None:
        pulse = Pulse(slow, patience=0.05)
        await asyncio.gather(*(pulse.check() for _ in range(20)))
        assert len(tries) == 1
        go_on.set()
        pulse._patience = 60
        await pulse.check()
        with pytest.raises(StoreFailed):
            await pulse.check()
        go_on.clear()
        pulse._patience = 0.05
        with pytest.raises(StoreFailed):
            await pulse.check()
        go_on.set()
        pulse._patience = 60
        await pulse.check()

    asyncio.run(run())

"""A collector that runs for long does not grow; `benchmarks/collector_http.py` does the same with an hour's worth."""

from __future__ import annotations

import gc
import tracemalloc
from itertools import pairwise
from pathlib import Path

from deniable.collector.app import make_app
from deniable.collector.store import Store, Token, open_store
from deniable.survey import Survey
from tests.support.collector import UNLIMITED, Inside, submission
from tests.support.surveys import small

BASE = "/api/surveys/small"
TOGETHER = 20
SPELLS = 3  # what is kept grows in each of them; a cache that fills or a buffer that is just then full does so in one
MOST = 250  # bytes for each round of eight requests; a request that is kept takes more than a thousand


def rounds(collector: Inside, survey: Survey, token: str, count: int) -> int:
    """Send all kinds of requests, withdraw what was stored, and return how many bytes Python holds after it."""
    for start in range(0, count, TOGETHER):
        numbers = range(start, start + TOGETHER)
        bodies = [
            submission(survey, ("yes", "no")[number % 2]) for number in numbers
        ]
        keys = [{"key": each["key"]} for each in bodies]
        for method, path, status, sent in (
            ("POST", f"{BASE}/responses", 204, bodies),
            ("POST", f"{BASE}/responses", 204, bodies),
            (
                "POST",
                f"{BASE}/responses",
                422,
                [{**each, "key": ""} for each in bodies],
            ),
            ("POST", f"{BASE}/receipts", 200, keys),
            ("GET", "/KEY", 404, bodies),
            ("GET", "/api/surveys/KEY", 404, bodies),
            ("GET", f"{BASE}/tallies", 200, bodies),
            ("POST", f"{BASE}/withdrawals", 200, keys),
        ):
            header = {"authorization": f"Bearer {token}"}
            asked = [
                (method, path.replace("KEY", each["key"]), each, header)
                for each in sent
            ]
            assert {each.status for each in collector.ask_all(asked)} == {status}, (
                path
            )
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def growth(collector: Inside, survey: Survey, token: str, count: int) -> float:
    """Return the bytes that a round of requests leaves behind in the spell that leaves least."""
    held = [rounds(collector, survey, token, count) for _ in range(1 + SPELLS)]
    return min(after - before for before, after in pairwise(held)) / count


def opened(path: Path) -> tuple[Store, Survey]:
    # nobody waits for a share of time: here it is memory that matters
    store = open_store(path, rewriting=1)
    store.create(small())
    return store, store.open("small").survey


def test_memory_does_not_grow_with_requests(tmp_path: Path) -> None:
    store, survey = opened(tmp_path / "collector.db")
    token = store.issue_token(Token("ann", "analyst"))
    tracemalloc.start()
    try:
        with Inside(make_app(UNLIMITED, store)) as collector:
            grown = growth(collector, survey, token, 120)
    finally:
        tracemalloc.stop()
        store.shut()
    assert grown < MOST


def test_a_leak_would_be_found(tmp_path: Path) -> None:
    store, survey = opened(tmp_path / "collector.db")
    token = store.issue_token(Token("ann", "analyst"))
    app = make_app(UNLIMITED, store)
    kept: list[object] = []
    find = app.state.collector.surveys.find
    object.__setattr__(
        app.state.collector.surveys,
        "find",
        lambda name: (kept.append({"name": name}), find(name))[1],
    )
    tracemalloc.start()
    try:
        with Inside(app) as collector:
            grown = growth(collector, survey, token, 40)
    finally:
        tracemalloc.stop()
        store.shut()
    assert grown > MOST

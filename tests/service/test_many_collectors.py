"""Several collectors on one database: each counts once, all together keep the limits, and a file has one of them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import httpx
import pytest

from deniable.collector.app import make_app
from deniable.collector.intake import _FRESH
from deniable.collector.settings import _SHARED, Settings
from deniable.collector.store import Store, Token, open_store, schema
from deniable.db import applied_migrations
from deniable.errors import InvalidRequest
from tests.support import postgres
from tests.support.collector import HASTE, UNLIMITED, Inside, submission
from tests.support.surveys import small

RESPONSES = "/api/surveys/small/responses"
_numbers = count(1)


@pytest.fixture
def address(postgres_server: str) -> str:
    return postgres.fresh_schema(postgres_server, f"many_{next(_numbers)}")


@pytest.fixture
def stores(address: str) -> Iterator[list[Store]]:
    """Two processes' stores on one database, with the small survey, open."""
    opened = [open_store(address) for _ in range(2)]
    opened[0].create(small(minimum=3))
    opened[0].open("small")
    yield opened
    for each in opened:
        each.shut()


@contextmanager
def asked(settings: Settings, stores: list[Store]) -> Iterator[list[Inside]]:
    """The collectors of two processes, with their shares of the limits."""
    with (
        Inside(make_app(settings.share(), stores[0])) as one,
        Inside(make_app(settings.share(), stores[1])) as two,
    ):
        yield [one, two]


@contextmanager
def serving(
    address: str, folder: Path, **settings: object
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `deniable serve`; gives the process and its address, or what it said instead."""
    given = {
        f"DENIABLE_{name.upper()}": str(value) for name, value in settings.items()
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "deniable.cli", "serve", "--port", "0", "--database", address],
        cwd=folder, stderr=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "400", **given},
    )  # fmt: skip
    assert process.stderr
    try:
        said = process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", said)
        yield process, found[0] if found else said
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def test_two_collectors_take_responses_and_each_is_counted_once(
    address: str, tmp_path: Path
) -> None:
    """People send to either, and whoever is not sure sends again, to the other; one of the two is killed meanwhile."""
    store = open_store(address)
    store.create(small(minimum=3))
    entry = store.open("small")
    told: list[bool] = []
    with (
        serving(address, tmp_path, collectors=2, rate=0, hold=0) as (first, one),
        serving(address, tmp_path, collectors=2, rate=0, hold=0) as (second, two),
        httpx.Client() as client,
    ):
        with serving(address, tmp_path, collectors=2) as (_, said):
            assert "has its collectors already" in said
        half = threading.Event()

        def person(number: int) -> bool:
            body = submission(entry.survey)
            done = False
            for base in (one, two) if number % 2 else (two, one):
                try:
                    done |= (
                        client.post(base + RESPONSES, json=body).status_code == 204
                    )
                except httpx.TransportError:
                    assert half.is_set()
            return done

        with ThreadPoolExecutor(8) as people:
            told += people.map(person, range(40))
            half.set()
            second.kill()
            told += people.map(person, range(40))
        assert all(told)
        first.send_signal(signal.SIGTERM)
        assert first.wait(30) == 0
    assert store.tallies(entry.id, 0).respondents == 80
    store.shut()


def test_a_limit_is_shared(stores: list[Store]) -> None:
    with asked(Settings(collectors=2, rate=20, rate_responses=0), stores) as both:
        taken = [
            each.ask("GET", "/health").status for _ in range(20) for each in both
        ]
        assert taken.count(200) == 20, "all together, wherever they arrive"
        assert taken.count(429) == 20


@pytest.mark.parametrize("name", _SHARED)
def test_the_parts_of_a_limit_are_no_more_than_the_limit(name: str) -> None:
    given = Settings(collectors=3, **{name: 1000})
    assert getattr(given.share(), name) == 333
    assert getattr(Settings(collectors=1, **{name: 1000}).share(), name) == 1000
    if name != "connections_each":
        assert getattr(Settings(collectors=3, **{name: 0}).share(), name) == 0, (
            "no limit is none for each"
        )
    assert getattr(Settings(collectors=3, **{name: 2}).share(), name) == 1


def test_the_time_for_writing_anew_is_shared() -> None:
    assert Settings(collectors=2, rewriting=0.1).share().rewriting == 0.05


def test_who_signs_in_at_one_is_signed_in_at_the_other_and_signed_out_too(
    stores: list[Store],
) -> None:
    token = stores[0].issue_token(Token("ann", "analyst"))
    session = stores[0].start_session(token, seconds=60)
    with asked(UNLIMITED, stores) as both:
        cookie = f"deniable-session={session}"
        assert [each.ask("GET", "/a", cookie=cookie).status for each in both] == [
            200,
            200,
        ]
        stores[1].end_session(session)
        assert [each.ask("GET", "/a", cookie=cookie).status for each in both] == [
            401,
            401,
        ]
        again = f"deniable-session={stores[1].start_session(token, seconds=60)}"
        stores[0].revoke_token("ann")
        assert [each.ask("GET", "/a", cookie=again).status for each in both] == [
            401,
            401,
        ]


def test_what_one_closes_the_other_takes_no_more(stores: list[Store]) -> None:
    survey = stores[0].survey("small").survey
    with asked(UNLIMITED, stores) as both:
        assert [
            each.ask("POST", RESPONSES, submission(survey)).status for each in both
        ] == [204, 204]
        stores[0].close("small")
        body = submission(survey)
        # 409 from whoever still has the survey as it was, and 403 once it has been read again.
        assert {each.ask("POST", RESPONSES, body).status for each in both} <= {
            403,
            409,
        }
        assert 0 < _FRESH <= 1, "for so long the other may still show the page"


def test_what_is_shown_is_the_same_at_both(stores: list[Store]) -> None:
    """Counts change in steps, and lag a step behind, wherever responses arrive and analysts look."""
    survey, token = (
        stores[0].survey("small").survey,
        stores[0].issue_token(Token("ann", "analyst")),
    )
    with asked(UNLIMITED, stores) as both:
        for each in both:
            each._app.state.collector.writer.hold = HASTE
        for sent in range(1, 8):
            assert (
                both[sent % 2].ask("POST", RESPONSES, submission(survey)).status
                == 204
            )
            seen = [
                each.ask(
                    "GET",
                    "/api/surveys/small/tallies",
                    authorization=f"Bearer {token}",
                ).body
                for each in both
            ]
            assert seen[0] == seen[1]


def test_two_that_start_at_the_same_moment_make_the_tables_once(
    address: str,
) -> None:
    begin = threading.Barrier(4)

    def start(_: int) -> Store:
        begin.wait()
        return open_store(address)

    with ThreadPoolExecutor(4) as programs:
        opened = list(programs.map(start, range(4)))
    with opened[0].transaction(write=False) as tables:
        assert applied_migrations(tables, schema.PART) == {
            each.name for each in schema.MIGRATIONS
        }
    for store in opened:
        store.database.close()


def test_administrators_at_two_collectors_come_one_after_the_other(
    stores: list[Store],
) -> None:
    with ThreadPoolExecutor(8) as administrators:
        made = list(
            administrators.map(
                lambda at: stores[at % 2].create(small(name=f"survey-{at}")),
                range(8),
            )
        )
        assert len({entry.id for entry in made}) == 8
        list(
            administrators.map(
                lambda at: stores[at % 2].rewrite(at_once=True, anyway=True),
                range(4),
            )
        )
    assert len(stores[0].surveys()) == 9


def test_there_are_as_many_seats_as_all_of_them_were_told(
    stores: list[Store],
) -> None:
    one, two = (store.database for store in stores)
    first = one.take_seat(2)
    assert first is not None
    assert first.held()
    assert two.take_seat(3) is None, "told another number"
    assert two.take_seat(1) is None
    second = two.take_seat(2)
    assert second is not None
    assert two.take_seat(2) is None, "both are taken"
    first.close()
    assert not first.held()
    again = one.take_seat(2)
    assert again is not None
    with stores[0].transaction() as tables:
        tables.run(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE classid = 1684369018"
        )
    assert not again.held()
    assert not second.held()
    again.close()
    second.close()


def test_a_file_has_one_collector(tmp_path: Path) -> None:
    store = open_store(tmp_path / "collector.db")
    with serving("collector.db", tmp_path) as (_, address):
        assert httpx.get(f"{address}/health").status_code == 200
        with serving("collector.db", tmp_path) as (process, said):
            assert "has its collectors already" in said
            assert process.wait(30) == 2
        assert store.database.take_seat(1) is None
    left = store.database.take_seat(1)
    assert left is not None, "however a collector ends, its seat is free"
    left.close()
    with pytest.raises(InvalidRequest, match="expected one: it is a file"):
        store.database.take_seat(2)
    store.shut()

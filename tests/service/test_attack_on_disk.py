"""Whoever takes the disk tells no fewer people from all others than the survey's minimum, however many responded.

The attack knows the schema. It lays all copies of counts, all rows, runs and transactions beside each other
(`disk.smallest_told`), after every response that was acknowledged. By default the minimum is small, and it looks at
sizes around the steps; with `DENIABLE_ATTACK=all` the minimum is 20, and it looks at each size from 1 to 100.
"""

from __future__ import annotations

import asyncio
import json
import os
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from deniable.collector.app import make_app
from deniable.collector.intake import SubmissionWriter
from deniable.collector.settings import Settings
from deniable.collector.store import Store, Submission, Token, open_store
from deniable.errors import NotAllowed
from tests.support import disk, postgres
from tests.support.collector import Inside, submission
from tests.support.surveys import small

ALL = os.environ.get("DENIABLE_ATTACK") == "all"
MINIMUM = 20 if ALL else 5
SIZES = range(1, 101) if ALL else (1, 4, 5, 6, 10, 11)
ENDS = SIZES if ALL else (4, 5, 6, 11)
_numbers = count(1)


@pytest.fixture(params=["sqlite", "postgres"])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Places for databases of one kind, each of them new."""
    if request.param == "sqlite":
        folders = (tmp_path / str(number) for number in _numbers)
        return (str(made(folder) / "collector.db") for folder in folders)
    server = request.getfixturevalue("postgres_server")
    return (postgres.fresh_schema(server, f"attack_{n}") for n in _numbers)


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def check(place: str, people: int) -> None:
    assert disk.smallest_told(place) >= (people, min(people, MINIMUM)), people


def opened(place: str) -> Store:
    store = open_store(place, rewriting=0.5)
    store.create(small(minimum=MINIMUM))
    store.open("small")
    return store


def person(number: int) -> Submission:
    return Submission(1, disk.key(number), None, disk.SENT)


def stored(place: str, people: int) -> Store:
    """Store what so many people sent, one after the other."""
    store = opened(place)
    for number in range(people):
        assert store.add([person(number)]) == ["stored"]
    return store


def acknowledged(
    place: str, people: int, look: Callable[[Store, int], None], *, pool: int = 1
) -> Store:
    """Let so many people respond as they do to a collector, so many at a time; look when they were told so."""
    store = opened(place)

    async def run() -> None:
        with SubmissionWriter(store, pool=pool, hold=30) as writer:
            for number in range(0, people, pool):
                sent = [person(each) for each in range(number, number + pool)]
                told = await asyncio.gather(*map(writer.add, sent))
                assert told == ["stored"] * pool
                look(store, number + pool)

    asyncio.run(run())
    return store


def test_a_collector_that_is_killed_after_it_has_answered_tells_nobody(
    places: Iterator[str],
) -> None:
    """The disk is taken as it is at that moment, with the log; then once more when a collector has put it right."""
    place = next(places)

    def look(_: Store, people: int) -> None:
        if people in SIZES:
            check(place, people)

    acknowledged(place, max(SIZES), look).database.close()
    open_store(place).shut()
    check(place, max(SIZES))


def test_pools_of_the_minimum_are_told_apart_at_most(places: Iterator[str]) -> None:
    place = next(places)
    people = 4 * MINIMUM
    acknowledged(place, people, lambda _, n: check(place, n), pool=MINIMUM).shut()
    check(place, people)


def test_a_batch_of_few_is_acknowledged_when_it_lies_with_all_others(
    places: Iterator[str],
) -> None:
    """The disk is taken when the device of one respondent is told that its batch is stored."""
    place, people = next(places), 2 * MINIMUM + 1
    store = stored(place, people)
    device = f"Bearer {store.issue_token(Token('hub', 'device'))}"
    app = make_app(Settings(), store)
    with Inside(app) as collector:
        app.state.collector.writer.hold = 30
        for number in range(people, people + 3):
            answered = collector.ask(
                "POST",
                "/api/surveys/small/batches",
                line_of(store, number),
                authorization=device,
                content_type="application/x-ndjson",
            )
            assert answered.json == {"stored": 3, "repeated": 0}
            check(place, number + 1)
    store.shut()


def line_of(store: Store, number: int) -> bytes:
    """Return what a person sends, as a line of a batch."""
    survey = store.survey("small").survey
    bodies = [
        submission(
            survey,
            survey.questions[sent.question].design.symbols[sent.code],
            question=sent.question,
            key=disk.key(number).hex(),
        )
        for sent in disk.SENT
    ]
    responses = [body["responses"][0] for body in bodies]
    return json.dumps({**bodies[0], "responses": responses}).encode()


def test_a_survey_that_is_opened_again_tells_nobody(places: Iterator[str]) -> None:
    """One person comes when its end has been shown, or was not; it is stopped, and started and seen anew."""
    for shown, place in zip((False, True), places, strict=False):
        people = 2 * MINIMUM + 1
        store = stored(place, people)
        store.close("small")
        if shown:
            store.shown(1, 0)
        with suppress(NotAllowed):
            store.open("small")
            assert store.add([person(people)]) == ["stored"]
            people += 1
        store.shut()
        check(place, people)


@pytest.mark.parametrize("end", ["stopped", "closed", "seen"])
def test_what_is_left_at_the_end_tells_nobody(
    places: Iterator[str], end: str, tmp_path: Path
) -> None:
    """Stopped; closed; closed, and seen by an analyst: then all is shown. Each with a backup, compared with itself."""
    for people, place in zip(ENDS, places, strict=False):
        store = stored(place, people)
        if end != "stopped":
            store.close("small")
        if end == "seen":
            for question in range(3):
                store.shown(store.survey("small").id, question)
        backup = tmp_path / f"{people}.backup"
        store.backup(backup)
        store.shut()
        check(place, people)
        check(str(backup), people)


def test_no_moment_is_on_the_disk(places: Iterator[str], tmp_path: Path) -> None:
    """Seconds to nanoseconds, in bytes of either order, in doubles, in digits or in words: not even of a batch."""
    begin, place = time.time(), next(places)
    store = stored(place, 2 * MINIMUM + 1)
    store.issue_token(Token("ann", "analyst"))
    store.backup(tmp_path / "backup.db")
    store.shut()
    content = disk.all_bytes(place) + (tmp_path / "backup.db").read_bytes()
    assert disk.moments(content, begin, time.time()) == []


@pytest.mark.parametrize("form", ["ms", "ns", "double", "digits", "text"])
def test_a_moment_is_found(form: str) -> None:
    now = time.time()
    written = {
        "ms": int(now * 1e3).to_bytes(8, "big"),
        "ns": time.time_ns().to_bytes(16, "little"),
        "double": struct.pack("<d", now),
        "digits": str(int(now)).encode(),
        "text": time.strftime("%H:%M:%S", time.gmtime(now)).encode(),
    }
    content = bytes(1001) + written[form] + bytes(99)
    assert disk.moments(content, now, time.time() + 1e-3)

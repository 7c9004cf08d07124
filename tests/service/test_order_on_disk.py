"""The disk of a collector does not tell who came when: read from the bytes of its files.

Everybody takes part with an invitation and responds to three questions. An attacker lays the invitations and the
questions beside each other in the order in which their rows seem to have come. All tests together: a false alarm once
in 10^9 runs. What is caught among 40 people with probability 0.995: an attacker who joins seven of ten, and rows of
which 95 of 100 pairs lie as they came (`test_the_laws_behind_the_comparisons`).
"""

from __future__ import annotations

import asyncio
import math
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.collector.intake import SubmissionWriter
from deniable.collector.store import Batch, Store, Submission, open_store, packs
from deniable.collector.store.surveys import KnownSurvey
from tests.support import disk, postgres
from tests.support.surveys import small

FALSE_ALARM = 1e-9 / 100  # there are fewer comparisons
PAIRS: list[tuple[int | str, int | str]] = [(0, 1), (0, 2), (1, 2), (disk.USED, 0)]
_numbers = count(1)


class Survey:
    """A survey by invitation, in one kind of database, with so many people invited."""

    def __init__(self, place: str, people: int, **changes: Any) -> None:
        self.place = place
        store = open_store(place)
        store.create(small(admission="invitation", **changes))
        self.entry = store.open("small")
        self.codes = store.invite("small", people)
        self.truth = disk.truth(self.entry, self.codes)
        store.shut()

    @property
    def rows(self) -> list[disk.Row]:
        found = (
            disk.postgres_rows(self.place)
            if "://" in self.place
            else disk.sqlite_rows(Path(self.place))
        )
        assert {row[:2] for row in found} == set(self.truth), (
            "everything is there, and nothing else"
        )
        return found

    def copies(self, id_: bytes) -> int:
        """Return how often something lies anywhere in the files."""
        if "://" in self.place:
            return disk.postgres_files(self.place, "response", "pack").count(id_)
        return sum(
            each.read_bytes().count(id_)
            for each in Path(self.place).parent.glob("*.db*")
        )


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "collector.db")
    else:
        yield postgres.fresh_schema(
            request.getfixturevalue("postgres_server"), f"disk_{next(_numbers)}"
        )


def check(survey: Survey, *, settled: bool) -> None:
    """Look for an order in what is on the disk, and for people who can be told from those who came with them."""
    rows = survey.rows
    groups = disk.groups(rows)
    assert min(groups) >= disk.POOL, "somebody was stored alone, and it shows"
    assert not settled or len({row.written for row in rows}) == 1, (
        "it shows who was stored together"
    )
    for one, other in PAIRS:
        assert disk.joined(rows, one, other, survey.truth) < disk.by_luck(
            groups, FALSE_ALARM
        ), "people are joined"
    assert disk.tail(*disk.in_order(rows, survey.truth)) > FALSE_ALARM, (
        "rows lie in the order in which they came"
    )


@pytest.mark.parametrize("people", [40, 2000])
@pytest.mark.parametrize("end", ["stopped", "closed"])
def test_nothing_is_left_of_the_order_of_arrival(
    place: str, people: int, end: str
) -> None:
    survey = Survey(place, people)
    store = open_store(place)
    disk.respond(store, survey.codes)
    if end == "closed":
        store.close("small")
        check(survey, settled=True)  # while the collector runs
    store.shut()
    check(survey, settled=True)


@pytest.mark.parametrize("people", [40, 2000])
@pytest.mark.parametrize("settled", [False, True], ids=["at-once", "a-moment-later"])
def test_who_kills_a_collector_sees_pools_at_most(
    place: str, people: int, settled: bool, tmp_path: Path
) -> None:
    """What was acknowledged and not yet written anew lies in the log, pool by pool; a moment later it does not."""
    survey = Survey(place, people)
    codes = tmp_path / "codes"
    codes.write_text("\n".join(survey.codes))
    command = [sys.executable, "-m", "tests.support.disk", place, str(codes)]
    program = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    )
    assert program.stdout is not None
    for line in program.stdout:
        if line.strip() == ("settled" if settled else "stored"):
            break
    program.kill()
    program.wait()
    program.stdout.close()
    check(survey, settled=settled)


def test_a_running_collector_writes_anew_by_itself(place: str) -> None:
    """Also where few people come, each alone, and nobody closes the survey: it ends on its last day."""
    survey = Survey(place, disk.POOL, closes=date(2100, 1, 1))
    store = open_store(place)
    entry = store.survey("small")

    async def run() -> None:
        with SubmissionWriter(store, pool=1, hold=0) as writer:
            for number, code in enumerate(survey.codes):
                await writer.add(
                    Submission(
                        entry.id, disk.key(number), None, disk.SENT, None, code
                    )
                )
            for _ in range(3000):
                await asyncio.sleep(0.01 if store.rewrite_pause is not None else 0)
            check(survey, settled=True)

    asyncio.run(run())
    store.shut()


def test_a_collector_that_was_killed_is_put_right_when_it_starts(place: str) -> None:
    from deniable.collector.serve import _rewrite_all

    survey = Survey(place, 40)
    store = kept(place)
    disk.respond(store, survey.codes, pool=1)
    store.database.close()
    again = open_store(place)
    _rewrite_all(again)
    check(survey, settled=True)
    again.shut()


def test_an_order_that_is_kept_is_found(place: str) -> None:
    """Stored one by one and never written anew: everybody is joined, to the invitation too."""
    survey = Survey(place, 40)
    store = kept(place)
    disk.respond(store, survey.codes, pool=1)
    assert [disk.joined(survey.rows, *pair, survey.truth) for pair in PAIRS] == [
        40
    ] * len(PAIRS)
    for settled in (False, True):
        with pytest.raises(AssertionError, match="somebody was stored alone"):
            check(survey, settled=settled)
    store.database.close()


def test_pools_that_are_not_written_anew_are_found(place: str) -> None:
    survey = Survey(place, 2000)
    store = kept(place)
    disk.respond(store, survey.codes)
    with pytest.raises(AssertionError, match="who was stored together"):
        check(survey, settled=True)
    store.database.close()


def test_an_order_inside_pages_is_found(tmp_path: Path) -> None:
    """A file that was closed, without a log: until its pages are split, rows lie in them as they came."""
    survey = Survey(str(tmp_path / "collector.db"), 40)
    store = kept(survey.place)
    disk.respond(store, survey.codes, pool=1)
    store.database.close()
    assert [each.name for each in tmp_path.iterdir()] == ["collector.db"], (
        "there is no log"
    )
    assert disk.groups(survey.rows) == [40]
    with pytest.raises(AssertionError, match=r"the order in which they came|joined"):
        check(survey, settled=True)


class Batches:
    """A survey that is open to everybody, to which so many batches of a hundred people come."""

    def __init__(self, place: str, batches: int) -> None:
        self.place = place
        self.store = open_store(place)
        self.store.create(small())
        entry = self.store.open("small")
        self.truth: dict[tuple[int | str, bytes], int] = {}
        column = KnownSurvey.from_entry(entry).columns[0]
        for number in range(batches):
            keys = [disk.key(100 * number + at) for at in range(100)]
            self.truth |= {
                (0, column.id(key)): 100 * number + at for at, key in enumerate(keys)
            }
            rows = np.frombuffer(b"".join(keys), np.uint8).reshape(100, 16)
            self.store.add_batch(Batch(entry.id, 0, 0, rows, np.arange(100) % 2))

    def check(self, *, settled: bool) -> None:
        """Look for an order inside what is on the disk, and where all was written anew, for batches."""
        rows = (
            disk.postgres_rows(self.place)
            if "://" in self.place
            else disk.sqlite_rows(Path(self.place))
        )
        assert {row[:2] for row in rows} == set(self.truth), (
            "everything is there, and nothing else"
        )
        assert not settled or len({row.written for row in rows}) == 1, (
            "it shows which batch was stored when"
        )
        assert disk.tail(*disk.in_order(rows, self.truth)) > FALSE_ALARM, (
            "rows lie in the order in which they came"
        )
        # one order for all: neighbours are of one batch as often as chance has it
        if settled:
            lie = [
                self.truth[row[:2]] // 100
                for row in sorted(rows, key=lambda row: row[2:])
            ]
            pairs = list(zip(lie[::2], lie[1::2], strict=True))
            same = sum(one == other for one, other in pairs)
            share = 99 / (len(lie) - 1)
            law = [
                math.comb(len(pairs), k) * share**k * (1 - share) ** (len(pairs) - k)
                for k in range(len(pairs) + 1)
            ]
            assert sum(law[same:]) > FALSE_ALARM, "batches lie together"


def test_batches_leave_no_order_and_no_batch(place: str) -> None:
    """Ten batches: before everything is written anew, a batch shows as a pool does; in it, and afterwards, nothing."""
    batches = Batches(place, 10)
    batches.check(settled=False)
    with pytest.raises(AssertionError, match="which batch was stored when"):
        batches.check(settled=True)
    batches.store.close("small")
    batches.check(settled=True)
    batches.store.shut()
    batches.check(settled=True)


def test_batches_in_the_order_of_arrival_are_found(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planted fault: responses in packs as they came."""
    monkeypatch.setattr(packs, "order_of", lambda found: np.arange(len(found)))
    batches = Batches(place, 10)
    with pytest.raises(AssertionError, match="the order in which they came"):
        batches.check(settled=False)
    batches.store.database.close()


def test_runs_that_are_not_merged_are_found(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another: written anew batch by batch."""
    monkeypatch.setattr(packs, "merge_all", lambda *_: None)
    batches = Batches(place, 10)
    batches.store.close("small")
    with pytest.raises(
        AssertionError, match=r"batches lie together|the order in which they came"
    ):
        batches.check(settled=True)
    batches.store.database.close()


def kept(place: str) -> Store:
    """Open a store that writes nothing anew."""
    store = open_store(place)
    store._rewriter._work = lambda: True
    return store


def test_the_laws_behind_the_comparisons() -> None:
    assert disk.by_luck([40], 1e-9) == 12, "e^-1 / 12! < 10^-9 < e^-1 / 11!"
    assert disk.by_luck([20, 20], FALSE_ALARM) > disk.by_luck([40], FALSE_ALARM)
    assert disk.tail(20, 40) == 1
    assert disk.tail(0, 80) == 2 / 2**80
    caught = [hits for hits in range(81) if disk.tail(hits, 80) < FALSE_ALARM]
    assert sum(math.comb(80, k) * 0.95**k * 0.05 ** (80 - k) for k in caught) > 0.995
    caught = list(range(disk.by_luck([40], FALSE_ALARM), 41))
    assert sum(math.comb(40, k) * 0.7**k * 0.3 ** (40 - k) for k in caught) > 0.995


def test_what_is_withdrawn_is_gone_from_the_bytes_when_it_is_acknowledged(
    place: str,
) -> None:
    survey = Survey(place, 40)
    store = open_store(place)
    disk.respond(store, survey.codes)
    # in a file whose first half is empty, and in one whose second half is
    for number in range(4):
        mine = [
            id_
            for (column, id_), person in survey.truth.items()
            if person == number and column != disk.USED
        ]
        assert all(survey.copies(id_) for id_ in mine)
        assert store.withdraw(survey.entry.id, disk.key(number)).overwritten
        assert [survey.copies(id_) for id_ in mine] == [0, 0, 0], (
            "while the collector runs"
        )
    store.shut()

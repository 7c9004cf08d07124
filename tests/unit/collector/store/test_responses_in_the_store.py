"""Responses are stored once, counted as they are, raised in order, and can be taken back."""

from __future__ import annotations

import math
import os
import sqlite3
from itertools import count
from threading import Thread
from typing import Any

import numpy as np
import pytest

from deniable.chance import Source
from deniable.channel import Sets
from deniable.collector.store import (
    Batch,
    BatchOutcome,
    Entry,
    NotStored,
    Outcome,
    Sent,
    Store,
    Submission,
    open_store,
    packs,
)
from deniable.collector.store.base import StoredQuestion
from deniable.collector.store.published import LIVE
from deniable.collector.store.surveys import KnownSurvey
from deniable.designs import Design, direct, matrix
from deniable.errors import (
    DeniableError,
    InvalidRequest,
    InvalidResponse,
    NotAllowed,
    UnreadableFile,
)
from deniable.order.relaxation import ladder
from deniable.tallies import Tally, tally
from deniable.tallies.stages import StageTallies
from deniable.types.ladder.respond import respond as release_planned
from tests.support.surveys import question, small

SMOKES, COLOUR, APPS = range(3)
_keys = (number.to_bytes(16, "big") for number in count(1))


def submit(
    entry: Entry, *sent: Sent, key: bytes | None = None, group: int | None = None
) -> Submission:
    return Submission(entry.id, next(_keys) if key is None else key, group, sent)


def stages(entry: Entry, answer: str, source: Source) -> list[Sent]:
    """A respondent's responses at all stages of the gradual question."""
    ladder = entry.survey.questions[COLOUR].ladder
    assert ladder is not None
    released = release_planned(ladder, answer, source=source)
    return [
        Sent(COLOUR, stage, design.symbol_number(response.symbol))
        for stage, (design, response) in enumerate(
            zip(ladder, released, strict=True)
        )
    ]


def reason(outcome: Outcome) -> str:
    assert isinstance(outcome, NotStored)
    return outcome.reason


def counted(
    store: Store, entry: Entry, question: int, group: int | None = None
) -> Tally:
    found = store.tallies(entry.id, question, group)
    assert isinstance(found, Tally)
    return found


def set_sizes(store: Store, entry: Entry, question: int) -> list[int]:
    """Return how many stored responses held 0, 1, 2 … categories."""
    column = KnownSurvey.from_entry(entry).columns[question]
    with store.transaction(write=False) as tables:
        stored = column.read(tables, LIVE, None)
    return column.set_sizes(stored)[0].tolist()


def staged(store: Store, entry: Entry) -> StageTallies:
    found = store.tallies(entry.id, COLOUR)
    assert isinstance(found, StageTallies)
    return found


def test_what_is_sent_is_stored_and_counted(store: Store, entry: Entry) -> None:
    key = os.urandom(16)
    sent = (Sent(SMOKES, 0, 1), Sent(COLOUR, 0, 2), Sent(APPS, 0, 0b101))
    assert store.add([submit(entry, *sent, key=key)]) == ["stored"]
    assert store.stored(entry.id, key) == sent
    assert counted(store, entry, SMOKES).counts.tolist() == [0, 1]
    assert np.flatnonzero(counted(store, entry, APPS).counts).tolist() == [0b101]
    assert staged(store, entry).finest[0].counts.tolist() == [0, 0, 1]
    assert set_sizes(store, entry, APPS) == [0, 0, 1] + [0] * 10
    assert set_sizes(store, entry, SMOKES) == []
    assert [number for _, number in store.days(entry.id, SMOKES)] == [1]


def test_the_same_again_counts_once(store: Store, entry: Entry) -> None:
    one = submit(entry, Sent(SMOKES, 0, 1))
    assert store.add([one, one]) == ["stored", "repeated"]
    assert store.add([one]) == ["repeated"]
    assert counted(store, entry, SMOKES).respondents == 1
    assert store.add(
        [submit(entry, Sent(SMOKES, 0, 1), Sent(APPS, 0, 1), key=one.key)]
    ) == ["stored"]
    assert (
        counted(store, entry, SMOKES).respondents
        == counted(store, entry, APPS).respondents
        == 1
    )


def test_another_response_under_the_same_key_is_refused(
    store: Store, entry: Entry
) -> None:
    one = submit(entry, Sent(SMOKES, 0, 1))
    other = submit(entry, Sent(APPS, 0, 1), Sent(SMOKES, 0, 0), key=one.key)
    assert "same one again" in reason(store.add([one, other])[1])
    assert "same one again" in reason(store.add([other])[0])
    assert store.stored(entry.id, one.key) == (Sent(SMOKES, 0, 1),), (
        "nothing of a refused submission is stored"
    )


@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        (Sent(SMOKES, 0, 2), InvalidResponse),
        (Sent(SMOKES, 0, -1), InvalidResponse),
        (Sent(APPS, 0, 1 << 12), InvalidResponse),
        (Sent(SMOKES, 1, 0), InvalidRequest),
        (Sent(SMOKES, -1, 0), InvalidRequest),
        (Sent(3, 0, 0), InvalidRequest),
        (Sent(-1, 0, 0), InvalidRequest),
        (Sent(COLOUR, 1, 0), InvalidResponse),
    ],
)
def test_what_no_design_sends_is_refused(
    store: Store, entry: Entry, sent: Sent, kind: type[DeniableError]
) -> None:
    good = submit(entry, Sent(SMOKES, 0, 0))
    outcomes = store.add([submit(entry, sent), good])
    assert isinstance(outcomes[0], NotStored)
    assert isinstance(outcomes[0].error, kind)
    assert outcomes[1] == "stored", "others in the same transaction are not touched"
    assert counted(store, entry, SMOKES).respondents == 1


def test_submissions_that_belong_nowhere_are_refused(
    store: Store, entry: Entry
) -> None:
    sent = (Sent(SMOKES, 0, 0),)
    for wrong, words in [
        (Submission(entry.id + 1, bytes(16), None, sent), "no such survey"),
        (Submission(entry.id, bytes(15), None, sent), "16 bytes"),
        (Submission(entry.id, bytes(16), None, ()), "a response or more"),
        (Submission(entry.id, bytes(16), 2, sent), "no group 2"),
    ]:
        assert words in reason(store.add([wrong])[0])
    assert counted(store, entry, SMOKES).respondents == 0


def test_groups_are_counted_apart_and_together(store: Store, entry: Entry) -> None:
    store.add(
        [
            submit(entry, Sent(SMOKES, 0, code), group=group)
            for code, group in [(0, 0), (1, 0), (1, 1), (1, None)]
        ]
    )
    assert counted(store, entry, SMOKES).counts.tolist() == [1, 3]
    assert counted(store, entry, SMOKES, 0).counts.tolist() == [1, 1]
    assert counted(store, entry, SMOKES, 1).counts.tolist() == [0, 1]


def test_stages_are_raised_in_order_and_everybody_counts_once(
    store: Store, entry: Entry, seeded: Source
) -> None:
    people = [stages(entry, "red", seeded) for _ in range(20)]
    keys = [next(_keys) for _ in people]
    for reached, (key, sent) in enumerate(zip(keys, people, strict=True)):
        for stage in sent[: 1 + reached % 3]:
            assert store.add([submit(entry, stage, key=key, group=0)]) == ["stored"]
    expected = StageTallies.empty(entry.survey.questions[COLOUR].ladder)  # type: ignore[arg-type]
    for reached, sent in enumerate(people):
        codes = [
            (entry.survey.questions[COLOUR].designs[each.stage], each.code)
            for each in sent[: 1 + reached % 3]
        ]
        expected += _alone(expected, codes)
    found = staged(store, entry)
    assert (found.seen, found.finest) == (expected.seen, expected.finest)
    assert found.respondents == 20


def _alone(empty: StageTallies, codes: list[tuple[Design, int]]) -> StageTallies:
    """The counts of one respondent."""
    nobody = [Tally.empty(design) for design in empty.design]
    seen = [tally(design, [code], codes=True) for design, code in codes]
    rest = nobody[len(seen) :]
    finest = [*nobody[: len(seen) - 1], seen[-1], *rest]
    return StageTallies(empty.design, (*seen, *rest), tuple(finest))


def test_all_stages_may_come_at_once_and_again(
    store: Store, entry: Entry, seeded: Source
) -> None:
    sent = stages(entry, "blue", seeded)
    one = submit(entry, *sent)
    assert store.add([one]) == ["stored"]
    assert store.add([submit(entry, sent[0], key=one.key)]) == ["repeated"]
    assert store.add([one]) == ["repeated"]
    assert [each.respondents for each in staged(store, entry).finest] == [0, 0, 1]


def test_a_stage_must_not_be_left_out_or_contradict_the_one_before(
    store: Store, entry: Entry, seeded: Source
) -> None:
    sent = stages(entry, "green", seeded)
    assert "expected all in order" in reason(
        store.add([submit(entry, sent[0], sent[2])])[0]
    )
    one = submit(entry, *sent[:2])
    store.add([one])
    other = Sent(COLOUR, 1, (sent[1].code + 1) % 3)
    assert "same one again" in reason(
        store.add([submit(entry, other, key=one.key)])[0]
    )
    assert staged(store, entry).respondents == 1


def test_a_response_that_cannot_follow_the_one_before_is_refused(
    store: Store,
) -> None:
    """Here the coarser design says "yes" only for a true yes, so that nobody goes from "yes" to "no"."""
    lopsided = matrix([["1", "1/2"], ["0", "1/2"]], categories=["no", "yes"])
    stages = ladder([lopsided, direct(["no", "yes"])])
    store.create(
        small(
            questions=(question("smokes", stages, acknowledge=math.inf),),
            acknowledge=math.inf,
        )
    )
    entry = store.open("small")
    one = submit(entry, Sent(0, 0, 1))
    store.add([one])
    assert "cannot follow" in reason(
        store.add([submit(entry, Sent(0, 1, 0), key=one.key)])[0]
    )
    assert store.add([submit(entry, Sent(0, 1, 1), key=one.key)]) == ["stored"]


def test_withdrawal_erases_and_uncounts(
    store: Store, entry: Entry, seeded: Source
) -> None:
    before = submit(
        entry,
        Sent(SMOKES, 0, 0),
        *stages(entry, "red", seeded)[:2],
        Sent(APPS, 0, 3),
        group=1,
    )
    gone = submit(
        entry,
        Sent(SMOKES, 0, 1),
        *stages(entry, "red", seeded),
        Sent(APPS, 0, 7),
        group=1,
    )
    store.add([before])
    kept = [
        counted(store, entry, SMOKES),
        staged(store, entry).seen,
        staged(store, entry).finest,
    ]
    kept += [counted(store, entry, APPS), set_sizes(store, entry, APPS)]
    store.add([gone])
    assert store.withdraw(entry.id, gone.key) == (5, True)
    assert store.stored(entry.id, gone.key) == ()
    now = [
        counted(store, entry, SMOKES),
        staged(store, entry).seen,
        staged(store, entry).finest,
    ]
    now += [counted(store, entry, APPS), set_sizes(store, entry, APPS)]
    assert now == kept
    assert store.withdraw(entry.id, gone.key) == (0, True)
    assert store.withdraw(entry.id, bytes(16)) == (0, True)
    assert store.stored(entry.id, before.key)
    store.close("small")
    assert store.withdraw(entry.id, before.key) == (4, True), (
        "a closed survey can be withdrawn from"
    )


def batch(entry: Entry, question: int, codes: list[Any], **others: Any) -> Batch:
    keys = np.frombuffer(b"".join(next(_keys) for _ in codes), np.uint8).reshape(
        -1, 16
    )
    design = entry.survey.questions[question].designs[others.get("stage", 0)]
    array = np.array(codes)
    if isinstance(design.channel, Sets):
        array = np.frombuffer(
            b"".join(code.to_bytes(2, "little") for code in codes), np.uint8
        ).reshape(-1, 2)
    return Batch(
        entry.id,
        question,
        others.get("stage", 0),
        others.get("keys", keys),
        array,
        others.get("group"),
    )


def test_batches_store_the_same_as_single_submissions(
    store: Store, entry: Entry
) -> None:
    sent = [
        batch(entry, SMOKES, [0, 1, 1, 0, 1], group=0),
        batch(entry, APPS, [1, 3, 0xFFF, 0]),
    ]
    assert store.add_batch(*sent) == BatchOutcome(9, 0)
    assert counted(store, entry, SMOKES, 0).counts.tolist() == [2, 3]
    assert counted(store, entry, APPS).respondents == 4
    assert store.stored(entry.id, sent[0].keys[1].tobytes()) == (Sent(SMOKES, 0, 1),)
    assert store.stored(entry.id, sent[1].keys[2].tobytes()) == (
        Sent(APPS, 0, 0xFFF),
    )
    assert set_sizes(store, entry, APPS) == [1, 1, 1] + [0] * 9 + [1]
    nobody = Batch(
        entry.id, SMOKES, 0, np.zeros((0, 16), np.uint8), np.zeros(0, np.int64)
    )
    assert store.add_batch() == store.add_batch(nobody) == BatchOutcome(0, 0)


def test_repeated_batches_count_once(store: Store, entry: Entry) -> None:
    first = batch(entry, SMOKES, [0, 1, 1])
    assert store.add_batch(first) == BatchOutcome(3, 0)
    assert store.add_batch(first) == BatchOutcome(0, 3)
    more = np.vstack([first.keys, batch(entry, SMOKES, [0, 0]).keys])
    assert store.add_batch(
        batch(entry, SMOKES, [0, 1, 1, 0, 0], keys=more)
    ) == BatchOutcome(2, 3)
    twice = np.vstack([more[:1], more[:1]])
    assert store.add_batch(batch(entry, APPS, [1, 1], keys=twice)) == BatchOutcome(
        1, 1
    )
    assert counted(store, entry, SMOKES).counts.tolist() == [3, 2]


def test_a_batch_with_one_wrong_row_changes_nothing(
    store: Store, entry: Entry
) -> None:
    first = batch(entry, SMOKES, [0, 1, 1])
    store.add_batch(first)
    good = batch(entry, SMOKES, [1, 1])
    wrong = np.vstack([batch(entry, SMOKES, [0]).keys, first.keys[1:2]])
    with pytest.raises(InvalidResponse, match="row 2: another response"):
        store.add_batch(good, batch(entry, SMOKES, [0, 0], keys=wrong))
    with pytest.raises(InvalidResponse, match="row 2 is no response"):
        store.add_batch(good, batch(entry, SMOKES, [0, 7]))
    with pytest.raises(InvalidResponse, match="row 1 is no response"):
        store.add_batch(good, batch(entry, APPS, [0xF000]))
    for bad in (
        batch(entry, SMOKES, [0, 1], keys=good.keys[:1]),
        batch(entry, SMOKES, [0, 1], keys=good.keys[:, :8]),
        batch(entry, SMOKES, [0, 1], group=5),
        Batch(entry.id, 9, 0, good.keys, good.codes),
        Batch(entry.id, SMOKES, 3, good.keys, good.codes),
        Batch(entry.id + 9, SMOKES, 0, good.keys, good.codes),
        Batch(entry.id, SMOKES, 0, good.keys, np.array([0.5, 1.0])),
    ):
        with pytest.raises((InvalidRequest, InvalidResponse)):
            store.add_batch(good, bad)
    assert counted(store, entry, SMOKES).counts.tolist() == [1, 2]


def test_batches_raise_stages(store: Store, entry: Entry, seeded: Source) -> None:
    people = [stages(entry, "red", seeded) for _ in range(30)]
    coarse = batch(entry, COLOUR, [sent[0].code for sent in people], group=1)
    store.add_batch(coarse)
    fine = batch(
        entry, COLOUR, [sent[1].code for sent in people], stage=1, keys=coarse.keys
    )
    assert store.add_batch(fine) == BatchOutcome(30, 0)
    assert store.add_batch(fine) == BatchOutcome(0, 30)
    assert [each.respondents for each in staged(store, entry).finest] == [0, 30, 0]
    assert store.tallies(entry.id, COLOUR, 1).respondents == 30
    with pytest.raises(
        InvalidResponse, match="row 1: stage 3 of 'colour' came before stage 1"
    ):
        store.add_batch(batch(entry, COLOUR, [0], stage=2))


def test_batches_need_an_open_survey_without_invitations(store: Store) -> None:
    store.create(small(admission="invitation"))
    entry = store.survey("small")
    with pytest.raises(NotAllowed, match="not been opened yet"):
        store.add_batch(batch(entry, SMOKES, [0]))
    store.open("small")
    with pytest.raises(NotAllowed, match="by invitation"):
        store.add_batch(batch(entry, SMOKES, [0]))


def test_exports_hold_responses_and_name_only_groups_that_may_be_named(
    store: Store, entry: Entry, seeded: Source
) -> None:
    people = [
        submit(entry, *stages(entry, "red", seeded)[:2], group=number % 2)
        for number in range(40)
    ]
    store.add(people)
    rows = [
        row
        for piece in store.export(entry.id, COLOUR, groups=[1])
        for row in piece.to_pylist()
    ]
    assert {key for row in rows for key in row} == {
        "design",
        "stage",
        "group",
        "symbol",
    }
    assert len(rows) == 80
    assert {row["group"] for row in rows} == {None, "south"}
    ladder = entry.survey.questions[COLOUR].ladder
    assert ladder is not None
    for stage, seen in enumerate(staged(store, entry).seen):
        sent = [
            row["symbol"]
            for row in rows
            if row["design"] == ladder.designs[stage].hash
        ]
        assert tally(ladder.designs[stage], sent) == seen
    assert all(
        piece.column("group").null_count == len(piece)
        for piece in store.export(entry.id, COLOUR)
    )


def test_two_programs_write_at_the_same_time(
    store: Store, entry: Entry, where: str
) -> None:
    other = open_store(where)
    shared = [submit(entry, Sent(SMOKES, 0, number % 2)) for number in range(60)]
    found: dict[int, list[Outcome]] = {}

    def write(number: int, mine: Store) -> None:
        found[number] = [
            outcome
            for each in shared
            for outcome in mine.add([each, submit(entry, Sent(APPS, 0, 1))])
        ]

    threads = [Thread(target=write, args=pair) for pair in enumerate((store, other))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    both = found[0][::2] + found[1][::2]
    assert (both.count("stored"), both.count("repeated")) == (60, 60)
    assert counted(store, entry, SMOKES).counts.tolist() == [30, 30]
    assert counted(other, entry, APPS).respondents == 120
    other.shut()


def test_backups_carry_everything_from_one_kind_of_database_to_another(
    store: Store, entry: Entry, tmp_path: Any
) -> None:
    one = submit(entry, Sent(SMOKES, 0, 1), Sent(APPS, 0, 5), group=0)
    store.add([one])
    secret = store.secret("receipts")
    copy = tmp_path / "copy.db"
    store.backup(copy)
    store.withdraw(entry.id, one.key)
    with pytest.raises(InvalidRequest, match="exists already"):
        store.backup(copy)
    with pytest.raises(InvalidRequest, match="expected an empty one"):
        store.restore(copy)
    again = open_store(tmp_path / "again.db")
    again.restore(copy)
    assert again.surveys() == [entry]
    assert again.stored(entry.id, one.key) == one.responses
    assert counted(again, entry, SMOKES, 0).respondents == 1
    assert again.secret("receipts") == secret
    assert again.add([one]) == ["repeated"]
    with again.transaction() as tables:
        runs = [
            run
            for question in (SMOKES, APPS)
            for run in packs.runs(tables, StoredQuestion(entry.id, question))
        ]
        assert [run.responses for run in runs] == [1, 1]
        assert tables.rows("SELECT count(*) FROM response") == [(0,)]
    again.shut()


def test_a_backup_goes_back_into_an_empty_database(
    store: Store, tmp_path: Any
) -> None:
    source = open_store(tmp_path / "source.db")
    source.create(small())
    entry = source.open("small")
    source.add([submit(entry, Sent(SMOKES, 0, 1))])
    source.backup(tmp_path / "copy.db")
    source.shut()
    store.restore(tmp_path / "copy.db")
    assert counted(store, entry, SMOKES).respondents == 1


def test_a_backup_of_another_version_is_refused(store: Store, tmp_path: Any) -> None:
    source = open_store(tmp_path / "source.db")
    source.backup(tmp_path / "copy.db")
    source.shut()
    with sqlite3.connect(tmp_path / "copy.db") as connection:
        connection.execute(
            "INSERT INTO migration VALUES ('collector', 'from the future')"
        )
    connection.close()
    with pytest.raises(UnreadableFile, match="later version"):
        store.restore(tmp_path / "copy.db")
    store.check()


def test_what_is_no_backup_is_refused_and_changes_nothing(
    store: Store, tmp_path: Any
) -> None:
    (tmp_path / "text.db").write_text(
        "no database at all, only text that is longer than a header " * 10
    )
    for name in ("missing.db", "text.db"):
        with pytest.raises(UnreadableFile, match="backup"):
            store.restore(tmp_path / name)
    assert store.surveys() == []

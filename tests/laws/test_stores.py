"""Whatever is sent, sent again, raised, withdrawn, alone or in batches: the counts are those of what is there."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.collector.store import (
    Batch,
    Entry,
    NotStored,
    Sent,
    Store,
    Submission,
    open_store,
)
from deniable.errors import DeniableError
from deniable.tallies import tally
from deniable.tallies.stages import StageTallies
from tests.support.surveys import small


class Step(NamedTuple):
    kind: str  # "add", "batch" or "withdraw"
    keys: list[int]
    sent: list[Sent]
    group: int | None


CODES = st.one_of(
    st.builds(Sent, st.just(0), st.just(0), st.integers(0, 1)),
    st.builds(Sent, st.just(1), st.integers(0, 2), st.integers(0, 2)),
    st.builds(Sent, st.just(2), st.just(0), st.integers(0, 4095)),
)
STEPS = st.lists(
    st.builds(
        Step,
        st.sampled_from(["add", "add", "batch", "withdraw"]),
        st.lists(st.integers(0, 3), min_size=1, max_size=3),
        st.lists(CODES, min_size=1, max_size=4),
        st.sampled_from([None, 0, 1]),
    ),
    max_size=12,
)


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@settings(max_examples=30)
@given(steps=STEPS)
def test_counts_are_those_of_the_rows(place: Path, steps: list[Step]) -> None:
    for old in place.iterdir():
        old.unlink()
    store = open_store(place / "store.db")
    store.create(small())
    entry = store.open("small")
    for step in steps:
        keys = [bytes([key] * 16) for key in step.keys]
        before = {key: store.stored(entry.id, key) for key in keys}
        refused = apply(store, entry, step, keys)
        if refused:
            assert {key: store.stored(entry.id, key) for key in keys} == before, (
                "refused, and changed nothing"
            )
        compare(store, entry)
    store.shut()


def apply(store: Store, entry: Entry, step: Step, keys: list[bytes]) -> bool:
    """Do one step; say whether it was refused."""
    if step.kind == "withdraw":
        assert store.withdraw(entry.id, keys[0]).responses >= 0
        assert store.stored(entry.id, keys[0]) == ()
        return False
    if step.kind == "add":
        outcome = store.add(
            [Submission(entry.id, keys[0], step.group, tuple(step.sent))]
        )[0]
        if outcome == "stored":
            assert set(step.sent) <= set(store.stored(entry.id, keys[0]))
        return isinstance(outcome, NotStored)
    question, stage, code = step.sent[0]
    codes = np.full(len(keys), code)
    if question == 2:
        codes = np.frombuffer(
            code.to_bytes(2, "little") * len(keys), np.uint8
        ).reshape(-1, 2)
    rows = np.frombuffer(b"".join(keys), np.uint8).reshape(-1, 16)
    try:
        stored, repeated = store.add_batch(
            Batch(entry.id, question, stage, rows, codes, step.group)
        )
    except DeniableError:
        return True
    assert stored + repeated == len(keys)
    return False


def compare(store: Store, entry: Entry) -> None:
    """Count the rows anew."""
    for number, question in enumerate(entry.survey.questions):
        found = store.tallies(entry.id, number)
        parts = [store.tallies(entry.id, number, group) for group in (-1, 0, 1)]
        assert sum(part.respondents for part in parts) == found.respondents
        rows = [
            row
            for piece in store.export(entry.id, number)
            for row in piece.to_pylist()
        ]
        sent = [
            [row["symbol"] for row in rows if row["stage"] == at]
            for at in range(question.stages)
        ]
        seen = tuple(
            tally(design, symbols)
            for design, symbols in zip(question.designs, sent, strict=True)
        )
        assert (found.seen if isinstance(found, StageTallies) else (found,)) == seen
        assert found.respondents == len(sent[0]), "everybody counts once"

from __future__ import annotations

from collections import Counter
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.collector import exports, results
from deniable.collector.store import Batch, open_store
from deniable.collector.store.published import large_enough
from deniable.errors import NotAllowed
from tests.support import filled
from tests.support.surveys import small


@given(
    st.lists(st.integers(0, 60), max_size=8), st.integers(0, 60), st.integers(1, 30)
)
def test_neither_a_group_nor_what_is_left_is_ever_small(
    sizes: list[int], others: int, minimum: int
) -> None:
    total = sum(sizes) + others
    kept = large_enough(sizes, total, minimum)
    assert all(sizes[number] >= minimum for number in kept)
    left = total - sum(sizes[number] for number in kept)
    assert left == 0 or left >= minimum or not kept


@given(st.lists(st.integers(20, 60), min_size=1, max_size=8))
def test_where_all_groups_are_large_all_are_shown(sizes: list[int]) -> None:
    assert large_enough(sizes, sum(sizes), 20) == tuple(range(len(sizes)))


def test_a_single_small_group_takes_the_next_one_with_it() -> None:
    assert large_enough([100, 40, 5], 145, 20) == (0,)
    # 20 people are in no group: what is left is 25
    assert large_enough([100, 40, 5], 165, 20) == (0, 1)


def test_counts_of_few_are_refused(tmp_path: Path) -> None:
    store = open_store(tmp_path / "c.db")
    entry = filled.opened(store, small(minimum=20))
    with pytest.raises(
        NotAllowed, match="too few responses to 'smokes'; expected at least 40"
    ):
        store.shown(entry.id, 0).counts()
    filled.ask(store, entry, 0, [0, 1] * 25, group=0)
    filled.ask(store, entry, 0, [0, 1] * 15, group=1)
    assert store.shown(entry.id, 0).counts().tally.respondents == 30, (
        "without the last step, and the south"
    )
    assert store.shown(entry.id, 0).large_groups == (0,)
    with pytest.raises(NotAllowed, match="the group 'south' is not shown"):
        store.shown(entry.id, 0).counts(1)
    filled.ask(store, entry, 0, [0, 1] * 10, group=1)
    assert store.shown(entry.id, 0).large_groups == (0, 1)
    assert store.shown(entry.id, 0).counts(1).tally.respondents == 30
    assert store.shown(entry.id, 0).counts().tally.respondents == 60
    filled.ask(store, entry, 0, [0, 1] * 5, group=1)
    assert [
        each.respondents for each in results.groups(store.shown(entry.id, 0))
    ] == [
        30,
        30,
    ], "ten make no step"
    store.close("small")
    assert [
        each.respondents for each in results.groups(store.shown(entry.id, 0))
    ] == [
        50,
        60,
    ], "all, at the end"
    store.shut()


def test_after_the_end_the_minimum_is_enough_and_fewer_are_not(
    tmp_path: Path,
) -> None:
    store = open_store(tmp_path / "c.db")
    entry = filled.opened(store, small(minimum=20, groups=()))
    filled.ask(store, entry, 0, [0, 1] * 10)
    filled.ask(store, entry, 1, [0] * 19)
    with pytest.raises(NotAllowed, match="expected at least 40"):
        store.shown(entry.id, 0).counts()
    entry = store.close("small")
    assert store.shown(entry.id, 0).counts().tally.respondents == 20
    with pytest.raises(
        NotAllowed, match="too few responses to 'colour'; expected at least 20"
    ):
        store.shown(entry.id, 1).counts()
    store.shut()


def test_what_withdrawals_leave_is_refused_when_it_is_few(tmp_path: Path) -> None:
    store = open_store(tmp_path / "c.db")
    entry = filled.opened(store, small(minimum=20, groups=()))
    keys = np.repeat(np.arange(40, dtype=np.uint8)[:, None], 16, axis=1)
    for part in (keys[:20], keys[20:]):
        store.add_batch(Batch(entry.id, 0, 0, part, np.zeros(20, np.uint8)))
    assert store.shown(entry.id, 0).counts().tally.respondents == 20
    for key in keys[:35]:
        store.withdraw(entry.id, key.tobytes())
    entry = store.close("small")
    with pytest.raises(
        NotAllowed, match="too few responses to 'smokes'; expected at least 20"
    ):
        store.shown(entry.id, 0).counts()
    store.shut()


def test_responses_of_few_are_not_handed_over_to_whoever_runs_the_collector(
    tmp_path: Path,
) -> None:
    store = open_store(tmp_path / "c.db")
    entry = filled.opened(store, small(minimum=20, groups=()))
    filled.ask(store, entry, 0, [0] * 19)
    with pytest.raises(NotAllowed, match="too few responses to 'smokes'"):
        exports.write(store, entry, 0, "csv", BytesIO())
    filled.ask(store, entry, 0, [0])
    exports.write(store, entry, 0, "csv", file := BytesIO())
    assert len(file.getvalue().splitlines()) == 21
    store.shut()


@pytest.mark.parametrize("others", [0, 5, 19, 20])
def test_exports_name_groups_only_where_what_is_left_is_large_too(
    tmp_path: Path, others: int
) -> None:
    """Also where those who are left have no group at all."""
    store = open_store(tmp_path / "c.db")
    entry = filled.opened(store, small(minimum=20, groups=("north", "south")))
    for count, group in ((60, 0), (30, 1), (others, None)):
        filled.ask(store, entry, 0, [1] * count, group=group)
    exports.write(store, entry, 0, "parquet", file := BytesIO())
    named = Counter(pq.read_table(file)["group"].to_pylist())
    assert sum(named.values()) == 90 + others
    assert named[None] == 0 or named[None] >= 20
    assert named["south"] == (30 if others in (0, 20) else 0)
    store.shut()


def test_exports_count_stages_from_one_as_codebooks_do(tmp_path: Path) -> None:
    store = open_store(tmp_path / "c.db")
    entry = filled.opened(store, small(minimum=20, groups=()))
    # the second stage comes from 60 of them, the third from 20
    filled.ask(store, entry, 1, [0] * 180)
    exports.write(store, entry, 1, "parquet", file := BytesIO())
    found = pq.read_table(file)
    designs = dict(
        enumerate((design.hash for design in entry.survey.questions[1].designs), 1)
    )
    assert Counter(found["stage"].to_pylist()) == {1: 180, 2: 60, 3: 20}
    assert all(designs[row["stage"]] == row["design"] for row in found.to_pylist())
    store.shut()


def test_one_response_is_too_few_whatever_the_survey_says(tmp_path: Path) -> None:
    store = open_store(tmp_path / "c.db")
    entry = filled.opened(store, small(minimum=1, groups=()))
    filled.ask(store, entry, 0, [0])
    with pytest.raises(NotAllowed, match="expected at least 2"):
        store.shown(entry.id, 0).counts()
    store.shut()

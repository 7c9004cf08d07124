from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import numpy as np
import pytest

from deniable.collector import results
from deniable.collector.store import Entry, Store, open_store
from deniable.estimates import estimate
from deniable.estimates.stages import combine
from deniable.tallies import Tally
from deniable.tallies.stages import StageTallies
from tests.support import filled
from tests.support.respondents import ARMS
from tests.support.surveys import question, small


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    made = open_store(tmp_path_factory.mktemp("results") / "c.db")
    filled.fill(made, filled.opened(made, filled.example()), {0: 900, 1: 600})
    filled.fill(made, filled.opened(made, small()), {0: 200, 1: 10, None: 15})
    for name in ("working-life", "small"):
        made.close(name)
    yield made
    made.shut()


def test_results_are_those_of_the_estimate(store: Store) -> None:
    entry = store.survey("working-life")
    found = results.read(store.shown(entry.id, 0))
    counts = store.tallies(entry.id, 0)
    assert isinstance(counts, Tally)
    told = estimate(counts).summary()
    assert [each.row for each in found.shares] == list(told.rows)
    assert [each.label for each in found.shares] == [
        "None",
        "1 to 5 hours",
        "6 to 10 hours",
        "More than 10 hours",
    ]
    assert (found.respondents, found.method, found.epsilon, found.stages) == (
        1500,
        "inversion",
        told.epsilon,
        (),
    )
    assert found.sentence.startswith("About 6")
    assert "answer “None”: between" in found.sentence
    assert found.notes[0].startswith(
        "The cost of privacy: 1,500 responses are worth about"
    )
    assert found.protection[0].startswith("Whatever is sent, the odds")
    assert len(found.device) == 4
    assert found.signals == ()
    for each in found.shares:
        assert len(each.fakes) == len(results.FAKES)
        assert all(ends.low <= each.row.estimate <= ends.high for ends in each.fakes)


def test_of_no_and_yes_the_sentence_tells_yes(store: Store) -> None:
    assert (
        "“Yes”"
        in results.read(store.shown(store.survey("working-life").id, 1)).sentence
    )


def test_live_intervals_are_always_valid_and_those_of_one_look_at_the_end(
    tmp_path: Path,
) -> None:
    """They are tuned by the definition of the survey, never by how many have responded."""
    store = open_store(tmp_path / "c.db")
    for planned in (None, 400):
        survey = small(
            name=f"small-{planned or 'unplanned'}",
            minimum=20,
            groups=("north", "south"),
            planned=planned,
        )
        entry = filled.opened(store, survey)
        filled.ask(store, entry, 0, [1] * 400, group=0)
        filled.ask(store, entry, 0, [0] * 400, group=1)
        filled.ask(store, entry, 0, [0] * 60)
        shown = store.shown(entry.id, 0)
        live, groups = results.read(shown), results.groups(shown)
        seen = estimate(shown.everybody.tally)
        options = {"always": True, "planned": planned or 10_000}
        expected = seen.summary(**options)
        assert [each.row for each in live.shares] == list(expected.rows)
        assert [each.shares[1].row for each in groups] == [
            estimate(counts.tally).summary(**options).rows[1]
            for counts in shown.groups.values()
        ]
        assert "however often one looks" in live.looks
        assert "So they are wider" in live.looks
        assert f"tightest at {planned or 10_000:,} responses" in live.looks
        assert live.looks.endswith("shown when the survey is closed.")
        assert all("always-valid" not in note for note in live.notes)
        told = results.compared(shown)
        assert told
        assert not any("p = " in sentence for sentence in told)
        store.close(survey.name)
        ended = store.shown(store.survey(survey.name).id, 0)
        final = results.read(ended)
        fixed = estimate(ended.everybody.tally).summary()
        assert [each.row for each in final.shares] == list(fixed.rows)
        assert (final.looks, final.shell_options) == ("", "")
        assert "p = " in results.compared(ended)[0]
    store.shut()


def test_stages_are_combined(store: Store) -> None:
    entry = store.survey("working-life")
    found = results.read(store.shown(entry.id, 2))
    counts = store.tallies(entry.id, 2)
    assert isinstance(counts, StageTallies)
    combined = combine(counts)
    assert [each.row.estimate for each in found.shares] == combined.value.tolist()
    assert [(each.seen, each.finest) for each in found.stages] == [
        (1500, 1000),
        (500, 334),
        (166, 166),
    ]
    assert [each.weight for each in found.stages] == list(combined.evidence.weights)
    assert found.epsilon == pytest.approx(2)
    assert found.protection[-1].startswith(
        "All stages together reveal what the finest one reveals"
    )


def test_groups_are_told_only_where_they_may_be(store: Store) -> None:
    told = results.groups(store.shown(store.survey("working-life").id, 0))
    assert [(each.name, each.respondents) for each in told] == [
        ("office", 900),
        ("field", 600),
    ]
    assert [
        each.name
        for each in results.groups(store.shown(store.survey("small").id, 0))
    ] == ["north"]


def test_groups_that_are_shown_are_compared_and_no_others(tmp_path: Path) -> None:
    store = open_store(tmp_path / "c.db")
    entry = filled.opened(
        store, small(minimum=20, groups=("north", "south", "west"))
    )
    filled.ask(store, entry, 0, [1] * 400, group=0)
    filled.ask(store, entry, 0, [0] * 400, group=1)
    filled.ask(store, entry, 0, [1] * 5, group=2)  # too few to be shown
    filled.ask(store, entry, 0, [1] * 25)
    store.close("small")
    entry = store.survey("small")
    assert [each.name for each in results.groups(store.shown(entry.id, 0))] == [
        "north",
        "south",
    ]
    told = results.compared(store.shown(entry.id, 0))
    assert told[0].startswith("Test that all groups are alike: χ² = ")
    assert [each.partition(",")[0] for each in told[1:]] == ["north", "south"]
    share = "points against the other groups"
    for text, sign in zip(told[1:], (1, -1), strict=True):
        numbers = re.findall(
            rf"([+−][\d.]+) {share} \((−?[\d.]+) … (−?[\d.]+);", text
        )
        value, low, high = (float(each.replace("−", "-")) for each in numbers[0])
        assert -100 <= low <= value <= high <= 100, text
        assert sign * value > 0, text
        assert "raw estimate" not in text or abs(value) == 100
    assert not any("west" in each for each in told)
    store.shut()


def test_one_group_and_stages_are_not_compared(store: Store) -> None:
    assert results.compared(store.shown(store.survey("small").id, 0)) == ()
    assert results.compared(store.shown(store.survey("working-life").id, 2)) == ()


def test_days_are_counts_of_those_that_have_ended(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry, today = store.survey("working-life"), store.today()
    assert store.shown(entry.id, 0).days == ()
    monkeypatch.setattr(store, "today", lambda: today + timedelta(days=2))
    days = store.shown(entry.id, 0).days
    assert sum(count for _, count in days) == 1500
    assert abs((datetime.now(UTC).date() - days[-1][0]).days) <= 1


def test_results_travel_as_json(store: Store) -> None:
    found = results.read(store.shown(store.survey("working-life").id, 2))
    told = msgspec.json.decode(msgspec.json.encode(found))
    assert told["shares"][0]["row"]["estimate"] == found.shares[0].row.estimate
    assert told["shares"][0]["fakes"][0] == list(found.shares[0].fakes[0])


def test_fabricated_sets_and_shares_below_nobody_are_signalled(
    tmp_path: Path,
) -> None:
    store = open_store(tmp_path / "c.db")
    entry = filled.opened(store, small(groups=()))
    generator = np.random.default_rng(5)
    bits = np.zeros((1000, 12), np.uint8)
    for row in bits:
        row[generator.choice(12, 3, replace=False)] = 1
    filled.add(store, entry, 2, [np.packbits(bits, axis=1, bitorder="little")])
    filled.add(store, entry, 0, [np.array([0] * 900 + [1] * 100)])
    store.close("small")
    found = results.read(store.shown(entry.id, 2)).signals
    assert {each.kind for each in found} == {"fabricated"}
    assert "A set of 3 was sent by 1,000 of 1,000" in found[0].text
    kinds = {each.kind for each in results.read(store.shown(entry.id, 0)).signals}
    assert kinds == {"fabricated", "compliance"}
    store.shut()


def test_a_stage_is_named_where_there_are_several(tmp_path: Path) -> None:
    store = open_store(tmp_path / "c.db")
    entry = filled.opened(store, small(groups=()))
    filled.add(store, entry, 1, [np.zeros(1000, np.int64)])
    store.close("small")
    assert (
        results.read(store.shown(entry.id, 1))
        .signals[0]
        .text.startswith("Stage 1: 'red' was sent by 1,000 of 1,000")
    )
    store.shut()


def test_a_design_without_a_known_bound_has_results_all_the_same(
    tmp_path: Path,
) -> None:
    from deniable.designs import rappor
    from deniable.order.relaxation import ladder

    # too many for the sets to be counted apart
    labels = [f"item {number}" for number in range(30)]
    stages = ladder([rappor(labels, 1), rappor(labels, 2)])
    store = open_store(tmp_path / "c.db")
    entry = filled.opened(
        store, small(groups=(), questions=(question("odd", stages),))
    )
    filled.ask(store, entry, 0, [0, 0, 1] * 100)
    store.close("small")
    found = results.read(store.shown(entry.id, 0))
    assert found.respondents == 300
    assert all(each.fakes == () for each in found.shares)
    store.shut()


def compared(
    store: Store, entry: Entry, number: int
) -> tuple[results.ArmResult, ...]:
    """Compare a question with those that ask the same."""
    shown = store.shown(entry.id, number)
    return tuple(
        results.compare_arms(shown, store.shown(entry.id, other))
        for other in results.compared_questions(entry.survey, number)
    )


def test_arms_are_compared_by_what_is_shown_of_each(tmp_path: Path) -> None:
    store = open_store(tmp_path / "arms.db")
    entry = filled.opened(store, replace(ARMS, minimum=2))
    filled.ask(store, entry, 1, [1] * 300 + [0] * 300)
    (waiting,) = compared(store, entry, 1)
    assert (waiting.question, waiting.design, waiting.differences) == (
        "again",
        "direct",
        (),
    )
    filled.ask(store, entry, 2, [1] * 60 + [0] * 240)
    filled.ask(store, entry, 3, [1] * 450 + [0] * 150)
    (found,) = compared(store, entry, 1)
    (back,) = compared(store, entry, 2)
    own, other = (
        estimate(store.shown(entry.id, each).everybody.tally) for each in (1, 2)
    )
    assert found.respondents == other.tally.respondents
    for row, mirrored, category in zip(
        found.differences, back.differences, own.design.categories, strict=True
    ):
        assert row.value == pytest.approx(
            own.params[category] - other.params[category]
        )
        assert row.error == pytest.approx(
            math.hypot(own.bse[category], other.bse[category])
        )
        assert row.low < row.value < row.high
        assert mirrored.value == pytest.approx(-row.value)
    assert [row.label for row in found.differences] == ["No", "Yes"]
    assert compared(store, entry, 0) == ()
    right = results.read(store.shown(entry.id, 3))
    assert right.sentence.startswith("The right answer: ")
    assert "“No, no response can”" in right.sentence
    store.shut()

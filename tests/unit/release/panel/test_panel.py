from __future__ import annotations

import math
import stat
import threading
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable import exact
from deniable.channel import Dense
from deniable.errors import (
    Incompatible,
    InvalidAnswer,
    InvalidNumber,
    InvalidRequest,
    MissingExtra,
    NotAllowed,
    NotOrdered,
    OverBudget,
    UnreadableFile,
)
from deniable.estimates.stages import combine
from deniable.order.ladders import Ladder
from deniable.order.relaxation import ladder
from deniable.order.steps import Tabulated
from deniable.release import receipts
from deniable.release.panel import Panel
from deniable.release.stages import relaxation_to_json
from tests.support.ladders import COLOURS, stage

PEOPLE = {f"person {number}": COLOURS[number % 3] for number in range(30)}


@pytest.fixture
def panel(where: str) -> Iterator[Panel]:
    with Panel.create(where) as made:
        made.answer("colour", PEOPLE, about=stage(2))
        yield made


def test_a_stage_is_drawn_once_for_everybody(panel: Panel, where: str) -> None:
    first = panel.release("colour", stage(3), to="Anna")
    assert (first.fresh, set(first.respondents)) == (30, set(PEOPLE))
    again = panel.release("colour", stage(3))
    assert again.fresh == 0
    assert dict(zip(again.respondents, again.symbols, strict=True)) == dict(
        zip(first.respondents, first.symbols, strict=True)
    )
    with Panel.open(where) as elsewhere:
        some = elsewhere.release("colour", 0, respondents=["person 3", "person 5"])
    assert some.symbols == [
        dict(zip(first.respondents, first.symbols, strict=True))[name]
        for name in some.respondents
    ]


def test_people_at_different_stages_are_drawn_from_what_they_have(
    panel: Panel,
) -> None:
    some, others = list(PEOPLE)[:10], list(PEOPLE)[10:20]
    panel.release("colour", stage(2), respondents=some)
    panel.release("colour", stage(8), respondents=[*some[:5], *others])
    # from below, from above, from between, and afresh
    middle = panel.release("colour", stage(4))
    assert middle.fresh == 30
    last = panel.release("colour", stage(2))
    assert last.fresh == 20
    found = panel.tallies("colour")
    assert list(found.design) == [stage(2), stage(4), stage(8)]
    assert [each.respondents for each in found.seen] == [30, 30, 15]
    assert [each.respondents for each in found.finest] == [0, 15, 15]
    assert combine(found).value.shape == (3,)
    assert [each.epsilon_after for each in panel.receipts()] == [
        exact.log_above(Fraction(each)) for each in (2, 8, 8, 8)
    ]
    assert len(receipts.read(panel.history(), holding=panel.receipts())) == 4


@pytest.mark.statistical
def test_stages_of_a_panel_follow_their_designs(tmp_path: Path) -> None:
    """Whichever way they came about; six standard errors, a false alarm in 10^9 tests."""
    people = {str(number): "yes" for number in range(4000)}
    with Panel.create(tmp_path / "panel.db") as panel:
        panel.answer("smokes", people, about=dn.warner(1))
        panel.release(
            "smokes",
            dn.warner(p="3/5"),
            respondents=[str(each) for each in range(2000)],
        )
        panel.release(
            "smokes",
            dn.warner(p="9/10"),
            respondents=[str(each) for each in range(1000, 3000)],
        )
        middle = panel.release("smokes", dn.warner(p="3/4"))
        yes = dict(
            zip(
                middle.respondents,
                (each == "yes" for each in middle.symbols),
                strict=True,
            )
        )
        for start in range(0, 4000, 1000):
            count = sum(yes[str(each)] for each in range(start, start + 1000))
            assert abs(count - 750) < 6 * math.sqrt(1000 * 3 / 16)


def test_a_budget_holds_for_each_respondent(where: str) -> None:
    with Panel.create(where, budget=math.log(6) + 1e-12) as panel:
        panel.answer("colour", PEOPLE, about=stage(2), budget=math.log(5))
        panel.answer("shape", dict.fromkeys(list(PEOPLE)[:3], "red"), about=stage(2))
        panel.release("shape", stage(3))
        with pytest.raises(
            OverBudget, match="the question 'colour', for 30 respondents"
        ):
            panel.release("colour", stage(6))
        with pytest.raises(OverBudget, match="for 3 respondents") as caught:
            panel.release("colour", stage(4))
        assert caught.value.excess == pytest.approx(math.log(2), rel=1e-9)
        # nothing was drawn for anybody
        assert [each.question for each in panel.receipts()] == ["shape"]
        panel.release("colour", stage(4), respondents=list(PEOPLE)[3:])
        panel.release("colour", stage(2))
        with pytest.raises(OverBudget):
            panel.release("shape", stage(4))


def test_planned_answers_are_not_kept(where: str) -> None:
    stages = ladder([stage(2), stage(4), stage(8)])
    with Panel.create(where) as panel:
        panel.answer("colour", PEOPLE, about=stages)
        panel.answer("colour", {"late": "red"}, about=stages)
        assert panel.release("colour", 1).fresh == 31
        panel.release("colour", stage(5))  # between what is drawn and not out
        assert panel.receipts()[-1].epsilon_after == exact.log_above(Fraction(5))
        with pytest.raises(NotAllowed, match="31 respondents"):
            panel.release("colour", stage(9))
        panel.answer("shape", PEOPLE, about=stages, keep=True)
        panel.release("shape", stage(9))
        with panel.database.transaction(write=False) as tables:
            assert tables.value(
                "SELECT count(*) FROM release_answer WHERE answer IS NOT NULL"
            ) == len(PEOPLE)


def other_ladder() -> Ladder:
    """A garbling is not unique where two responses of the finer design say the same; here it is not the one found."""
    coarse = dn.matrix(
        [["5/10", "3/10"], ["5/10", "7/10"]], categories=["yes", "no"]
    )
    fine = dn.matrix(
        [["6/10", "2/10"], ["2/10", "4/10"], ["2/10", "4/10"]],
        categories=["yes", "no"],
    )
    garbling = Dense.from_rows(
        [[Fraction(each, 10) for each in row] for row in ([7, 4, 0], [3, 6, 10])]
    )
    stages = Ladder(
        (coarse, fine), (Tabulated(coarse.channel, fine.channel, garbling),)
    )
    assert stages.steps[0] != ladder([coarse, fine]).steps[0]
    return stages


def test_stages_stay_with_the_step_that_they_were_drawn_by(where: str) -> None:
    """Else a stage between two that are out would be drawn as if they had come about in another way."""
    stages = other_ladder()
    with Panel.create(where) as panel:
        panel.answer("smokes", {"anna": "yes", "bert": "no"}, about=stages)
        with pytest.raises(InvalidRequest, match="another step"):
            panel.answer("smokes", {"carl": "no"}, about=ladder(stages.designs))
        panel.answer("smokes", {"dora": "no"}, about=stages.designs[0])
        panel.release("smokes", 0)
        # dora's is raised by the same step
        assert panel.release("smokes", 1).fresh == 3
        with panel.transaction(write=False) as book:
            (step,) = book.steps(1).values()
        assert step == relaxation_to_json(stages.steps[0])


def test_a_withdrawal_erases_and_stops(panel: Panel) -> None:
    panel.release("colour", stage(2))
    assert panel.withdraw(["person 1", "person 2", "person 1"]) == 2
    assert panel.withdraw(["person 1"]) == 0
    assert set(panel.release("colour", stage(4)).respondents) == set(PEOPLE) - {
        "person 1",
        "person 2",
    }
    with pytest.raises(InvalidRequest, match="1 of the respondents"):
        panel.release("colour", stage(4), respondents=["person 1", "person 3"])
    with pytest.raises(InvalidRequest, match="have withdrawn"):
        panel.answer("shape", {"person 1": "red"}, about=stage(2))
    with panel.database.transaction(write=False) as tables:
        assert tables.rows(
            "SELECT answer FROM release_answer WHERE respondent = 'person 1'"
        ) == [(None,)]


def test_designs_that_send_sets_are_released_too(panel: Panel) -> None:
    stages = [dn.unary(COLOURS, epsilon=each) for each in (1, 2, 3)]
    panel.answer("bits", PEOPLE, about=stages[0])
    first, last, middle = (panel.release("bits", stages[at]) for at in (0, 2, 1))
    assert first.responses.shape == last.responses.shape == (30, 1)
    assert all(each.startswith("b") for each in middle.symbols)
    assert middle.tally().respondents == 30
    assert np.array_equal(
        panel.release("bits", stages[1]).responses, middle.responses
    )


def test_what_does_not_fit_is_refused(panel: Panel, where: str) -> None:
    with pytest.raises(InvalidAnswer, match="index 1") as caught:
        panel.answer("shape", {"a": "red", "b": "octarine"}, about=stage(2))
    assert "octarine" not in str(caught.value)
    with pytest.raises(InvalidRequest, match="answered already"):
        panel.answer("colour", {"person 1": "red"}, about=stage(2))
    with pytest.raises(Incompatible):
        panel.answer("colour", {"new": "yes"}, about=dn.warner(1))
    panel.answer("limited", {"person 1": "red"}, about=stage(2), budget=2)
    for question, other in (
        ("colour", 1),
        ("limited", 1),
        ("limited", 3),
        ("limited", None),
    ):
        with pytest.raises(Incompatible, match="another budget"):
            panel.answer(question, {"new": "red"}, about=stage(2), budget=other)
    with pytest.raises(InvalidRequest, match="no question"):
        panel.release("shape", stage(2))
    with pytest.raises(InvalidRequest, match="no stage 0"):
        panel.release("colour", 0)
    with pytest.raises(Incompatible):
        panel.release("colour", dn.warner(1))
    panel.release("colour", stage(4))
    with pytest.raises(NotOrdered):
        panel.release(
            "colour",
            dn.matrix(
                [["9/10", "1/10", "1/10"], ["1/10", "9/10", "9/10"]],
                categories=COLOURS,
            ),
        )
    with pytest.raises(InvalidRequest, match="exists already"):
        Panel.create(where)


def test_a_file_is_its_owners_alone_and_must_be_there(tmp_path: Path) -> None:
    path = tmp_path / "panel.db"
    with pytest.raises(UnreadableFile, match="no panel at"):
        Panel.open(path)
    Panel.create(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_bytes(b"no database at all, but something else " * 200)
    with pytest.raises(UnreadableFile):
        Panel.open(path)


@pytest.mark.parametrize(
    "address",
    ["me:secret@127.0.0.1:1/nothing?", "127.0.0.1:1/nothing?password=secret&"],
)
def test_a_database_that_is_not_there_is_told_without_the_password(
    address: str,
) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(UnreadableFile, match=r"127\.0\.0\.1/nothing") as caught:
        Panel.open(f"postgresql://{address}connect_timeout=1")
    assert "secret" not in str(caught.value)


def test_without_psycopg_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(MissingExtra, match="postgres"):
        Panel.open("postgresql://127.0.0.1/nothing")


def test_one_text_is_not_taken_for_many_names(panel: Panel) -> None:
    with pytest.raises(InvalidRequest, match="one text"):
        panel.withdraw("person 1")
    assert panel.release("colour", stage(2)).fresh == 30


def test_a_budget_that_is_refused_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InvalidNumber):
        Panel.create(tmp_path / "panel.db", budget=-1)
    assert not (tmp_path / "panel.db").exists()


def test_threads_share_a_panel_and_a_budget(where: str) -> None:
    """A transaction that is undone takes no other one with it, and none is seen too late."""
    refused: list[str] = []
    # a server where a transaction sees only what was there when it began
    if where.startswith("postgresql"):
        where += f"{'&' if '?' in where else '?'}options=-c%20default_transaction_isolation%3Dserializable"
    with (
        Panel.create(where, budget=exact.log_above(Fraction(4))) as shared,
        Panel.open(where) as other,
    ):
        for number in range(6):
            shared.answer(f"q{number}", {"anna": "red"}, about=stage(2))

        def ask(number: int) -> None:
            try:
                (shared if number % 3 else other).release(f"q{number}", stage(2))
            except OverBudget:
                refused.append(f"q{number}")

        threads = [
            threading.Thread(target=ask, args=(number,)) for number in range(6)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        out = [each.question for each in shared.receipts()]
        assert (len(out), len(refused)) == (2, 4)
        assert sorted(out + refused) == [f"q{number}" for number in range(6)]
        assert [
            sum(each.respondents for each in shared.tallies(name).seen)
            for name in out
        ] == [1, 1]

from __future__ import annotations

import math
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest

import deniable as dn
from deniable import exact
from deniable.errors import (
    Incompatible,
    InvalidAnswer,
    InvalidRequest,
    NotAllowed,
    NotOrdered,
    OverBudget,
)
from deniable.order.relaxation import ladder
from deniable.release import receipts
from deniable.release.ledger import Ledger
from tests.support.ladders import COLOURS, stage


def test_a_stage_is_drawn_once(ledger: Ledger, path: Path) -> None:
    ledger.answer("colour", "green", stage(2))
    first = ledger.release("colour", stage(2))
    assert first.fresh
    assert first.response.design == stage(2).hash
    again = ledger.release("colour", stage(2))
    assert (again.response, again.receipt, again.fresh) == (
        first.response,
        first.receipt,
        False,
    )
    with Ledger.open(path) as elsewhere:
        assert elsewhere.release("colour", stage(2)).response == first.response


def test_many_stages_in_any_order_cost_what_the_finest_does(ledger: Ledger) -> None:
    ledger.answer("colour", "green", stage(2))
    out = {
        parity: ledger.release("colour", stage(parity))
        for parity in (3, 2, 8, 5, 4, 7)
    }
    assert [each.receipt.epsilon_after for each in out.values()] == [
        exact.log_above(Fraction(most)) for most in (3, 3, 8, 8, 8, 8)
    ]
    standing = ledger.status().question("colour")
    assert [each.design for each in standing.stages] == [
        stage(parity).hash for parity in (2, 3, 4, 5, 7, 8)
    ]
    assert standing.parity == 8
    for parity, released in out.items():
        assert ledger.release("colour", stage(parity)).response == released.response
    ledger.check()


def test_a_budget_refuses_and_says_by_how_much(ledger: Ledger) -> None:
    ledger.answer("colour", "green", stage(2), budget=math.log(4))
    ledger.release("colour", stage(3))
    with pytest.raises(OverBudget, match="the question 'colour'") as caught:
        ledger.release("colour", stage(8))
    assert caught.value.excess == pytest.approx(math.log(2), rel=1e-12)
    assert caught.value.needed == pytest.approx(math.log(8), rel=1e-12)
    assert ledger.status().question("colour").parity == 3
    assert len(ledger.status().question("colour").stages) == 1  # nothing was drawn
    assert ledger.release(
        "colour", stage("5/2")
    ).receipt.epsilon_after == exact.log_above(Fraction(3))


def test_the_total_is_the_product_over_questions(path: Path) -> None:
    ledger = Ledger.create(path, budget=math.log(12) + 1e-12)
    for name in ("a", "b", "c"):
        ledger.answer(name, "red", stage(2))
    ledger.release("a", stage(3))
    ledger.release("b", stage(4))
    assert ledger.status().parity == 12
    with pytest.raises(OverBudget, match="all questions together"):
        ledger.release("c", stage("11/10"))
    with pytest.raises(OverBudget):
        ledger.release("a", stage("31/10"))
    assert ledger.release("a", stage(2)).receipt.total_after == exact.log_above(
        Fraction(12)
    )
    assert ledger.status().left == pytest.approx(0, abs=1e-11)


def test_budgets_of_the_sum_are_enough(path: Path) -> None:
    """0.1 and 0.2 fit into 0.3, whatever floats make of it."""
    ledger = Ledger.create(path, budget=0.3)
    for name, epsilon in (("a", 0.1), ("b", 0.2)):
        ledger.answer(name, "red", stage(2))
        ledger.release(name, dn.k_ary(COLOURS, epsilon=epsilon))
    assert ledger.status().parity <= exact.exp_below("3/10")


def test_planned_stages_wait_and_the_answer_is_not_kept(
    ledger: Ledger, path: Path
) -> None:
    stages = ladder([stage(2), stage(4), stage(8)])
    ledger.answer("colour", "blue", stages)
    assert ledger.status().parity == 1
    assert not ledger.status().question("colour").answer_kept
    first = ledger.release("colour")
    assert (first.response.design, ledger.status().parity) == (stage(2).hash, 2)
    last = ledger.release("colour", 2)
    assert (last.response.design, ledger.status().parity) == (stage(8).hash, 8)
    middle = ledger.release("colour")
    assert (middle.response.design, ledger.status().parity) == (stage(4).hash, 8)
    with pytest.raises(InvalidRequest, match="no stage is waiting"):
        ledger.release("colour")
    ledger.release("colour", stage(5))  # between two that are drawn: made from them
    with pytest.raises(NotAllowed, match="erased"):
        ledger.release("colour", stage(9))
    with sqlite3.connect(path) as file:
        assert file.execute("SELECT answer FROM release_answer").fetchall() == [
            (None,)
        ]
    file.close()


def test_a_planned_answer_can_be_kept_for_more(ledger: Ledger) -> None:
    ledger.answer("colour", "blue", ladder([stage(2), stage(4)]), keep=True)
    ledger.release("colour", stage(9))
    assert ledger.status().parity == 9


def test_a_forgotten_answer_leaves_what_is_drawn(ledger: Ledger) -> None:
    ledger.answer("colour", "blue", stage(2))
    ledger.release("colour", stage(4))
    ledger.forget("colour")
    ledger.release("colour", stage(3))
    with pytest.raises(NotAllowed):
        ledger.release("colour", stage(5))


def test_designs_that_cannot_follow_are_refused(ledger: Ledger) -> None:
    ledger.answer("colour", "blue", stage(2))
    ledger.release("colour", stage(4))
    with pytest.raises(NotOrdered):
        ledger.release(
            "colour",
            dn.matrix(
                [["9/10", "1/10", "1/10"], ["1/10", "9/10", "9/10"]],
                categories=COLOURS,
            ),
        )
    with pytest.raises(Incompatible):
        ledger.release("colour", dn.warner(1))
    with pytest.raises(Incompatible):
        ledger.release("colour", dn.k_ary(["red", "green", "black"], epsilon=1))
    assert len(ledger.status().question("colour").stages) == 1


def test_an_answer_is_given_once_and_is_not_repeated_by_errors(
    ledger: Ledger,
) -> None:
    with pytest.raises(InvalidAnswer) as caught:
        ledger.answer("colour", "octarine", stage(2))
    assert "octarine" not in str(caught.value)
    ledger.answer("colour", "red", stage(2))
    with pytest.raises(InvalidRequest, match="answered already"):
        ledger.answer("colour", "green", stage(2))
    with pytest.raises(InvalidRequest, match="no question 'shape'"):
        ledger.release("shape", stage(2))
    with pytest.raises(InvalidRequest, match="no name"):
        ledger.answer(" ", "red", stage(2))
    with pytest.raises(InvalidRequest, match="no stage 3"):
        ledger.release("colour", 3)


def test_withdrawal_stops_erases_and_tells(ledger: Ledger, path: Path) -> None:
    ledger.answer("colour", "red", ladder([stage(2), stage(4), stage(8)]), keep=True)
    ledger.answer("shape", "blue", stage(2))
    ledger.release("colour", 0, to="Anna")
    ledger.release("colour", 0, to="Bert")
    told = ledger.withdraw("colour")
    assert told.questions == ("colour",)
    assert told.out == (("colour", exact.log_above(Fraction(2)), ("Anna", "Bert")),)
    assert "Cannot be undone" in told.told
    assert "Anna, Bert" in told.told
    with pytest.raises(NotAllowed, match="withdrew"):
        ledger.release("colour", 0)
    with sqlite3.connect(path) as file:
        rows = file.execute(
            "SELECT answer, secret FROM release_answer WHERE question = 1"
        ).fetchall()
        assert rows == [(None, None)]
        assert file.execute("SELECT count(*) FROM release_response").fetchall() == [
            (1,)
        ]
    file.close()
    ledger.release("shape", stage(2))
    assert ledger.status().parity == 4  # what was spent stays spent
    assert "Nothing was out" not in ledger.withdraw().told
    with pytest.raises(InvalidRequest, match="nothing is left"):
        ledger.withdraw()
    ledger.check()
    assert [each.kind for each in ledger.receipts()] == [
        "release",
        "release",
        "withdrawal",
        "release",
        "withdrawal",
    ]


def test_sets_of_bits_go_into_a_ledger(ledger: Ledger) -> None:
    designs = [dn.unary(1_000, epsilon=each) for each in (1, 2, 3)]
    ledger.answer("item", "17", designs[0])
    first, last, middle = (
        ledger.release("item", designs[each]) for each in (0, 2, 1)
    )
    assert (
        len({first.response.symbol, last.response.symbol, middle.response.symbol})
        == 3
    )
    assert ledger.release("item", designs[1]).response == middle.response
    ledger.check()


def test_the_history_can_be_read_by_others(ledger: Ledger) -> None:
    assert receipts.read(ledger.history()) == ()
    ledger.answer("colour", "red", stage(2))
    for parity in (2, 3, 5):
        ledger.release("colour", stage(parity), to="Anna")
    history = receipts.read(ledger.history(), holding=ledger.receipts())
    assert [each.epsilon_after for each in history] == [
        exact.log_above(Fraction(each)) for each in (2, 3, 5)
    ]
    assert {each.holder for each in history} == {"Anna"}

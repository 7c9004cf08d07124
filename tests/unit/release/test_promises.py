"""A case for each promise of a ledger and a panel that nothing else would miss."""

from __future__ import annotations

import hashlib
import json
import math
import os
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import pytest

import deniable as dn
from deniable import exact
from deniable.errors import NotAllowed, OverBudget, UnreadableFile
from deniable.order.ladders import Ladder
from deniable.order.relaxation import ladder
from deniable.release import ledger as ledgers
from deniable.release.book import Bookkeeper
from deniable.release.ledger import SECRET, DerivedBytes, Ledger
from deniable.release.panel import Panel
from deniable.release.receipts import Budget
from tests.support import postgres
from tests.support.books import reseal
from tests.support.ladders import COLOURS, stage

MANY = [f"person {number}" for number in range(600)]


# Stages are raised from what is out, never drawn a second time


def merged() -> Ladder:
    """The coarse design says of a fine response only whether it is the first: from one to the other all is certain."""
    fine = dn.matrix(
        [["6/10", "2/10"], ["2/10", "3/10"], ["2/10", "5/10"]],
        categories=["yes", "no"],
    )
    coarse = dn.matrix(
        [["6/10", "2/10"], ["4/10", "8/10"]], categories=["yes", "no"]
    )
    return ladder([coarse, fine])


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_panel_raises_what_is_out(order: tuple[int, int], tmp_path: Path) -> None:
    """Drawn afresh, six hundred pairs would all agree once in 10^100 times."""
    stages = merged()
    with Panel.create(tmp_path / "panel.db") as panel:
        panel.answer(
            "smokes",
            {
                name: "yes" if number % 2 else "no"
                for number, name in enumerate(MANY)
            },
            about=stages.designs[0],
        )
        out = {at: panel.release("smokes", stages.designs[at]) for at in order}
    coarse, fine = (
        dict(zip(out[at].respondents, out[at].responses.tolist(), strict=True))
        for at in (0, 1)
    )
    assert all((coarse[name] == 0) == (fine[name] == 0) for name in MANY)


@pytest.mark.statistical
@pytest.mark.parametrize("order", [(0, 1), (1, 0), (0, 2, 1), (2, 0, 1)])
def test_stages_of_a_panel_have_their_law_together(
    order: tuple[int, ...], tmp_path: Path
) -> None:
    """Each history as often as the ladder says, within six standard errors: a false alarm in 10^8 tests.

    What is drawn afresh is off by 0.06 or more somewhere, which is twelve standard errors.
    """
    stages = ladder([dn.k_ary(COLOURS, p=p) for p in ("4/10", "6/10", "8/10")])
    n = 6000
    with Panel.create(tmp_path / "panel.db") as panel:
        panel.answer(
            "colour",
            {str(number): "green" for number in range(n)},
            about=stages.designs[0],
        )
        out = {
            at: panel.release("colour", stages.designs[at]).responses.tolist()
            for at in order
        }
    seen = Counter(zip(*(out[at] for at in sorted(order)), strict=True))
    law: Counter[tuple[int, ...]] = Counter()
    for one in range(3):
        for two in range(3):
            for three in range(3):
                history = (one, two, three)
                kept = tuple(history[at] for at in sorted(order))
                law[kept] += stages.probability(history, given=1)  # type: ignore[assignment]
    assert seen.keys() <= law.keys()
    for history, share in law.items():
        assert (
            abs(seen[history] - n * float(share))
            <= 6 * math.sqrt(n * float(share * (1 - share))) + 1
        ), history


# Recorded before it leaves


def test_a_response_does_not_leave_a_server_that_cannot_commit(
    postgres_server: str,
) -> None:
    """The record is refused at the moment of the commit: then there is no response, neither now nor later."""
    where = postgres.fresh_schema(postgres_server, "late_refusal")
    with Panel.create(where) as panel:
        panel.answer("colour", dict.fromkeys(MANY[:5], "red"), about=stage(2))
        with panel.database.transaction() as tables:
            tables.run(
                "CREATE FUNCTION refuse() RETURNS trigger AS 'BEGIN RAISE ''no''; END' LANGUAGE plpgsql"
            )
            tables.run(
                "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON release_receipt DEFERRABLE INITIALLY DEFERRED "
                "FOR EACH ROW EXECUTE FUNCTION refuse()"
            )
        with pytest.raises(UnreadableFile, match="nothing was changed"):
            panel.release("colour", stage(2))
        with panel.database.transaction() as tables:
            assert tables.rows("SELECT response FROM release_response") == []
            tables.run("DROP TRIGGER late ON release_receipt")
        panel.release("colour", stage(2))


def test_others_see_the_record_of_what_has_left(where: str) -> None:
    with Panel.create(where) as panel, Panel.open(where) as other:
        panel.answer("colour", dict.fromkeys(MANY[:5], "red"), about=stage(2))
        for parity in (2, 4):
            out = panel.release("colour", stage(parity))
            with other.transaction(write=False) as book:
                row = book.require_question("colour")
                drawn = book.drawn(row.id, MANY[:5])[book.stages(row.id)[-1].id]
            assert [
                drawn[name].response for name in out.respondents
            ] == out.responses.tolist()
            assert all(each.released for each in drawn.values())
            assert other.receipts()[-1] == out.receipt
        panel.check()


# Withdrawn and forgotten is erased


def test_a_withdrawal_leaves_nothing_that_was_drawn_and_not_released(
    where: str,
) -> None:
    stages = ladder([stage(2), stage(4), stage(8)])
    with Panel.create(where) as panel:
        for question in ("colour", "shape"):
            panel.answer(
                question,
                dict.fromkeys(("anna", "bert"), "red"),
                about=stages,
                keep=True,
            )
        panel.release("colour", 0)
        assert panel.withdraw(["anna"]) == 1
        with panel.database.transaction(write=False) as tables:
            left = tables.rows(
                "SELECT respondent, released, count(*) FROM release_response GROUP BY 1, 2 ORDER BY 1, 2"
            )
            assert left == [("anna", 1, 1), ("bert", 0, 5), ("bert", 1, 1)]
            kept = tables.rows(
                "SELECT respondent, count(answer) FROM release_answer GROUP BY 1 ORDER BY 1"
            )
            assert kept == [("anna", 0), ("bert", 2)]
        assert panel.release("colour", 2).respondents == ("bert",)


def test_a_withdrawal_from_one_question_leaves_the_others(tmp_path: Path) -> None:
    stages = ladder([stage(2), stage(4)])
    with Ledger.create(tmp_path / "mine.ledger") as ledger:
        for question in ("colour", "shape"):
            ledger.answer(question, "red", about=stages, keep=True)
        ledger.release("colour", 0)
        ledger.withdraw("colour")
        with ledger.database.transaction(write=False) as tables:
            left = "SELECT question, released FROM release_response JOIN release_stage ON stage = id ORDER BY 1, 2"
            assert tables.rows(left) == [(1, 1), (2, 0), (2, 0)]
        assert [each.answer_kept for each in ledger.status().questions] == [
            False,
            True,
        ]
        assert len(ledger.status().question("colour").stages) == 1
        ledger.release("shape", stage(8))


def test_draws_from_an_answer_are_made_with_what_is_erased_with_it(
    tmp_path: Path,
) -> None:
    """Made again from the secret that stays, sixty draws come out as they did once in 10^10 times, or rarer."""
    path, design = tmp_path / "mine.ledger", dn.k_ary(COLOURS, p="1/2")
    with Ledger.create(path) as ledger:
        for number in range(60):
            ledger.answer(f"q{number}", "red", about=design)
        out = [
            design.symbols.index(
                ledger.release(f"q{number}", design).response.symbol
            )
            for number in range(60)
        ]
        secrets = _secrets(path)
        for number in range(60):
            ledger.forget(f"q{number}")
    context = [design.hash, None, None]
    assert out == [
        design.channel.draw(0, DerivedBytes(each[SECRET:], context))
        for each in secrets
    ]
    assert out != [
        design.channel.draw(0, DerivedBytes(each[:SECRET], context))
        for each in secrets
    ]
    assert _secrets(path) == [each[:SECRET] for each in secrets]
    content = path.read_bytes()
    assert not any(each[SECRET:] in content for each in secrets)


def test_derived_bytes_never_come_twice() -> None:
    """No 16 bytes are those of another place, another moment of the history, or another secret."""
    secrets = [bytes([number] * SECRET) for number in (1, 2)]
    contexts: list[list[object]] = [
        ["a", None, None],
        ["b", None, None],
        ["a", ("b", "0"), None],
        ["a", ("b", "1"), None],
    ]
    found = [
        DerivedBytes(secret, context).read(20_000)
        for secret in secrets
        for context in contexts
    ]
    words = [
        stream[at : at + 16] for stream in found for at in range(0, len(stream), 16)
    ]
    assert len(set(words)) == len(words)


def test_every_stage_is_drawn_with_bytes_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Raised from what is out with the bytes that drew it, a response would say how they fell."""
    made: list[tuple[bytes, str]] = []

    class Watched(DerivedBytes):
        def __init__(self, secret: bytes, context: Sequence[object]) -> None:
            made.append((secret, json.dumps(list(context))))
            super().__init__(secret, context)

    monkeypatch.setattr(ledgers, "DerivedBytes", Watched)
    with Ledger.create(tmp_path / "mine.ledger") as ledger:
        for question in ("colour", "shape"):
            ledger.answer(question, "red", about=stage(2))
            for parity in (3, 8, 5, 2):
                ledger.release(question, stage(parity))
    assert len(made) == len(set(made)) == 8
    assert len({context for _, context in made}) >= 4


class Counted:
    """The system's random bytes, and which of them were handed out."""

    def __init__(self) -> None:
        self.given: list[bytes] = []

    def read(self, count: int) -> bytes:
        self.given.append(os.urandom(count))
        return self.given[-1]


def test_a_secret_is_random_and_told_by_nothing_else(tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        source = Counted()
        with Ledger.create(tmp_path / name, source=source) as ledger:
            ledger.answer("colour", "red", about=stage(2))
            ledger.answer("shape", "red", about=ladder([stage(2), stage(4)]))
        secrets = _secrets(tmp_path / name)
        assert [len(each) for each in secrets] == [2 * SECRET, SECRET]
        assert all(each in source.given for each in secrets)
        found += secrets
    halves = [
        each[at : at + SECRET]
        for each in found
        for at in range(0, len(each), SECRET)
    ]
    assert len(set(halves)) == 6
    told = {
        hashlib.new(kind, b"colour").digest()
        for kind in ("sha256", "sha3_256", "blake2s")
    }
    assert not told & set(halves)


def _secrets(path: Path) -> list[bytes]:
    with closing(sqlite3.connect(path)) as file:
        return [
            secret
            for (secret,) in file.execute(
                "SELECT secret FROM release_answer ORDER BY question"
            )
        ]


# Budget first


@pytest.mark.parametrize("epsilon", ["1/10", "1", "2", "7/3", "25"])
def test_a_limit_lies_below_the_exponential(epsilon: str) -> None:
    """What exceeds e^ε by one part in 10^40 is refused, and what lies below by as little as a float shows is not."""
    number = Fraction(epsilon)
    with localcontext() as context:
        context.prec = 80
        true = Fraction(
            (Decimal(number.numerator) / Decimal(number.denominator)).exp()
        )
    budget = Budget.from_number(number)
    assert budget.limit < true
    with pytest.raises(OverBudget):
        budget.check(true * (1 + Fraction(1, 10**40)), "this")
    budget.check(true * (1 - Fraction(1, 10**12)), "this")
    assert budget.left(Fraction(1)) <= number  # type: ignore[operator]


def test_a_ledger_does_not_look_at_the_answer_before_the_budget(
    tmp_path: Path,
) -> None:
    """An answer that cannot even be read as a number: whoever looks at it notices."""
    path = tmp_path / "mine.ledger"
    with Ledger.create(path) as ledger:
        ledger.answer("colour", "red", about=stage(2), budget=math.log(5))
        ledger.release("colour", stage(4))
        _spoil_answers(ledger)
        with pytest.raises(OverBudget):
            ledger.release("colour", stage(8))
        ledger.release("colour", stage(3))  # made from what is out
        ledger.release("colour", stage(4))
    with Ledger.create(tmp_path / "all.ledger", budget=math.log(5)) as ledger:
        ledger.answer("colour", "red", about=stage(2))
        _spoil_answers(ledger)
        with pytest.raises(OverBudget):
            ledger.release("colour", stage(8))
        # what the test is about
        with pytest.raises(ValueError, match="invalid literal"):
            ledger.release("colour", stage(3))


def test_a_panel_does_not_look_at_answers_before_the_budget(where: str) -> None:
    with Panel.create(where, budget=math.log(5)) as panel:
        panel.answer(
            "colour", dict.fromkeys(("anna", "bert"), "red"), about=stage(2)
        )
        panel.release("colour", stage(4))
        _spoil_answers(panel)
        with pytest.raises(OverBudget, match="for 2 respondents"):
            panel.release("colour", stage(8))
        panel.release("colour", stage(3))


@pytest.mark.parametrize("spent", ["anna", "bert", "carl"])
def test_the_budget_of_everybody_is_looked_at(spent: str, tmp_path: Path) -> None:
    """One of three has spent on another question before, whoever comes first; then nobody is released."""
    people = dict.fromkeys(("anna", "bert", "carl"), "red")
    with Panel.create(tmp_path / "panel.db", budget=math.log(10)) as panel:
        for question in ("colour", "shape"):
            panel.answer(question, people, about=stage(2))
        panel.release("colour", stage(4), respondents=[spent])
        with pytest.raises(OverBudget, match="for 1 respondents"):
            panel.release("shape", stage(4))
        with panel.transaction(write=False) as book:
            assert book.reached(list(people)) == {spent: {1: 0}}, (
                "nobody was released"
            )
        panel.release(
            "shape", stage(4), respondents=[name for name in people if name != spent]
        )


def _spoil_answers(book: Bookkeeper) -> None:
    with book.database.transaction() as tables:
        tables.run("UPDATE release_answer SET answer = 'not a number'")
    reseal(book)


def test_what_was_not_kept_is_refused_in_both(tmp_path: Path) -> None:
    stages = ladder([stage(2), stage(4)])
    with (
        Ledger.create(tmp_path / "mine.ledger") as ledger,
        Panel.create(tmp_path / "panel.db") as panel,
    ):
        ledger.answer("colour", "red", about=stages)
        panel.answer("colour", {"anna": "red"}, about=stages)
        with pytest.raises(NotAllowed, match="the answer was erased or not kept"):
            ledger.release("colour", stage(8))
        with pytest.raises(NotAllowed, match="answers of 1 respondents were"):
            panel.release("colour", stage(8))


# A history cannot be changed unseen


def told_twice(path: Path) -> None:
    """Two questions, one release each."""
    with Ledger.create(path) as ledger:
        for question, parity in (("colour", 2), ("shape", 3)):
            ledger.answer(question, "red", about=stage(2))
            ledger.release(question, stage(parity))
        ledger.check()


def test_what_was_spent_on_a_question_is_compared(tmp_path: Path) -> None:
    """The two amounts change places, so that their product stays."""
    path = tmp_path / "mine.ledger"
    told_twice(path)
    with closing(sqlite3.connect(path)) as file:
        file.execute(
            "UPDATE release_stage SET parity = CASE parity WHEN '2' THEN '3' ELSE '2' END"
        )
        file.commit()
    with Ledger.open(path) as changed:
        reseal(changed)
        with pytest.raises(
            UnreadableFile, match="what was spent on 'colour' is not"
        ):
            changed.check()


def test_what_was_spent_in_all_is_compared(tmp_path: Path) -> None:
    """A history written anew, each question right, the sum too small."""
    path = tmp_path / "mine.ledger"
    told_twice(path)
    with Ledger.open(path) as ledger:
        first, second = ledger.receipts()
        smaller = exact.log_above(Fraction(3))
        again = type(second)(
            **{**second.__dict__, "total_after": smaller} | {"previous": first.hash}
        )
        with ledger.database.transaction() as tables:
            tables.run(
                "UPDATE release_receipt SET body = ? WHERE number = 2",
                again.to_json(),
            )
        reseal(ledger)
        with pytest.raises(UnreadableFile, match="what was spent in all"):
            ledger.check()


def test_responses_of_two_people_in_a_panel_are_not_exchanged_unseen(
    tmp_path: Path,
) -> None:
    path, people = (
        tmp_path / "panel.db",
        {f"person {number}": "red" for number in range(1000)},
    )
    with Panel.create(path, budget=9) as panel:
        panel.answer("colour", people, about=ladder([stage(2), stage(4)]))
        panel.release("colour", 0, respondents=list(people)[:700])
        assert panel.withdraw(list(people)[500:990]) == 490
        panel.release("colour", stage(3), respondents=list(people)[:5])
        panel.check()
    with closing(sqlite3.connect(path)) as file:
        one, two = (
            file.execute(
                "SELECT respondent FROM release_response WHERE stage = 1 AND response = ?",
                each,
            ).fetchone()
            for each in "01"
        )
        for name, response in ((one, "1"), (two, "0")):
            file.execute(
                "UPDATE release_response SET response = ? WHERE stage = 1 AND respondent = ?",
                (response, *name),
            )
        file.commit()
    with (
        Panel.open(path) as changed,
        pytest.raises(UnreadableFile, match="by another hand"),
    ):
        changed.check()

"""What leaves a ledger or a panel has exactly the law of its ladder, in whichever order stages are asked for.

A panel draws in bulk; here it draws one by one, which gives the same responses from the same bytes
(`tests/conformance/test_same_bytes_same_relaxations.py`), so that every way can be gone through.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable import db
from deniable.order.ladders import Ladder
from deniable.order.relaxation import ladder
from deniable.release import ledger as ledgers
from deniable.release import panel as panels
from deniable.release.ledger import Ledger
from deniable.release.panel import Panel
from deniable.release.stages import find_relaxation
from deniable.types.strings.design import CohortDesign
from tests.support.traces import law

TWO = ladder([dn.warner(p=p) for p in ("2/3", "3/4", "4/5")])
THREE = ladder([dn.k_ary(3, p=p) for p in ("2/5", "3/5", "4/5")])
FORCED = ladder(
    [
        dn.forced_response(
            p, yes=(1 - Fraction(p)) / 3, no=(1 - Fraction(p)) * 2 / 3
        )
        for p in ("1/4", "1/2")
    ]
)
ORDERS = [order for size in (2, 3) for order in permutations(range(3), size)]


class OneByOne:
    """Raises and degrades as `Raiser` does, one by one."""

    def __init__(self, relaxation: Any, **_: Any) -> None:
        self.step, self.old, self.new = (
            relaxation.step,
            relaxation.old.channel.coding,
            relaxation.new.channel.coding,
        )

    def upgrade(self, before: Any, answers: Any) -> Any:
        pairs = zip(self.old.unpack(before), answers.tolist(), strict=True)
        return self.new.pack([self.step.upgrade(*pair) for pair in pairs])

    def degrade(self, before: Any) -> Any:
        return self.old.pack(
            [self.step.degrade(each) for each in self.new.unpack(before)]
        )


def draw_all(design: dn.Design, answers: Any, **_: Any) -> Any:
    return design.channel.coding.pack(
        [design.channel.draw(each) for each in answers.tolist()]
    )


def release_planned(stages: Ladder, answers: Any, **_: Any) -> list[Any]:
    people = [ledgers._draw_stages(stages, each, None) for each in answers.tolist()]  # type: ignore[arg-type]
    columns = zip(*people, strict=True)
    return [
        design.channel.coding.pack([number for (number,) in column])
        for design, column in zip(stages.designs, columns, strict=True)
    ]


@pytest.fixture(autouse=True)
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        db, "DURABLE", ("synchronous = OFF", "journal_mode = MEMORY")
    )
    monkeypatch.setattr(panels, "Raiser", OneByOne)
    monkeypatch.setattr(panels, "draw_all", draw_all)
    monkeypatch.setattr(panels, "release_planned", release_planned)


def in_ledger(
    path: Path, stages: Ladder, order: Sequence[int], *, planned: bool
) -> tuple[int, ...]:
    with Ledger.create(path) as ledger:
        ledger.answer(
            "q", stages.categories[-1], stages if planned else stages.designs[0]
        )
        out = {
            at: ledger.release("q", stages.designs[at]).response.symbol
            for at in order
        }
    return tuple(stages.designs[at].symbols.index(out[at]) for at in sorted(order))


def in_panel(
    path: Path, stages: Ladder, order: Sequence[int], *, planned: bool
) -> tuple[int, ...]:
    with Panel.create(path) as panel:
        panel.answer(
            "q",
            {"anna": stages.categories[-1]},
            stages if planned else stages.designs[0],
        )
        out = {at: panel.release("q", stages.designs[at]).symbols[0] for at in order}
    return tuple(stages.designs[at].symbols.index(out[at]) for at in sorted(order))


def claimed(stages: Ladder, order: Sequence[int]) -> dict[tuple[int, ...], Fraction]:
    """The law of these stages, from the ladder: that of all of them, summed over those that are not out."""
    found: dict[tuple[int, ...], Fraction] = {}
    answer = len(stages.categories) - 1
    for history in product(
        *(range(design.channel.responses) for design in stages.designs)
    ):
        kept = tuple(history[at] for at in sorted(order))
        found[kept] = found.get(kept, Fraction(0)) + stages.probability(
            history, given=answer
        )
    return {kept: chance for kept, chance in found.items() if chance}


@pytest.mark.parametrize("book", [in_ledger, in_panel], ids=["ledger", "panel"])
@pytest.mark.parametrize(
    ("stages", "order", "planned"),
    [
        *((TWO, order, False) for order in ORDERS),
        *((TWO, order, True) for order in ((2, 1), (0, 1))),
        (THREE, (0, 2, 1), False),
        *((FORCED, order, False) for order in ((0, 1), (1, 0))),
    ],
    ids=str,
)
def test_stages_have_the_law_of_the_ladder(
    book: Callable[..., tuple[int, ...]],
    stages: Ladder,
    order: Sequence[int],
    planned: bool,
    tmp_path: Path,
) -> None:
    path = tmp_path / "book.db"

    def released() -> tuple[int, ...]:
        path.unlink(missing_ok=True)
        return book(path, stages, order, planned=planned)

    assert law(released, whole=True) == claimed(stages, order)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_strings_in_a_ledger_have_the_law_of_their_stages(
    order: tuple[int, ...], tmp_path: Path
) -> None:
    """Of two bits: given the text's own filter, all stages together are the finest one, degraded step by step."""
    bloom = dn.Bloom(2, cohorts=2)
    stages = [
        CohortDesign(dn.string_design(bloom, epsilon), cohort=1)
        for epsilon in (1, 2, 3)
    ]
    low, high = find_relaxation(*stages[:2]), find_relaxation(*stages[1:])
    assert low is not None
    assert high is not None
    path, answer = tmp_path / "mine.ledger", stages[0].category_number("Smith")

    def released() -> tuple[int, ...]:
        path.unlink(missing_ok=True)
        with Ledger.create(path) as ledger:
            ledger.answer("name", "Smith", about=stages[0])
            out = {
                at: ledger.release("name", stages[at]).response.symbol
                for at in order
            }
        return tuple(int(stages[at].symbols.index(out[at])) for at in sorted(order))

    wanted = {
        (one, two, three): low.garbling(one, two)
        * high.garbling(two, three)
        * stages[2].channel.probability(three, given=answer)
        for one, two, three in product(range(4), repeat=3)
    }
    assert law(released, whole=True) == wanted


def test_people_with_other_histories_are_drawn_for_from_their_own(
    tmp_path: Path,
) -> None:
    """Anna holds the coarsest stage, Bert the middle one, Carl none: then all are given the finest."""
    path, channels = (
        tmp_path / "panel.db",
        [design.channel for design in TWO.designs],
    )

    def released() -> tuple[int, ...]:
        path.unlink(missing_ok=True)
        with Panel.create(path) as panel:
            panel.answer(
                "q",
                {"anna": "yes", "bert": "no", "carl": "yes"},
                about=TWO.designs[0],
            )
            first = panel.release(
                "q", TWO.designs[0], respondents=["anna"]
            ).responses.tolist()
            middle = panel.release(
                "q", TWO.designs[1], respondents=["bert"]
            ).responses.tolist()
            last = panel.release("q", TWO.designs[2])
            found = dict(zip(last.respondents, last.responses.tolist(), strict=True))
        return (*first, *middle, found["anna"], found["bert"], found["carl"])

    far = dn.relax(TWO.designs[0], TWO.designs[2]).step
    wanted = {
        (a, b, anna, bert, carl): far.garbling(a, anna)
        * channels[2].probability(anna, given=1)
        * TWO.steps[1].garbling(b, bert)
        * channels[2].probability(bert, given=0)
        * channels[2].probability(carl, given=1)
        for a, b, anna, bert, carl in product((0, 1), repeat=5)
    }
    assert law(released, whole=True) == wanted

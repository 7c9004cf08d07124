"""How a stage is released: found or drawn, counted, and recorded, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from deniable import chance, exact
from deniable.documents import Response
from deniable.errors import InvalidRequest, NotAllowed
from deniable.order.ladders import Ladder
from deniable.release.budget import Budget
from deniable.release.chain import Staged, check_same, place, remember, remembered
from deniable.release.ledger import book as stored
from deniable.release.ledger.book import Book, Question
from deniable.release.ledger.derived import SECRET, Derived
from deniable.release.ledger.history import append, parity, spent, total
from deniable.release.ledger.kinds import read_design
from deniable.release.ledger.state import Released
from deniable.release.receipts import Receipt

__all__ = ["draw_planned", "known", "release"]


def known(book: Book, question: str) -> Question:
    """Return a question.

    Raises:
        InvalidRequest: there is none of this name.
    """
    found = book.question(question)
    if found is None:
        raise InvalidRequest(f"there is no question {question!r:.60} in this ledger; expected one that was answered.")
    return found


def release(
    book: Book,
    question: str,
    stage: Staged | int | None,
    to: str,
    *,
    kind: str = "release",
    details: Mapping[str, str] | None = None,
) -> Released:
    """Release a stage inside a transaction; see `Ledger.release`. A sale leaves a receipt each time it is made."""
    row = known(book, question)
    if row.withdrawn is not None:
        raise NotAllowed(f"the respondent withdrew {question!r:.60} on {row.withdrawn}; nothing more is released.")
    stages = book.stages(row.id)
    at = _find(stages, stage)
    if at is None:
        assert stage is not None
        assert not isinstance(stage, int)
        at = _draw(book, row, stages, stage)
        stages = book.stages(row.id)
    chosen = stages[at]
    before = spent(stages)
    after = max(before, parity(chosen.parity))
    _check_budgets(book, row, after)
    if not chosen.released:
        book.mark_released(row.id, chosen.design)
    earlier = book.receipts_of(row.id, design=chosen.design, holder=to)
    if earlier and kind == "release":
        receipt = Receipt.from_json(earlier[0])
    else:
        receipt = append(book, kind, row, before, after, design=chosen.design, holder=to, details=details)
    design = read_design(book.design(chosen.design))
    return Released(Response(design.hash, design.symbols[int(chosen.response, 16)]), receipt, not chosen.released)


def _find(stages: list[stored.Stage], stage: Staged | int | None) -> int | None:
    if stage is None:
        waiting = [at for at, each in enumerate(stages) if not each.released]
        if not waiting:
            raise InvalidRequest("no stage is waiting; expected the design of another one.")
        return waiting[0]
    if isinstance(stage, int):
        if not 0 <= stage < len(stages):
            raise InvalidRequest(f"there is no such stage; expected one of the {len(stages)} that are drawn.")
        return stage
    return next((at for at, each in enumerate(stages) if each.design == stage.hash), None)


def _draw(book: Book, row: Question, stages: list[stored.Stage], design: Staged) -> int:
    """Draw a new stage, put it in its place, and return the place."""
    check_same(read_design(book.design(row.about)), design)
    designs = [read_design(book.design(each.design)) for each in stages]
    drawn = {(old.design, new.design): new.step for old, new in pairwise(stages) if new.step is not None}
    found = place(design, designs, find=remembered(drawn))
    if found.finest:
        _check_budgets(book, row, design.parity)  # before the answer is looked at
    assert row.secret is not None
    secret = row.secret[SECRET:] if found.finest else row.secret[:SECRET]
    coarser = stages[found.at - 1] if found.below is not None else None
    finer = stages[found.at] if found.above is not None else None
    response = found.draw(
        design,
        None if row.answer is None else int(row.answer, 16),
        coarser=_number(coarser),
        finer=_number(finer),
        source=Derived(secret, [design.hash, _named(coarser), _named(finer)]),
    )
    book.add_design(design.hash, design.to_json())
    below = None if found.below is None else remember(found.below)
    book.add_stage(row.id, found.at, stored.Stage(design.hash, below, f"{response:x}", str(design.parity), 0))
    if found.above is not None:
        book.set_step(row.id, found.at + 1, remember(found.above))
    return found.at


def draw_planned(book: Book, question: int, ladder: Ladder, answer: int, source: chance.Source) -> None:
    """Draw all stages of a ladder and keep them, the finest first."""
    responses = [ladder.designs[-1].channel.draw(answer, source)]
    for step in reversed(ladder.steps):
        responses.append(step.degrade(responses[-1], source))
    bodies = [None, *map(remember, ladder.steps)]
    for at, (design, response, body) in enumerate(zip(ladder.designs, reversed(responses), bodies, strict=True)):
        book.add_design(design.hash, design.to_json())
        book.add_stage(question, at, stored.Stage(design.hash, body, f"{response:x}", str(design.parity), 0))


def _number(stage: stored.Stage | None) -> int | None:
    return None if stage is None else int(stage.response, 16)


def _named(stage: stored.Stage | None) -> tuple[str, str] | None:
    return None if stage is None else (stage.design, stage.response)


def _check_budgets(book: Book, row: Question, after: exact.Ratio) -> None:
    """Refuse to exceed the question's budget, or that of the whole ledger."""
    Budget.read(row.budget).check(after, f"the question {row.name!r:.60}")
    budget = Budget.read(book.budget())
    if budget.epsilon is not None:
        budget.check(total(book, row.id, after), "all questions together")

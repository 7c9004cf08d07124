"""What was spent, the receipts for it, and how the ledger stands."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from fractions import Fraction

from deniable import exact
from deniable.errors import UnreadableFile
from deniable.release import receipts
from deniable.release.budget import Budget, together
from deniable.release.ledger import book as stored
from deniable.release.ledger.book import Book, Question
from deniable.release.ledger.kinds import read_design
from deniable.release.ledger.state import Stage, Standing, Status
from deniable.release.receipts import Receipt, first_link

__all__ = ["append", "check", "now", "parity", "spent", "status", "total"]


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def parity(text: str) -> exact.Ratio:
    """Read a parity as it is stored."""
    return math.inf if text == "inf" else Fraction(text)


def spent(stages: list[stored.Stage]) -> exact.Ratio:
    """Return the parity of all stages that are out: that of the finest."""
    return max((parity(each.parity) for each in stages if each.released), default=Fraction(1))


def total(book: Book, question: int | None = None, after: exact.Ratio = 1.0) -> exact.Ratio:
    """Return the parity of all questions together, one of which may be taken at another value."""
    others = [parity(text) for number, text in book.spent().items() if number != question]
    return together(others if question is None else [*others, after])


def append(
    book: Book,
    kind: str,
    row: Question | None,
    before: exact.Ratio,
    after: exact.Ratio,
    *,
    design: str = "",
    holder: str = "",
    details: Mapping[str, str] | None = None,
) -> Receipt:
    """Write the next receipt; `before` and `after` are what was spent on its question."""
    last = book.last_receipt()
    previous = Receipt.from_json(last) if last else None
    question = None if row is None else row.id
    receipt = Receipt(
        ledger=book.name(),
        number=previous.number + 1 if previous else 1,
        previous=previous.hash if previous else first_link(book.name()),
        kind=kind,
        question="" if row is None else row.name,
        design=design,
        holder=holder,
        at=now(),
        epsilon_before=exact.log_above(before),
        epsilon_after=exact.log_above(after),
        total_before=exact.log_above(total(book, question, before)),
        total_after=exact.log_above(total(book, question, after)),
        details=dict(details or {}),
    )
    book.add_receipt(receipt.number, question, design, holder, receipt.to_json())
    return receipt


def status(book: Book) -> Status:
    """Return how the ledger stands."""
    budget, all_spent = Budget.read(book.budget()), total(book)
    standings = tuple(_standing(book, row) for row in book.questions())
    return Status(book.name(), standings, all_spent, budget.shown, budget.left(all_spent))


def _standing(book: Book, row: Question) -> Standing:
    rows = book.stages(row.id)
    budget, own = Budget.read(row.budget), spent(rows)
    return Standing(
        question=row.name,
        stages=tuple(_stage(book, row, each) for each in rows),
        parity=own,
        budget=budget.shown,
        left=budget.left(own),
        answer_kept=row.answer is not None,
        withdrawn=row.withdrawn,
    )


def _stage(book: Book, row: Question, stage: stored.Stage) -> Stage:
    design = read_design(book.design(stage.design))
    symbol = design.symbols[int(stage.response, 16)] if stage.released else None
    return Stage(stage.design, design.epsilon, bool(stage.released), symbol, book.holders(row.id, stage.design))


def check(book: Book) -> None:
    """Check the file, the history, and that all that is out was counted.

    Raises:
        UnreadableFile: something is wrong.
    """
    if book.damaged():
        raise UnreadableFile("the file of this ledger is damaged.", "Restore it from a copy.")
    history = [Receipt.from_json(each) for each in book.receipts()]
    receipts.verify(history)
    counted = {receipt.question: receipt.epsilon_after for receipt in history}
    entered = {(receipt.question, receipt.design) for receipt in history}
    for row in book.questions():
        stages = book.stages(row.id)
        out = [each for each in stages if each.released]
        if any((row.name, each.design) not in entered for each in out):
            raise UnreadableFile(f"a stage of {row.name!r:.60} is out without a receipt.")
        if out and counted[row.name] != exact.log_above(spent(stages)):
            raise UnreadableFile(f"what was spent on {row.name!r:.60} is not what the history counts.")
        for each in stages:
            if read_design(book.design(each.design)).hash != each.design:
                raise UnreadableFile(f"the design of a stage of {row.name!r:.60} was exchanged.")
    if history and history[-1].total_after != exact.log_above(total(book)):
        raise UnreadableFile("what was spent in all is not what the history counts.")

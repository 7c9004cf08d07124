"""What a panel has spent: exactly, for each respondent; and the receipts, which tell what was spent on nobody more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from deniable import exact
from deniable.designs import Design
from deniable.release.budget import Budget, together
from deniable.release.ledger.history import now, parity
from deniable.release.panel.book import Book, Question
from deniable.release.receipts import Receipt, first_link

__all__ = ["append", "check_budgets", "now"]


def check_budgets(book: Book, row: Question, needed: exact.Ratio, at: int, names: Sequence[str]) -> None:
    """Refuse a stage that would spend too much on anybody.

    Args:
        book: the panel.
        row: the question.
        needed: the parity of the stage.
        at: how many stages of the question lie below it.
        names: for whom it is to be released.

    Raises:
        OverBudget: it would; the error says for how many, and by how much at most.
    """
    budget, own = Budget.read(book.budget()), Budget.read(row.budget)
    if budget.epsilon is None and own.epsilon is None:
        return
    reached = book.reached(names)
    # Who has a finer response already spends nothing.
    spending = [name for name in names if reached.get(name, {}).get(row.id, -1) < at]
    if not spending:
        return
    own.check(needed, f"the question {row.name!r:.60}, for {len(spending):,} respondents")
    if budget.epsilon is None:
        return
    parities = {each.id: [parity(stage.parity) for stage in book.stages(each.id)] for each in book.questions()}
    others = Counter(
        tuple(sorted((question, place) for question, place in reached.get(name, {}).items() if question != row.id))
        for name in spending
    )
    spent = {each: together([*(parities[question][place] for question, place in each), needed]) for each in others}
    beyond = sum(others[each] for each, amount in spent.items() if amount > budget.limit)
    budget.check(max(spent.values()), f"all questions together, for {beyond:,} respondents")


def append(
    book: Book, row: Question, design: Design, before: dict[int, str], to: str, fresh: int, count: int
) -> Receipt:
    """Write the next receipt. Amounts are those of the respondent on whom the most was spent for each question."""
    last = book.last_receipt()
    previous = Receipt.from_json(last) if last else None
    after = book.finest()
    receipt = Receipt(
        ledger=book.name(),
        number=previous.number + 1 if previous else 1,
        previous=previous.hash if previous else first_link(book.name()),
        kind="release",
        question=row.name,
        design=design.hash,
        holder=to,
        at=now(),
        epsilon_before=exact.log_above(parity(before.get(row.id, "1"))),
        epsilon_after=exact.log_above(parity(after.get(row.id, "1"))),
        total_before=exact.log_above(together(map(parity, before.values()))),
        total_after=exact.log_above(together(map(parity, after.values()))),
        details={"respondents": str(count), "fresh": str(fresh)},
    )
    book.add_receipt(receipt.number, receipt.to_json())
    return receipt

"""Withdrawal: what stops, what is erased, and what cannot be undone."""

from __future__ import annotations

from collections.abc import Sequence

from deniable import exact
from deniable.errors import InvalidRequest
from deniable.release.ledger.book import Book, Question
from deniable.release.ledger.history import append, now, parity, spent
from deniable.release.ledger.state import Withdrawal

__all__ = ["withdraw"]


def withdraw(book: Book, rows: Sequence[Question], *, everything: bool) -> Withdrawal:
    """Withdraw questions: erase what is not out, and say what is.

    Raises:
        InvalidRequest: nothing is left to withdraw.
    """
    open_rows = [row for row in rows if row.withdrawn is None]
    if not open_rows:
        raise InvalidRequest("nothing is left to withdraw.")
    out: list[tuple[str, float, tuple[str, ...]]] = []
    for row in open_rows:
        book.erase_question(row.id, now())
        for stage in book.stages(row.id):
            out.append((row.name, exact.log_above(parity(stage.parity)), book.holders(row.id, stage.design)))
    one = None if everything else open_rows[0]
    amount = exact.rational(1) if one is None else spent(book.stages(one.id))
    receipt = append(book, "withdrawal", one, amount, amount)
    return Withdrawal(tuple(row.name for row in open_rows), tuple(out), receipt)

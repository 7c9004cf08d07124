"""A respondent's own ledger: answers, what of them is out, and what that has cost."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from os import PathLike
from pathlib import Path
from types import TracebackType

from deniable import chance, exact
from deniable.errors import InvalidRequest
from deniable.order.ladders import Ladder
from deniable.release.budget import Budget
from deniable.release.chain import Staged
from deniable.release.ledger.book import Book
from deniable.release.ledger.derived import SECRET
from deniable.release.ledger.history import check, now, status
from deniable.release.ledger.release import draw_planned, known, release
from deniable.release.ledger.state import Released, Status, Withdrawal
from deniable.release.ledger.store import Store
from deniable.release.ledger.withdraw import withdraw
from deniable.release.receipts import Receipt, write

__all__ = ["Ledger"]


class Ledger:
    """A file in which a respondent keeps answers and gives them out in stages.

    Guarantee: a response is recorded on the disk before it is returned; a stage is drawn once, whoever asks, in however
    many programs, and whenever one of them is killed; all stages of a question together reveal what the finest one
    does; what would exceed a budget is refused before anything is drawn.

    The file holds the answers. It is made readable for its owner alone, and is not encrypted.

    Example:
        >>> import tempfile
        >>> from deniable.designs import warner
        >>> ledger = Ledger.create(tempfile.mkdtemp() + "/mine.ledger", budget=2)
        >>> ledger.answer("smokes", "yes", about=warner(1))
        >>> first = ledger.release("smokes", warner(1))
        >>> ledger.release("smokes", warner(1)).response == first.response
        True
        >>> ledger.release("smokes", warner(2)).receipt.epsilon_before, ledger.status().epsilon
        (1.0, 2.0)
        >>> ledger.close()
    """

    def __init__(self, store: Store, source: chance.Source = chance.SYSTEM) -> None:
        self._store = store
        self._source = source

    @classmethod
    def create(
        cls,
        path: str | PathLike[str],
        *,
        budget: exact.Rational | None = None,
        source: chance.Source = chance.SYSTEM,
    ) -> Ledger:
        """Make a new ledger.

        Args:
            path: a file that does not exist yet.
            budget: the ε that may be spent on all questions together; None for no limit.
            source: random bytes, for secrets; the operating system's by default.

        Raises:
            InvalidRequest: there is a file already.
            InvalidNumber: the budget is no ε.
        """
        name = source.read(16).hex()
        made = Store.create(Path(path), name=name, budget=Budget.of(budget).written, made=now())
        return cls(made, source)

    @classmethod
    def open(cls, path: str | PathLike[str], *, source: chance.Source = chance.SYSTEM) -> Ledger:
        """Open a ledger.

        Raises:
            UnreadableFile: no ledger, damaged, or of another version.
        """
        return cls(Store.open(Path(path)), source)

    def answer(
        self,
        question: str,
        answer: str | Mapping[str, str],
        about: Staged | Ladder,
        *,
        budget: exact.Rational | None = None,
        keep: bool = False,
    ) -> None:
        """Enter the answer to a question. Nothing is released by that.

        Args:
            question: a name for it.
            answer: the truth.
            about: a ladder, all of whose stages are drawn at once and may be released one by one (planned); or a design
                that knows the categories, for stages that come as a surprise (open-ended).
            budget: the ε that may be spent on this question; None for no limit of its own.
            keep: keep the answer to a planned question, so that stages beyond the ladder can follow. Without it the
                answer is not stored at all.

        Raises:
            InvalidAnswer: not one of the categories. The message does not repeat it.
            InvalidRequest: the question has been answered already.
        """
        design = about.designs[-1] if isinstance(about, Ladder) else about
        number = design.category_number(answer)
        if not isinstance(question, str) or not question.strip():
            raise InvalidRequest("the question has no name; expected some text.")
        limit = Budget.of(budget).written
        with self._store.transaction() as book:
            if book.question(question) is not None:
                raise InvalidRequest(
                    f"the question {question!r:.60} is answered already; expected another one.",
                    "An answer is given once: a second one would be drawn for anew, and be paid for again.",
                )
            kept = None if isinstance(about, Ladder) and not keep else f"{number:x}"
            # What a draw from the answer was made with tells the answer, next to its response: erased together.
            secret = self._source.read(SECRET if kept is None else 2 * SECRET)
            book.add_design(design.hash, design.to_json())
            at = book.add_question(question, design.hash, kept, secret, limit)
            if isinstance(about, Ladder):
                draw_planned(book, at, about, number, self._source)

    def release(self, question: str, stage: Staged | int | None = None, *, to: str = "") -> Released:
        """Release a stage of a question: what this returns may leave.

        A stage that is out already is returned as it is. One that is coarser than what is out is made from that, once,
        and costs nothing. One that is finer is raised from what is out.

        Args:
            question: its name.
            stage: the design; or the number of a stage that is drawn, counted from 0, the coarsest; or None for the
                first of them that is not out.
            to: who is given it, for the receipt.

        Raises:
            OverBudget: it would spend too much; the error says by how much.
            NotAllowed: the respondent has withdrawn, or the answer was not kept and is needed.
            NotOrdered: the design cannot be compared with a stage that is out.
            InvalidRequest: there is no such question or stage.
        """
        with self._store.transaction() as book:
            return release(book, question, stage, to)

    def status(self) -> Status:
        """Return how the ledger stands: what was spent, and what is left."""
        with self._store.transaction(write=False) as book:
            return status(book)

    def receipts(self) -> tuple[Receipt, ...]:
        """Return the whole history."""
        with self._store.transaction(write=False) as book:
            return tuple(map(Receipt.from_json, book.receipts()))

    def history(self) -> str:
        """Return the whole history as lines of JSON, closed by a last line."""
        with self._store.transaction(write=False) as book:
            return write([Receipt.from_json(each) for each in book.receipts()], book.name())

    def check(self) -> None:
        """Check the file, the history, and that all that is out was counted.

        Raises:
            UnreadableFile: the file is damaged, or something is out that was not counted.
        """
        with self._store.transaction(write=False) as book:
            check(book)

    def forget(self, question: str) -> None:
        """Erase the answer: only stages that are drawn, and coarser ones, can be released after that."""
        with self._store.transaction() as book:
            book.erase_answer(known(book, question).id)

    def withdraw(self, question: str | None = None) -> Withdrawal:
        """Stop all further releases of a question, or of all, and erase what is not out.

        Raises:
            InvalidRequest: there is no such question.
        """
        with self._store.transaction() as book:
            found = book.questions() if question is None else [known(book, question)]
            return withdraw(book, found, everything=question is None)

    def transaction(self) -> AbstractContextManager[Book]:
        """Return a transaction on the file, for those who release under conditions of their own."""
        return self._store.transaction()

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

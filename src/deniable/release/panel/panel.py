"""Many respondents' answers, released in stages by whoever may hold them: a panel, or the curator of a file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from numpy.typing import NDArray

from deniable import chance, exact
from deniable.db.durable import closed_on_error
from deniable.designs import Design
from deniable.errors import InvalidRequest, UnreadableFile
from deniable.order.ladders import Ladder
from deniable.release.budget import Budget
from deniable.release.panel.accounts import append, check_budgets, now
from deniable.release.panel.book import Book
from deniable.release.panel.release import (
    check_named,
    chosen,
    count_stages,
    place_of,
    plan,
    question_of,
    read_answers,
    release_stage,
)
from deniable.release.panel.store import SCHEMA, VERSION, Store, open_store
from deniable.release.receipts import Receipt, write
from deniable.tallies import Tally, tally
from deniable.tallies.stages import StageTallies

__all__ = ["Panel", "Releases"]


@dataclass(frozen=True, eq=False)
class Releases:
    """A stage of many respondents, which may leave.

    Attributes:
        design: of the stage.
        respondents: who they are.
        responses: in the same order, as engines have them: codes, or packed rows where a design sends sets.
        receipt: what was spent, on nobody more than this.
        fresh: how many of them are released for the first time.
    """

    design: Design
    respondents: tuple[str, ...]
    responses: NDArray[Any] = field(repr=False)
    receipt: Receipt
    fresh: int

    @property
    def symbols(self) -> list[str]:
        """The responses by name."""
        if self.responses.ndim == 2:
            numbers = (int.from_bytes(row.tobytes(), "little") for row in self.responses)
            return [self.design.symbols[number] for number in numbers]
        return [self.design.symbols[number] for number in self.responses.tolist()]

    def tally(self) -> Tally:
        """Return the counts of these responses."""
        return tally(self.design, self.responses)


class Panel:
    """A table of respondents with their answers, from which stages are released to all or to some.

    Guarantee: as for a `Ledger`, for each respondent: drawn once, recorded before it is returned, nothing beyond a
    budget, whatever is killed and however many programs write.

    Example:
        >>> import tempfile
        >>> from deniable.designs import warner
        >>> panel = Panel.create(tempfile.mkdtemp() + "/panel.db", budget=2)
        >>> panel.answer("smokes", {"anna": "yes", "bert": "no", "carl": "no"}, about=warner(1))
        >>> first = panel.release("smokes", warner(1))
        >>> panel.release("smokes", warner(1)).symbols == first.symbols
        True
        >>> panel.release("smokes", warner(2), respondents=["anna"]).receipt.epsilon_after
        2.0
        >>> panel.close()
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    @classmethod
    def create(
        cls,
        where: str | os.PathLike[str],
        *,
        budget: exact.Rational | None = None,
        source: chance.Source = chance.SYSTEM,
    ) -> Panel:
        """Make a new panel.

        Args:
            where: a file that does not exist yet, or the address of a Postgres database without a panel.
            budget: the ε that may be spent on each respondent, all questions together; None for no limit.
            source: random bytes for the panel's name.

        Raises:
            InvalidRequest: there is one already.
            MissingExtra: an address, and psycopg is not installed.
        """
        limit = Budget.of(budget).written
        store = open_store(where, create=True)
        with closed_on_error(store), store.transaction() as tables:
            if tables.has_tables():
                raise InvalidRequest(f"{store.name} holds a panel already; expected a new place.", "Open it instead.")
            for statement in SCHEMA:
                tables.run(statement)
            made = (source.read(16).hex(), VERSION, limit, now())
            tables.insert("panel", ("id", "version", "budget", "made"), [made])
        return cls(store)

    @classmethod
    def open(cls, where: str | os.PathLike[str]) -> Panel:
        """Open a panel.

        Raises:
            UnreadableFile: there is none, or it is damaged or of another version.
            MissingExtra: an address, and psycopg is not installed.
        """
        store = open_store(where)
        with closed_on_error(store), store.transaction(write=False) as tables:
            if not tables.has_tables() or tables.value("SELECT version FROM panel") != VERSION:
                raise UnreadableFile(f"{store.name} holds no panel of this version.", "Make one: Panel.create().")
        return cls(store)

    def answer(
        self,
        question: str,
        answers: Mapping[str, str],
        about: Design | Ladder,
        *,
        budget: exact.Rational | None = None,
        keep: bool = False,
    ) -> None:
        """Enter answers to a question, of respondents who have not answered it yet. Nothing is released by that.

        Args:
            question: a name for it.
            answers: the truth of each respondent.
            about: a ladder, all of whose stages are drawn at once (planned); or a design that knows the categories
                (open-ended).
            budget: the ε that may be spent on each respondent for this question; None for no limit of its own.
            keep: keep answers to a planned question, so that stages beyond the ladder can follow.

        Raises:
            InvalidAnswer: not one of the categories; only the row is told.
            InvalidRequest: somebody has answered already.
            Incompatible: the question is about other categories, or has another budget.
        """
        design = about.designs[-1] if isinstance(about, Ladder) else about
        numbers = read_answers(design, answers)
        limit = Budget.of(budget).written
        with self._store.transaction() as tables:
            book = Book(tables)
            row = question_of(book, question, design, limit)
            twice = set(book.state(row.id, list(answers)).answers) | (book.withdrawn() & set(answers))
            if twice:
                raise InvalidRequest(
                    f"{len(twice):,} of these respondents have answered already, or have withdrawn; expected others."
                )
            kept = keep or not isinstance(about, Ladder)
            book.add_answers(row.id, zip(answers, numbers if kept else [None] * len(numbers), strict=True))
            if isinstance(about, Ladder):
                plan(book, row, about, list(answers), numbers)

    def release(
        self, question: str, stage: Design | int, *, respondents: Sequence[str] | None = None, to: str = ""
    ) -> Releases:
        """Release a stage of a question for respondents: what this returns may leave.

        Args:
            question: its name.
            stage: the design, or the number of a stage that is drawn, counted from 0, the coarsest.
            respondents: who; all who have answered and not withdrawn, if left out.
            to: who is given it, for the receipt.

        Raises:
            OverBudget: it would spend too much on somebody; then it is released for nobody.
            NotAllowed: an answer is needed and was not kept.
            NotOrdered: the design cannot be compared with a stage of this question.
            InvalidRequest: no such question, stage or respondent.
        """
        with self._store.transaction() as tables:
            book = Book(tables)
            row = book.known(question)
            stages = book.stages(row.id)
            design = chosen(book, stages, stage)
            state = book.state(row.id, respondents)
            check_named(state, respondents)
            before = book.finest()
            at = place_of(book, row, stages, design)
            check_budgets(book, row, design.parity, at[0], list(state.answers))
            fresh = release_stage(book, row, design, at, state)
            receipt = append(book, row, design, before, to, fresh, len(state.answers))
        names = tuple(state.answers)
        responses = design.channel.coding.pack([state.held[at[1].id][name][0] for name in names])
        return Releases(design, names, responses, receipt, fresh)

    def tallies(self, question: str) -> StageTallies:
        """Return the counts of a question: of each stage that is out, and of everybody at the finest response."""
        with self._store.transaction(write=False) as tables:
            book = Book(tables)
            row = book.known(question)
            stages, state = book.stages(row.id), book.state(row.id, None)
            designs = [book.read_design(stage) for stage in stages]
        return count_stages(stages, state, designs)

    def withdraw(self, respondents: Sequence[str]) -> int:
        """Stop releases for respondents, and erase their answers and what is not out; return how many were withdrawn.

        What is out is with whoever has it, and stays counted in what was spent. It cannot be called back.

        Raises:
            InvalidRequest: a single text, which would be taken letter by letter.
        """
        if isinstance(respondents, str):
            raise InvalidRequest("the respondents are one text; expected a list of names.")
        with self._store.transaction() as tables:
            book = Book(tables)
            gone = book.withdrawn()
            names = [name for name in dict.fromkeys(respondents) if name not in gone]
            book.erase(names, now())
        return len(names)

    def receipts(self) -> tuple[Receipt, ...]:
        """Return the whole history."""
        with self._store.transaction(write=False) as tables:
            return tuple(map(Receipt.from_json, Book(tables).receipts()))

    def history(self) -> str:
        """Return the whole history as lines of JSON, closed by a last line."""
        with self._store.transaction(write=False) as tables:
            book = Book(tables)
            return write([Receipt.from_json(each) for each in book.receipts()], book.name())

    def close(self) -> None:
        """Close the file, or the connection."""
        self._store.close()

    def __enter__(self) -> Panel:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

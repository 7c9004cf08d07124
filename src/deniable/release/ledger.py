"""A respondent's own ledger: answers, what of them is out, and what that has cost. Standard library alone."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

from deniable import exact
from deniable.chance import SYSTEM, Source
from deniable.db import Database
from deniable.documents import Response
from deniable.errors import InvalidRequest, NotAllowed, quoted
from deniable.exact import Ratio
from deniable.order.ladders import Ladder, as_ladder, check_categories, stages_of
from deniable.release.book import (
    OWNER,
    Book,
    Bookkeeper,
    QuestionRow,
    Staged,
    read_parity,
    utc_now,
)
from deniable.release.receipts import Budget, Receipt, compose_parities
from deniable.release.stages import SameNeighbours, enter, read_stage
from deniable.release.stages import release as release_stage
from deniable.rendering import formats

SECRET = 32
"""Bytes of a secret. A question has one for draws from what is out and, as long as the answer is kept, one from it."""

_BLOCK = 4096  # bytes of SHAKE-256 at a time


class DerivedBytes:
    """Random bytes of one question and one moment of its history: SHAKE-256 over a secret and a context, in blocks.

    Guarantee: to whoever does not know the secret, which never leaves the ledger, they are as good as random.

    Why: a copy of the ledger that is asked for the same stages in the same order draws the same responses. Restoring a
    backup, or opening the file on two devices, does not spend a stage twice.

    Example:
        >>> one, two, other = (DerivedBytes(bytes(32), [each]).read(8) for each in ("a", "a", "b"))
        >>> one == two != other
        True
    """

    def __init__(self, secret: bytes, context: Sequence[object]) -> None:
        self._start = hashlib.shake_256(
            b"deniable/ledger/1\0" + secret + json.dumps(list(context)).encode()
        )
        self._blocks = 0
        self._bytes = b""

    def read(self, count: int) -> bytes:
        """Return the next bytes."""
        while len(self._bytes) < count:
            block = self._start.copy()
            block.update(self._blocks.to_bytes(8, "little"))
            self._blocks += 1
            self._bytes += block.digest(_BLOCK)
        chunk, self._bytes = self._bytes[:count], self._bytes[count:]
        return chunk


def finite(epsilon: float) -> float | None:
    """Return an ε for JSON, which knows no infinity: None where the answer is given away."""
    return None if epsilon == math.inf else epsilon


@dataclass(frozen=True)
class Released:
    """A response that may leave, with the receipt for it.

    Attributes:
        response: what is sent.
        receipt: what was spent.
        fresh: whether this stage is released for the first time; asking again gives the same response.
    """

    response: Response
    receipt: Receipt
    fresh: bool


@dataclass(frozen=True)
class Stage:
    """A stage of a question.

    Attributes:
        design: the hash of its design.
        epsilon: the ε of all stages up to it, rounded up.
        released: whether it is out; a planned stage is drawn before.
        symbol: the response, where it is out.
        holders: who was given it.
    """

    design: str
    epsilon: float
    released: bool
    symbol: str | None
    holders: tuple[str, ...]


@dataclass(frozen=True)
class Standing:
    """State of a question: budget, privacy spent, stages.

    Attributes:
        question: its name.
        stages: drawn so far, the coarsest first.
        parity: spent, exactly.
        budget: the ε that may be spent; None for no limit of its own.
        left: the ε that is left of it, rounded down; None for no limit.
        answer_kept: whether finer stages than these can still be drawn.
        withdrawn: when the respondent withdrew; None if not.
    """

    question: str
    stages: tuple[Stage, ...]
    parity: Ratio
    budget: float | None
    left: float | None
    answer_kept: bool
    withdrawn: str | None

    @property
    def epsilon(self) -> float:
        """Spent, rounded up."""
        return exact.log_above(self.parity)

    def to_body(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "question": self.question,
            "spent": finite(self.epsilon),
            "budget": self.budget,
            "left": self.left,
            "answer_kept": self.answer_kept,
            "withdrawn": self.withdrawn,
            "stages": [
                {**asdict(stage), "epsilon": finite(stage.epsilon)}
                for stage in self.stages
            ],
        }


@dataclass(frozen=True)
class Status:
    """State of a ledger: budget, privacy spent, questions.

    Attributes:
        ledger: its name, drawn at random.
        questions: how each question stands.
        parity: spent on all of them together, exactly: the product.
        budget: the ε that may be spent on all of them; None for no limit.
        left: the ε that is left of it, rounded down; None for no limit.
    """

    ledger: str
    questions: tuple[Standing, ...]
    parity: Ratio
    budget: float | None
    left: float | None

    @property
    def epsilon(self) -> float:
        """Spent in all, rounded up."""
        return exact.log_above(self.parity)

    def question(self, name: str) -> Standing:
        """Return the state of one question.

        Raises:
            InvalidRequest: there is none of this name.
        """
        for question_standing in self.questions:
            if question_standing.question == name:
                return question_standing
        raise InvalidRequest(
            f"there is no question {quoted(name, 60)} in this ledger; expected one that was answered."
        )

    def to_body(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "ledger": self.ledger,
            "spent": finite(self.epsilon),
            "budget": self.budget,
            "left": self.left,
            "questions": [question.to_body() for question in self.questions],
        }


@dataclass(frozen=True)
class Withdrawal:
    """Effects of a withdrawal: stopped releases, erased entries, and stages that cannot be recalled.

    Attributes:
        questions: withdrawn now.
        out: for each stage that is out, the question, its ε and who holds it.
        receipt: the entry in the history.
    """

    questions: tuple[str, ...]
    out: tuple[tuple[str, float, tuple[str, ...]], ...]
    receipt: Receipt

    @property
    def told(self) -> str:
        """The withdrawal in words."""
        names = ", ".join(map(repr, self.questions)) or "no question"
        lines = [
            f"Withdrawn: {names}. Nothing more will be released, and the answers, all that was drawn and not released, "
            "and what draws are made from were erased from this ledger."
        ]
        for question, epsilon, holders in self.out:
            who = ", ".join(holder or "an unnamed holder" for holder in holders)
            lines.append(
                f"Cannot be undone: a response to {question!r} at ε = {formats.epsilon(epsilon, 6)} is with {who}. "
                "Whoever has it keeps what it says, and may have passed it on or counted it already."
            )
        if not self.out:
            lines.append("Nothing was out.")
        return "\n".join(lines)


class Ledger(Bookkeeper):
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

    KIND: ClassVar[str] = "ledger"
    PATIENCE: ClassVar[float] = 60.0

    def __init__(self, database: Database, source: Source = SYSTEM) -> None:
        super().__init__(database)
        self._source = source

    @classmethod
    def create(
        cls,
        path: str | PathLike[str],
        *,
        budget: exact.Rational | None = None,
        source: Source = SYSTEM,
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
        return cls(cls._create(Path(path), budget, source), source)

    @classmethod
    def open(cls, path: str | PathLike[str], *, source: Source = SYSTEM) -> Ledger:
        """Open a ledger.

        Raises:
            UnreadableFile: no ledger, damaged, or of another version.
        """
        return cls(cls._open(Path(path)), source)

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
            keep: store the answer to a planned question too, so that stages beyond the ladder can follow.

        Raises:
            InvalidAnswer: not one of the categories. The message does not repeat it.
            InvalidRequest: the question has been answered already.
            Incompatible: the design is not about categories.
        """
        stages: tuple[Staged, ...] = stages_of(about)
        design, ladder = stages[-1], as_ladder(about)
        check_categories(design)
        number = design.category_number(answer)
        if not isinstance(question, str) or not question.strip():
            raise InvalidRequest("the question has no name; expected some text.")
        limit = Budget.from_number(budget).written
        with self.transaction() as book:
            if book.question(question) is not None:
                raise InvalidRequest(
                    f"the question {quoted(question, 60)} is answered already; expected another one.",
                    "An answer is given once: a second one would be drawn for anew, and be paid for again.",
                )
            row = book.add_question(question, design, limit)
            self._enter_answer(book, row, number, ladder, keep)

    def _enter_answer(
        self,
        book: Book,
        row: QuestionRow,
        number: int,
        ladder: Ladder | None,
        keep: bool,
    ) -> None:
        """Draw the stages that are planned, and store the answer where it is kept."""
        is_kept = keep or ladder is None
        # What a draw from the answer was made with tells the answer, next to its response: erased together.
        secret = self._source.read(2 * SECRET if is_kept else SECRET)
        planned = (
            None
            if ladder is None
            else (ladder, _draw_stages(ladder, number, self._source))
        )
        enter(
            book,
            row,
            {OWNER: number},
            is_kept=is_kept,
            secret=secret,
            planned=planned,
        )

    def release(
        self, question: str, stage: Staged | int | None = None, *, to: str = ""
    ) -> Released:
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
        with self.transaction() as book:
            return release(book, question, stage, to)

    def status(self) -> Status:
        """Return the state of the ledger: privacy spent, and what is left of the budgets."""
        with self.transaction(write=False) as book:
            return _status(book)

    def forget(self, question: str) -> None:
        """Erase the answer: only stages that are drawn, and coarser ones, can be released after that."""
        with self.transaction() as book:
            book.erase_answers(book.require_question(question).id, SECRET)

    def withdraw(self, question: str | None = None) -> Withdrawal:
        """Stop all further releases of a question, or of all, and erase what is not out.

        Raises:
            InvalidRequest: there is no such question.
        """
        with self.transaction() as book:
            rows = (
                book.questions()
                if question is None
                else [book.require_question(question)]
            )
            return _withdraw(book, rows, everything=question is None)


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
    row = book.require_question(question)
    withdrawn = book.withdrawn(row.id)
    if withdrawn:
        raise NotAllowed(
            f"the respondent withdrew {quoted(question, 60)} on {withdrawn[OWNER]}; nothing more is released."
        )
    design = (
        _first_unreleased(book, row)
        if stage is None
        else read_stage(book, book.stages(row.id), stage)
    )
    before = book.spent()
    stage_release = release_stage(book, row, design, [OWNER], _draw)[OWNER]
    earlier = (
        book.receipts_of(row.id, design=design.hash, holder=to)
        if kind == "release"
        else []
    )
    receipt = (
        earlier[0]
        if earlier
        else book.append(
            kind, row, before, design=design.hash, holder=to, details=details
        )
    )
    return Released(
        Response(design.hash, design.symbols[stage_release.response]),
        receipt,
        not stage_release.released,
    )


def _first_unreleased(book: Book, row: QuestionRow) -> Staged:
    """Return the first stage that is drawn and not released."""
    drawn_stages = book.drawn(row.id, [OWNER])
    for stage in book.stages(row.id):
        if (
            OWNER in drawn_stages[stage.id]
            and not drawn_stages[stage.id][OWNER].released
        ):
            return book.design(stage.design)
    raise InvalidRequest("no stage is waiting; expected the design of another one.")


def _draw(book: Book, row: QuestionRow, group: SameNeighbours) -> list[int]:
    """Draw a stage from the question's secret, from the half that is erased with the answer where it is needed."""
    secret = book.secret(row.id, OWNER)
    half = secret[SECRET:] if group.place.finest else secret[:SECRET]
    assert len(half) == SECRET, "what draws are made with was erased"
    coarser, finer = (
        next(iter(neighbours), None) for neighbours in (group.coarser, group.finer)
    )
    around = ((group.below, coarser), (group.above, finer))
    context = [
        group.design.hash,
        *(
            None if design is None else (design.hash, f"{number:x}")
            for design, number in around
        ),
    ]
    answer = next(iter(group.answers), None)
    source = DerivedBytes(half, context)
    return [
        group.place.draw(
            group.design, answer, coarser=coarser, finer=finer, source=source
        )
    ]


def _draw_stages(ladder: Ladder, answer: int, source: Source) -> list[list[int]]:
    """Draw all stages of a ladder, the finest first; return them with the coarsest first."""
    responses = [ladder.designs[-1].channel.draw(answer, source)]
    for step in reversed(ladder.steps):
        responses.append(step.degrade(responses[-1], source))
    return [[response] for response in reversed(responses)]


def _status(book: Book) -> Status:
    spent, budget = book.spent(), book.budget()
    total = compose_parities(spent.values())
    standings = tuple(
        _question_state(book, row, spent.get(row.id, Fraction(1)))
        for row in book.questions()
    )
    return Status(book.name(), standings, total, budget.shown, budget.left(total))


def _question_state(book: Book, row: QuestionRow, spent: Ratio) -> Standing:
    drawn_stages, budget = book.drawn(row.id, [OWNER]), Budget.read(row.budget)
    stages = []
    for stage in book.stages(row.id):
        if OWNER in drawn_stages[stage.id]:
            design, (response, out) = (
                book.design(stage.design),
                drawn_stages[stage.id][OWNER],
            )
            symbol = design.symbols[response] if out else None
            stages.append(
                Stage(
                    stage.design,
                    design.epsilon,
                    out,
                    symbol,
                    book.holders(row.id, stage.design),
                )
            )
    return Standing(
        question=row.name,
        stages=tuple(stages),
        parity=spent,
        budget=budget.shown,
        left=budget.left(spent),
        answer_kept=book.answers(row.id, [OWNER]) != [None],
        withdrawn=book.withdrawn(row.id).get(OWNER),
    )


def _withdraw(
    book: Book, rows: Sequence[QuestionRow], *, everything: bool
) -> Withdrawal:
    """Withdraw questions: erase what is not out, and say what is.

    Raises:
        InvalidRequest: nothing is left to withdraw.
    """
    open_rows = [row for row in rows if not book.withdrawn(row.id)]
    if not open_rows:
        raise InvalidRequest("nothing is left to withdraw.")
    out: list[tuple[str, float, tuple[str, ...]]] = []
    for row in open_rows:
        book.erase([OWNER], row.id, utc_now())
        released = book.released_stages(row.id)
        for stage in book.stages(row.id):
            if stage.id in released:
                out.append(
                    (
                        row.name,
                        exact.log_above(read_parity(stage.parity)),
                        book.holders(row.id, stage.design),
                    )
                )
    receipt = book.append(
        "withdrawal", None if everything else open_rows[0], book.spent()
    )
    return Withdrawal(tuple(row.name for row in open_rows), tuple(out), receipt)

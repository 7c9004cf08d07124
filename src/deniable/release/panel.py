"""Panels: answers of many respondents, released in stages by a curator."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable import chance, exact
from deniable.bulk.columns import draw_all
from deniable.bulk.gradual import Raiser, release_planned
from deniable.bulk.random_words import Keystream
from deniable.channel.coding import code_type
from deniable.designs import Design
from deniable.errors import (
    Incompatible,
    InvalidAnswer,
    InvalidRequest,
    quoted,
    read_names,
)
from deniable.order.ladders import (
    Ladder,
    Relaxation,
    as_ladder,
    check_categories,
    stages_of,
)
from deniable.order.relaxation import ladder
from deniable.release.book import (
    EVERY_QUESTION,
    Book,
    Bookkeeper,
    QuestionRow,
    utc_now,
)
from deniable.release.receipts import Budget, Receipt
from deniable.release.stages import (
    SameNeighbours,
    check_same,
    enter,
    read_stage,
    release,
)
from deniable.tallies import Tally, tally
from deniable.tallies.stages import StageTallies


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
    respondents: tuple[str, ...] = field(repr=False)
    responses: NDArray[Any] = field(repr=False)
    receipt: Receipt
    fresh: int

    @property
    def symbols(self) -> list[str]:
        """The responses by name."""
        return [
            self.design.symbols[number]
            for number in self.design.channel.coding.unpack(self.responses)
        ]

    def tally(self) -> Tally:
        """Return the counts of these responses."""
        return tally(self.design, self.responses)


class Panel(Bookkeeper):
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

    KIND: ClassVar[str] = "panel"
    PATIENCE: ClassVar[float] = 600.0  # a release to a large panel takes a while

    @classmethod
    def create(
        cls,
        location: str | os.PathLike[str],
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
        return cls(cls._create(location, budget, source))

    @classmethod
    def open(cls, location: str | os.PathLike[str]) -> Panel:
        """Open a panel.

        Raises:
            UnreadableFile: there is none, or it is damaged or of another version.
            MissingExtra: an address, and psycopg is not installed.
        """
        return cls(cls._open(location))

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
            Incompatible: the question is about other categories, or about none, or has another budget.
        """
        design = stages_of(about)[-1]
        ladder = as_ladder(about)
        check_categories(design)
        numbers = dict(zip(answers, _read_answers(design, answers), strict=True))
        limit = Budget.from_number(budget).written
        with self.transaction() as book:
            row = _question(book, question, design, limit)
            _check_new(book, row, numbers)
            planned = (
                None
                if ladder is None
                else (ladder, _draw_planned(ladder, list(numbers.values())))
            )
            enter(
                book, row, numbers, is_kept=keep or planned is None, planned=planned
            )

    def release(
        self,
        question: str,
        stage: Design | int,
        *,
        respondents: Sequence[str] | None = None,
        to: str = "",
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
        with self.transaction() as book:
            row = book.require_question(question)
            design = read_stage(book, book.stages(row.id), stage)
            if not isinstance(design, Design):
                raise InvalidRequest(
                    f"{design!r} is no design of categories; expected one."
                )
            names = _select_respondents(book, row, respondents)
            releases, fresh, receipt = _release_stage(book, row, design, names, to)
        responses = design.channel.coding.pack(
            [release.response for release in releases.values()]
        )
        return Releases(design, tuple(releases), responses, receipt, fresh)

    def tallies(self, question: str) -> StageTallies:
        """Return the counts of a question: of each stage that is out, and of everybody at the finest response."""
        with self.transaction(write=False) as book:
            row = book.require_question(question)
            stages, drawn_stages = (
                book.stages(row.id),
                book.drawn(row.id, _select_respondents(book, row, None)),
            )
            designs = [book.design(stage.design) for stage in stages]
        out = [
            {
                name: release.response
                for name, release in drawn_stages[stage.id].items()
                if release.released
            }
            for stage in stages
        ]
        return _count_stages(
            [design for design in designs if isinstance(design, Design)], out
        )

    def withdraw(self, respondents: Sequence[str]) -> int:
        """Stop releases for respondents and erase their unreleased data; return the number of withdrawn respondents.

        What is out is with whoever has it, and stays counted in what was spent. It cannot be called back.

        Raises:
            InvalidRequest: a single text, which would be taken letter by letter.
        """
        if isinstance(respondents, str):
            raise InvalidRequest(
                "the respondents are one text; expected a list of names."
            )
        with self.transaction() as book:
            gone = book.withdrawn(EVERY_QUESTION)
            names = [name for name in dict.fromkeys(respondents) if name not in gone]
            book.erase(names, EVERY_QUESTION, utc_now())
        return len(names)


def _check_new(book: Book, row: QuestionRow, numbers: Mapping[str, int]) -> None:
    names = list(numbers)
    twice = {
        *book.answered(row.id, names),
        *(book.withdrawn(row.id).keys() & numbers.keys()),
    }
    if twice:
        raise InvalidRequest(
            f"{len(twice):,} of these respondents have answered already, or have withdrawn; expected others."
        )


def _release_stage(
    book: Book, row: QuestionRow, design: Design, names: Sequence[str], to: str
) -> tuple[Any, int, Receipt]:
    """Release a stage, and write its receipt; return also how many responses are new."""
    before = book.spent()
    releases = release(book, row, design, names, _draw)
    fresh = sum(not release.released for release in releases.values())
    details = {"respondents": str(len(names)), "fresh": str(fresh)}
    receipt = book.append(
        "release",
        row,
        before,
        design=design.hash,
        holder=to,
        details=details,
    )
    return releases, fresh, receipt


def _read_answers(design: Design, answers: Mapping[str, str]) -> list[int]:
    """Return the number of each answer.

    Raises:
        InvalidAnswer: not one of the categories; only the row is told.
    """
    numbers = []
    for row, answer in enumerate(answers.values()):
        try:
            numbers.append(design.category_number(answer))
        except InvalidAnswer as error:
            raise InvalidAnswer(
                f"the answer at index {row:,}: {error.problem}", error.hint
            ) from None
    return numbers


def _question(
    book: Book, name: str, design: Design, budget: str | None
) -> QuestionRow:
    """Return a question; enter it if it is new.

    Raises:
        Incompatible: it is about other categories, or has another budget.
    """
    row = book.question(name)
    if row is None:
        return book.add_question(name, design, budget)
    check_same(book.design(row.about), design)
    if row.budget != budget:
        raise Incompatible(
            f"the question {quoted(name, 60)} has another budget; expected the same for all respondents."
        )
    return row


def _select_respondents(
    book: Book, row: QuestionRow, respondents: Sequence[str] | None
) -> list[str]:
    """Return those who answered a question and did not withdraw; all of them, or the named ones.

    Raises:
        InvalidRequest: some of those who are named have not answered, or have withdrawn.
    """
    if respondents is not None:
        respondents = read_names(respondents, "respondents")
    gone = book.withdrawn(row.id)
    names = [name for name in book.answered(row.id, respondents) if name not in gone]
    missing = 0 if respondents is None else len(set(respondents)) - len(names)
    if missing:
        raise InvalidRequest(
            f"{missing:,} of the respondents have not answered, or have withdrawn; expected others."
        )
    return names


def _count_stages(
    designs: Sequence[Design], out: Sequence[Mapping[str, int]]
) -> StageTallies:
    """Count the responses of each stage, by respondent, and everybody once."""
    observed, finest, counted_names = [], [], set[str]()
    for design, responses in zip(reversed(designs), reversed(out), strict=True):
        first = {
            name: response
            for name, response in responses.items()
            if name not in counted_names
        }
        observed.append(
            tally(design, design.channel.coding.pack(list(responses.values())))
        )
        finest.append(
            tally(design, design.channel.coding.pack(list(first.values())))
        )
        counted_names |= set(first)
    return StageTallies(
        ladder(designs), tuple(reversed(observed)), tuple(reversed(finest))
    )


def _draw(book: Book, row: QuestionRow, group: SameNeighbours) -> list[int]:  # noqa: ARG001 - as every `Draw`
    """Draw a stage for a group: afresh, raised from the stage below, or made from the stage above."""
    return _upwards(group) if group.place.finest else _downwards(group)


def _upwards(group: SameNeighbours) -> list[int]:
    design, below = group.design, group.below
    assert isinstance(design, Design)
    answers = np.array(group.answers, code_type(design.channel.answers))
    if group.place.below is None or below is None:
        return design.channel.coding.unpack(draw_all(design, answers, codes=True))
    assert isinstance(below, Design)
    raiser = Raiser(Relaxation(below, design, group.place.below), codes=True)
    return design.channel.coding.unpack(
        raiser.upgrade(below.channel.coding.pack(group.coarser), answers)
    )


def _downwards(group: SameNeighbours) -> list[int]:
    design, above, position = group.design, group.above, group.place
    assert isinstance(design, Design)
    assert isinstance(above, Design)
    assert position.above is not None
    if position.below is None:
        coarsened = Raiser(Relaxation(design, above, position.above)).degrade(
            above.channel.coding.pack(group.finer)
        )
        return design.channel.coding.unpack(coarsened)
    source = Keystream()
    pairs = zip(group.coarser, group.finer, strict=True)
    return [
        position.below.between(position.above, coarse, fine, source)
        for coarse, fine in pairs
    ]


def _draw_planned(ladder: Ladder, answers: Sequence[int]) -> list[list[int]]:
    """Draw all stages of a ladder; return the responses of each stage."""
    kind = code_type(ladder.designs[-1].channel.answers)
    columns = release_planned(ladder, np.array(answers, kind), codes=True)
    return [
        design.channel.coding.unpack(column)
        for design, column in zip(ladder.designs, columns, strict=True)
    ]

"""Release of a stage in one transaction: its position among the others, the budgets, the draw and the record.

One machine for ledgers and panels. What differs is how responses are drawn: see `Draw`.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from deniable import chance
from deniable.designs import Design
from deniable.errors import (
    Incompatible,
    InvalidRequest,
    NotAllowed,
    NotOrdered,
    quoted,
)
from deniable.exact import Ratio
from deniable.order.blackwell import find_step
from deniable.order.closed_forms import find_closed_form, step_to_body
from deniable.order.ladders import Ladder, check_alike, step_from_body
from deniable.order.relaxation import relax
from deniable.order.steps import Step
from deniable.release.book import (
    Book,
    Drawn,
    QuestionRow,
    Staged,
    StageRow,
    read_parity,
)
from deniable.release.receipts import Budget, compose_parities

Find = Callable[[Staged, Staged], Step | None]
"""From a coarser and a finer design to the relaxation between them, or None where there is none."""


@dataclass(frozen=True)
class Place:
    """Position of a design in a chain of designs, each a garbling of the next.

    Attributes:
        at: how many stages of the chain lie below it.
        below: the relaxation from the next coarser stage, if there is one.
        above: the relaxation to the next finer stage, if there is one.
    """

    at: int
    below: Step | None
    above: Step | None

    @property
    def finest(self) -> bool:
        """Whether nothing finer is out, so that the answer is needed."""
        return self.above is None

    def draw(
        self,
        design: Staged,
        answer: int | None,
        *,
        coarser: int | None,
        finer: int | None,
        source: chance.Source = chance.SYSTEM,
    ) -> int:
        """Draw the response of a stage from those of its neighbours; the answer is needed where none is finer."""
        if self.above is not None and finer is not None:
            if self.below is None or coarser is None:
                return self.above.degrade(finer, source)
            return self.below.between(self.above, coarser, finer, source)
        assert answer is not None, (
            "a stage that is finer than all others is drawn from the answer"
        )
        if self.below is None or coarser is None:
            return int(design.channel.draw(answer, source))
        return self.below.upgrade(coarser, answer, source)


def find_place(
    design: Staged, stages: Sequence[Staged], *, find: Find | None = None
) -> Place:
    """Find where a design stands among stages, the coarsest first; `find` finds relaxations, as `find_relaxation`.

    Raises:
        NotOrdered: it cannot be compared with one of them.
        Incompatible: it is about other categories.
        InvalidRequest: it lies between two stages whose step does not lead through it.
    """
    find = find or find_relaxation
    for stage in stages[-1:]:
        check_same(stage, design)
    position = _neighbours(design, stages, find)
    if position.below is not None and position.above is not None:
        across = find(stages[position.at - 1], stages[position.at])
        if across is None or not position.below.composes(position.above, across):
            raise InvalidRequest(
                f"{design!r} lies between two stages that are out, but they were not drawn through it; expected a "
                "design of their own family.",
                "Plan the whole ladder beforehand, or release stages in rising order.",
            )
    return position


def _neighbours(design: Staged, stages: Sequence[Staged], find: Find) -> Place:
    """Find the steps from the next coarser stage of a chain to a design, and from it to the next finer one.

    Raises:
        NotOrdered: the design is neither coarser nor finer than one of the stages.
    """
    position = len(stages)
    below: Step | None = None
    while position and below is None:
        below = find(stages[position - 1], design)
        position -= below is None
    if position == len(stages):
        return Place(position, below, None)
    above = find(design, stages[position])
    if above is None:
        raise _not_in_line(design, stages[position])
    return Place(position, below, above)


def check_same(old: Staged, new: Staged) -> None:
    """Refuse two designs that are not about the same answers.

    Raises:
        Incompatible: they are not.
    """
    if old.categories == new.categories:
        return
    if isinstance(old, Design) and isinstance(new, Design):
        check_alike(old, new)
    else:
        raise Incompatible(
            "the designs are about different answers; expected stages of one question."
        )


def find_relaxation(old: Staged, new: Staged) -> Step | None:
    """Return the relaxation from one design to another, or None where there is none."""
    # What is known in closed form needs no search.
    found_step = find_closed_form(old.channel, new.channel) or find_step(
        old.channel, new.channel
    )
    return found_step if isinstance(found_step, Step) else None


def relaxation_finder(bodies: Mapping[tuple[str, str], str]) -> Find:
    """Return a function that finds relaxations, with those that were used before.

    Why: where several garblings are right, a search may find another one than the one that was drawn with.

    Args:
        bodies: what `relaxation_to_json` wrote, by the hashes of the coarser and the finer design.
    """

    steps: dict[tuple[str, str], Step | None] = {}

    def find(old: Staged, new: Staged) -> Step | None:
        pair = (old.hash, new.hash)
        if pair not in steps:
            body = bodies.get(pair)
            steps[pair] = (
                find_relaxation(old, new)
                if body is None
                else step_from_body(json.loads(body), old.channel, new.channel)
            )
        return steps[pair]

    return find


def relaxation_to_json(step: Step) -> str:
    """Return a relaxation as JSON, for `relaxation_finder`: what of it does not follow from its channels."""
    return json.dumps(step_to_body(step))


def _not_in_line(design: Staged, out: Staged) -> NotOrdered:
    """Tell why a design has no place: it is neither coarser nor finer than one that is out."""
    if isinstance(out, Design) and isinstance(design, Design):
        try:
            relax(out, design)
        except NotOrdered as error:
            return error
    return NotOrdered(
        f"{design!r} is neither coarser nor finer than {out!r}, which is out; expected one that is."
    )


@dataclass(frozen=True)
class SameNeighbours:
    """Respondents for whom a stage is drawn from the same neighbours, at once.

    Attributes:
        design: the stage.
        place: where it stands between its neighbours.
        names: who they are.
        below: the next coarser stage that they hold, if they do.
        above: the next finer stage that they hold, if they do.
        coarser: their responses of the stage below.
        finer: their responses of the stage above.
        answers: by number; empty where a finer response makes them needless.
    """

    design: Staged
    place: Place
    names: Sequence[str]
    below: Staged | None
    above: Staged | None
    coarser: Sequence[int]
    finer: Sequence[int]
    answers: Sequence[int]


Draw = Callable[[Book, QuestionRow, SameNeighbours], Sequence[int]]
"""Draws the responses of a group: one by one from a secret in a ledger, in bulk in a panel."""


def enter(
    book: Book,
    row: QuestionRow,
    answers: Mapping[str, int],
    *,
    is_kept: bool,
    secret: bytes | None = None,
    planned: tuple[Ladder, Sequence[Sequence[int]]] | None = None,
) -> None:
    """Enter answers to a question by number, and what was drawn for them beforehand: a ladder with all its responses.

    Raises:
        InvalidRequest: the ladder's steps are not those by which stages of others were drawn.
    """
    book.add_answers(
        row.id,
        [(name, number if is_kept else None) for name, number in answers.items()],
        secret,
    )
    if planned is None:
        return
    ladder, columns = planned
    for (old, new), step in zip(pairwise(ladder.designs), ladder.steps, strict=True):
        book.add_step(row.id, (old.hash, new.hash), relaxation_to_json(step))
    for design, responses in zip(ladder.designs, columns, strict=True):
        _, stage = _place_of(book, row, design)
        book.add_responses(
            stage.id, zip(answers, responses, strict=True), released=False
        )


def read_stage(
    book: Book, stages: Sequence[StageRow], stage: Staged | int
) -> Staged:
    """Return the design of a stage, given as such or by number.

    Raises:
        InvalidRequest: there is no such stage.
    """
    if not isinstance(stage, int):
        return stage
    if not 0 <= stage < len(stages):
        raise InvalidRequest(
            f"there is no stage {stage}; expected one of the {len(stages)} that are drawn."
        )
    return book.design(stages[stage].design)


def release(
    book: Book, row: QuestionRow, design: Staged, names: Sequence[str], draw: Draw
) -> dict[str, Drawn]:
    """Release a stage for respondents who have answered and not withdrawn; its receipt is left to the caller.

    It returns the response of each of them, and whether it had been out before.

    Raises:
        OverBudget: it would spend too much on somebody. No answer was looked at.
        NotAllowed: an answer is needed and was not kept.
        NotOrdered, Incompatible: the design cannot be compared with a stage of this question.
        InvalidRequest: it lies between two stages that somebody holds, and they were not drawn through it.
    """
    position, stage = _place_of(book, row, design)
    _check_budgets(book, row, stage, position, names)
    drawn_stages = book.drawn(row.id, names)
    releases = dict(drawn_stages[stage.id])
    book.mark_released(
        stage.id,
        [name for name, release in releases.items() if not release.released],
    )
    lacking = [name for name in names if name not in releases]
    if lacking:
        for group in _groups(book, row, design, stage, lacking, drawn_stages):
            responses = list(zip(group.names, draw(book, row, group), strict=True))
            book.add_responses(stage.id, responses, released=True)
            releases.update(
                (name, Drawn(response, released=False))
                for name, response in responses
            )
    return {name: releases[name] for name in names}


def _place_of(book: Book, row: QuestionRow, design: Staged) -> tuple[int, StageRow]:
    """Return the position of a design among the stages of a question; insert it if it is new."""
    stages = book.stages(row.id)
    for position, candidate in enumerate(stages):
        if candidate.design == design.hash:
            return position, candidate
    if row.about != design.hash:
        check_same(book.design(row.about), design)
    designs = [book.design(candidate.design) for candidate in stages]
    position = _neighbours(design, designs, relaxation_finder(book.steps(row.id))).at
    return position, book.add_stage(row.id, position, design)


def _check_budgets(
    book: Book,
    row: QuestionRow,
    stage: StageRow,
    position: int,
    names: Sequence[str],
) -> None:
    """Refuse a stage that would exceed the budget of a respondent.

    Raises:
        OverBudget: it would; the error says for how many, and by how much at most.
    """
    budget, question_budget, needed = (
        book.budget(),
        Budget.read(row.budget),
        read_parity(stage.parity),
    )
    if budget.epsilon is None and question_budget.epsilon is None:
        return
    reached = book.reached(names)
    # Who has a finer response already spends nothing.
    spending = [
        name for name in names if reached.get(name, {}).get(row.id, -1) < position
    ]
    if not spending:
        return
    whom = "".format if book.kind == "ledger" else ", for {:,} respondents".format
    question_budget.check(
        needed, f"the question {quoted(row.name, 60)}{whom(len(spending))}"
    )
    if budget.epsilon is None:
        return
    _check_total(book, row, budget, needed, reached, spending, whom)


def _check_total(
    book: Book,
    row: QuestionRow,
    budget: Budget,
    needed: Ratio,
    reached: Mapping[str, Mapping[int, int]],
    spending: Sequence[str],
    whom: Callable[[int], str],
) -> None:
    parities = {
        question.id: [
            read_parity(stage.parity) for stage in book.stages(question.id)
        ]
        for question in book.questions()
    }
    positions = Counter(
        frozenset(reached.get(name, {}).items()) for name in spending
    )
    spent = {
        stages_out: compose_parities(
            [
                *(
                    parities[question][place]
                    for question, place in stages_out
                    if question != row.id
                ),
                needed,
            ]
        )
        for stages_out in positions
    }
    beyond = sum(
        positions[stages_out]
        for stages_out, amount in spent.items()
        if amount > budget.limit
    )
    budget.check(max(spent.values()), f"all questions together{whom(beyond)}")


def _groups(
    book: Book,
    row: QuestionRow,
    design: Staged,
    stage: StageRow,
    names: Sequence[str],
    drawn_stages: Mapping[int, Mapping[str, Drawn]],
) -> Iterator[SameNeighbours]:
    """Yield respondents by the neighbours of a stage that they hold; note the steps that lead there."""
    stages, find = book.stages(row.id), relaxation_finder(book.steps(row.id))
    for (low, high), members in _by_neighbours(
        stages, stage, names, drawn_stages
    ).items():
        below, above = (
            None if neighbour is None else book.design(neighbour.design)
            for neighbour in (low, high)
        )
        placement = find_place(
            design,
            [neighbour for neighbour in (below, above) if neighbour is not None],
            find=find,
        )
        _note_steps(book, row, design, below, above, placement)
        coarser, finer = (
            []
            if neighbour is None
            else [drawn_stages[neighbour.id][name].response for name in members]
            for neighbour in (low, high)
        )
        answers = _kept_answers(book, row, members) if placement.finest else []
        yield SameNeighbours(
            design, placement, members, below, above, coarser, finer, answers
        )


def _note_steps(
    book: Book,
    row: QuestionRow,
    design: Staged,
    below: Staged | None,
    above: Staged | None,
    placement: Place,
) -> None:
    if below is not None and placement.below is not None:
        book.add_step(
            row.id,
            (below.hash, design.hash),
            relaxation_to_json(placement.below),
        )
    if above is not None and placement.above is not None:
        book.add_step(
            row.id,
            (design.hash, above.hash),
            relaxation_to_json(placement.above),
        )


def _by_neighbours(
    stages: Sequence[StageRow],
    stage: StageRow,
    names: Sequence[str],
    drawn_stages: Mapping[int, Mapping[str, Drawn]],
) -> dict[tuple[StageRow | None, StageRow | None], list[str]]:
    """Return respondents by the stages next below and next above a stage that they hold."""
    position = stages.index(stage)
    low, high = (
        # of several stages, the last entry stays: that of the nearest one
        {
            name: neighbour
            for neighbour in side
            for name in drawn_stages[neighbour.id]
        }
        for side in (stages[:position], reversed(stages[position + 1 :]))
    )
    names_by_neighbours: dict[tuple[StageRow | None, StageRow | None], list[str]] = (
        defaultdict(list)
    )
    for name in names:
        names_by_neighbours[low.get(name), high.get(name)].append(name)
    return names_by_neighbours


def _kept_answers(book: Book, row: QuestionRow, names: Sequence[str]) -> list[int]:
    """Return answers, which only a stage that is finer than all others needs.

    Raises:
        NotAllowed: some were erased, or never kept.
    """
    answers = book.answers(row.id, names)
    kept_answers = [number for number in answers if number is not None]
    if len(kept_answers) < len(answers):
        whose = (
            "answer was"
            if book.kind == "ledger"
            else f"answers of {len(answers) - len(kept_answers):,} respondents were"
        )
        raise NotAllowed(
            f"the {whose} erased or not kept, and this stage is finer than all that were drawn; expected a coarser "
            "one.",
            "Nothing beyond the stages that were drawn can be released any more.",
        )
    return kept_answers

"""How a panel's stages are entered, found, drawn, released and counted, inside a transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from deniable.designs import Design
from deniable.errors import Incompatible, InvalidAnswer, InvalidRequest
from deniable.order.ladders import Ladder, check_alike
from deniable.order.relaxation import ladder
from deniable.release.chain import remember, remembered
from deniable.release.panel.book import Book, Question, Stage, State
from deniable.release.panel.draw import draw, draw_planned, position
from deniable.tallies import tally
from deniable.tallies.stages import StageTallies

__all__ = ["check_named", "chosen", "count_stages", "place_of", "plan", "question_of", "read_answers", "release_stage"]


def read_answers(design: Design, answers: Mapping[str, str]) -> list[int]:
    """Return the number of each answer.

    Raises:
        InvalidAnswer: not one of the categories; only the row is told.
    """
    found = []
    for row, answer in enumerate(answers.values()):
        try:
            found.append(design.category_number(answer))
        except InvalidAnswer as error:
            raise InvalidAnswer(f"the answer at index {row:,}: {error.problem}", error.hint) from None
    return found


def question_of(book: Book, name: str, design: Design, budget: str | None) -> Question:
    """Return a question; enter it if it is new.

    Raises:
        Incompatible: it is about other categories, or has another budget.
    """
    row = book.question(name)
    if row is None:
        book.add_design(design.hash, design.to_json())
        return book.add_question(name, design.hash, budget)
    check_alike(Design.from_json(book.design(row.about)), design)
    if row.budget != budget:
        raise Incompatible(f"the question {name!r:.60} has another budget; expected the same for all respondents.")
    return row


def plan(book: Book, row: Question, about: Ladder, names: list[str], numbers: list[int]) -> None:
    """Draw all stages of a ladder and keep them.

    Raises:
        InvalidRequest: its steps are not those by which stages of others were drawn.
    """
    for (old, new), step in zip(pairwise(about.designs), about.steps, strict=True):
        book.add_step(row.id, (old.hash, new.hash), remember(step))
    for design, responses in zip(about.designs, draw_planned(about, numbers), strict=True):
        _, stage = place_of(book, row, book.stages(row.id), design)
        book.add_responses(stage.id, zip(names, responses, strict=True), released=False)


def chosen(book: Book, stages: Sequence[Stage], stage: Design | int) -> Design:
    """Return the design of a stage, given as such or by number.

    Raises:
        InvalidRequest: there is no such stage.
    """
    if isinstance(stage, Design):
        return stage
    if not 0 <= stage < len(stages):
        raise InvalidRequest(f"there is no stage {stage}; expected one of the {len(stages)} that are drawn.")
    return book.read_design(stages[stage])


def check_named(state: State, respondents: Sequence[str] | None) -> None:
    """Refuse respondents who are not there.

    Raises:
        InvalidRequest: some have not answered, or have withdrawn.
    """
    missing = 0 if respondents is None else len(set(respondents)) - len(state.answers)
    if missing:
        raise InvalidRequest(f"{missing:,} of the respondents have not answered, or have withdrawn; expected others.")


def place_of(book: Book, row: Question, stages: Sequence[Stage], design: Design) -> tuple[int, Stage]:
    """Return where a design stands among the stages of a question; put it there if it is new."""
    for at, each in enumerate(stages):
        if each.design == design.hash:
            return at, each
    check_alike(Design.from_json(book.design(row.about)), design)
    designs = [book.read_design(each) for each in stages]
    at = position(design, designs, remembered(book.steps(row.id)))
    book.add_design(design.hash, design.to_json())
    return at, book.add_stage(row.id, at, design.hash, str(design.parity))


def release_stage(book: Book, row: Question, design: Design, at: tuple[int, Stage], state: State) -> int:
    """Draw the stage for those who do not have it, mark it as out for all; return for how many it was not out."""
    number, stage = at
    held = state.held.setdefault(stage.id, {})
    waiting = [name for name, (_, out) in held.items() if not out]
    book.mark_released(stage.id, waiting)
    lacking = State({name: answer for name, answer in state.answers.items() if name not in held}, state.held)
    others = [each for each in book.stages(row.id) if each.id != stage.id]
    find = remembered(book.steps(row.id))
    for names, responses, steps in draw(design, number, lacking, others, book.read_design, find):
        for pair, step in steps.items():
            book.add_step(row.id, pair, remember(step))
        book.add_responses(stage.id, zip(names, responses, strict=True), released=True)
        held.update({name: (response, True) for name, response in zip(names, responses, strict=True)})
    return len(waiting) + len(lacking.answers)


def count_stages(stages: Sequence[Stage], state: State, designs: Sequence[Design]) -> StageTallies:
    """Count each stage, and everybody once."""
    out = [{name: each for name, (each, released) in state.held[stage.id].items() if released} for stage in stages]
    seen, finest, done = [], [], set[str]()
    for design, responses in zip(reversed(designs), reversed(out), strict=True):
        first = {name: each for name, each in responses.items() if name not in done}
        seen.append(tally(design, design.channel.coding.pack(list(responses.values()))))
        finest.append(tally(design, design.channel.coding.pack(list(first.values()))))
        done |= set(first)
    return StageTallies(ladder(designs), tuple(reversed(seen)), tuple(reversed(finest)))

"""Arms: who is asked which questions, drawn at random on each respondent's own device.

So compliance and validity can be studied: the same question through two designs, or directly, each put to a random part
of all. The collector learns the arm from the questions that were responded to, and nothing else of the draw.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from deniable import documents
from deniable.chance import SYSTEM, Source, below
from deniable.errors import InvalidRequest, quoted

if TYPE_CHECKING:
    from deniable.survey.question import Question

_MAX_ARMS = 20
_MAX_ODDS = 1_000_000


@dataclass(frozen=True, slots=True)
class SurveyArm:
    """An arm of a survey.

    Attributes:
        name: what programs call it.
        questions: the names of what only this arm, or some arms, are asked; what no arm names is asked of everybody.
        odds: how often it is drawn, against the odds of the others.
    """

    name: str
    questions: tuple[str, ...]
    odds: int = 1

    def to_body(self) -> dict[str, Any]:
        """Return the arm for JSON."""
        return {
            "name": self.name,
            "questions": list(self.questions),
            "odds": self.odds,
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> SurveyArm:
        """Read what `to_body` wrote.

        Raises:
            UnreadableFile: not an arm.
        """
        names = documents.field(body, "questions", list)
        questions = tuple(
            documents.field({"question": name}, "question", str) for name in names
        )
        return cls(
            documents.field(body, "name", str),
            questions,
            documents.integer_field(body, "odds"),
        )


def read_arms(entries: object) -> tuple[SurveyArm, ...]:
    """Read arms as people write them: `[[arms]]` with a name, questions and odds.

    Raises:
        InvalidRequest: not a list of such tables.
    """
    fields = {"name", "questions", "odds"}
    if not isinstance(entries, list) or not all(
        isinstance(entry, Mapping) for entry in entries
    ):
        raise InvalidRequest(
            "arms are not as they should be; expected a list of tables, [[arms]]."
        )
    for entry in entries:
        unknown = sorted(set(entry) - fields)
        if unknown or not isinstance(entry.get("questions"), list | tuple):
            problem = (
                f"a field {quoted(unknown[0])}"
                if unknown
                else "no list of questions"
            )
            raise InvalidRequest(
                f"an arm has {problem}; expected {', '.join(sorted(fields))}."
            )
    return tuple(
        SurveyArm(
            entry.get("name", ""), tuple(entry["questions"]), entry.get("odds", 1)
        )
        for entry in entries
    )


def check_arms(arms: Sequence[SurveyArm], questions: Sequence[Question]) -> None:
    """Refuse arms that cannot be drawn, or told apart by what is responded to.

    Raises:
        InvalidRequest: they are not as they should be.
    """
    if not 2 <= len(arms) <= _MAX_ARMS or len({arm.name for arm in arms}) < len(
        arms
    ):
        raise InvalidRequest(
            f"there are {len(arms)} arms, or two of one name; expected 2 to {_MAX_ARMS} with a name each."
        )
    questions_by_name = {question.name: question for question in questions}
    for arm in arms:
        _check_arm(arm, questions_by_name)
    if len({frozenset(arm.questions) for arm in arms}) < len(arms):
        raise InvalidRequest(
            "two arms have the same questions; expected arms that differ in what is asked."
        )
    for asked_together in arm_questions(arms, questions):
        if all(question.check for question in asked_together):
            raise InvalidRequest(
                "an arm has comprehension checks alone; expected a question in every arm."
            )


def _check_arm(arm: SurveyArm, questions_by_name: Mapping[str, Question]) -> None:
    from deniable.survey.question import check_slug

    check_slug(arm.name, "an arm")
    missing = [name for name in arm.questions if name not in questions_by_name]
    if missing or not arm.questions or len(set(arm.questions)) < len(arm.questions):
        problem = (
            f"{quoted(missing[0], 50)}, which is no question"
            if missing
            else "no questions, or one twice"
        )
        raise InvalidRequest(
            f"the arm {arm.name!r} has {problem}; expected some of {', '.join(map(repr, questions_by_name))}."
        )
    if type(arm.odds) is not int or not 1 <= arm.odds <= _MAX_ODDS:
        raise InvalidRequest(
            f"the arm {arm.name!r} has the odds {quoted(arm.odds)}; expected a whole number from 1 to {_MAX_ODDS:,}."
        )


def arm_questions(
    arms: Sequence[SurveyArm], questions: Sequence[Question]
) -> tuple[tuple[Question, ...], ...]:
    """Return what each arm is asked, in the order of the survey: its own questions, and those of everybody."""
    assigned = {name for arm in arms for name in arm.questions}
    return tuple(
        tuple(
            question
            for question in questions
            if question.name not in assigned or question.name in arm.questions
        )
        for arm in arms
    )


def draw_arm(arms: Sequence[SurveyArm], source: Source = SYSTEM) -> int:
    """Draw the number of an arm with its odds, whatever the answers are.

    Example:
        >>> 0 <= draw_arm([SurveyArm("masked", ("theft",), odds=2), SurveyArm("open", ("theft-open",))]) < 2
        True
    """
    edges = list(accumulate(arm.odds for arm in arms))
    return bisect_right(edges, below(edges[-1], source))


def check_compared(
    questions: Sequence[Question], arm_questions: Sequence[Sequence[Question]]
) -> None:
    """Refuse comparisons of what the same people were asked, or of what has other answers.

    Raises:
        InvalidRequest: such a comparison.
    """
    questions_by_name = {question.name: question for question in questions}
    for question in questions:
        if not question.compare:
            continue
        compared = questions_by_name.get(question.compare)
        if compared is None or compared is question:
            raise InvalidRequest(
                f"{question.name!r} is compared with {quoted(question.compare, 50)}; expected another question "
                "of the survey."
            )
        if any(question in group and compared in group for group in arm_questions):
            raise InvalidRequest(
                f"{question.name!r} is compared with {compared.name!r}, and some are asked both; expected questions of "
                "different arms.",
                "Name one of them in one arm, and the other in another.",
            )
        has_numbers = "numbers" in (
            question.design.answer_form,
            compared.design.answer_form,
        )
        if has_numbers or tuple(question.design.categories) != tuple(
            compared.design.categories
        ):
            raise InvalidRequest(
                f"{question.name!r} is compared with {compared.name!r}, which has other answers; expected the same "
                "categories in the same order."
            )

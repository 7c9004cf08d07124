"""Small surveys."""

from __future__ import annotations

from typing import Any

from deniable.designs import Design, k_ary, unary, warner
from deniable.order.relaxation import Ladder, ladder
from deniable.survey import Question, QuestionTexts, Survey, SurveyTexts

COLOURS = ["red", "green", "blue"]


def question(name: str, about: Design | Ladder, **others: Any) -> Question:
    return Question(
        name, about, {"en": QuestionTexts(f"What about {name}?")}, **others
    )


def small(**changes: Any) -> Survey:
    """A survey with a k-ary question, a gradual one, and one whose responses are sets."""
    stages = ladder([k_ary(COLOURS, epsilon=epsilon) for epsilon in (1, 2, 3)])
    questions = (
        question("smokes", warner(epsilon=1)),
        question("colour", stages),
        question("apps", unary(12, epsilon=2)),
    )
    fields: dict[str, Any] = {
        "name": "small", "texts": {"en": SurveyTexts("A small survey")}, "questions": questions,
        "groups": ("north", "south"),
    }  # fmt: skip
    return Survey(**(fields | changes))

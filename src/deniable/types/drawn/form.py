"""How the answers to several questions are typed: as a JSON object."""

from __future__ import annotations

import json

from deniable.errors import InvalidAnswer
from deniable.types.drawn.design import DrawnDesign

__all__ = ["expected_answer", "parse_answer"]


def parse_answer(design: DrawnDesign, text: str) -> dict[str, str]:  # noqa: ARG001 - as other types
    """Return the answer to each question, by its name.

    Raises:
        InvalidAnswer: no JSON object. The message does not repeat it.
    """
    try:
        answers = json.loads(text)
    except (ValueError, RecursionError):
        answers = None
    if not isinstance(answers, dict):
        raise InvalidAnswer("this is no JSON object; expected an answer to each question by its name.")
    return answers


def expected_answer(design: DrawnDesign) -> str:
    """Say what a line may hold."""
    example = {name: part.categories[0] for name, part in design.factors}
    return f"an answer to each question, {json.dumps(example)},"

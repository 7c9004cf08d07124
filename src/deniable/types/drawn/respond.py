"""Step 2, at the respondent: attributes are drawn, and their answers → a response. The standard library alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from deniable.chance import SYSTEM, Source
from deniable.channel.product import join
from deniable.designs import labels
from deniable.documents import Response
from deniable.errors import InvalidAnswer
from deniable.types.drawn.design import DrawnDesign

__all__ = ["expected_answer", "parse_answer", "respond"]


def respond(
    design: DrawnDesign,
    answer: Mapping[str, str] | Callable[[str], str],
    *,
    source: Source = SYSTEM,
) -> Response:
    """Draw the attributes that a respondent is asked about, then the response to their answers.

    Guarantee: which attributes are drawn does not depend on the answers; each is drawn with exactly the integer weights
    of its own design.

    Args:
        design: what to draw with.
        answer: the truth about every attribute, by name; or a function that is asked for the truth about an attribute,
            and is only asked about those that were drawn.
        source: random bytes; the operating system's by default.

    Raises:
        InvalidAnswer: not an answer that the design knows. The message does not repeat it.

    Example:
        >>> from deniable.designs import warner
        >>> from deniable.types.drawn.design import drawn_items
        >>> asked = drawn_items({"smokes": warner(2), "drinks": warner(2)})
        >>> respond(asked, {"smokes": "yes", "drinks": "no"}).symbol.split(": ")[0] in ("smokes", "drinks")
        True
        >>> respond(asked, lambda attribute: "yes").symbol.split(": ")[1] in ("no", "yes")
        True
    """
    number_of = _asked(design, answer)
    hand = design.draw_hand(source)
    drawn = [
        part.channel.draw(number_of(attribute), source)
        for attribute, part in hand.factors
    ]
    return Response(design.hash, design.symbol(hand.start + join(drawn, hand.sizes)))


def _asked(
    design: DrawnDesign, answer: Mapping[str, str] | Callable[[str], str]
) -> Callable[[str], int]:
    """Return how the number of the answer to an attribute is found; of answers to all, every one is looked at first."""
    if isinstance(answer, Mapping):
        if set(answer) != set(design.attributes):
            raise InvalidAnswer(
                f"expected an answer to each of {labels.format_labels(design.attributes)}, and to no other."
            )
        return {
            attribute: part.category_number(answer[attribute])
            for attribute, part in design.factors
        }.__getitem__
    if not callable(answer):
        raise InvalidAnswer(
            "the answers are neither a mapping nor a function; expected an answer to each attribute."
        )
    return lambda attribute: design.part(attribute).category_number(
        answer(attribute)
    )


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
        raise InvalidAnswer(
            "this is no JSON object; expected an answer to each question by its name."
        )
    return answers


def expected_answer(design: DrawnDesign) -> str:
    """Say what a line may hold."""
    example = {name: part.categories[0] for name, part in design.factors}
    return f"an answer to each question, {json.dumps(example)},"

"""Step 2, at the respondent: an item and the weight of the edge to it → a response. The standard library alone."""

from __future__ import annotations

from collections.abc import Mapping

from deniable import exact
from deniable.chance import SYSTEM, Source
from deniable.documents import Response
from deniable.errors import DeniableError, InvalidAnswer
from deniable.types.edges.design import NAMES, WEIGHTS, EdgeDesign

__all__ = ["respond"]


def respond(
    design: EdgeDesign,
    answer: Mapping[str, exact.Rational],
    *,
    source: Source = SYSTEM,
) -> Response:
    """Draw the response to the true weight of somebody's one edge; the item goes along as it is.

    Guarantee: the weight is drawn with exactly the integer weights from which the design's ε is derived.

    Args:
        design: what to draw with.
        answer: the truth: the item with the weight of the edge to it.
        source: random bytes; the operating system's by default.

    Raises:
        InvalidAnswer: an item that the design does not know, or a weight other than 0, 1/2 and 1. Neither is repeated.

    Example:
        >>> from deniable.types.edges.design import one_edge
        >>> respond(one_edge(["tax", "transport"], 1), {"tax": 0.5}).symbol.split()[1]
        'tax'
    """
    if not isinstance(answer, Mapping) or len(answer) != 1:
        raise InvalidAnswer(
            "an answer is one item with the weight of the edge to it; expected {item: weight}."
        )
    ((item, weight),) = answer.items()
    number = design.item_number(item)
    try:
        place = WEIGHTS.index(exact.rational(weight))
    except (DeniableError, ValueError):
        raise InvalidAnswer(
            f"the weight is none of {', '.join(NAMES)}; expected one of them."
        ) from None
    return Response(
        design.hash,
        design.symbol(3 * number + design.choice.channel.draw(place, source)),
    )

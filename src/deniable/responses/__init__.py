"""Step 2, at the respondent: answer → response. The standard library alone, for the respondent's own device."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.chance import SYSTEM, Source
from deniable.designs import Design
from deniable.documents import Response

__all__ = ["respond"]


def respond(
    design: Design, answer: str | Mapping[str, str], *, source: Source = SYSTEM
) -> Response:
    """Draw the response to a true answer; only the response leaves this function.

    Guarantee: drawn with exactly the integer weights from which the design's ε is derived.

    Args:
        design: what to draw with.
        answer: the truth, one of the design's categories; where there are several attributes, also an answer to each.
        source: random bytes; the operating system's by default.

    Raises:
        InvalidAnswer: the answer is not a category of the design. The message does not repeat it.

    Example:
        >>> from deniable.designs import warner
        >>> respond(warner(epsilon=1), "yes").symbol in ("no", "yes")
        True
    """
    number = design.channel.draw(design.category_number(answer), source)
    return Response(design.hash, design.symbols[number])

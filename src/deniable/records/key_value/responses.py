"""Step 2, at the respondent: items with weights → one response. The standard library alone."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.chance import SYSTEM, Source
from deniable.documents import Response
from deniable.records.key_value.mechanism import KeyValueDesign
from deniable.records.key_value.weights import Weight

__all__ = ["respond"]


def respond(design: KeyValueDesign, answer: Mapping[str, Weight], *, source: Source = SYSTEM) -> Response:
    """Draw the one response to somebody's true items and weights; only the response leaves this function.

    Guarantee: drawn with exactly the integer weights from which the design's ε is derived. How many items there are,
    which, and how much of each are all protected together. Responding again reveals as much again.

    Args:
        design: what to draw with.
        answer: the truth: a weight for each item that somebody has. Whoever has none responds with an empty mapping.
        source: random bytes; the operating system's by default.

    Raises:
        InvalidAnswer: an item that the design does not know, or a weight that does not fit. Neither is repeated.

    Example:
        >>> from deniable.records.key_value.designs import lpp_ddagger
        >>> design = lpp_ddagger(["tea", "coffee"], epsilon=1)
        >>> respond(design, {"tea": 0.5}).symbol[2:] in ("tea", "coffee")
        True
    """
    return Response(design.hash, design.symbol(design.scheme.draw(design.row(answer), source)))

"""Step 2, at the respondent: a number → its nodes on all levels → a response about one. The standard library alone."""

from __future__ import annotations

from bisect import bisect_right

from deniable import exact
from deniable.chance import SYSTEM, Source
from deniable.documents import Response
from deniable.errors import InvalidAnswer, InvalidNumber
from deniable.types.buckets.design import BucketDesign
from deniable.types.drawn import respond as drawn

__all__ = ["expected_answer", "node_path", "parse_answer", "respond"]


def respond(
    design: BucketDesign, answer: exact.Rational, *, source: Source = SYSTEM
) -> Response:
    """Draw a level of the tree, then a response about the node of that level that holds the number.

    Raises:
        InvalidAnswer: no number, or outside the range. The message does not repeat it.

    Example:
        >>> from deniable.types.buckets.design import bucket_design
        >>> hours = bucket_design(0, 80, epsilon=1, count=16)
        >>> respond(hours, 37.5).symbol.split(": ")[0] in ("1/4", "1/16")
        True
    """
    return drawn.respond(design, node_path(design, answer), source=source)


def node_path(design: BucketDesign, answer: exact.Rational) -> dict[str, str]:
    """Return the answer to each level: the node that holds a number. A number on an edge is in the upper bucket.

    Raises:
        InvalidAnswer: no number, or outside the range. The message does not repeat it.

    Example:
        >>> from deniable.types.buckets.design import bucket_design
        >>> node_path(bucket_design(0, 80, epsilon=1, count=16), 37.5)
        {'1/4': '1', '1/16': '7'}
    """
    tree = design.buckets
    try:
        number = float(exact.rational(answer))
    except (InvalidNumber, OverflowError):
        raise InvalidAnswer(
            "the value is not a finite number; expected one."
        ) from None
    if not tree.low <= number <= tree.high:
        raise InvalidAnswer(
            f"the value lies outside its range; expected {tree.low:g} to {tree.high:g}.",
            "Choose the range wide enough for everybody before anybody is asked; do not cut values off silently.",
        )
    place = min(bisect_right(tree.edges, number), tree.count) - 1
    return {
        level: str(place // width)
        for level, width in zip(tree.levels, tree.widths, strict=True)
    }


def parse_answer(design: BucketDesign, text: str) -> str:  # noqa: ARG001 - as other types
    """Return the number that a line holds."""
    return text


def expected_answer(design: BucketDesign) -> str:
    """Say what a line may hold."""
    return f"a number from {design.buckets.low:g} to {design.buckets.high:g}"

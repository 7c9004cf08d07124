"""Number → level of its range, once, at the respondent. The standard library alone."""

from __future__ import annotations

from fractions import Fraction

from deniable import chance, exact
from deniable.designs import NumberDesign
from deniable.documents import Response
from deniable.errors import InvalidAnswer, InvalidNumber

__all__ = [
    "category_of",
    "expected_answer",
    "level_below",
    "level_of",
    "parse_answer",
    "respond",
    "rounded",
]


def respond(
    design: NumberDesign,
    answer: exact.Rational,
    *,
    source: chance.Source = chance.SYSTEM,
) -> Response:
    """Round a number to a level of its range and draw the response to it; only the response leaves this function.

    Where finer responses are to follow, take `rounded` first and keep the level: stages are released from it.

    Raises:
        InvalidAnswer: no number, or outside the range. The message does not repeat it.

    Example:
        >>> from deniable.designs import number_design
        >>> hours = number_design(0, 80, epsilon=2)
        >>> respond(hours, 37.5).symbol in hours.symbols
        True
    """
    level = level_of(design, answer, source=source)
    return Response(design.hash, design.symbols[design.channel.draw(level, source)])


def rounded(
    design: NumberDesign,
    answer: exact.Rational,
    *,
    source: chance.Source = chance.SYSTEM,
) -> str:
    """Round a number at random to one of its two neighbouring levels, without bias; return the category.

    Keep the level: it is the answer to every later question about this number, and stages are released from it. To
    round again would show, over time, where the number lies.

    Implements: the first step of [Pan24], §5.2, eq. (69), between two neighbouring levels, with an exact draw.

    Guarantee: the upper of the two with probability exactly (x − lower) / step; x is read as the decimal it shows.

    Raises:
        InvalidAnswer: no number, or outside the range. The message does not repeat it.

    Example:
        >>> from deniable.designs import number_design
        >>> hours = number_design(0, 80, epsilon=1, levels=5)
        >>> rounded(hours, 37.5) in ("20", "40"), rounded(hours, 80)
        (True, '80')
    """
    return design.categories[level_of(design, answer, source=source)]


category_of = rounded
"""What devices keep in the place of a number."""


def level_of(
    design: NumberDesign,
    answer: exact.Rational,
    *,
    source: chance.Source = chance.SYSTEM,
) -> int:
    """Return the number of the level to which `rounded` rounds. One word of randomness, whatever the number is.

    Raises:
        InvalidAnswer: no number, or outside the range. The message does not repeat it.
    """
    below, fraction = level_below(design, answer)
    return below + chance.happens(fraction, source)


def level_below(
    design: NumberDesign, answer: exact.Rational
) -> tuple[int, Fraction]:
    """Return the index of the level below an answer, and the exact probability of rounding up.

    Raises:
        InvalidAnswer: no number, or outside the range. The message does not repeat it.
    """
    try:
        number = exact.rational(answer)
    except InvalidNumber:
        raise InvalidAnswer(
            "the value is not a finite number; expected one."
        ) from None
    range_ = design.range
    if not range_.low <= number <= range_.high:
        raise InvalidAnswer(
            f"the value lies outside its range; expected {range_.low} to {range_.high}.",
            "Choose the range wide enough for everybody before anybody is asked; do not cut values off silently.",
        )
    return design.scale.place(number)


def parse_answer(design: NumberDesign, text: str) -> str:  # noqa: ARG001 - as other types
    """Return the number that a line holds, which `respond` reads exactly."""
    return text


def expected_answer(design: NumberDesign) -> str:
    """Say what a line may hold."""
    return f"a number from {design.range.low} to {design.range.high}"

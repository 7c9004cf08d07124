"""Value → end of its range, once, at the respondent. The standard library alone."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from deniable import chance, exact
from deniable.documents import Response
from deniable.errors import InvalidAnswer, InvalidNumber
from deniable.records.numbers.designs import ENDS, NumberDesign, Range

__all__ = ["place_of", "respond", "rounded", "square"]

Function = Callable[[Fraction], Fraction]
"""What of a value is asked for: an exact function, such as `square`."""


def respond(design: NumberDesign, answer: exact.Rational, *, source: chance.Source = chance.SYSTEM) -> Response:
    """Round a number to an end of its range and draw the response to that end; only the response leaves this function.

    Where finer responses are to follow, take `rounded` first and keep the end: stages are released from it.

    Raises:
        InvalidAnswer: no number, or outside the range. The message does not repeat it.

    Example:
        >>> from deniable.records.numbers.designs import number_design
        >>> respond(number_design(0, 80, epsilon=1), 37.5).symbol in ("low", "high")
        True
    """
    end = ENDS.index(rounded(design.range, answer, source=source))
    return Response(design.hash, design.ends.symbols[design.ends.channel.draw(end, source)])


def rounded(
    range_: Range, value: exact.Rational, *, of: Function | None = None, source: chance.Source = chance.SYSTEM
) -> str:
    """Round a value to an end of its range at random: "low" or "high", so that it is right on average.

    Keep the end: it is the answer to every later question about this value, and stages are released from it. To round
    again would show, over time, where the value lies.

    Implements: the first step of [Pan24], §5.2, eq. (69), with an exact draw.

    Guarantee: "high" with probability exactly (f(x) − low) / (high − low); the value is read as the decimal it shows.

    Args:
        range_: where f(x) lies.
        value: x, the truth.
        of: f, such as `square`; x itself by default.
        source: random bytes; the operating system's by default.

    Raises:
        InvalidAnswer: no number, or outside the range. The message does not repeat it.

    Example:
        >>> rounded(Range.of(0, 100), 37.5) in ("low", "high"), rounded(Range.of(0, 100), 100)
        (True, 'high')
        >>> rounded(Range.of(-5, 10).squared, -4, of=square) in ("low", "high")
        True
    """
    return ENDS[chance.happens(place_of(range_, value, of), source)]


def place_of(range_: Range, value: exact.Rational, of: Function | None = None) -> Fraction:
    """Return where in its range a value lies, exactly, from 0 to 1.

    Raises:
        InvalidAnswer: no number, or outside the range. The message does not repeat it.
    """
    try:
        exactly = exact.rational(value)
    except InvalidNumber:
        raise InvalidAnswer("the value is not a finite number; expected one.") from None
    found = exactly if of is None else of(exactly)
    if not range_.low <= found <= range_.high:
        raise InvalidAnswer(
            f"the value lies outside its range; expected {range_.low} to {range_.high}.",
            "Choose the range wide enough for everybody before anybody is asked; do not cut values off silently.",
        )
    return range_.share(found)


def square(value: Fraction) -> Fraction:
    """Return x², for the second moment, from which variances come."""
    return value * value

"""Rationals, and logarithms and exponentials rounded in a stated direction.

From a requested ε to a channel we round e^ε down, from a channel to its ε we round the logarithm up:
the promise is never better than what runs. The direction stands in each function's name.
"""

from __future__ import annotations

import math
import numbers
import re
import sys
from collections.abc import Collection, Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TypeAlias

from deniable.errors import InvalidNumber, quoted

Rational: TypeAlias = int | float | str | Fraction | Decimal
"""What users may write for a number: 1, 0.7 (read as 7/10), "1/6", Fraction(1, 6), Decimal("0.7")."""

Ratio: TypeAlias = Fraction | float
"""A ratio of probabilities: a Fraction, or `math.inf` where the denominator is 0."""

_DIGITS = 60  # e^ε for ε ≤ 30 has 14 digits before the point: at least 45 behind it, 64 bits need 20
_MAX_EPSILON = 64  # beyond this the smallest weight in 2^64 is already zero
_MAX_EXPONENT = 100_000  # e to this power has 43,430 digits; decimals end soon after
_MAX_PLACES = 4000  # "1e999999999" is short to write and does not fit into memory


def rational(number: Rational, *, name: str = "number") -> Fraction:
    """Read a number exactly; a float is the decimal that it shows.

    Raises:
        InvalidNumber: for NaN, an infinity, a boolean or text that is no number.

    Example:
        >>> rational(0.7), rational("1/6")
        (Fraction(7, 10), Fraction(1, 6))
    """
    try:
        if isinstance(number, bool):
            raise TypeError
        # an array's integer is taken out of its 64 bits
        if isinstance(number, numbers.Rational):
            return Fraction(int(number.numerator), int(number.denominator))
        return (
            _parse_rational(str(number))
            if isinstance(number, numbers.Real | Decimal | str)
            else Fraction(number)
        )
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise InvalidNumber(
            f"{name} is {quoted(number, 60)}; expected a finite number.",
            'Write it as 0.7, "7/10" or Fraction(7, 10).',
        ) from None


def probability(number: Rational, *, name: str = "probability") -> Fraction:
    """Read a probability exactly.

    Raises:
        InvalidNumber: outside [0, 1].
    """
    value = rational(number, name=name)
    if not 0 <= value <= 1:
        raise InvalidNumber(
            f"{name} is {text(number)}; expected a probability from 0 to 1."
        )
    return value


def probabilities(**numbers: Rational) -> tuple[Fraction, ...]:
    """Read several probabilities exactly, each under the name of its parameter.

    Raises:
        InvalidNumber: outside [0, 1].
    """
    return tuple(probability(number, name=name) for name, number in numbers.items())


def is_whole(number: object, low: int, high: int) -> bool:
    """Whether something is an integer from `low` to `high`, and no boolean."""
    return (
        type(number) is not bool
        and isinstance(number, int)
        and low <= number <= high
    )


def positive_epsilon(number: Rational, *, name: str = "epsilon") -> Fraction:
    """Read an ε so that the certified ε, rounded up to a float, does not exceed the requested one.

    A float is the smaller of the decimal it shows and the binary number it holds; any other number is the largest
    float that is not above it.

    Why: the certified ε is the smallest float not below ln(parity), and ln(parity) ≤ ε.

    Raises:
        InvalidNumber: not positive, or so large that nothing would be hidden.
    """
    value = rational(number, name=name)
    if value <= 0:
        raise InvalidNumber(
            f"{name} is {text(number)}; expected a positive number.",
            "ε = 1 lets a response change anybody's odds by a factor of at most e ≈ 2.7; smaller is more private.",
        )
    if value > _MAX_EPSILON:
        raise InvalidNumber(
            f"{name} is {text(number)}; expected at most {_MAX_EPSILON}.",
            "At such an ε a response gives the answer away; ask the question directly instead.",
        )
    if isinstance(number, numbers.Real) and not isinstance(number, numbers.Rational):
        return min(value, Fraction(float(number)))
    return Fraction(-float_above(-value))


def non_negative_epsilon(number: Rational, *, name: str = "epsilon") -> Fraction:
    """Read an ε at which something is asked. A float is the binary number it holds.

    Why: a certified ε is such a float, and the decimal it shows may be a little below it.

    Raises:
        InvalidNumber: negative, or not finite.
    """
    value = rational(number, name=name)
    if value < 0:
        raise InvalidNumber(f"{name} is {text(number)}; expected 0 or more.")
    return Fraction(number) if isinstance(number, float) else value


LONG_DENOMINATOR = 10**9
"""Denominators above this are read by nobody."""


def text(number: object) -> str:
    """Return a number for a message: as a decimal where its fraction is long, and cut after 60 characters.

    Example:
        >>> text(Fraction(1, 6)), text(Fraction(10**30, 6 * 10**30 + 1))
        ('1/6', '0.1666666667…')
    """
    try:
        if isinstance(number, Fraction) and number.denominator > LONG_DENOMINATOR:
            return f"{float(number):.10g}…"
        return f"{number!s:.60}"
    except OverflowError:  # beyond the floats
        return "a number of hundreds of digits"
    except ValueError:  # Python writes integers of at most 4,300 digits
        return "a number of thousands of digits"


def exp_below(exponent: Rational) -> Fraction:
    """Return a rational just below e^exponent (exactly 1 for 0).

    Raises:
        InvalidNumber: an exponent beyond ±100,000.

    Example:
        >>> Fraction("2.71828182845904523536") < exp_below(1) < exp_above(1) < Fraction("2.71828182845904523537")
        True
    """
    value = rational(exponent)
    below = _exp(value, ROUND_FLOOR)
    return max(below, Fraction(1)) if value > 0 else below


def gamma_below(epsilon: Rational, *, name: str = "epsilon") -> Fraction:
    """Return the parity γ that an ε allows: a rational just below e^ε.

    Raises:
        InvalidNumber: ε not positive, or so large that nothing would be hidden.
    """
    return exp_below(positive_epsilon(epsilon, name=name))


def exp_above(exponent: Rational) -> Fraction:
    """Return a rational just above e^exponent (exactly 1 for 0).

    Raises:
        InvalidNumber: an exponent beyond ±100,000.
    """
    value = rational(exponent)
    above = _exp(value, ROUND_CEILING)
    return min(above, Fraction(1)) if value < 0 else above


def log_above(ratio: Ratio) -> float:
    """Return the smallest float not below the natural logarithm of a ratio, which is not negative.

    Example:
        >>> log_above(Fraction(3)), log_above(math.inf)
        (1.0986122886681098, inf)
    """
    if ratio == math.inf:
        return math.inf
    if ratio == 0:
        return -math.inf
    if ratio == 1:
        return 0.0
    digits = _DIGITS
    while True:  # the logarithm of a rational other than 1 is no float, so at some precision both bounds agree
        low, high = (
            float_above(Fraction(_log(Fraction(ratio), rounding, digits)))
            for rounding in (ROUND_FLOOR, ROUND_CEILING)
        )
        if low == high:
            return high
        digits *= 2


def float_above(value: Fraction) -> float:
    """Return the smallest float that is not below a rational."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf if value > 0 else -sys.float_info.max
    return (
        nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
    )


def ratio(numerator: int | Fraction, denominator: int | Fraction) -> Ratio:
    """Divide exactly, with a/0 = ∞ and 0/0 = 1 as a ratio of probabilities wants it."""
    if denominator:
        return Fraction(numerator) / denominator
    return math.inf if numerator else Fraction(1)


def parity(row: Collection[int | Fraction]) -> Ratio:
    """Return the parity of a row: its largest entry over its smallest one."""
    return ratio(max(row), min(row))


def total(numbers: Iterable[Fraction]) -> Fraction:
    """Return the sum of rationals."""
    return sum(numbers, Fraction(0))


def product(numbers: Iterable[Fraction]) -> Fraction:
    """Return the product of rationals."""
    return math.prod(numbers, start=Fraction(1))


def _parse_rational(text: str) -> Fraction:
    """Read decimal text or a quotient, but not a short text for a number that does not fit into memory."""
    power = re.search(r"e([-+]?[\d_]+)", text, re.IGNORECASE)
    if power and abs(int(power[1])) > _MAX_PLACES:
        raise OverflowError
    return Fraction(text)


def _exp(exponent: Fraction, rounding: str) -> Fraction:
    if exponent == 0:
        return Fraction(1)
    if abs(exponent) > _MAX_EXPONENT:
        raise InvalidNumber(
            f"the exponent is {text(exponent)}; expected at most {_MAX_EXPONENT:,} on either side of 0."
        )
    context = Context(prec=_DIGITS, rounding=rounding)
    # Decimal.exp rounds to nearest whatever the context says, so one more unit in the last place is taken.
    value = context.exp(_decimal(exponent, context))
    return Fraction(_step(value, context))


def _log(ratio: Fraction, rounding: str, digits: int) -> Decimal:
    # Near 1 a logarithm is as small as the distance from 1, which must keep its own digits.
    near = (
        ratio.denominator.bit_length()
        - abs(ratio.numerator - ratio.denominator).bit_length()
    )
    context = Context(prec=digits + max(0, near) * 31 // 100, rounding=rounding)
    return _step(context.ln(_decimal(ratio, context)), context)


def _decimal(value: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def _step(value: Decimal, context: Context) -> Decimal:
    return (
        context.next_minus(value)
        if context.rounding == ROUND_FLOOR
        else context.next_plus(value)
    )

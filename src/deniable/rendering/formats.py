"""Numbers as text: percentages, ε, factors, intervals, p-values and counts. Every surface formats them here.

Bounds are rounded towards safety: an upper bound up (ε, factors), a lower bound down. Other numbers are rounded to the
nearest. Respondents' pages, which speak several languages, format numbers in `survey.catalogue`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from deniable.exact import Ratio, Rational, rational

MISSING = "—"
"""The cell of a number that is not known."""

_LEVEL_DIGITS = 6
# Control characters but tab and newline, and those that change the direction of what follows.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def epsilon(value: Ratio, digits: int = 4) -> str:
    """Return an ε with this many significant digits, rounded up.

    Example:
        >>> epsilon(1.0986122886681098), epsilon(0.1), epsilon(math.inf)
        ('1.099', '0.1', '∞')
    """
    return upper_bound(value, digits)


def epsilon_at_least(value: Ratio, digits: int = 4) -> str:
    """Return a lower bound of ε with this many significant digits, rounded down.

    Example:
        >>> epsilon_at_least(1.0986122886681098)
        '1.098'
    """
    return _rounded(value, digits, ROUND_FLOOR)


def factor(ratio: Ratio, digits: int = 3) -> str:
    """Return a likelihood ratio with this many significant digits, rounded up.

    Example:
        >>> factor(Fraction(2718281, 1000000)), factor(Fraction(3)), factor(math.inf)
        ('2.72', '3', '∞')
    """
    return upper_bound(ratio, digits)


def upper_bound(value: Ratio, digits: int = 6) -> str:
    """Return a number with this many significant digits, rounded up. A float stands for the decimal that it prints.

    Example:
        >>> upper_bound(5.10944, 4), upper_bound(Fraction(1, 3)), upper_bound(0.1), upper_bound(math.inf)
        ('5.11', '0.333334', '0.1', '∞')
        >>> upper_bound(Fraction(20_000_001), 2), upper_bound(1.5e-20)
        ('21,000,000', '1.5e-20')
    """
    return _rounded(value, digits, ROUND_CEILING)


def _rounded(value: Ratio, digits: int, rounding: str) -> str:
    if value in (math.inf, -math.inf):
        return "∞" if value > 0 else "−∞"
    context = Context(prec=digits, rounding=rounding)
    if isinstance(value, float):  # the decimal that it prints
        rounded = context.create_decimal(repr(float(value)))
    else:
        fraction = rational(value)
        rounded = context.divide(
            Decimal(fraction.numerator), Decimal(fraction.denominator)
        )
    if rounded == rounded.to_integral_value() or not rounded:
        return f"{int(rounded):,}"
    return f"{float(rounded):.{digits}g}"


def percent(share: Rational, digits: int = 3) -> str:
    """Return a share in percent with this many significant digits; never 0% or 100% unless it is.

    Where the share would be rounded to 100%, the digits are those of its complement.

    Example:
        >>> percent(0.1), percent(0.12345), percent(0.75, 2), percent(0.99996), percent(Fraction(1, 3))
        ('10%', '12.3%', '75%', '99.996%', '33.3%')
    """
    value = 100 * float(share)
    if abs(value) >= 10**digits:
        return f"{value:,.0f}%"
    text = f"{value:.{digits}g}"
    if value < 100 and float(text) == 100:
        complement = float(f"{100 - value:.{digits}g}")
        text = f"{100 - complement:.10g}"
    return f"{float(text) + 0.0:.10g}%"


def level(value: float) -> str:
    """Return a confidence level in percent, with all its digits.

    Example:
        >>> level(0.95), level(0.975), level(0.9999999)
        ('95%', '97.5%', '99.99999%')
    """
    return percent(value, _LEVEL_DIGITS)


def fixed_percent(
    share: Ratio,
    decimals: int = 1,
    to_whole: Callable[[Fraction], int] | None = None,
) -> str:
    """Return a share in percent with this many decimals, as a column has them.

    Args:
        share: the share.
        decimals: after the point.
        to_whole: `math.floor` or `math.ceil` for an end that is rounded outward; by default to the nearest.

    Example:
        >>> fixed_percent(0.12345), fixed_percent(-0.0004, 0), fixed_percent(0.12, 0, math.ceil)
        ('12.3%', '0%', '12%')
    """
    return f"{points(share, decimals, to_whole)}%"


def points(
    share: Ratio,
    decimals: int = 1,
    to_whole: Callable[[Fraction], int] | None = None,
) -> str:
    """Return a share in percentage points, without the sign that `fixed_percent` appends."""
    value = 100 * float(share)
    if to_whole is not None:
        value = to_whole(rational(share) * 10 ** (2 + decimals)) / 10**decimals
    return f"{round(value, decimals) + 0.0:.{decimals}f}"


def percent_decimals(width: float, coarse: int = 1) -> int:
    """Return how many decimals of a percentage tell the ends of an interval of this width apart.

    Args:
        width: of the interval, as a share.
        coarse: decimals of a wide one.
    """
    return coarse + (0 if width >= 0.01 else 1 if width >= 0.001 else 2)


def interval(low: str, high: str) -> str:
    """Return an interval from its formatted ends.

    Example:
        >>> interval("9.1", "15.2%")
        '9.1 … 15.2%'
    """
    return f"{low} … {high}"


def listing(parts: Sequence[str]) -> str:
    """Return parts of a sentence joined by commas and a last "and".

    Example:
        >>> listing(["yes"]), listing(["a", "b", "c"])
        ('yes', 'a, b and c')
    """
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def p_value(probability: float) -> str:
    """Return a p-value with two significant digits.

    Example:
        >>> p_value(0.04321), p_value(1.0)
        ('0.043', '1')
    """
    return f"{probability:.2g}"


def count(size: int) -> str:
    """Return a whole number in groups of three digits.

    Example:
        >>> count(12345)
        '12,345'
    """
    return f"{size:,}"


def number(value: float, digits: int = 4) -> str:
    """Return a number as a cell: a whole number in groups of three, another with some significant digits.

    Example:
        >>> number(12345), number(0.123456), number(math.inf), number(math.nan)
        ('12,345', '0.1235', '∞', '—')
    """
    if isinstance(value, int):
        return count(value)
    if value == math.inf:
        return "∞"
    return f"{value:.{digits}g}" if math.isfinite(value) else MISSING


def cell(value: str | float | None) -> str:
    """Return a text as it is, a number as `number` formats it, and a dash for None."""
    if isinstance(value, str):
        return value
    return MISSING if value is None else number(value)


def decimal(value: float, decimals: int) -> str:
    """Return a number with this many decimals; a nonzero one that these would hide in scientific notation.

    Example:
        >>> decimal(1234.5678, 1), decimal(0.00001, 4), decimal(-math.inf, 4)
        ('1,234.6', '1.0e-05', '−∞')
    """
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    hidden = 0 < abs(value) < 0.5 * 10**-decimals
    return f"{value:.1e}" if hidden and decimals == 4 else f"{value:,.{decimals}f}"


def decimals_of_error(error: float, digits: int = 2) -> int:
    """Return how many decimals show this many significant digits of a standard error."""
    if not (math.isfinite(error) and error > 0):
        return 3
    return min(max(digits - 1 - math.floor(math.log10(error)), 0), 12)


def column(
    cells: Sequence[Sequence[float | None]], as_percent: bool = False
) -> list[str]:
    """Return the cells of a column, all with the decimals that its largest number leaves room for.

    Args:
        cells: the numbers of each cell: one, or the two ends of an interval; a dash where one is not known.
        as_percent: write shares in percent.

    Example:
        >>> column([(0.1234,), (-0.05,), (None,)]), column([(0.1, 0.2)], as_percent=True), column([(1234.5,), (2,)])
        (['0.1234', '-0.0500', '—'], ['10.0 … 20.0%'], ['1,234', '2'])
    """
    if as_percent:
        texts = [
            _join_cell([None if value is None else 100 * value for value in cell], 1)
            for cell in cells
        ]
        return [text if text == MISSING else f"{text}%" for text in texts]
    largest = max(
        (
            abs(value)
            for cell in cells
            for value in cell
            if value is not None and math.isfinite(value)
        ),
        default=0.0,
    )
    decimals = (
        0 if largest >= 1000 else 1 if largest >= 100 else 2 if largest >= 10 else 4
    )
    return [_join_cell(cell, decimals) for cell in cells]


def _join_cell(values: Sequence[float | None], decimals: int) -> str:
    texts = [
        decimal(value, decimals)
        for value in values
        if value is not None and not math.isnan(value)
    ]
    return " … ".join(texts) if len(texts) == len(values) else MISSING


def printable(text: str) -> str:
    """Return a text whose control characters are spelled out: labels of others are printed, and steer no terminal.

    Example:
        >>> printable("yes\x1b[2J")
        'yes\\\\x1b[2J'
    """
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)

"""Step 1: a number in a known range is rounded to one of its two ends, and a design asks for the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from deniable import documents, exact
from deniable.designs import AnyDesign, Design, warner
from deniable.errors import InvalidDesign, InvalidRequest

__all__ = ["ENDS", "NumberDesign", "Range", "end_design", "number_design"]

ENDS = ("low", "high")
"""The two answers: to which end of its range a value was rounded."""

_FAR = Fraction(10**150)  # the squares of such ends, as variances have them, are still floats


@dataclass(frozen=True)
class Range:
    """All values from `low` to `high`, read exactly.

    Example:
        >>> Range.of(-1, 3).share(Fraction(1, 2)), Range.of(-1, 3).squared
        (Fraction(3, 8), Range(low=Fraction(0, 1), high=Fraction(9, 1)))
    """

    low: Fraction
    high: Fraction

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise InvalidRequest(f"the range goes from {self.low} to {self.high}; expected it to rise.")
        if max(-self.low, self.high) > _FAR or self.width < 1 / _FAR:
            raise InvalidRequest(
                "the range is too wide or too narrow for floats; expected ends and a width within 1e150."
            )

    @classmethod
    def of(cls, low: exact.Rational, high: exact.Rational) -> Range:
        """Read a range.

        Raises:
            InvalidRequest: it does not rise.
            InvalidNumber: not finite.
        """
        return cls(exact.rational(low, name="low"), exact.rational(high, name="high"))

    @property
    def width(self) -> Fraction:
        """How far the ends are apart."""
        return self.high - self.low

    @property
    def squared(self) -> Range:
        """The range of the squares of its values."""
        squares = self.low**2, self.high**2
        return Range(Fraction(0) if self.low < 0 < self.high else min(squares), max(squares))

    def share(self, value: Fraction) -> Fraction:
        """Return where a value lies, from 0 at the low end to 1 at the high end; how often it is rounded up."""
        return (value - self.low) / self.width


@dataclass(frozen=True, eq=False)
class NumberDesign(AnyDesign):
    """A range of numbers, and the design by which the end is asked for to which a number is rounded.

    Guarantee: ε is that of the design for the ends; what a number is rounded to says no more than the number.

    Attributes:
        range: where the numbers lie.
        ends: the design for the end; its categories are "low" and "high".
    """

    SCHEMA: ClassVar[str] = "number-design"
    asks: ClassVar[str] = "numbers"
    range: Range
    ends: Design

    def __post_init__(self) -> None:
        if tuple(self.ends.categories) != ENDS:
            raise InvalidDesign(
                "the design is not about the ends of a range; expected the categories 'low' and 'high'.",
                "Use end_design(epsilon), or give another design these categories.",
            )

    @property
    def parity(self) -> exact.Ratio:
        """The largest factor by which a response can change the odds between two numbers, exactly."""
        return self.ends.parity

    @property
    def epsilon(self) -> float:
        """The smallest ε at which this design is locally private, rounded up."""
        return self.ends.epsilon

    def symbols_in(self, column: str, rows: Any) -> list[str]:
        return self.ends.symbols_in(column, rows)

    @property
    def squared(self) -> NumberDesign:
        """The design for the squares of these numbers, from which variances come; square the answers for it."""
        return NumberDesign(self.range.squared, self.ends)

    def response_number(self, symbol: str) -> int:
        """Return the number of a response.

        Raises:
            InvalidResponse: not one that this design sends.
        """
        return self.ends.symbol_number(symbol)

    def to_body(self) -> dict[str, Any]:
        return {"low": str(self.range.low), "high": str(self.range.high), "ends": self.ends.to_body()}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> NumberDesign:
        low, high = (documents.field(body, name, str) for name in ("low", "high"))
        return cls(Range.of(low, high), Design.from_body(documents.field(body, "ends", dict)))

    def __repr__(self) -> str:
        return (
            f"numbers({self.range.low} to {self.range.high}; {self.ends.name}, ε = {exact.shown_above(self.epsilon)})"
        )


def number_design(low: exact.Rational, high: exact.Rational, epsilon: exact.Rational) -> NumberDesign:
    """Build a design for a number between two ends, of which the mean is wanted.

    Implements: [Pan24], §5.2: the number is rounded to an end so that it is right on average, and Warner's design, the
    best for two answers, asks for the end.

    Guarantee: integers that sum to 2^64, with a parity of at most e^ε between any two numbers.

    Raises:
        InvalidRequest: the range does not rise.
        InvalidNumber: ε is not positive.

    Example:
        >>> number_design(0, 80, epsilon=1)
        numbers(0 to 80; warner, ε = 1)
    """
    return NumberDesign(Range.of(low, high), end_design(epsilon))


def end_design(epsilon: exact.Rational) -> Design:
    """Return the best design for rounded ends at an ε: Warner's.

    Raises:
        InvalidNumber: ε is not positive.

    Example:
        >>> end_design(1).categories
        ('low', 'high')
    """
    return warner(epsilon, categories=ENDS)

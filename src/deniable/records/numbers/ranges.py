"""The range of a value, and the two ends to which it is rounded."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from deniable import exact
from deniable.errors import InvalidRequest

__all__ = ["ENDS", "Range"]

ENDS = ("low", "high")
"""The two answers: to which end of its range a value was rounded."""


_FAR = Fraction(10**150)
"""Ends whose squares, as variances have them, are still floats."""


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

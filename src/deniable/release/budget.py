"""What may be spent, and what has been: exact, as products of parities.

The ε that is told is their logarithm, rounded up.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from deniable import exact
from deniable.errors import InvalidNumber, OverBudget

__all__ = ["Budget", "together"]

_MOST = 100_000
"""An ε whose e^ε can still be written out."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The ε that may be spent; None for no limit.

    Example:
        >>> Budget.of("1/2").check(Fraction(8, 5), "this question")
        >>> Budget.of("1/2").left(Fraction(3, 2))
        0.09453489189183562
    """

    epsilon: Fraction | None

    @classmethod
    def of(cls, number: exact.Rational | None) -> Budget:
        """Read a budget. A float is the larger of the decimal it shows and the binary number it holds.

        Why: 0.3 has to be enough for 0.1 and 0.2, and a certified ε has to be enough for its own design.

        Raises:
            InvalidNumber: negative, not finite, or so large that it is no limit.
        """
        if number is None:
            return cls(None)
        value = exact.non_negative_epsilon(number, name="the budget")
        if value > _MOST:
            raise InvalidNumber(
                f"the budget is {exact.shown(number)}; expected at most {_MOST:,}.",
                "Leave it out for no limit.",
            )
        if isinstance(number, numbers.Real) and not isinstance(number, numbers.Rational):
            value = max(value, exact.rational(number))
        return cls(value)

    @classmethod
    def read(cls, text: str | None) -> Budget:
        """Read what `written` wrote."""
        return cls(None if text is None else Fraction(text))

    @property
    def written(self) -> str | None:
        """The budget as text, exactly."""
        return None if self.epsilon is None else str(self.epsilon)

    @property
    def shown(self) -> float | None:
        """The budget as a float, for people; None for no limit."""
        return None if self.epsilon is None else float(self.epsilon)

    @property
    def limit(self) -> exact.Ratio:
        """The largest product of parities that may be spent: e^ε, rounded down."""
        return math.inf if self.epsilon is None else exact.exp_below(self.epsilon)

    def left(self, spent: exact.Ratio) -> float | None:
        """Return the ε that is left, rounded down and not negative; None for no limit."""
        if self.epsilon is None:
            return None
        gap = Fraction(self.limit) / Fraction(spent) if spent != math.inf else Fraction(1)
        return max(0.0, -exact.log_above(1 / gap))

    def check(self, needed: exact.Ratio, what: str) -> None:
        """Refuse to spend more than the budget; rationals are compared.

        Raises:
            OverBudget: it is more; the error says by how much.
        """
        if needed <= self.limit:
            return
        assert self.epsilon is not None
        allowed, wanted = float(self.epsilon), exact.log_above(needed)
        excess = math.inf if needed == math.inf else exact.log_above(Fraction(needed) / Fraction(self.limit))
        raise OverBudget(
            f"this release would spend ε = {wanted:.6g} in all on {what}; expected at most {allowed:.6g}, which is "
            f"{excess:.3g} less. Nothing was released.",
            f"Ask for a coarser stage: at most ε = {allowed:.6g} may be spent on {what}.",
            needed=wanted,
            budget=allowed,
            excess=excess,
        )


def together(parities: Iterable[exact.Ratio]) -> exact.Ratio:
    """Return the parity of several questions together: the product, so that their ε add up.

    Example:
        >>> together([Fraction(3), Fraction(3, 2)]), together([])
        (Fraction(9, 2), Fraction(1, 1))
    """
    found = Fraction(1)
    for each in parities:
        if each == math.inf:
            return math.inf
        found *= Fraction(each)
    return found

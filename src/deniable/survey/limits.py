"""How much a survey may reveal about one respondent before somebody has to say so by name.

Why these: suppose that 10 of 100 people have some answer. After a response with ε = 3 that can be believed of at most
70 of 100, and after responses with ε = 6 together of at most 98. Beyond that a response no longer hides much, and what
is asked for then must be written down: `acknowledge` in a survey's file, a higher ceiling in a program.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from deniable import exact
from deniable.errors import InvalidRequest, quoted

CEILING = 3
"""The largest ε of one question, at its finest stage."""

BUDGET = 6
"""The largest ε of all questions of a survey together: their responses leave in one message."""


def read_limit(epsilon: exact.Rational, name: str) -> float:
    """Read an ε that nothing may exceed, rounded down. `math.inf` is no limit, and has to be given by name.

    Raises:
        InvalidRequest: None, or no number.
        InvalidNumber: negative.

    Example:
        >>> read_limit(3, "the ceiling"), read_limit(math.inf, "the ceiling")
        (3.0, inf)
    """
    if isinstance(epsilon, bool) or not isinstance(
        epsilon, int | float | str | Fraction | Decimal
    ):
        raise InvalidRequest(
            f"{name} is {quoted(epsilon)}; expected an ε.",
            "For no limit at all, write math.inf.",
        )
    if epsilon == math.inf:
        return math.inf
    return -exact.float_above(-exact.non_negative_epsilon(epsilon, name=name))

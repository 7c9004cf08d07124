"""The designs that ask for the rounded end of a value."""

from __future__ import annotations

from collections.abc import Sequence

from deniable import exact
from deniable.designs import Design, warner
from deniable.order.ladders import Ladder
from deniable.order.relaxation import ladder
from deniable.records.numbers.ranges import ENDS

__all__ = ["end_design", "end_ladder"]


def end_design(epsilon: exact.Rational) -> Design:
    """Return the best design for rounded ends at an ε: Warner's.

    Raises:
        InvalidNumber: ε is not positive.

    Example:
        >>> end_design(1).categories
        ('low', 'high')
    """
    return warner(epsilon, categories=ENDS)


def end_ladder(epsilons: Sequence[exact.Rational]) -> Ladder:
    """Return stages for rounded ends, one at each ε.

    Raises:
        NotOrdered: the ε do not rise.
    """
    return ladder(end_design(each) for each in epsilons)

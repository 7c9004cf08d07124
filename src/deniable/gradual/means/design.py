"""The designs that ask for the rounded end of a value."""

from __future__ import annotations

from collections.abc import Sequence

from deniable import exact
from deniable.design import Design, warner
from deniable.gradual.design import ladder
from deniable.gradual.ladder import Ladder
from deniable.gradual.means.range import ENDS

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

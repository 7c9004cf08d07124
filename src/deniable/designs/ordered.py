"""Ordered categories: a response names a stretch of them, and the answer lies in it more often than not."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from deniable import exact
from deniable.designs import labels
from deniable.designs.design import Design
from deniable.designs.labels import Labels
from deniable.designs.many_answers import k_ary
from deniable.designs.registry import Purpose, register
from deniable.designs.rounding import realize
from deniable.errors import InvalidDesign, quoted

_MAX_CATEGORIES = (
    200  # every probability is written out: two rows of them for each category
)


@register(
    {"categories": ["never", "once", "often"], "width": 2, "epsilon": 1},
    {"categories": 5, "width": 3, "epsilon": "1/2"},
    purpose=Purpose.ORDERED,
)
def window(categories: Labels, width: int, epsilon: exact.Rational) -> Design:
    """Send a stretch of ordered categories: one that holds the answer with the largest probability ε allows.

    Implements: the piecewise mechanism [Wan19] on categories: a window of `width` responses slides with the answer.
    Of m categories there are m + width − 1 responses; the answer j has the responses j … j + width − 1 in its window,
    so that response i names the categories i − width + 1 … i, as far as there are any.

    Guarantee: integers that sum to 2^64, with a parity of at most e^ε.

    Why: every column holds the same `width` large and m − 1 small probabilities, in the ratio e^ε. The categories are
    told apart whatever the width is: the response j is in the window of j and of no later answer. With a width of 1
    it is `k_ary`. At the same width a smaller ε is a garbling of a larger one: a share of all responses is drawn anew.

    Args:
        categories: at least 2, in their order.
        width: of the window; from 1 to one less than there are categories.
        epsilon: privacy; positive.

    Raises:
        InvalidDesign: a width that does not fit, or too many categories.
        InvalidNumber: ε is not positive.

    Example:
        >>> window(["never", "once", "often"], width=2, epsilon=1).symbols
        ('never', 'never … once', 'once … often', 'often')
    """
    category_labels = labels.read(categories)
    size = len(category_labels)
    _check_width(size, width)
    if width == 1:
        return k_ary(category_labels, epsilon)
    gamma = exact.gamma_below(epsilon)
    return Design(
        "window",
        category_labels,
        window_labels(category_labels, width),
        realize(_window_columns(size, width, gamma), gamma),
    ).within(epsilon)


def _check_width(size: int, width: int) -> None:
    if size > _MAX_CATEGORIES:
        raise InvalidDesign(
            f"there are {size:,} categories; expected at most {_MAX_CATEGORIES} ordered ones."
        )
    if not exact.is_whole(width, 1, size - 1):
        raise InvalidDesign(
            f"the width is {quoted(width)}; expected a whole number from 1 to {size - 1}."
        )


def _window_columns(size: int, width: int, gamma: Fraction) -> list[list[Fraction]]:
    """Return the probabilities of the responses to each answer: large inside its window, small outside."""
    column_weight = width * gamma + size - 1
    large, small = gamma / column_weight, Fraction(1) / column_weight
    return [
        [
            large if first <= number < first + width else small
            for number in range(size + width - 1)
        ]
        for first in range(size)
    ]


def window_labels(categories: Sequence[str], width: int) -> tuple[str, ...]:
    """Return the labels of the responses of a window: the first and the last category.

    Example:
        >>> window_labels(["0", "20", "40"], 2)
        ('0', '0 … 20', '20 … 40', '40')
    """
    size = len(categories)
    bounds = [
        (max(number - width + 1, 0), min(number, size - 1))
        for number in range(size + width - 1)
    ]
    return tuple(
        categories[first]
        if first == last
        else f"{categories[first]} … {categories[last]}"
        for first, last in bounds
    )

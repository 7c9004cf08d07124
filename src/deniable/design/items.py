"""Many yes-or-no items of one respondent, each with a demand of its own."""

from __future__ import annotations

from collections.abc import Mapping

from deniable import exact
from deniable.channel import Dense
from deniable.design import labels
from deniable.design.design import Design, Factor
from deniable.design.labels import Labels
from deniable.design.registry import register
from deniable.design.warner import warner
from deniable.errors import InvalidDesign

_MOST = 1000  # a table of so many rows and columns is still small


@register(
    {"categories": ["no", "yes"]},
    {"categories": 3},
    caveat="Answers are sent as they are; nothing is hidden.",
)
def direct(categories: Labels = ("no", "yes")) -> Design:
    """Send the answer as it is: for what is not sensitive, beside attributes that are.

    Guarantee: none; every response proves the answer, and ε is infinite.

    Raises:
        InvalidDesign: fewer than two categories, or more than a thousand.

    Example:
        >>> direct().epsilon
        inf
    """
    known = labels.read(categories)
    size = len(known)
    if size > _MOST:
        raise InvalidDesign(f"there are {size:,} categories; expected at most {_MOST:,}.")
    return Design("direct", known, known, Dense(tuple(tuple(int(i == j) for j in range(size)) for i in range(size)), 1))


@register(
    {"demands": {"gun": 1, "liquor": "1/2"}},
    {"demands": {"gun": "1/2", "liquor": 2, "bread": None}},
)
def items(demands: Mapping[str, exact.Rational | None], *, categories: Labels = ("no", "yes")) -> Design:
    """Ask of each item whether it applies, each with an ε of its own; an item with None is sent as it is.

    Implements: independent perturbation of items with unequal parities, [Cha19], Chapter 8.

    Guarantee: about an item alone each response reveals at most that item's ε, to somebody for whom the items have
    nothing to do with each other; about several items together at most the sum of their ε, whatever is believed about
    how they hang together: `design.part("gun", "liquor").epsilon`. An item that is sent as it is has ε = ∞, and so has
    every group that it belongs to: by a belief such as "whoever buys bread has no gun" it would speak about the gun.

    Args:
        demands: an ε for each item, or None where it is not sensitive.
        categories: the two answers to every item.

    Raises:
        InvalidDesign: fewer than two items, more than twenty, or not two categories.

    Example:
        >>> basket = items({"gun": 1, "liquor": 2, "bread": None})
        >>> basket.part("gun").epsilon, basket.part("gun", "liquor").epsilon, basket.epsilon
        (1.0, 3.0, inf)
    """
    if not isinstance(demands, Mapping):
        raise InvalidDesign(f"the demands are a {type(demands).__name__}; expected an ε by the name of each item.")
    return Design.of_factors(
        "items",
        [
            Factor(item, direct(categories) if epsilon is None else warner(epsilon, categories=categories))
            for item, epsilon in demands.items()
        ],
    )

"""Several questions in one design: products of designs, yes-or-no items, and what is revealed about each and all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from deniable import exact
from deniable.channel import Dense
from deniable.designs import labels
from deniable.designs.design import Design, Factor
from deniable.designs.labels import NO_YES, Labels
from deniable.designs.many_answers import k_ary
from deniable.designs.registry import Purpose, register
from deniable.designs.two_answers import binary, warner
from deniable.errors import InvalidDesign, InvalidRequest


def attribute_epsilons(design: Design) -> dict[str, float]:
    """Return the ε of each attribute: its privacy loss to an attacker who assumes independent attributes.

    Implements: [Cha19], Chapter 8. The ε of the whole, `design.epsilon`, is the sum of these, rounded up once.

    Why: if a prior makes the attributes independent, the posterior of one depends on its own response alone, whose
    odds its own channel changes by its own parity at most. Under a prior that ties attributes together the factors
    multiply, and the product is reached where one attribute decides all others.

    Raises:
        InvalidRequest: a design for one attribute.

    Example:
        >>> from deniable.designs import product, warner
        >>> attribute_epsilons(product({"smokes": warner(1), "drinks": warner(2)}))
        {'smokes': 1.0, 'drinks': 2.0}
    """
    if not design.factors:
        raise InvalidRequest(
            "this design is for one attribute; expected one for several.",
            "Ask for design.epsilon.",
        )
    return {attribute: factor.epsilon for attribute, factor in design.factors}


@register(
    {"designs": [warner(1), k_ary(["red", "green", "blue"], 1)]},
    {
        "designs": {
            "smokes": warner(p="3/4"),
            "drinks": binary("9/10", "7/10"),
            "votes": warner(p="2/3"),
        }
    },
    purpose=Purpose.ATTRIBUTES,
)
def product(designs: Sequence[Design] | Mapping[str, Design]) -> Design:
    """Ask several questions of one respondent, each with its own design, drawn independently.

    Give the designs by attribute, such as {"smokes": warner(1), "age": k_ary(5, 1)}; in a list the attributes are
    called "1", "2" and so on. A product among them is taken apart: its attributes stand beside the others.

    An answer is a combination such as "yes · 30 to 39", or an answer to each by attribute. `design.part("smokes")` is
    the design of one attribute again, `tally.marginal` counts one, and `estimate.cross_table` sets two against each
    other.

    Guarantee: the parities multiply, so the ε of the whole is the sum of the parts' ε. That is against somebody who may
    believe anything about how the attributes hang together; see `docs/theory/attributes.md`.

    Args:
        designs: a design for each attribute, by name; in a list they are called "1", "2" and so on.

    Raises:
        InvalidDesign: fewer than two designs, two attributes of one name, or more than 2^20 combinations.

    Example:
        >>> product([warner(p="3/4"), warner(p="2/3")]).parity
        Fraction(6, 1)
    """
    factors = [
        Factor(f"{attribute} {factor.attribute}".strip(), factor.design)
        for attribute, design in _read_designs(designs)
        for factor in design.factors or (Factor("", design),)
    ]
    if not isinstance(designs, Mapping):
        factors = _number_unnamed(factors)
    return Design.of_factors("product", factors)


def _read_designs(
    designs: Sequence[Design] | Mapping[str, Design],
) -> list[tuple[str, Design]]:
    """Read the designs of a product with the names of their attributes, which are empty in a list."""
    named = (
        list(designs.items())
        if isinstance(designs, Mapping)
        else [("", design) for design in designs]
        if isinstance(designs, Iterable)
        else []
    )
    if len(named) < 2 or not all(isinstance(design, Design) for _, design in named):
        raise InvalidDesign(
            f"a product of {len(named)} things; expected at least 2, all designs.",
            'For example product({"smokes": warner(1), "age": k_ary(5, 1)}).',
        )
    return named


def _number_unnamed(factors: Sequence[Factor]) -> list[Factor]:
    """Number what has no name yet."""
    return [
        factor
        if factor.attribute and not factor.attribute.isdecimal()
        else Factor(str(number), factor.design)
        for number, factor in enumerate(factors, start=1)
    ]


_MAX_TABLE_SIDES = 1000  # a table of so many rows and columns is still small


@register(
    {"categories": ["no", "yes"]},
    {"categories": 3},
    purpose=Purpose.ATTRIBUTES,
    caveat="Answers are sent as they are; nothing is hidden.",
)
def direct(categories: Labels = NO_YES) -> Design:
    """Send the answer as it is: for what is not sensitive, beside attributes that are.

    Guarantee: none; every response proves the answer, and ε is infinite.

    Args:
        categories: the possible answers, or how many there are.

    Raises:
        InvalidDesign: fewer than two categories, or more than a thousand.

    Example:
        >>> direct().epsilon
        inf
    """
    category_labels = labels.read(categories)
    size = len(category_labels)
    if size > _MAX_TABLE_SIDES:
        raise InvalidDesign(
            f"there are {size:,} categories; expected at most {_MAX_TABLE_SIDES:,}."
        )
    return Design(
        "direct",
        category_labels,
        category_labels,
        Dense(
            tuple(tuple(int(i == j) for j in range(size)) for i in range(size)), 1
        ),
    )


@register(
    {"demands": {"gun": 1, "liquor": "1/2"}},
    {"demands": {"gun": "1/2", "liquor": 2, "bread": None}},
    purpose=Purpose.ATTRIBUTES,
)
def items(
    demands: Mapping[str, exact.Rational | None], *, categories: Labels = NO_YES
) -> Design:
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
        raise InvalidDesign(
            f"the demands are a {type(demands).__name__}; expected an ε by the name of each item."
        )
    return Design.of_factors(
        "items",
        [
            Factor(
                item,
                direct(categories)
                if epsilon is None
                else warner(epsilon, categories=categories),
            )
            for item, epsilon in demands.items()
        ],
    )

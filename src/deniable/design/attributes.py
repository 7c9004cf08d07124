"""What a design for several attributes reveals about each of them, and about all of them together."""

from __future__ import annotations

from deniable.design.design import Design
from deniable.errors import InvalidRequest


def attribute_epsilons(design: Design) -> dict[str, float]:
    """Return the ε of each attribute: what is revealed about it to somebody who holds the attributes for unrelated.

    Implements: [Cha19], Chapter 8. The ε of the whole, `design.epsilon`, is the sum of these, rounded up once.

    Why: if a prior makes the attributes independent, the posterior of one depends on its own response alone, whose
    odds its own channel changes by its own parity at most. Under a prior that ties attributes together the factors
    multiply, and the product is reached where one attribute decides all others.

    Raises:
        InvalidRequest: a design for one attribute.

    Example:
        >>> from deniable.design import product, warner
        >>> attribute_epsilons(product({"smokes": warner(1), "drinks": warner(2)}))
        {'smokes': 1.0, 'drinks': 2.0}
    """
    if not design.factors:
        raise InvalidRequest("this design is for one attribute; expected one for several.", "Ask for design.epsilon.")
    return {attribute: part.epsilon for attribute, part in design.factors}

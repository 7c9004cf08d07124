"""Several questions in one design."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from deniable.design.binary import binary
from deniable.design.design import Design, Factor
from deniable.design.k_ary import k_ary
from deniable.design.registry import register
from deniable.design.warner import warner
from deniable.errors import InvalidDesign


@register(
    {"designs": [warner(1), k_ary(["red", "green", "blue"], 1)]},
    {"designs": {"smokes": warner(p="3/4"), "drinks": binary("9/10", "7/10"), "votes": warner(p="2/3")}},
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

    Raises:
        InvalidDesign: fewer than two designs, two attributes of one name, or more than 2^20 combinations.

    Example:
        >>> product([warner(p="3/4"), warner(p="2/3")]).parity
        Fraction(6, 1)
    """
    named = isinstance(designs, Mapping)
    designs = designs if isinstance(designs, Iterable) else ()
    given = list(designs.items()) if isinstance(designs, Mapping) else [("", each) for each in designs]
    if len(given) < 2 or not all(isinstance(design, Design) for _, design in given):
        raise InvalidDesign(
            f"a product of {len(given)} things; expected at least 2, all designs.",
            'For example product({"smokes": warner(1), "age": k_ary(5, 1)}).',
        )
    flat = [
        Factor(f"{attribute} {part.attribute}".strip(), part.design)
        for attribute, design in given
        for part in design.factors or (Factor("", design),)
    ]
    return Design.of_factors("product", flat if named else _numbered(flat))


def _numbered(factors: Sequence[Factor]) -> list[Factor]:
    """Number what has no name yet."""
    return [
        part if part.attribute and not part.attribute.isdecimal() else Factor(str(number), part.design)
        for number, part in enumerate(factors, start=1)
    ]

"""Blackwell's order: one design is coarser than another if its responses can be made from the other's.

`coarse = C·fine` for a channel C, the garbling. Where there is none, there is a game, payoffs for each response and
answer, that the coarse design wins against every use of the fine one. Either comes as exact rationals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from deniable.channel import Channel, Diagonal, Hadamard, Hashing, Product, Subset
from deniable.channel.product import join, split
from deniable.design import garbling_closed as closed
from deniable.design.admissible import channel_of
from deniable.design.design import Design
from deniable.design.elimination import Row
from deniable.design.garbling_tables import tables
from deniable.design.order import Garbling, Order, Separation, separation
from deniable.errors import Incompatible

__all__ = ["CLOSED", "Garbling", "Order", "Separation", "compare", "garbling", "separation"]

ClosedForm = Callable[[Channel, Channel], "Garbling | Separation | None"]
"""From a coarse and a fine channel to the answer, or None where it does not apply."""


def garbling(coarse: Design | Channel, fine: Design | Channel) -> Garbling | Separation:
    """Return C with coarse = C·fine, or a proof that there is none.

    Implements: the comparison of experiments [Bla51]: in closed form for pairs of one family, by exact elimination
    where the rows of the fine channel are independent, else by a linear program whose result, either way, is turned
    into rationals and checked.

    Raises:
        Incompatible: the two are about different answers.
        InvalidDesign, InvalidRequest: no closed form, and tables too large for a linear program in exact numbers.

    Example:
        >>> from deniable.design import k_ary
        >>> step = garbling(k_ary(4, p="1/2"), k_ary(4, p="3/4"))
        >>> step.channel
        Diagonal(size=4, same=5, other=1)
        >>> bool(garbling(k_ary(4, p="3/4"), k_ary(4, p="1/2")))
        False
    """
    one, two = channel_of(coarse), channel_of(fine)
    known = [each.categories for each in (coarse, fine) if isinstance(each, Design)]
    if one.answers != two.answers or (len(known) == 2 and not _alike(known[0], known[1])):
        raise Incompatible(
            f"the designs are about {one.answers:,} and {two.answers:,} answers, or call them differently; "
            "expected the same answers in the same order."
        )
    found = closed.by_parity(one, two)
    if found is not None:
        return found
    form = CLOSED.get((type(one), type(two)))
    known_order = form(one, two) if form else None
    return known_order if known_order is not None else tables(one.dense(), two.dense())


def compare(one: Design | Channel, two: Design | Channel) -> Order:
    """Say which of two designs tells more, with the garblings, or the proofs that there are none.

    Raises:
        Incompatible: the two are about different answers.
        InvalidDesign, InvalidRequest: no closed form, and tables too large for a linear program in exact numbers.

    Example:
        >>> from deniable.design import k_ary
        >>> compare(k_ary(4, epsilon=2), k_ary(4, epsilon=1)).relation
        'finer'
    """
    down, up = garbling(two, one), garbling(one, two)
    names = {(True, True): "equal", (True, False): "finer", (False, True): "coarser", (False, False): "incomparable"}
    return Order(names[bool(down), bool(up)], down, up)


def _products(one: Channel, two: Channel) -> Garbling | Separation | None:
    """Compare factor by factor.

    Why: factors that are garbled one by one garble the product. Conversely, a garbling of the product garbles a
    factor, when the other factors are drawn for some fixed answers and what comes out of them is forgotten.
    """
    assert isinstance(one, Product)
    assert isinstance(two, Product)
    if [factor.answers for factor in one.factors] != [factor.answers for factor in two.factors]:
        return None
    steps: list[Channel | None] = []
    for f, (ours, theirs) in enumerate(zip(one.factors, two.factors, strict=True)):
        step = garbling(ours, theirs)
        if isinstance(step, Separation):
            return _lift(step, one, f) if step.payoffs else step
        steps.append(step.channel)
    if all(steps):
        return Garbling(Product(tuple(step for step in steps if step is not None)))
    return Garbling(None, "make each factor's response from the other's")


def _lift(step: Separation, one: Product, factor: int) -> Separation:
    """Play a factor's game in the product: it pays where all other answers are 0, whatever else is named."""
    answers = [each.answers for each in one.factors]
    responses = [each.responses for each in one.factors]
    lifted: dict[int, Row] = {}
    for i, pay in step.payoffs.items():
        row = [Fraction(0)] * math.prod(answers)
        for j, value in enumerate(pay):
            row[join([j if f == factor else 0 for f in range(len(answers))], answers)] = value
        shared = tuple(row)
        lifted.update({r: shared for r in range(one.responses) if split(r, responses)[factor] == i})
    return Separation(lifted, step.coarse, step.fine, step.game)


CLOSED: dict[tuple[type[Channel], type[Channel]], ClosedForm] = {
    (Diagonal, Diagonal): closed.diagonals,
    (Hadamard, Hadamard): closed.hadamards,
    (Hashing, Hashing): closed.hashings,
    (Subset, Subset): closed.subsets,
    (Product, Product): _products,
}
"""Pairs of kinds whose order is known in closed form; a new kind enters its own."""


def _alike(one: Sequence[str], two: Sequence[str]) -> bool:
    return one == two or (len(one) == len(two) and all(a == b for a, b in zip(one, two, strict=True)))

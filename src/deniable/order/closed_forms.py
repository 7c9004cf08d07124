"""Closed forms of Blackwell's order: the step between two channels, by pairs of kinds, of any size.

`compare`, `garbling`, `relax` and everything built on them look here first. A new kind need not be here: what is not
in the table is decided by the linear program of `blackwell`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

from deniable.channel import (
    Bits,
    Channel,
    Diagonal,
    Hadamard,
    Hashing,
    Mixture,
    Product,
    Sets,
    Subset,
)
from deniable.channel.two_level import TwoLevel
from deniable.order.bits import Bit, BitByBit, bit_garbling
from deniable.order.sets import Nested, one_size
from deniable.order.steps import (
    Crossed,
    Factors,
    KeepOrFresh,
    Recoded,
    Step,
    integer_weights,
)

Found = TypeVar("Found")


def find_closed_form(old: Channel, new: Channel) -> Step | None:
    """Return the relaxation from one channel to another where it is known in closed form, else None.

    None does not say that there is none: only that the two are not ordered as their family's closed form wants.

    Example:
        >>> find_closed_form(Diagonal(4, 2, 1), Diagonal(4, 3, 1)).share
        Fraction(3, 5)
    """
    if old.answers != new.answers:
        return None
    has_form = (type(old), type(new)) in FORMS
    return (
        _look_up_form(old, new)
        if has_form
        else through_sets(old, new, _look_up_form)
    )


def step_to_body(step: Step) -> dict[str, Any]:
    """Return for JSON what of a step does not follow from its channels."""
    return (
        {"kind": "derived"}
        if find_closed_form(step.old, step.new) == step
        else step.to_body()
    )


def through_sets(
    old: Channel, new: Channel, find: Callable[[Any, Any], Found | None]
) -> Step | Found | None:
    """Find a step between the sets that two channels send, a single category being a set of one; else None."""
    coarse, fine = old.as_sets(), new.as_sets()
    if not (coarse.sizes and fine.sizes):
        return None
    step = find(coarse, fine)
    return (
        Recoded(old, new, step)
        if isinstance(step, Step) and not (coarse is old and fine is new)
        else step
    )


def _look_up_form(old: Channel, new: Channel) -> Step | None:
    form = FORMS.get((type(old), type(new)))
    return form(old, new) if form else None


def keep_or_fresh(old: TwoLevel, new: TwoLevel) -> KeepOrFresh | None:
    """Return the step between two channels of two levels whose responses support the same answers.

    Implements: F12: C = β·I + (1 − β)·even, β being the quotient of the gaps p − q, how much more often a response
    supports the answer than another category.
    """
    share = _quotient(old, new) if new.has_supports_of(old) else None
    return (
        KeepOrFresh(old, new, share, new.uniform())
        if share is not None and 0 <= share <= 1
        else None
    )


def _quotient(old: TwoLevel, new: TwoLevel) -> Fraction | None:
    coarse, fine = (channel.p_true - channel.p_false for channel in (old, new))
    return coarse / fine if fine else Fraction(1) if old == new else None


def _diagonal_step(old: Diagonal, new: Diagonal) -> Step | None:
    """Compare two diagonal channels; on different sides of 1/k, C sends the response itself less often than others."""
    share = _quotient(old, new)
    if share is None or share >= 0 or share * (new.size - 1) < -1:
        return keep_or_fresh(old, new)
    p_other = (1 - share) / new.size
    return Crossed(
        old, new, Diagonal(new.size, *integer_weights([share + p_other, p_other]))
    )


def _nested_step(old: Subset, new: Sets) -> Step | None:
    shares = one_size(old, new)
    return None if shares is None else Nested(old, new, shares)


def _subset_step(old: Subset, new: Subset) -> Step | None:
    return keep_or_fresh(old, new) or _nested_step(old, new)


def bit_by_bit(
    old: Bits, new: Bits, *, kind: type[BitByBit] = BitByBit
) -> Step | None:
    """Return the step that makes every bit from its own finer bit."""
    return (
        kind(old, new)
        if bit_garbling(Bit.from_channel(old), Bit.from_channel(new))
        else None
    )


def factor_pairs(old: Channel, new: Channel) -> list[tuple[Channel, Channel]] | None:
    """Return the factors of two products side by side; None where they are no products about the same answers."""
    if old.product is None or new.product is None:
        return None
    factors = old.product.factors, new.product.factors
    coarse, fine = ([factor.answers for factor in row] for row in factors)
    return list(zip(*factors, strict=True)) if coarse == fine else None


def _product_step(old: Product, new: Product) -> Step | None:
    steps = [find_closed_form(*pair) for pair in factor_pairs(old, new) or ()]
    factor_steps = tuple(step for step in steps if step is not None)
    is_known = steps and len(factor_steps) == len(steps)
    return Factors(old, new, factor_steps) if is_known else None


FORMS: dict[
    tuple[type[Channel], type[Channel]], Callable[[Any, Any], Step | None]
] = {
    (Diagonal, Diagonal): _diagonal_step,
    (Hadamard, Hadamard): keep_or_fresh,
    (Hashing, Hashing): keep_or_fresh,
    (Subset, Subset): _subset_step,
    (Subset, Mixture): _nested_step,
    (Bits, Bits): bit_by_bit,
    (Product, Product): _product_step,
}
"""Pairs of kinds whose order is known in closed form; a new kind may enter its own."""

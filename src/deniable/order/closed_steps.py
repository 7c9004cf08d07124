"""Relaxations in closed form: pairs of channels of one family, of any size."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from deniable.channel import Bits, Channel, Diagonal, Hadamard, Hashing, Mixture, Product, Subset
from deniable.order import sets
from deniable.order.bits import Bit, BitByBit, bit_garbling
from deniable.order.steps import Crossed, Factors, KeepOrFresh, Recoded, Step


def closed(old: Channel, new: Channel) -> Step | None:
    """Return the relaxation from one channel to another where it is known in closed form, else None.

    None does not say that there is none: only that the two are not ordered as their family's closed form wants.

    Example:
        >>> closed(Diagonal(4, 2, 1), Diagonal(4, 3, 1)).share
        Fraction(3, 5)
    """
    if old.answers != new.answers:
        return None
    form = FORMS.get((type(old), type(new)))
    if form is not None:
        return form(old, new)
    if isinstance(old, Diagonal) != isinstance(new, Diagonal):
        step = closed(as_sets(old), as_sets(new))
        return None if step is None else Recoded(old, new, step)
    return None


def as_sets(channel: Channel) -> Channel:
    """Return a diagonal channel as one that sends sets of one category; others as they are."""
    if isinstance(channel, Diagonal):
        return Subset(channel.size, 1, channel.same, channel.total)
    return channel


def _diagonals(old: Channel, new: Channel) -> Step | None:
    """Compare the gaps between the two weights: C = β·I + (1 − β)/k·J with β their quotient."""
    assert isinstance(old, Diagonal)
    assert isinstance(new, Diagonal)
    gap = Fraction(new.same - new.other, new.total)
    coarse = Fraction(old.same - old.other, old.total)
    if old == new or not gap:
        return KeepOrFresh(old, new, Fraction(1), even(new.size)) if old == new else None
    share = coarse / gap
    if 0 <= share <= 1:
        return KeepOrFresh(old, new, share, even(new.size))
    other = (1 - share) / new.size
    if share > 1 or share + other < 0:
        return None
    weights = [share + other, other]
    same, rest = (int(each * weights[0].denominator * weights[1].denominator) for each in weights)
    return Crossed(old, new, Diagonal(new.size, same, rest))


def _hadamards(old: Channel, new: Channel) -> Step | None:
    assert isinstance(old, Hadamard)
    assert isinstance(new, Hadamard)
    return _kept(old, new, Fraction(old.large - old.small, old.total) / Fraction(new.large - new.small, new.total))


def _hashings(old: Channel, new: Channel) -> Step | None:
    assert isinstance(old, Hashing)
    assert isinstance(new, Hashing)
    if old.values != new.values:
        return None
    return _kept(old, new, Fraction(old.same - old.other, old.total) / Fraction(new.same - new.other, new.total))


def _kept(old: Channel, new: Channel, share: Fraction) -> Step | None:
    return KeepOrFresh(old, new, share, even(new.responses)) if 0 <= share <= 1 else None


def _subsets(old: Channel, new: Channel) -> Step | None:
    assert isinstance(old, Subset)
    assert isinstance(new, Subset)
    shares = sets.one_size(old, new)
    if shares is None:
        return None
    if old.ones == new.ones and not shares[0].apart:  # the nearest set of the same size is the set itself
        return KeepOrFresh(old, new, shares[0].near, Subset(new.size, new.ones, new.ones, new.size))
    return sets.Nested(old, new, shares)


def _bridges(old: Channel, new: Channel) -> Step | None:
    assert isinstance(old, Subset)
    assert isinstance(new, Mixture)
    shares = sets.one_size(old, new)
    return None if shares is None else sets.Nested(old, new, shares)


def _bits(old: Channel, new: Channel) -> Step | None:
    assert isinstance(old, Bits)
    assert isinstance(new, Bits)
    return BitByBit(old, new) if bit_garbling(Bit.of(old), Bit.of(new)) else None


def _products(old: Channel, new: Channel) -> Step | None:
    assert isinstance(old, Product)
    assert isinstance(new, Product)
    if [each.answers for each in old.factors] != [each.answers for each in new.factors]:
        return None
    steps = [closed(one, two) for one, two in zip(old.factors, new.factors, strict=True)]
    found = tuple(step for step in steps if step is not None)
    return Factors(old, new, found) if len(found) == len(steps) else None


def even(size: int) -> Diagonal:
    """Return the channel that sends each of so many responses equally often, whatever the answer."""
    return Diagonal(size, 1, 1)


FORMS: dict[tuple[type[Channel], type[Channel]], Callable[[Channel, Channel], Step | None]] = {
    (Diagonal, Diagonal): _diagonals,
    (Hadamard, Hadamard): _hadamards,
    (Hashing, Hashing): _hashings,
    (Subset, Subset): _subsets,
    (Subset, Mixture): _bridges,
    (Bits, Bits): _bits,
    (Product, Product): _products,
}
"""Pairs of kinds whose relaxation is known in closed form; a new kind enters its own."""

"""What can follow a design instead, where the design that was asked for cannot."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import singledispatch

from deniable import chance, exact
from deniable.channel import Bits, Channel, Diagonal, Hadamard, Hashing, Mixture, Sets, Subset
from deniable.channel.mixture import Part
from deniable.designs import Bitstrings, Design
from deniable.designs.sets_of_answers import inside
from deniable.errors import DeniableError
from deniable.order.closed_steps import as_sets
from deniable.order.search import search
from deniable.order.sizes import bridged, raised
from deniable.order.steps import Step

_HALVINGS = 20  # of a bisection: enough for six digits
_MOST_CELLS = 200_000


def nearest(old: Design, new: Design) -> tuple[Design, ...]:
    """Return designs near the second that can follow the first, the best one first; none where none is known.

    For sets of t categories: the bridge mixture at the second's ε, and the same t at the smallest ε that will do. For
    other families: the second with the smallest ε that will do; or the k-ary design with the smallest ε.
    """
    found: list[Channel] = []
    if not isinstance(old.channel, Diagonal) or not isinstance(new.channel, Diagonal):
        found = _followers(as_sets(new.channel), as_sets(old.channel))
    if not found:
        found = _k_ary(old.channel)
    return tuple(_design(new, channel) for channel in found if _follows(old.channel, channel))


@singledispatch
def _followers(new: Channel, old: Channel) -> list[Channel]:  # noqa: ARG001 - for those that register
    """Return channels of the kind of `new` that may follow `old`."""
    return []


@_followers.register
def _(new: Subset, old: Channel) -> list[Channel]:
    if not isinstance(old, Subset):
        return _mixtures(new, old)
    return [each for each in (bridged(old, new), raised(old, new)) if each is not None]


@_followers.register
def _(new: Mixture, old: Channel) -> list[Channel]:
    return _mixtures(new, old)


@_followers.register
def _(new: Bits, old: Channel) -> list[Channel]:
    return _least(lambda part: _clearer(new, part), old) if isinstance(old, Bits) else []


@_followers.register
def _(new: Hadamard, old: Channel) -> list[Channel]:
    return [replace(new, large=old.large, small=old.small)] if isinstance(old, Hadamard) else []


@_followers.register
def _(new: Hashing, old: Channel) -> list[Channel]:
    same = isinstance(old, Hashing) and old.values == new.values
    return [old] if same else []


def _mixtures(new: Mixture | Subset, old: Channel) -> list[Channel]:
    """Mix in as little of the old sizes at the new parity as will do; or keep the sizes and raise the parity."""
    if not isinstance(old, Mixture | Subset):
        return []
    odds = [new.odds(t) for t in new.sizes if 0 < t < new.size]
    gamma = max((each for each in odds if isinstance(each, Fraction)), default=Fraction(1))
    both = _least(lambda part: _blend(old, new, gamma, part), old) if gamma > 1 else []
    return [*both, *_least(lambda part: _raised(new, gamma / (1 - part)), old, open_end=True)]


def _blend(old: Mixture | Subset, new: Mixture | Subset, gamma: Fraction, part: Fraction) -> Channel:
    """Mix the sizes of two channels, all at one parity; `part` of the first."""
    weights: dict[int, Fraction] = {}
    for channel, share in ((old, part), (new, 1 - part)):
        for t in channel.sizes:
            weights[t] = weights.get(t, Fraction(0)) + share * channel.weight(t)
    return _rounded(old.size, weights, gamma)


def _raised(new: Mixture | Subset, gamma: Fraction) -> Channel:
    return _rounded(new.size, {t: new.weight(t) for t in new.sizes}, gamma)


def _rounded(k: int, weights: dict[int, Fraction], gamma: Fraction) -> Channel:
    """Write a mixture in weights of 2^64; those inside are rounded towards privacy."""
    whole = {t: int(weight * chance.TOTAL) for t, weight in weights.items()}
    whole[max(whole, key=lambda t: whole[t])] += chance.TOTAL - sum(whole.values())
    parts = tuple(Part(t, weight, inside(k, t, gamma)) for t, weight in sorted(whole.items()) if weight)
    return Mixture(k, parts, chance.TOTAL)


def _clearer(channel: Bits, part: Fraction) -> Channel:
    """Move both weights towards telling the truth."""
    up, down = (channel.total, 0) if channel.hit >= channel.stray else (0, channel.total)
    hit, stray = (own + int((end - own) * part) for own, end in ((channel.hit, up), (channel.stray, down)))
    return Bits(channel.size, hit, stray, channel.total, channel.sized)


def _least(build: Callable[[Fraction], Channel], old: Channel, *, open_end: bool = False) -> list[Channel]:
    """Return what is built with the smallest part of 1 that can follow; nothing where no part can."""
    whole = 1 << _HALVINGS
    low, high = 0, whole - open_end
    if not _follows(old, build(Fraction(high, whole))):
        return []
    while high - low > 1:
        middle = (low + high) // 2
        if _follows(old, build(Fraction(middle, whole))):
            high = middle
        else:
            low = middle
    found = build(Fraction(high, whole))
    return [found] if found.parity != math.inf else []


def _follows(old: Channel, new: Channel) -> bool:
    try:
        return isinstance(search(old, new), Step)
    except DeniableError:  # too large to decide
        return False


def _k_ary(old: Channel) -> list[Channel]:
    """Return the k-ary channel with the smallest ε that can follow a channel that is small enough to be gone through.

    Why: C = old·K⁻¹ has the entries ((γ + k − 1)·old[i, j] − Σ_j old[i, j]) / (γ − 1), all to be 0 or more.
    """
    if isinstance(old, Diagonal):
        return [old]
    k = old.answers
    if isinstance(old, Sets) or old.responses * k > _MOST_CELLS:
        return []
    ratios = [exact.ratio(sum(row), min(row)) for row in old.dense().weights if any(row)]
    gamma = max(ratios) - k + 1
    return [Diagonal(k, gamma.numerator, gamma.denominator)] if isinstance(gamma, Fraction) and gamma > 1 else []


def _design(new: Design, channel: Channel) -> Design:
    """Put the labels of a design around a channel."""
    if isinstance(channel, Subset) and isinstance(new.channel, Diagonal) and channel.ones == 1:
        channel = Diagonal(channel.size, channel.inside * (channel.size - 1), channel.total - channel.inside)
    if isinstance(channel, Diagonal):
        return Design("k_ary", new.categories, new.categories, channel)
    if isinstance(channel, Sets):
        kind = new.name if type(channel) is type(new.channel) else "mixture"
        return Design(kind, new.categories, Bitstrings(channel.size), channel)
    return Design(new.name, new.categories, new.symbols, channel)

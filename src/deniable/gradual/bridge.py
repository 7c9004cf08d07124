"""The mixture that leads from sets of one size to sets of another, where these cannot follow directly."""

from __future__ import annotations

import math
from fractions import Fraction

from deniable import chance
from deniable.channel import Channel, Mixture, Sets, Subset
from deniable.channel.mixture import Part
from deniable.design import Bitstrings, Design
from deniable.design.subset import inside
from deniable.errors import InvalidRequest, NotOrdered
from deniable.gradual.closed import as_sets
from deniable.gradual.sets import least, most


def bridge(old: Design, new: Design) -> Design:
    """Return the mixture nearest to the second design that can follow the first.

    Both send sets of one size, or single categories. The mixture sends sets of the first one's size, at the second
    one's ε, as seldom as it can, and else sets of the second one's size.

    Implements: the bridge mixture of F12 (`bridge_weight`), in weights of 2^64 rounded towards privacy.

    Raises:
        InvalidRequest: a design that does not send sets of one size, or holds the answer less often than chance.
        NotOrdered: the second has a smaller ε than the first, so that nothing at its ε can follow.

    Example:
        >>> from deniable.design import subset
        >>> between = bridge(subset(6, epsilon=1, t=2), subset(6, epsilon="1.3", t=1))
        >>> [round(float(between.channel.weight(t)), 4) for t in (1, 2)]
        [0.6546, 0.3454]
    """
    one, two = _read(old), _read(new)
    mixture = bridged(one, two)
    if mixture is None:
        raise NotOrdered(
            f"ε falls from {old.epsilon:.6g} to {new.epsilon:.6g}; expected a second design that reveals more.",
            "What is out cannot be taken back: choose a larger ε.",
        )
    return Design("mixture", new.categories, Bitstrings(mixture.size), mixture)


def bridged(old: Subset, new: Subset) -> Mixture | None:
    """Return the bridge mixture of two channels; None where the parity falls."""
    k, s, t = old.size, old.ones, new.ones
    odds = new.odds(t)
    if s == t or not isinstance(odds, Fraction):
        return None
    own, other = inside(k, s, odds), new.inside * chance.TOTAL // new.total
    wanted, most_held = old.inclusion(s), Fraction(own, chance.TOTAL)
    held = near_inclusion(Subset(k, t, other, chance.TOTAL), s)
    if wanted > most_held:
        return None
    weight = math.ceil((wanted - held) / (most_held - held) * chance.TOTAL) if held < wanted else 0
    parts = (Part(s, weight, own), Part(t, chance.TOTAL - weight, other))
    return Mixture(k, tuple(sorted(part for part in parts if part.weight)), chance.TOTAL)


def near_inclusion(new: Subset, s: int) -> Fraction:
    """Return how often a set of s that is as near to the finer set as it can be holds the answer."""
    k, t, own = new.size, new.ones, new.inclusion(new.ones)
    shared = most(s, t)
    return own * Fraction(shared, t) + (1 - own) * Fraction(s - shared, k - t)


def raised(old: Subset, new: Subset) -> Subset | None:
    """Return the sets of the second's size with the smallest ε that can follow the first; None where none can.

    Why: how often a coarser set near to the finer one holds the answer grows evenly with how often the finer one does.
    """
    k, s, t = old.size, old.ones, new.ones
    shared = most(s, t) if old.inclusion(s) * k >= s else least(s, t, k)
    within, outside = Fraction(shared, t), Fraction(s - shared, k - t)
    wanted = (old.inclusion(s) - outside) / (within - outside) if within != outside else Fraction(1)
    weight = math.ceil(wanted * chance.TOTAL)
    return Subset(k, t, weight, chance.TOTAL) if 0 < weight < chance.TOTAL else None


def _read(design: Design) -> Subset:
    channel: Channel = as_sets(design.channel)
    if not isinstance(channel, Subset) or channel.inclusion(channel.ones) * channel.size <= channel.ones:
        kind = "sets of several sizes" if isinstance(channel, Sets) else "no sets of categories"
        raise InvalidRequest(
            f"{design!r} sends {kind}, or holds the answer less often than chance; expected sets of one size.",
            "Bridges lead from one subset() to another.",
        )
    return channel

"""Responses that no device sent: counts that no population can give through the channel, beyond chance.

Whatever the answers are, an event such as "the set holds three categories" or "the response is 'yes'" has a
probability between its smallest and its largest over the answers. So the number of responses in which it occurs lies,
in law, between two binomial numbers, and their exact tails bound how probable a count as far out is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import rel_entr
from scipy.stats import binom

from deniable.attacks.influence import pulls
from deniable.channel import Sets, TwoLevel
from deniable.channel.support import set_sizes
from deniable.errors import InvalidRequest, NotEstimable, quoted
from deniable.estimates.covariances import Vector, vector
from deniable.tallies import Tally, marginal

RATE = 1e-6
"""How often responses that the device did send are doubted all the same, over all that is looked at in a tally."""

_MAX_RESPONSES = 4096  # responses that are looked at one by one
_MAX_DOUBTS = 5  # doubts that are told


class Suspicion(NamedTuple):
    """Something about the responses that the device does not explain.

    Attributes:
        what: a sentence.
        chance: how probable it is at most that anything is as far out by chance, whatever the answers are.
    """

    what: str
    chance: float


class Law(NamedTuple):
    """Events of one kind, and between which probabilities each lies whatever the answer is.

    Attributes:
        name: what an event is, in words.
        observed: the share of the responses, or the mean of a number between 0 and 1.
        low: the smallest probability.
        high: the largest probability.
        n: how many responses were looked at.
        events: whether a response is in or out; otherwise it adds a number between 0 and 1.
    """

    name: Callable[[int], str]
    observed: Vector
    low: Vector
    high: Vector
    n: int
    events: bool = True


def doubts(
    tally: Tally, *, sizes: Mapping[int, int] | None = None, rate: float = RATE
) -> tuple[Suspicion, ...]:
    """Return what looks fabricated about the responses, the least probable first; empty for most honest surveys.

    Guarantee: if the device drew every response, then whatever the answers are, and however they depend on each other,
    anything at all is returned with probability `rate` at most.

    Args:
        tally: the counts.
        sizes: for designs that send sets of categories, how many responses hold how many of them, perhaps of another
            moment than the tally. A tally that counts sizes apart knows it.
        rate: of false alarms.

    Raises:
        InvalidRequest: a rate outside (0, 1), or sizes that the design never sends.

    Example:
        >>> from deniable.designs import k_ary
        >>> [each.what for each in doubts(Tally(k_ary(["a", "b", "c"], p="1/2"), [900, 90, 10]))][0]
        "'a' was sent by 900 of 1,000; whatever the answers are, the device lets at most about 500 send it."
    """
    if not 0 < rate < 1:
        raise InvalidRequest(
            f"the rate of false alarms is {rate}; expected a number between 0 and 1, such as 1e-6."
        )
    if tally.respondents < 1:
        return ()
    laws = list(_laws(tally, _sizes(tally, sizes)))
    looked = 2 * sum(len(law.observed) for law in laws)
    doubted = [doubt for law in laws for doubt in _doubt_counts(law, looked, rate)]
    return tuple(sorted(doubted, key=lambda doubt: doubt.chance)[:_MAX_DOUBTS])


def _doubt_counts(law: Law, looked: int, rate: float) -> Iterator[Suspicion]:
    n = law.n
    hits = np.rint(law.observed * n)
    if law.events:
        above, below = (
            vector(binom.sf(hits - 1, n, law.high)),
            vector(binom.cdf(hits, n, law.low)),
        )
    else:
        above = np.where(
            law.observed > law.high, _tail(law.observed, law.high, n), 1.0
        )
        below = np.where(
            law.observed < law.low, _tail(law.observed, law.low, n), 1.0
        )
    for direction, chances, bound in (
        ("at most", above, law.high),
        ("at least", below, law.low),
    ):
        for at in np.flatnonzero(chances * looked <= rate).tolist():
            allowed = f"whatever the answers are, the device lets {direction} about {n * bound[at]:,.0f} send it."
            if not law.events:
                allowed = f"whatever the answers are, it is {direction} about {n * bound[at]:,.0f}."
            yield Suspicion(
                f"{law.name(at)} {hits[at]:,.0f} of {n:,}; {allowed}",
                float(chances[at] * looked),
            )


def _tail(mean: Vector, bound: Vector, n: int) -> Vector:
    """Return exp(−n·KL), which bounds the tail of a mean of independent numbers in [0, 1] ([Hoe63], Theorem 1)."""
    return vector(
        np.exp(-n * (rel_entr(mean, bound) + rel_entr(1 - mean, 1 - bound)))
    )


def _sizes(
    tally: Tally, given: Mapping[int, int] | None
) -> NDArray[np.int64] | None:
    """Return how many responses have each size that can be sent, if that is known and if it differs at all."""
    channel = tally.design.channel
    if not channel.sizes:
        if given:
            raise InvalidRequest(
                "sizes were given, but this design does not send sets; expected none."
            )
        return None
    if given is not None and not set(given) <= set(channel.sizes):
        raise InvalidRequest(
            "some sets have a size that this design never sends; expected "
            + channel.coding.describe()
            + "."
        )
    if channel.by_size:
        return tally.counts.reshape(-1, channel.answers + 1)[:, 0]
    if channel.own_cells:
        return np.asarray(
            np.bincount(set_sizes(channel.answers), tally.counts)[
                list(channel.sizes)
            ],
            np.int64,
        )
    if given is None or len(channel.sizes) == 1:
        return None
    return np.array([given.get(ones, 0) for ones in channel.sizes], np.int64)


def _laws(tally: Tally, sizes: NDArray[np.int64] | None) -> Iterator[Law]:
    """Yield what can be said about the counts: of each symbol, of the support of each category, of sizes, of shares."""
    channel = tally.design.channel
    symbols = channel.own_cells and channel.responses <= _MAX_RESPONSES
    if symbols:
        yield _symbols(tally)
    if tally.design.factors:
        for attribute in tally.design.attributes:
            yield from _laws(marginal(tally, attribute), None)
    elif channel.two_level is not None:
        # where a symbol is a category, both say the same
        if not (symbols and channel.two_level.support.direct):
            yield _support(tally, channel.two_level)
        if (
            channel.set_valued is not None
            and sizes is not None
            and len(channel.sizes) > 1
            and sizes.any()
        ):
            yield from _size_laws(channel.set_valued, sizes)
    else:
        yield from _shares(tally)


def _support(tally: Tally, channel: TwoLevel) -> Law:
    """Return the law of how often each category was supported, which is between p and q for all of them."""
    observed = channel.support.gather(tally.counts / tally.respondents)
    least, most = (
        np.full(len(observed), float(end))
        for end in sorted((channel.p_false, channel.p_true))
    )
    subject = "a set with" if channel.sizes else "a response that speaks for"
    describe = lambda at: (  # noqa: E731 - as short as its siblings
        f"{subject} {quoted(tally.design.categories[at])} was sent by"
    )
    return Law(describe, observed, least, most, tally.respondents)


def _size_laws(channel: Sets, sizes: NDArray[np.int64]) -> Iterator[Law]:
    """Sizes do not depend on the answers at all: each, and each or a smaller one, has one probability."""
    law, n = channel.size_law(), int(sizes.sum())
    observed = sizes / n
    yield Law(
        lambda at: f"a set of {channel.sizes[at]:,} was sent by",
        observed,
        law,
        law,
        n,
    )
    upto = np.minimum(np.cumsum(law), 1.0)[:-1]
    name = lambda at: f"a set of {channel.sizes[at]:,} or fewer was sent by"  # noqa: E731 - as short as its siblings
    yield Law(name, np.cumsum(observed)[:-1], upto, upto, n)


def _symbols(tally: Tally) -> Law:
    design = tally.design
    ends = [
        design.channel.extremes(number) for number in range(design.channel.responses)
    ]
    low, high = (
        np.array([float(extremes[position]) for extremes in ends])
        for position in (1, 0)
    )
    observed, n = tally.counts / tally.respondents, tally.respondents
    return Law(
        lambda at: f"{quoted(design.symbols[at])} was sent by",
        observed,
        low,
        high,
        n,
    )


def _shares(tally: Tally) -> Iterator[Law]:
    """Yield the law of the estimate itself: E[L_j | answer] is 0 or 1, scaled by the smallest and the largest L_j."""
    try:
        influence = pulls(tally)
    except NotEstimable:
        return
    least, most = influence.values.min(axis=0), influence.values.max(axis=0)
    room = most - least
    mean = ((influence.values - least) * influence.counts).sum(axis=0) / (
        room * tally.respondents
    )
    name = lambda at: (  # noqa: E731 - as above
        f"what speaks for {quoted(tally.design.categories[at])} adds up to"
    )
    yield Law(
        name,
        mean,
        -least / room,
        (1 - least) / room,
        tally.respondents,
        events=False,
    )

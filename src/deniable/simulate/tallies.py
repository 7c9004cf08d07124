"""Tallies of a design or a deck, drawn in law."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from deniable.audit.simulated_attacks import generator
from deniable.channel import Bits, Channel
from deniable.designs import Deck, Design
from deniable.errors import InvalidRequest
from deniable.estimates.linear import floats
from deniable.simulate.people import Counts, People, asked, dealt, read_people, repeated

_MOST_PAIRS = 1 << 24  # probabilities that are written out: 134 MB


def tallies(
    design: Design | Deck,
    people: People,
    repetitions: int = 1,
    *,
    respondents: int | None = None,
    replaced: bool = False,
    draws: np.random.Generator | None = None,
) -> Counts:
    """Draw the tallies of many surveys among the same people; return a row of counts for each survey.

    Guarantee: the rows are independent, and each has exactly the law of a tally of individual responses, but for the
    rounding of probabilities to floats.

    Why: responses of independent respondents with one answer add up to multinomial counts, cards that are kept to
    hypergeometric ones. Bits are independent, so that each column is binomial; a diagonal channel keeps an answer with
    probability p − r and otherwise sends any category evenly.

    Args:
        design: what is responded with: a design, or a deck that is dealt.
        people: how many people have each answer, in the order of the categories or by name.
        repetitions: how many surveys.
        respondents: how many of the people are asked each time; all of them (a census), if it is not given.
        replaced: ask independent respondents, of whom one may come twice; otherwise a sample without replacement.
        draws: where the counts come from; by default a generator that begins with the operating system's bytes.

    Raises:
        InvalidRequest: numbers that do not fit, or a channel with too many responses to write out.

    Example:
        >>> from deniable.designs import warner
        >>> drawn = tallies(warner(p="3/4"), {"yes": 253_052, "no": 2_999_547}, 10_000)
        >>> drawn.shape, set(drawn.sum(axis=1).tolist())
        ((10000, 2), {3252599})
    """
    begun, rows = generator() if draws is None else draws, repeated(repetitions)
    there = asked(read_people(design.categories, people), rows, respondents, replaced=replaced, draws=begun)
    if isinstance(design, Deck):
        return _dealt(design, there, begun)
    return _drawn(design.channel, there, begun)


def _dealt(deck: Deck, there: Counts, draws: np.random.Generator) -> Counts:
    """Deal a card to everybody, to the members first; they send the number from the other end."""
    if (n := int(there[0].sum())) > deck.people:
        raise InvalidRequest(f"there are {n:,} respondents; expected at most the {deck.people:,} people of the deck.")
    cards = np.broadcast_to(np.array(deck.counts, np.int64), (len(there), deck.numbers))
    members = dealt(cards, there[:, 1], draws)
    others = dealt(cards - members, there[:, 0], draws)
    return others + members[:, ::-1]


def _drawn(channel: Channel, there: Counts, draws: np.random.Generator) -> Counts:
    """Draw the tallies of those who are there: by a quicker law where there is one, else answer by answer."""
    if channel.exchangeable:
        own, other = (float(channel.probability(0, given=x)) for x in (0, 1))
        if own >= other:
            kept = draws.binomial(there, own - other)
            rest = (there - kept).sum(axis=1)
            return np.asarray(kept + draws.multinomial(rest, np.full(channel.answers, 1 / channel.answers)), np.int64)
    if isinstance(channel, Bits) and not channel.by_size:
        others = there.sum(axis=1, keepdims=True) - there
        hits = draws.binomial(there, float(channel.hit_rate))
        return np.asarray(hits + draws.binomial(others, float(channel.stray_rate)), np.int64)
    sent, table = _written(channel)
    counts = np.zeros((len(there), len(sent)), np.int64)
    for answer in range(channel.answers):
        counts += spread(there[:, answer], table[:, answer], draws)
    return in_cells(channel, sent, counts)


def spread(number: Counts, probabilities: NDArray[np.float64], draws: np.random.Generator) -> Counts:
    """Return multinomial counts for each number; the likeliest comes last and takes what rounding leaves."""
    order = np.argsort(probabilities, kind="stable")
    counts = np.empty((len(number), len(probabilities)), np.int64)
    counts[:, order] = draws.multinomial(number, probabilities[order])
    return counts


def in_cells(channel: Channel, sent: Sequence[int], counts: Counts) -> Counts:
    """Return tallies from how often each response was sent."""
    if channel.own_cells and channel.responses == len(sent):
        return counts
    held = np.zeros((len(sent), channel.cells), np.int64)
    for place, response in enumerate(sent):
        held[place, list(channel.cells_of(response))] = 1
    return counts @ held


def _written(channel: Channel) -> tuple[Sequence[int], NDArray[np.float64]]:
    """Return the responses that can be sent, and their probabilities: responses × answers."""
    size = channel.answers
    many = sum(math.comb(size, ones) for ones in channel.sizes) or channel.responses
    if many * channel.answers > _MOST_PAIRS:
        raise InvalidRequest(
            f"this channel has more than {_MOST_PAIRS:,} pairs of answer and response; expected fewer to draw in law.",
            "Draw the responses themselves with engines.local, or use fewer categories.",
        )
    if not channel.sizes:
        return range(channel.responses), floats(channel)
    sent, rows = [], []
    for ones in channel.sizes:
        # All sets of a size are alike: the first one tells what a category inside and one outside have.
        inside, outside = (float(channel.probability((1 << ones) - 1, given=at)) for at in (0, size - 1))
        for members in combinations(range(size), ones):
            sent.append(sum(1 << each for each in members))
            row = np.full(size, outside)
            row[list(members)] = inside
            rows.append(row)
    return sent, np.array(rows)

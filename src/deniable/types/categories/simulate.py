"""Simulate tallies of a design for categories from the distribution of their counts, without single responses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.channel import Channel
from deniable.designs import Design
from deniable.errors import InvalidRequest
from deniable.estimates.inverses import left_inverse
from deniable.estimates.linear import Linear, floats
from deniable.estimates.supported import customary

Counts: TypeAlias = NDArray[np.int64]
"""Counts, a row for each repetition."""

_MAX_DEALT = 10**9  # what NumPy's hypergeometric distribution takes
_MAX_PAIRS = 1 << 24  # probabilities that are written out: 134 MB


def simulate_tallies(
    design: Design, people: Counts, draws: np.random.Generator
) -> Counts:
    """Return the tally of each repetition, given how many respondents of it have each answer.

    Raises:
        InvalidRequest: a channel with too many responses to write out.
    """
    channel = design.channel
    if channel.exchangeable:
        own, other = (float(channel.probability(0, given=x)) for x in (0, 1))
        if own >= other:
            kept = draws.binomial(people, own - other)
            fresh = (people - kept).sum(axis=1)
            return np.asarray(
                kept
                + draws.multinomial(
                    fresh, np.full(channel.answers, 1 / channel.answers)
                ),
                np.int64,
            )
    bits = channel.bitwise
    if bits is not None and not bits.by_size and not bits.own_cells:
        others = people.sum(axis=1, keepdims=True) - people
        hits = draws.binomial(people, float(bits.p_true))
        return np.asarray(
            hits + draws.binomial(others, float(bits.p_false)), np.int64
        )
    sent, table = _dense_channel(channel)
    counts = np.zeros((len(people), len(sent)), np.int64)
    for answer in range(channel.answers):
        counts += draw_multinomial(people[:, answer], table[:, answer], draws)
    return count_cells(channel, sent, counts)


def tally_inverse(design: Design, method: str) -> Linear:
    """Return the left inverse that turns shares of responses into those of answers.

    Raises:
        NotEstimable: the design cannot tell answers apart.
        InvalidRequest: it has no customary estimate.
    """
    return (
        customary(design.channel)
        if method == "customary"
        else left_inverse(design.channel)
    )


def draw_without_replacement(
    kinds: Counts, number: Counts, draws: np.random.Generator
) -> Counts:
    """Draw so many things without replacement in each repetition; return how many of each kind there are.

    Why: the first kind follows the hypergeometric law; given how many of it there are, the rest is drawn from the other
    kinds in the same way. NumPy's own multivariate law takes the same kinds for every repetition.

    Raises:
        InvalidRequest: more than a thousand million things.
    """
    if kinds.sum(axis=1).max() >= _MAX_DEALT:
        raise InvalidRequest(
            f"there are {_MAX_DEALT:,} or more to draw from without replacement; expected fewer."
        )
    drawn, left = np.empty_like(kinds), number.copy()
    behind = kinds.sum(axis=1)
    for kind in range(kinds.shape[1]):
        behind = behind - kinds[:, kind]
        drawn[:, kind] = draws.hypergeometric(kinds[:, kind], behind, left)
        left -= drawn[:, kind]
    return drawn


def draw_multinomial(
    number: Counts, probabilities: NDArray[np.float64], draws: np.random.Generator
) -> Counts:
    """Return multinomial counts for each number; the likeliest comes last and takes what rounding leaves."""
    order = np.argsort(probabilities, kind="stable")
    counts = np.empty((len(number), len(probabilities)), np.int64)
    counts[:, order] = draws.multinomial(number, probabilities[order])
    return counts


def count_cells(channel: Channel, sent: Sequence[int], counts: Counts) -> Counts:
    """Return tallies from how often each response was sent."""
    if channel.own_cells and isinstance(sent, range):
        return counts
    if channel.own_cells:
        cells = np.zeros((len(counts), channel.cells), np.int64)
        cells[:, list(sent)] = counts
        return cells
    cells_of_sent = np.zeros((len(sent), channel.cells), np.int64)
    for row, response in enumerate(sent):
        cells_of_sent[row, list(channel.cells_of(response))] = 1
    return counts @ cells_of_sent


def _dense_channel(channel: Channel) -> tuple[Sequence[int], NDArray[np.float64]]:
    """Return the possible responses and the dense channel: responses × answers."""
    size = channel.answers
    n_sent = (
        sum(math.comb(size, ones) for ones in channel.sizes) or channel.responses
    )
    if n_sent * channel.answers > _MAX_PAIRS:
        raise InvalidRequest(
            f"this channel has more than {_MAX_PAIRS:,} pairs of answer and response; expected fewer to draw in law.",
            "Draw the responses themselves with engines.local, use fewer categories, or count those of bits alone: "
            "unary(…, by_size=False).",
        )
    if not channel.sizes:
        return range(channel.responses), floats(channel)
    sent, rows = [], []
    for ones in channel.sizes:
        # All sets of a size are alike: the first one tells what a category inside and one outside have.
        inside, outside = (
            float(channel.probability((1 << ones) - 1, given=answer))
            for answer in (0, size - 1)
        )
        for members in combinations(range(size), ones):
            sent.append(sum(1 << member for member in members))
            row = np.full(size, outside)
            row[list(members)] = inside
            rows.append(row)
    return sent, np.array(rows)

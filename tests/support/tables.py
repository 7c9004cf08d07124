"""Random exact channels, and t-subset designs written out."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import combinations

from deniable.channel import Dense
from tests.support.rational import Table


def random_channel(
    order: random.Random, answers: int, responses: int, *, lowest: int = 1
) -> Dense:
    """Return a channel whose columns are small random weights, each brought to sum 1."""
    columns = []
    for _ in range(answers):
        weights = [order.randint(lowest, 9) for _ in range(responses)]
        weights[0] += not any(weights)
        columns.append([Fraction(weight, sum(weights)) for weight in weights])
    return Dense.from_rows(list(zip(*columns, strict=True)))


def subset_channel(k: int, t: int, gamma: Fraction) -> Dense:
    """Return the t-subset design with one row for each set, in the order of `combinations`."""
    small = Fraction(k) / (math.comb(k, t) * (t * gamma + k - t))
    return Dense.from_rows(
        [
            [gamma * small if j in members else small for j in range(k)]
            for members in combinations(range(k), t)
        ]
    )


def rows(channel: Dense) -> Table:
    return tuple(
        tuple(Fraction(weight, channel.total) for weight in row)
        for row in channel.weights
    )

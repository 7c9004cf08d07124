"""Synthetic bipartite graphs, drawn from the estimated degree distributions of both sides."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.attacks.simulated import generator
from deniable.errors import InvalidRequest
from deniable.estimates.covariances import Vector
from deniable.estimates.results import Caution
from deniable.rendering import formats
from deniable.types.key_value.degrees import JointDegrees
from deniable.types.key_value.items import check_number

Numbers = NDArray[np.int64]
Ties = NDArray[np.bool_]

_MAX_PAIRS = 10**7  # one byte each, and eight more while they trade
_ROUNDS = 20  # of trades

PRESERVED = (
    "It preserves, in expectation, how many items people have and how many people each item has, as far as both "
    "estimates agree and a graph can have both, and the mean weight of each item."
)
LOST = (
    "It loses who is tied to whom: which items go together, clustering, whether people with many items have the "
    "frequent ones, and how weights vary around the mean of their item."
)


@dataclass(frozen=True, eq=False)
class SyntheticGraph:
    """A bipartite graph of people who do not exist, drawn from two estimates: post-processing, which costs no ε.

    Attributes:
        items: names of the items.
        ties: whether each person (rows) has each item (columns).
        mean: the weight of every edge of each item, on the scale of the design.
        scaled: by how much the degrees of items were multiplied to meet those of people.
        epsilon: what both questions together reveal at most of a person.
        warnings: what calls for care in the estimates.
    """

    items: tuple[str, ...]
    ties: Ties = field(repr=False)
    mean: Vector = field(repr=False)
    scaled: float
    epsilon: float
    warnings: tuple[Caution, ...] = ()

    def columns(self) -> dict[str, list[Any]]:
        """Return a row for each edge: the number of the person, the name of the item, and the weight."""
        people, codes = np.nonzero(self.ties)
        return {
            "person": people.tolist(),
            "item": [self.items[code] for code in codes],
            "weight": self.mean[codes].tolist(),
        }

    def __str__(self) -> str:
        n, m = self.ties.shape
        head = f"Synthetic graph of {n:,} people and {m:,} items: {int(self.ties.sum()):,} edges."
        notes = (
            PRESERVED,
            LOST,
            f"The degrees of items were multiplied by {self.scaled:.3g} to meet those of people.",
            f"It is post-processing: ε = {formats.epsilon(self.epsilon)}, of both questions together.",
            *(f"Warning: {caution}" for caution in self.warnings),
        )
        return "\n".join((head, *notes))


def graph(
    degrees: JointDegrees,
    people: int | None = None,
    *,
    draws: np.random.Generator | None = None,
) -> SyntheticGraph:
    """Draw a synthetic bipartite graph from the degree distributions of both sides.

    The degrees of people are drawn independently, that of each item from its posterior. The degrees of items are then
    multiplied so that both sides have the same number of edges, and lowered where no graph has them (Gale–Ryser). The
    graph is nearly uniform among all with these degrees. It preserves degrees in expectation and the mean weight of
    each item. It loses who is tied to whom, clustering, the correlation of the two degrees, and the spread of weights.

    Guarantee: post-processing of two estimates; ε is that of the two questions together.

    Args:
        degrees: what `joint_degrees` of an estimate returned.
        people: how many people; as many as responded, if it is not given.
        draws: where the graph comes from; by default a generator that begins with the operating system's bytes.

    Raises:
        InvalidRequest: no people, or more pairs of people and items than fit.

    Example:
        >>> from deniable.types.key_value.design import lpp_ddagger
        >>> from deniable.types.key_value.count import tally
        >>> from deniable.types.key_value.estimate import estimate
        >>> sent = ["+ tea", "0 coffee", "- tea", "+ coffee"] * 50
        >>> found = estimate(tally(lpp_ddagger(["tea", "coffee"], 1), sent))
        >>> graph(found.joint_degrees({0: 0.2, 1: 0.8}), 10).ties.shape
        (10, 2)
    """
    estimate = degrees.estimate
    n, items = (
        people if people is not None else estimate.respondents,
        tuple(estimate.design.items),
    )
    check_number("people", n)
    if n * len(items) > _MAX_PAIRS:
        raise InvalidRequest(
            f"people is {n:,}; expected at most {_MAX_PAIRS // len(items):,} for {len(items):,} items.",
            "Draw fewer, for example people=1000.",
        )
    begun = draws or generator()
    counts = begun.multinomial(n, degrees.people.shares)
    sizes = begun.permutation(
        np.repeat(degrees.people.degrees.astype(np.int64), counts)
    )
    below = degrees.item_posterior().cumsum(axis=1)
    drawn = (below[:, :-1] < begun.random((len(items), 1))).sum(axis=1)
    # where no item has an edge and people have, all are alike
    wanted = degrees.items.degrees[drawn] * (n / estimate.respondents) + 1e-9
    scaled = float(sizes.sum() / wanted.sum())
    return SyntheticGraph(
        items,
        draw_ties(sizes, feasible_degrees(sizes, wanted * scaled, begun), begun),
        estimate.shrunk().mean,
        scaled,
        degrees.epsilon,
        degrees.warnings,
    )


def feasible_degrees(
    sizes: Numbers, wanted: Vector, draws: np.random.Generator
) -> Numbers:
    """Return whole degrees of items that some graph has beside these degrees of people; their sum stays.

    Implements: Gale and Ryser's condition [Gal57]: the k largest degrees sum to at most Σ min(s, k), for each k.
    Rounding keeps expectations. The minimum of two concave sequences is concave, so the degrees stay in order.
    """
    ends = np.floor(np.cumsum(wanted) + draws.random()).astype(np.int64)
    ends[-1] = sizes.sum()
    whole = np.diff(ends, prepend=0)
    order = np.argsort(-whole, kind="stable")
    has_more = [(sizes > k).sum() for k in range(len(whole))]
    sums = np.minimum(np.cumsum(whole[order]), np.cumsum(has_more))
    whole[order] = np.diff(sums, prepend=0)
    return whole


def draw_ties(sizes: Numbers, degrees: Numbers, draws: np.random.Generator) -> Ties:
    """Draw who has what with exactly these degrees, nearly uniformly among all graphs that have them.

    Implements: each item takes the people who lack most (Ryser), then pairs of people trade the items that only one of
    them has [SNB14], in rounds in which everybody trades.
    """
    ties = np.zeros((len(sizes), len(degrees)), np.bool_)
    lacking = sizes.astype(np.float64)
    for item in np.argsort(-degrees, kind="stable"):
        order = np.argsort(-lacking - draws.random(len(sizes)))
        ties[order[: degrees[item]], item] = True
        lacking -= ties[:, item]
    half = len(sizes) // 2
    for _ in range(_ROUNDS):
        order = draws.permutation(len(sizes))
        first, second = order[:half], order[half : 2 * half]
        left, right = ties[first], ties[second]
        differ = left != right
        keys = np.where(differ, draws.random(differ.shape), 2.0)
        ranks = keys.argsort(axis=1).argsort(axis=1)
        is_left = ranks < (left & ~right).sum(axis=1, keepdims=True)
        ties[first] = np.where(differ, is_left, left)
        ties[second] = np.where(differ, ~is_left, right)
    return ties

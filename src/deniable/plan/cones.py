"""The best design at given shares under linear conditions on every response: a known prior, some pairs, properties.

The likelihoods r of a response that keeps the demand form a cone: a·r ≥ 0 for each condition, r ≥ 0 and, under a
ceiling, r_x ≤ Y·r_y. Every row of a design is a sum of extreme rays of that cone, and to send which ray it was tells
more, never less. So a best design sends rays alone, and how often is the convex program of `plan.staircase`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable import exact
from deniable.chance import TOTAL
from deniable.channel import Channel, Dense, Product
from deniable.criteria import ByResponse, KnownPrior, Policy
from deniable.criteria.belief import read_probabilities
from deniable.designs import Design, k_ary, subset
from deniable.designs.rounding import mix_with_constant, round_columns
from deniable.designs.sets_of_answers import (
    best_t,
    max_weight_inside,
    subset_information,
    subset_risk,
)
from deniable.estimates.covariances import Matrix, Vector
from deniable.plan.staircase import (
    Staircase,
    least_trace,
    name_patterns,
    number_repeated,
    sent_patterns,
)
from deniable.rendering import formats

_MAX_ANSWERS = 12  # up to which all extreme rays of a policy are looked for
_MAX_BELIEFS = 6  # the same under a known prior, which has many more
_MAX_RAYS = 400  # of more no program is solved
_MAX_CELLS = 1 << 21  # of a design for groups: in its table, or within groups

_ZERO = 1e-11  # of a condition's value at a ray with a largest entry of 1
_SHARES_MIXED = [
    Fraction(0),
    *(Fraction(1, 1 << bits) for bits in range(52, 19, -2)),
]
_NO_PROTECTION = 10  # an ε above which a response is as good as a proof
_LEAST_CEILING = (
    1  # ε that a ceiling has at least where none is given, beside a known prior
)


@dataclass(frozen=True)
class ConeDemand:
    """A demand on every response for itself, with a ceiling.

    Attributes:
        demand: the demand.
        ceiling: the largest ε of all; None for the default, `math.inf` for none.
    """

    demand: ByResponse
    ceiling: exact.Rational | None

    @cached_property
    def cap(self) -> exact.Ratio:
        """Y = e^ceiling; infinite for none, which is the default of a policy."""
        if self.ceiling == math.inf or (
            self.ceiling is None and not isinstance(self.demand, KnownPrior)
        ):
            return math.inf
        if self.ceiling is not None:
            return exact.gamma_below(self.ceiling)
        return max(
            exact.exp_below(_LEAST_CEILING), Fraction(self.demand.parity) ** 2
        )

    def best(self, labels: Sequence[str], shares: Vector) -> Staircase | None:
        """Return the design with the smallest error at these shares, and a bound for all; None of too many rays."""
        subject, size = k_ary(labels, 1), len(labels)
        is_prior = isinstance(self.demand, KnownPrior)
        if size > (_MAX_BELIEFS if is_prior else _MAX_ANSWERS):
            return None
        conditions = self.demand.conditions(subject)
        if self.cap < math.inf:
            conditions += [
                [Fraction(self.cap) * (j == y) - (j == x) for j in range(size)]
                for x, y in permutations(range(size), 2)
            ]
        rays = extreme_rays(np.array(conditions, np.float64), size)
        if rays is None:
            return None
        patterns = rays / rays.mean(axis=0)
        weights, bound = least_trace(patterns, shares)
        often, scale = sent_patterns(patterns, weights)
        channel = self._rounded(subject, patterns[:, often] * scale)
        held = patterns[:, often] > (1 + _ZERO)
        design = Design(
            "matrix", tuple(labels), name_patterns(labels, held), channel
        )
        return Staircase(design, bound - float(shares @ shares))

    def in_groups(self, labels: Sequence[str]) -> Staircase | None:
        """Return the design that names the answer's group and a set within it, and a bound for all at even shares.

        None where the protected pairs are not all pairs within groups, there is a ceiling, or it is too large. Groups
        of one size that follow one another need no table: their channel is the product of the answer itself, for the
        group, and of sets of so many places in it.

        Why: no condition joins two groups, so that every extreme ray is 0 outside of one. M and the trace of its
        inverse are then sums over groups; in one of b categories the trace is b/k times that at even shares of its own,
        and the t-subset design is the best for these.
        """
        groups = self._groups(labels)
        if groups is None:
            return None
        size, gamma = len(labels), Fraction(self.demand.parity)
        width = len(groups[0])
        in_turn = [[*range(at, at + width)] for at in range(0, size, width)]
        most_sets = _MAX_CELLS // (size * (1 if groups == in_turn else len(groups)))
        sets: list[tuple[list[int], int]] = []
        trace = 0.0
        for group in groups:
            b = len(group)
            fitting = [t for t in range(1, b) if math.comb(b, t) <= most_sets]
            if b > 1 and not fitting:
                return None
            risks = {t: float(subset_risk(b, t, gamma)) for t in fitting}
            sets.append((group, min(risks, key=risks.__getitem__, default=1)))
            least = float(subset_risk(b, best_t(b, gamma), gamma)) if b > 1 else 0.0
            trace += b / size * (least + 1 / b)
        n_sets = sum(math.comb(len(group), t) for group, t in sets)
        channel: Channel
        if n_sets * size <= _MAX_CELLS:
            channel, held = _write_groups(size, sets, gamma)
            symbols = name_patterns(labels, held.T)
        else:
            one_group, held = _write_groups(width, sets[:1], gamma)
            itself = np.eye(len(groups), dtype=np.int64).tolist()
            channel = Product((Dense(tuple(map(tuple, itself)), 1), one_group))
            symbols = number_repeated(
                symbol
                for group in groups
                for symbol in name_patterns([labels[j] for j in group], held.T)
            )
        design = Design("matrix", tuple(labels), symbols, channel)
        return Staircase(design, trace - 1 / size)

    def _groups(self, labels: Sequence[str]) -> list[list[int]] | None:
        """Return the groups of answers of which all pairs are protected, and no others; None if there are none."""
        if not isinstance(self.demand, Policy) or self.cap < math.inf:
            return None
        size = len(labels)
        pairs = set(self.demand.answer_pairs(k_ary(labels, 1)))
        near = [
            frozenset(y for y in range(size) if x == y or (x, y) in pairs)
            for x in range(size)
        ]
        alike = all(near[y] == near[x] for x, y in pairs)
        return (
            [sorted(group) for group in sorted(set(near), key=min)]
            if alike
            else None
        )

    def _rounded(self, subject: Design, target: Matrix) -> Dense:
        """Return a channel with weights that sum to 2^64 and keep the demand exactly.

        Why: a response that says nothing keeps every condition with room to spare, so a little of it makes up for
        rounding; as little is mixed in as is enough.
        """
        columns = [[Fraction(cell) for cell in column] for column in target]
        columns = [[cell / sum(column) for cell in column] for column in columns]
        for share in _SHARES_MIXED:
            channel = round_columns(mix_with_constant(columns, share))
            design = Design("matrix", subject.categories, channel.responses, channel)  # type: ignore[arg-type]  # Design reads labels
            if channel.parity <= self.cap and self.demand.check(design).holds:
                return channel
        raise AssertionError("a share of a millionth does not make up for rounding")

    def subset(self, labels: Sequence[str]) -> Design | None:
        """Return the best design that sends sets of one size under a known prior for each single answer."""
        if not isinstance(self.demand, KnownPrior) or self.demand.about is not None:
            return None
        pairs: Any = self.demand.prior
        prior = [share for _, share in pairs]
        size = len(labels)
        t, gamma = best_subset_for_prior(prior, self.demand.most, self.cap)
        if gamma <= 1:
            return None
        p = Fraction(1) if gamma == math.inf else t * gamma / (t * gamma + size - t)
        return subset(labels, t=t, p=p)

    def reasons(self, design: Design, risk: float, bound: float | None) -> list[str]:
        """Say what is proved of a design with this risk at the shares, and what is not protected."""
        epsilon = formats.epsilon(design.epsilon)
        sentences = [f"Whatever anybody believes, its ε is {epsilon}."]
        if design.epsilon > _NO_PROTECTION:
            sentences = [
                f"Its ε is {epsilon}: for beliefs and pairs of answers that the demand does not name, a response may "
                "be as good as a proof. Set a ceiling to protect them too."
            ]
        if bound is None:
            unproved = (
                "It is the best of those that were looked at: designs that keep ε for all pairs, and sets of one size. "
                "That no other design is better is not proved: the demand has too many extreme rays."
            )
            return [*sentences, unproved]
        percent = formats.upper_bound(100 * max(risk / bound - 1, 1e-6), 2)
        ceiling = (
            ""
            if self.cap == math.inf
            else f" and a ceiling of ε = {formats.epsilon(math.log(self.cap))}"
        )
        return [
            *sentences,
            f"No design that keeps {self.demand}{ceiling} has an error at these shares that is smaller by more than "
            f"{percent}%: a bound over all extreme rays of the demand proves it.",
            "Estimate with the shares as the guess: that estimate reaches this error.",
        ]


def _write_groups(
    size: int, sets: Sequence[tuple[list[int], int]], gamma: Fraction
) -> tuple[Dense, NDArray[np.bool_]]:
    """Return the channel that sends sets of so many answers of a group each, and which answers each response holds."""
    ways = [
        (math.comb(len(group) - 1, t - 1), math.comb(len(group) - 1, t))
        for group, t in sets
    ]
    common = math.lcm(*(n for pair in ways for n in pair if n))
    rows, held = [], []
    for (group, t), (with_it, without) in zip(sets, ways, strict=True):
        inside = max_weight_inside(len(group), t, gamma)
        levels = (
            (TOTAL - inside) * common // without if without else 0,
            inside * common // with_it,
        )
        for members in combinations(group, t):
            row = [0] * size
            for answer in group:
                row[answer] = levels[answer in members]
            rows.append(tuple(row))
            held.append([answer in members for answer in range(size)])
    return Dense(tuple(rows), TOTAL * common), np.array(held, np.bool_)


def best_subset_for_prior(
    prior: Sequence[exact.Rational],
    most: exact.Rational,
    cap: exact.Ratio = math.inf,
) -> tuple[int, exact.Ratio]:
    """Return the size t and the largest γ of the best t-subset design that keeps every posterior under a known prior.

    Why: the most probable answer, with prior q, rises highest after the set of it and the t − 1 least probable others.
    With Q the prior of that set its posterior is γq/(1 + (γ − 1)Q), at most c for γ ≤ c(1 − Q)/(q − cQ), or for every
    γ if q ≤ cQ.

    Example:
        >>> best_subset_for_prior(["0.7", "0.1", "0.1", "0.1"], "0.75")
        (3, Fraction(3, 1))
    """
    rising, c = sorted(read_probabilities(prior)), exact.probability(most)
    q, size = rising[-1], len(rising)
    parities: dict[int, exact.Ratio] = {}
    for t in range(1, size):
        together = q + sum(rising[: t - 1])
        room = q - c * together
        largest = c * (1 - together) / room if room > 0 else math.inf
        parities[t] = min(largest, cap)
    return max(
        parities.items(), key=lambda pair: _information(size, pair[0], pair[1])
    )


def _information(size: int, t: int, gamma: exact.Ratio) -> float:
    finite = Fraction(gamma) if gamma < math.inf else Fraction(1 << 62)
    return float(subset_information(size, t, finite))


def extreme_rays(conditions: Matrix, size: int) -> Matrix | None:
    """Return the extreme rays of {r ≥ 0 : a·r ≥ 0 for each row a}, a column for each, by double description.

    None where there are more than 400 on the way.

    Why: a new condition cuts the cone; the rays on its side stay, and a new one lies on each edge that it crosses. Two
    rays span an edge if no third one keeps all conditions with equality that both of them do.
    """
    rays, tight = np.eye(size), ~np.eye(size, dtype=bool)
    for row in conditions / np.abs(conditions).max(axis=1, keepdims=True):
        values = rays @ row
        inside, outside = values > _ZERO, values < -_ZERO
        edges = [
            (i, j)
            for i in np.flatnonzero(inside).tolist()
            for j in np.flatnonzero(outside).tolist()
            if _is_edge(tight, i, j, size)
        ]
        crossing = [values[i] * rays[j] - values[j] * rays[i] for i, j in edges]
        met = np.array([tight[i] & tight[j] for i, j in edges], bool)
        keep = ~outside
        on_plane = np.append((~inside)[keep], np.ones(len(edges), bool))
        rays = np.vstack([rays[keep], *crossing])
        rays /= rays.max(axis=1, keepdims=True)
        old = np.vstack([tight[keep], met.reshape(len(edges), tight.shape[1])])
        tight = np.column_stack([old, on_plane])
        if len(rays) > _MAX_RAYS:
            return None
    return np.asarray(rays.T, np.float64)


def _is_edge(tight: NDArray[np.bool_], i: int, j: int, size: int) -> bool:
    """Return whether two rays span an edge of the cone."""
    common = tight[i] & tight[j]
    return bool(
        common.sum() >= size - 2 and (tight[:, common].all(axis=1)).sum() == 2
    )

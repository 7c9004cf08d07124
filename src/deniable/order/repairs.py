"""Better designs at the same γ, step by step, each with the garbling that leads back.

Every step returns a channel P and a garbling C with A = C·P exactly: whoever holds responses of P can make responses of
A from them, so that P tells at least as much about every question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import prod
from typing import NamedTuple

from deniable import exact
from deniable.channel import Channel, Dense, Diagonal
from deniable.designs.design import Design
from deniable.errors import InvalidDesign, InvalidRequest
from deniable.order.admissibility import channel_of, read_gamma, row_parity, rows_of
from deniable.order.elimination import Row, Table

MOST_RESPONSES = 1 << 14
"""Responses that the independent split of Lemma 5.5 may make out of one design."""


class Step(NamedTuple):
    """One step: the better channel P, and the garbling C with A = C·P."""

    channel: Dense
    garbling: Dense


class Pattern(NamedTuple):
    """A row with two values: γ·small in the positions `large`, small everywhere else."""

    large: tuple[int, ...]
    small: Fraction


@dataclass(frozen=True, slots=True)
class Repair:
    """An admissible design that tells everything the old one told, and the way back.

    Attributes:
        channel: the admissible channel P.
        garbling: the channel C with A = C·P exactly: send a response of P through it for one of A.
        gamma: the parity of P.
        steps: what was done, in words.
    """

    channel: Dense
    garbling: Dense
    gamma: Fraction
    steps: tuple[str, ...]


def repair(design: Design | Channel, gamma: exact.Rational | None = None, *, split: str = "nested") -> Repair:
    """Return an admissible channel P of parity γ and a garbling C with A = C·P exactly; nothing that A tells is lost.

    Implements: the repairs of Remark 5.1 and Lemmas 5.3–5.5 of [Cha19] in this order: merge proportional rows, drop the
    constant row, raise every row to parity γ, split rows of more than two values, merge again. With two answers the
    result is Warner's design, which dominates all others (Proposition 6.1).

    Guarantee: A = C·P in rationals, P is admissible at γ, and the rank of P is at least that of A.

    Args:
        design: a design A, or its channel.
        gamma: the parity to repair it to, at least its own, which is the default.
        split: how a row of several values is split: "nested" into at most k − 1 rows by one common threshold, or
            "independent" as in the proof of Lemma 5.5, into up to 2^(k − 2) rows.

    Raises:
        InvalidDesign: a parity above γ, γ = 1, or a split into more responses than can be held.
        InvalidRequest: another split.

    Example:
        >>> from deniable.designs import matrix
        >>> fixed = repair(matrix([[0.5, 0.25, 0.4], [0.5, 0.75, 0.6]]), 3)
        >>> fixed.garbling @ fixed.channel == matrix([[0.5, 0.25, 0.4], [0.5, 0.75, 0.6]]).channel
        True
    """
    first = channel_of(design)
    limit = _checked(first, gamma)
    if split not in SPLITS:
        raise InvalidRequest(f"the split is {split!r:.40}; expected one of {', '.join(SPLITS)}.")
    work = _Work(first.dense())
    if all(row_parity(row) == 1 for row in rows_of(work.channel) if any(row)):
        work.take(from_nothing(work.channel, limit), "answers were not told at all: every response is new")
    elif first.answers == 2:
        work.take(to_warner(work.channel, limit), "two answers: Warner's design dominates every other")
    else:
        _repair_rows(work, limit, split)
    return Repair(work.channel, work.garbling, limit, tuple(work.steps))


class _Work:
    """A channel under repair, and the garbling that leads back to where it began."""

    def __init__(self, channel: Dense) -> None:
        self.channel = channel
        self.garbling = Dense.of(_identity(channel.responses))
        self.steps: list[str] = []

    def take(self, step: Step, told: str) -> None:
        if step.channel != self.channel:
            self.channel, self.garbling = step.channel, self.garbling.after(step.garbling)
            self.steps.append(told)


def _repair_rows(work: _Work, gamma: Fraction, split: str) -> None:
    work.take(merge(work.channel), "responses that say the same were merged")
    work.take(drop_constant(work.channel), "a response that says nothing was left out")
    low = [i for i, row in enumerate(rows_of(work.channel)) if row_parity(row) < gamma]
    for row in low:  # each step raises its row for good, and leaves the parity of its partner as it is
        partner = 1 if row == 0 else 0
        work.take(raise_parity(work.channel, gamma, row, partner)[1], f"response {row} was raised to parity γ")
    work.take(merge(work.channel), "responses that say the same were merged")
    work.take(split_rows(work.channel, split), "responses of several values were split")
    work.take(merge(work.channel), "responses that say the same were merged")


def merge(channel: Dense) -> Step:
    """Add up proportional rows and drop those that never occur (Remark 5.1)."""
    merged, groups = channel.merged()
    garbling = [[Fraction(0)] * len(groups) for _ in channel.weights]
    for at, group in enumerate(groups):
        together = sum(sum(channel.weights[i]) for i in group)
        for i in group:
            garbling[i][at] = Fraction(sum(channel.weights[i]), together)
    return Step(merged, Dense.of(garbling))


def drop_constant(channel: Dense) -> Step:
    """Leave out a constant row, of value d, and divide the rest by 1 − d (Lemma 5.4); merged rows have at most one."""
    rows = rows_of(channel)
    constant = next((i for i, row in enumerate(rows) if max(row) == min(row)), None)
    if constant is None:
        return Step(channel, Dense.of(_identity(len(rows))))
    d = rows[constant][0]
    rest = [i for i in range(len(rows)) if i != constant]
    better = [[cell / (1 - d) for cell in rows[i]] for i in rest]
    garbling = [[d if i == constant else (1 - d) * (i == kept) for kept in rest] for i in range(len(rows))]
    return Step(Dense.of(better), Dense.of(garbling))


def raise_parity(channel: Dense, gamma: exact.Rational, row: int, partner: int) -> tuple[Fraction, Step]:
    """Let a partner give way to a row of parity below γ until its parity is exactly γ (Lemma 5.3).

    Row a₁ becomes a₁ + (1 − ξ)·a₂ and its partner ξ·a₂, with the largest ξ that keeps the parity of row a₁ at γ:
    ξ = 1 + min (γ·a₁[l] − a₁[j]) / (γ·a₂[l] − a₂[j]) over all pairs with a positive denominator.

    Returns:
        ξ, and the step; its garbling sends the partner on to the row with probability 1 − 1/ξ.

    Raises:
        InvalidDesign: the rows are the same one or proportional, or a row's parity is already above γ.
    """
    limit = exact.rational(gamma, name="gamma")
    rows = list(rows_of(channel))
    one, two = rows[row], rows[partner]
    room = [
        (limit * one[low] - one[high]) / drop
        for low, high in product(range(channel.answers), repeat=2)
        if (drop := limit * two[low] - two[high]) > 0
    ]
    xi = 1 + min(room, default=Fraction(0))
    raised = tuple(a + (1 - xi) * b for a, b in zip(one, two, strict=True))
    if row == partner or xi < 1 or not any(raised):
        raise InvalidDesign(
            f"response {row} cannot be raised with the help of {partner}; expected two different rows of parity up to "
            "γ that are not proportional.",
            "Merge proportional rows first.",
        )
    rows[row], rows[partner] = raised, tuple(xi * cell for cell in two)
    garbling = [list(unit) for unit in _identity(len(rows))]
    garbling[row][partner], garbling[partner][partner] = 1 - 1 / xi, 1 / xi
    return xi, Step(Dense.of(rows), Dense.of(garbling))


def split_row(row: Sequence[Fraction], *, split: str = "independent") -> tuple[Pattern, ...]:
    """Split a row of several values into rows of two, its smallest and its largest, that add up to it (Lemma 5.5).

    A value v between the smallest t and the largest T is T with weight (v − t)/(T − t) and t otherwise: "independent"
    of the other positions, as in the proof, or "nested", for all positions by one common threshold.

    Returns:
        The patterns, in the order of their positions; a row of two values gives itself.

    Example:
        >>> [pattern.large for pattern in split_row([Fraction(1), Fraction(2), Fraction(3), Fraction(3, 2)])]
        [(1, 2), (1, 2, 3), (2,), (2, 3)]
        >>> len(split_row([Fraction(1), Fraction(2), Fraction(3), Fraction(3, 2)], split="nested"))
        3
    """
    low, high = min(row), max(row)
    if low == high:
        raise InvalidDesign("a constant row cannot be split; expected at least two different values.")
    weights = [(value - low) / (high - low) for value in row]
    return tuple(sorted(Pattern(large, weight * low) for large, weight in SPLITS[split](weights) if weight))


def split_rows(channel: Dense, split: str = "nested") -> Step:
    """Split every row of more than two values.

    Raises:
        InvalidDesign: into more responses than can be held.
    """
    rows = rows_of(channel)
    if split == "independent":
        _check_count(rows)
    better: list[Row] = []
    origins: list[int] = []
    for i, row in enumerate(rows):
        ratio = max(row) / min(row)
        for large, small in split_row(row, split=split):
            inside = set(large)
            better.append(tuple(small * ratio if j in inside else small for j in range(len(row))))
            origins.append(i)
    garbling = [[Fraction(i == origin) for origin in origins] for i in range(len(rows))]
    return Step(Dense.of(better), Dense.of(garbling))


def to_warner(channel: Dense, gamma: Fraction) -> Step:
    """Return Warner's design at γ and C = A·P⁻¹, which is never negative (Proposition 6.1)."""
    better = ((gamma / (gamma + 1), 1 / (gamma + 1)), (1 / (gamma + 1), gamma / (gamma + 1)))
    garbling = [[(gamma * a - b) / (gamma - 1), (gamma * b - a) / (gamma - 1)] for a, b in rows_of(channel)]
    return Step(Dense.of(better), Dense.of(garbling))


def from_nothing(channel: Dense, gamma: Fraction) -> Step:
    """Return the γ-diagonal design for one whose responses do not depend on answers at all."""
    size = channel.answers
    better = Diagonal(size, gamma.numerator, gamma.denominator).dense()
    return Step(better, Dense.of([[row[0]] * size for row in rows_of(channel)]))


def _independent(weights: Sequence[Fraction]) -> list[tuple[tuple[int, ...], Fraction]]:
    sure = [j for j, weight in enumerate(weights) if weight == 1]
    middle = [j for j, weight in enumerate(weights) if 0 < weight < 1]
    return [
        (
            tuple(sorted([*sure, *(j for j, up in zip(middle, ups, strict=True) if up)])),
            prod((weights[j] if up else 1 - weights[j] for j, up in zip(middle, ups, strict=True)), start=Fraction(1)),
        )
        for ups in product((False, True), repeat=len(middle))
    ]


def _nested(weights: Sequence[Fraction]) -> list[tuple[tuple[int, ...], Fraction]]:
    """Return the positions above a threshold that is even on 0 … 1, and how likely they are exactly these."""
    steps = sorted({*weights, Fraction(0)})
    return [
        (tuple(j for j, weight in enumerate(weights) if weight >= above), above - below)
        for below, above in pairwise(steps)
    ]


SPLITS: dict[str, Callable[[Sequence[Fraction]], list[tuple[tuple[int, ...], Fraction]]]] = {
    "nested": _nested,
    "independent": _independent,
}


def _check_count(rows: Table) -> None:
    middle = [sum(min(row) < cell < max(row) for cell in row) for row in rows]
    count = sum(2**each for each in middle)
    if count > MOST_RESPONSES:
        worst = middle.index(max(middle))
        raise InvalidDesign(
            f"response {worst} has {middle[worst]} probabilities between its smallest and its largest, and splitting "
            f"all rows gives {count:,} responses; expected at most {MOST_RESPONSES:,}.",
            'Use split="nested", which makes at most one row of each different value.',
        )


def _checked(channel: Channel, gamma: exact.Rational | None) -> Fraction:
    limit = read_gamma(channel, gamma)
    if channel.parity > limit:
        raise InvalidDesign(
            f"the parity is {exact.shown(channel.parity)}, above γ = {exact.shown(limit)}; expected at most γ.",
            "Garbling lowers a parity, repairs do not: start from a more private design, or allow a larger γ.",
        )
    if limit == 1:
        raise InvalidDesign("γ is 1, at which no response may say anything; expected more than 1.")
    return limit


def _identity(size: int) -> Table:
    return tuple(tuple(Fraction(i == j) for j in range(size)) for i in range(size))

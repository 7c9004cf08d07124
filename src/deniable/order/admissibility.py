"""Which designs are never beaten at their own γ, and how the others are made better."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch

from deniable import exact
from deniable.channel import Channel, Dense, Diagonal, Hadamard, Sets
from deniable.designs.design import Design
from deniable.errors import InvalidDesign, InvalidNumber

MANY = 20
"""Flaws that are told one by one."""


@dataclass(frozen=True, slots=True)
class Flaw:
    """Why a design is not admissible: a response, and what is wrong with it.

    Attributes:
        response: its number.
        parity: the ratio of its largest to its smallest probability.
        values: how many different probabilities it has.
        problem: what is wrong, in words.
    """

    response: int
    parity: exact.Ratio
    values: int
    problem: str


@dataclass(frozen=True, slots=True)
class Admissibility:
    """Whether a design is admissible at γ; true as a truth value if it is.

    Attributes:
        gamma: the largest parity that was allowed.
        flaws: what is wrong, response by response; empty for an admissible design.
        groups: responses that say the same about every answer, and count as one.
    """

    gamma: Fraction
    flaws: tuple[Flaw, ...]
    groups: tuple[tuple[int, ...], ...] = ()

    def __bool__(self) -> bool:
        return not self.flaws

    def __str__(self) -> str:
        if not self.flaws:
            return f"admissible at γ = {exact.shown(self.gamma)}"
        told = [flaw.problem for flaw in self.flaws[:MANY]]
        rest = [f"… and {len(self.flaws) - MANY:,} more."] if len(self.flaws) > MANY else []
        return "\n".join([f"not admissible at γ = {exact.shown(self.gamma)}:", *told, *rest])


def admissible(
    design: Design | Channel, gamma: exact.Rational | None = None, *, slack: exact.Rational = 0
) -> Admissibility:
    """Say whether no other design of parity at most γ tells more than this one, and why not.

    Implements: Theorems 5.4 and 5.5 of [Cha19]: after responses with proportional rows are merged, every row has parity
    exactly γ (C1) and exactly two different values (C2).

    Args:
        design: a design, or its channel.
        gamma: the largest parity allowed, e^ε; by default the design's own.
        slack: by how much, relative to γ, a parity may fall short of it. A design from an ε whose responses differ in
            kind has parities that differ in the last of 64 bits; 1e-12 looks past that.

    Raises:
        InvalidDesign: without a γ, a design of infinite parity; or one too large to look at response by response.
        InvalidNumber: γ below 1.

    Example:
        >>> from deniable.designs import k_ary, matrix
        >>> bool(admissible(k_ary(5, epsilon=1)))
        True
        >>> print(admissible(matrix([[0.5, 0.25, 0.4], [0.5, 0.75, 0.6]])))
        not admissible at γ = 2:
        response '0': 3 different probabilities; expected 2 (C2). It can be split into responses that tell more.
        response '1': parity 3/2 < γ; expected exactly γ (C1). Another response can give way to it until it is γ.
    """
    channel = channel_of(design)
    limit = read_gamma(channel, gamma)
    least = limit / (1 + exact.rational(slack, name="slack"))
    names = design.symbols if isinstance(design, Design) else None
    flaws, groups = [], []
    for group, values in _levels(channel):
        if len(group) > 1:
            groups.append(group)
        problem = _problem(values, limit, least)
        if problem:
            name = repr(names[group[0]]) if names is not None else str(group[0])
            parity = exact.ratio(max(values), min(values))
            flaws.append(Flaw(group[0], parity, len(values), f"response {name}: {problem}"))
    return Admissibility(limit, tuple(flaws), tuple(groups))


def channel_of(design: Design | Channel) -> Channel:
    """Return the channel of a design, or the channel that was given."""
    return design.channel if isinstance(design, Design) else design


def read_gamma(channel: Channel, gamma: exact.Rational | None) -> Fraction:
    """Read γ; by default it is the channel's own parity.

    Raises:
        InvalidDesign: no γ is given and the parity is infinite.
        InvalidNumber: γ below 1.
    """
    if gamma is None:
        parity = channel.parity
        if not isinstance(parity, Fraction):
            raise InvalidDesign(
                "this design has infinite parity: some response gives an answer away. Expected a finite one.",
                "Say which γ = e^ε is allowed.",
            )
        return parity
    value = exact.rational(gamma, name="gamma")
    if value < 1:
        raise InvalidNumber(f"γ = e^ε is {exact.shown(value)}; expected at least 1.")
    return value


@singledispatch
def _levels(channel: Channel) -> Iterator[tuple[tuple[int, ...], set[Fraction]]]:
    """Yield the responses that say the same, and the different values of their merged row, up to a common factor."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for i, row in enumerate(channel.dense().weights):
        if any(row):
            groups.setdefault(tuple(weight // math.gcd(*row) for weight in row), []).append(i)
    for shape, group in groups.items():
        yield tuple(group), {Fraction(weight) for weight in shape}


@_levels.register
def _(channel: Diagonal) -> Iterator[tuple[tuple[int, ...], set[Fraction]]]:
    # All rows look alike, so that the first one speaks for a million.
    values = {Fraction(channel.same), Fraction(channel.other)}
    yield (0,) if len(values) > 1 else tuple(range(channel.size)), values


@_levels.register
def _(channel: Hadamard) -> Iterator[tuple[tuple[int, ...], set[Fraction]]]:
    # From three answers on no row is constant on them and no two are alike: columns 1, 2 and 4 … tell rows apart, and
    # no row is −1 in columns 1, 2 and 3 at once.
    rows = _levels.dispatch(Channel)(channel) if channel.size < 3 else None
    yield from rows or [((0,), {Fraction(channel.large), Fraction(channel.small)})]


@_levels.register
def _(channel: Sets) -> Iterator[tuple[tuple[int, ...], set[Fraction]]]:
    for ones in channel.sizes:
        odds = channel.odds(ones) if 0 < ones < channel.size else Fraction(1)
        levels = {Fraction(1), Fraction(0)} if odds == math.inf else {Fraction(1), Fraction(odds)}
        yield ((1 << ones) - 1,), levels


def _problem(values: set[Fraction], gamma: Fraction, least: Fraction) -> str:
    parity = exact.ratio(max(values), min(values))
    told = exact.shown(parity)
    if parity > gamma:
        return f"parity {told} > γ; expected at most γ. It is less private than was asked for."
    if parity == 1:
        return "parity 1; expected exactly γ (C1). It says nothing about the answer and can be left out."
    if parity < least:
        return f"parity {told} < γ; expected exactly γ (C1). Another response can give way to it until it is γ."
    if len(values) > 2:
        return f"{len(values)} different probabilities; expected 2 (C2). It can be split into responses that tell more."
    return ""


def rows_of(channel: Dense) -> tuple[tuple[Fraction, ...], ...]:
    """Return the probabilities of a channel, a row for each response."""
    return tuple(tuple(Fraction(weight, channel.total) for weight in row) for row in channel.weights)


def row_parity(row: Sequence[Fraction]) -> exact.Ratio:
    """Return the ratio of the largest to the smallest entry of a row."""
    return exact.ratio(max(row), min(row))


def largest_trace(k: int, gamma: exact.Rational) -> Fraction:
    """Return the largest sum of the chances of an unchanged answer, over all k × k designs of parity at most γ.

    Implements: Theorem 6.1 of [Cha19]: kγ / (γ + k − 1). The γ-diagonal design, `k_ary`, and no other attains it.

    Why: p_ii ≤ γ·p_ij for each j; add up over j and then over i.

    Raises:
        InvalidDesign: fewer than two categories.
        InvalidNumber: γ below 1.

    Example:
        >>> largest_trace(5, 4)
        Fraction(5, 2)
    """
    value = exact.rational(gamma, name="gamma")
    if k < 2:
        raise InvalidDesign(f"there are {k} categories; expected at least 2.")
    if value < 1:
        raise InvalidNumber(f"γ = e^ε is {exact.shown(value)}; expected at least 1.")
    return k * value / (value + k - 1)


def unchanged(design: Design | Channel, shares: Sequence[exact.Rational] | None = None) -> Fraction:
    """Return the chance that an answer is sent as it is, for shares of the answers; by default all are equal.

    Raises:
        InvalidDesign: responses are not the categories themselves.
        InvalidNumber: shares that are no distribution over the answers.

    Example:
        >>> from deniable.designs import binary, k_ary
        >>> unchanged(k_ary(5, p="1/2")), unchanged(binary("9/10", "7/10"), ["1/4", "3/4"])
        (Fraction(1, 2), Fraction(3, 4))
    """
    channel = channel_of(design)
    alike = not isinstance(design, Design) or _same(design)
    if channel.answers != channel.responses or not alike:
        raise InvalidDesign(
            f"this design sends {channel.responses:,} symbols for {channel.answers:,} categories, not the categories "
            "themselves; expected a design whose symbols are its categories.",
            "An answer is sent unchanged only where it is itself a symbol.",
        )
    if shares is None and isinstance(channel, Diagonal):
        return channel.probability(0, given=0)
    size = channel.answers
    weights = [exact.probability(each, name="a share") for each in shares] if shares else [Fraction(1, size)] * size
    if len(weights) != size or sum(weights) != 1:
        raise InvalidNumber(f"the shares do not fit; expected {size} numbers that sum to exactly 1.")
    return sum((weight * channel.probability(j, given=j) for j, weight in enumerate(weights)), Fraction(0))


def _same(design: Design) -> bool:
    return design.symbols == design.categories or (
        len(design.symbols) == len(design.categories) and tuple(design.symbols) == tuple(design.categories)
    )

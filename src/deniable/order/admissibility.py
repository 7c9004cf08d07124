"""Designs that no other one beats at their own γ, and repairs that turn the others into such ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product
from typing import NamedTuple

from deniable import exact
from deniable.channel import Channel, Dense, Diagonal
from deniable.channel.base import MergedRows
from deniable.designs.design import Design
from deniable.designs.labels import Labels, same_labels
from deniable.designs.many_answers import matrix
from deniable.errors import (
    InvalidDesign,
    InvalidNumber,
    require,
    require_choice,
)
from deniable.exact import Rational
from deniable.order.programs import Row, Table

SHOWN_FLAWS = 20
"""Flaws that are told one by one."""
MAX_CELLS = 100_000
"""Cells of a channel of hashes that are gone through to name the responses that say the same."""
MAX_RESPONSES = 1 << 14
"""Responses that the independent split of Lemma 5.5 may make out of one design."""


@dataclass(frozen=True, slots=True)
class Flaw:
    """Flaw of a design that is not admissible: a response, and the violated condition.

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
            return f"admissible at γ = {exact.text(self.gamma)}"
        problems = [flaw.problem for flaw in self.flaws[:SHOWN_FLAWS]]
        omitted = (
            [f"… and {len(self.flaws) - SHOWN_FLAWS:,} more."]
            if len(self.flaws) > SHOWN_FLAWS
            else []
        )
        return "\n".join(
            [
                f"not admissible at γ = {exact.text(self.gamma)}:",
                *problems,
                *omitted,
            ]
        )


def admissible(
    design: Design | Channel,
    gamma: Rational | None = None,
    *,
    slack: Rational = 0,
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
    min_parity = limit / (1 + exact.rational(slack, name="slack"))
    levels, flaws = _find_flaws(design, channel, limit, min_parity)
    return Admissibility(
        limit, tuple(flaws), tuple(group for group, _ in levels if len(group) > 1)
    )


def _find_flaws(
    design: Design | Channel, channel: Channel, limit: Fraction, min_parity: Fraction
) -> tuple[list[tuple[tuple[int, ...], set[Fraction]]], list[Flaw]]:
    """Return the groups of proportional responses with their likelihoods, and what is wrong with some of them."""
    names = design.symbols if isinstance(design, Design) else None
    levels, flaws = list(_levels(channel)), []
    for group, values in levels:
        problem = _problem(values, limit, min_parity)
        if problem:
            name = (
                repr(names[group[0]]) if names is not None else exact.text(group[0])
            )
            parity = exact.parity(values)
            flaws.append(
                Flaw(group[0], parity, len(values), f"response {name}: {problem}")
            )
    return levels, flaws


def channel_of(design: Design | Channel) -> Channel:
    """Return the channel of a design, or the channel that was given."""
    require(
        isinstance(design, Design | Channel),
        design,
        "what is compared",
        "a design for categories, or a channel",
    )
    return design.channel if isinstance(design, Design) else design


def read_gamma(channel: Channel, gamma: Rational | None) -> Fraction:
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
        raise InvalidNumber(f"γ = e^ε is {exact.text(value)}; expected at least 1.")
    return value


def _levels(channel: Channel) -> MergedRows:
    """Return the responses that say the same, and the different values of their merged row, up to a common factor."""
    rows = channel.merged_rows(MAX_CELLS)
    if rows is not None:
        return rows
    return [
        (tuple(group), set(map(Fraction, shape)))
        for shape, group in channel.dense().proportional_rows().items()
    ]


def _problem(values: set[Fraction], gamma: Fraction, min_parity: Fraction) -> str:
    parity = exact.parity(values)
    parity_text = exact.text(parity)
    if parity > gamma:
        return f"parity {parity_text} > γ; expected at most γ. It is less private than was asked for."
    if parity == 1:
        return "parity 1; expected exactly γ (C1). It says nothing about the answer and can be left out."
    if parity < min_parity:
        return f"parity {parity_text} < γ; expected exactly γ (C1). Another response can give way to it until it is γ."
    if len(values) > 2:
        return f"{len(values)} different probabilities; expected 2 (C2). It can be split into responses that tell more."
    return ""


def largest_trace(k: int, gamma: Rational) -> Fraction:
    """Return the largest trace of a k × k design of parity at most γ.

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
        raise InvalidNumber(f"γ = e^ε is {exact.text(value)}; expected at least 1.")
    return k * value / (value + k - 1)


def p_unchanged(
    design: Design | Channel, shares: Sequence[Rational] | None = None
) -> Fraction:
    """Return the probability that the response equals the answer, for given shares; by default equal ones.

    Raises:
        InvalidDesign: responses are not the categories themselves.
        InvalidNumber: shares that are no distribution over the answers.

    Example:
        >>> from deniable.designs import binary, k_ary
        >>> p_unchanged(k_ary(5, p="1/2")), p_unchanged(binary("9/10", "7/10"), ["1/4", "3/4"])
        (Fraction(1, 2), Fraction(3, 4))
    """
    channel = channel_of(design)
    alike = not isinstance(design, Design) or same_labels(
        design.symbols, design.categories
    )
    if channel.answers != channel.responses or not alike:
        raise InvalidDesign(
            f"this design sends {channel.responses:,} symbols for {channel.answers:,} categories, not the categories "
            "themselves; expected a design whose symbols are its categories.",
            "An answer is sent unchanged only where it is itself a symbol.",
        )
    if shares is None and channel.exchangeable:
        return channel.probability(0, given=0)
    size = channel.answers
    weights = (
        [exact.probability(share, name="a share") for share in shares]
        if shares
        else [Fraction(1, size)] * size
    )
    if len(weights) != size or sum(weights) != 1:
        raise InvalidNumber(
            f"the shares do not fit; expected {size} numbers that sum to exactly 1."
        )
    return exact.total(
        weight * channel.probability(j, given=j) for j, weight in enumerate(weights)
    )


class Improvement(NamedTuple):
    """One step of a repair: the better channel P, and the garbling C with A = C·P."""

    channel: Dense
    garbling: Dense


class Pattern(NamedTuple):
    """A row with two values: γ·small in the positions `large`, small everywhere else."""

    large: tuple[int, ...]
    small: Fraction


@dataclass(frozen=True)
class Repair:
    """An admissible design that tells everything the old one told, and the way back.

    Attributes:
        channel: the admissible channel P.
        garbling: the channel C with A = C·P exactly: send a response of P through it for one of A.
        gamma: the parity of P.
        steps: what was done, in words.
        categories: the answers of the design, or how many.
    """

    channel: Dense
    garbling: Dense
    gamma: Fraction
    steps: tuple[str, ...]
    categories: Labels

    @cached_property
    def design(self) -> Design:
        """The design of P, for the same categories."""
        rows = self.channel.rows
        return matrix(rows, categories=self.categories, symbols=len(rows))

    def __str__(self) -> str:
        steps = "; ".join(self.steps) or "nothing had to be done"
        return f"admissible at γ = {exact.text(self.gamma)}, with {self.channel.responses:,} responses: {steps}"


def repair(
    design: Design | Channel,
    gamma: Rational | None = None,
    *,
    split: str = "nested",
) -> Repair:
    """Return an admissible channel P of parity γ and a garbling C with A = C·P exactly.

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
        >>> fixed.design.parity
        Fraction(3, 1)
    """
    first = channel_of(design)
    limit = _check_repaired(first, gamma)
    require_choice("the split is", split, SPLITS)
    work = _Work(first.dense())
    _make_admissible(work, first, limit, split)
    labels = design.categories if isinstance(design, Design) else first.answers
    return Repair(work.channel, work.garbling, limit, tuple(work.steps), labels)


def _make_admissible(
    work: _Work, first: Channel, limit: Fraction, split: str
) -> None:
    if all(exact.parity(row) == 1 for row in work.channel.rows if any(row)):
        work.take(
            gamma_diagonal_fallback(work.channel, limit),
            "answers were not told at all: every response is new",
        )
    elif first.answers == 2:
        work.take(
            to_warner(work.channel, limit),
            "two answers: Warner's design dominates every other",
        )
    else:
        _repair_rows(work, limit, split)


class _Work:
    """A channel under repair, and the garbling that leads back to where it began."""

    def __init__(self, channel: Dense) -> None:
        self.channel = channel
        self.garbling = Dense.from_rows(_identity(channel.responses))
        self.steps: list[str] = []

    def take(self, step: Improvement, recipe: str) -> None:
        if step.channel != self.channel:
            self.channel, self.garbling = (
                step.channel,
                self.garbling.after(step.garbling),
            )
            self.steps.append(recipe)


def _repair_rows(work: _Work, gamma: Fraction, split: str) -> None:
    work.take(merge(work.channel), "responses that say the same were merged")
    work.take(
        drop_constant(work.channel), "a response that says nothing was left out"
    )
    low = [i for i, row in enumerate(work.channel.rows) if exact.parity(row) < gamma]
    for row in low:  # each step raises its row for good, and leaves the parity of its partner as it is
        partner = 1 if row == 0 else 0
        work.take(
            raise_parity(work.channel, gamma, row, partner)[1],
            f"response {row} was raised to parity γ",
        )
    work.take(merge(work.channel), "responses that say the same were merged")
    work.take(
        split_rows(work.channel, split), "responses of several values were split"
    )
    work.take(merge(work.channel), "responses that say the same were merged")


def merge(channel: Dense) -> Improvement:
    """Add up proportional rows and drop those that never occur (Remark 5.1)."""
    merged, groups = channel.merged()
    garbling = [[Fraction(0)] * len(groups) for _ in channel.weights]
    for group_index, group in enumerate(groups):
        together = sum(sum(channel.weights[i]) for i in group)
        for i in group:
            garbling[i][group_index] = Fraction(sum(channel.weights[i]), together)
    return Improvement(merged, Dense.from_rows(garbling))


def drop_constant(channel: Dense) -> Improvement:
    """Remove a constant row of value d and divide the others by 1 − d (Lemma 5.4)."""
    rows = channel.rows
    constant = next((i for i, row in enumerate(rows) if max(row) == min(row)), None)
    if constant is None:
        return Improvement(channel, Dense.from_rows(_identity(len(rows))))
    d = rows[constant][0]
    remaining_rows = [i for i in range(len(rows)) if i != constant]
    better = [[cell / (1 - d) for cell in rows[i]] for i in remaining_rows]
    garbling = [
        [d if i == constant else (1 - d) * (i == row) for row in remaining_rows]
        for i in range(len(rows))
    ]
    return Improvement(Dense.from_rows(better), Dense.from_rows(garbling))


def raise_parity(
    channel: Dense, gamma: Rational, row: int, partner: int
) -> tuple[Fraction, Improvement]:
    """Let a partner give way to a row of parity below γ until its parity is exactly γ (Lemma 5.3).

    Row a₁ becomes a₁ + (1 − ξ)·a₂ and its partner ξ·a₂, with the largest ξ that keeps the parity of row a₁ at γ:
    ξ = 1 + min (γ·a₁[l] − a₁[j]) / (γ·a₂[l] − a₂[j]) over all pairs with a positive denominator.

    Returns:
        ξ, and the step; its garbling sends the partner on to the row with probability 1 − 1/ξ.

    Raises:
        InvalidDesign: the rows are the same one or proportional, or a row's parity is already above γ.
    """
    limit = exact.rational(gamma, name="gamma")
    rows = list(channel.rows)
    first, second = rows[row], rows[partner]
    room = [
        (limit * first[low] - first[high]) / drop
        for low, high in product(range(channel.answers), repeat=2)
        if (drop := limit * second[low] - second[high]) > 0
    ]
    xi = 1 + min(room, default=Fraction(0))
    raised = tuple(a + (1 - xi) * b for a, b in zip(first, second, strict=True))
    if row == partner or xi < 1 or not any(raised):
        raise InvalidDesign(
            f"response {row} cannot be raised with the help of {partner}; expected two different rows of parity up to "
            "γ that are not proportional.",
            "Merge proportional rows first.",
        )
    rows[row], rows[partner] = raised, tuple(xi * cell for cell in second)
    garbling = [list(unit) for unit in _identity(len(rows))]
    garbling[row][partner], garbling[partner][partner] = 1 - 1 / xi, 1 / xi
    return xi, Improvement(Dense.from_rows(rows), Dense.from_rows(garbling))


def split_row(
    row: Sequence[Fraction], *, split: str = "independent"
) -> tuple[Pattern, ...]:
    """Split a row of several values into rows with its smallest and largest value that sum to it (Lemma 5.5).

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
        raise InvalidDesign(
            "a constant row cannot be split; expected at least two different values."
        )
    weights = [(value - low) / (high - low) for value in row]
    return tuple(
        sorted(
            Pattern(large, weight * low)
            for large, weight in SPLITS[split](weights)
            if weight
        )
    )


def split_rows(channel: Dense, split: str = "nested") -> Improvement:
    """Split every row of more than two values.

    Raises:
        InvalidDesign: into more responses than can be held.
    """
    rows = channel.rows
    if split == "independent":
        _check_count(rows)
    better: list[Row] = []
    origins: list[int] = []
    for i, row in enumerate(rows):
        ratio = max(row) / min(row)
        for large, small in split_row(row, split=split):
            inside = set(large)
            better.append(
                tuple(
                    small * ratio if j in inside else small for j in range(len(row))
                )
            )
            origins.append(i)
    garbling = [
        [Fraction(i == origin) for origin in origins] for i in range(len(rows))
    ]
    return Improvement(Dense.from_rows(better), Dense.from_rows(garbling))


def to_warner(channel: Dense, gamma: Fraction) -> Improvement:
    """Return Warner's design at γ and C = A·P⁻¹, which is never negative (Proposition 6.1)."""
    better = (
        (gamma / (gamma + 1), 1 / (gamma + 1)),
        (1 / (gamma + 1), gamma / (gamma + 1)),
    )
    garbling = [
        [(gamma * a - b) / (gamma - 1), (gamma * b - a) / (gamma - 1)]
        for a, b in channel.rows
    ]
    return Improvement(Dense.from_rows(better), Dense.from_rows(garbling))


def gamma_diagonal_fallback(channel: Dense, gamma: Fraction) -> Improvement:
    """Return the γ-diagonal design for one whose responses do not depend on answers at all."""
    size = channel.answers
    better = Diagonal(size, gamma.numerator, gamma.denominator).dense()
    return Improvement(
        better, Dense.from_rows([[row[0]] * size for row in channel.rows])
    )


def _independent(
    weights: Sequence[Fraction],
) -> list[tuple[tuple[int, ...], Fraction]]:
    sure = [j for j, weight in enumerate(weights) if weight == 1]
    middle = [j for j, weight in enumerate(weights) if 0 < weight < 1]
    return [
        (
            tuple(
                sorted(
                    [*sure, *(j for j, up in zip(middle, ups, strict=True) if up)]
                )
            ),
            exact.product(
                weights[j] if up else 1 - weights[j]
                for j, up in zip(middle, ups, strict=True)
            ),
        )
        for ups in product((False, True), repeat=len(middle))
    ]


def _threshold_sets(
    weights: Sequence[Fraction],
) -> list[tuple[tuple[int, ...], Fraction]]:
    """Return the positions above a threshold that is uniform on 0 … 1, and the probability of each such set."""
    steps = sorted({*weights, Fraction(0)})
    return [
        (
            tuple(j for j, weight in enumerate(weights) if weight >= above),
            above - below,
        )
        for below, above in pairwise(steps)
    ]


SPLITS: dict[
    str, Callable[[Sequence[Fraction]], list[tuple[tuple[int, ...], Fraction]]]
] = {
    "nested": _threshold_sets,
    "independent": _independent,
}


def _check_count(rows: Table) -> None:
    middle = [sum(min(row) < cell < max(row) for cell in row) for row in rows]
    count = sum(2**n_values for n_values in middle)
    if count > MAX_RESPONSES:
        worst = middle.index(max(middle))
        raise InvalidDesign(
            f"response {worst} has {middle[worst]} probabilities between its smallest and its largest, and splitting "
            f"all rows gives {count:,} responses; expected at most {MAX_RESPONSES:,}.",
            'Use split="nested", which makes at most one row of each different value.',
        )


def _check_repaired(channel: Channel, gamma: Rational | None) -> Fraction:
    limit = read_gamma(channel, gamma)
    if channel.parity > limit:
        raise InvalidDesign(
            f"the parity is {exact.text(channel.parity)}, above γ = {exact.text(limit)}; expected at most γ.",
            "Garbling lowers a parity, repairs do not: start from a more private design, or allow a larger γ.",
        )
    if limit == 1:
        raise InvalidDesign(
            "γ is 1, at which no response may say anything; expected more than 1."
        )
    return limit


def _identity(size: int) -> Table:
    return tuple(tuple(Fraction(i == j) for j in range(size)) for i in range(size))

"""The garbling of two channels that are written out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from deniable.channel import Dense
from deniable.design.elimination import Row, Table, integers, reduce
from deniable.design.garbling_program import program
from deniable.design.order import Garbling, Separation, separation


@dataclass(frozen=True, slots=True)
class _Merged:
    """Rows without zero or proportional ones, and which response went where."""

    rows: Table
    groups: tuple[int | None, ...]  # for each response its merged row; None for one that never occurs
    shares: tuple[Fraction, ...]  # for each response its part of the merged row

    @classmethod
    def of(cls, channel: Dense) -> _Merged:
        numbers: dict[tuple[int, ...], int] = {}
        groups = [
            numbers.setdefault(tuple(w // math.gcd(*row) for w in row), len(numbers)) if any(row) else None
            for row in channel.weights
        ]
        sums = [0] * len(numbers)
        for row, group in zip(channel.weights, groups, strict=True):
            if group is not None:
                sums[group] += sum(row)
        rows = tuple(
            tuple(Fraction(w * total, sum(shape) * channel.total) for w in shape)
            for shape, total in zip(numbers, sums, strict=True)
        )
        shares = tuple(
            Fraction(sum(row), sums[group]) if group is not None else Fraction(0)
            for row, group in zip(channel.weights, groups, strict=True)
        )
        return cls(rows, tuple(groups), shares)


def tables(one: Dense, two: Dense) -> Garbling | Separation:
    """Compare two channels that are written out."""
    ours, theirs = _Merged.of(one), _Merged.of(two)
    found = _eliminated(ours.rows, theirs.rows)
    if found is None:
        found = program(ours.rows, theirs.rows)
    if isinstance(found, dict):
        # A response that never occurs must not pay more than the others where all of them pay something.
        spare = 0 if len(found) == len(ours.rows) else None
        named = [spare if group is None else group for group in ours.groups]
        lifted = {i: found[group] for i, group in enumerate(named) if group in found}
        proof = separation(lifted, one, two)
        assert proof is not None, "a separation of merged rows separates the rows themselves"
        return proof
    cells = [
        [Fraction(0) if i is None else found[i][u or 0] * share for u in theirs.groups]
        for i, share in zip(ours.groups, ours.shares, strict=True)
    ]
    channel = Dense.of(cells)
    assert channel.after(two) == one, "the garbling gives back the coarse channel exactly"
    return Garbling(channel)


def _eliminated(ours: Table, theirs: Table) -> Table | dict[int, Row] | None:
    """Solve C·theirs = ours where the rows of `theirs` are independent, so that C is the only one; else None.

    With T·theirsᵀ reduced, a row of T that meets `theirs` nowhere and some row of `ours` is a game that only ours can
    play; and the row of T that picks one response u pays where C would have to send u with negative probability.
    """
    answers, width = len(ours[0]), len(theirs)
    if width > answers:
        return None
    columns = [
        (*(row[j] for row in theirs), *(row[j] for row in ours), *(Fraction(j == at) for at in range(answers)))
        for j in range(answers)
    ]
    reduced = reduce(integers(columns), width)
    if len(reduced.columns) < width:
        return None
    ends = slice(width, width + len(ours))
    for row in reduced.rows[width:]:
        for i, value in enumerate(row[ends]):
            if value:
                return {i: tuple(Fraction(cell) * (1 if value > 0 else -1) for cell in row[width + len(ours) :])}
    for u, row in enumerate(reduced.rows[:width]):
        for i, value in enumerate(row[ends]):
            if Fraction(value, reduced.pivot) < 0:
                return {i: tuple(Fraction(-cell, reduced.pivot) for cell in row[width + len(ours) :])}
        assert row[u] == reduced.pivot
    return tuple(
        tuple(Fraction(reduced.rows[u][width + i], reduced.pivot) for u in range(width)) for i in range(len(ours))
    )

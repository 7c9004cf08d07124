"""From probabilities that were computed to integer weights that are drawn with, never above a given parity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from deniable.chance import TOTAL
from deniable.channel import Dense
from deniable.errors import InvalidDesign

Column: TypeAlias = Sequence[Fraction | float | str]

_MAX_SHRINKING = Fraction(1, 10**6)


def realize(columns: Sequence[Column], gamma: Fraction) -> Dense:
    """Return the channel with integer weights of sum 2^64 nearest to a target, with parity at most γ.

    Guarantee: the parity of what is returned is at most γ, compared exactly. Values that repeat within a column of the
    target stay equal where another value in that column does not repeat, so that a symmetric design stays symmetric.

    Why: every entry p becomes ⌊2^64·p⌋, and what is left of the column, at most m − 1 units for m responses, is added
    to one entry, so a weight lies above 2^64·p − 1 and not above 2^64·p + m − 1. In a row with largest entry H and
    smallest l the ratio of weights is therefore at most γ when the room γ·l − H is at least s = (m − 1 + γ) / 2^64.
    Where a row misses that, the target is mixed with the channel that sends each of the m responses equally often: with
    a share t of it the room is (1 − t)(γ·l − H) + t(γ − 1)/m. For (γ − 1)/m ≥ s that keeps rows with enough room where
    they are, and gives a row with room ρ < s enough from t = (s − ρ) / ((γ − 1)/m − ρ) on; the largest such t is taken.
    Mixing with a constant channel is post-processing: it costs a little utility and no privacy. For a target whose own
    parity is γ, t is about 10^-19.

    Args:
        columns: for each answer the probabilities of the responses; floats may miss a sum of 1 by rounding.
        gamma: the largest ratio allowed, such as `exact.exp_below(epsilon)`.

    Raises:
        InvalidDesign: not a rectangle of probabilities, or a target that is not close to this parity.

    Example:
        >>> realize([[0.75, 0.25], [0.25, 0.75]], Fraction(3)).parity
        Fraction(3, 1)
        >>> realize([["2/3", "1/6", "1/6"], ["1/6", "2/3", "1/6"], ["1/6", "1/6", "2/3"]], Fraction(4)).parity < 4
        True
    """
    target = _read(columns)
    if gamma <= 1:
        raise InvalidDesign(f"γ = e^ε is {gamma}; expected more than 1.")
    plain = round_columns(target)
    if plain.parity <= gamma:
        return plain
    mixed = mix_with_constant(target, _constant_share(target, gamma))
    return _check_parity(round_columns(mixed), gamma)


def _check_parity(channel: Dense, gamma: Fraction) -> Dense:
    # the proof in realize says never; a promise is checked all the same
    if channel.parity > gamma:
        raise AssertionError(
            f"the parity {float(channel.parity)} is above {float(gamma)}"
        )
    return channel


def _read(columns: Sequence[Column]) -> list[list[Fraction]]:
    target = [[Fraction(cell) for cell in column] for column in columns]
    if (
        len(target) < 2
        or len({len(column) for column in target}) != 1
        or len(target[0]) < 2
    ):
        raise InvalidDesign(
            "the target is not a table of at least 2 answers and 2 responses."
        )
    totals = [sum(column) for column in target]
    for j, (column, total) in enumerate(zip(target, totals, strict=True)):
        if min(column) < 0 or abs(float(total) - 1) > 1e-9:
            raise InvalidDesign(
                f"column {j} of the target sums to {float(total)}; expected probabilities that sum to 1."
            )
    return [
        [cell / total for cell in column]
        for column, total in zip(target, totals, strict=True)
    ]


def _constant_share(target: list[list[Fraction]], gamma: Fraction) -> Fraction:
    """Return the share of the constant channel that makes up for rounding, and for a target a little above γ."""
    rows = [row for row in zip(*target, strict=True) if any(row)]
    spare = (len(rows) - 1 + gamma) / TOTAL
    full = (gamma - 1) / len(rows)
    rooms = [gamma * min(row) - max(row) for row in rows]
    share = max(
        (spare - room) / (full - room) if room < spare else Fraction(0)
        for room in rooms
    )
    if full <= spare or share > _MAX_SHRINKING:
        raise InvalidDesign(
            f"the target cannot be brought to a parity of {float(gamma):.6g} with weights that sum to 2^64 and next to "
            "no change; expected a target of about this parity.",
            "Ask for a larger ε, for fewer responses, or for a target whose rows keep to the ratio.",
        )
    return share


def mix_with_constant(
    target: list[list[Fraction]], share: Fraction
) -> list[list[Fraction]]:
    """Return the columns with a share of the channel that sends each response equally often, whatever the answer."""
    # a response that never occurs must not begin to
    live = [any(row) for row in zip(*target, strict=True)]
    even = share / sum(live)
    return [
        [
            (1 - share) * cell + (even if occurs else 0)
            for cell, occurs in zip(column, live, strict=True)
        ]
        for column in target
    ]


def round_columns(target: list[list[Fraction]]) -> Dense:
    """Return the channel with integer weights of sum 2^64 nearest to columns that sum to 1."""
    return Dense(tuple(zip(*map(_weights, target), strict=True)), TOTAL)


def _weights(column: Sequence[Fraction]) -> list[int]:
    weights = [int(TOTAL * cell) for cell in column]
    times = Counter(column)
    # The rest goes to a value that occurs once: equal ones stay equal, and mirrored columns stay mirrored.
    single = [cell for cell in column if times[cell] == 1]
    weights[list(column).index(max(single or column))] += TOTAL - sum(weights)
    return weights

"""How far an estimate scatters: what one respondent adds to frequency and weight, as variances for any true values.

For an estimate that is a mean over n respondents, n·Var of the frequency f is (1 − f)·others + f·own − f², the same
form as for shares, and likewise for the weight; only `own` and `others` differ between schemes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from deniable.channel import Dense
from deniable.order.programs import solve
from deniable.types.key_value.schemes import MINUS, NONE, PLUS, Scheme


class SecondMoments(NamedTuple):
    """Second moments of what one respondent adds, for the answers none, + and − of one item.

    Attributes:
        degree: of what is added to the number of edges.
        weight: of what is added to the sum of weights.
        both: of the product of the two.
    """

    degree: tuple[Fraction, Fraction, Fraction]
    weight: tuple[Fraction, Fraction, Fraction]
    both: tuple[Fraction, Fraction, Fraction]


def second_moments(scheme: Scheme, *, conditional: bool = False) -> SecondMoments:
    """Return the second moments of what one respondent adds.

    Args:
        scheme: how responses come about.
        conditional: for schemes that look at one item each, count only those who were asked about the item.

    Why: a respondent who is looked at with probability 1/M adds M times the score of the symbol. With one item each,
    whoever was asked about another one adds 0. With padding an edge that was not drawn sends what none sends.
    """
    symbol_scores, M = scores(scheme.symbol), scheme.multiplier
    scatter = []
    for none, plus, minus in (
        symbol_scores.squares,
        symbol_scores.weight_squares,
        symbol_scores.products,
    ):
        if scheme.one_each:
            factor = 1 if conditional else M
            scatter.append((factor * none, factor * plus, factor * minus))
        else:
            empty = M * (M - 1) * none
            scatter.append((M**2 * none, M * plus + empty, M * minus + empty))
    return SecondMoments(*scatter)


_DEGREE = (Fraction(0), Fraction(1), Fraction(1))  # for the answers none, + and −


_WEIGHT = (Fraction(0), Fraction(1), Fraction(-1))


@dataclass(frozen=True)
class Scores:
    """For each symbol what it adds, and for each answer the second moments of that.

    Attributes:
        degree: what each symbol adds to the number of edges; None where symbols do not tell edges from none.
        weight: what each symbol adds to the sum of weights; None where symbols do not tell the signs apart.
        squares: for each answer the mean of degree².
        weight_squares: for each answer the mean of weight².
        products: for each answer the mean of degree · weight.
    """

    degree: tuple[Fraction, ...] | None
    weight: tuple[Fraction, ...] | None
    squares: tuple[Fraction, ...]
    weight_squares: tuple[Fraction, ...]
    products: tuple[Fraction, ...]


@lru_cache(maxsize=256)
def scores(symbol: Dense) -> Scores:
    """Work out the scores of a channel of one item, exactly.

    Implements: Corollaries 4 and 5 of [MW21] with their constants corrected, as the inverse of whatever channel is
    given. Symbols that say the same are taken together first, so that the solution is unique.

    Example:
        >>> from deniable.designs import rr3_ddagger
        >>> scores(rr3_ddagger("3/4", "4/5").channel).weight
        (Fraction(0, 1), Fraction(20, 9), Fraction(-20, 9))
    """
    degree, weight = _solve(symbol, _DEGREE), _solve(symbol, _WEIGHT)
    return Scores(
        degree,
        weight,
        _means(symbol, degree, degree),
        _means(symbol, weight, weight),
        _means(symbol, degree, weight),
    )


def _solve(symbol: Dense, wanted: Sequence[Fraction]) -> tuple[Fraction, ...] | None:
    """Return s with Σ s(symbol)·P(symbol | answer) = wanted(answer) for all three answers, or None."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for number, row in enumerate(symbol.weights):
        groups.setdefault(
            tuple(weight // (math.gcd(*row) or 1) for weight in row), []
        ).append(number)
    table = [
        [
            sum((symbol.probability(i, given=answer) for i in group), Fraction(0))
            for group in groups.values()
        ]
        for answer in (NONE, PLUS, MINUS)
    ]
    solution = solve(table, wanted)
    if solution is None:
        return None
    values = {
        i: value
        for group, value in zip(groups.values(), solution, strict=True)
        for i in group
    }
    return tuple(values[i] for i in range(symbol.responses))


def _means(
    symbol: Dense, one: tuple[Fraction, ...] | None, two: tuple[Fraction, ...] | None
) -> tuple[Fraction, ...]:
    if one is None or two is None:
        return (Fraction(0),) * 3
    products = [a * b for a, b in zip(one, two, strict=True)]
    return tuple(
        sum(
            (
                product * symbol.probability(i, given=answer)
                for i, product in enumerate(products)
            ),
            Fraction(0),
        )
        for answer in (NONE, PLUS, MINUS)
    )

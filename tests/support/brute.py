"""What privacy means, written down as the definitions say it and computed the slow way, on a written-out matrix."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, permutations

from deniable.exact import Ratio
from tests.support.rational import Table, transposed


def quotient(a: Fraction, b: Fraction) -> Ratio:
    """Divide with 0/0 = 1 and a/0 = ∞."""
    if b:
        return a / b
    return math.inf if a else Fraction(1)


def parity(rows: Table) -> Ratio:
    """The largest quotient of two entries of one row."""
    return max(quotient(a, b) for row in rows for a, b in permutations(row, 2))


def delta(rows: Table, gamma: Fraction) -> Fraction:
    """The supremum of P(S | x) − γ·P(S | x′) over all sets S of responses and all pairs of answers."""
    numbers = range(len(rows))
    sets = [
        chosen
        for size in range(len(rows) + 1)
        for chosen in combinations(numbers, size)
    ]
    return max(
        sum((one[i] - gamma * two[i] for i in chosen), Fraction(0))
        for one, two in permutations(transposed(rows), 2)
        for chosen in sets
    )


def bayes_factors(rows: Table, response: int, answer: int) -> tuple[Ratio, Ratio]:
    """The smallest and the largest factor on the odds of an answer against any other single one."""
    row = rows[response]
    factors = [
        quotient(row[answer], other) for j, other in enumerate(row) if j != answer
    ]
    return min(factors), max(factors)


def posterior(
    rows: Table, prior: tuple[Fraction, ...], response: int
) -> tuple[Fraction, ...]:
    """What somebody with this prior believes about the answer after this response."""
    joint = [p * q for p, q in zip(prior, rows[response], strict=True)]
    return tuple(each / sum(joint) for each in joint)


def log(ratio: Fraction, digits: int = 100) -> Decimal:
    """The natural logarithm to many digits, rounded to nearest."""
    with localcontext() as context:
        # a ratio near 1 loses the digits that it shares with 1
        context.prec = 4 * digits
        return (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()

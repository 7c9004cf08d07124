"""The exact moments of the estimates of one item, by the formulas of F15: what tests compare estimates with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from deniable.errors import InvalidRequest, NotEstimable
from deniable.types.key_value.design import KeyValueDesign
from deniable.types.key_value.schemes import (
    MINUS,
    NONE,
    PLUS,
    Weight,
    answers,
    read_weight,
)
from deniable.types.key_value.variances import scores, second_moments


@dataclass(frozen=True)
class ItemMoments:
    """Expectation and covariance of the estimates for one item, when people are as they are and only devices vary.

    Attributes:
        degree: the number of edges.
        weight: the sum of their weights, on the scale of the design.
        var_degree: the variance of the estimated number.
        var_weight: the variance of the estimated sum.
        cov: the covariance of the two.
    """

    degree: Fraction
    weight: Fraction
    var_degree: Fraction
    var_weight: Fraction
    cov: Fraction

    def on_scale(self, low: Fraction, high: Fraction) -> ItemMoments:
        """Return the same for weights from `low` to `high`; a weight w from −1 to 1 stands for (low + high)/2 + w·half.

        Why: the sum of the weights is then middle·degree + half·weight, which is linear in the two estimates.
        """
        middle, half = (low + high) / 2, (high - low) / 2
        return ItemMoments(
            self.degree,
            middle * self.degree + half * self.weight,
            self.var_degree,
            middle**2 * self.var_degree
            + 2 * middle * half * self.cov
            + half**2 * self.var_weight,
            middle * self.var_degree + half * self.cov,
        )


def moments(design: KeyValueDesign, edges: Sequence[Weight | None]) -> ItemMoments:
    """Return expectation and covariance of the estimates of one item, exactly, for people with these edges to it.

    Implements: F15: the variances of LPP, LPP‡ and PCKV-UE [MW21], Section 4.2, multiplied by the number of items or
    places as they must be; nobody may have more items than the padding allows.

    Args:
        design: the design.
        edges: for each respondent the weight of the edge to the item, None where there is none.

    Raises:
        InvalidAnswer: a weight that does not fit.
        NotEstimable: the design does not tell edges from none, or not their signs apart.

    Example:
        >>> from deniable.types.key_value.design import lpp
        >>> found = moments(lpp(4, 1, 1.5), [0.5, None, -1, 0.2, None])
        >>> round(float(found.var_degree), 6), float(found.weight)
        (27.413472, -0.3)
        >>> from deniable.types.key_value.design import lpp_club
        >>> moments(lpp_club(4, 1, low=1, high=5), [5, None, 1, 3]).weight
        Fraction(9, 1)
    """
    check_told(design)
    scatter = second_moments(design.scheme)
    rows = [
        None if edge is None else read_weight(edge, design.low, design.high)
        for edge in edges
    ]
    there = [weight for weight in rows if weight is not None]
    degree, weight = Fraction(len(there)), sum(there, Fraction(0))
    found = ItemMoments(
        degree,
        weight,
        sum((_mean(scatter.degree, row) for row in rows), Fraction(0)) - degree,
        sum((_mean(scatter.weight, row) for row in rows), Fraction(0))
        - sum((w * w for w in there), Fraction(0)),
        sum((_mean(scatter.both, row) for row in rows), Fraction(0)) - weight,
    )
    return found.on_scale(design.low, design.high)


def conditional_moments(
    design: KeyValueDesign, edges: Sequence[Weight | None], asked: int
) -> ItemMoments:
    """Return the same for the estimate that divides by how many were asked about the item, given that number.

    Implements: F15: Var = n²·[(1/n_j − 1/n)·S² + v/n_j], with S² the variance in the population (divisor n − 1) and v
    the mean variance of the device; people who are asked are a simple random sample of all.

    Raises:
        InvalidRequest: the design does not ask about one item each, or nobody or too many were asked.
        NotEstimable: the design does not tell edges from none, or not their signs apart.
    """
    check_told(design)
    n = len(edges)
    if not design.scheme.one_each or not 1 <= asked <= n or n < 2:
        raise InvalidRequest(
            f"asked is {asked}; expected 1 to {n} respondents of a design that asks about one item each."
        )
    scatter = second_moments(design.scheme, conditional=True)
    rows = [
        None if edge is None else read_weight(edge, design.low, design.high)
        for edge in edges
    ]
    pairs = [
        (Fraction(0), Fraction(0)) if row is None else (Fraction(1), row)
        for row in rows
    ]
    degree, weight = (sum(each, Fraction(0)) for each in zip(*pairs, strict=True))

    def variance(
        second: tuple[Fraction, Fraction, Fraction], one: int, two: int
    ) -> Fraction:
        product = sum((pair[one] * pair[two] for pair in pairs), Fraction(0))
        sums = [degree, weight]
        between = (product - sums[one] * sums[two] / n) / (n - 1)
        device = (
            sum((_mean(second, row) for row in rows), Fraction(0)) - product
        ) / n
        return n**2 * (
            (Fraction(1, asked) - Fraction(1, n)) * between + device / asked
        )

    found = ItemMoments(
        degree,
        weight,
        variance(scatter.degree, 0, 0),
        variance(scatter.weight, 1, 1),
        variance(scatter.both, 0, 1),
    )
    return found.on_scale(design.low, design.high)


def check_told(design: KeyValueDesign) -> None:
    """Refuse a design whose symbols do not tell edges from none and + from −.

    Raises:
        NotEstimable: one of the two cannot be told.
    """
    told = scores(design.scheme.symbol)
    if told.degree is None or told.weight is None:
        lost = (
            "edges from no edges" if told.degree is None else "the signs of weights"
        )
        raise NotEstimable(
            f"the symbols of {design.name} do not tell {lost}; expected a design that does."
        )


def _mean(
    moments: tuple[Fraction, Fraction, Fraction], weight: Fraction | None
) -> Fraction:
    if weight is None:
        return moments[NONE]
    plus, minus = answers(weight)
    return plus * moments[PLUS] + minus * moments[MINUS]

"""Tests of hypotheses: one class for their results, and the reference distributions of their statistics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2
from scipy.stats import f as f_distribution

from deniable.designs.labels import format_labels
from deniable.errors import InvalidRequest, NotEstimable, quoted, require
from deniable.estimates.covariances import Matrix, Vector, vector

__all__ = [
    "THAT",
    "HypothesisTest",
    "against_chi_square",
    "likelihood_ratio",
    "wald_hypotheses",
    "wald_statistic",
    "wald_test",
]

THAT = "Test that "
"""How a hypothesis begins, so that nobody reads it as what was found."""

_ZERO = 1e-9  # of a statistic, below which rounding alone is seen
_RANK = 1e-9  # relative size below which a variance is rounding


class HypothesisTest(NamedTuple):
    """A test of a hypothesis. Print it, or read its numbers.

    Attributes:
        hypothesis: what was tested, such as "Test that x1 = x2" or "Test that all groups are alike".
        method: "score", "likelihood" (G², a ratio of likelihoods) or "Wald".
        statistic: how far the data are from the hypothesis.
        df: degrees of freedom: what the statistic is on average, were the hypothesis true.
        p_value: how often it would be as large, or larger, by chance; 1 without degrees of freedom.
        tables: in how many tables with the same margins the p-value was counted; 0 for a closed form.
        below: degrees of freedom of the errors, where these are known from few clusters: the statistic is an F then.
        border: how many of the numbers that the hypothesis sets to 0 cannot be negative: the p-value is that of a
            mixture then, and smaller than that of χ².
    """

    hypothesis: str
    method: str
    statistic: float
    df: int
    p_value: float
    tables: int = 0
    below: int = 0
    border: int = 0

    @property
    def told(self) -> str:
        """What was found, in numbers alone."""
        if not self.df:
            return "no degree of freedom is left to test it"
        name = (
            "F"
            if self.below
            else {"likelihood": "G²", "Wald": "Wald's χ²"}.get(self.method, "χ²")
        )
        how = f" ({self.tables:,} tables)" if self.tables else ""
        degrees = "1 degree" if self.df == 1 else f"{self.df} degrees"
        degrees = f"{self.df} and {self.below:,} degrees" if self.below else degrees
        degrees += (
            f" of freedom, {self.border} on the border"
            if self.border
            else " of freedom"
        )
        # what a float can tell
        p = f"p = {self.p_value:.3g}" if self.p_value else "p < 1e-300"
        return f"{name} = {self.statistic:.2f} with {degrees}, {p}{how}"

    def __str__(self) -> str:
        if not self.df and self.hypothesis.startswith(THAT):
            return f"Whether {self.hypothesis.removeprefix(THAT)} cannot be tested: no degree of freedom is left"
        return f"{self.hypothesis}: {self.told}"


def against_chi_square(
    hypothesis: str, method: str, statistic: float, df: int, *, at_border: int = 0
) -> HypothesisTest:
    """Return the test of a statistic that follows χ² where the hypothesis is true.

    Args:
        hypothesis: what is tested.
        method: how.
        statistic: its value.
        df: its degrees of freedom.
        at_border: how many numbers which cannot be negative it says are 0. Where there are any, the statistic follows
            half of the time χ² with one degree less [SL87].

    Example:
        >>> print(against_chi_square("Test that x = 0", "Wald", 3.84, 1))
        Test that x = 0: Wald's χ² = 3.84 with 1 degree of freedom, p = 0.05
    """
    p_value = float(chi2.sf(statistic, df)) if df else 1.0
    if at_border:
        less = (
            float(chi2.sf(statistic, df - 1))
            if df > 1
            else float(statistic <= _ZERO)
        )
        p_value = (p_value + less) / 2
    return HypothesisTest(
        hypothesis, method, statistic, df, p_value, border=at_border
    )


def likelihood_ratio(
    hypothesis: str, log_ratio: float, df: int, *, at_border: int = 0
) -> HypothesisTest:
    """Return the test of twice a difference of log-likelihoods, G².

    Where shares are held at the border of the simplex the law of G² is only near χ²; a score test holds them nowhere.
    """
    return against_chi_square(
        hypothesis, "likelihood", max(2 * log_ratio, 0.0), df, at_border=at_border
    )


def wald_statistic(distance: ArrayLike, covariance: ArrayLike) -> tuple[float, int]:
    """Return Wald's statistic d′·V⁺·d and the rank of V."""
    numbers, matrix = (
        np.asarray(distance, np.float64),
        np.asarray(covariance, np.float64),
    )
    variances, directions = np.linalg.eigh((matrix + matrix.T) / 2)
    positive = variances > _RANK * max(float(variances[-1]), 1e-300)
    standardized = (numbers @ directions[:, positive]) / np.sqrt(variances[positive])
    return float(standardized @ standardized), int(positive.sum())


def wald_test(
    hypothesis: str, distance: ArrayLike, covariance: ArrayLike, df: float
) -> HypothesisTest:
    """Return Wald's test that several numbers are 0, against F, or against χ² with infinite degrees of freedom.

    Implements: W = d′·V⁺·d as F = W·(m − q + 1)/(m·q), with q the rank of V and m its degrees of freedom [KG90]; with
    one number it is Student's test. As m grows F·q becomes W, which follows χ² with q degrees of freedom.

    Args:
        hypothesis: what is tested.
        distance: the numbers.
        covariance: theirs.
        df: the degrees of freedom of the covariance, such as clusters less strata; infinite where it is known.

    Raises:
        NotEstimable: more numbers than degrees of freedom.

    Example:
        >>> print(wald_test("Test that x = 0", [2.0], [[1.0]], 10))
        Test that x = 0: F = 4.00 with 1 and 10 degrees of freedom, p = 0.0734
        >>> print(wald_test("Test that x = 0", [2.0], [[1.0]], math.inf))
        Test that x = 0: Wald's χ² = 4.00 with 1 degree of freedom, p = 0.0455
    """
    statistic, rank = wald_statistic(distance, covariance)
    if math.isinf(df):
        return against_chi_square(hypothesis, "Wald", statistic, rank)
    below = int(df) - rank + 1
    # clusters, and not the numbers, limit how many directions have a variance
    _check_clusters(rank, df)
    if not rank:
        return HypothesisTest(hypothesis, "Wald", 0.0, 0, 1.0)
    f = statistic * below / (df * rank)
    return HypothesisTest(
        hypothesis,
        "Wald",
        f,
        rank,
        float(f_distribution.sf(f, rank, below)),
        below=below,
    )


def _check_clusters(rank: int, df: float) -> None:
    if rank > 1 and rank >= df:
        raise NotEstimable(
            f"{rank} numbers are tested with {df:g} degrees of freedom: there are too few clusters.",
            "Test fewer numbers, such as one category by its name.",
        )


def wald_hypotheses(
    hypothesis: str | Sequence[str],
    params: Mapping[str, float],
    covariance: Matrix,
    df: float,
) -> HypothesisTest:
    """Test the hypotheses R·x = r by Wald's test; see `Result.test`.

    Raises:
        InvalidRequest: something that is not a hypothesis about these numbers.
        NotEstimable: hypotheses that say the same twice, more of them than there are degrees of freedom, or numbers
            without a standard error.
    """
    is_text = isinstance(hypothesis, Sequence) and all(
        isinstance(equation, str) for equation in hypothesis
    )
    require(
        is_text,
        hypothesis,
        "the hypothesis",
        'text such as "age = 0", or names of coefficients',
    )
    equations = [hypothesis] if isinstance(hypothesis, str) else hypothesis
    title = THAT + ", ".join(
        f"{equation} = 0" if equation in params else equation
        for equation in equations
    )
    matrix, right = constraints(hypothesis, list(params))
    if np.linalg.matrix_rank(matrix) < len(matrix):
        raise NotEstimable(
            "some of the hypotheses follow from the others; expected each to say something new."
        )
    distance = matrix @ vector(list(params.values())) - right
    used = matrix.any(axis=0)
    middle = matrix[:, used] @ covariance[np.ix_(used, used)] @ matrix[:, used].T
    if not np.isfinite(middle).all():
        raise NotEstimable(
            "a number of the hypothesis has no standard error; expected numbers that the data identify."
        )
    return wald_test(title, distance, middle, df)


def constraints(
    hypothesis: str | Sequence[str], names: Sequence[str]
) -> tuple[Matrix, Vector]:
    """Return R and r of the hypotheses R·β = r.

    Raises:
        InvalidRequest: something that is no hypothesis about these coefficients.

    Example:
        >>> constraints("x1 = x2", ["Intercept", "x1", "x2"])[0].tolist()
        [[0.0, 1.0, -1.0]]
    """
    equations = [hypothesis] if isinstance(hypothesis, str) else list(hypothesis)
    rows, right = [], []
    for equation in equations:
        if equation in names:
            rows.append(np.eye(len(names))[list(names).index(equation)][None, :])
            right.append(np.zeros(1))
        else:
            matrix, values = _parse_equations(equation, names)
            rows.append(matrix)
            right.append(values)
    if not rows:
        raise InvalidRequest(
            "there is no hypothesis; expected one, such as 'x1 = x2'."
        )
    return np.concatenate(rows), np.concatenate(right)


def _parse_equations(text: str, names: Sequence[str]) -> tuple[Matrix, Vector]:
    from formulaic.utils.constraints import LinearConstraints

    try:
        read = LinearConstraints.from_spec(text, variable_names=list(names))
        matrix, values = (
            np.atleast_2d(np.asarray(read.constraint_matrix, np.float64)),
            np.asarray(read.constraint_values),
        )
    except Exception:
        matrix, values = np.zeros((0, len(names))), np.zeros(0)
    if not len(matrix) or not matrix.any(axis=1).all():
        raise InvalidRequest(
            f"{quoted(text, 60)} is no hypothesis about the coefficients {format_labels(list(names))}; expected an "
            "equation.",
            "For example 'x1 = x2', or '`C(region)[T.north]` = 0' with names that hold brackets in backticks.",
        )
    return matrix, np.asarray(values, np.float64)

"""Linear hypotheses about estimates, parsed from text and tested by Wald's test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from deniable.designs.labels import format_labels
from deniable.errors import InvalidRequest, NotEstimable, quoted, require
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.testing import THAT, HypothesisTest, wald_test


def wald_hypotheses(
    hypothesis: str | Sequence[str],
    params: Mapping[str, float],
    covariance: Matrix,
    df: float,
) -> HypothesisTest:
    """Test the hypotheses R·x = r by Wald's test; see `Result.test`.

    Raises:
        InvalidRequest: something that is not a hypothesis about these numbers.
        NotEstimable: hypotheses that say the same twice, or more of them than there are degrees of freedom.
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
        f"{equation} = 0" if equation in params else equation for equation in equations
    )
    matrix, right = constraints(hypothesis, list(params))
    if np.linalg.matrix_rank(matrix) < len(matrix):
        raise NotEstimable(
            "some of the hypotheses follow from the others; expected each to say something new."
        )
    distance = matrix @ vector(list(params.values())) - right
    return wald_test(title, distance, matrix @ covariance @ matrix.T, df)


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
        raise InvalidRequest("there is no hypothesis; expected one, such as 'x1 = x2'.")
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

"""Hypotheses about coefficients, read from text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable.designs.labels import shown
from deniable.errors import InvalidRequest, quoted
from deniable.estimates.covariances import Matrix, Vector


def constraints(hypothesis: str | Sequence[str], names: Sequence[str]) -> tuple[Matrix, Vector]:
    """Return R and r of the hypotheses R·β = r.

    Raises:
        InvalidRequest: something that is no hypothesis about these coefficients.

    Example:
        >>> constraints("x1 = x2", ["Intercept", "x1", "x2"])[0].tolist()
        [[0.0, 1.0, -1.0]]
    """
    given = [hypothesis] if isinstance(hypothesis, str) else list(hypothesis)
    rows, right = [], []
    for each in given:
        if each in names:
            rows.append(np.eye(len(names))[list(names).index(each)][None, :])
            right.append(np.zeros(1))
        else:
            matrix, values = _equations(each, names)
            rows.append(matrix)
            right.append(values)
    if not rows:
        raise InvalidRequest("there is no hypothesis; expected one, such as 'x1 = x2'.")
    return np.concatenate(rows), np.concatenate(right)


def _equations(text: str, names: Sequence[str]) -> tuple[Matrix, Vector]:
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
            f"{quoted(text, 60)} is no hypothesis about the coefficients {shown(list(names))}; expected an equation.",
            "For example 'x1 = x2', or '`C(region)[T.north]` = 0' with names that hold brackets in backticks.",
        )
    return matrix, np.asarray(values, np.float64)

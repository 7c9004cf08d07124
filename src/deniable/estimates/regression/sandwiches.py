"""Standard errors by name: what the covariance of coefficients is computed from."""

from __future__ import annotations

import numpy as np

from deniable.estimates.covariances import Matrix

ERRORS = {
    "observed": "observed information",
    "expected": "expected information",
    "outer": "outer product of scores",
    "robust": "robust (HC0)",
    "sampling": "how the sample was drawn",
}
"""The standard errors that can be asked for, and how a table calls them."""


def inverted(information: Matrix) -> Matrix | None:
    """Return the inverse of an information matrix; None where it is not positive definite."""
    units = 1 / np.sqrt(np.maximum(np.abs(np.diagonal(information)), 1e-300))
    scaled = information * np.outer(units, units)
    try:
        np.linalg.cholesky(scaled)
        inverse = np.linalg.inv(scaled)
    except np.linalg.LinAlgError:
        return None
    whole = inverse * np.outer(units, units)
    return np.asarray((whole + whole.T) / 2, np.float64)

"""Section E of the frontier sheet: imperfect tests."""

from __future__ import annotations

from typing import Any

import numpy as np

import deniable as dn
from tests.golden.runner import quantity


def found(
    positive: int,
    n: int,
    true_positive: int,
    n_sensitivity: int,
    true_negative: int,
    n_specificity: int,
) -> Any:
    return dn.prevalence(
        positive,
        n,
        sensitivity=(true_positive, n_sensitivity),
        specificity=(true_negative, n_specificity),
    )


def interval(method: str | None, inputs: dict[str, int]) -> dict[str, float]:
    result = found(**inputs)
    low, high = result.interval("prevalence", method=method)
    return {"estimate": result.value, "lower": low, "upper": high}


def known_errors(result: Any) -> list[float]:
    return np.sqrt(np.diagonal(result.model.known_covariance())).tolist()


@quantity("rogan_gladen")
def rogan_gladen(**inputs: int) -> dict[str, float]:
    result = found(**inputs)
    (known,) = known_errors(result)
    return {
        **interval("normal", inputs),
        "se": result.error,
        "se_channel_known": known,
    }


@quantity("lang_reiczigel")
def lang_reiczigel(**inputs: int) -> dict[str, float]:
    return interval("lang-reiczigel", inputs)


@quantity("test_profile")
def profile(**inputs: int) -> dict[str, float]:
    """The default."""
    return interval(None, inputs)


@quantity("test_fieller")
def fieller(**inputs: int) -> dict[str, float]:
    return interval("fieller", inputs)


@quantity("confusion")
def confusion(counts: list[int], validation: list[list[int]]) -> dict[str, Any]:
    result = dn.prevalence(counts, validation=validation)
    return {
        "estimate": list(result.params.values()),
        "se": list(result.bse.values()),
        "se_channel_known": known_errors(result),
        "cov": result.cov_params().tolist(),
    }

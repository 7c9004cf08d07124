"""Numbers of the survey sheet: scrambled designs, and mechanisms for a bounded number."""

from __future__ import annotations

from typing import Any

from benchmarks.numbers import published_variance

import deniable as dn
from tests.golden.runner import quantity

# What the sheet calls the laws of each model, and what we call them.
_NAMES = {
    "W": "factor",
    "U": "shift",
    "S1": "factor",
    "S2": "shift",
    "beta": "share",
    "p": "p",
}


def _design(model: str, given: dict[str, Any]) -> dn.Scrambling:
    other = {"S": "other" if model == "eriksson" else "factor"}
    return dn.scrambled(
        model, **{(_NAMES | other)[name]: value for name, value in given.items()}
    )


@quantity("scrambled")
def _scrambled(model: str, y: float, **given: Any) -> dict[str, float]:
    design = _design(model, given)
    return {
        "intercept": float(design.intercept),
        "slope": float(design.slope),
        "A": float(design.square),
        "B": float(design.linear),
        "C": float(design.constant),
        "device_variance": float(design.device_variance(y)),
    }


@quantity("scrambled_transform")
def _transform(model: str, z: list[float], **given: Any) -> dict[str, Any]:
    design = _design(model, given)
    values, found = [design.value(each) for each in z], design.estimate(z)
    return {
        "r": values,
        "v": [design.estimated_device_variance(each) for each in values],
        "mean": found.value,
        "se_srs": found.bse["mean"],
    }


@quantity("bounded_number")
def _bounded(mechanism: str, y: float, epsilon: float) -> dict[str, float]:
    """What ours is compared with. Two levels are the mechanism of Duchi et al."""
    variance = published_variance(mechanism, y, epsilon)
    if mechanism == "duchi":
        variance = dn.number_design(-1, 1, epsilon, levels=2).worst_variance() - y**2
    return {"mean": y, "variance": variance}

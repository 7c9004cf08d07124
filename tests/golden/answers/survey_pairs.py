"""Pairs of columns of which one or both were randomized."""

from __future__ import annotations

from typing import Any

import numpy as np

import deniable as dn
from tests.golden.runner import fractions, quantity


def _sent(z: list[int], u: float, v: float) -> tuple[dn.Design, list[int]]:
    """Responses of a device that says yes with u and v for the two answers."""
    low, high = fractions([u, v])
    return dn.matrix([[1 - low, 1 - high], [low, high]], categories=["no", "yes"]), z


@quantity("rr_correlation")
def rr_correlation(z: list[int], other: Any, u: float, v: float) -> dict[str, float]:
    second = _sent(**other) if isinstance(other, dict) else np.array(other)
    return {
        "correlation": dn.correlation(_sent(z, u, v), second).params["correlation"]
    }

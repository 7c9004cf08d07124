"""Surveys of independent respondents, drawn in law: how far their estimates lie from the truth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from deniable.designs import Design
from deniable.estimates import covariance
from deniable.reproduce.values import Point, Setting
from deniable.simulate import shares, tallies

Method = Literal["inversion", "customary"]

_PEOPLE = 1_000_000  # shares are met to six digits


def errors(
    design: Design,
    true: Sequence[float],
    respondents: int,
    setting: Setting,
    *,
    methods: Sequence[Method] = ("inversion",),
) -> list[NDArray[np.float64]]:
    """Return estimate minus truth of each share, a row for each survey; for each method, from the same tallies."""
    people = np.rint(np.array(true) * _PEOPLE).astype(np.int64)
    drawn = tallies(
        design, people, setting.repetitions, respondents=respondents, replaced=True, draws=setting.generator
    )
    return [shares(design, drawn, respondents, method=method) - people / people.sum() for method in methods]


def moments(name: str, design: Design, true: Sequence[float], respondents: int, setting: Setting) -> list[Point]:
    """Compare the mean and the variance of every estimated share with the theory: unbiased, and of this variance."""
    (seen,) = errors(design, true, respondents, setting)
    spread = np.diagonal(covariance(design, true, respondents))
    found = []
    for category, share in enumerate(true):
        found.append(Point.of(f"{name}: mean of π_{category}", share, share + seen[:, category]))
        found.append(Point.of(f"{name}: variance of π_{category}", spread[category], seen[:, category] ** 2))
    return found


def risk(design: Design, true: Sequence[float], method: Method = "inversion") -> float:
    """Return the total variance of the estimate for one respondent."""
    return float(np.trace(covariance(design, true, 1, method=method)))


def risks(
    name: str,
    design: Design,
    true: Sequence[float],
    setting: Setting,
    *,
    respondents: int = 100,
    methods: Sequence[Method] = ("inversion",),
) -> list[Point]:
    """Compare that total variance with what is seen, for each method."""
    seen = errors(design, true, respondents, setting, methods=methods)
    return [
        Point.of(f"{name}, {method}", risk(design, true, method), respondents * (each**2).sum(axis=1))
        for method, each in zip(methods, seen, strict=True)
    ]

"""Links: how the probability of the second of two answers follows from a linear predictor, with two derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from deniable.estimates.covariances import Vector

_FAR = 30.0  # beyond e^30 a complementary log-log probability is 1 in floats


class Bend(NamedTuple):
    """A probability at each row's predictor: itself, what is left to 1, and its first and second derivative."""

    share: Vector
    rest: Vector
    first: Vector
    second: Vector


@dataclass(frozen=True)
class LinkFunction:
    """A link.

    Attributes:
        name: what it is called.
        bend: a probability and its derivatives, from predictors.
        inverse: the predictor of a probability.
        edge: how far a predictor runs before its probability is 0 or 1 for any data.
    """

    name: str
    bend: Callable[[Vector], Bend]
    inverse: Callable[[float], float]
    edge: float


def _logit(eta: Vector) -> Bend:
    share, rest = expit(eta), expit(-eta)
    first = share * rest
    return Bend(share, rest, first, first * (rest - share))


def _probit(eta: Vector) -> Bend:
    density = np.exp(-0.5 * eta * eta) / np.sqrt(2 * np.pi)
    return Bend(ndtr(eta), ndtr(-eta), density, -eta * density)


def _cloglog(eta: Vector) -> Bend:
    near = np.minimum(eta, _FAR)
    rate = np.exp(near)
    rest = np.exp(-rate)
    first = np.exp(near - rate)
    return Bend(-np.expm1(-rate), rest, first, first * (1 - rate))


def _from_cloglog(share: float) -> float:
    return float(np.log(-np.log1p(-share)))


LINKS = {
    "logit": LinkFunction("logit", _logit, logit, 15.0),
    "probit": LinkFunction("probit", _probit, ndtri, 6.0),
    "cloglog": LinkFunction("cloglog", _cloglog, _from_cloglog, 15.0),
}
"""The links for two answers, by name."""

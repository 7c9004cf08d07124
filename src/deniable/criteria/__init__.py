"""Definitions of privacy: each criterion yields a parity γ, and judges any channel with a verdict and its witness.

| demand          | what it forbids                                                        | holds exactly when       |
| --------------- | ---------------------------------------------------------------------- | ------------------------ |
| `Epsilon`       | a response more than e^ε times as likely from one answer as another    | parity ≤ e^ε             |
| `BayesFactor`   | odds multiplied by more than a factor                                  | parity ≤ the factor      |
| `BetaFactor`    | an event more than β times as probable as before, or less than 1/β     | parity ≤ β               |
| `RhoToRho`      | an event below ρ1 that rises above ρ2, and the reverse                 | parity ≤ B(ρ1, ρ2)       |
| `PosteriorCap`  | an event of some prior probability that rises above a cap              | parity ≤ ratio of odds   |
| `Boundaries`    | a posterior outside (h_l, h_u), any two boundaries                     | parity ≤ B(h)            |
| `KnownPrior`    | a posterior above a cap, for one known prior                           | the channel keeps it     |
| `Policy`        | odds between certain pairs, or of properties, multiplied by > e^ε      | the channel keeps it     |
| `Relaxed`       | P(S | x) > e^ε·P(S | x′) + δ                                           | δ(ε) ≤ δ                 |
"""

from __future__ import annotations

from deniable.criteria.base import (
    Bounds,
    Breach,
    ByResponse,
    Criterion,
    Labelled,
    Strict,
    Verdict,
)
from deniable.criteria.belief import (
    Belief,
    BeliefRange,
    bayes_error,
    least_bayes_error,
    posterior,
    posterior_range,
)
from deniable.criteria.boundaries import Boundaries
from deniable.criteria.reading import CRITERIA, read_criterion
from deniable.criteria.strict import (
    BayesFactor,
    BetaFactor,
    Epsilon,
    KnownPrior,
    Policy,
    PosteriorCap,
    Relaxed,
    RhoToRho,
    delta_curve,
    posterior_bounds,
)

__all__ = [
    "CRITERIA",
    "BayesFactor",
    "Belief",
    "BeliefRange",
    "BetaFactor",
    "Boundaries",
    "Bounds",
    "Breach",
    "ByResponse",
    "Criterion",
    "Epsilon",
    "KnownPrior",
    "Labelled",
    "Policy",
    "PosteriorCap",
    "Relaxed",
    "RhoToRho",
    "Strict",
    "Verdict",
    "bayes_error",
    "delta_curve",
    "least_bayes_error",
    "posterior",
    "posterior_bounds",
    "posterior_range",
    "read_criterion",
]

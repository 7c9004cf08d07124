"""From a tally to an estimate."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from deniable import wire
from deniable.design import Design
from deniable.errors import ImplausibleResponses, InvalidRequest, NotEstimable, UnreadableFile
from deniable.estimate.covariance import Matrix, Vector, vector
from deniable.estimate.estimate import Estimate
from deniable.estimate.interval import Basis
from deniable.estimate.likelihood import Convergence, most_likely
from deniable.estimate.linear import Linear, left_inverse
from deniable.estimate.plausible import implausible
from deniable.estimate.sets import customary
from deniable.tally import Tally

METHODS = ("inversion", "likelihood", "customary")


def estimate(
    tally: Tally,
    *,
    method: str = "inversion",
    population: int | None = None,
    guess: Mapping[str, float] | Sequence[float] | None = None,
    inverse: Sequence[Sequence[float]] | Matrix | None = None,
) -> Estimate:
    """Estimate the share of each category from a tally.

    Args:
        tally: the counts.
        method: "inversion" for the linear unbiased estimate, "likelihood" for the most likely shares in the simplex,
            "customary" for the unbiased estimate that is usual with RAPPOR, whose variance is larger.
        population: how many people there are altogether: the number of respondents for a census, more for a sample
            without replacement, nothing for independent respondents.
        guess: shares at which a design with more responses than answers is inverted with the smallest variance.
        inverse: a left inverse of your own, answers × responses.

    Raises:
        NotEstimable: too few responses, or a channel that cannot tell answers apart.
        InvalidRequest: a method, population or guess that does not fit.

    Example:
        >>> from deniable.design import warner
        >>> design = warner(p="3/4")
        >>> round(estimate(Tally(design, [40, 60])).params["yes"], 3)
        0.7
    """
    made = fitted(tally, method=method, population=population, guess=guess, inverse=inverse)
    for doubt in implausible(made.design, made.basis):
        warnings.warn(doubt, ImplausibleResponses, stacklevel=2)
    return made


def fitted(
    tally: Tally,
    *,
    method: str = "inversion",
    population: int | None = None,
    guess: Mapping[str, float] | Sequence[float] | None = None,
    inverse: Sequence[Sequence[float]] | Matrix | None = None,
) -> Estimate:
    """Estimate as `estimate` does, and keep doubts about the responses in the estimate's `warnings` alone."""
    if method not in METHODS:
        raise InvalidRequest(f"the method is {method!r:.40}; expected one of {', '.join(METHODS)}.")
    n = tally.respondents
    f = sampled_fraction(n, population)
    if n - f <= 0:
        raise NotEstimable(f"there are {n} responses; expected at least 2, to say how sure an estimate is.")
    at = None if guess is None else read_shares(tally.design, guess, name="guess")
    linear = _linear(tally.design, method, at, inverse)
    _check_possible(tally, linear)
    observed = tally.counts / n
    unbiased = linear.shares(observed)
    covariance = linear.covariance(observed, unbiased, f, n - f)
    basis = Basis(unbiased, covariance, unbiased, vector(tally.counts), tally.design.channel, linear, n, f)
    doubts = implausible(tally.design, basis)
    convergence = None
    if method == "likelihood":
        basis, convergence = _likelihood(basis)
        if not convergence.converged:
            doubts += (f"the likelihood may still gain {convergence.gap:.2g} after {convergence.steps:,} steps.",)
    return Estimate(
        tally,
        method,
        basis.center,
        basis,
        population=population,
        guess=at,
        inverse=None if inverse is None else vector(inverse),
        convergence=convergence,
        warnings=doubts,
        bounded=method == "likelihood",
    )


def covariance(
    design: Design,
    shares: Mapping[str, float] | Sequence[float],
    respondents: int,
    *,
    population: int | None = None,
    guess: Mapping[str, float] | Sequence[float] | None = None,
    inverse: Sequence[Sequence[float]] | Matrix | None = None,
    method: str = "inversion",
) -> Matrix:
    """Return the covariance that the unbiased estimate will have if these are the true shares.

    Implements: F6 under its three models, told apart by `population` as in `estimate`; `method` is "inversion" or
    "customary".
    """
    at = None if guess is None else read_shares(design, guess, name="guess")
    linear = _linear(design, method, at, inverse)
    true = read_shares(design, shares)
    f = sampled_fraction(respondents, population)
    return linear.covariance(linear.expected(true), true, f, respondents).matrix()


def _linear(
    design: Design, method: str, guess: Vector | None, inverse: Sequence[Sequence[float]] | Matrix | None
) -> Linear:
    given = None if inverse is None else _floats(inverse, "left inverse")
    if method != "customary":
        return left_inverse(design.channel, guess=guess, inverse=given)
    if guess is not None or given is not None:
        raise InvalidRequest("the customary estimate is what it is; expected no guess and no inverse with it.")
    return customary(design.channel)


def sampled_fraction(respondents: int, population: int | None) -> float:
    """Return f of F6: 1 for independent respondents, (N − n)/(N − 1) for n of N people.

    Raises:
        InvalidRequest: a population smaller than the respondents, or none at all.
    """
    if isinstance(respondents, bool) or not isinstance(respondents, int | np.integer):
        raise InvalidRequest(f"the number of respondents is {respondents!r:.40}; expected a whole number.")
    if respondents < 1:
        raise NotEstimable("there are no responses; expected at least 2.")
    if population is None:
        return 1.0
    if isinstance(population, bool) or not isinstance(population, int) or population < respondents:
        raise InvalidRequest(
            f"the population is {population!r:.40}; expected a whole number of at least the {respondents} respondents."
        )
    return (population - respondents) / max(population - 1, 1)


def read_shares(design: Design, given: Mapping[str, float] | Sequence[float], *, name: str = "shares") -> Vector:
    """Read shares by name or in order; they must be 0 or more and sum to 1.

    Raises:
        InvalidRequest: anything else.
    """
    if isinstance(given, Mapping):
        values = np.zeros(len(design.categories))
        values[[design.category_number(category) for category in given]] = _floats(list(given.values()), name)
    else:
        values = _floats(given, name)
    size = len(design.categories)
    fits = values.shape == (size,) and bool(((values >= 0) & (values < 2)).all())
    if not fits or not math.isclose(values.sum(), 1, abs_tol=1e-6):
        raise InvalidRequest(f"the {name} do not fit; expected {size} shares of 0 or more that sum to 1.")
    return vector(values / values.sum())


def _floats(given: Any, name: str) -> Vector:
    try:
        return np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise InvalidRequest(f"not everything in the {name} is a number; expected numbers alone.") from None


def remake(design: Design, body: Mapping[str, Any]) -> Estimate:
    """Make an estimate again from what its JSON holds."""
    counts = Tally.from_body(body, design)
    method, *steps = wire.field(body, "method", str).split(", ")
    made = fitted(  # doubts were told when it was made
        counts,
        method=method,
        population=body.get("population"),
        guess=body.get("guess"),
        inverse=body.get("inverse"),
    )
    for step in steps:
        if step not in ("projection", "normalization"):
            raise UnreadableFile(f"the method has a step {step!r:.40}; expected projection or normalization.")
        made = made.projected() if step == "projection" else made.normalized()
    return made


def _likelihood(basis: Basis) -> tuple[Basis, Convergence]:
    """Return a basis about the most likely shares.

    The covariance is that of the locally best unbiased estimate there: near the border of the simplex the likelihood's
    own curvature would claim too much.
    """
    shares, convergence = most_likely(basis.channel, basis.linear, basis.counts)
    best = left_inverse(basis.channel, guess=shares)
    covariance = best.covariance(best.expected(shares), shares, basis.f, basis.respondents)
    return replace(basis, center=shares, covariance=covariance), convergence


def _check_possible(tally: Tally, linear: Linear) -> None:
    size = len(tally.design.categories)
    never = linear.expected(np.full(size, 1 / size)) <= 0
    if (tally.counts[never] > 0).any():
        number = int(np.flatnonzero(never & (tally.counts > 0))[0])
        raise NotEstimable(
            f"{tally.design.symbols[number]!r:.40} was counted, but this design never sends it.",
            "The responses belong to another design, or were coded in another order.",
        )

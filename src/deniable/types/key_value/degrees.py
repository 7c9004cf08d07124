"""Degrees of items and of people: how each is distributed, and both together along an edge."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import InvalidRequest
from deniable.estimates.covariances import Matrix, Vector
from deniable.estimates.results import Caution, Result
from deniable.estimates.simplex import projection
from deniable.types.key_value.items import (
    CONTRADICTION,
    Sizes,
    check_number,
    read_sizes,
)

if TYPE_CHECKING:
    from deniable.types.key_value.estimate import ItemEstimate

_MIXTURE_STEPS = (
    2000  # of expectation and maximization, far more than it takes to come to rest
)


@dataclass(frozen=True, eq=False)
class DegreeDistribution:
    """The distribution of the degrees of the items, or of the people.

    Attributes:
        degrees: numbers of edges, in ascending order.
        shares: the most likely share of items with each; of people, the shares in the simplex nearest to the estimates.
        mean: the average degree, from the estimates themselves.
        deviation: the standard deviation of the degrees, what is noise subtracted; 0 where noise explains all of it.
    """

    degrees: Vector
    shares: Vector
    mean: float
    deviation: float

    def at_least(self, degree: float) -> float:
        """Return the share of vertices with so many edges or more."""
        return float(self.shares[self.degrees >= degree].sum())

    @property
    def at_ends(self) -> Vector:
        """The share of edges whose end has each degree; 0 where there are no edges."""
        ends = self.degrees * self.shares
        return np.asarray(ends / (ends.sum() or 1.0), np.float64)


def degree_distribution(estimate: ItemEstimate, points: int) -> DegreeDistribution:
    """Return the most likely distribution of degrees, given that each estimate is normal around its own degree.

    Implements: the maximum likelihood estimate of a mixing distribution on a grid [Lai78], by expectation and
    maximization. A histogram of the estimates themselves would show their noise.

    Args:
        estimate: what is known.
        points: how many numbers of edges to tell apart.

    Raises:
        InvalidRequest: fewer than two points.
        NotEstimable: the design does not tell degrees.
    """
    check_number("points", points, least=2)
    values, errors = _noisy_degrees(estimate)
    top = min(
        float(estimate.respondents), max(float((values + 2 * errors).max()), 1.0)
    )
    grid = np.linspace(0.0, top, int(points))
    likelihood = _likelihood(values, errors, grid)
    shares = np.full(len(grid), 1 / len(grid))
    for _ in range(_MIXTURE_STEPS):
        new = _posterior(likelihood, shares).mean(axis=0)
        moved = np.abs(new - shares).max()
        shares = new
        if moved < 1e-9:
            break
    spread = max(float(values.var() - (errors**2).mean()), 0.0)
    return DegreeDistribution(grid, shares, float(values.mean()), spread**0.5)


def _noisy_degrees(estimate: ItemEstimate) -> tuple[Vector, Vector]:
    return estimate.degree, np.maximum(estimate.errors("degree"), 1e-9)


def _likelihood(values: Vector, errors: Vector, grid: Vector) -> Matrix:
    heights = -0.5 * ((values[:, None] - grid[None, :]) / errors[:, None]) ** 2
    return np.asarray(
        np.exp(heights - heights.max(axis=1, keepdims=True)), np.float64
    )


def _posterior(likelihood: Matrix, shares: Vector) -> Matrix:
    posterior = likelihood * shares
    return np.asarray(posterior / posterior.sum(axis=1, keepdims=True), np.float64)


@dataclass(frozen=True, eq=False)
class JointDegrees:
    """The degree distributions of both sides of a bipartite graph, from two questions.

    Only the two marginal distributions are identified. Which people have which items, and so the joint distribution of
    the two degrees along an edge, is an assumption: see `along_edges`.

    Attributes:
        people: the distribution of the number of items of a person.
        items: the distribution of the number of people of an item.
        estimate: the estimate of the items, with what padding cut off put back.
        epsilon: what both questions together reveal at most of a person.
        warnings: of the estimate; and whether the two questions contradict each other.
    """

    people: DegreeDistribution
    items: DegreeDistribution
    estimate: ItemEstimate = field(repr=False)
    epsilon: float
    warnings: tuple[Caution, ...]

    def along_edges(self) -> Matrix:
        """Return the share of edges by the degree of the person (rows) and of the item (columns), if independent.

        The share is s·p(s)/E[s] · k·q(k)/E[k], the configuration model's. Whether people with many items have the
        frequent ones is not identified from the two questions.
        """
        return np.outer(self.people.at_ends, self.items.at_ends)

    def item_posterior(self) -> Matrix:
        """Return the probability of each degree (columns) of each item (rows), given its estimate.

        Implements: empirical Bayes, with the degree distribution of the items as the prior. The average over the items
        is this distribution.
        """
        likelihood = _likelihood(*_noisy_degrees(self.estimate), self.items.degrees)
        return _posterior(likelihood, self.items.shares)


def joint_degrees(estimate: ItemEstimate, sizes: Sizes, points: int) -> JointDegrees:
    """Return the degree distributions of people and of items.

    Args:
        estimate: the estimate of the items, with what padding cut off put back.
        sizes: the share of people with each number of items; or the estimate of a question with these numbers as its
            categories.
        points: how many degrees of items to tell apart.

    Raises:
        InvalidRequest: the shares do not fit, or some number is larger than the number of items.
        NotEstimable: the design does not tell degrees.
    """
    degrees, shares, covariance = read_sizes(sizes)
    order = np.argsort(degrees)
    degrees, shares = degrees[order], shares[order]
    n_items = len(estimate.design.items)
    if degrees[-1] > n_items:
        raise InvalidRequest(
            f"the largest number of items of a person is {degrees[-1]:.0f}; expected at most {n_items}, the items "
            "of the design.",
        )
    epsilon, variance = float(estimate.design.epsilon), 0.0
    if isinstance(sizes, Result) and covariance is not None:
        epsilon += sizes.summary().epsilon
        covariance = covariance[np.ix_(order, order)]
        variance = float(degrees @ covariance @ degrees)
    mean = float(degrees @ shares)
    spread = max(float(degrees**2 @ shares) - mean**2, 0.0)
    people = DegreeDistribution(degrees, projection(shares), mean, spread**0.5)
    items = degree_distribution(estimate, points)
    edges = estimate.edges().times(1 / estimate.respondents)
    error = (edges.error**2 + variance) ** 0.5
    cautions = [*estimate.warnings]
    if abs(edges.value - mean) > CONTRADICTION * error:
        text = (
            f"people say that they have {mean:.3g} items on average, and the items have {edges.value:.3g} ± "
            f"{error:.2g} people for each respondent: the two questions are about other people, or one is wrong."
        )
        cautions.append(Caution("sizes-differ", text))
    return JointDegrees(people, items, estimate, epsilon, tuple(cautions))

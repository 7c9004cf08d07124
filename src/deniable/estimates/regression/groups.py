"""Random intercepts: rows of one group share a draw from a normal law, which is integrated away."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from deniable.estimates.covariances import Matrix, Vector
from deniable.estimates.regression.laws import Derivatives
from deniable.estimates.regression.models import Likelihood, RowLikelihood, Slope

NODES = 25
"""Points at which the law of a group is summed. One (Laplace's) is not enough for randomized responses: the noise makes
the likelihood of a group flat and skew."""


class _Points(NamedTuple):
    """At each node: derivatives of rows, gradients of groups, and how likely the node is for each group."""

    rows: list[Derivatives]
    gradients: Matrix
    likely: Matrix
    log: Vector


@dataclass(frozen=True, eq=False)
class GroupLikelihood(Likelihood):
    """Rows whose first predictor is raised by σ·b, with one standard normal b for all rows of a group.

    Implements: ∫ Π_i q(z_i | η_i + σ·b)·φ(b) db by Gauss–Hermite quadrature, with nodes that
    are moved to where each group's b lies, given the data, and drawn together as far as it is known [PB95].

    Attributes:
        rows: the likelihood without the draws; rows of a group stand together.
        starts: where each group starts.
        centers: where the nodes of each group are centred.
        spreads: by how much they are drawn together.
        nodes: how many there are.
    """

    rows: RowLikelihood
    starts: NDArray[np.int64]
    centers: Vector
    spreads: Vector
    nodes: int = NODES

    @classmethod
    def of(cls, rows: RowLikelihood, starts: NDArray[np.int64], nodes: int = NODES) -> GroupLikelihood:
        """Return the likelihood with nodes where b lies before anything is known of a group."""
        return cls(rows, starts, np.zeros(len(starts)), np.ones(len(starts)), nodes)

    @cached_property
    def _grid(self) -> tuple[Matrix, Matrix]:
        """The nodes of each group, and the logarithms of their weights."""
        t, w = np.polynomial.hermite.hermgauss(self.nodes)
        width = np.sqrt(2) * self.spreads[:, None]
        b = self.centers[:, None] + width * t
        return b, np.log(w) + t**2 + np.log(width) - b**2 / 2 - np.log(2 * np.pi) / 2

    @cached_property
    def _group_of(self) -> NDArray[np.int64]:
        ends = np.diff([*self.starts.tolist(), len(self.rows.matrices[0])])
        return np.repeat(np.arange(len(self.starts)), ends)

    def value(self, theta: Vector) -> float:
        b, weights = self._grid
        eta, logs = self.rows.eta(theta[:-1]), np.empty_like(b)
        for node in range(self.nodes):
            rows = self.rows.law.derivatives(self._raised(eta, theta[-1] * b[:, node])).log
            logs[:, node] = np.add.reduceat(rows, self.starts)
        return float(logsumexp(logs + weights, axis=1).sum())

    def slope(self, theta: Vector) -> Slope:
        points = self._points(theta)
        b, _ = self._grid
        mean = np.einsum("gk,gkp->gp", points.likely, points.gradients)
        hessian = np.einsum("gk,gkp,gkq->pq", points.likely, points.gradients, points.gradients) - mean.T @ mean
        for node, rows in enumerate(points.rows):
            likely, at = points.likely[self._group_of, node], b[self._group_of, node]
            second = rows.second * likely[:, None, None]
            hessian[:-1, :-1] += self.rows.crossed(second)
            cross = self.rows.spread(second[:, 0, :] * at[:, None])
            hessian[:-1, -1] += cross
            hessian[-1, :-1] += cross
            hessian[-1, -1] += second[:, 0, 0] @ at**2
        return Slope(float(points.log.sum()), mean.sum(axis=0), -hessian)

    def scores(self, theta: Vector) -> Matrix:
        points = self._points(theta)
        return np.asarray(np.einsum("gk,gkp->gp", points.likely, points.gradients), np.float64)

    def adapted(self, theta: Vector) -> GroupLikelihood:
        """Return the same likelihood with its nodes moved to where each group's b lies given the data."""
        (b, _), likely = self._grid, self._points(theta).likely
        centers = (likely * b).sum(axis=1)
        spreads = np.sqrt(np.maximum((likely * (b - centers[:, None]) ** 2).sum(axis=1), 1e-4))
        return replace(self, centers=centers, spreads=spreads)

    def _raised(self, eta: Matrix, by: Vector) -> Matrix:
        raised = eta.copy()
        raised[:, 0] += by[self._group_of]
        return raised

    def _points(self, theta: Vector) -> _Points:
        b, weights = self._grid
        eta, law = self.rows.eta(theta[:-1]), self.rows.law
        rows = [law.derivatives(self._raised(eta, theta[-1] * b[:, node])) for node in range(self.nodes)]
        gradients = np.empty((len(self.starts), self.nodes, len(theta)))
        logs = np.empty_like(b)
        for node, (log, first, _) in enumerate(rows):
            by_row = np.concatenate(
                [
                    *(x * first[:, at : at + 1] for at, x in enumerate(self.rows.matrices)),
                    (first[:, 0] * b[self._group_of, node])[:, None],
                ],
                axis=1,
            )
            gradients[:, node] = np.add.reduceat(by_row, self.starts, axis=0)
            logs[:, node] = np.add.reduceat(log, self.starts)
        whole = logsumexp(logs + weights, axis=1)
        return _Points(rows, gradients, np.exp(logs + weights - whole[:, None]), whole)

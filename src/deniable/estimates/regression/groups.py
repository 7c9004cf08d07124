"""Random intercepts: rows of one group share draws from a normal law, which are integrated away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.regression.evidence import Integers
from deniable.estimates.regression.likelihoods import Derivatives, normalize_logs
from deniable.estimates.regression.models import (
    RowLikelihood,
    SampledLikelihood,
    Slope,
)

NODES = (25, 15, 9, 7, 5)
"""Points on each axis at which the law of a group is summed, by how many deviations it has: at most 3,125 together. One
(Laplace's) is not enough for randomized responses: the noise makes the likelihood of a group flat and skew."""

_UNLIKELY = 1e-15  # of a group's likelihood: nodes that are less to every group change no digit
_MODE_STEPS = 30
_HALVINGS = 20
_CLOSE = 1e-8  # the log-likelihood that a group's mode could still gain
_MIN_CURVE = 0.25  # at a mode, where that of the law before anything is known is 1
_HELD = (
    0.01  # of the spread by curvature, that keeps the one by moments from collapsing
)


class _Node(NamedTuple):
    """A node: where it lies for each group, the weighted derivatives of rows there, and the gradients of groups."""

    number: int
    b: Matrix
    rows: Derivatives
    gradients: Matrix


@dataclass(frozen=True, eq=False)
class GroupLikelihood(SampledLikelihood):
    """Rows whose predictors are raised by σ_j·b_j, with independent standard normal b for all rows of a group.

    Implements: ∫ Π_i q(z_i | η_i + σ∘b)^w_i·φ(b) db by a product of Gauss–Hermite quadratures, with nodes that are
    moved to where each group's b lies, given the data, and drawn together as far as it is known [PB95]. With weights,
    the pseudo-likelihood of [RS06]: those of a group's rows are scaled to sum to its rows, and the group counts with
    their mean.

    Attributes:
        rows: the likelihood without the draws, with weights that are scaled.
        groups: the number of each row's group.
        times: how much each group counts.
        centers: where the nodes of each group are centred.
        spreads: by what they are drawn together and turned, a triangle for each group.
        nodes: how many there are on each axis.
    """

    rows: RowLikelihood
    groups: Integers
    times: Vector
    centers: Matrix
    spreads: Matrix
    nodes: int

    @classmethod
    def of(
        cls, rows: RowLikelihood, groups: Integers, nodes: int
    ) -> GroupLikelihood:
        """Return the likelihood with nodes where b lies before anything is known of a group."""
        count, axes = int(groups.max()) + 1, len(rows.law.raised)
        start = cls(
            rows,
            groups,
            np.ones(count),
            np.zeros((count, axes)),
            np.broadcast_to(np.eye(axes), (count, axes, axes)),
            nodes,
        )
        return start if rows.weights is None else start.reweighted(rows.weights)

    def reweighted(self, weights: Vector) -> GroupLikelihood:
        """Return the same likelihood with other weights of rows; groups in which all are 0 do not count."""
        count = len(self.times)
        sums = np.bincount(self.groups, weights, count)
        sizes = np.bincount(self.groups, weights > 0, count)
        times = sums / np.maximum(sizes, 1)
        scaled = weights / np.where(times > 0, times, 1.0)[self.groups]
        return replace(self, rows=replace(self.rows, weights=scaled), times=times)

    @property
    def unit(self) -> float:
        return float(self.times.mean())

    @property
    def first_rows(self) -> Integers:
        return self._order[self._starts]

    @cached_property
    def _order(self) -> Integers:
        return np.argsort(self.groups, kind="stable")

    @cached_property
    def _starts(self) -> Integers:
        return np.searchsorted(self.groups[self._order], np.arange(len(self.times)))

    def _sum_by_group(self, values: Matrix) -> Matrix:
        """Return the sums over the rows of each group."""
        return vector(np.add.reduceat(values[self._order], self._starts, axis=0))

    @cached_property
    def _grid(self) -> tuple[Matrix, Vector]:
        """The nodes before they are moved, a row each, and the logarithms of their weights against even ones."""
        t, w = np.polynomial.hermite.hermgauss(self.nodes)
        axes = self.centers.shape[1]
        points, logs = (
            vector(list(product(values, repeat=axes)))
            for values in (t, np.log(w) + t**2)
        )
        return points, logs.sum(axis=1)

    def _node_positions(self, node: int) -> tuple[Matrix, Vector]:
        """Return the position of a node for each group, and the logarithm of its weight there."""
        points, logs = self._grid
        axes = self.centers.shape[1]
        b = self.centers + np.sqrt(2) * (self.spreads @ points[node])
        width = np.log(np.abs(np.diagonal(self.spreads, axis1=1, axis2=2))).sum(
            axis=1
        )
        return b, logs[node] + width - (b**2).sum(axis=1) / 2 - axes * np.log(
            np.pi
        ) / 2

    def _shift_intercept(self, eta: Matrix, by: Matrix) -> Matrix:
        raised = eta.copy()
        raised[:, list(self.rows.law.raised)] += by[self.groups]
        return raised

    def _parts(self, theta: Vector) -> tuple[Matrix, Vector]:
        """Return the predictors of rows in the middle of their groups, and the deviations."""
        size = self.rows.size
        return self.rows.eta(theta[:size]), theta[size:]

    def _logs(self, theta: Vector) -> Matrix:
        """Return the logarithm of each group's likelihood at each node, times the node's weight."""
        eta, sigma = self._parts(theta)
        logs = np.empty((len(self.times), len(self._grid[1])))
        for node in range(logs.shape[1]):
            b, weight = self._node_positions(node)
            logs[:, node] = (
                self._sum_by_group(
                    self.rows.logs(self._shift_intercept(eta, sigma * b))
                )
                + weight
            )
        return logs

    def _points(self, theta: Vector, likely: Matrix) -> Iterator[_Node]:
        eta, sigma = self._parts(theta)
        raised = list(self.rows.law.raised)
        for node in np.flatnonzero(likely.max(axis=0) > _UNLIKELY).tolist():
            b, _ = self._node_positions(node)
            rows = self.rows.derivatives(self._shift_intercept(eta, sigma * b))
            by_row = np.concatenate(
                [
                    self.rows.by_row(rows.first),
                    rows.first[:, raised] * b[self.groups],
                ],
                axis=1,
            )
            yield _Node(node, b, rows, self._sum_by_group(by_row))

    def value(self, theta: Vector) -> float:
        return float(self.times @ logsumexp(self._logs(theta), axis=1))

    def slope(self, theta: Vector) -> Slope:
        log, likely = normalize_logs(self._logs(theta))
        size, raised = self.rows.size, list(self.rows.law.raised)
        by_predictor = (len(self.groups), self.rows.law.predictors)
        mean = np.zeros((len(log), len(theta)))
        hessian = np.zeros((len(theta), len(theta)))
        plain = np.zeros((*by_predictor, self.rows.law.predictors))
        crossed = np.zeros((*by_predictor, len(raised)))
        for node, b, rows, gradients in self._points(theta, likely):
            mean += likely[:, node, None] * gradients
            weights = self.times * likely[:, node]
            hessian += (weights[:, None] * gradients).T @ gradients
            row_b = b[self.groups]
            second = rows.second * weights[self.groups][:, None, None]
            plain += second
            raises = second[:, :, raised] * row_b[:, None, :]
            crossed += raises
            hessian[size:, size:] += np.einsum(
                "ijk,ij->jk", raises[:, raised], row_b
            )
        hessian -= (self.times[:, None] * mean).T @ mean
        hessian[:size, :size] += self.rows.cross_products(plain)
        for axis in range(len(raised)):
            cross = self.rows.spread(crossed[:, :, axis])
            hessian[:size, size + axis] += cross
            hessian[size + axis, :size] += cross
        return Slope(float(self.times @ log), self.times @ mean, -hessian)

    def scores(self, theta: Vector) -> Matrix:
        likely = normalize_logs(self._logs(theta))[1]
        out = np.zeros((len(likely), len(theta)))
        for node, _, _, gradients in self._points(theta, likely):
            out += likely[:, node, None] * gradients
        return out * self.times[:, None]

    def adapted(self, theta: Vector) -> GroupLikelihood:
        """Return the same likelihood with its nodes moved to where each group's b lies given the data.

        Why: nodes that lie where nothing is known miss a group that tells much of its b. So they are brought to its
        mode and curvature first, and from there to its mean and covariance: the law of b is skew.
        """
        near = self._at_modes(theta)
        likely = normalize_logs(near._logs(theta))[1]
        mean = np.zeros_like(near.centers)
        square = _HELD * near.spreads @ near.spreads.transpose(0, 2, 1)
        for node in range(likely.shape[1]):
            away = near._node_positions(node)[0] - near.centers
            mean += likely[:, node, None] * away
            square += (
                likely[:, node, None, None] * away[:, :, None] * away[:, None, :]
            )
        covariances = square - mean[:, :, None] * mean[:, None, :]
        return replace(
            near,
            centers=near.centers + mean,
            spreads=vector(np.linalg.cholesky(covariances)),
        )

    def _at_modes(self, theta: Vector) -> GroupLikelihood:
        """Climb to where each group's b is most likely, all groups at once; a step that falls is halved."""
        (eta, sigma), b = self._parts(theta), self.centers
        raised = list(self.rows.law.raised)
        eye = np.eye(len(raised))

        def heights(b: Matrix) -> Vector:
            logs = self._sum_by_group(
                self.rows.logs(self._shift_intercept(eta, sigma * b))
            )
            return vector(logs - (b**2).sum(axis=1) / 2)

        height = heights(b)
        for _ in range(_MODE_STEPS):
            rows = self.rows.derivatives(self._shift_intercept(eta, sigma * b))
            gradient = self._sum_by_group(rows.first[:, raised]) * sigma - b
            second = self._sum_by_group(rows.second[:, raised][:, :, raised])
            curves, axes = np.linalg.eigh(eye - second * np.outer(sigma, sigma))
            steep = np.maximum(np.abs(curves), _MIN_CURVE)
            step = np.einsum(
                "gij,gj,gkj,gk->gi", axes, 1 / steep, axes, gradient, optimize=True
            )
            if np.einsum("gi,gi->g", step, gradient).max() < _CLOSE:
                break
            for _ in range(_HALVINGS):
                higher = heights(b + step)
                fell = ~(higher >= height - _CLOSE)
                if not fell.any():
                    break
                step[fell] /= 2
            b, height = b + step, higher
        covariances = (axes / steep[:, None, :]) @ axes.transpose(0, 2, 1)
        return replace(
            self, centers=b, spreads=vector(np.linalg.cholesky(covariances))
        )

    def mirrored(self, signs: Vector) -> GroupLikelihood:
        """Return the likelihood that is the same where some deviations have the other sign."""
        return replace(
            self, centers=self.centers * signs, spreads=self.spreads * signs[:, None]
        )

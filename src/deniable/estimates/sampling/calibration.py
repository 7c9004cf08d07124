"""Weights that reproduce totals which are known from elsewhere: post-stratification, linear calibration, raking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.errors import InvalidRequest, NotEstimable, quoted
from deniable.estimates.covariances import Matrix, Vector, vector

METHODS = ("linear", "raking")
_MOST_STEPS, _NEAR = 100, 1e-11


@dataclass(frozen=True, eq=False)
class Calibration:
    """What is known of the population, and how weights are brought to it.

    Attributes:
        auxiliary: x of each person, a row each.
        totals: the sum of x over the population.
        method: "linear", or "raking", whose weights stay positive.
        names: what the columns are called.
    """

    auxiliary: Matrix
    totals: Vector
    method: str
    names: tuple[str, ...]

    def weights(self, before: Vector) -> Vector:
        """Return calibrated weights: Σ w*·x is the total that is known.

        Implements: [DS92]: w* = w·(1 + x′l), or w* = w·exp(x′l), with l such that the totals are met.

        Raises:
            NotEstimable: no weights reach the totals.
        """
        found = before * (
            self._linear(before) if self.method == "linear" else self._raked(before)
        )
        missed = np.abs(found @ self.auxiliary - self.totals) > 1e-6 * np.maximum(
            np.abs(self.totals), 1.0
        )
        if missed.any() or not np.isfinite(found).all():
            name = self.names[int(missed.argmax())]
            raise NotEstimable(
                f"no weights reach the known totals; that of {quoted(name)} is missed.",
                "The totals contradict each other, or a group has nobody in the sample: join groups.",
            )
        return vector(found)

    def _linear(self, before: Vector) -> Vector:
        x = self.auxiliary
        return 1 + x @ self._step((x.T * before) @ x, self.totals - before @ x)

    def _raked(self, before: Vector) -> Vector:
        """Find exp(x′l) by Newton's steps on a convex function, halved until it falls."""
        x, totals = self.auxiliary, self.totals
        tilt = np.zeros(len(totals))

        def height(at: Vector) -> float:
            with np.errstate(over="ignore"):
                return float(before @ np.exp(x @ at) - totals @ at)

        for _ in range(_MOST_STEPS):
            weights = before * np.exp(x @ tilt)
            left = totals - weights @ x
            if (np.abs(left) <= _NEAR * np.maximum(np.abs(totals), 1.0)).all():
                break
            step, now = self._step((x.T * weights) @ x, left), height(tilt)
            while (
                not height(tilt + step) <= now + 1e-12 * abs(now)
                and np.abs(step).max() > 1e-15
            ):
                step = step / 2
            tilt = tilt + step
        return vector(np.exp(x @ tilt))

    @staticmethod
    def _step(squares: Matrix, left: Vector) -> Vector:
        # Margins that each hold everybody repeat each other: the shortest solution is as good as any.
        return vector(np.linalg.lstsq(squares, left, rcond=1e-12)[0])

    def residuals(self, values: Matrix, before: Vector, after: Vector) -> Matrix:
        """Return what is left of values after their regression on x: what calibrated weights cannot know.

        Why: what x explains does not vary, because its total is known. The device's variance stays in what is left.
        """
        x, weights = self.auxiliary, before if self.method == "linear" else after
        slopes = np.linalg.lstsq(
            (x.T * weights) @ x, (x.T * weights) @ values, rcond=1e-12
        )[0]
        return vector(values - x @ slopes)


def indicators(
    codes: np.ndarray[tuple[int, ...], np.dtype[np.intp]], size: int
) -> Matrix:
    """Return a column of 0 and 1 for each of so many groups."""
    return vector(codes[:, None] == np.arange(size))


def check_method(method: str) -> None:
    """Refuse a way to calibrate that does not exist.

    Raises:
        InvalidRequest: another one.
    """
    if method not in METHODS:
        raise InvalidRequest(
            f"the calibration is {quoted(method)}; expected one of {', '.join(METHODS)}."
        )

"""Covariance matrices, written out or as a diagonal plus a few columns, so that a million categories fit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]


class Covariance(ABC):
    """What is asked of a covariance matrix."""

    @property
    @abstractmethod
    def variances(self) -> Vector:
        """The diagonal."""

    @abstractmethod
    def between(self, one: Vector, two: Vector) -> float:
        """Return the covariance of two linear combinations."""

    @abstractmethod
    def matrix(self) -> Matrix:
        """Write the matrix out.

        Raises:
            InvalidRequest: too large.
        """


@dataclass(frozen=True, eq=False)
class Full(Covariance):
    """A covariance matrix that is written out."""

    entries: Matrix

    @property
    def variances(self) -> Vector:
        return np.diagonal(self.entries)

    def between(self, one: Vector, two: Vector) -> float:
        return float(one @ self.entries @ two)

    def matrix(self) -> Matrix:
        return self.entries.copy()


@dataclass(frozen=True, eq=False)
class LowRank(Covariance):
    """diag(diagonal) + columns · core · columnsᵀ."""

    diagonal: Vector
    columns: Matrix
    core: Matrix

    @property
    def variances(self) -> Vector:
        return vector(
            self.diagonal + ((self.columns @ self.core) * self.columns).sum(axis=1)
        )

    def between(self, one: Vector, two: Vector) -> float:
        return float(
            one @ (self.diagonal * two)
            + (one @ self.columns) @ self.core @ (self.columns.T @ two)
        )

    def matrix(self) -> Matrix:
        return np.diag(self.diagonal) + self.columns @ self.core @ self.columns.T


def vector(values: ArrayLike) -> Vector:
    """Return values as a vector of floats."""
    return np.asarray(values, np.float64)

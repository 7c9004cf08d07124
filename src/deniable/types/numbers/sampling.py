"""Rows of sampled people → mean, standard deviation and quantiles of their numbers."""

from deniable.types.numbers.estimate import estimate_sampled

__all__ = ["estimate_sampled"]

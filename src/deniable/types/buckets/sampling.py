"""Rows of sampled people → quantiles of their numbers."""

from deniable.types.buckets.estimate import estimate_sampled

__all__ = ["estimate_sampled"]

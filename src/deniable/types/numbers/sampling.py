"""Rows of sampled people → the mean of their numbers."""

from deniable.estimates.sampling import estimate as estimate_sampled

__all__ = ["estimate_sampled"]

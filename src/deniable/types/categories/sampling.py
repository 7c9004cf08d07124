"""Rows of sampled people → shares of categories."""

from deniable.estimates.sampling import estimate as estimate_sampled

__all__ = ["estimate_sampled"]

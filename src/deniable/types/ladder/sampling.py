"""Rows of sampled people who responded in stages → shares of categories."""

from deniable.estimates.sampling import estimate_stages as estimate_sampled

__all__ = ["estimate_sampled"]

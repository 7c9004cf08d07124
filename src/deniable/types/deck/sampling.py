"""Rows of sampled people to whom a deck was dealt → the share of members."""

from deniable.estimates.sampling import estimate_dealt as estimate_sampled

__all__ = ["estimate_sampled"]

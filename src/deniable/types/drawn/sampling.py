"""Rows of sampled people who answered a few attributes each → shares by attribute."""

from deniable.types.drawn.estimate import estimate_sampled

__all__ = ["estimate_sampled"]

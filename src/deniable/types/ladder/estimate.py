"""Counts by stage → shares of categories, from all stages together."""

from deniable.estimates.stages import combine as estimate
from deniable.estimates.stages import combine as fitted

__all__ = ["estimate", "fitted"]

"""Counts by stage → shares of categories, from all stages together."""

from deniable.estimates.stages import combine as estimate

__all__ = ["estimate"]

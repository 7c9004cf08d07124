"""Counts by symbol → shares of categories. `estimates` inverts, because other types estimate categories, too."""

from deniable.estimates import estimate
from deniable.estimates.shares import fitted

__all__ = ["estimate", "fitted"]

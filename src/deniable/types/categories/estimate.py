"""Counts by symbol → shares of categories. `estimates` inverts, because other types estimate categories, too."""

from deniable.estimates import estimate

__all__ = ["estimate"]

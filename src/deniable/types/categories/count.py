"""Responses → counts by symbol. `tallies` counts, because estimates of other types count categories, too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable.designs import Design
from deniable.tallies import Tally, tally

__all__ = ["TALLY", "count_labels", "tally"]

TALLY = Tally


def count_labels(design: Design, columns: Mapping[str, Any]) -> Tally:
    """Count a column of symbols in a file."""
    return tally(design, columns["response"], codes=False)

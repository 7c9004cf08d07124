"""Responses of all stages → counts by stage. `tallies.stages` counts, below the estimates that combine stages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable.order.ladders import Ladder
from deniable.tallies.stages import StageTallies
from deniable.tallies.stages import count_stages as tally

__all__ = ["TALLY", "count_labels", "tally"]

TALLY = StageTallies


def count_labels(ladder: Ladder, columns: Mapping[str, Any]) -> StageTallies:
    """Count the columns of symbols in a file, one for each stage."""
    return tally(ladder, [column.to_pylist() for column in columns.values()])

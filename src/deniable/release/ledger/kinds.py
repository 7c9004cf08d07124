"""Designs of every kind that a ledger keeps, read by the schema that they name."""

from __future__ import annotations

import json

from deniable.designs import Design
from deniable.records.strings.cohort import CohortDesign
from deniable.release.chain import Staged

__all__ = ["read_design"]


def read_design(text: str) -> Staged:
    """Read a design.

    Raises:
        UnreadableFile: truncated, edited, or of another version.
    """
    if str(json.loads(text).get("schema")).startswith("deniable/cohort-design/"):
        return CohortDesign.from_json(text)
    return Design.from_json(text)

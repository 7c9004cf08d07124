"""What the documents print, read from the data beside this file."""

from __future__ import annotations

import json
import math
from functools import cache
from importlib.resources import files
from typing import Any

from deniable.reproduce.values import Printed


@cache
def everything() -> dict[str, Printed]:
    """Return every printed value by its id, in the order of the documents."""
    entries = json.loads(files("deniable.reproduce").joinpath("printed.json").read_bytes())
    return {entry["id"]: _read(entry) for entry in entries}


def printed(id: str) -> Printed:
    """Return a printed value.

    Example:
        >>> printed("000-eq27").erratum
        '0.1'
    """
    return everything()[id]


def starting(prefix: str) -> list[Printed]:
    """Return the printed values whose id starts like this, such as the cells of a table.

    Example:
        >>> len(starting("004-table1-"))
        32
    """
    return [entry for id, entry in everything().items() if id.startswith(prefix)]


def _read(entry: dict[str, Any]) -> Printed:
    return Printed(
        id=entry["id"],
        place=entry["place"],
        topic=entry["topic"],
        inputs=entry["inputs"],
        printed=entry["printed"],
        right=math.inf if entry["recomputed"] == "inf" else entry["recomputed"],
        digits=entry.get("digits"),
        erratum=entry.get("erratum", ""),
    )

"""One-edge designs over many people: true edges → responses, or straight to a tally."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.chance import Source
from deniable.channel.coding import code_type
from deniable.engines.local.bulk import draw_all
from deniable.engines.local.edge_readers import read_edges
from deniable.engines.local.edges import COLUMNS
from deniable.errors import InvalidAnswer
from deniable.records.edges.designs import EdgeDesign
from deniable.records.edges.tallies import EdgeTally
from deniable.records.edges.tallies import tally as count

__all__ = ["collect", "respond"]


def respond(
    design: EdgeDesign,
    edges: Any,
    *,
    people: Any = None,
    columns: tuple[str, str, str] = COLUMNS,
    weight: str = "weight",
    source: Source | None = None,
    fast: bool | None = None,
) -> NDArray[Any]:
    """Draw the response of each of many people who have one edge each.

    Args:
        design: what to draw with.
        edges: who has an edge to what: a sparse matrix, a graph, or a table; see `read_edges`.
        people: all people there are, or how many.
        columns: of a table: what the columns of person, item and weight are called.
        weight: of a graph: which attribute of an edge is its weight.
        source: random bytes, for tests; by default a secure keystream.
        fast: as in `engines.local.draw_all`.

    Raises:
        InvalidAnswer: somebody has no edge or several, or a weight is none of 0, 1/2 and 1. None is repeated.

    Example:
        >>> from deniable.records.edges.designs import one_edge
        >>> edges = {"person": [1, 2], "item": ["tax", "transport"], "weight": [0.5, 1]}
        >>> respond(one_edge(["tax", "transport"], 1), edges).shape
        (2,)
    """
    known = read_edges(design, edges, people=people, columns=columns, weight=weight)
    if (known.sizes != 1).any():
        wrong = int((known.sizes != 1).argmax()) + 1
        raise InvalidAnswer(
            f"person {wrong:,} has no edge or more than one; expected one edge each.",
            "For several edges use the designs of deniable.records.key_value.",
        )
    codes = known.weight + 1  # on the scale from −1 to 1
    if not np.isin(codes, (0, 1, 2)).all():
        wrong = int((~np.isin(codes, (0, 1, 2))).argmax()) + 1
        raise InvalidAnswer(f"the weight of person {wrong:,} is none of 0, 1/2 and 1; expected one of them.")
    sent = draw_all(design.choice, codes.astype(np.uint8), codes=True, source=source, fast=fast)
    return np.asarray(3 * known.item + sent).astype(code_type(3 * len(design.items)))


def collect(design: EdgeDesign, edges: Any, **options: Any) -> EdgeTally:
    """Draw the response of each of many people and count it; the arguments are those of `respond`."""
    return count(design, respond(design, edges, **options))

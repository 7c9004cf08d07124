"""One edge of each person → responses, and these → counts. Key-value records are drawn in the same way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.bulk.columns import draw_all as draw_codes
from deniable.bulk.edges import Edges
from deniable.chance import Source
from deniable.channel.coding import code_type
from deniable.errors import InvalidAnswer
from deniable.tallies.responses import Responses, add_missing
from deniable.types.edges.count import EdgeTally, tally
from deniable.types.edges.design import EdgeDesign
from deniable.types.key_value.draw import respond_all

__all__ = ["count_sent", "draw_pieces", "respond_all"]


def count_sent(responses: Responses[EdgeDesign]) -> EdgeTally:
    """Count how often each weight was sent for each item."""
    return add_missing(
        tally(responses.design, responses.present()["response"]), responses
    )


def draw_pieces(
    design: EdgeDesign, edges: Edges, source: Source | None, fast: bool | None
) -> Iterator[NDArray[Any]]:
    """Draw the responses of all people at once.

    Raises:
        InvalidAnswer: somebody who has not one edge of weight 0, 1/2 or 1; only a row's number is told.
    """
    several = edges.sizes != 1
    if several.any():
        raise InvalidAnswer(
            f"person {int(several.argmax()) + 1:,} has no edge or more than one; expected one edge each.",
            "For several edges use the designs of deniable.types.key_value.",
        )
    codes = edges.weight + 1  # on the scale from −1 to 1
    wrong = ~np.isin(codes, (0, 1, 2))
    if wrong.any():
        raise InvalidAnswer(
            f"the weight of person {int(wrong.argmax()) + 1:,} is none of 0, 1/2 and 1; expected one of them."
        )
    sent = draw_codes(
        design.choice, codes.astype(np.uint8), codes=True, source=source, fast=fast
    )
    size = len(design.items) * design.width
    yield np.asarray(design.width * edges.item + sent).astype(code_type(size))

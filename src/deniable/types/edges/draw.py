"""One edge of each person → responses, and these → counts. Key-value records are drawn in the same way."""

from __future__ import annotations

from deniable.tallies.responses import Responses, add_missing
from deniable.types.edges.count import EdgeTally, tally
from deniable.types.edges.design import EdgeDesign
from deniable.types.key_value.draw import respond_all

__all__ = ["count_sent", "respond_all"]


def count_sent(responses: Responses[EdgeDesign]) -> EdgeTally:
    """Count how often each weight was sent for each item."""
    return add_missing(
        tally(responses.design, responses.present()["response"]), responses
    )

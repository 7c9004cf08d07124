"""Many answers → responses, and responses → counts. `bulk.columns` draws, because other types draw categories, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.bulk.columns import respond_all
from deniable.bulk.columns import tally as tally_column
from deniable.tallies.responses import Responses, add_missing

if TYPE_CHECKING:
    from deniable.designs import Design
    from deniable.tallies import Tally

__all__ = ["count_sent", "respond_all", "tally_column"]


def count_sent(
    responses: Responses[Design], *, threads: int = 1, fast: bool | None = None
) -> Tally:
    """Count responses by symbol, on several threads and with compiled kernels where these are installed."""
    tally = tally_column(
        responses.design, responses.present()["response"], threads=threads, fast=fast
    )
    return add_missing(tally, responses)

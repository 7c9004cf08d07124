"""Responses about categories → a score for each category: on average 1 for the answer, and 0 for every other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deniable.designs import Design
from deniable.errors import InvalidRequest
from deniable.estimates.covariances import vector
from deniable.estimates.independence import ScoredRows
from deniable.estimates.inverses import left_inverse
from deniable.tallies.responses import Responses

__all__ = ["row_scores"]


def row_scores(
    responses: Responses[Design],
    rows: NDArray[np.bool_],
    listed: Sequence[str] | None,
) -> ScoredRows:
    """Apply the left inverse to each response by itself; what the scores lack to a sum of 1 is shared evenly.

    Args:
        responses: the responses.
        rows: which of them are scored.
        listed: strings, of which there are none here.

    Raises:
        InvalidRequest: strings are listed.
        NotEstimable: the design cannot tell its answers apart.
    """
    if listed is not None:
        raise InvalidRequest(
            "strings are listed for a question about categories; expected none."
        )
    design = responses.design
    linear, count = left_inverse(design.channel), design.channel.coding.count
    codes = responses.columns["response"][rows]
    distinct, numbers = np.unique(codes, axis=0, return_inverse=True)
    table = np.array(
        [linear.shares(count(code[None]).astype(np.float64)) for code in distinct]
    )
    size = len(design.categories)
    table += (1 - table.sum(axis=1, keepdims=True)) / size
    own, _ = linear.spread(np.full(size, 1 / size))
    return ScoredRows(
        tuple(design.categories), table[numbers.reshape(-1)], vector(own)
    )

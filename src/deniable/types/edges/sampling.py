"""Rows of people who were drawn with a `Sampling` → who has an edge to each item, and what these edges weigh."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.sampling import Asked, OneResponse, SampledEstimate, Sampling
from deniable.tallies.responses import Missing, Responses
from deniable.types.edges.count import tally
from deniable.types.edges.design import WEIGHTS, EdgeDesign
from deniable.types.edges.estimate import estimate, response_scores
from deniable.types.key_value.estimate import ItemEstimate
from deniable.types.key_value.sampling import ItemRows, check_items, estimate_items

__all__ = ["estimate_sampled"]


def estimate_sampled(
    responses: Responses[EdgeDesign],
    sampling: Sampling,
    *,
    domain: object = None,
    by: object = None,
) -> SampledEstimate:
    """Estimate who of the people that a sample stands for has an edge to each item, and what the edges weigh.

    As without a sample, it is about the share of people with an edge to each item: the sample alone makes it unsure, no
    device. `about("degree")`, `about("weight")` and `about("mean")` return the number of its edges, the sum of their
    weights, and their mean.

    Args:
        responses: what was sent, a row for each person of the sample.
        sampling: how these people were drawn.
        domain: True for the rows of a part of the people.
        by: a group for each row.

    Raises:
        InvalidRequest: columns that do not fit, or more rows and items than are held at once.
        NotEstimable: a stratum with one cluster, or nobody with a weight in a group.

    Example:
        >>> from deniable.types.edges.design import one_edge
        >>> sent = Responses(one_edge(["tax", "transport"], 3), {"response": np.array([2, 2, 0, 4, 5, 2])})
        >>> found = estimate_sampled(sent, Sampling([2, 1, 1, 2, 1, 1], clusters=[1, 1, 2, 2, 3, 3]))
        >>> found.params["tax"], round(found.about("mean").params["tax"], 3)
        (0.625, 0.847)
    """
    design = responses.design
    check_items(design, len(responses))

    def count(part: Missing, population: int | None) -> ItemEstimate:
        counts = tally(design, responses[part].present()["response"])
        return estimate(counts, population=population)

    asked = Asked(design, "one edge each", design.epsilon)
    rows = OneEdgeRows.of(responses)
    return estimate_items(
        lambda _: rows, sampling, asked, count, domain=domain, by=by
    )


@dataclass(frozen=True, eq=False)
class OneEdgeRows(ItemRows):
    """What each response says about the item of the respondent's one edge.

    Attributes:
        noise: the variance that the device gives to a weight, told without bias by each row.
    """

    noise: Matrix

    @classmethod
    def of(cls, responses: Responses[EdgeDesign]) -> OneEdgeRows:
        """Read rows; those without a response hold zeros."""
        design, present = responses.design, ~responses.gaps
        codes = responses.columns["response"].astype(np.int64)
        item, symbol = np.divmod(codes, design.width)
        has = (
            vector(item[:, None] == np.arange(len(design.items))) * present[:, None]
        )
        first, squares = (
            response_scores(design.choice.channel, power)[symbol] for power in (1, 2)
        )
        noise = has * (first**2 - squares)[:, None]
        return cls(design.items, present, has, has * first[:, None], noise)

    def device(self, factors: Vector, _: Vector) -> Matrix:
        """Return the covariance of the device.

        Which item is sent as it is, and of its weight every square is told: shares have no device at all.
        """
        blocks = np.array([[0, 0, 0], [0, 1, 1], [0, 1, 1]])
        return vector(np.kron(blocks, np.diag(factors @ self.noise)))

    def spread(self, *_: Vector) -> OneResponse:
        """Return what one response says: whether there is an edge to an item; means stay on their scale."""
        size = len(self.items)
        unknown = np.full((3, 2 * size), np.nan)
        curve = np.hstack([np.repeat([[0.0], [1.0], [-1.0]], size, axis=1), unknown])
        low, high = (
            np.repeat([end, np.nan, float(weight)], size)
            for end, weight in ((0.0, WEIGHTS[0]), (1.0, WEIGHTS[-1]))
        )
        return OneResponse(vector(curve), low, high)

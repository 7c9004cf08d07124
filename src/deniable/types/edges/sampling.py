"""Rows of people who were drawn with a `Sampling` → who has an edge to each item, and what these edges weigh."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.sampling import (
    Asked,
    OneResponse,
    SampledEstimate,
    Sampling,
    check_room,
    estimate_values,
)
from deniable.tallies.responses import Responses
from deniable.types.edges.count import tally
from deniable.types.edges.design import WEIGHTS, EdgeDesign
from deniable.types.edges.estimate import estimate, response_scores
from deniable.types.key_value.estimate import ItemEstimate
from deniable.types.key_value.sampling import by_quantity, item_block

__all__ = ["estimate_numbers", "estimate_sampled"]

_HINT = "Count them, without a sampling: dn.estimate(dn.tally(responses)); or ask about fewer items."


def estimate_sampled(
    responses: Responses[EdgeDesign],
    sampling: Sampling,
    *,
    domain: Any = None,
    by: Any = None,
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
    return by_quantity(estimate_numbers(responses, sampling, domain=domain, by=by))


def estimate_numbers(
    responses: Responses[EdgeDesign],
    sampling: Sampling,
    *,
    domain: Any = None,
    by: Any = None,
) -> SampledEstimate:
    """Estimate all quantities of edges together: shares, weights and means, with one covariance.

    Raises:
        InvalidRequest: columns that do not fit, or more rows and items than are held at once.
        NotEstimable: a stratum with one cluster, or nobody with a weight in a group.
    """
    design, size = responses.design, len(responses.design.items)
    check_room(len(responses), 6 * size, "numbers about items", _HINT)
    present = (
        np.ones(len(responses), np.bool_)
        if responses.missing is None
        else ~responses.missing
    )
    item, symbol = np.divmod(
        responses.columns["response"].astype(np.int64), design.width
    )
    has = vector(item[:, None] == np.arange(size)) * present[:, None]
    first, squares = (
        response_scores(design.choice.channel, power)[symbol] for power in (1, 2)
    )
    weight = has * first[:, None]
    added = has * (first**2 - squares)[:, None]

    def device(factors: Vector, _: Vector) -> Matrix:
        # Which item is sent as it is, and of its weight every square is told: shares have no device at all.
        noise = np.diag(factors @ added)
        return vector(np.kron(np.array([[0, 0, 0], [0, 1, 1], [0, 1, 1]]), noise))

    def spread(*_: Vector) -> OneResponse:
        nothing = np.full(size, np.nan)
        known = np.repeat([[0.0], [1.0], [-1.0]], size, axis=1)
        curve = np.hstack([known, np.full((3, 2 * size), np.nan)])
        low, high = (
            np.concatenate([np.full(size, one), nothing, np.full(size, float(end))])
            for one, end in ((0.0, WEIGHTS[0]), (1.0, WEIGHTS[-1]))
        )
        return OneResponse(vector(curve), low, high)

    def count(part: Any, population: int | None) -> ItemEstimate:
        return estimate(
            tally(design, responses[part].present()["response"]), population=population
        )

    block = item_block(tuple(design.items), has, weight, present, device, spread)
    asked = Asked(design, "one edge each", design.epsilon)
    return estimate_values([block], sampling, asked, domain=domain, by=by, count=count)

"""Rows of people who were asked with different devices, or are at different stages of a ladder, in one sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deniable.designs import Design
from deniable.errors import Incompatible, InvalidRequest, InvalidResponse
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.sampling.columns import check_rows
from deniable.estimates.sampling.estimating import Asked, estimate_values
from deniable.estimates.sampling.results import SampledEstimate
from deniable.estimates.sampling.samples import Sampling
from deniable.estimates.sampling.values import OneResponse, RowValues, row_values
from deniable.order.ladders import Ladder
from deniable.tallies.responses import Responses
from deniable.tallies.stages import finest_rows


def estimate_devices(
    rows: Sequence[Responses[Any]], sampling: Sampling, *, domain: Any = None, by: Any = None, denominator: Any = None
) -> SampledEstimate:
    """Estimate from people who were asked with different devices what is true of those that the sample stands for.

    Implements: D10, r_i = L_d·e_z with the left inverse of the row's own device: right on average whoever was asked
    with which. Nothing is taken for granted about that, as by `method="strata"` without a sampling.

    Args:
        rows: what was sent, for each device all rows, missing where another one was used: `Responses.of(designs, …)`.
        sampling: how these people were drawn.
        domain: True for the rows of a part of the people.
        by: a group for each row; each group is told on its own.
        denominator: a number for each row: what is told is the ratio of both totals.

    Raises:
        Incompatible: designs for different categories.
        InvalidResponse: a row that holds responses to two devices.
        NotEstimable: a stratum with one cluster, or a design that cannot tell answers apart.
        InvalidRequest: columns that do not fit, or designs for something else than categories or a number.

    Example:
        >>> from deniable.designs import crosswise, direct
        >>> devices = {"RR": crosswise("1/4"), "DQ": direct()}
        >>> sent = Responses.of(devices, ["same", "no", "same", "yes"], devices=["RR", "DQ", "RR", "DQ"])
        >>> found = estimate_devices(sent, Sampling([10, 30, 10, 30]))
        >>> round(found.params["yes"], 3), found.asked
        (0.25, '2 devices')
    """
    designs = [each.design for each in rows]
    wrong = [each for each in designs if not isinstance(each, Design)]
    if wrong:
        raise InvalidRequest(
            f"one of several devices asks for {wrong[0].asks}; expected designs for categories or numbers alone."
        )
    for each in rows:
        check_rows(each, "responses to a device", len(rows[0]))
    used = _used(rows)
    asked = Asked(tuple(designs), f"{len(used)} devices", max(each.design.epsilon for each in used))
    return estimate_values([_joined(used)], sampling, asked, domain=domain, by=by, denominator=denominator)


def estimate_stages(
    responses: Responses[Ladder],
    sampling: Sampling,
    *,
    reached: Any = None,
    domain: Any = None,
    by: Any = None,
    denominator: Any = None,
) -> SampledEstimate:
    """Estimate from everybody's finest response along a ladder what is true of the people that a sample stands for.

    Implements: `estimate_devices` with the stage that each reached as the device. Everybody counts once.

    Args:
        responses: a column for each stage, a row for each person of the sample.
        sampling: how these people were drawn.
        reached: for each person how many stages were released, as for `tally`.
        domain: True for the rows of a part of the people.
        by: a group for each row; each group is told on its own.
        denominator: a number for each row: what is told is the ratio of both totals.

    Raises:
        InvalidResponse: not a stage for each person.
        NotEstimable: a stratum with one cluster, or a stage that cannot tell answers apart.
        InvalidRequest: columns that do not fit.
    """
    ladder, used = responses.design, _used(finest_rows(responses, reached))
    asked = Asked(ladder, f"{ladder!r}", max(each.design.epsilon for each in used))
    return estimate_values([_joined(used)], sampling, asked, domain=domain, by=by, denominator=denominator)


def _used(rows: Sequence[Responses[Any]]) -> list[Responses[Any]]:
    """Return the devices that somebody responded with; the last one where nobody did."""
    return [each for each in rows if each.missing is None or not each.missing.all()] or [rows[-1]]


def _joined(rows: Sequence[Responses[Any]]) -> RowValues:
    """Return the values of all rows, each by its own device."""
    parts = [row_values(each) for each in rows]
    first = parts[0]
    if any(each.names != first.names for each in parts):
        raise Incompatible(
            "the designs have different categories; expected the same in all of them, in the same order.",
            "Build them with the same categories=….",
        )
    times = np.sum([each.present for each in parts], axis=0)
    if (times > 1).any():
        raise InvalidResponse(f"row {int((times > 1).argmax()):,} has responses to two devices; expected one.")
    if len(parts) == 1:
        return first

    def device(factors: Vector, means: Vector) -> Matrix:
        return vector(sum(each.device(vector(factors * each.present), means) for each in parts))

    def spread(weights: Vector, shares: Vector) -> OneResponse:
        own = [vector(weights * each.present) for each in parts]
        known = [(each, held) for each, held in zip(parts, own, strict=True) if held.any()]
        told = [each.spread(held, shares) for each, held in known if each.spread is not None]
        if len(told) == 1:
            return told[0]
        # A response is one of a device that is drawn with its share of the weights: variances are averaged.
        nothing = np.full(len(shares), np.nan)
        weight = [float(held.sum()) for _, held in known]
        return OneResponse(vector(np.average([each.curve for each in told], axis=0, weights=weight)), nothing, nothing)

    values = vector(sum(each.values for each in parts))
    return RowValues(first.names, values, times > 0, device, first.quantity, spread if first.spread else None)

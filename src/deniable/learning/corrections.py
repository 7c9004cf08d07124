"""Corrections of labels, losses and features that were released as responses, for estimators that know no device.

Nothing is drawn: an estimator is fitted to the responses as they are, with weights or labels that correct the device.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.designs import Design
from deniable.designs.labels import format_labels, same_labels
from deniable.errors import Incompatible, InvalidRequest, require
from deniable.estimates.covariances import Matrix, Vector
from deniable.files.row_names import check_same_people
from deniable.tallies.responses import Responses
from deniable.types.categories.scores import row_scores

Released: TypeAlias = Responses[Design] | Sequence[Responses[Design]]
"""A column of responses; of several devices one for each, with all rows, as `Responses.of` reads them."""

Labels: TypeAlias = NDArray[np.str_]

MAX_WEIGHTS = 1 << 27
"""Weights of repeated rows: a gigabyte."""


def corrected_labels(responses: Released) -> Matrix:
    """Return an unbiased indicator of each row's answer: a column for each answer, NaN where nothing was sent.

    Fitted to one of these columns, a regressor of any kind predicts the probability of that answer. Of a design for
    numbers, indicators times the levels are unbiased numbers.

    Why: with a left inverse L of the row's channel, L[j, z] is on average 1 if j is the answer and 0 if it is not. So
    its mean given the features, which a squared loss looks for, is the probability of the answer j.

    Args:
        responses: what was sent; of several devices a list of `Responses`, one for each.

    Raises:
        InvalidRequest: no responses about categories or numbers.
        Incompatible: several devices for different answers.
        NotEstimable: the design cannot tell its answers apart.

    Example:
        >>> import deniable as dn
        >>> corrected_labels(dn.Responses.of(dn.warner(p="3/4"), ["yes", "no", None])).tolist()
        [[-0.5, 1.5], [1.5, -0.5], [nan, nan]]
    """
    devices = _read_devices(responses)
    labels = np.full((len(devices[0]), len(devices[0].design.categories)), np.nan)
    for device in devices:
        present = ~device.gaps
        labels[present] = row_scores(device, present, None).values
    return labels


def corrected_rows(
    *columns: Released,
) -> tuple[NDArray[np.intp], tuple[Labels, ...], Vector]:
    """Repeat each row for every possible answer, with weights that make each sum over rows unbiased.

    Fit an estimator to `features[rows]` with the returned answers as labels or features and the weights as
    `sample_weight`. Its loss is then, on average over the responses, the loss at the true answers.

    Why: given the answers, devices draw independently, so that the product of unbiased indicators is on average 1 for
    the combination of the true answers and 0 for all others. Weights of a row sum to 1, and some are negative.

    Args:
        columns: the responses to each question, of the same people in the same order.

    Returns:
        For each repeated row the number of the row that it repeats, an answer to each question, and its weight. Rows
        without a response to some question are left out.

    Raises:
        InvalidRequest: no responses, or too many combinations of answers.
        Incompatible: columns of different people, or devices for different answers.

    Example:
        >>> import deniable as dn
        >>> rows, (smokes,), weights = corrected_rows(dn.Responses.of(dn.warner(p="3/4"), ["yes", "no"]))
        >>> rows.tolist(), smokes.tolist(), weights.tolist()
        ([0, 0, 1, 1], ['no', 'yes', 'no', 'yes'], [-0.5, 1.5, 1.5, -0.5])
    """
    require(bool(columns), None, "the column of responses", "at least one")
    devices = [_read_devices(column) for column in columns]
    check_same_people(
        **{f"column {at + 1}": each[0] for at, each in enumerate(devices)}
    )
    tables = [corrected_labels(each) for each in devices]
    sizes = [table.shape[1] for table in tables]
    _check_size(tables, sizes)
    present = ~np.isnan(np.column_stack(tables)).any(axis=1)
    weights = np.ones((int(present.sum()), 1))
    for table in tables:
        products = weights[:, :, None] * table[present][:, None, :]
        weights = products.reshape(len(weights), -1)
    numbers = np.unravel_index(np.arange(math.prod(sizes)), sizes)
    answers = tuple(
        np.tile(np.array(each[0].design.categories)[number], len(weights))
        for each, number in zip(devices, numbers, strict=True)
    )
    rows = np.repeat(np.flatnonzero(present), weights.shape[1])
    return rows, answers, weights.reshape(-1)


def _read_devices(responses: Released) -> Sequence[Responses[Design]]:
    """Return the responses of each device."""
    devices = [responses] if isinstance(responses, Responses) else list(responses)
    require(bool(devices), None, "the column of responses", "`Responses`")
    for device in devices:
        require(
            isinstance(device, Responses) and isinstance(device.design, Design),
            device,
            "the column of responses",
            "`Responses` about categories or numbers",
            "Read them first: dn.Responses.of(design, column).",
        )
    first = devices[0].design.categories
    for device in devices[1:]:
        if not same_labels(device.design.categories, first):
            raise Incompatible(
                f"the devices are for different answers, {format_labels(first)} and "
                f"{format_labels(device.design.categories)}; expected the same in the same order."
            )
    return devices


def _check_size(tables: Sequence[Matrix], sizes: Sequence[int]) -> None:
    lengths = sorted(set(map(len, tables)))
    if len(lengths) > 1:
        raise InvalidRequest(
            f"the columns of responses have {lengths} rows; expected one number of rows for all."
        )
    if lengths[0] * math.prod(sizes) > MAX_WEIGHTS:
        raise InvalidRequest(
            f"there are {math.prod(sizes):,} combinations of answers for each of {lengths[0]:,} rows; expected at most "
            f"{MAX_WEIGHTS:,} weights in all.",
            "Correct fewer columns, or fit a regressor to the columns of corrected_labels().",
        )

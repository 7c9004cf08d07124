"""Counts of people who were asked the same question with different devices: a tally for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable import exact
from deniable.designs import Design
from deniable.designs.attributes import direct
from deniable.designs.labels import format_labels
from deniable.designs.many_answers import matrix
from deniable.designs.two_answers import warner
from deniable.errors import InvalidRequest, InvalidResponse, quoted
from deniable.files.arrow import to_items
from deniable.files.row_names import check_same_people
from deniable.tallies.counting import tally
from deniable.tallies.counts import Tally
from deniable.tallies.reading import packed_rows, read_rows
from deniable.tallies.responses import Responses


def count_devices(
    designs: Mapping[Any, Design],
    responses: Iterable[object],
    devices: Iterable[object],
    *,
    codes: bool | None = None,
) -> list[Tally]:
    """Count responses of which each row says the device that it was given with.

    Args:
        designs: the design of each device, by what the rows call it.
        responses: what was sent, a row for each respondent.
        devices: what each was asked with, row by row.
        codes: what whole numbers among the responses are, as for `tally`.

    Returns:
        A tally for each device, in the order of `designs`; hand them to `estimate` together.

    Raises:
        InvalidResponse: rows that do not match, a device that has no design, or something its design cannot send.
        InvalidRequest: no designs.
        Incompatible: columns of pandas that are of different people.

    Example:
        >>> from deniable.designs import crosswise, direct
        >>> devices = {"RR": crosswise("1/4"), "DQ": direct()}
        >>> counted = count_devices(devices, [0, 1, 1], ["RR", "DQ", "RR"], codes=True)
        >>> [each.counts.tolist() for each in counted]
        [[1, 1], [0, 1]]
    """
    _check_designs(designs)
    check_same_people(responses=responses, devices=devices)
    rows = list(responses)
    groups: list[list[object]] = [[] for _ in designs]
    for row, device in zip(rows, _read_numbers(designs, rows, devices), strict=True):
        groups[device].append(row)
    return [
        tally(design, group, codes=codes)
        for design, group in zip(designs.values(), groups, strict=True)
    ]


def read_confidence(values: object, rates: object) -> list[Responses[Design]]:
    """Read a browser's `PerformanceNavigationTiming.confidence`: `value` and `randomizedTriggerRate` of each page load.

    With the probability r, the rate of the row, a fair coin replaces the value: P = (1 − r)·I + (r/2)·J, Warner's
    design with p = 1 − r/2 and ε = ln(2/r − 1). At r = 0 the value is plain, at r = 1 it says nothing.

    Args:
        values: "low" or "high" for each row; missing where the browser reports none.
        rates: r of each row, from 0 to 1; a number for all rows, or a column.

    Returns:
        `Responses` for each rate, with all rows, as `Responses.of(…, devices=…)` does; for `dn.by_answer`.

    Raises:
        InvalidResponse: another value, or a rate that is not a number from 0 to 1.

    Example:
        >>> [round(part.design.epsilon, 4) for part in read_confidence(["high", "low"], ["0.5", "0.1"])]
        [2.9444, 1.0986]
    """
    rows = to_items(values)
    if rows is None:
        raise InvalidResponse("the values are no column; expected low or high.")
    column = [rates] * len(rows) if isinstance(rates, str | Real) else rates
    devices = list(map(str, to_items(column) or ()))
    designs = {rate: _confidence_design(rate) for rate in sorted(set(devices))}
    return read_devices(designs, rows, devices)


def _confidence_design(rate: str) -> Design:
    """Return the design in which a fair coin replaces the value with the probability `rate`."""
    r = exact.rational(rate)
    if not 0 <= r <= 1:
        raise InvalidResponse(
            f"a rate is {rate}; expected a probability from 0 to 1.",
            "Take randomizedTriggerRate as the browser gives it.",
        )
    labels = ("low", "high")
    if r == 0:
        return direct(labels)
    if r == 1:
        return matrix([["1/2", "1/2"]] * 2, categories=labels, symbols=labels)
    return warner(p=1 - r / 2, categories=labels)


def read_devices(
    designs: Mapping[Any, Design],
    column: object,
    devices: object,
    *,
    codes: bool | None = None,
) -> list[Responses[Design]]:
    """Read responses of which each row says the device that it was given with: all rows once for each device.

    Args:
        designs: the design of each device, by what the rows call it.
        column: what was sent, a row for each respondent, as `Responses.of` reads it.
        devices: what each was asked with, row by row.
        codes: what whole numbers among the responses are, as for `tally`.

    Returns:
        `Responses` for each device, in the order of `designs`; rows that were asked with another one are missing there.

    Raises:
        InvalidResponse: rows that do not match, a device that has no design, or something its design cannot send.
        InvalidRequest: no designs.
    """
    _check_designs(designs)
    rows, names = to_items(column), to_items(devices)
    if rows is None or names is None:
        raise InvalidResponse(
            "the responses and the devices are no columns; expected a row for each respondent."
        )
    numbers = np.array(_read_numbers(designs, rows, names), np.intp)
    return [
        _read_device(design, rows, np.flatnonzero(numbers == number), codes)
        for number, design in enumerate(designs.values())
    ]


def _read_device(
    design: Design, rows: list[Any], chosen: NDArray[np.intp], codes: bool | None
) -> Responses[Design]:
    """Read the rows of one device; all others are missing."""
    read, absent = read_rows(
        design,
        [rows[row] for row in chosen.tolist()],
        codes=codes,
        where=lambda at: f"row {chosen[at]:,}",
    )
    empty = packed_rows(design, [])
    column = np.zeros((len(rows), *empty.shape[1:]), empty.dtype)
    missing = np.ones(len(rows), np.bool_)
    column[chosen], missing[chosen] = read, absent
    return Responses(design, {"response": column}, missing)


def _check_designs(designs: Mapping[Any, Design]) -> None:
    if not designs or not all(
        isinstance(design, Design) for design in designs.values()
    ):
        raise InvalidRequest(
            "the designs are missing; expected a design for each device, by what the rows call it."
        )


def _read_numbers(
    designs: Mapping[Any, Design], rows: list[Any], devices: Iterable[object]
) -> list[int]:
    names = list(devices)
    if len(rows) != len(names):
        raise InvalidResponse(
            f"there are {len(rows):,} responses and {len(names):,} devices; expected one for each row."
        )
    return device_numbers(designs, names)


def device_numbers(
    designs: Mapping[Any, Design], devices: Iterable[object]
) -> list[int]:
    """Return the number of each row's device.

    Raises:
        InvalidResponse: a device that has no design.
    """
    order, numbers = {name: number for number, name in enumerate(designs)}, []
    for row, device in enumerate(devices):
        if device not in order:
            names = format_labels([str(name) for name in designs])
            raise InvalidResponse(
                f"row {row + 1:,} was asked with {quoted(device)}; expected one of {names}."
            )
        numbers.append(order[device])
    return numbers

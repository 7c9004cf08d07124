"""Counts of people who were asked the same question with different devices: a tally for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.designs import Design
from deniable.designs.labels import format_labels
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


def read_devices(
    designs: Mapping[Any, Design],
    column: Any,
    devices: Any,
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

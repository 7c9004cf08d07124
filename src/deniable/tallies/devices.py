"""Counts of people who were asked the same question with different devices: a tally for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

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
    rows, asked = list(responses), list(devices)
    _check_lengths(rows, asked)
    groups: list[list[object]] = [[] for _ in designs]
    for row, device in zip(rows, device_numbers(designs, asked), strict=True):
        groups[device].append(row)
    return [
        tally(design, each, codes=codes)
        for design, each in zip(designs.values(), groups, strict=True)
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
    rows, asked = to_items(column), to_items(devices)
    if rows is None or asked is None:
        raise InvalidResponse(
            "the responses and the devices are no columns; expected a row for each respondent."
        )
    _check_lengths(rows, asked)
    numbers, found = np.array(device_numbers(designs, asked), np.intp), []
    for number, design in enumerate(designs.values()):
        own = np.flatnonzero(numbers == number)

        def named(at: int, own: Any = own) -> str:
            return f"row {own[at]:,}"

        sent, absent = read_rows(
            design, [rows[row] for row in own.tolist()], codes=codes, where=named
        )
        empty = packed_rows(design, [])
        whole, missing = (
            np.zeros((len(rows), *empty.shape[1:]), empty.dtype),
            np.ones(len(rows), np.bool_),
        )
        whole[own], missing[own] = sent, absent
        found.append(Responses(design, {"response": whole}, missing))
    return found


def _check_designs(designs: Mapping[Any, Design]) -> None:
    if not designs or not all(isinstance(each, Design) for each in designs.values()):
        raise InvalidRequest(
            "the designs are missing; expected a design for each device, by what the rows call it."
        )


def _check_lengths(rows: list[Any], asked: list[Any]) -> None:
    if len(rows) != len(asked):
        raise InvalidResponse(
            f"there are {len(rows):,} responses and {len(asked):,} devices; expected one for each row."
        )


def device_numbers(designs: Mapping[Any, Design], asked: Iterable[object]) -> list[int]:
    """Return the number of each row's device.

    Raises:
        InvalidResponse: a device that has no design.
    """
    places, found = {device: number for number, device in enumerate(designs)}, []
    for row, device in enumerate(asked):
        if device not in places:
            known = format_labels([str(each) for each in designs])
            raise InvalidResponse(
                f"row {row + 1:,} was asked with {quoted(device)}; expected one of {known}."
            )
        found.append(places[device])
    return found

"""Counts of people who were asked the same question with different devices: a tally for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from deniable.designs import Design
from deniable.designs.labels import shown
from deniable.errors import InvalidRequest, InvalidResponse, quoted
from deniable.tallies.counting import tally
from deniable.tallies.counts import Tally
from deniable.tallies.rows import check_same_people


def count_devices(
    designs: Mapping[Any, Design], responses: Iterable[object], devices: Iterable[object], *, codes: bool | None = None
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
    if not designs or not all(isinstance(each, Design) for each in designs.values()):
        raise InvalidRequest("the designs are missing; expected a design for each device, by what the rows call it.")
    check_same_people(responses=responses, devices=devices)
    rows, asked = list(responses), list(devices)
    if len(rows) != len(asked):
        raise InvalidResponse(
            f"there are {len(rows):,} responses and {len(asked):,} devices; expected one for each row."
        )
    groups: list[list[object]] = [[] for _ in designs]
    for row, device in zip(rows, device_numbers(designs, asked), strict=True):
        groups[device].append(row)
    return [tally(design, each, codes=codes) for design, each in zip(designs.values(), groups, strict=True)]


def device_numbers(designs: Mapping[Any, Design], asked: Iterable[object]) -> list[int]:
    """Return the number of each row's device.

    Raises:
        InvalidResponse: a device that has no design.
    """
    places, found = {device: number for number, device in enumerate(designs)}, []
    for row, device in enumerate(asked):
        if device not in places:
            known = shown([str(each) for each in designs])
            raise InvalidResponse(f"row {row + 1:,} was asked with {quoted(device)}; expected one of {known}.")
        found.append(places[device])
    return found

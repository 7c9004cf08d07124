"""What rows sent: read as responses of their devices, and turned into probabilities given each answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.channel import Channel
from deniable.channel.support import MOST_CELLS
from deniable.designs import Design
from deniable.designs.labels import format_labels, same_labels
from deniable.errors import Incompatible, InvalidRequest, NotEstimable, kind_of
from deniable.estimates.covariances import Matrix, Vector
from deniable.estimates.linear import floats, written_inverse
from deniable.estimates.rows import SentSets
from deniable.tallies.devices import device_numbers
from deniable.tallies.reading import read_distinct

MOST_LISTED = 64
"""Responses, and answers, up to which the law of every possible response is written out for expected information."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What rows sent, seen through their devices.

    Attributes:
        designs: the design of each device; one where all rows have the same.
        names: what the rows call each device.
        devices: the number of each row's device.
        codes: the number of what each row sent; −1 where a device's responses are packed rows of sets.
        given: the probability of what each row sent given each answer, up to a factor of the row.
        missing: which rows sent nothing.
    """

    designs: tuple[Design, ...]
    names: tuple[str, ...]
    devices: NDArray[np.int64]
    codes: NDArray[np.int64]
    given: Matrix
    missing: NDArray[np.bool_]

    @property
    def categories(self) -> Sequence[str]:
        """The answers, which are the same for all devices."""
        return self.designs[0].categories

    def kept(self, rows: NDArray[np.bool_]) -> Evidence:
        """Return the evidence of some of the rows."""
        return Evidence(
            self.designs,
            self.names,
            self.devices[rows],
            self.codes[rows],
            self.given[rows],
            self.missing[rows],
        )

    def channels(self) -> Matrix | None:
        """Return the probabilities of each device, as many responses as the longest has; None where they are many."""
        tables = [
            floats(each.channel) for each in self.designs if _listed(each.channel)
        ]
        if len(tables) < len(self.designs):
            return None
        out = np.zeros((len(tables), max(map(len, tables)), len(self.categories)))
        for table, place in zip(tables, out, strict=True):
            place[: len(table)] = table
        return out

    def silent(self) -> NDArray[np.bool_]:
        """Return which rows were asked with a device whose responses say nothing: all answers send the same."""
        quiet = [
            bool((np.ptp(floats(each.channel), axis=1) < 1e-12).all())
            for each in self.designs
            if _listed(each.channel)
        ]
        return (
            np.array(quiet)[self.devices]
            if len(quiet) == len(self.designs)
            else np.zeros(len(self.codes), np.bool_)
        )

    def check_rank(self) -> None:
        """Make sure that the devices together tell the answers apart.

        Raises:
            NotEstimable: two mixtures of answers send the same responses under every device.
        """
        used = [self.designs[each] for each in np.unique(self.devices).tolist()]
        if not all(_listed(each.channel) for each in used):
            return
        whole = np.concatenate([floats(each.channel) for each in used])
        if np.linalg.matrix_rank(whole) < len(self.categories):
            raise NotEstimable(
                f"the devices send the same responses for different mixtures of the {len(self.categories)} answers, so "
                "that no coefficient can be told from them; expected devices that tell all answers apart.",
                "Check the probabilities of the design: two answers need D = P(1|1) − P(1|0) ≠ 0.",
            )

    def values(self, worth: Vector) -> Vector:
        """Return an unbiased value of each row's answer, where each answer is worth so much.

        Why: with a left inverse L of the channel, Σ_j worth_j·L[j, z] has the expectation worth_j given answer j.
        """
        out = np.empty(len(self.codes))
        for number, design in enumerate(self.designs):
            rows = self.devices == number
            if not design.channel.own_cells:
                raise InvalidRequest(
                    f"the responses of {design!r} are sets; expected a design with a value for each response.",
                    'Use the family "multinomial".',
                )
            if not _listed(design.channel):
                raise InvalidRequest(
                    f"{design!r} has too many responses for a linear regression; expected at most {MOST_LISTED}."
                )
            by_code = worth @ written_inverse(design.channel, None).inverse
            out[rows] = by_code[self.codes[rows]]
        return out


def _listed(channel: Channel) -> bool:
    return channel.responses <= MOST_LISTED and channel.answers <= MOST_LISTED


def read_evidence(
    design: Design | Mapping[Any, Design],
    column: Any,
    devices: Any = None,
    *,
    codes: bool | None = None,
) -> Evidence:
    """Read what rows sent.

    Args:
        design: what the responses were drawn with; or the design of each device, by what the rows call it.
        column: what was sent, a row for each respondent, as `dn.tally` reads it; missing where nothing was.
        devices: where there are several designs, what each row was asked with.
        codes: what whole numbers are, as for `dn.tally`.

    Raises:
        InvalidResponse: something that the row's design cannot send, or a device that has no design.
        InvalidRequest: no design, or several without devices.
        Incompatible: designs for different answers.
    """
    known, names, numbers = _devices(design, column, devices)
    sent = np.asarray(column, object) if not isinstance(column, np.ndarray) else column
    given = np.ones((len(sent), len(known[0].categories)))
    which, missing = np.zeros(len(sent), np.int64), np.zeros(len(sent), np.bool_)
    for number, each in enumerate(known):
        rows = np.flatnonzero(numbers == number)
        where: Any = lambda at, rows=rows: f"row {rows[at] + 1:,}"  # noqa: E731 - each has rows of its own
        found, places = read_distinct(each, sent[rows], codes=codes, where=where)
        there = np.array([one is not None for one in found], np.bool_)[places]
        missing[rows] = ~there
        responses = [one for one in found if one is not None]
        if not responses:
            continue
        table = _probabilities(each.channel, responses)
        where = (np.cumsum([one is not None for one in found]) - 1)[places[there]]
        given[rows[there]] = table[where]
        plain = each.channel.own_cells
        which[rows[there]] = np.array(
            responses if plain else [-1] * len(responses), np.int64
        )[where]
    return Evidence(known, names, numbers, which, given, missing)


def _devices(
    design: Design | Mapping[Any, Design], column: Any, devices: Any
) -> tuple[tuple[Design, ...], tuple[str, ...], NDArray[np.int64]]:
    if isinstance(design, Design):
        if devices is not None:
            raise InvalidRequest(
                "devices= names a column, and there is one design; expected a design for each device.",
                'For example design={"RR": dn.crosswise("1/4"), "DQ": dn.direct()}.',
            )
        return (design,), ("",), np.zeros(len(column), np.int64)
    if (
        not isinstance(design, Mapping)
        or not design
        or not all(isinstance(each, Design) for each in design.values())
    ):
        raise InvalidRequest(
            f"the design is {'missing' if design is None else kind_of(design)}; expected what the responses were drawn "
            "with, or a design for each device."
        )
    if devices is None:
        raise InvalidRequest(
            "there are several designs; expected to know which row was asked with which.",
            'Name the column that says it: devices="device".',
        )
    known = tuple(design.values())
    for each in known[1:]:
        if not same_labels(each.categories, known[0].categories):
            raise Incompatible(
                f"the designs are for different answers, {format_labels(known[0].categories)} and "
                f"{format_labels(each.categories)}; expected the same in the same order."
            )
    return (
        known,
        tuple(map(str, design)),
        np.array(device_numbers(design, devices), np.int64),
    )


def _probabilities(channel: Channel, responses: Sequence[int]) -> Matrix:
    """Return the probability of each of these responses given each answer; of sets, up to a factor of the set."""
    if len(responses) * channel.answers > MOST_CELLS:
        raise InvalidRequest(
            f"{len(responses):,} different responses to {channel.answers:,} answers are too many for a regression; "
            f"expected at most {MOST_CELLS // channel.answers:,}."
        )
    if channel.set_valued is not None:
        return SentSets(
            channel.set_valued,
            channel.coding.pack(responses),
            np.ones(len(responses), np.int64),
        ).matrix
    if channel.responses * channel.answers <= MOST_CELLS >> 5:
        return floats(channel)[responses]
    return np.array(
        [
            [
                float(channel.probability(each, given=answer))
                for answer in range(channel.answers)
            ]
            for each in responses
        ]
    )

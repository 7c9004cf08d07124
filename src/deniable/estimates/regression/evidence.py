"""What rows sent: read as responses of their devices, and turned into probabilities given each answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.channel import Channel
from deniable.channel.support import MAX_CELLS
from deniable.designs import Design
from deniable.designs.labels import format_labels, same_labels
from deniable.designs.numbers import Scale
from deniable.errors import (
    Incompatible,
    InvalidRequest,
    InvalidResponse,
    NotEstimable,
    kind_of,
    quoted,
)
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.linear import floats, written_inverse
from deniable.estimates.rows import SentSets
from deniable.files.arrow import is_absent
from deniable.files.office import cell_text
from deniable.tallies.devices import device_numbers
from deniable.tallies.reading import read_distinct

Integers: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]

MAX_LISTED = 64
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
    devices: Integers
    codes: Integers
    given: Matrix
    missing: Mask

    @property
    def is_numeric(self) -> bool:
        """Whether the answers are levels of a number."""
        return all(design.answer_form == "numbers" for design in self.designs)

    @property
    def scale(self) -> Scale | None:
        """The range and the levels of the numbers; None for categories."""
        return getattr(self.designs[0], "scale", None)

    @property
    def categories(self) -> Sequence[str]:
        """The answers, which are the same for all devices."""
        return self.designs[0].categories

    def select(self, rows: Mask) -> Evidence:
        """Return the evidence of some of the rows."""
        return replace(
            self,
            devices=self.devices[rows],
            codes=self.codes[rows],
            given=self.given[rows],
            missing=self.missing[rows],
        )

    def channels(self) -> Matrix | None:
        """Return the probabilities of each device, as many responses as the longest has; None where they are many."""
        tables = _tables(self.designs)
        if tables is None:
            return None
        longest = max(map(len, tables))
        return np.stack(
            [np.pad(table, ((0, longest - len(table)), (0, 0))) for table in tables]
        )

    def silent(self) -> Mask:
        """Return which rows were asked with a device whose responses say nothing: all answers send the same."""
        channels = self.channels()
        if channels is None:
            return np.zeros(len(self.codes), np.bool_)
        is_silent = (np.ptp(channels, axis=2) < 1e-12).all(axis=1)
        return np.asarray(is_silent[self.devices])

    def check_rank(self) -> None:
        """Make sure that the devices together tell the answers apart.

        Raises:
            NotEstimable: two mixtures of answers send the same responses under every device.
        """
        used = [self.designs[device] for device in np.unique(self.devices).tolist()]
        tables = _tables(used)
        if tables is None:
            return
        if np.linalg.matrix_rank(np.concatenate(tables)) < len(self.categories):
            raise NotEstimable(
                f"the devices send the same responses for different mixtures of the {len(self.categories)} answers, so "
                "that no coefficient can be told from them; expected devices that tell all answers apart.",
                "Check the probabilities of the design: two answers need D = P(1|1) − P(1|0) ≠ 0.",
            )

    def values(self, worth: Vector) -> Vector:
        """Return an unbiased value of each row's answer, where each answer is worth so much.

        Why: with a left inverse L of the channel, Σ_j worth_j·L[j, z] has the expectation worth_j given answer j.
        """
        return vector(self.indicators() @ worth)

    def indicators(self) -> Matrix:
        """Return an unbiased indicator of each row's answer, w_ij = L[j, z_i]: a column for each answer.

        Why: with a left inverse L of the row's channel, E[w_ij | answer] is 1 for that answer and 0 for others.
        """
        indicators = np.empty((len(self.codes), len(self.categories)))
        for number, design in enumerate(self.designs):
            rows = self.devices == number
            if not design.channel.own_cells:
                raise InvalidRequest(
                    f"the responses of {design!r} are sets; expected a design with a value for each response.",
                    'Use a family with a likelihood: "multinomial", or of an outcome "normal" or "bernoulli".',
                )
            if not _is_listable(design.channel):
                raise InvalidRequest(
                    f"{design!r} has too many responses for a left inverse; expected at most {MAX_LISTED}."
                )
            inverse = written_inverse(design.channel, None).inverse
            indicators[rows] = inverse.T[self.codes[rows]]
        return indicators


def _is_listable(channel: Channel) -> bool:
    return max(channel.responses, channel.answers) <= MAX_LISTED


def _tables(designs: Iterable[Design]) -> list[Matrix] | None:
    """Return the probabilities of each design; None where one of them has too many."""
    channels = [design.channel for design in designs]
    return list(map(floats, channels)) if all(map(_is_listable, channels)) else None


def read_evidence(
    design: Design | Mapping[Any, Design],
    column: object,
    devices: object = None,
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
    designs, names, numbers = _read_devices(design, column, devices)
    responses = (
        column if isinstance(column, np.ndarray) else np.asarray(column, object)
    )
    n = len(responses)
    evidence = Evidence(
        designs,
        names,
        numbers,
        np.zeros(n, np.int64),
        np.ones((n, len(designs[0].categories))),
        np.zeros(n, np.bool_),
    )
    for number, row_design in enumerate(designs):
        rows = np.flatnonzero(numbers == number)
        _read_rows(evidence, row_design, rows, responses[rows], codes)
    return evidence


def translate_values(
    cells: Sequence[object], *, meanings: Mapping[str, str], missing: Iterable[str]
) -> Sequence[object]:
    """Return the symbol of each cell, by what values mean; None where nothing was sent.

    Cells are compared as text, and 1.0 is read as 1. Without meanings the cells are the symbols themselves.

    Raises:
        InvalidResponse: a value without a meaning, where there are some.
    """
    skipped = {*map(str, missing)}
    if not (skipped or meanings):
        return cells
    symbols = {str(value): symbol for value, symbol in meanings.items()}
    texts = [None if is_absent(cell) else cell_text(cell) for cell in cells]
    is_sent = [text is not None and text not in skipped for text in texts]
    if symbols:
        unknown = next(
            (
                row
                for row, text in enumerate(texts)
                if is_sent[row] and text not in symbols
            ),
            None,
        )
        if unknown is not None:
            raise InvalidResponse(
                f"row {unknown + 1:,} holds {quoted(str(texts[unknown]), 80)}, which has no meaning; expected one of "
                f"{format_labels([*symbols])}.",
                "Add it to values=, or to missing= if nothing was sent.",
            )
    return [
        symbols.get(str(text), cell) if sent else None
        for cell, text, sent in zip(cells, texts, is_sent, strict=True)
    ]


def _read_rows(
    evidence: Evidence,
    design: Design,
    rows: NDArray[np.intp],
    responses: NDArray[Any],
    codes: bool | None,
) -> None:
    """Enter the responses of the rows that were asked with one device."""
    distinct, places = read_distinct(
        design,
        responses,
        codes=codes,
        where=lambda index: f"row {rows[index] + 1:,}",
    )
    is_missing = np.array([response is None for response in distinct], np.bool_)
    evidence.missing[rows] = is_missing[places]
    present = [response for response in distinct if response is not None]
    if not present:
        return
    rows, places = rows[~is_missing[places]], places[~is_missing[places]]
    index = (np.cumsum(~is_missing) - 1)[places]
    evidence.given[rows] = _probabilities(design.channel, present)[index]
    numbers = present if design.channel.own_cells else [-1] * len(present)
    evidence.codes[rows] = np.array(numbers, np.int64)[index]


def _read_devices(
    design: Design | Mapping[Any, Design], column: Any, devices: Any
) -> tuple[tuple[Design, ...], tuple[str, ...], Integers]:
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
        or not all(isinstance(device, Design) for device in design.values())
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
    designs = tuple(design.values())
    categories = designs[0].categories
    for device in designs[1:]:
        if not same_labels(device.categories, categories):
            raise Incompatible(
                f"the designs are for different answers, {format_labels(categories)} and "
                f"{format_labels(device.categories)}; expected the same in the same order."
            )
    numbers = np.array(device_numbers(design, devices), np.int64)
    return designs, tuple(map(str, design)), numbers


def _probabilities(channel: Channel, responses: Sequence[int]) -> Matrix:
    """Return the probability of each of these responses given each answer; of sets, up to a factor of the set."""
    if len(responses) * channel.answers > MAX_CELLS:
        raise InvalidRequest(
            f"{len(responses):,} different responses to {channel.answers:,} answers are too many for a regression; "
            f"expected at most {MAX_CELLS // channel.answers:,}."
        )
    if channel.set_valued is not None:
        return SentSets(
            channel.set_valued,
            channel.coding.pack(responses),
            np.ones(len(responses), np.int64),
        ).matrix
    if channel.responses * channel.answers <= MAX_CELLS >> 5:
        return floats(channel)[responses]
    answers = range(channel.answers)
    return vector(
        [
            [
                float(channel.probability(response, given=answer))
                for answer in answers
            ]
            for response in responses
        ]
    )

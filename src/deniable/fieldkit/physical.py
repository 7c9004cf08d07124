"""Spinners, cards, dice and coins that make a design: the nearest one, and the channel that it really has.

A device has equally likely outcomes, and an instruction for each: what to say, for each answer that may be true. The
channel of a device is counted from its own outcomes, never taken from the design that was asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise, product

import numpy as np

from deniable import exact
from deniable.designs import AnyDesign, Design, matrix
from deniable.designs.labels import Bitstrings
from deniable.errors import InvalidRequest, quoted
from deniable.types.surfaces import check_surface

SIZES: dict[str, tuple[int, ...]] = {
    "spinner": tuple(range(2, 101)),
    "cards": tuple(range(2, 51)),
    "dice": (6, 36),
    "coins": (4, 8, 16),
}
"""How many equally likely outcomes each kind of device may have: sectors, cards, one or two dice, two to four coins."""

_MOST_ANSWERS = 8  # categories that people keep in mind beside a device
_MOST_INSTRUCTIONS = (
    10  # lines that fit on a sheet, and sectors that can be told apart
)
# kinds of channels whose responses are found by arithmetic
_CODES = "hashing", "hadamard"
_BY_CARD = (
    "Write the kit with its harmless question: write_kit(…, harmless=…), "
    "or `deniable fieldkit … --harmless NAME`."
)
_OTHER_QUESTION = {
    "crosswise": _BY_CARD,
    "triangular": _BY_CARD,
    "simmons": _BY_CARD,
    "number_sequence": "Ask it as a crosswise design whose harmless question has the same p.",
    "mangat_unrelated": "Ask it as a simmons design with p = t + (1 − t)p, which has the same channel and one device.",
    "correlated_question": "Ask a simmons design whose harmless question has nothing to do with the sensitive one.",
    "mangat_singh_singh": "Ask a simmons design, where everybody does the same.",
}
"""Designs in which people are asked something else, too, and what to do on paper."""

_MOST_LETTERS = 48  # of a label: it must fit on a playing card


@dataclass(frozen=True, slots=True)
class Instruction:
    """What to say on some outcomes of a device.

    Attributes:
        says: the number of the symbol to say, for each answer that may be true.
        count: on how many of the outcomes.
    """

    says: tuple[int, ...]
    count: int

    @property
    def forced(self) -> bool:
        """Whether everybody says the same, whatever is true."""
        return len(set(self.says)) == 1


@dataclass(frozen=True)
class PhysicalDevice:
    """A device that people can hold, and the design that it makes.

    Attributes:
        kind: "spinner", "cards", "dice" or "coins".
        asked: the design that it was sought for.
        instructions: what to say on how many of its outcomes.
    """

    kind: str
    asked: Design
    instructions: tuple[Instruction, ...]

    @cached_property
    def outcomes(self) -> int:
        """How many equally likely outcomes it has."""
        return sum(instruction.count for instruction in self.instructions)

    @cached_property
    def design(self) -> Design:
        """The design to tally with: the one that was asked for where the device makes it exactly, else its own.

        Guarantee: every probability is a number of outcomes over all outcomes.
        """
        cells = _cells(self.instructions, len(self.asked.symbols))
        if cells == _asked_cells(self.asked):
            return self.asked
        return matrix(
            cells,
            categories=tuple(self.asked.categories),
            symbols=tuple(self.asked.symbols),
        )

    @cached_property
    def distance(self) -> Fraction:
        """By how much a probability of the device differs from the one that was asked for, at most."""
        return _distance(self.instructions, self.asked)

    @property
    def exact(self) -> bool:
        """Whether it makes the design that was asked for, with no difference at all."""
        return self.distance == 0


def nearest_devices(
    design: AnyDesign, kinds: Iterable[str] = tuple(SIZES)
) -> tuple[PhysicalDevice, ...]:
    """Return for each kind of device the nearest one to a design, among those that reveal no more than it does.

    Guarantee: the parity of each device, counted from its outcomes, is at most that of the design.

    Why: what all answers have in common is forced, which leaves the shortest list of instructions; outcomes are then
    given to the instructions by rounding up or down, and every way to do so is compared with the design exactly.

    Args:
        design: what was asked for.
        kinds: "spinner", "cards", "dice", "coins"; one that is too coarse for the design is left out.

    Raises:
        InvalidRequest: a kind that does not exist, a design that no device makes, or none of the kinds is fine enough.

    Example:
        >>> from deniable.designs import warner
        >>> [(each.kind, each.outcomes, each.design.parity) for each in nearest_devices(warner(p="3/4"))][:2]
        [('spinner', 4, Fraction(3, 1)), ('cards', 4, Fraction(3, 1))]
    """
    kind_list = read_kinds(kinds)
    requested = _check_makeable(design)
    segments = _instruction_shares(requested)
    candidates = [_nearest(kind, requested, segments) for kind in kind_list]
    if not any(candidates):
        raise InvalidRequest(
            f"no {', '.join(kind_list)} is fine enough for this design: each would reveal more than it, or nothing.",
            "Ask for another kind of device, for a larger ε, or let a machine draw.",
        )
    return tuple(device for device in candidates if device)


def read_kinds(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return kinds of devices, each once.

    Raises:
        InvalidRequest: one that does not exist, or none.
    """
    kind_list = tuple(dict.fromkeys(kinds))
    unknown = [kind for kind in kind_list if kind not in SIZES]
    if unknown or not kind_list:
        problem = (
            f"{quoted(unknown[0])} is no device"
            if unknown
            else "no device was named"
        )
        raise InvalidRequest(f"{problem}; expected some of {', '.join(SIZES)}.")
    return kind_list


def _check_makeable(design: AnyDesign) -> Design:
    """Return the design where people can make it by hand.

    Raises:
        InvalidRequest: they cannot; the message says why.
    """
    elsewhere = "Let a machine draw: `deniable serve` asks it on a page."
    check_surface(design, "field kit", elsewhere)
    assert isinstance(design, Design)
    if design.factors:
        names = ", ".join(design.attributes[:4])
        raise InvalidRequest(
            f"this design asks {len(design.factors)} questions together; expected one question for each device.",
            f"Make a kit for each of them: design.part(…) of {names}.",
        )
    if design.name in _OTHER_QUESTION:
        raise InvalidRequest(
            f"the {design.name} design asks people something beside the sensitive question, which no device does for "
            "them; expected a design for a device alone.",
            _OTHER_QUESTION[design.name],
        )
    channel = design.channel
    if channel.KIND in _CODES:
        raise InvalidRequest(
            "the responses of this design are codes that nobody can find by hand; expected words.",
            elsewhere,
        )
    if (
        channel.answers > _MOST_ANSWERS
        or channel.responses > _MOST_INSTRUCTIONS
        or isinstance(design.symbols, Bitstrings)
    ):
        raise InvalidRequest(
            f"this design has {channel.answers:,} categories and {exact.text(channel.responses)} responses, which no "
            f"spinner, card, die or coin makes by hand; expected at most {_MOST_ANSWERS} categories, and at most "
            f"{_MOST_INSTRUCTIONS} responses that can be said in a word.",
            elsewhere,
        )
    _check_labels(design)
    return design


def _check_labels(design: Design) -> None:
    longest = max((*design.categories, *design.symbols), key=len)
    if len(longest) > _MOST_LETTERS:
        raise InvalidRequest(
            f"the label {quoted(longest)} has {len(longest)} letters; expected at most {_MOST_LETTERS}: cards "
            "are small.",
            "Build the design with shorter categories.",
        )


def _asked_cells(design: Design) -> list[list[Fraction]]:
    answers = range(design.channel.answers)
    return [
        [design.channel.probability(y, given=x) for x in answers]
        for y in range(design.channel.responses)
    ]


def _instruction_shares(design: Design) -> list[tuple[tuple[int, ...], Fraction]]:
    """Return instructions and how often each is to be followed, so that together they make the channel.

    Raises:
        InvalidRequest: the design asks directly, or has too many instructions.
    """
    cells = _asked_cells(design)
    answers, common = range(design.channel.answers), [min(row) for row in cells]
    forced = [
        ((y,) * len(answers), share) for y, share in enumerate(common) if share
    ]
    remainders = [
        [(y, cells[y][x] - common[y]) for y in _symbols_from(x, len(cells))]
        for x in answers
    ]
    segments = forced + list(_side_by_side(remainders))
    if len(segments) == 1:
        raise InvalidRequest(
            "this design needs no device: the response follows from the answer, or has nothing to do with it.",
            "Choose a design that hides the answer and still tells something, such as warner(p=3/4).",
        )
    if len(segments) > _MOST_INSTRUCTIONS:
        raise InvalidRequest(
            f"by hand this design takes {len(segments)} different instructions; expected at most {_MOST_INSTRUCTIONS}.",
            "Choose a design with fewer categories, such as k_ary of them, or let a machine draw.",
        )
    return segments


def _symbols_from(first: int, size: int) -> list[int]:
    """Return the symbols in their order, from an answer's own on."""
    return [(first + step) % size for step in range(size)]


def _side_by_side(
    rows: Sequence[Sequence[tuple[int, Fraction]]],
) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Lay one row of shares for each answer side by side, and cut wherever one of them changes its symbol."""
    cumulated = [list(accumulate(share for _, share in row)) for row in rows]
    cuts = sorted({Fraction(0), *(end for row in cumulated for end in row)})
    for start, stop in pairwise(cuts):
        says = tuple(
            next(y for (y, _), end in zip(row, row_ends, strict=True) if end > start)
            for row, row_ends in zip(rows, cumulated, strict=True)
        )
        yield says, stop - start


def _nearest(
    kind: str,
    requested: Design,
    segments: Sequence[tuple[tuple[int, ...], Fraction]],
) -> PhysicalDevice | None:
    """Return the nearest device of a kind within the parity that was asked for, the smaller where two are as near."""
    says, shares = [says for says, _ in segments], [share for _, share in segments]
    candidates = [
        tuple(map(Instruction, says, counts))
        for size in SIZES[kind]
        for counts in _divisions(shares, size)
    ]
    for instructions in sorted(
        candidates,
        key=lambda instructions: (
            _distance(instructions, requested),
            sum(instruction.count for instruction in instructions),
        ),
    ):
        cells = _cells(instructions, len(requested.symbols))
        if 1 < _parity(cells) <= requested.parity and _rank(cells) >= _rank(
            _asked_cells(requested)
        ):
            return PhysicalDevice(kind, requested, instructions)
    return None


def _divisions(shares: Sequence[Fraction], size: int) -> Iterator[list[int]]:
    """Divide outcomes among instructions, at least one each: equal shares alike, rounded up or down, one the rest."""
    alike = {share: shares.count(share) for share in shares}
    unique_share = max(
        (share for share, times in alike.items() if times == 1), default=None
    )
    repeated_shares = [share for share in alike if share != unique_share]
    for chosen in product(
        *(
            {math.floor(share * size), math.ceil(share * size)}
            for share in repeated_shares
        )
    ):
        counts = dict(zip(repeated_shares, chosen, strict=True))
        left = size - sum(alike[share] * count for share, count in counts.items())
        if unique_share is not None:
            counts[unique_share] = left
        if min(counts.values()) >= 1 and (unique_share is not None or left == 0):
            yield [counts[share] for share in shares]


def _cells(
    instructions: Sequence[Instruction], symbols: int
) -> list[list[Fraction]]:
    """Return the channel of instructions, counted outcome by outcome: a row for each symbol."""
    total = sum(instruction.count for instruction in instructions)
    answers = range(len(instructions[0].says))
    return [
        [
            Fraction(
                sum(
                    instruction.count
                    for instruction in instructions
                    if instruction.says[x] == y
                ),
                total,
            )
            for x in answers
        ]
        for y in range(symbols)
    ]


def _distance(instructions: Sequence[Instruction], requested: Design) -> Fraction:
    pairs = zip(
        _cells(instructions, len(requested.symbols)),
        _asked_cells(requested),
        strict=True,
    )
    return max(
        abs(a - b)
        for attained, target in pairs
        for a, b in zip(attained, target, strict=True)
    )


def _parity(cells: Sequence[Sequence[Fraction]]) -> exact.Ratio:
    """Return e^ε of a table of probabilities: the largest ratio within a row, over responses that can be sent."""
    return max(exact.ratio(max(row), min(row)) for row in cells if max(row))


def _rank(cells: Sequence[Sequence[Fraction]]) -> int:
    """Return how many answers the responses can tell apart."""
    return int(np.linalg.matrix_rank(np.array(cells, dtype=float)))

"""Devices explained to respondents: what one does, in natural frequencies.

Of 100 people with an answer, how many send what? Everything is derived from the exact channel. Counts are rounded to
the nearest; what a response reveals at most is told by `deniable.survey.disclosure`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from deniable.channel import Channel
from deniable.channel.two_level import TwoLevel
from deniable.designs import Design, FieldedDesign
from deniable.display.privacy_texts import base_for
from deniable.survey.disclosure import Disclosure

_MAX_CELLS = (
    12  # answers or responses that a table shows: more do not fit on a telephone
)
# that are looked at one by one: more would keep a page waiting
_MAX_RESPONSES = 1 << 16
_COLUMNS = {100: 10, 1000: 40}  # people in a row of a picture of so many


@dataclass(frozen=True, slots=True)
class IconArray:
    """Equally many people of one answer, and how many of them send the thing in question.

    Attributes:
        category: the number of their answer.
        count: how many send it.
        base: how many there are.
    """

    category: int
    count: int
    base: int

    @property
    def columns(self) -> int:
        """How many stand in a row of the picture; 0 where they are too many for one."""
        return _COLUMNS.get(self.base, 0)

    @property
    def rows(self) -> int:
        """How many rows the picture has."""
        return self.base // self.columns

    @property
    def senders(self) -> str:
        """The area in which those who send it stand, as an SVG path with 10 units to a person."""
        full, remainder = divmod(self.count, self.columns)
        return (
            f"M0 0H{self.columns}0V{full}0H{remainder}0V{full + bool(remainder)}0H0z"
        )

    @property
    def others(self) -> str:
        """The area of all others."""
        full, remainder = divmod(self.count, self.columns)
        return f"M{remainder}0 {full}0H{self.columns}0V{self.rows}0H0V{full + bool(remainder)}0H{remainder}0z"


@dataclass(frozen=True, slots=True)
class Odds:
    """What a device does, for whoever is to trust it.

    Attributes:
        kind: what is counted: "sends" a symbol, "includes" a category in the set that is sent, or "speaks" for an
            answer by a code that is likelier under it.
        subject: the number of the symbol or category in the picture.
        crowds: the picture: people of the answer that sends it most often, and of the one that does so least often;
            empty where the design is too large to picture.
        table: for each symbol or category (rows) and answer (columns) how many of `base` people send it; empty where
            there are too many.
        base: how many people the table is about.
        disclosure: what a response reveals at most.
    """

    kind: str
    subject: int
    crowds: tuple[IconArray, ...]
    table: tuple[tuple[int, ...], ...]
    base: int
    disclosure: Disclosure


@lru_cache(maxsize=256)
def odds(design: Design) -> Odds:
    """Return what a design does, in natural frequencies.

    Example:
        >>> from deniable.designs import warner
        >>> made = odds(warner(p="3/4"))
        >>> made.table, [people.count for people in made.crowds], made.disclosure.after
        (((75, 25), (25, 75)), [75, 25], Decimal('25'))
    """
    pictured = design.pictured if isinstance(design, FieldedDesign) else design
    channel = None if pictured is None else pictured.channel
    kind, cells = _cells(channel) if channel else ("sends", [])
    if cells:
        subject, likely, unlikely = _most_informative_row(cells)
        pair: Sequence[Fraction] = (cells[subject][likely], cells[subject][unlikely])
    else:
        kind, subject, likely, unlikely, pair = (
            _binary_odds(channel) if channel else ("sends", 0, 0, 0, ())
        )
    base = base_for(
        min((p for row in cells or [pair] for p in row if p), default=Fraction(1))
    )
    crowds = tuple(
        IconArray(answer, round(p * base), base)
        for answer, p in zip((likely, unlikely), pair, strict=False)
    )
    return Odds(
        kind=kind,
        subject=subject,
        crowds=crowds,
        table=tuple(tuple(round(p * base) for p in row) for row in cells),
        base=base,
        disclosure=Disclosure.of_response(design),
    )


def _cells(channel: Channel) -> tuple[str, list[Sequence[Fraction]]]:
    """Return how often each symbol is sent, or each category included, given each answer; nothing where too large."""
    answers = range(channel.answers)
    if channel.answers > _MAX_CELLS:
        return "sends", []
    if channel.set_valued is not None:
        hit, stray = channel.set_valued.p_true, channel.set_valued.p_false
        return "includes", [
            [hit if x == j else stray for x in answers] for j in answers
        ]
    if channel.responses > _MAX_CELLS:
        return "sends", []
    return "sends", [
        [channel.probability(y, given=x) for x in answers]
        for y in range(channel.responses)
    ]


def _most_informative_row(
    cells: Sequence[Sequence[Fraction]],
) -> tuple[int, int, int]:
    """Return the row whose largest and smallest entries differ most in ratio, the last such, and the two columns."""

    def ratio(number: int) -> tuple[float, int]:
        low, high = min(cells[number]), max(cells[number])
        if not low:
            return math.inf if high else 0.0, number
        return float(high / low), number

    best = max(range(len(cells)), key=ratio)
    row = list(cells[best])
    return best, row.index(max(row)), row.index(min(row))


def _binary_odds(
    channel: Channel,
) -> tuple[str, int, int, int, tuple[Fraction, ...]]:
    """Return kind, subject, two answers and their frequencies for a design that is too large for a table."""
    last = channel.answers - 1
    supports = channel.two_level
    if supports is not None and (channel.sizes or _names_a_category(supports)):
        return (
            "includes" if channel.sizes else "sends",
            last,
            last,
            0,
            (supports.p_true, supports.p_false),
        )
    if channel.responses > _MAX_RESPONSES:
        return "speaks", last, last, 0, ()
    pairs = [
        (channel.probability(y, given=last), channel.probability(y, given=0))
        for y in range(channel.responses)
    ]
    fitting = [pair for pair in pairs if pair[0] > pair[1]]
    likely, unlikely = (
        sum((pair[index] for pair in fitting), Fraction(0)) for index in (0, 1)
    )
    return "speaks", last, last, 0, (likely, unlikely)


def _names_a_category(channel: TwoLevel) -> bool:
    """Say whether a response supports one answer alone, that of its own number, so that to send it is to name it."""
    last = channel.answers - 1
    alike = channel.responses == channel.answers
    return alike and channel.supports(last, last) and channel.supporters(last) == 1

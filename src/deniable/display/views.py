"""Tables of the response probabilities of a design, exact and small enough to be read.

A table has a row for each response and a column for each answer; a channel too large to write out is
shown by its two levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import islice
from typing import NamedTuple

from deniable.channel import Diagonal, Patterns, Sets, TwoLevel
from deniable.designs import Design
from deniable.rendering import MAX_ANSWERS, MAX_RESPONSES

MAX_PICTURED = 40
"""Rows and columns of a picture of probabilities; most of them without a label."""
MAX_PANELS = 6
"""Tables of one design that are shown, such as those of its stages."""


class ChannelView(NamedTuple):
    """A table of probabilities.

    Attributes:
        title: which part of a design it is; empty where it is all of it.
        given: the columns: what a respondent may truly be.
        responses: the rows.
        chances: the exact probability of each response given each answer.
        across: what the columns are.
        note: what is not on it; empty where all is.
    """

    title: str
    given: tuple[str, ...]
    responses: tuple[str, ...]
    chances: tuple[tuple[Fraction, ...], ...]
    across: str = "true answer"
    note: str = ""

    @property
    def highest(self) -> Fraction:
        """The largest probability."""
        return max(map(max, self.chances))


def design_views(
    design: Design, *, pictured: bool = False
) -> tuple[ChannelView, ...]:
    """Return the tables of a design for categories: one, or of several attributes one for each of the first few.

    Args:
        design: the design.
        pictured: for a picture, which has room for more rows and columns.

    Example:
        >>> from deniable.designs import k_ary, warner
        >>> design_views(warner(p="3/4"))[0].chances[0]
        (Fraction(3, 4), Fraction(1, 4))
        >>> design_views(k_ary(1000, p="1/2"))[0].chances[0]
        (Fraction(1, 2), Fraction(1, 1998))
    """
    channel = design.channel
    if channel.answers <= MAX_ANSWERS and channel.responses <= MAX_RESPONSES:
        return (_view_corner(design, MAX_RESPONSES, MAX_ANSWERS),)
    if design.factors:
        return part_views(
            [(factor.attribute, factor.design) for factor in design.factors],
            pictured=pictured,
        )
    if channel.two_level is not None:
        return (_view_levels(channel.two_level),)
    if channel.patterned is not None:
        return (_view_patterns(channel.patterned),)
    limits = (
        (MAX_PICTURED, MAX_PICTURED) if pictured else (MAX_RESPONSES, MAX_ANSWERS)
    )
    view = _view_corner(design, *limits)
    if (len(view.responses), len(view.given)) == (
        channel.responses,
        channel.answers,
    ):
        return (view,)
    return (
        view._replace(
            note=f"The first of {channel.answers:,} answers and {channel.responses:,} responses."
        ),
    )


def part_views(
    parts: Sequence[tuple[str, Design]], *, pictured: bool = False
) -> tuple[ChannelView, ...]:
    """Return a table for each of the first few parts of a design, named after the part."""
    return tuple(
        design_views(design, pictured=pictured)[0]._replace(title=name)
        for name, design in parts[:MAX_PANELS]
    )


def _view_corner(design: Design, max_rows: int, max_columns: int) -> ChannelView:
    """Return the first rows and columns of a channel; responses that are never sent have no row."""
    channel = design.channel
    possible = (
        number for number in range(channel.responses) if channel.possible(number)
    )
    rows, columns = (
        list(islice(possible, max_rows)),
        range(min(channel.answers, max_columns)),
    )
    return ChannelView(
        "",
        tuple(design.categories[j] for j in columns),
        tuple(design.symbols[i] for i in rows),
        tuple(tuple(channel.probability(i, given=j) for j in columns) for i in rows),
    )


def _view_patterns(channel: Patterns) -> ChannelView:
    """Return how often the answer is on each level of a response, and how often any one other category."""
    rates = channel.level_rates
    return ChannelView(
        "",
        ("the answer", "any one other category"),
        tuple(f"is on level {level}" for level in range(len(rates))),
        tuple(rates),
        "category",
        f"Of {channel.answers:,} categories all are treated alike.",
    )


def _view_levels(channel: TwoLevel) -> ChannelView:
    """Return how often a response supports the answer, and how often any one other category."""
    row_names = {
        Diagonal: ("is sent", "is not sent"),
        Sets: ("is in the set sent", "is not in it"),
    }
    names = next(
        (pair for kind, pair in row_names.items() if isinstance(channel, kind)), None
    )
    hit, stray = channel.p_true, channel.p_false
    return ChannelView(
        "",
        ("the answer", "any one other category"),
        names or ("is supported by the response", "is not supported"),
        ((hit, stray), (1 - hit, 1 - stray)),
        "category",
        f"Of {channel.answers:,} categories all are treated alike.",
    )

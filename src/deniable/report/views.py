"""What a design of any type does with an answer, as small tables of exact probabilities.

A table has a row for each response and a column for each answer; a channel too large to write out is told by its two
levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import singledispatch
from itertools import islice
from typing import Any, NamedTuple

from deniable.channel import Diagonal, Sets, TwoLevel
from deniable.designs import Deck, Design
from deniable.errors import InvalidRequest
from deniable.order.ladders import Ladder
from deniable.types.deck.claims import single_response_design
from deniable.types.drawn.design import DrawnDesign
from deniable.types.edges.design import EdgeDesign
from deniable.types.key_value.design import NAMES, KeyValueDesign
from deniable.types.strings.design import StringDesign

MOST_ANSWERS = 12
"""Columns of a table of probabilities that stand beside each other; in a picture, `MOST_PICTURED`."""
MOST_RESPONSES = 24
"""Its rows."""
MOST_PICTURED = 40
"""Rows and columns of a picture of probabilities; most of them without a label."""
MOST_PANELS = 6
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


@singledispatch
def channel_views(thing: Any, *, pictured: bool = False) -> tuple[ChannelView, ...]:  # noqa: ARG001 - as those below
    """Return the tables of a design of any type; of a ladder a table for each stage, the first few of them.

    Args:
        thing: the design.
        pictured: for a picture, which has room for more.

    Raises:
        InvalidRequest: nothing that answers go through.

    Example:
        >>> from deniable.designs import k_ary, warner
        >>> channel_views(warner(p="3/4"))[0].chances[0]
        (Fraction(3, 4), Fraction(1, 4))
        >>> channel_views(k_ary(1000, p="1/2"))[0].chances[0]
        (Fraction(1, 2), Fraction(1, 1998))
    """
    raise InvalidRequest(f"a {type(thing).__name__} has no probabilities to show; expected a design of any type.")


@channel_views.register
def _of_design(design: Design, *, pictured: bool = False) -> tuple[ChannelView, ...]:
    channel = design.channel
    if channel.answers <= MOST_ANSWERS and channel.responses <= MOST_RESPONSES:
        return (_written(design, MOST_RESPONSES, MOST_ANSWERS),)
    if design.factors:
        return _of_parts([(factor.attribute, factor.design) for factor in design.factors], pictured=pictured)
    if isinstance(channel, TwoLevel):
        return (_two_levels(channel),)
    most = (MOST_PICTURED, MOST_PICTURED) if pictured else (MOST_RESPONSES, MOST_ANSWERS)
    found = _written(design, *most)
    if (len(found.responses), len(found.given)) == (channel.responses, channel.answers):
        return (found,)
    told = f"The first of {channel.answers:,} answers and {channel.responses:,} responses."
    return (found._replace(note=told),)


@channel_views.register
def _of_deck(deck: Deck, *, pictured: bool = False) -> tuple[ChannelView, ...]:
    return _of_design(single_response_design(deck), pictured=pictured)


@channel_views.register
def _of_drawn(design: DrawnDesign, *, pictured: bool = False) -> tuple[ChannelView, ...]:
    return _of_parts([(factor.attribute, factor.design) for factor in design.factors], pictured=pictured)


@channel_views.register
def _of_ladder(ladder: Ladder, *, pictured: bool = False) -> tuple[ChannelView, ...]:
    stages = [(f"stage {number}", design) for number, design in enumerate(ladder.designs, 1)]
    return _of_parts(stages, pictured=pictured)


@channel_views.register
def _of_items(design: KeyValueDesign, *, pictured: bool = False) -> tuple[ChannelView, ...]:
    symbol = design.scheme.symbol
    small = Design("symbol", NAMES, NAMES[-symbol.responses :], symbol)
    return tuple(each._replace(title="an item that is looked at") for each in _of_design(small, pictured=pictured))


@channel_views.register
def _of_edges(design: EdgeDesign, *, pictured: bool = False) -> tuple[ChannelView, ...]:
    return tuple(each._replace(title="the weight of an edge") for each in _of_design(design.choice, pictured=pictured))


@channel_views.register
def _of_strings(design: StringDesign, *, pictured: bool = False) -> tuple[ChannelView, ...]:  # noqa: ARG001 - two by two
    hit, stray = design.bit
    rows = ((hit, stray), (1 - hit, 1 - stray))
    return (ChannelView("each bit", ("a true 1", "a true 0"), ("1", "0"), rows),)


def _of_parts(parts: Sequence[tuple[str, Design]], *, pictured: bool) -> tuple[ChannelView, ...]:
    """Return the tables of the first few parts."""
    return tuple(_of_design(design, pictured=pictured)[0]._replace(title=name) for name, design in parts[:MOST_PANELS])


def _written(design: Design, most_responses: int, most_given: int) -> ChannelView:
    """Return the first rows and columns of a channel; responses that are never sent have no row."""
    channel = design.channel
    sent = (number for number in range(channel.responses) if channel.possible(number))
    down, across = list(islice(sent, most_responses)), range(min(channel.answers, most_given))
    chances = tuple(tuple(channel.probability(i, given=j) for j in across) for i in down)
    given, responses = (tuple(design.categories[j] for j in across), tuple(design.symbols[i] for i in down))
    return ChannelView("", given, responses, chances)


def _two_levels(channel: TwoLevel) -> ChannelView:
    """Return how often a response supports the answer, and how often any one other category."""
    rows = {Diagonal: ("is sent", "is not sent"), Sets: ("is in the set sent", "is not in it")}
    named = next((words for kind, words in rows.items() if isinstance(channel, kind)), None)
    hit, stray = channel.hit_rate, channel.stray_rate
    note = f"Of {channel.answers:,} categories all are treated alike."
    return ChannelView(
        "",
        ("the answer", "any one other category"),
        named or ("is supported by the response", "is not supported"),
        ((hit, stray), (1 - hit, 1 - stray)),
        "category",
        note,
    )

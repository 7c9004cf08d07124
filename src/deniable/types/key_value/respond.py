"""Step 2, at the respondent: items with weights → one response, and what raises it. The standard library alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from math import lcm
from typing import NamedTuple

from deniable import chance
from deniable.chance import SYSTEM, Source
from deniable.channel import Dense
from deniable.designs.labels import SEPARATOR
from deniable.documents import Response
from deniable.errors import Incompatible
from deniable.types.key_value.design import NAMES, KeyValueDesign, symbol_design
from deniable.types.key_value.form import NOT_TICKED
from deniable.types.key_value.schemes import (
    MINUS,
    NONE,
    PLUS,
    Row,
    Unary,
    Weight,
    answers,
    of_weight,
)

__all__ = [
    "Symbol",
    "category_of",
    "respond",
    "settle",
    "symbol_design",
    "upgraded_response",
]


def respond(
    design: KeyValueDesign, answer: Mapping[str, Weight], *, source: Source = SYSTEM
) -> Response:
    """Draw the one response to somebody's true items and weights; only the response leaves this function.

    Guarantee: drawn with exactly the integer weights from which the design's ε is derived. How many items there are,
    which, and how much of each are all protected together. Responding again reveals as much again.

    Args:
        design: what to draw with.
        answer: the truth: a weight for each item that somebody has. Whoever has none responds with an empty mapping.
        source: random bytes; the operating system's by default.

    Raises:
        InvalidAnswer: an item that the design does not know, or a weight that does not fit. Neither is repeated.

    Example:
        >>> from deniable.types.key_value.design import lpp_ddagger
        >>> design = lpp_ddagger(["tea", "coffee"], epsilon=1)
        >>> respond(design, {"tea": 0.5}).symbol[2:] in ("tea", "coffee")
        True
    """
    return Response(
        design.hash,
        design.symbol(design.scheme.draw_response(design.row(answer), source)),
    )


def category_of(
    design: KeyValueDesign, answer: Mapping[str, Weight], *, source: Source = SYSTEM
) -> str:
    """Return the category that an answer has on a page: each weight is rounded at random to a level beside it.

    Guarantee: a rounded weight has the weight as its mean, and is rounded to a sign afterwards. So responses have the
    probabilities that they have without levels.

    Raises:
        InvalidAnswer: an item that the design does not know, or a weight that does not fit. Neither is repeated.

    Example:
        >>> from deniable.types.key_value.design import lpp_club
        >>> category_of(lpp_club(["tea", "milk"], 1, low=1, high=5), {"milk": 4})
        'none · 4'
    """
    row, steps = design.row(answer), len(design.levels) - 1
    known = []
    for item in range(len(design.items)):
        if item not in row:
            known.append(NOT_TICKED)
            continue
        place = (1 + row[item]) / 2 * steps
        level = int(place) + chance.happens(place - int(place), source)
        known.append(str(design.levels[level]))
    return SEPARATOR.join(known)


class Symbol(NamedTuple):
    """One symbol of a response; the answer stays with the respondent.

    Attributes:
        item: which item it is about.
        answer: what went into the small channel: none, + or -.
        response: what came out, as a response of the small design.
    """

    item: str
    answer: str
    response: Response


def settle(
    design: KeyValueDesign,
    answer: Mapping[str, Weight],
    response: Response | str,
    *,
    source: chance.Source = chance.SYSTEM,
) -> tuple[Symbol, ...]:
    """Return the symbols of a response, each with what went into the small channel in front of it.

    Guarantee: the place that was drawn and the rounded weight follow their law given the response, exactly. Only the
    respondent can do this, and whatever is returned here stays there. How many words are taken does not depend on the
    answer, but once in about 2^64 draws.

    Raises:
        InvalidAnswer: an item that the design does not know, or a weight that does not fit. Neither is repeated.
        InvalidResponse: not a response of this design.
        Incompatible: a response of another design, or of one that is not made of small channels.
    """
    if isinstance(response, Response) and response.design != design.hash:
        raise Incompatible(
            f"the response was drawn with another design; expected {design!r}."
        )
    small, row, scheme = symbol_design(design), design.row(answer), design.scheme
    sent, drawn = _split_response(design, response, row, source)
    weight, seen = (
        (None, NONE) if drawn is None else (row.get(drawn), dict(sent)[drawn])
    )
    rounded = _draw_rounding(scheme.symbol, weight, seen, source)
    return tuple(
        Symbol(
            design.items[item],
            NAMES[rounded if item == drawn else NONE],
            Response(small.hash, small.symbols[each]),
        )
        for item, each in sent
    )


def _split_response(
    design: KeyValueDesign,
    response: Response | str,
    row: Row,
    source: chance.Source,
) -> tuple[list[tuple[int, int]], int | None]:
    """Return the symbol of each item that a response tells of, and the item that was drawn."""
    scheme = design.scheme
    number = design.response_number(
        response.symbol if isinstance(response, Response) else response
    )
    if isinstance(scheme, Unary):
        sent = list(enumerate(scheme.vector(number)))
        drawn: int | None = _place(scheme, row, [each for _, each in sent], source)
    else:
        item, symbol = divmod(number, scheme.symbol.responses)
        sent, drawn = [(item, symbol)], item
    return sent, drawn


def upgraded_response(
    design: KeyValueDesign, symbols: Iterable[tuple[str, Response]]
) -> Response:
    """Return the response of a finer design, given the new response to each symbol with its item.

    Raises:
        Incompatible: a symbol of another design.
        InvalidResponse: not a symbol.
    """
    small, scheme = symbol_design(design), design.scheme
    parts = []
    for item, response in symbols:
        if response.design != small.hash:
            raise Incompatible(
                f"a symbol was drawn with another design; expected the small design of {design!r}."
            )
        parts.append(
            (design.item_number(item), small.symbol_number(response.symbol))
        )
    if isinstance(scheme, Unary):
        number = sum(symbol * 3**item for item, symbol in parts)
    else:
        ((item_number, symbol),) = parts
        number = item_number * scheme.symbol.responses + symbol
    return Response(design.hash, design.symbol(number))


def _draw_rounding(
    symbol: Dense, weight: Fraction | None, sent: int, source: chance.Source
) -> int:
    """Draw the rounding of a weight, given the symbol that was sent."""
    if weight is None:
        chance.spare(1, source)
        return NONE
    plus, minus = answers(weight)
    odds = [
        plus * symbol.probability(sent, given=PLUS),
        minus * symbol.probability(sent, given=MINUS),
    ]
    return (PLUS, MINUS)[_draw_weighted(odds, source)]


def _place(
    scheme: Unary, row: Row, sent: Sequence[int], source: chance.Source
) -> int | None:
    """Draw which item stood in the place that was drawn, given the vector that was sent; None for an empty place."""
    items, symbol = sorted(row), scheme.symbol
    odds = [
        of_weight(symbol, sent[item], row[item])
        / symbol.probability(sent[item], given=NONE)
        for item in items
    ]
    slot = _draw_weighted(
        [*odds, Fraction(max(scheme.padding - len(items), 0))], source
    )
    return items[slot] if slot < len(items) else None


def _draw_weighted(odds: Sequence[Fraction], source: chance.Source) -> int:
    """Draw one of several outcomes with exactly these odds."""
    common = lcm(*(each.denominator for each in odds))
    return chance.choose(
        list(accumulate(int(each * common) for each in odds)), source
    )

"""Any explicit matrix of probabilities."""

from __future__ import annotations

from collections.abc import Sequence

from deniable import exact
from deniable.channel import Dense
from deniable.design.design import Design
from deniable.design.labels import Labels
from deniable.design.registry import register
from deniable.errors import InvalidDesign


@register(
    {"rows": [["5/6", "1/6"], ["1/6", "5/6"]], "categories": ["carrier", "not"], "symbols": ["yes", "no"]},
    {"rows": [[0.6, 0.2, 0.1], [0.3, 0.5, 0.2], [0.1, 0.3, 0.7]]},
    {"rows": [[0.5, 0.1], [0.25, 0.25], [0.25, 0.65]]},
    {"rows": [["1/2", 0, "1/3"], ["1/2", "1/2", "1/3"], [0, "1/2", "1/3"]]},
)
def matrix(
    rows: Sequence[Sequence[exact.Rational]],
    *,
    categories: Labels | None = None,
    symbols: Labels | None = None,
) -> Design:
    """Build a design from its matrix: `rows[i][j]` is the probability of response i given answer j.

    Floats are read as the decimals they show; "1/6" and Fractions are taken as they are.

    Guarantee: the parity of exactly these numbers; infinite where a row holds both a zero and a positive number.

    Raises:
        InvalidDesign: not a rectangle of at least 2 × 2, or a column that does not add up to exactly 1.
        InvalidNumber: a cell that is no probability.

    Example:
        >>> forced = matrix([["5/6", "1/6"], ["1/6", "5/6"]], categories=["yes", "no"])
        >>> forced.parity
        Fraction(5, 1)
    """
    try:
        cells = [
            [exact.probability(cell, name=f"P[{i}][{j}]") for j, cell in enumerate(row)] for i, row in enumerate(rows)
        ]
    except TypeError:
        raise InvalidDesign("the matrix is not a table; expected a list of rows of numbers.") from None
    channel = Dense.of(cells)
    square = channel.answers == channel.responses
    known = categories if categories is not None else channel.answers
    if symbols is None:
        symbols = known if square else channel.responses
    return Design("matrix", known, symbols, channel)  # type: ignore[arg-type]  # Design reads labels

"""A column of a table, with a row for each respondent: responses to a design, or what is openly known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.designs import Design, direct
from deniable.errors import InvalidRequest, InvalidResponse
from deniable.tallies.groups import Group, group_name, numbered
from deniable.tallies.responses import Responses

__all__ = ["KnownColumn", "column_of"]


class KnownColumn(NamedTuple):
    """A column whose rows are numbers of responses.

    Attributes:
        design: what they were drawn with; `direct` for what is openly known.
        codes: the number of each row's response; -1 where there is none.
        name: what the column is called, or nothing.
        open: whether it is openly known, and nothing was drawn.
    """

    design: Design
    codes: NDArray[np.int64]
    name: str
    open: bool


def column_of(given: object) -> KnownColumn:
    """Read a column.

    Args:
        given: `Responses` of a design for categories; such a design with what was sent, in a tuple; or a column of what
            is openly known.

    Raises:
        InvalidRequest: nothing, a design for something else, or a column with one answer.
        InvalidResponse: something that the design cannot send.
    """
    if isinstance(given, Responses):
        _check_codes(given.design)
        codes = np.asarray(given.columns["response"], np.int64)
        return KnownColumn(
            given.design, codes if given.missing is None else np.where(given.missing, -1, codes), "", False
        )
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], Design):
        design, column = given
        _check_codes(design)
        return KnownColumn(design, _codes(design, *numbered(column)), _name(column), False)
    if given is None:
        raise InvalidRequest("there is one column; expected two, for rows and columns.")
    order, numbers = numbered(given)
    known = [each for each in order if each is not None]
    if len(known) < 2:
        raise InvalidRequest(f"a column holds {len(known)} different values; expected at least two.")
    places = np.array([known.index(each) if each is not None else -1 for each in order], np.int64)
    return KnownColumn(direct([group_name(each) for each in known]), places[numbers], _name(given), True)


def _check_codes(design: Any) -> None:
    if not isinstance(design, Design) or design.asks != "categories" or design.channel.coding.ndim != 1:
        raise InvalidRequest(
            f"these are responses to {design!r}; expected a design for categories whose responses are numbered.",
            "For sets and strings use dn.association(first, second).",
        )


def _codes(design: Design, values: list[Group], rows: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return the number of each response: labels, or codes."""
    found = []
    for at, value in enumerate(values):
        found.append(-1 if value is None else _code(design, value, int((rows == at).argmax())))
    return np.array(found, np.int64)[rows] if found else np.empty(0, np.int64)


def _code(design: Design, value: Any, row: int) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # as a table has whole numbers beside gaps
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidResponse(f"row {row + 1:,} holds a {type(value).__name__}; expected a label or a code.")
    try:
        number = design.symbol_number(value) if isinstance(value, str) else value
    except InvalidResponse as error:
        raise InvalidResponse(f"row {row + 1:,}: {error.problem}", error.hint) from None
    if not isinstance(value, str) and str(value) in design.symbols and design.symbol_number(str(value)) != value:
        raise InvalidResponse(
            f"row {row + 1:,} is a whole number, and so are symbols of this design; expected text, to tell them apart.",
            "Count with dn.tally(design, column, codes=True or False), or turn the column into text.",
        )
    if not 0 <= number < design.channel.responses:
        raise InvalidResponse(f"row {row + 1:,} is not below {design.channel.responses:,}; expected a response.")
    return number


def _name(column: Any) -> str:
    name = getattr(column, "name", None)
    return name if isinstance(name, str) else ""

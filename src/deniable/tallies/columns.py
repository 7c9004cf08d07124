"""A column of a table, with a row for each respondent: responses to a design, or what is openly known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.designs import Design
from deniable.designs.attributes import openly_known
from deniable.errors import InvalidRequest
from deniable.tallies.groups import group_name, numbered
from deniable.tallies.responses import Responses
from deniable.tallies.rows import name_of

__all__ = ["KnownColumn", "column_of"]


class KnownColumn(NamedTuple):
    """A column whose rows are numbers of responses.

    Attributes:
        design: what they were drawn with; `openly_known` for what nobody was asked.
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
            given.design, codes if given.missing is None else np.where(given.missing, -1, codes), given.name, False
        )
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], Design):
        design, column = given
        _check_codes(design)
        return column_of(Responses.of(design, column))
    if given is None:
        raise InvalidRequest("there is one column; expected two, for rows and columns.")
    order, numbers = numbered(given)
    known = [each for each in order if each is not None]
    if len(known) < 2:
        raise InvalidRequest(f"a column holds {len(known)} different values; expected at least two.")
    places = np.array([known.index(each) if each is not None else -1 for each in order], np.int64)
    return KnownColumn(openly_known([group_name(each) for each in known]), places[numbers], name_of(given), True)


def _check_codes(design: Any) -> None:
    if not isinstance(design, Design) or design.asks != "categories" or design.channel.coding.ndim != 1:
        raise InvalidRequest(
            f"these are responses to {design!r}; expected a design for categories whose responses are numbered.",
            "For sets and strings use dn.association(first, second).",
        )

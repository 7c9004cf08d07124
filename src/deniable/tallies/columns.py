"""A column of a table, with a row for each respondent: responses to a design, or what is openly known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.designs import Design, direct
from deniable.designs.labels import Labels
from deniable.errors import InvalidRequest
from deniable.files.row_names import name_of
from deniable.tallies.group_labels import group_name, number_groups
from deniable.tallies.responses import Responses

__all__ = [
    "KnownColumn",
    "asked_part",
    "column_of",
    "known_attributes",
    "public_attribute",
    "subject",
]


_KNOWN = "openly known"


def public_attribute(categories: Labels) -> Design:
    """Return the design of a public attribute, such as a sex that stands in the register.

    It sends what is as `direct` does, and has another name: nothing was revealed by it.

    Raises:
        InvalidDesign: fewer than two categories, or more than a thousand.
    """
    return replace(direct(categories), name=_KNOWN)


def asked_part(design: Design) -> Design:
    """Return what people were asked with: a design without its attributes that are openly known.

    Why: what is known of a respondent before they respond is no part of what the responses reveal; the odds between two
    answers of one person, whose known attributes are the same, change by the parity of the others at most.

    Example:
        >>> from deniable.designs import product, warner
        >>> asked_part(product({"smokes": warner(1), "sex": public_attribute(["f", "m"])})).epsilon
        1.0
    """
    asked = [
        name for name in design.attributes if name not in known_attributes(design)
    ]
    return design.part(*asked) if 0 < len(asked) < len(design.factors) else design


def known_attributes(design: Design) -> tuple[str, ...]:
    """Return the attributes of a design that are openly known."""
    return tuple(
        attribute for attribute, part in design.factors if part.name == _KNOWN
    )


def subject(design: Design) -> str:
    """Return what a design is called above a table: two attributes against each other, or its name.

    Example:
        >>> from deniable.designs import product, warner
        >>> subject(product({"smokes": warner(1), "drinks": warner(1)})), subject(warner(1))
        ('smokes by drinks', 'warner')
    """
    return (
        " by ".join(design.attributes)
        if len(design.attributes) == 2
        else design.name
    )


class KnownColumn(NamedTuple):
    """A column whose rows are numbers of responses.

    Attributes:
        design: what they were drawn with; `public_attribute` for what nobody was asked.
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
        codes = np.where(given.gaps, -1, given.columns["response"].astype(np.int64))
        return KnownColumn(given.design, codes, given.name, False)
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], Design):
        design, column = given
        _check_codes(design)
        return column_of(Responses.of(design, column))
    if isinstance(given, Design):
        raise InvalidRequest(
            "a design was given without what was sent; expected both, or responses.",
            "Write (design, column).",
        )
    if hasattr(given, "columns") or isinstance(given, Mapping):
        raise InvalidRequest(
            "a table was given in place of a column; expected two columns, of which one or both hold responses.",
            'For example dn.cross_table((design, frame["drug"]), frame["sex"]).',
        )
    if given is None:
        raise InvalidRequest(
            "there is one column; expected two, for rows and columns."
        )
    return _number_values(given)


def _number_values(given: object) -> KnownColumn:
    """Read a column of public values, whose groups are its categories."""
    order, numbers = number_groups(given)
    groups = [group for group in order if group is not None]
    if len(groups) < 2:
        raise InvalidRequest(
            f"a column holds {len(groups)} different values; expected at least two."
        )
    codes = np.array(
        [-1 if group is None else groups.index(group) for group in order]
    )
    design = public_attribute([group_name(group) for group in groups])
    return KnownColumn(design, codes[numbers], name_of(given), True)


def _check_codes(design: object) -> None:
    if (
        not isinstance(design, Design)
        or design.answer_form != "labels"
        or design.channel.coding.ndim != 1
    ):
        raise InvalidRequest(
            f"these are responses to {design!r}; expected a design for categories whose responses are numbered.",
            "For sets and strings use dn.association(first, second).",
        )

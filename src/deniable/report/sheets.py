"""The table of anything that is displayed: a design or a tally of any type, groups of tallies, an order of designs."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from deniable import exact
from deniable.display.sheets import tally_title
from deniable.errors import InvalidRequest
from deniable.groups.tallies import GroupedTally
from deniable.order.blackwell import Garbling, Order, Separation
from deniable.rendering import Sheet, formats
from deniable.tallies.group_labels import group_name
from deniable.types import FOLDERS, operation

_RELATIONS = {
    "equal": "Both designs tell the same.",
    "finer": "The first design tells more than the second.",
    "coarser": "The second design tells more than the first.",
    "incomparable": "Neither design tells all that the other tells.",
}


@singledispatch
def sheet_of(thing: Any) -> Sheet:
    """Return the table of a design, a tally, or an order of designs.

    Raises:
        InvalidRequest: something else.

    Example:
        >>> from deniable.designs import warner
        >>> sheet_of(warner(p="3/4")).cells[0]
        ('no', '75.0%', '25.0%', '3')
    """
    design = getattr(thing, "design", thing)
    if getattr(design, "asks", None) not in FOLDERS:
        raise InvalidRequest(
            f"there is no table of a {type(thing).__name__}; expected a design, a tally or a result."
        )
    table: Sheet = operation(
        design, "tally_sheet" if hasattr(thing, "respondents") else "sheet"
    )(thing)
    return table


@sheet_of.register
def _groups_sheet(tally: GroupedTally) -> Sheet:
    weight = ("weight",) if tally.weighted else ()
    values = tuple(
        (
            group_name(group),
            part.respondents,
            *([float(sum(part.weights))] if tally.weighted else []),
            part.missing,
        )
        for group, part in tally.items()
    )
    return Sheet(
        tally_title(tally),
        heads=("group", "responses", *weight, "sent nothing"),
        cells=tuple(
            tuple(
                f"{cell:,.10g}" if isinstance(cell, float) else formats.cell(cell)
                for cell in row
            )
            for row in values
        ),
        names=("group", "responses", *weight, "missing"),
        values=values,
        sizes=tuple(float(row[1]) for row in values),
    )


@sheet_of.register
def _order_sheet(order: Order) -> Sheet:
    directions = {
        "second from first": order.second_from_first,
        "first from second": order.first_from_second,
    }
    return Sheet(
        _RELATIONS[order.relation],
        heads=("made", "possible", "how, or why not"),
        cells=tuple(
            (name, "yes" if proof else "no", _reason(proof))
            for name, proof in directions.items()
        ),
        names=("made", "possible", "how"),
    )


def _reason(proof: Garbling | Separation) -> str:
    if isinstance(proof, Garbling):
        return proof.recipe
    return f"{proof.game}: {exact.shown(proof.coarse)} against {exact.shown(proof.fine)} at most"

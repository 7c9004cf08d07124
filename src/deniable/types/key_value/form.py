"""How items with weights are asked on a page: ticked in a list, and rated."""

from __future__ import annotations

from deniable.designs import FieldedDesign
from deniable.designs.labels import Combinations
from deniable.types.key_value.design import (
    KeyValueDesign,
    Vectors,
    lpp,
    lpp_club,
    lpp_ddagger,
    pckv_grr,
    pckv_ue,
    symbol_design,
)
from deniable.types.key_value.schemes import Index, ItemsChannel, Padded, Unary

__all__ = ["FAMILIES", "NOT_TICKED", "device_words", "page_design", "ticked"]

FAMILIES = (lpp, lpp_ddagger, lpp_club, pckv_ue, pckv_grr)
"""What a survey's file builds designs with; padded ones name their padding."""

NOT_TICKED = "none"
"""The first level of each item: whoever does not have it."""


def page_design(design: KeyValueDesign) -> FieldedDesign:
    """Return the design as one exact channel, from a level of each item to what is sent.

    Example:
        >>> from deniable.types.key_value.design import lpp_club
        >>> page_design(lpp_club(["tea", "milk"], 1, low=1, high=5)).categories[8]
        '1 · 2'
    """
    levels, scheme = design.levels, design.scheme
    middle, half = (design.low + design.high) / 2, (design.high - design.low) / 2
    is_vector = isinstance(scheme, Unary)
    known = (NOT_TICKED, *map(str, levels))
    return FieldedDesign(
        design.name,
        Combinations([known] * scheme.items),
        Vectors(design)
        if is_vector
        else tuple(map(design.symbol, range(scheme.responses))),
        ItemsChannel(scheme, tuple((level - middle) / half for level in levels)),
        about=design,
        attributes=tuple(design.items),
        pictured=symbol_design(design) if isinstance(scheme, Index) else None,
    )


def ticked(design: KeyValueDesign) -> bool:  # noqa: ARG001 - all of them
    """Say that what applies is ticked."""
    return True


def device_words(design: KeyValueDesign) -> tuple[str, dict[str, int]]:
    """Return which sentence tells what the device does, and the numbers in it."""
    scheme = design.scheme
    facts = {"count": scheme.items}
    if isinstance(scheme, Padded):
        return scheme.KIND, {**facts, "padding": scheme.padding}
    return ("index" if scheme.symbol.responses == 3 else "signs"), facts

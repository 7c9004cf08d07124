"""How attributes of which some are drawn are asked on a page: each by itself, or ticked in a list."""

from __future__ import annotations

from deniable.designs import FieldedDesign
from deniable.designs.labels import NO_YES, Combinations
from deniable.types.drawn.design import DrawnChannel, DrawnDesign

__all__ = ["device_words", "page_design", "ticked"]


def page_design(design: DrawnDesign) -> FieldedDesign:
    """Return the design as one exact channel, from a combination of all attributes to what is sent about some.

    Example:
        >>> from deniable.designs import warner
        >>> from deniable.types.drawn.design import drawn_items
        >>> page_design(drawn_items({"smokes": warner(1), "drinks": warner(1)})).categories[1]
        'no · yes'
    """
    parts = [part for _, part in design.factors]
    return FieldedDesign(
        "drawn_items",
        Combinations([part.categories for part in parts]),
        tuple(design.symbol(number) for number in range(design.responses)),
        DrawnChannel(design),
        about=design,
        caveat=design.caveat,
        attributes=design.attributes,
        pictured=max(parts, key=lambda part: part.parity),
    )


def ticked(design: DrawnDesign) -> bool:
    """Say whether everything is a yes or a no, so that what applies is ticked."""
    return all(tuple(part.categories) == NO_YES for _, part in design.factors)


def device_words(design: DrawnDesign) -> tuple[str, dict[str, int]]:
    """Return which sentence tells what the device does, and the numbers in it."""
    return "drawn", {"count": len(design.factors), "each": design.each}

"""Tables and pictures of designs for numbers in buckets: those of their levels."""

from __future__ import annotations

from deniable.display.sheets import parts_sheet
from deniable.rendering import Sheet, formats
from deniable.types.buckets.claims import caveats
from deniable.types.buckets.design import BucketDesign
from deniable.types.drawn.display import tally_picture, tally_sheet, views

__all__ = [
    "device_clause",
    "paper_title",
    "privacy_text",
    "sheet",
    "tally_picture",
    "tally_sheet",
    "views",
]


def sheet(design: BucketDesign) -> Sheet:
    """Return a table with a row for each level."""
    notes = (*privacy_text(design), *caveats(design))
    return parts_sheet(f"{design!r}", design.factors, notes)


def paper_title(design: BucketDesign) -> str:  # noqa: ARG001 - the same for all
    """Return the name of the method."""
    return "numbers in a tree of buckets"


def device_clause(design: BucketDesign) -> str:
    """Describe the device in a clause: the tree, and the design of each level."""
    tree = design.buckets
    lengths = "length" if tree.spacing == "linear" else "ratio"
    levels = formats.listing(
        [
            f"{part.name.replace('_', ' ')} for {part.channel.answers:,} nodes"
            for _, part in design.factors
        ]
    )
    return (
        f"a number from {tree.low:g} to {tree.high:g} was placed into one of {tree.count:,} buckets of one {lengths}; "
        f"one of the {len(design.factors)} levels of a tree over the buckets was drawn, whatever the number was, and "
        f"the node of that level was sent by {levels}"
    )


def privacy_text(design: BucketDesign) -> tuple[str, ...]:
    """Return sentences about what a response reveals at most.

    Example:
        >>> from deniable.types.buckets.design import bucket_design
        >>> privacy_text(bucket_design(0, 80, epsilon=1, count=16))[0]
        'A response is about one of 2 levels of 16 buckets, drawn at random; which one says nothing about the number.'
    """
    return (
        f"A response is about one of {len(design.factors)} levels of {design.buckets.count:,} buckets, drawn at "
        "random; which one says nothing about the number.",
        "Whatever is sent, the odds between any two numbers change by a factor of at most "
        f"{formats.factor(design.parity)} (ε = {formats.epsilon(design.epsilon)}).",
    )

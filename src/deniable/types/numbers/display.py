"""Tables and pictures of designs for numbers: those of their levels."""

from __future__ import annotations

from fractions import Fraction

from deniable.designs import NumberDesign
from deniable.display.named_designs import (
    MAX_LISTED,
    exchangeable_clause,
    print_probability,
)
from deniable.types.categories.display import (
    parts,
    picture_title,
    privacy_text,
    sheet,
    tally_picture,
    tally_sheet,
    views,
)

__all__ = [
    "device_clause",
    "paper_title",
    "parts",
    "picture_title",
    "privacy_text",
    "sheet",
    "tally_picture",
    "tally_sheet",
    "views",
]


def paper_title(design: NumberDesign) -> str:  # noqa: ARG001 - the same for all
    """Return the name of the method, with its source."""
    return "randomly rounded numbers; Pan 2024"


def device_clause(design: NumberDesign) -> str | None:
    """Describe the device in a clause: rounding, and how often a response holds the level."""
    channel, levels = design.channel, design.scale.values
    responses = range(channel.responses)
    columns = [
        [print_probability(channel.probability(y, given=x)) for y in responses]
        for x in range(channel.answers)
    ]
    probabilities = sorted(
        {text for column in columns for text in column}, key=Fraction
    )
    if (
        len(probabilities) != 2
        or len({column.count(probabilities[1]) for column in columns}) != 1
    ):
        return exchangeable_clause(design)
    rare, frequent = probabilities
    n_holding = columns[0].count(frequent)
    named_levels = levels if len(levels) <= MAX_LISTED else [*levels[:2], levels[-1]]
    listed = ", ".join(f"{float(level):g}" for level in named_levels[:-1])
    dots = ", …" if len(named_levels) < len(levels) else ""
    stretches = (
        f"{channel.responses} stretches of neighbouring levels"
        if n_holding > 1
        else f"the {channel.responses} levels"
    )
    holding = (
        f"each of the {n_holding} that hold it"
        if n_holding > 1
        else "the level itself"
    )
    return (
        f"a number from {float(design.range.low):g} to {float(design.range.high):g} was rounded at random, without "
        f"bias, to one of {len(levels)} levels ({listed}{dots} and {float(named_levels[-1]):g}); of {stretches} one "
        f"was sent: {holding} with probability {frequent}, and each of the others with probability {rare}"
    )

"""How a string is asked on a page: as a text that is entered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable import exact
from deniable.designs import FieldedDesign
from deniable.types.strings import design as designs
from deniable.types.strings.design import (
    TEXTS,
    Bloom,
    CohortBits,
    Prefixes,
    StringChannel,
    StringDesign,
)

__all__ = ["FAMILIES", "device_words", "page_design", "string_design"]


def page_design(design: StringDesign) -> FieldedDesign:
    """Return the design as one exact channel, from a text to the cohort and the bits that are sent.

    Example:
        >>> page_design(designs.string_design(Bloom(4, cohorts=2), 1)).symbols[17]
        '1 b1000'
    """
    bloom = design.bloom
    return FieldedDesign(
        "strings",
        TEXTS,
        CohortBits(bloom.cohorts, bloom.bits),
        StringChannel(design),
        about=design,
    )


def device_words(design: StringDesign) -> tuple[str, dict[str, int]]:
    """Return which sentence tells what the device does, and the numbers in it."""
    bloom = design.bloom
    facts = {"bits": bloom.bits, "hashes": bloom.hashes, "last": bloom.cohorts - 1}
    return "filter", facts


def string_design(
    epsilon: exact.Rational,
    *,
    bloom: Mapping[str, Any],
    optimized: bool = False,
) -> StringDesign:
    """Build a design for strings, with its filter in a table: `Bloom`, or `Prefixes.of` where there is an alphabet."""
    build = Prefixes.of if "alphabet" in bloom else Bloom
    return designs.string_design(build(**bloom), epsilon, optimized=optimized)


FAMILIES = (string_design,)
"""What a survey's file builds designs with."""

"""Claims about a design for numbers: those about its levels."""

from __future__ import annotations

from deniable.designs import NumberDesign
from deniable.types.categories.claims import claimed_parts, claims, labelled_design

__all__ = ["caveats", "claimed_parts", "claims", "labelled_design"]


def caveats(design: NumberDesign) -> tuple[str, ...]:  # noqa: ARG001 - the same for all
    """Return the assumptions and limits of the guarantee, in sentences."""
    return (
        "A number is first rounded to a level of its range, which tells no more than the number.",
    )

"""Claims about a design for numbers in buckets: those about its levels."""

from __future__ import annotations

from deniable.types.buckets.design import BucketDesign
from deniable.types.drawn.claims import claimed_parts, claims, labelled_design

__all__ = ["caveats", "claimed_parts", "claims", "labelled_design"]


def caveats(design: BucketDesign) -> tuple[str, ...]:  # noqa: ARG001 - the same for all
    """Return the assumptions and limits of the guarantee, in sentences."""
    return (
        "Which level was drawn is sent along; it does not depend on the number.",
        "A number tells its bucket, and the bucket its nodes: they reveal no more than the number.",
    )

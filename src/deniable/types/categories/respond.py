"""Answer → response. `deniable.responses` holds the draw, which a respondent's device loads without the other types."""

from deniable.responses import respond

__all__ = ["respond"]

"""The surfaces that refuse numbers, with their reasons."""

from deniable.types.surfaces import NOT_BY_HAND

__all__ = ["REFUSED"]

REFUSED: dict[str, str] = {
    "field kit": NOT_BY_HAND,
}

"""The surfaces that refuse a deck, with their reasons."""

from deniable.types.surfaces import IS_DEALT, NO_REGRESSION, NOT_FIELDED

__all__ = ["REFUSED"]

REFUSED: dict[str, str] = {
    **NOT_FIELDED,
    "files": IS_DEALT,
    "Spark": IS_DEALT,
    "groups": IS_DEALT,
    "regression": NO_REGRESSION,
    "field kit": IS_DEALT,
    "ledger": IS_DEALT,
}

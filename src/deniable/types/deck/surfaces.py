"""The surfaces that refuse a deck, with their reasons."""

from deniable.types.surfaces import FIELDED, IS_DEALT, NO_REGRESSION

__all__ = ["REFUSED"]

REFUSED: dict[str, str] = {
    **dict.fromkeys(FIELDED, IS_DEALT),
    "files": IS_DEALT,
    "Spark": IS_DEALT,
    "groups": IS_DEALT,
    "regression": NO_REGRESSION,
    "field kit": IS_DEALT,
    "ledger": IS_DEALT,
}

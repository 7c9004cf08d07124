"""The surfaces that refuse attributes of which some are drawn, with their reasons."""

from deniable.types.surfaces import NO_REGRESSION, NO_STAGES, NOT_BY_HAND

__all__ = ["REFUSED"]

REFUSED: dict[str, str] = {
    "regression": NO_REGRESSION,
    "field kit": NOT_BY_HAND,
    "ledger": NO_STAGES,
}

"""The surfaces that refuse bearings, with their reasons."""

from deniable.types.surfaces import NO_REGRESSION, NO_STAGES, NOT_BY_HAND

REFUSED: dict[str, str] = {
    "regression": NO_REGRESSION,
    "field kit": NOT_BY_HAND,
    "ledger": NO_STAGES,
}

"""The surfaces that refuse items with weights, with their reasons."""

from deniable.types.surfaces import (
    NO_PRECISION,
    NO_REGRESSION,
    NO_STAGES,
    NOT_BY_HAND,
)

__all__ = ["REFUSED"]

REFUSED: dict[str, str] = {
    "regression": NO_REGRESSION,
    "field kit": NOT_BY_HAND,
    "plan": NO_PRECISION,
    "ledger": NO_STAGES,
}

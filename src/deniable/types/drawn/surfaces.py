"""The surfaces that refuse attributes of which some are drawn, with their reasons."""

from deniable.types.surfaces import (
    NO_REGRESSION,
    NO_SCRIPT,
    NO_STAGES,
    NOT_BY_HAND,
    NOT_FIELDED,
)

__all__ = ["REFUSED"]

REFUSED: dict[str, str] = {
    **NOT_FIELDED,
    "regression": NO_REGRESSION,
    "browser draw": NO_SCRIPT,
    "field kit": NOT_BY_HAND,
    "ledger": NO_STAGES,
}

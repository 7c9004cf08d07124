"""The surfaces that refuse numbers in buckets, with their reasons."""

from deniable.types.surfaces import (
    NO_REGRESSION,
    NO_SCRIPT,
    NO_SHARE,
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
    "plan": NO_SHARE,
    "ledger": NO_STAGES,
}

"""The surfaces that refuse numbers in buckets, with their reasons."""

from deniable.types.surfaces import (
    FIELDED,
    NO_REGRESSION,
    NO_SHARE,
    NO_STAGES,
    NOT_BY_HAND,
)

__all__ = ["REFUSED"]

NO_TREE = "the page's script draws no level of a tree of buckets; expected a design for numbers, number_design."

REFUSED: dict[str, str] = {
    **dict.fromkeys((*FIELDED, "browser draw"), NO_TREE),
    "regression": NO_REGRESSION,
    "field kit": NOT_BY_HAND,
    "plan": NO_SHARE,
    "ledger": NO_STAGES,
}

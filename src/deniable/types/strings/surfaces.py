"""The surfaces that refuse strings, with their reasons."""

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
    "groups": "the strings found differ from group to group; expected shares, items or numbers, which compare.",
}

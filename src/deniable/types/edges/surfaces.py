"""The surfaces that refuse edges, with their reasons."""

from deniable.types.surfaces import (
    FIELDED,
    NO_PRECISION,
    NO_REGRESSION,
    NO_STAGES,
    NOT_BY_HAND,
)

__all__ = ["REFUSED"]

NO_FORM = "a page asks for all items of a person at once; expected items with weights, such as lpp_club."

REFUSED: dict[str, str] = {
    **dict.fromkeys((*FIELDED, "browser draw"), NO_FORM),
    "regression": NO_REGRESSION,
    "field kit": NOT_BY_HAND,
    "plan": NO_PRECISION,
    "ledger": NO_STAGES,
}

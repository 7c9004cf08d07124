"""The surfaces that refuse strings, with their reasons."""

from deniable.types.surfaces import NOT_ONE_QUESTION

__all__ = ["REFUSED"]

REFUSED: dict[str, str] = {
    **NOT_ONE_QUESTION,
    "groups": "the strings found differ from group to group; expected shares, items or numbers, which compare.",
}

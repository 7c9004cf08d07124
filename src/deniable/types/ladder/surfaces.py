"""The surfaces that refuse a ladder, with their reasons."""

__all__ = ["REFUSED"]

REFUSED: dict[str, str] = {
    "regression": "a regression reads one response of each person; expected the design and the column of one stage.",
    "field kit": "dice and cards cannot raise a response that is out; expected the design of one stage.",
    "plan": "each stage has a precision of its own; expected the design of one stage.",
}

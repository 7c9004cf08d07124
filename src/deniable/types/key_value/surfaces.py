"""The surfaces that refuse items with weights, with their reasons."""

from deniable.types.surfaces import NOT_ONE_QUESTION as REFUSED

__all__ = ["REFUSED"]

"""The surfaces that refuse edges, with their reasons."""

from deniable.types.surfaces import NOT_ONE_QUESTION as REFUSED

__all__ = ["REFUSED"]

"""How often each number was sent → the share of members."""

from deniable.estimates.decks import estimate_deck as estimate

__all__ = ["estimate"]

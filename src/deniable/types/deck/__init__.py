"""Decks: cards that are dealt, one to each respondent."""

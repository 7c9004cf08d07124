"""Ladders: one answer, released in stages of growing precision."""

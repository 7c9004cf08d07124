"""Means of values in a known range: rounded once to an end of it, kept, and released in stages."""

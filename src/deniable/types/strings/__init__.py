"""Strings that nobody has listed beforehand: Bloom filters in cohorts, randomized bit by bit and released in stages."""

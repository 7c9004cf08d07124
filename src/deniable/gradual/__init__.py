"""Gradual release: the certainty of an answer raised in stages, never paid for twice."""

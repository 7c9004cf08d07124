"""Simulate tallies of a design for numbers: those of its levels."""

from __future__ import annotations

from deniable.types.categories.simulate import simulate_tallies, tally_inverse

__all__ = ["simulate_tallies", "tally_inverse"]

"""Numbers that were scrambled elsewhere, by the classic designs: estimates, and what such a response reveals."""

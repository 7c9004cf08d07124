"""A key with its value: which items somebody has, and how much of each, under one ε for the whole row."""

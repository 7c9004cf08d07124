"""Exact privacy claims about channels, and how the claims of several parts combine.

The types of question state their claims with these functions (`types/<name>/claims.py`), and `certificates` seals them.
"""

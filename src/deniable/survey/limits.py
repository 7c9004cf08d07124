"""How much a survey may reveal about one respondent before somebody has to say so by name.

Why these: suppose that 10 of 100 people have some answer. After a response with ε = 3 that can be believed of at most
70 of 100, and after responses with ε = 6 together of at most 98. Beyond that a response no longer hides much, and what
is asked for then must be written down: `acknowledge` in a survey's file, a higher ceiling in a program.
"""

from __future__ import annotations

CEILING = 3
"""The largest ε of one question, at its finest stage."""

BUDGET = 6
"""The largest ε of all questions of a survey together: their responses leave in one message."""

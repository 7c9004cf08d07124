"""This machine as an engine: NumPy always, compiled kernels with the `fast` extra, threads, constant memory.

draw_all         a column of answers → a column of response codes, or of packed rows
draw_stream      the same over columns that come one after another
tally            a column of responses → a Tally
tally_stream     the same over columns that come one after another
join_attributes  a column of answers for each attribute → one column of codes
Keystream        secure random words in bulk
"""

from __future__ import annotations

from deniable.engines.local.bulk import draw_all, draw_stream, join_attributes, tally, tally_stream
from deniable.engines.local.words import Keystream

__all__ = ["Keystream", "draw_all", "draw_stream", "join_attributes", "tally", "tally_stream"]

"""This machine as an engine: NumPy always, compiled kernels with the `fast` extra, threads, constant memory.

respond        a column of answers → a column of response codes
tally          a column of responses → a Tally
stream         the first of them over columns that come one after another
tally_stream   the second
together       a column of answers for each attribute → one column of codes
Keystream      secure random words in bulk
"""

from __future__ import annotations

from deniable.engines.local import coded, sets  # noqa: F401 - they register how their channels are drawn
from deniable.engines.local.keystream import Keystream
from deniable.engines.local.respond import respond
from deniable.engines.local.stream import stream, tally_stream
from deniable.engines.local.tally import tally
from deniable.engines.local.together import together

__all__ = ["Keystream", "respond", "stream", "tally", "tally_stream", "together"]

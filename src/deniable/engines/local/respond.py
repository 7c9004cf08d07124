"""Step 2 over many rows: a column of answers → a column of response codes."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.chance import Source
from deniable.designs import Design
from deniable.engines.local import vectors
from deniable.engines.local.answers import Codes as AnswerCodes
from deniable.engines.local.answers import in_range, out_of_range, read
from deniable.engines.local.choose import check_threads, compiled, workers
from deniable.engines.local.draws import Draw, code_type, prepare, space
from deniable.engines.local.keystream import Keystream
from deniable.engines.local.vectors import Codes
from deniable.engines.local.words import CHUNK, Words

BLOCK = 1 << 20
"""Answers that a thread takes at a time: long enough to be worth it, short enough to share the work evenly."""


def respond(
    design: Design,
    answers: Any,
    *,
    codes: bool | None = None,
    source: Source | None = None,
    threads: int = 1,
    fast: bool | None = None,
) -> Codes:
    """Draw a response to each of many answers.

    Guarantee: drawn with exactly the integer weights from which the design's ε is derived, from a keystream under a
    fresh key of the operating system. From a given source the responses are those that `design.channel.draw` gives
    answer by answer (docs/draws.md), whichever kernels draw them.

    Args:
        design: what to draw with.
        answers: labels or codes, in a NumPy array, a list, or a column of pandas, Polars or Arrow.
        codes: what whole numbers are; True for codes, False for labels (3 is the category "3"). By default they are
            codes, and refused where categories such as "1", "2", "3" make the two differ.
        source: random bytes, for tests; by default a secure keystream, one for each thread.
        threads: how many to draw on.
        fast: True to demand compiled kernels, False to do without; by default they are used where Numba is
            installed and either loaded already or worth loading.

    Returns:
        The code of each response, the number of its symbol, in the smallest unsigned type. For a design that sends sets
        of categories, packed bits: a row of ⌈k/8⌉ bytes for each response, bit j of byte i for category 8i + j.

    Raises:
        InvalidAnswer: a row that is missing or is no category; only its index is told.
        InvalidRequest: several threads and one given source.
        MissingExtra: compiled kernels are demanded and Numba is not installed.

    Example:
        >>> from deniable.designs import k_ary
        >>> respond(k_ary(["red", "green", "blue"], epsilon=1), ["red", "blue", "red"]).shape
        (3,)
    """
    return Responder(design, codes=codes, source=source, threads=threads, fast=fast).respond(answers)


class Responder:
    """A design made ready once, for columns that come one after another. The arguments are those of `respond`."""

    def __init__(
        self,
        design: Design,
        *,
        codes: bool | None = None,
        source: Source | None = None,
        threads: int = 1,
        fast: bool | None = None,
    ) -> None:
        check_threads(threads, source)
        self._design = design
        self._codes = codes
        self._words = Words(Keystream() if source is None else source)
        self._threads = threads
        self._fast = fast
        self._rows = 0
        self._kernels: Any = None
        self._draw: Draw | None = None

    def respond(self, answers: Any) -> Codes:
        """Draw a response to each answer of the next column."""
        given = read(self._design, answers, codes=self._codes)
        self._rows += given.size
        draw = self._ready()
        out = space(self._design.channel, given.size)

        def block(start: int) -> bool:
            end = start + BLOCK
            return _draw_into(draw, self._design.channel.answers, given[start:end], self._words, out[start:end])

        with workers(self._threads) as run:
            done = run(block, range(0, given.size, BLOCK))
        if not all(done):
            raise out_of_range(self._design, given)
        return out

    def _ready(self) -> Draw:
        """Return the prepared channel, prepared again when enough rows have come to load the kernels."""
        kernels = compiled(self._fast, self._rows) or vectors
        if self._draw is None or kernels is not self._kernels:
            self._kernels = kernels
            self._draw = prepare(self._design.channel, kernels)
        return self._draw


def _draw_into(draw: Draw, size: int, answers: AnswerCodes, words: Words, out: Codes) -> bool:
    """Draw in chunks that stay in the cache; stop at a chunk with a code out of range, and tell."""
    kind = code_type(size)
    step = max(1, CHUNK // draw.width)
    for start in range(0, answers.size, step):
        piece = answers[start : start + step]
        if not in_range(piece, size):
            return False
        draw.into(np.ascontiguousarray(piece, dtype=kind), words, out[start : start + step])
    return True

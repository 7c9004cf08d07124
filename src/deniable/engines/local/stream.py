"""Both steps over columns that come one after another, in constant memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from deniable.chance import Source
from deniable.designs import Design
from deniable.engines.local.choose import check_threads
from deniable.engines.local.respond import Responder
from deniable.engines.local.tally import tally
from deniable.engines.local.vectors import Codes
from deniable.tallies import Tally


def stream(
    design: Design,
    chunks: Iterable[Any],
    *,
    codes: bool | None = None,
    source: Source | None = None,
    threads: int = 1,
    fast: bool | None = None,
) -> Iterator[Codes]:
    """Respond to columns of answers as they come, each when it is asked for.

    Guarantee: as for `respond`; from a given source the responses are those to all columns joined into one.

    Args:
        design: what to draw with.
        chunks: columns of answers, in any form that `respond` takes, of any lengths.
        codes, source, threads, fast: as for `respond`.

    Raises:
        InvalidAnswer: a row that is missing or is no category; only its index within its column is told.
        InvalidRequest: several threads and one given source.
        MissingExtra: compiled kernels are demanded and Numba is not installed.

    Example:
        >>> from deniable.designs import warner
        >>> [len(codes) for codes in stream(warner(epsilon=1), [["yes", "no"], ["no"]])]
        [2, 1]
    """
    responder = Responder(design, codes=codes, source=source, threads=threads, fast=fast)
    return map(responder.respond, chunks)


def tally_stream(design: Design, chunks: Iterable[Any], *, threads: int = 1, fast: bool | None = None) -> Tally:
    """Count columns of responses as they come.

    Raises:
        InvalidResponse: something the design cannot send; the message names the first such row of its column.

    Example:
        >>> from deniable.designs import warner
        >>> design = warner(epsilon=1)
        >>> answers = ([0, 1] for _ in range(10))
        >>> tally_stream(design, stream(design, answers)).respondents
        20
    """
    check_threads(threads)
    parts = (tally(design, chunk, threads=threads, fast=fast) for chunk in chunks)
    return sum(parts, Tally.empty(design))

"""Gradual release over many rows: the responses that are out → finer ones, or coarser ones.

upgrade           a column of responses and one of answers → a column of finer responses
degrade           a column of responses → a column of coarser ones
release_planned   a column of answers → a column of responses for every stage
upgrade_stream    the first of them over columns that come one after another, in constant memory
upgrade_bits      rows of bits of which any may be truly 1, such as Bloom filters

Given the same bytes, `upgrade` and `degrade` draw what `Step.upgrade` and `Step.degrade` draw row by row. A planned
release draws the column of the finest stage, then degrades it stage by stage, column after column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from deniable.bulk.backend import Backend, Codes, check_threads, choose_backend, workers
from deniable.bulk.columns import (
    Responder,
    in_range,
    out_of_range,
    read_answers,
    with_gaps,
    without_gaps,
)
from deniable.bulk.random_words import CHUNK, Words
from deniable.bulk.steps import PreparedStep, prepare_step, toss_rows
from deniable.chance import Source
from deniable.channel import Channel
from deniable.channel.coding import Rows, code_type
from deniable.designs import Design
from deniable.errors import InvalidResponse
from deniable.order.bits import BitByBit
from deniable.order.ladders import Ladder, Relaxation
from deniable.tallies.responses import Missing

__all__ = [
    "Raiser",
    "degrade",
    "release_planned",
    "upgrade",
    "upgrade_bits",
    "upgrade_stream",
]


def upgrade(
    relaxation: Relaxation,
    responses: Any,
    answers: Any,
    *,
    codes: bool | None = None,
    source: Source | None = None,
    threads: int = 1,
    fast: bool | None = None,
) -> Codes:
    """Raise the responses that are out to the finer design.

    Guarantee: as for `deniable.types.ladder.respond.upgrade`, in bulk: draws are exact, from a secure keystream.

    Args:
        relaxation: from `deniable.relax`, or one of `Ladder.relaxations`.
        responses: the last responses that were sent, as `engines.local.draw_all` returns them: codes, or packed rows.
        answers: the truths, in the same order; labels or codes.
        codes, source, threads, fast: as for `engines.local.draw_all`.

    Raises:
        InvalidAnswer: a row that is missing or is no category; only its index is told.
        InvalidResponse: responses that are none of the coarser design, or not as many as answers.
        InvalidRequest: several threads and one given source.
        MissingExtra: compiled kernels are demanded and Numba is not installed.

    Example:
        >>> from deniable.designs import k_ary
        >>> from deniable.engines import local
        >>> from deniable.order.relaxation import relax
        >>> coarse, fine = k_ary(3, epsilon=1), k_ary(3, epsilon=2)
        >>> answers = [0, 1, 2, 0]
        >>> upgrade(relax(coarse, fine), local.draw_all(coarse, answers), answers).shape
        (4,)
    """
    raiser = Raiser(relaxation, codes=codes, source=source, threads=threads, fast=fast)
    return raiser.upgrade(responses, answers)


def degrade(
    relaxation: Relaxation,
    responses: Any,
    *,
    source: Source | None = None,
    threads: int = 1,
    fast: bool | None = None,
) -> Codes:
    """Draw coarser responses from finer ones. No answers are needed, and nothing is spent.

    Raises:
        InvalidResponse: responses that are none of the finer design.
        InvalidRequest: several threads and one given source.
        MissingExtra: compiled kernels are demanded and Numba is not installed.

    Example:
        >>> from deniable.designs import k_ary
        >>> from deniable.order.relaxation import relax
        >>> degrade(relax(k_ary(3, epsilon=1), k_ary(3, epsilon=2)), [0, 1, 2, 0]).shape
        (4,)
    """
    return Raiser(relaxation, source=source, threads=threads, fast=fast).degrade(
        responses
    )


def release_planned(
    ladder: Ladder,
    answers: Any,
    *,
    codes: bool | None = None,
    source: Source | None = None,
    threads: int = 1,
    fast: bool | None = None,
) -> tuple[Codes, ...]:
    """Draw a column of responses for every stage; return them in the order of the stages.

    The arguments are those of `engines.local.draw_all`. The finest column is drawn first, then degraded downwards.

    Raises:
        InvalidAnswer: a row that is missing or is no category; only its index is told.
        InvalidRequest: several threads and one given source.
        MissingExtra: compiled kernels are demanded and Numba is not installed.

    Example:
        >>> from deniable.designs import rappor
        >>> from deniable.order.relaxation import ladder
        >>> stages = ladder(rappor(10, epsilon=e) for e in (1, 2, 3))
        >>> [column.shape for column in release_planned(stages, [0, 7, 3])]
        [(3, 2), (3, 2), (3, 2)]
    """
    last = Responder(
        ladder.designs[-1], codes=codes, source=source, threads=threads, fast=fast
    )
    columns = [last.draw(answers)]
    for relaxation in reversed(ladder.relaxations):
        columns.append(
            degrade(relaxation, columns[-1], source=source, threads=threads, fast=fast)
        )
    return tuple(reversed(columns))


def upgrade_stream(
    relaxation: Relaxation,
    chunks: Iterable[tuple[Any, Any]],
    *,
    codes: bool | None = None,
    source: Source | None = None,
    threads: int = 1,
    fast: bool | None = None,
) -> Iterator[Codes]:
    """Raise columns of responses as they come, each when it is asked for; a chunk is (responses, answers).

    Raises:
        As `upgrade`.

    Example:
        >>> from deniable.designs import warner
        >>> from deniable.order.relaxation import relax
        >>> chunks = [([0, 1], ["no", "yes"]), ([1], ["no"])]
        >>> [len(column) for column in upgrade_stream(relax(warner(1), warner(2)), chunks)]
        [2, 1]
    """
    raiser = Raiser(relaxation, codes=codes, source=source, threads=threads, fast=fast)
    return (raiser.upgrade(responses, answers) for responses, answers in chunks)


def upgrade_bits(
    step: BitByBit,
    responses: Rows,
    truths: Rows,
    *,
    source: Source | None = None,
    fast: bool | None = None,
) -> Rows:
    """Raise packed rows of bits, whichever of them are truly 1.

    Args:
        step: the relaxation of the bits.
        responses: the rows that were sent, ⌈size/8⌉ bytes each.
        truths: the true bits, packed in the same way.
        source, fast: as for `engines.local.draw_all`.

    Raises:
        InvalidResponse: rows of another shape, or bits behind the last one.
        MissingExtra: compiled kernels are demanded and Numba is not installed.
    """
    width = -(-step.new.size // 8)
    for rows in (responses, truths):
        if (
            rows.dtype != np.uint8
            or rows.ndim != 2
            or rows.shape != (len(responses), width)
        ):
            raise InvalidResponse(
                f"the rows do not have {width} bytes each, or are not equally many; expected both."
            )
        if step.new.size % 8 and (rows[:, -1] >> np.uint8(step.new.size % 8)).any():
            raise InvalidResponse(
                "a row holds bits behind the last one; expected zeros there."
            )
    return toss_rows(
        step.new.size, step.raised, responses, truths, source=source, fast=fast
    )


class Raiser:
    """A relaxation made ready once, for columns that come one after another. The arguments are those of `upgrade`."""

    def __init__(
        self,
        relaxation: Relaxation,
        *,
        codes: bool | None = None,
        source: Source | None = None,
        threads: int = 1,
        fast: bool | None = None,
    ) -> None:
        check_threads(threads, source)
        self._relaxation = relaxation
        self._codes = codes
        self._words = Words(source)
        self._threads = threads
        self._fast = fast
        self._rows = 0
        self._backend: Backend | None = None
        self._steps: dict[bool, PreparedStep] = {}

    def upgrade(self, responses: Any, answers: Any) -> Codes:
        """Raise the next column."""
        old, new = self._relaxation.old, self._relaxation.new
        given, missing = read_answers(new, answers, codes=self._codes)
        if not in_range(given, new.channel.answers):
            raise out_of_range(new, given, missing)
        was, gaps = read_responses(old, responses)
        rows = len(given) if missing is None else len(missing)
        if (len(was) if gaps is None else len(gaps)) != rows or not _same_gaps(
            gaps, missing
        ):
            raise InvalidResponse(
                f"there are {len(was):,} responses and {len(given):,} answers, or others are missing; expected one of "
                "each for everybody."
            )
        raised = self._run(
            was,
            given.astype(code_type(new.channel.answers), copy=False),
            new.channel,
            down=False,
        )
        return raised if gaps is None else with_gaps(raised, gaps)

    def degrade(self, responses: Any) -> Codes:
        """Degrade the next column."""
        was, gaps = read_responses(self._relaxation.new, responses)
        coarser = self._run(
            was, np.zeros(len(was), np.uint8), self._relaxation.old.channel, down=True
        )
        return coarser if gaps is None else with_gaps(coarser, gaps)

    def _run(self, was: Codes, given: Codes, becomes: Channel, *, down: bool) -> Codes:
        self._rows += len(was)
        prepared = self._ready(down=down)
        out = becomes.coding.space(len(was))
        step = max(1, CHUNK // prepared.width)

        def piece(start: int) -> None:
            part = slice(start, start + step)
            olds, answers = (
                np.ascontiguousarray(was[part]),
                np.ascontiguousarray(given[part]),
            )
            prepared.into(olds, answers, self._words, out[part])

        with workers(self._threads) as run:
            run(piece, range(0, len(was), step))
        return out

    def _ready(self, *, down: bool) -> PreparedStep:
        """Return the prepared step, prepared again when enough rows have come to load the kernels."""
        backend = choose_backend(self._fast, self._rows)
        if backend is not self._backend:
            self._backend, self._steps = backend, {}
        if down not in self._steps:
            self._steps[down] = prepare_step(self._relaxation.step, backend, down=down)
        return self._steps[down]


def _same_gaps(one: Missing | None, other: Missing | None) -> bool:
    return one is other is None or (
        one is not None and other is not None and np.array_equal(one, other)
    )


def read_responses(design: Design, responses: Any) -> tuple[Codes, Missing | None]:
    """Return the responses that are there, as codes or packed rows, and which rows of a masked array are missing.

    Raises:
        InvalidResponse: not responses of this design.
    """
    if isinstance(responses, np.ma.MaskedArray) and np.ma.getmaskarray(responses).any():
        present, missing = without_gaps(responses)
        return design.channel.coding.checked(present), missing
    return design.channel.coding.checked(np.asarray(responses)), None

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
from typing import Any, Unpack

import numpy as np

from deniable.bulk.backend import Backend, Codes
from deniable.bulk.columns import (
    BulkOptions,
    BulkRows,
    DrawOptions,
    draw_all,
    in_range,
    mask_rows,
    out_of_range,
    read_answers,
    with_zeros,
)
from deniable.bulk.random_words import CHUNK
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
    responses: object,
    answers: object,
    **options: Unpack[DrawOptions],
) -> Codes:
    """Raise the responses that are out to the finer design.

    Guarantee: as for `deniable.types.ladder.respond.upgrade`, in bulk: draws are exact, from a secure keystream.

    Args:
        relaxation: from `deniable.relax`, or one of `Ladder.relaxations`.
        responses: the last responses that were sent, as `engines.local.draw_all` returns them: codes, or packed rows.
        answers: the truths, in the same order; labels or codes.
        options: `codes`, `source`, `threads` and `fast`, as for `engines.local.draw_all`.

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
    return Raiser(relaxation, **options).upgrade(responses, answers)


def degrade(
    relaxation: Relaxation, responses: object, **options: Unpack[BulkOptions]
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
    return Raiser(relaxation, **options).degrade(responses)


def release_planned(
    ladder: Ladder, answers: object, **options: Unpack[DrawOptions]
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
    columns = [draw_all(ladder.designs[-1], answers, **options)]
    for relaxation in reversed(ladder.relaxations):
        columns.append(Raiser(relaxation, **options).degrade(columns[-1]))
    return tuple(reversed(columns))


def upgrade_stream(
    relaxation: Relaxation,
    chunks: Iterable[tuple[Any, Any]],
    **options: Unpack[DrawOptions],
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
    raiser = Raiser(relaxation, **options)
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
        if rows.dtype != np.uint8 or rows.shape != (len(responses), width):
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


class Raiser(BulkRows):
    """A relaxation made ready once, for columns that come one after another. The arguments are those of `upgrade`."""

    def __init__(
        self, relaxation: Relaxation, **options: Unpack[DrawOptions]
    ) -> None:
        super().__init__(**options)
        self._relaxation = relaxation
        self._steps: dict[tuple[Backend, bool], PreparedStep] = {}

    def upgrade(self, responses: object, answers: object) -> Codes:
        """Raise the next column."""
        old, new = self._relaxation.old, self._relaxation.new
        codes, missing = read_answers(new, answers, codes=self._codes)
        if not in_range(codes, new.channel.answers):
            raise out_of_range(new, codes, missing)
        olds, gaps = read_responses(old, responses)
        if len(olds) != len(codes) or not _same_gaps(gaps, missing):
            raise InvalidResponse(
                f"there are {len(olds):,} responses and {len(codes):,} answers, or others are missing; expected one of "
                "each for everybody."
            )
        present = codes.astype(code_type(new.channel.answers), copy=False)
        raised = self._draw(olds, present, new.channel, down=False)
        return mask_rows(with_zeros(raised, gaps), gaps)

    def degrade(self, responses: object) -> Codes:
        """Degrade the next column."""
        olds, gaps = read_responses(self._relaxation.new, responses)
        nothing = np.zeros(len(olds), np.uint8)
        coarser = self._draw(olds, nothing, self._relaxation.old.channel, down=True)
        return mask_rows(with_zeros(coarser, gaps), gaps)

    def _draw(
        self, olds: Codes, answers: Codes, becomes: Channel, *, down: bool
    ) -> Codes:
        backend = self._choose_backend(len(olds))
        step = self._steps.get((backend, down)) or prepare_step(
            self._relaxation.step, backend, down=down
        )
        self._steps[backend, down] = step
        out = becomes.coding.space(len(olds))

        def draw_some(rows: slice) -> None:
            old, answer = map(np.ascontiguousarray, (olds[rows], answers[rows]))
            step.into(old, answer, self._words, out[rows])

        self._run(draw_some, len(olds), max(1, CHUNK // step.width))
        return out


def _same_gaps(first: Missing | None, second: Missing | None) -> bool:
    if first is None or second is None:
        return first is second
    return np.array_equal(first, second)


def read_responses(design: Design, responses: Any) -> tuple[Codes, Missing | None]:
    """Return the responses that are there, as codes or packed rows, and which rows of a masked array are missing.

    Raises:
        InvalidResponse: not responses of this design.
    """
    rows, missing = np.ma.getdata(responses), None
    if np.ma.is_masked(responses):
        mask = np.ma.getmaskarray(responses)
        missing = np.asarray(mask.reshape(len(mask), -1).any(axis=1))
        rows = rows[~missing]
    return design.channel.coding.checked(rows), missing

"""Many answers → responses at every stage, and these → counts."""

from __future__ import annotations

import numpy as np

from deniable.bulk.gradual import release_planned
from deniable.chance import Source
from deniable.order.ladders import Ladder
from deniable.tallies.responses import Missing, Responses, add_missing
from deniable.tallies.stages import StageTallies, count_stages

__all__ = ["count_sent", "respond_all"]


def respond_all(
    ladder: Ladder,
    answers: object,
    *,
    codes: bool | None = None,
    source: Source | None = None,
    threads: int = 1,
    fast: bool | None = None,
) -> Responses[Ladder]:
    """Draw the responses of all stages to each answer, the finest first."""
    stages = release_planned(
        ladder, answers, codes=codes, source=source, threads=threads, fast=fast
    )
    masks = [
        np.ma.getmaskarray(rows)
        for rows in stages
        if isinstance(rows, np.ma.MaskedArray)
    ]
    missing: Missing | None = (
        np.asarray(masks[0].reshape(len(masks[0]), -1).any(axis=1))
        if masks
        else None
    )
    return Responses(
        ladder,
        dict(zip(ladder.columns, map(np.ma.getdata, stages), strict=True)),
        missing,
    )


def count_sent(
    responses: Responses[Ladder], *, reached: object = None
) -> StageTallies:
    """Count the responses of each stage, and those of people who reached no later one."""
    last = None if reached is None else np.asarray(reached)
    if responses.missing is not None and last is not None:
        last = last[~responses.missing]
    tallies = count_stages(
        responses.design, list(responses.present().values()), last
    )
    finest = (*tallies.finest[:-1], add_missing(tallies.finest[-1], responses))
    return StageTallies(
        responses.design,
        tuple(add_missing(tally, responses) for tally in tallies.seen),
        finest,
    )

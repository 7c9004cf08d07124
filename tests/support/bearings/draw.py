"""Many bearings → responses, and responses → counts."""

from __future__ import annotations

from typing import Any

from deniable.bulk import columns
from deniable.chance import Source
from deniable.tallies.responses import Responses, add_missing
from tests.support.bearings.count import BearingTally, tally
from tests.support.bearings.design import BearingDesign


def respond_all(
    design: BearingDesign,
    answers: Any,
    *,
    source: Source | None = None,
    fast: bool | None = None,
) -> Responses[BearingDesign]:
    sent = columns.respond_all(design.device, answers, source=source, fast=fast)
    return Responses(design, sent.columns, sent.missing)


def count_sent(responses: Responses[BearingDesign]) -> BearingTally:
    return add_missing(
        tally(responses.design, responses.present()["response"]), responses
    )

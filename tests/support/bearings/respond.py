"""Step 2, at the respondent: a bearing → a response."""

from __future__ import annotations

from deniable.chance import SYSTEM, Source
from deniable.documents import Response
from tests.support.bearings.design import BearingDesign


def respond(
    design: BearingDesign, answer: str, *, source: Source = SYSTEM
) -> Response:
    number = design.device.channel.draw(
        design.device.category_number(answer), source
    )
    return Response(design.hash, design.symbol(number))

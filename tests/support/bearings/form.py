"""How a bearing is asked on a page: as one of the points of the compass."""

from __future__ import annotations

from deniable.designs import Design
from tests.support.bearings.design import BearingDesign


def page_design(design: BearingDesign) -> Design:
    symbols = tuple(design.symbol(number) for number in range(design.responses))
    return Design(
        "bearings", design.device.categories, symbols, design.device.channel
    )

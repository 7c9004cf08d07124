"""Responses, end to end: the answer as text in, random bytes, the symbol as text out.

That each sampler follows its channel exactly is shown without statistics, in tests/conformance.
What is left to be found here is a response that is not what the sampler drew, so most designs are drawn from only so
often that a coarse fault is found.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import pytest

from deniable.chance import Source
from deniable.designs import Design
from deniable.responses import respond
from tests.support.draws import COARSE, assert_draws_follow, draws_needed
from tests.support.registered import every_design, parameters

CORE = {"binary", "k_ary", "matrix", "warner"}


@every_design
@pytest.mark.statistical
def test_responses_follow_the_channel(design: Design, seeded: Source) -> None:
    n = draws_needed(design, catches=COARSE)
    assert_draws_follow(
        design, partial(respond, design, source=seeded), n=n, catches=COARSE
    )


@pytest.mark.parametrize("design", parameters(lambda design: design.name in CORE))
@pytest.mark.statistical
def test_responses_of_the_first_designs_follow_the_channel_closely(
    design: Design, seeded: Source
) -> None:
    catches = Fraction(3, 100)
    n = draws_needed(design, catches=catches)
    assert_draws_follow(
        design, partial(respond, design, source=seeded), n=n, catches=catches
    )

"""The path that people use: the secure keystream, which nobody can seed. It stays silent at this rate."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.designs import Design, binary, k_ary, product, warner
from deniable.engines import local
from tests.support.draws import assert_counts_follow, draws_needed

DESIGNS = [
    warner(1),
    k_ary(5, "1/2"),
    k_ary(4, 2, low=True),
    k_ary(3, p="0.7654321"),
    binary("9/10", "7/10"),
    product([warner(1), k_ary(3, 1)]),
]


@pytest.mark.statistical
@pytest.mark.parametrize("design", DESIGNS, ids=repr)
@pytest.mark.parametrize(("fast", "threads"), [(False, 1), (True, 1), (True, 2)])
def test_secure_responses_follow_the_channel(
    design: Design, fast: bool, threads: int
) -> None:
    n = draws_needed(design)
    counts = [
        np.bincount(
            local.draw_all(design, np.full(n, answer), fast=fast, threads=threads),
            minlength=design.channel.responses,
        )
        for answer in range(design.channel.answers)
    ]
    # false alarms 1e-9; a cell off by 3/100 is found with 0.999
    assert_counts_follow(design, counts)

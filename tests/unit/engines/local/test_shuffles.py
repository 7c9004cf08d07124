from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from deniable.bulk.shuffles import Shuffler
from deniable.chance import ScriptedSource
from tests.support.seeded import seeded


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 1000, 70_000])
def test_an_order_holds_every_row_once_and_hangs_on_its_source(
    count: int, fast: bool
) -> None:
    order = Shuffler(seeded("order"), fast).order(count)
    assert np.array_equal(np.sort(order), np.arange(count))
    assert np.array_equal(order, Shuffler(seeded("order"), fast).order(count))
    assert count < 1000 or not np.array_equal(
        order, Shuffler(fast=fast).order(count)
    )


@pytest.mark.statistical
@pytest.mark.parametrize("fast", [True, False])
def test_every_order_is_equally_likely(fast: bool) -> None:
    """24 orders of four rows, 24,000 times: each 1000 ± 31. Six and a half standard errors, for 24 counts: 2·10⁻⁹."""
    shuffler = Shuffler(seeded("orders"), fast)
    seen = Counter(tuple(shuffler.order(4).tolist()) for _ in range(24_000))
    assert len(seen) == 24
    assert max(abs(count - 1000) for count in seen.values()) < 203


def test_halves_that_would_favour_a_row_are_thrown_away() -> None:
    """2³² is 1 above a multiple of 3: the half 0 would be one too many for the row 0, and the next one is taken."""
    # thrown away; row 2 stays where it is; rows 0 and 1 change places
    halves = [0, (1 << 32) - 1, 0]
    content = np.array([*halves, *[0] * 97], "<u4").tobytes()
    assert Shuffler(ScriptedSource(content), fast=True).order(3).tolist() == [
        1,
        0,
        2,
    ]

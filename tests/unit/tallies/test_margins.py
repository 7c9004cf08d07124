from __future__ import annotations

import pytest

from deniable.designs import k_ary, product, warner
from deniable.errors import InvalidRequest
from deniable.tallies import Tally, marginal

DESIGN = product({"a": warner(1), "b": k_ary(3, 1)})


def test_margins_add_up_as_tallies_do() -> None:
    one, two = (
        Tally(DESIGN, [1, 2, 3, 4, 5, 6], missing=1),
        Tally(DESIGN, [6, 0, 0, 0, 0, 1]),
    )
    assert marginal(one + two, "b") == marginal(one, "b") + marginal(two, "b")
    assert marginal(Tally.empty(DESIGN), "a") == Tally.empty(warner(1))


def test_an_attribute_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="expected some of 'a', 'b'"):
        marginal(Tally.empty(DESIGN), "c")
    with pytest.raises(InvalidRequest, match="one attribute"):
        marginal(Tally.empty(warner(1)), "a")

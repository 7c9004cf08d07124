from __future__ import annotations

import pytest

from deniable.designs import direct, items, product, warner
from deniable.display.privacy_texts import attributes
from deniable.errors import InvalidRequest


def test_each_attribute_and_the_whole_are_told() -> None:
    told = attributes(
        product({"smokes": warner(p="3/4"), "drinks": warner(p="2/3")})
    )
    assert len(told) == 3
    assert "'smokes'" in told[0]
    assert "at most 3." in told[0]
    assert "at most 2." in told[1]
    assert "factor of 6 on all of them together" in told[2]


def test_what_is_not_hidden_is_said() -> None:
    told = attributes(items({"gun": "1/2", "liquor": 1, "bread": None}))
    assert "prove something" in told[2]
    assert "'gun' and 'liquor' nobody gains more than a factor of 4.49" in told[3]
    assert "'bread' is not hidden" in told[3]
    bare = attributes(product({"bread": direct(), "milk": direct()}))
    assert "'bread' and 'milk' are not hidden" in bare[-1]


def test_one_attribute_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="one attribute"):
        attributes(warner(1))

from __future__ import annotations

import math

import pytest

import deniable as dn
from deniable import plan
from deniable.errors import InvalidRequest

SMALL = {"yes": 0.1, "no": 0.9}


def test_designs_side_by_side() -> None:
    deck = dn.integer_deck(100, 0.5, "1/10")
    designs = [
        dn.warner(0.5),
        dn.simmons(0.5, b="3/10"),
        dn.christofides(0.5, middle="1/10"),
        deck,
    ]
    found = plan.compare(designs, 100, shares=SMALL, population="census")
    assert [line.name for line in found] == [
        "deck (34, 10, 56)",
        "warner",
        "christofides",
        "simmons",
    ]
    assert found.best.ratio == 1
    assert found.best.epsilon_collector == math.inf
    assert found.best.epsilon < 0.5
    for line in found.lines[1:]:
        assert line.epsilon == line.epsilon_collector == 0.5
        assert line.ratio == pytest.approx(line.variance / found.best.variance)
        assert line.error == pytest.approx(line.variance**0.5)
    text = str(found)
    assert "not ε-locally private against the collector" in text
    assert "random device" in text
    assert text.index("warner") < text.index("christofides")


def test_at_even_shares_warner_is_best() -> None:
    deck = dn.integer_deck(100, 0.5, "1/10")
    found = plan.compare(
        {"dealt": deck, "warner": dn.warner(0.5)}, 100, population="census"
    )
    assert [line.name for line in found] == ["warner", "dealt"]


def test_the_order_of_the_document_at_three_shares() -> None:
    """Theorem 6.1, with the intervals as corrected: 9 people, ε = 0.5, a middle share of 0.36."""
    order = []
    for members in (1, 2, 4):
        share = members / 9
        warner = plan.variance(
            dn.warner(0.5), 9, shares=[1 - share, share], population="census"
        )
        back = plan.variance(
            dn.christofides(0.5, middle=0.36),
            9,
            shares=[1 - share, share],
            population="census",
        )
        dealt = plan.ideal_deck_variance(9, 0.5, 0.36, share)
        order.append(
            sorted(
                ["warner", "back", "dealt"],
                key={"warner": warner, "back": back, "dealt": dealt}.get,
            )
        )
    assert order == [
        ["dealt", "warner", "back"],
        ["warner", "dealt", "back"],
        ["warner", "back", "dealt"],
    ]


def test_equal_names_are_numbered() -> None:
    found = plan.compare([dn.warner(2), dn.warner(1), dn.warner("1/2")], 10)
    assert [line.name for line in found] == ["warner", "warner #2", "warner #3"]


def test_nothing_to_compare_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="no designs"):
        plan.compare([], 10)


def test_a_certain_estimate_is_infinitely_better() -> None:
    deck = dn.integer_deck(10, 1)
    found = plan.compare(
        [deck, dn.warner(1)], 10, shares=[1, 0], population="census"
    )
    assert found.best.variance == 0
    assert [line.ratio for line in found] == [1.0, math.inf]

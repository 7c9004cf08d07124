from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable import exact
from deniable.errors import (
    Incompatible,
    InvalidRequest,
    NotAllowed,
    OverBudget,
    UnreadableFile,
)
from deniable.order.relaxation import ladder
from deniable.release import receipts
from deniable.release.ledger import Ledger
from deniable.release.market import CoalitionLoss, Market, Prices

STAGES = ladder([dn.warner(p=p) for p in ("3/5", "2/3", "3/4", "4/5")])
PRICES = Prices(STAGES, [1, 2, 5, 9], currency="EUR")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger.create(tmp_path / "mine.ledger")
    made.answer("smokes", "yes", STAGES.designs[0])
    return made


@pytest.fixture
def market(ledger: Ledger) -> Market:
    found = Market(ledger)
    found.offer("smokes", PRICES)
    return found


def test_two_buyers_of_one_stage_hold_the_same_response(market: Market) -> None:
    market.consent("smokes", "*", up_to=3)
    for stage in (2, 0, 3, 1):
        sold = [
            market.sell("smokes", buyer, stage) for buyer in ("Anna", "Bert", "Carl")
        ]
        assert len({each.response for each in sold}) == 1
        assert sold[0].response.design == STAGES.designs[stage].hash


def test_only_the_finest_stage_sold_is_spent(market: Market, ledger: Ledger) -> None:
    market.consent("smokes", "*", up_to=3)
    for buyer, stage in (
        ("Anna", 1),
        ("Bert", 0),
        ("Carl", 2),
        ("Anna", 2),
        ("Dora", 2),
    ):
        market.sell("smokes", buyer, stage)
    assert ledger.status().parity == STAGES.designs[2].parity == 3
    assert market.holders("smokes") == {"Anna": 2, "Bert": 0, "Carl": 2, "Dora": 2}
    ledger.check()


def test_an_upgrade_costs_the_difference(market: Market) -> None:
    market.consent("smokes", "Anna", up_to=3, purpose="a study of smoking")
    first, second, lower, again = (
        market.sell("smokes", "Anna", stage) for stage in (1, 3, 0, 3)
    )
    assert [each.price for each in (first, second, lower, again)] == [2, 7, 0, 0]
    assert [each.upgraded_from for each in (first, second, lower, again)] == [
        None,
        1,
        3,
        3,
    ]
    assert first.receipt.details == {
        "price": "2",
        "currency": "EUR",
        "purpose": "a study of smoking",
    }
    assert second.receipt.details["from"] == STAGES.designs[1].hash
    assert again.receipt == second.receipt
    assert [each.receipt.kind for each in (first, second, lower)] == ["sale"] * 3


def test_nothing_is_sold_without_consent(market: Market, ledger: Ledger) -> None:
    with pytest.raises(NotAllowed, match="has not agreed"):
        market.sell("smokes", "Anna", 0)
    market.consent("smokes", "Anna", up_to=1)
    market.sell("smokes", "Anna", 1)
    with pytest.raises(NotAllowed, match=r"up to ε = 0\.693147"):
        market.sell("smokes", "Anna", 2)
    with pytest.raises(NotAllowed):
        market.sell("smokes", "Bert", 0)
    with pytest.raises(NotAllowed):
        market.sell("smokes", "*", 0)
    market.revoke("smokes", "Anna")
    with pytest.raises(NotAllowed):
        market.sell("smokes", "Anna", 0)
    assert len(ledger.receipts()) == 1


def test_a_consent_that_was_taken_back_is_not_replaced_by_that_for_anybody(
    market: Market,
) -> None:
    market.consent("smokes", "*", up_to=3)
    market.sell("smokes", "Anna", 0)
    market.revoke("smokes", "Anna")
    with pytest.raises(NotAllowed, match="has not agreed"):
        market.sell("smokes", "Anna", 1)
    market.sell("smokes", "Bert", 1)
    market.revoke("smokes", "*")
    with pytest.raises(NotAllowed):
        market.sell("smokes", "Bert", 2)


def test_a_later_offer_does_not_stretch_a_consent(market: Market) -> None:
    """Stage 1 of the first offer is not stage 1 of the second."""
    market.consent("smokes", "Anna", up_to=1)
    market.offer("smokes", Prices(ladder(STAGES.designs[1:]), [2, 4, 9]))
    market.sell("smokes", "Anna", 0)
    with pytest.raises(NotAllowed, match="up to ε"):
        market.sell("smokes", "Anna", 1)


def test_a_consent_of_ones_own_goes_before_that_for_anybody(market: Market) -> None:
    market.consent("smokes", "*", up_to=3)
    market.consent("smokes", "Anna", up_to=0)
    market.sell("smokes", "Bert", 3)
    with pytest.raises(NotAllowed):
        market.sell("smokes", "Anna", 1)


def test_an_offer_whose_stages_told_more_together_would_be_refused(
    market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = CoalitionLoss(
        best=1, parity=Fraction(3), alone=Fraction(2), same=False, gone_through=True
    )
    monkeypatch.setattr("deniable.release.market.coalition_loss", lambda *_: more)
    with pytest.raises(InvalidRequest, match="tell more together"):
        market.offer("smokes", PRICES)


def test_a_budget_holds_for_sales(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "mine.ledger", budget=math.log(3))
    ledger.answer("smokes", "no", STAGES)
    market = Market(ledger)
    market.offer("smokes", PRICES)
    market.consent("smokes", "*", up_to=3)
    market.sell("smokes", "Anna", 1)
    with pytest.raises(OverBudget):
        market.sell("smokes", "Anna", 3)
    assert market.holders("smokes") == {"Anna": 1}
    assert ledger.status().epsilon == exact.log_above(Fraction(2))


def test_a_withdrawal_ends_sales_and_says_what_it_cannot_undo(
    market: Market, ledger: Ledger
) -> None:
    market.consent("smokes", "*", up_to=3)
    market.sell("smokes", "Anna", 1)
    market.sell("smokes", "Bert", 2)
    told = market.withdraw("smokes").told
    assert "'smokes' at ε = 0.693148 is with Anna" in told
    assert "at ε = 1.09862 is with Bert" in told
    for buyer, stage in (("Anna", 1), ("Anna", 2), ("Carl", 0)):
        with pytest.raises(NotAllowed, match="withdrew"):
            market.sell("smokes", buyer, stage)
    history = receipts.read(ledger.history())
    assert [each.kind for each in history] == ["sale", "sale", "withdrawal"]


def test_receipts_of_sales_cannot_be_changed(market: Market, ledger: Ledger) -> None:
    market.consent("smokes", "*", up_to=3)
    sold = [market.sell("smokes", buyer, 2) for buyer in ("Anna", "Bert", "Carl")]
    text = ledger.history()
    assert '"price": "5"' in text
    for change in (
        text.replace('"price": "5"', '"price": "1"'),
        text.replace("Bert", "Dora"),
    ):
        with pytest.raises(UnreadableFile):
            receipts.read(change)
    with pytest.raises(UnreadableFile):
        receipts.read("\n".join(text.splitlines()[1:]))
    assert len(receipts.read(text, holding=[each.receipt for each in sold])) == 3
    for each in sold:  # a receipt tells neither the answer nor the response
        assert each.response.symbol not in each.receipt.to_json().replace(
            "deniable", ""
        ).split('"')


def test_what_is_not_there_is_refused(market: Market, ledger: Ledger) -> None:
    with pytest.raises(InvalidRequest, match="no stage 4"):
        market.consent("smokes", "Anna", up_to=4)
    with pytest.raises(InvalidRequest, match="no name"):
        market.consent("smokes", " ", up_to=1)
    with pytest.raises(InvalidRequest, match="no stage -1"):
        market.sell("smokes", "Anna", -1)
    ledger.answer("drinks", "yes", dn.warner(1))
    with pytest.raises(InvalidRequest, match="nothing is on offer"):
        market.prices("drinks")
    with pytest.raises(Incompatible):
        market.offer("drinks", Prices(ladder([dn.k_ary(3, epsilon=1)]), [1]))
    assert market.prices("smokes").due(-1, 3) == 9


@pytest.mark.parametrize("buyer", ["", " ", None, 5])
def test_a_buyer_without_a_name_buys_nothing(
    market: Market, ledger: Ledger, buyer: str
) -> None:
    """What was released to nobody in particular would make the price of it 0."""
    market.consent("smokes", "*", up_to=3)
    ledger.release("smokes", STAGES.designs[3])
    for ask in (market.sell, market.revoke):
        with pytest.raises(InvalidRequest, match="no name"):
            ask("smokes", buyer, *([3] if ask == market.sell else []))  # type: ignore[operator]  # one of the two
    assert market.sell("smokes", "Anna", 3).price == 9


@pytest.mark.parametrize("stage", [1.0, "1", True, None, -1, 4])
def test_a_stage_is_a_whole_number_on_offer(market: Market, stage: Any) -> None:
    market.consent("smokes", "*", up_to=3)
    with pytest.raises(InvalidRequest, match="expected a whole number from 0 to 3"):
        market.sell("smokes", "Anna", stage)
    with pytest.raises(InvalidRequest, match="expected a whole number from 0 to 3"):
        market.consent("smokes", "Anna", up_to=stage)

from __future__ import annotations

from collections import Counter

import pytest

from deniable.chance import Source
from deniable.designs import Deck
from deniable.errors import InvalidAnswer, InvalidRequest
from deniable.types.deck.respond import deal
from deniable.types.deck.respond import respond as respond_with_card

SECRET = "a-secret-that-must-not-travel"


def test_members_send_the_other_end_and_all_others_their_card() -> None:
    deck = Deck((5, 2, 9), 3, ("never", "ever"))
    assert [respond_with_card(deck, "never", card).symbol for card in (1, 2, 3)] == [
        "1",
        "2",
        "3",
    ]
    assert [respond_with_card(deck, "ever", card).symbol for card in (1, 2, 3)] == [
        "3",
        "2",
        "1",
    ]
    assert respond_with_card(deck, "ever", 1).design == deck.hash


def test_everybody_gets_one_of_the_cards(seeded: Source) -> None:
    deck = Deck((3, 2, 5), 10)
    responses = deal(deck, ["no"] * 10, source=seeded)
    assert Counter(response.symbol for response in responses) == {
        "1": 3,
        "2": 2,
        "3": 5,
    }
    mixed = deal(deck, ["yes"] * 4 + ["no"] * 6, source=seeded)
    cards = [4 - int(r.symbol) for r in mixed[:4]] + [
        int(r.symbol) for r in mixed[4:]
    ]
    assert Counter(cards) == {1: 3, 2: 2, 3: 5}


def test_two_deals_differ(seeded: Source) -> None:
    deck = Deck((30, 20, 50), 100)
    assert deal(deck, ["no"] * 100, source=seeded) != deal(
        deck, ["no"] * 100, source=seeded
    )
    assert deal(deck, ["no"] * 100) != deal(deck, ["no"] * 100)


def test_errors_never_repeat_an_answer() -> None:
    deck = Deck((1, 1, 2), 4)
    with pytest.raises(InvalidAnswer) as caught:
        respond_with_card(deck, SECRET, 1)
    assert SECRET not in str(caught.value)
    with pytest.raises(InvalidAnswer) as caught:
        deal(deck, ["no", SECRET, "yes", "no"])
    assert SECRET not in str(caught.value)
    with pytest.raises(InvalidRequest, match="one for each of 4 people") as wrong:
        deal(deck, [SECRET])
    assert SECRET not in str(wrong.value)


@pytest.mark.parametrize("card", [0, 4, -1, True, "1"])
def test_a_card_that_does_not_exist_is_refused(card: object) -> None:
    with pytest.raises(InvalidRequest, match="from 1 to 3"):
        respond_with_card(Deck((1, 1, 2), 4), "no", card)  # type: ignore[arg-type]

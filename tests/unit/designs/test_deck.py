from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from deniable import exact
from deniable.designs import Deck, christofides, integer_deck
from deniable.errors import (
    InvalidDesign,
    InvalidNumber,
    InvalidRequest,
    UnreadableFile,
)


def by_the_rule(people: int, epsilon: float, middle: Any) -> tuple[int, int, int]:
    twos = math.floor(people * Fraction(middle) + Fraction(1, 2))
    ones = math.ceil((people - twos) / (math.exp(epsilon) + 1))
    return ones, twos, people - twos - ones


CASES = [
    (*case, by_the_rule(*case))
    for case in product(
        (2, 3, 10, 97, 1000, 12345), (0.05, 0.5, 1, 3), (0, "1/100", "9/25")
    )
]
TELLING = [case for case in CASES if case[3][2] > case[3][0]]


@pytest.mark.parametrize(
    ("people", "epsilon", "middle"),
    [case[:3] for case in CASES if case not in TELLING],
)
def test_a_deck_that_would_tell_nothing_is_refused(
    people: int, epsilon: float, middle: Any
) -> None:
    with pytest.raises(InvalidDesign, match="more threes than ones"):
        integer_deck(people, epsilon, middle)


@pytest.mark.parametrize(("people", "epsilon", "middle", "counts"), TELLING)
def test_a_deck_follows_the_integer_rule_and_keeps_its_epsilon(
    people: int, epsilon: float, middle: Any, counts: tuple[int, int, int]
) -> None:
    deck = integer_deck(people, epsilon, middle)
    assert deck.counts == counts
    assert deck.cards == deck.people == people
    assert deck.epsilon_alone <= epsilon
    assert deck.epsilon_collector == math.inf


def test_the_deck_of_the_document_cannot_be_printed() -> None:
    with pytest.raises(
        InvalidDesign, match="3 cards with a 1, 3 with a 2 and 3 with a 3"
    ) as caught:
        integer_deck(9, 0.5, 0.36)
    assert "at least 0.6932" in caught.value.hint
    assert integer_deck(9, 0.6932, 0.36).counts == (2, 3, 4)
    with pytest.raises(InvalidDesign):
        integer_deck(9, 0.693, 0.36)
    with pytest.raises(InvalidDesign, match="more threes") as caught:
        integer_deck(3, 1, "2/3")
    assert "more people" in caught.value.hint


@pytest.mark.parametrize("people", range(3, 60))
def test_the_smallest_epsilon_that_is_told_is_enough(people: int) -> None:
    with pytest.raises(InvalidDesign) as refused:
        integer_deck(people, "1e-6")
    least = re.search(r"at least ([0-9.]+),", refused.value.hint)
    assert least is not None
    assert integer_deck(people, least[1]).counts


@pytest.mark.parametrize(
    ("people", "cards", "epsilon"),
    [(20, 100, 1), (3, 16, "11/10"), (50, 1000, 0.5), (5, 40, 2)],
)
def test_spare_cards_keep_epsilon_against_a_collector(
    people: int, cards: int, epsilon: Any
) -> None:
    deck = integer_deck(people, epsilon, "1/10", cards=cards, collector=True)
    assert deck.cards == cards
    assert deck.parity_collector <= exact.exp_below(exact.positive_epsilon(epsilon))
    ones, twos, threes = deck.counts
    # one card less to hide behind is one too few
    greedier = Deck((ones - 1, twos, threes + 1), people)
    assert greedier.parity_collector > exact.exp_above(epsilon)
    assert "can change them by at most a factor" in deck.guarantee


def test_too_few_spare_cards_are_refused_with_a_number_that_will_do() -> None:
    with pytest.raises(InvalidDesign, match="more threes than ones") as caught:
        integer_deck(20, 1, cards=40, collector=True)
    enough = int(
        "".join(
            filter(
                str.isdigit, caught.value.hint.split("about")[1].split("cards")[0]
            )
        )
    )
    assert enough > 40
    assert (
        integer_deck(20, 1, cards=enough + 2, collector=True).epsilon_collector <= 1
    )
    with pytest.raises(InvalidDesign):
        integer_deck(20, 1, cards=enough - 2, collector=True)
    with pytest.raises(InvalidDesign):
        integer_deck(20, 1, collector=True)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Deck((1, 2), 4), "3 cards for 4 people"),
        (lambda: Deck((1, 2), 1), "at least 2"),
        (lambda: Deck((1, 1), 2), "in the middle"),
        (lambda: Deck((2, 5, 2), 2), "in the middle"),
        (lambda: Deck((3,), 2), "at least 2 numbers"),
        (lambda: Deck((1, 2), 2, ("a", "b", "c")), "exactly 2 categories"),
        (lambda: Deck((1, -2), 2), "whole number"),
        (lambda: Deck((1, 2.5), 2), "whole number"),
        (lambda: Deck((1, 2), True), "whole number"),
    ],
)
def test_what_is_no_deck_is_refused(build: Callable[[], Any], words: str) -> None:
    with pytest.raises(InvalidDesign, match=words):
        build()


def test_numbers_are_checked_before_a_deck_is_built() -> None:
    with pytest.raises(InvalidNumber, match="positive"):
        integer_deck(10, 0)
    with pytest.raises(InvalidNumber, match="probability"):
        integer_deck(10, 1, 2)


def test_a_deck_with_none_to_spare_never_claims_epsilon_against_the_collector() -> (
    None
):
    deck = integer_deck(100, 0.5, "1/10")
    assert "not ε-locally private against the collector" in deck.guarantee
    assert "probability 9/10" in deck.guarantee
    assert deck.delta_collector(0) == deck.delta_collector(5) == 0.9
    few = Deck((5, 2, 9), 7)
    assert few.epsilon_collector == math.inf
    assert "too few spare cards" in few.guarantee
    assert 0 < few.delta_collector(1) < 1
    assert few.delta_collector(60) > 0
    proving = Deck((0, 1, 2), 2)
    assert proving.epsilon_alone == math.inf
    assert "proves the answer" in proving.guarantee


def test_delta_falls_to_zero_at_epsilon() -> None:
    deck = Deck((5, 2, 9), 3)
    assert deck.delta_collector(deck.epsilon_collector) == 0
    assert deck.delta_collector(deck.epsilon_collector * 0.999) > 0
    assert deck.delta_collector(1) == pytest.approx(0.00503068163465991, rel=1e-12)


def test_a_sum_that_is_too_long_is_refused() -> None:
    deck = integer_deck(1000, 1, cards=10_000, collector=True)
    assert deck.epsilon_collector <= 1
    with pytest.raises(InvalidRequest, match="terms"):
        deck.delta_collector(0.5)


def test_put_back_the_cards_are_christofides() -> None:
    assert Deck((3, 5, 12), 20).with_replacement() == christofides(
        cards=["3/20", "1/4", "3/5"]
    )


def test_a_deck_travels() -> None:
    deck = Deck((5, 2, 9), 3, ("never", "ever"))
    again = Deck.from_json(deck.to_json(indent=2))
    assert again == deck
    assert again.hash == deck.hash
    assert json.loads(deck.to_json())["hash"] == deck.hash
    assert Deck((5, 2, 9), 4, ("never", "ever")).hash != deck.hash
    with pytest.raises(UnreadableFile, match="does not match its hash"):
        Deck.from_json(deck.to_json().replace("9", "8"))
    with pytest.raises(UnreadableFile, match="schema"):
        Deck.from_json(christofides(1).to_json())


def test_a_deck_that_was_edited_with_its_hash_is_still_checked() -> None:
    from deniable import documents

    sealed = documents.seal(
        "deck", {"counts": [1, 1], "people": 2, "categories": ["no", "yes"]}
    )
    with pytest.raises(InvalidDesign, match="middle"):
        Deck.from_json(sealed)
    for body in (
        {"counts": [1, "2"], "people": 2, "categories": ["no", "yes"]},
        {"counts": [1, 2], "people": 2, "categories": ["no", "yes"], "more": 1},
        {"counts": [1, 2], "people": 2, "categories": ["no", 7]},
        {"counts": [1, "x"], "people": 2, "categories": ["no", "yes"]},
    ):
        with pytest.raises(UnreadableFile):
            Deck.from_json(documents.seal("deck", body))


@pytest.mark.parametrize("counts", [(1, 0, 2), (3, 1, 4), (2, 3, 7), (5, 2, 6)])
def test_what_is_promised_is_never_rounded_down(counts: tuple[int, ...]) -> None:
    deck = Deck(counts, people=2)
    factor, epsilon = re.findall(
        r"a factor of ([\d.]+) \(ε = ([\d.]+)\)", deck.guarantee
    )[0]
    assert Fraction(factor) >= deck.parity_alone
    assert float(epsilon) >= exact.log_above(deck.parity_alone)

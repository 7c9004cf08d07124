from __future__ import annotations

import pytest

from deniable.plan import crossing, crossing_independent
from deniable_papers.cards import DEALT, DEVICES, Census
from tests.support.reproduced import made


def test_a_picture_names_all_devices_and_the_deck_in_whole_cards() -> None:
    draw = made("cards")["cards-figure-4"].draw
    assert draw is not None
    named = [text.get_text() for text in draw().legends[0].get_texts()]
    simulated = [f"{name}, simulated" for name in DEVICES]
    assert sorted(named) == sorted(
        [*DEVICES, *simulated, f"{DEALT}, middle share 0.333"]
    )


def test_the_insurance_survey_has_the_documented_size_and_share() -> None:
    content = made("cards")["cards-figure-5"]
    assert len(content.points) == 4 * 10
    assert content.values[0].entry.inputs == {"N": 3_252_599, "pi": 0.0778}
    people = Census(3_252_599, 253_052, 0.01)
    assert round(people.share, 4) == 0.0778


def test_a_whole_deck_lies_on_the_ideal_curve_at_its_own_epsilon() -> None:
    survey = Census(100, 10, 0.5)
    for deck in survey.decks([0.1, 0.3, 1.0]):
        assert survey.theory(deck) == pytest.approx(
            survey.curve(DEALT, [deck.epsilon_alone])[0]
        )


def test_nine_people_have_two_decks_and_none_at_a_small_epsilon() -> None:
    nine = Census(9, 1, 0.36)
    assert [deck.counts for deck in nine.decks([0.2, 0.5, 1.0, 1.5, 2.0])] == [
        (2, 3, 4),
        (1, 3, 5),
    ]
    assert nine.decks([0.2, 0.5]) == []


@pytest.mark.parametrize("members", [1, 2, 4])
def test_nine_people_cover_the_three_cases_of_the_theorem(members: int) -> None:
    nine = Census(9, members, 0.36)
    warner, simmons, back, dealt = (nine.curve(name, [0.5])[0] for name in DEVICES)
    assert simmons == pytest.approx(warner)
    inside = crossing(9, 0.5, 0.36).low < nine.share
    between = crossing_independent(9).low < nine.share
    assert (dealt > warner, dealt > back, back > warner) == (inside, between, True)
    assert (inside, between) == {
        1: (False, False),
        2: (True, False),
        4: (True, True),
    }[members]

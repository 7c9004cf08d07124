from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import deniable as dn
from deniable.designs import Deck, christofides, integer_deck, warner
from deniable.documents import Response
from deniable.errors import (
    Incompatible,
    InvalidNumber,
    InvalidRequest,
    InvalidResponse,
    NotEstimable,
)
from deniable.estimates import covariance, deck_variance, estimate_deck, mean_inverse
from deniable.tallies.decks import tally as tally_deck
from deniable.types.deck.respond import deal

DECK = Deck((34, 10, 56), 100)


def test_responses_come_in_every_form() -> None:
    deck = Deck((1, 2, 3), 6)
    forms = [
        [1, 2, 2, 3, 3, 1],
        ["1", "2", "2", "3", "3", "1"],
        [Response(deck.hash, str(k)) for k in (1, 2, 2, 3, 3, 1)],
        {1: 2, 2: 2, 3: 2},
        {"3": 2, "1": 2, "2": 2},
        np.array([1, 2, 2, 3, 3, 1]),
        (k for k in (1, 2, 2, 3, 3, 1)),
    ]
    for responses in forms:
        found = estimate_deck(tally_deck(deck, responses))
        assert found.evidence.counts == (2, 2, 2)
        assert found.evidence.exactly == Fraction(1, 2)
        assert found.params == {"no": 0.5, "yes": 0.5}


def test_who_sends_nothing_is_counted_and_takes_no_part() -> None:
    found = estimate_deck(tally_deck(Deck((1, 2, 3), 6), [3, None, 3, 2, None, 1]))
    assert (found.respondents, found.evidence.missing) == (4, 2)
    assert "2 sent no response" in str(found.summary())
    assert (
        estimate_deck(tally_deck(Deck((1, 2, 3), 6), {1: 1, 2: 1, 3: 2, None: 2}))
        == found
    )


@pytest.mark.parametrize("wrong", [0, 4, "4", "x", 1.5, True, "", "²"])
def test_a_number_on_no_card_is_refused(wrong: object) -> None:
    with pytest.raises(InvalidResponse, match="from 1 to 3"):
        estimate_deck(tally_deck(Deck((1, 2, 3), 6), [1, 2, wrong]))  # type: ignore[list-item]


@pytest.mark.parametrize("count", [-1, 1.5, True])
def test_a_count_that_is_none_is_refused(count: object) -> None:
    with pytest.raises(InvalidResponse, match="no count"):
        estimate_deck(tally_deck(Deck((1, 2, 3), 6), {1: count}))  # type: ignore[dict-item]


def test_a_response_of_another_deck_is_refused() -> None:
    with pytest.raises(Incompatible, match="expected this deck"):
        estimate_deck(tally_deck(DECK, deal(Deck((34, 10, 57), 100), ["no"] * 100)))


def test_responses_that_no_deal_gives_are_refused() -> None:
    deck = Deck((1, 2, 3), 6)
    with pytest.raises(
        NotEstimable, match="2 or 2 was sent 3 times, but only 2 cards"
    ):
        estimate_deck(tally_deck(deck, [2, 2, 2]))
    with pytest.raises(NotEstimable, match="1 or 3 was sent 5 times"):
        estimate_deck(tally_deck(deck, [1, 3, 3, 1, 1]))
    with pytest.raises(NotEstimable, match="7 responses of 6 people"):
        estimate_deck(tally_deck(deck, [1, 1, 2, 2, 3, 3, 3]))
    with pytest.raises(NotEstimable, match="at least 2"):
        estimate_deck(tally_deck(deck, [1]))


def test_the_value_is_that_of_independent_cards_and_the_variance_is_not() -> None:
    dealt = estimate_deck(tally_deck(DECK, {1: 36, 2: 10, 3: 54}), population=100)
    design = DECK.with_replacement()
    back = dn.estimate(
        dn.Tally(design, [36, 10, 54]), population=100, inverse=mean_inverse(design)
    )
    assert dealt.evidence.share == pytest.approx(back.params["yes"], abs=1e-12)
    assert dealt.errors[1] < 0.7 * back.errors[1]


def test_very_many_cards_are_independent_cards() -> None:
    shares = (Fraction(3, 20), Fraction(1, 4), Fraction(3, 5))
    deck = Deck(tuple(int(share * 20 * 10**9) for share in shares), 50)
    for population in (50, 400, None):
        expected = covariance(
            christofides(cards=shares), [0.8, 0.2], 50, population=population
        )[1, 1]
        assert deck_variance(deck, 0.2, population=population) == pytest.approx(
            expected, rel=1e-6
        )


def test_intervals_by_method() -> None:
    found = estimate_deck(tally_deck(DECK, {1: 40, 2: 10, 3: 50}), population=100)
    share, error = found.evidence.share, found.errors[1]
    normal = found.interval("yes", method="normal")
    t = 1.984217  # of 99 degrees of freedom
    assert normal == pytest.approx((share - t * error, share + t * error), abs=1e-6)
    chebyshev = found.interval("yes", level=0.75, method="chebyshev")
    assert chebyshev == pytest.approx(
        (share - 2 * error, share + 2 * error), abs=1e-12
    )
    # each end explains the distance by its own variance
    for end in found.interval("yes", level=0.9, method="score"):
        z = abs(share - end) / math.sqrt(deck_variance(DECK, end, population=100))
        assert z == pytest.approx(1.644854, abs=1e-6)
    no, yes = found.conf_int().values()
    assert no == pytest.approx((1 - yes.high, 1 - yes.low))
    assert found.cov_params() == pytest.approx(
        found.evidence.share_variance * np.array([[1, -1], [-1, 1]])
    )


def test_requests_that_do_not_exist_are_refused() -> None:
    found = estimate_deck(tally_deck(DECK, {1: 40, 2: 10, 3: 50}))
    with pytest.raises(InvalidRequest, match="level"):
        found.conf_int(level=95)
    with pytest.raises(InvalidRequest, match="method"):
        found.conf_int(method="profile")
    with pytest.raises(InvalidRequest, match="expected a name such as"):
        found.interval("perhaps")
    for population in (99, 100.0, "census"):
        with pytest.raises(InvalidRequest, match="population"):
            estimate_deck(
                tally_deck(DECK, {1: 40, 2: 10, 3: 50}),
                population=population,  # type: ignore[arg-type]
            )
    with pytest.raises(InvalidNumber, match="share"):
        deck_variance(DECK, 1.5)
    with pytest.raises(InvalidRequest, match="respondents"):
        deck_variance(DECK, 0.5, respondents=101)


def test_the_summary_tells_what_is_promised_and_what_it_cost() -> None:
    text = str(
        estimate_deck(
            tally_deck(DECK, {1: 40, 2: 10, 3: 50}), population=100
        ).summary()
    )
    assert DECK.guarantee in text
    assert "direct and truthful answers" in text
    below = estimate_deck(tally_deck(DECK, {1: 30, 2: 10, 3: 60}), population=100)
    assert below.evidence.share < 0
    assert below.evidence.share_variance < 0
    assert below.errors[1] == 0
    assert "outside 0 … 1" in str(below.summary())
    assert "go by the interval" in str(below.summary())
    assert below.interval("yes").high > 0


def test_a_deck_is_worth_about_what_its_independent_cards_are() -> None:
    deck = integer_deck(10_000, 1, "1/10")
    found = estimate_deck(tally_deck(deck, {1: 4500, 2: 1000, 3: 4500}))
    assert found.evidence.share == 0.5
    # so many direct answers of independent people have this variance
    direct = 0.25 / deck_variance(deck, 0.5)
    told = str(found.summary()).split("about ")[1].split(" ")[0].replace(",", "")
    assert float(told) == pytest.approx(direct, rel=0.01)


def members_hands(deck: Deck, members: int) -> list[tuple[float, tuple[int, ...]]]:
    """The probability of each hand of the members, all cards being dealt, and the responses that it leads to."""
    found, total = [], math.comb(deck.cards, members)
    for ones, twos in product(range(members + 1), repeat=2):
        threes = members - ones - twos
        hand = (ones, twos, threes)
        if threes < 0 or any(
            held > count for held, count in zip(hand, deck.counts, strict=True)
        ):
            continue
        ways = math.prod(
            math.comb(count, held)
            for count, held in zip(deck.counts, hand, strict=True)
        )
        sent = tuple(
            count - held + back
            for count, held, back in zip(
                deck.counts, hand, reversed(hand), strict=True
            )
        )
        found.append((ways / total, sent))
    return found


@pytest.mark.parametrize("members", [0, 1, 5, 20, 50])
@pytest.mark.parametrize(
    "deck", [DECK, integer_deck(200, 1, "1/10")], ids=lambda deck: str(deck.counts)
)
def test_the_default_interval_keeps_its_coverage_over_all_deals(
    deck: Deck, members: int
) -> None:
    n = deck.people
    hands = members_hands(deck, members)
    assert sum(p for p, _ in hands) == pytest.approx(1)
    covered = 0.0
    for probability, sent in hands:
        low, high = estimate_deck(
            tally_deck(deck, dict(enumerate(sent, 1))), population=n
        ).interval("yes")
        covered += probability * (low - 1e-12 <= members / n <= high + 1e-12)
    assert covered >= 0.95
    # one member has three cards to hold: there are no finer steps
    assert members < 5 or covered <= 0.997


def test_hands_and_deals_agree() -> None:
    """The law of the sum of hands, used above, is that of the shuffled deck: checked on a small one."""
    from tests.support.cards import law

    deck = Deck((1, 2, 3), 6)
    counted: Counter[tuple[int, ...]] = Counter()
    for responses, p in law(deck, (1, 1, 0, 0, 0, 0)).items():
        counted[tuple(responses.count(k) for k in (1, 2, 3))] += float(p)  # type: ignore[assignment]
    expected: Counter[tuple[int, ...]] = Counter()
    for probability, sent in members_hands(deck, 2):
        expected[sent] += probability  # type: ignore[assignment]
    assert dict(counted) == pytest.approx(dict(expected))


def test_the_mean_inverse_is_for_two_answers_alone() -> None:
    with pytest.raises(InvalidRequest, match="not a design for two answers"):
        mean_inverse(dn.k_ary(3, 1))
    for two in (warner(p="1/4"), dn.forced_response("2/3", "1/4")):
        assert mean_inverse(two) @ two.channel.floats() == pytest.approx(np.eye(2))
    kuk = dn.kuk("4/5", "3/10", draws=3)
    assert mean_inverse(kuk)[1] == pytest.approx(
        [(red / 3 - 0.3) / 0.5 for red in range(4)]
    )
    # its mean is 2.9
    level = christofides(cards=["1/10", "4/10", "1/5", "1/10", "1/5"])
    assert mean_inverse(level).shape == (2, 5)
    even = christofides(cards=["1/10", "3/10", "3/10", "1/10", "1/5"])
    with pytest.raises(
        NotEstimable, match="mean response of members and of others is 3"
    ):
        mean_inverse(even)
    assert dn.estimate(dn.Tally(even, [10, 30, 30, 10, 20])).params[
        "no"
    ] == pytest.approx(1)

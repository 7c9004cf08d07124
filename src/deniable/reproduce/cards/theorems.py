"""The equations, algorithms and theorems of the document, each at one setting in which it can be checked by hand."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import numpy as np

from deniable.design import Deck, Design, christofides, simmons, warner
from deniable.estimate import christofides_inverse, covariance, deck_variance, left_inverse
from deniable.plan import crossing, crossing_independent, ideal_deck_variance
from deniable.reproduce.cards.surveys import DEVICES, Survey
from deniable.reproduce.printed import printed
from deniable.reproduce.values import Content, Exhibit, Printed, Setting, Value

_NINE = Survey(9, 2, 0.36)


def equation_1(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """Warner's design if everybody is asked."""
    entry = printed("003-eq1")
    return Content((entry.against(_census(warner(p=entry.inputs["p"]), entry)),))


def equation_2(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """Simmons' design if everybody is asked."""
    entry = printed("003-eq2")
    return Content(
        (entry.against(_census(simmons(p=entry.inputs["p"], b=entry.inputs["pi_b"]), entry)),),
        notes=("The last term lacks the share of members as a factor (erratum 3.3).",),
    )


def section_3(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """What the algorithms estimate on average."""
    first, cards = printed("003-alg1"), printed("003-alg34")
    return Content(
        (
            first.against(_mean_estimate(warner(p=first.inputs["p"]), first.inputs["pi"])),
            cards.against(_mean_estimate(christofides(cards=cards.inputs["p_cards"]), cards.inputs["pi"])),
        ),
        notes=(
            "Algorithm 1 compares a coin, which is 0 or 1, with p, and so keeps the answer with 1 − p (erratum 3.1); "
            "Algorithms 3 and 4 have their branches the wrong way round (erratum 3.2). Printed is what they would "
            "estimate on average: the share of those who are not members.",
        ),
    )


def theorem_3_1(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """Cards that are put back, if everybody is asked."""
    entry = printed("003-thm31")
    return Content((entry.against(_census(christofides(cards=entry.inputs["p_cards"]), entry)),))


def theorem_4_1(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """Cards that are dealt, if everybody is asked."""
    entry = printed("003-thm41")
    deck = _deck(entry)
    share = Fraction(entry.inputs["n1"], deck.people)
    return Content((entry.against(deck_variance(deck, share, population=deck.people)),))


def theorem_4_2(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The shares for which cards put back are better than the same cards dealt."""
    interval, half = printed("003-thm42"), printed("003-n3")
    low, high = crossing_independent(half.inputs["N"])
    return Content(
        (interval.against(list(crossing_independent(interval.inputs["N"]))), half.against((high - low) / 2)),
        ("people", "from", "to"),
        tuple((people, *crossing_independent(people)) for people in (3, 4, 9, 100, 10_000)),
        notes=("Half the interval is at most 1/4 from 4 people on, not from 3 (erratum 3.11).",),
    )


def theorem_5_1(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The ε of Warner's design."""
    entry = printed("003-thm51")
    return Content((entry.against(warner(p=entry.inputs["p"]).epsilon),))


def theorem_5_2(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The ε of Simmons' design."""
    secret, known = printed("003-thm52"), printed("003-thm52-known")
    return Content(
        (
            secret.against(simmons(p=secret.inputs["p"], b=secret.inputs["pi_b"]).epsilon),
            known.against(simmons(p=known.inputs["p"], b=0).epsilon),
        ),
        notes=(
            "Whoever knows that somebody would say no to the unrelated question learns from a yes that they are a "
            "member: the ε holds only while the unrelated answer is secret (erratum 3.12).",
        ),
    )


def theorem_5_3(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The variance of Simmons' design at an ε, over the unrelated question."""
    even, rare = printed("003-thm53"), printed("003-appC")
    given = even.inputs
    at = [1 - given["pi_A"], given["pi_A"]]
    variances = {
        b: float(covariance(simmons(given["eps"], b=b), at, given["N"], population=given["N"])[1, 1])
        for b in (0.15, 0.3, 0.5, 0.7, rare.inputs["pi_b"])
    }
    return Content(
        (even.against(variances[0.5]), rare.against(variances[rare.inputs["pi_b"]])),
        ("yes to the unrelated question", "variance"),
        tuple(variances.items()),
        notes=("Where yes is the more common answer, 1 − π_A must stand in place of π_A (erratum 3.4).",),
    )


def theorem_5_4(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The ε of cards that are put back."""
    entry = printed("003-thm54")
    return Content((entry.against(christofides(cards=entry.inputs["p_cards"]).epsilon),))


def theorem_5_5(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The best three cards at an ε, put back."""
    least, first = printed("003-thm55"), printed("003-thm55-p1")
    design = christofides(first.inputs["eps"], middle=first.inputs["p2"])
    given = least.inputs
    return Content(
        (
            least.against(ideal_deck_variance(given["N"], given["eps"], given["p2"], 0.5, replaced=True)),
            first.against(float(design.probability("1", given=design.categories[0]))),
        ),
        notes=("A middle card tells nothing: without any, this is Warner's design, which is better (erratum 3.15).",),
    )


def theorem_5_6(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The ε of cards that are dealt, against two kinds of readers."""
    entry = printed("003-thm56")
    deck = _deck(entry)
    spare = [Deck(tuple(times * count for count in deck.counts), deck.people) for times in (1, 2, 4, 8)]
    return Content(
        (entry.against(deck.epsilon_collector),),
        ("cards", "people", "ε, one response seen", "ε, all seen and the others known", "its δ at ε = 1"),
        tuple(
            (str(each.counts), each.people, each.epsilon_alone, each.epsilon_collector, each.delta_collector(1))
            for each in spare
        ),
        notes=(
            "The theorem holds against somebody who sees one response alone. A collector who sees all of them and "
            "knows the other answers knows the last card too (erratum 3.5). Spare cards help.",
        ),
    )


def theorem_5_7(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """The best three cards at an ε, dealt."""
    entry = printed("003-thm57")
    given = entry.inputs
    share = float(Fraction(given["pi"]))
    return Content((entry.against(ideal_deck_variance(given["N"], given["eps"], given["p2"], share)),))


def theorem_6_1(setting: Setting) -> Content:  # noqa: ARG001 - nothing is drawn
    """Which device has the smallest variance, by the share of members."""
    interval, difference, cards = (printed(f"003-{name}") for name in ("thm61-ii", "thm61-proof", "deck9"))
    at = interval.inputs
    _, between = crossing_independent(at["N"])
    _, beyond = crossing(at["N"], at["eps"], at["p2"])
    surveys = [Survey(_NINE.people, members, _NINE.middle) for members in (1, 2, 4)]
    return Content(
        (interval.against([between, beyond]), _difference(difference), _middle_cards(cards)),
        ("members of 9", *DEVICES),
        tuple((each.members, *(each.curve(name, [at["eps"]])[0] for name in DEVICES)) for each in surveys),
        notes=(
            "The table: the variance at ε = 0.5 with 36 % middle cards, one row for each of the three cases.",
            "The second interval of case (ii) is printed with the wrong ends (erratum 3.9); the proof lacks a factor "
            "N, though its result has it (erratum 3.10); and a deck has whole cards (erratum 3.6).",
        ),
    )


def _census(design: Design, entry: Printed) -> float:
    """Return the variance of the customary estimate if everybody is asked."""
    people, members = entry.inputs["N"], entry.inputs["n1"]
    shares = [1 - members / people, members / people]
    return float(covariance(design, shares, people, population=people)[1, 1])


def _mean_estimate(design: Design, share: float) -> float:
    """Return what the estimate from the mean response is on average."""
    linear = left_inverse(design.channel, inverse=christofides_inverse(design))
    return float(linear.shares(linear.expected(np.array([1 - share, share])))[1])


def _deck(entry: Printed) -> Deck:
    counts = tuple(entry.inputs["cards"].values())
    return Deck(counts, entry.inputs.get("n", sum(counts)))


def _difference(entry: Printed) -> Value:
    given = entry.inputs
    epsilon = math.log(given["x"])
    survey = Survey(given["N"], round(given["pi"] * given["N"]), given["p2"])
    warner_, dealt = (survey.curve(name, [epsilon])[0] for name in (DEVICES[0], DEVICES[-1]))
    return entry.against(dealt - warner_)


def _middle_cards(entry: Printed) -> Value:
    (deck, *_) = Survey(entry.inputs["N"], 1, entry.inputs["p2"]).decks([1.0])
    return entry.against(deck.counts[1])


_exhibit = partial(Exhibit, "cards")

THEOREMS = (
    _exhibit("equation", "1", "The variance of Warner's design in a census", equation_1),
    _exhibit("equation", "2", "The variance of Simmons' design in a census", equation_2),
    _exhibit("section", "3", "What Algorithms 1, 3 and 4 estimate", section_3),
    _exhibit("theorem", "3.1", "The variance of cards put back", theorem_3_1),
    _exhibit("theorem", "4.1", "The variance of dealt cards", theorem_4_1),
    _exhibit("theorem", "4.2", "Where cards put back are better than dealt ones", theorem_4_2),
    _exhibit("theorem", "5.1", "The ε of Warner's design", theorem_5_1),
    _exhibit("theorem", "5.2", "The ε of Simmons' design", theorem_5_2),
    _exhibit("theorem", "5.3", "The variance of Simmons' design at an ε", theorem_5_3),
    _exhibit("theorem", "5.4", "The ε of cards put back", theorem_5_4),
    _exhibit("theorem", "5.5", "The variance of cards put back at an ε", theorem_5_5),
    _exhibit("theorem", "5.6", "The ε of dealt cards", theorem_5_6),
    _exhibit("theorem", "5.7", "The variance of dealt cards at an ε", theorem_5_7),
    _exhibit("theorem", "6.1", "Which device has the smallest variance where", theorem_6_1),
)

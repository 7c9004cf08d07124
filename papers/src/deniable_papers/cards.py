"""Document 003: finite populations, and devices made of cards.

Four devices in one setting, a census: what theory says of each, and what simulated surveys show.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable import simulate as law
from deniable.designs import (
    Deck,
    Design,
    christofides,
    integer_deck,
    simmons,
    warner,
)
from deniable.errors import InvalidDesign
from deniable.estimates import covariance, deck_variance, left_inverse, mean_inverse
from deniable.plan import (
    crossing,
    crossing_independent,
    deck_sample_size,
    ideal_deck_variance,
    sample_size,
    variance,
)
from deniable_papers.figures import LINES, dots, legend, line, panels
from deniable_papers.values import (
    Content,
    Exhibits,
    Point,
    Printed,
    Setting,
    Value,
    compared,
    printed,
    starting,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

exhibit = Exhibits("cards")

DEALT = "cards dealt"
DEVICES = ("Warner", "Simmons", "cards put back", DEALT)
"""The modified Warner, Simmons and Christofides mechanisms, and the improved Christofides mechanism."""
_BUDGETS = (0.01, 0.05, 0.25, 0.5)
_STYLES = dict(zip(DEVICES, ("-", (0, (5, 4)), "-", "-"), strict=True))
_COLOURS = dict(zip(DEVICES, LINES, strict=False))
_MARKS = dict(zip(DEVICES, ("o", "x", "s", "D"), strict=True))
_VISIBLE = (
    0.001  # middle shares that differ by more give curves that differ to the eye
)
_WHOLE = "Cards are whole: a simulated deck stands at the ε that it really has, and is compared with its own variance."
_RANGE = "The paper does not print the range of ε of this figure; ours is what the picture shows."


@dataclass(frozen=True)
class Census:
    """A survey in which everybody of a group is asked.

    Attributes:
        people: how many they are.
        members: how many of them have the attribute.
        middle: the share of middle cards.
    """

    people: int
    members: int
    middle: float

    @property
    def share(self) -> float:
        """The true share of members."""
        return self.members / self.people

    def design(self, name: str, epsilon: float) -> Design:
        """Build a device other than dealt cards, which `decks` builds."""
        if name == "Simmons":
            return simmons(epsilon, b="1/2")
        return (
            warner(epsilon)
            if name == "Warner"
            else christofides(epsilon, middle=self.middle)
        )

    def curve(self, name: str, epsilons: Sequence[float]) -> list[float]:
        """Return the variance as the paper reckons it: a deck in proportions that need not be whole cards."""
        if name == DEALT:
            return [
                ideal_deck_variance(self.people, each, self.middle, self.share)
                for each in epsilons
            ]
        return [self.theory(self.design(name, each)) for each in epsilons]

    def theory(self, device: Design | Deck) -> float:
        """Return the variance of the estimate if everybody is asked."""
        return variance(
            device,
            self.people,
            shares=[1 - self.share, self.share],
            population="census",
        )

    def decks(self, epsilons: Sequence[float]) -> list[Deck]:
        """Return the different decks of whole cards for these ε, without those that tell nothing."""
        decks = {}
        for epsilon in epsilons:
            with suppress(InvalidDesign):
                deck = integer_deck(self.people, epsilon, self.middle)
                decks[deck.counts] = deck
        return list(decks.values())

    def seen(self, device: Design | Deck, where: str, setting: Setting) -> Point:
        """Repeat the survey; compare the spread of its estimates about the true share with the variance."""
        there = [self.people - self.members, self.members]
        drawn = law.tallies(
            device, there, setting.repetitions, draws=setting.generator
        )
        estimates = law.shares(device, drawn, self.people)[:, 1]
        return Point.of(where, self.theory(device), (estimates - self.share) ** 2)


@dataclass(frozen=True)
class Seen:
    """The simulated points of one device, with the ε at which each stands."""

    epsilons: tuple[float, ...]
    points: tuple[Point, ...]


_NINE = Census(9, 2, 0.36)


@exhibit("equation", "1")
def equation_1() -> Content:
    """The variance of Warner's design in a census."""
    return Content(
        (compared("003-eq1", lambda given: _census(warner(p=given["p"]), given)),)
    )


@exhibit("equation", "2")
def equation_2() -> Content:
    """The variance of Simmons' design in a census."""
    return Content(
        (
            compared(
                "003-eq2",
                lambda given: _census(simmons(p=given["p"], b=given["pi_b"]), given),
            ),
        ),
        notes=(
            "The last term lacks the share of members as a factor (erratum 3.3).",
        ),
    )


@exhibit("section", "3")
def section_3() -> Content:
    """What Algorithms 1, 3 and 4 estimate."""
    return Content(
        (
            compared(
                "003-alg1",
                lambda given: _mean_estimate(warner(p=given["p"]), given["pi"]),
            ),
            compared(
                "003-alg34",
                lambda given: _mean_estimate(
                    christofides(cards=given["p_cards"]), given["pi"]
                ),
            ),
        ),
        notes=(
            "Algorithm 1 compares a coin, which is 0 or 1, with p, and so keeps the answer with 1 − p (erratum 3.1); "
            "Algorithms 3 and 4 have their branches the wrong way round (erratum 3.2). Printed is what they would "
            "estimate on average: the share of those who are not members.",
        ),
    )


@exhibit("theorem", "3.1")
def theorem_3_1() -> Content:
    """The variance of cards put back."""
    return Content(
        (
            compared(
                "003-thm31",
                lambda given: _census(christofides(cards=given["p_cards"]), given),
            ),
        )
    )


@exhibit("theorem", "4.1")
def theorem_4_1() -> Content:
    """The variance of dealt cards."""
    entry = printed("003-thm41")
    deck = _deck(entry)
    share = Fraction(entry.inputs["n1"], deck.people)
    return Content(
        (entry.against(deck_variance(deck, share, population=deck.people)),)
    )


@exhibit("theorem", "4.2")
def theorem_4_2() -> Content:
    """Where cards put back are better than dealt ones."""
    interval, half = printed("003-thm42"), printed("003-n3")
    low, high = crossing_independent(half.inputs["N"])
    return Content(
        (
            interval.against(list(crossing_independent(interval.inputs["N"]))),
            half.against((high - low) / 2),
        ),
        ("people", "from", "to"),
        tuple(
            (people, *crossing_independent(people))
            for people in (3, 4, 9, 100, 10_000)
        ),
        notes=(
            "Half the interval is at most 1/4 from 4 people on, not from 3 (erratum 3.11).",
        ),
    )


@exhibit("theorem", "5.1")
def theorem_5_1() -> Content:
    """The ε of Warner's design."""
    return Content(
        (compared("003-thm51", lambda given: warner(p=given["p"]).epsilon),)
    )


@exhibit("theorem", "5.2")
def theorem_5_2() -> Content:
    """The ε of Simmons' design."""
    return Content(
        (
            compared(
                "003-thm52",
                lambda given: simmons(p=given["p"], b=given["pi_b"]).epsilon,
            ),
            compared(
                "003-thm52-known", lambda given: simmons(p=given["p"], b=0).epsilon
            ),
        ),
        notes=(
            "Whoever knows that somebody would say no to the unrelated question learns from a yes that they are a "
            "member: the ε holds only while the unrelated answer is secret (erratum 3.12).",
        ),
    )


@exhibit("theorem", "5.3")
def theorem_5_3() -> Content:
    """The variance of Simmons' design at an ε."""
    even, rare = printed("003-thm53"), printed("003-appC")
    given = even.inputs
    at = [1 - given["pi_A"], given["pi_A"]]
    variances = {
        b: float(
            covariance(
                simmons(given["eps"], b=b), at, given["N"], population=given["N"]
            )[1, 1]
        )
        for b in (0.15, 0.3, 0.5, 0.7, rare.inputs["pi_b"])
    }
    return Content(
        (even.against(variances[0.5]), rare.against(variances[rare.inputs["pi_b"]])),
        ("yes to the unrelated question", "variance"),
        tuple(variances.items()),
        notes=(
            "Where yes is the more common answer, 1 − π_A must stand in place of π_A (erratum 3.4).",
        ),
    )


@exhibit("theorem", "5.4")
def theorem_5_4() -> Content:
    """The ε of cards put back."""
    return Content(
        (
            compared(
                "003-thm54",
                lambda given: christofides(cards=given["p_cards"]).epsilon,
            ),
        )
    )


@exhibit("theorem", "5.5")
def theorem_5_5() -> Content:
    """The variance of cards put back at an ε."""
    least, first = printed("003-thm55"), printed("003-thm55-p1")
    design = christofides(first.inputs["eps"], middle=first.inputs["p2"])
    given = least.inputs
    return Content(
        (
            least.against(
                ideal_deck_variance(
                    given["N"], given["eps"], given["p2"], 0.5, replaced=True
                )
            ),
            first.against(
                float(design.probability("1", given=design.categories[0]))
            ),
        ),
        notes=(
            "A middle card tells nothing: without any, this is Warner's design, which is better (erratum 3.15).",
        ),
    )


@exhibit("theorem", "5.6")
def theorem_5_6() -> Content:
    """The ε of dealt cards."""
    entry = printed("003-thm56")
    deck = _deck(entry)
    spare = [
        Deck(tuple(times * count for count in deck.counts), deck.people)
        for times in (1, 2, 4, 8)
    ]
    return Content(
        (entry.against(deck.epsilon_collector),),
        (
            "cards",
            "people",
            "ε, one response seen",
            "ε, all seen and the others known",
            "its δ at ε = 1",
        ),
        tuple(
            (
                str(each.counts),
                each.people,
                each.epsilon_alone,
                each.epsilon_collector,
                each.delta_collector(1),
            )
            for each in spare
        ),
        notes=(
            "The theorem holds against somebody who sees one response alone. A collector who sees all of them and "
            "knows the other answers knows the last card too (erratum 3.5). Spare cards help.",
        ),
    )


@exhibit("theorem", "5.7")
def theorem_5_7() -> Content:
    """The variance of dealt cards at an ε."""
    entry = printed("003-thm57")
    given = entry.inputs
    share = float(Fraction(given["pi"]))
    return Content(
        (
            entry.against(
                ideal_deck_variance(given["N"], given["eps"], given["p2"], share)
            ),
        )
    )


@exhibit("theorem", "6.1")
def theorem_6_1() -> Content:
    """Which device has the smallest variance where."""
    interval, difference, cards = (
        printed(f"003-{name}") for name in ("thm61-ii", "thm61-proof", "deck9")
    )
    at = interval.inputs
    _, between = crossing_independent(at["N"])
    _, beyond = crossing(at["N"], at["eps"], at["p2"])
    surveys = [Census(_NINE.people, members, _NINE.middle) for members in (1, 2, 4)]
    return Content(
        (
            interval.against([between, beyond]),
            _difference(difference),
            _middle_cards(cards),
        ),
        ("members of 9", *DEVICES),
        tuple(
            (each.members, *(each.curve(name, [at["eps"]])[0] for name in DEVICES))
            for each in surveys
        ),
        notes=(
            "The table: the variance at ε = 0.5 with 36 % middle cards, one row for each of the three cases.",
            "The second interval of case (ii) is printed with the wrong ends (erratum 3.9); the proof lacks a factor "
            "N, though its result has it (erratum 3.10); and a deck has whole cards (erratum 3.6).",
        ),
    )


@exhibit("table", "1")
def table_1() -> Content:
    """The shares for which Warner's design beats a dealt deck."""
    values = {entry.id: _length(entry) for entry in starting("003-table1-")}
    return Content(
        tuple(values.values()),
        ("middle share", *(f"ε = {epsilon:g}" for epsilon in _BUDGETS)),
        tuple(
            (
                middle,
                *(values[f"003-table1-{middle}-{epsilon}"] for epsilon in _BUDGETS),
            )
            for middle in (0.01, 0.05)
        ),
    )


@exhibit("table", "2")
def table_2() -> Content:
    """How many people each design takes."""
    values = {
        entry.id: entry.against(_people(entry)) for entry in starting("003-table2-")
    }
    rows = (
        ("warner", "Warner, Simmons"),
        ("mc", "cards put back"),
        ("ic", "cards dealt"),
    )
    ideal = printed("003-table2-ic-0.5").inputs
    whole = deck_sample_size(
        ideal["eps"], ideal["p2"], variance=ideal["var"], share=ideal["pi"]
    )
    return Content(
        tuple(values.values()),
        ("design", *(f"ε = {epsilon:g}" for epsilon in _BUDGETS)),
        tuple(
            (
                title,
                *(values[f"003-table2-{name}-{epsilon}"] for epsilon in _BUDGETS),
            )
            for name, title in rows
        ),
        notes=(
            "One number is too large by one, and one is left blank (erratum 3.7).",
            "All of them are for proportions of cards that need not be whole. In whole cards, the blank cell takes "
            f"{whole} people.",
        ),
    )


@exhibit("figure", "1", weight=0.7)
def figure_1(setting: Setting) -> Content:
    """Variance against ε: 100 people, 10 % members."""
    return _content(
        Census(100, 10, 0.5),
        _grid(0.1, 1.0),
        setting,
        described="Four falling curves of the variance against ε, in theory and from 10,000 simulated surveys of 100 "
        "people, 10 % of them members, half of the cards in the middle. The simulation confirms the theory.",
        notes=(_WHOLE, _RANGE),
    )


@exhibit("figure", "2", weight=0.7)
def figure_2(setting: Setting) -> Content:
    """Variance against ε: 9 people, 1 member."""
    return _nine(
        1,
        setting,
        "Dealt cards have the smallest variance, then Warner and Simmons, then cards put back.",
        "So it is up to ε of about 1.9. The interval in which Warner's design is best widens with ε, and holds a share "
        "of 1/9 from there on.",
    )


@exhibit("figure", "3", weight=0.7)
def figure_3(setting: Setting) -> Content:
    """Variance against ε: 9 people, 2 members."""
    return _nine(
        2,
        setting,
        "Warner and Simmons have the smallest variance, then dealt cards, then cards put back.",
    )


@exhibit("figure", "4", weight=0.7)
def figure_4(setting: Setting) -> Content:
    """Variance against ε: 9 people, 4 members."""
    entry = printed("003-fig4")
    survey = Census(9, 4, entry.inputs["p2"])
    devices = {"MW": DEVICES[0], "MC": DEVICES[2], "IC": DEALT}
    ours = {
        name: survey.curve(device, [entry.inputs["eps"]])[0]
        for name, device in devices.items()
    }
    return _nine(
        4,
        setting,
        "Cards put back are said to have the smallest variance, then Warner and Simmons, then dealt cards.",
        "Warner and Simmons are best, as the paper's own Theorem 6.1 has it, then cards put back, then dealt cards "
        "(erratum 3.8).",
        values=(entry.against(ours),),
    )


@exhibit("figure", "5", weight=0.8)
def figure_5(setting: Setting) -> Content:
    """Variance against ε: health insurance of 3,252,599 people."""
    entry = printed("003-287")
    people, share, middle = entry.inputs["N"], entry.inputs["pi"], 0.01
    dealt, back = (
        ideal_deck_variance(people, 0.5, middle, share, replaced=each)
        for each in (False, True)
    )
    return _content(
        Census(people, round(people * share), middle),
        _grid(0.05, 0.5),
        setting,
        described="Four falling curves: Warner and Simmons lie on each other, cards put back slightly above them, "
        "dealt cards far below, at 28.7 % of cards put back.",
        notes=(
            "The people are made up: as many as in the extract of HCOVANY that the paper used, with the same share "
            "of members. If everybody is asked, nothing else about them matters.",
            "Dealt cards have this ε only against a reader of one response; a collector who knows the other answers "
            "learns an answer almost surely (erratum 3.5).",
        ),
        values=(entry.against(dealt / back),),
    )


def _length(entry: Printed) -> Value:
    low, high = crossing(entry.inputs["N"], entry.inputs["eps"], entry.inputs["p2"])
    return entry.against(high - low)


def _people(entry: Printed) -> int:
    given, design = entry.inputs, entry.topic.split(", ")[1]
    if design == "improved":
        return deck_sample_size(
            given["eps"],
            given["p2"],
            variance=given["var"],
            share=given["pi"],
            ideal=True,
        )
    made = (
        warner(given["eps"])
        if design == "warner"
        else christofides(given["eps"], middle=given["p2"])
    )
    return sample_size(
        made,
        variance=given["var"],
        shares=[1 - given["pi"], given["pi"]],
        population="census",
    )


def _census(design: Design, given: Mapping[str, Any]) -> float:
    """Return the variance of the customary estimate if everybody is asked."""
    people, members = given["N"], given["n1"]
    shares = [1 - members / people, members / people]
    return float(covariance(design, shares, people, population=people)[1, 1])


def _mean_estimate(design: Design, share: float) -> float:
    """Return what the estimate from the mean response is on average."""
    linear = left_inverse(design.channel, inverse=mean_inverse(design))
    return float(linear.shares(linear.expected(np.array([1 - share, share])))[1])


def _deck(entry: Printed) -> Deck:
    counts = tuple(entry.inputs["cards"].values())
    return Deck(counts, entry.inputs.get("n", sum(counts)))


def _difference(entry: Printed) -> Value:
    given = entry.inputs
    epsilon = math.log(given["x"])
    survey = Census(given["N"], round(given["pi"] * given["N"]), given["p2"])
    warner_, dealt = (
        survey.curve(name, [epsilon])[0] for name in (DEVICES[0], DEVICES[-1])
    )
    return entry.against(dealt - warner_)


def _middle_cards(entry: Printed) -> Value:
    (deck, *_) = Census(entry.inputs["N"], 1, entry.inputs["p2"]).decks([1.0])
    return entry.against(deck.counts[1])


def _nine(
    members: int,
    setting: Setting,
    described: str,
    *notes: str,
    values: tuple[Value, ...] = (),
) -> Content:
    setup = f"The variance against ε for 9 people, {members} of them members, 36 % of the cards in the middle."
    return _content(
        Census(9, members, 0.36),
        _grid(0.2, 2.0),
        setting,
        described=f"{setup} {described}",
        notes=(
            *notes,
            "36 % of 9 cards are 3.24. With 3 middle cards only two decks can be dealt, at ε = ln 2 and ln 5; they lie "
            "on the dotted curve, which is for a middle share of one third (erratum 3.6).",
            _WHOLE,
            _RANGE,
        ),
        values=values,
    )


def _content(
    survey: Census,
    epsilons: Sequence[float],
    setting: Setting,
    *,
    described: str,
    notes: tuple[str, ...],
    values: tuple[Value, ...] = (),
) -> Content:
    seen = {name: _seen(survey, name, epsilons, setting) for name in DEVICES}
    return Content(
        values,
        described=described,
        draw=lambda: _picture(survey, epsilons, seen),
        points=tuple(point for each in seen.values() for point in each.points),
        notes=notes,
    )


def _seen(
    survey: Census, name: str, epsilons: Sequence[float], setting: Setting
) -> Seen:
    """Simulate a device at each ε; a deck that several of them share is dealt once, at its own."""
    devices: dict[float, Design | Deck]
    if name == DEALT:
        devices = {deck.epsilon_alone: deck for deck in survey.decks(epsilons)}
    else:
        devices = {each: survey.design(name, each) for each in epsilons}
    points = (
        survey.seen(device, f"{name}, ε = {each:.3g}", setting)
        for each, device in devices.items()
    )
    return Seen(tuple(devices), tuple(points))


def _picture(
    survey: Census, epsilons: Sequence[float], seen: dict[str, Seen]
) -> Figure:
    """Draw the variances, and beside them, to tell near ones apart, how large they are against Warner's."""
    people = f"{survey.people:,} people, {survey.members:,} of them members"
    titles = (f"{people}; everybody is asked", "The same, against Warner's design")
    figure, (left, right) = panels(
        titles, x="ε (of dealt cards: for a reader of one response)", y="variance"
    )
    right.set_ylabel("variance / that of Warner's design")
    fine = np.linspace(
        min(min(each.epsilons) for each in seen.values()), epsilons[-1], 60
    ).tolist()
    base = np.array(survey.curve(DEVICES[0], fine))
    for (name, colour), held in zip(_COLOURS.items(), seen.values(), strict=True):
        curve = survey.curve(name, fine)
        line(left, fine, curve, colour, name, _STYLES[name])
        line(right, fine, curve / base, colour, style=_STYLES[name])
        dots(
            left,
            held.epsilons,
            held.points,
            colour,
            f"{name}, simulated",
            _MARKS[name],
        )
        dots(
            right, held.epsilons, _against(survey, held), colour, marker=_MARKS[name]
        )
    middle = survey.decks(epsilons)[0].counts[1] / survey.people
    if abs(middle - survey.middle) > _VISIBLE:
        curve = Census(survey.people, survey.members, middle).curve(DEALT, fine)
        line(
            left,
            fine,
            curve,
            _COLOURS[DEALT],
            f"{DEALT}, middle share {middle:.3g}",
            ":",
        )
        line(right, fine, curve / base, _COLOURS[DEALT], style=":")
    left.set_yscale("log")
    legend(figure, 5)
    return figure


def _against(survey: Census, held: Seen) -> list[Point]:
    """Return the points with Warner's variance as the unit."""
    units = survey.curve(DEVICES[0], held.epsilons)
    return [
        Point(
            point.where,
            point.theory / unit,
            point.simulated / unit,
            point.error / unit,
        )
        for point, unit in zip(held.points, units, strict=True)
    ]


def _grid(first: float, last: float) -> tuple[float, ...]:
    """Return ten ε at equal distances."""
    return tuple(round(first + (last - first) * step / 9, 6) for step in range(10))

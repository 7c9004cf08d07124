"""Figures 1 to 5: the variance of the four devices against ε, in theory and in simulated surveys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.design import Deck, Design
from deniable.plan import ideal_deck_variance
from deniable.reproduce.cards.surveys import DEALT, DEVICES, Survey
from deniable.reproduce.draw import LINES, dots, legend, line, panels
from deniable.reproduce.printed import printed
from deniable.reproduce.values import Content, Exhibit, Point, Setting, Value

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLES = dict(zip(DEVICES, ("-", (0, (5, 4)), "-", "-"), strict=True))
_COLOURS = dict(zip(DEVICES, LINES, strict=False))
_MARKS = dict(zip(DEVICES, ("o", "x", "s", "D"), strict=True))
_VISIBLE = 0.001  # middle shares that differ by more give curves that differ to the eye
_WHOLE = "Cards are whole: a simulated deck stands at the ε that it really has, and is compared with its own variance."
_RANGE = "The document does not print the range of ε of this figure; ours is what the picture shows."


@dataclass(frozen=True)
class Seen:
    """The simulated points of one device, with the ε at which each stands."""

    epsilons: tuple[float, ...]
    points: tuple[Point, ...]


def figure_1(setting: Setting) -> Content:
    """A hundred people, one in ten a member."""
    return _content(
        Survey(100, 10, 0.5),
        _grid(0.1, 1.0),
        setting,
        described="Four falling curves of the variance against ε, in theory and from 10,000 simulated surveys of 100 "
        "people, 10 % of them members, half of the cards in the middle. The simulation confirms the theory.",
        notes=(_WHOLE, _RANGE),
    )


def figure_2(setting: Setting) -> Content:
    """Nine people, one of them a member."""
    return _nine(
        1,
        setting,
        "Dealt cards have the smallest variance, then Warner and Simmons, then cards put back.",
        "So it is up to ε of about 1.9. The interval in which Warner's design is best widens with ε, and holds a share "
        "of 1/9 from there on.",
    )


def figure_3(setting: Setting) -> Content:
    """Nine people, two of them members."""
    return _nine(2, setting, "Warner and Simmons have the smallest variance, then dealt cards, then cards put back.")


def figure_4(setting: Setting) -> Content:
    """Nine people, four of them members."""
    entry = printed("003-fig4")
    survey = Survey(9, 4, entry.inputs["p2"])
    devices = {"MW": DEVICES[0], "MC": DEVICES[2], "IC": DEALT}
    ours = {name: survey.curve(device, [entry.inputs["eps"]])[0] for name, device in devices.items()}
    return _nine(
        4,
        setting,
        "Cards put back are said to have the smallest variance, then Warner and Simmons, then dealt cards.",
        "Warner and Simmons are best, as the document's own Theorem 6.1 has it, then cards put back, then dealt cards "
        "(erratum 3.8).",
        values=(entry.against(ours),),
    )


def figure_5(setting: Setting) -> Content:
    """Health insurance of 3,252,599 people, 7.78 % of them without."""
    entry = printed("003-287")
    people, share, middle = entry.inputs["N"], entry.inputs["pi"], 0.01
    dealt, back = (ideal_deck_variance(people, 0.5, middle, share, replaced=each) for each in (False, True))
    return _content(
        Survey(people, round(people * share), middle),
        _grid(0.05, 0.5),
        setting,
        described="Four falling curves: Warner and Simmons lie on each other, cards put back slightly above them, "
        "dealt cards far below, at 28.7 % of cards put back.",
        notes=(
            "The people are made up: as many as in the extract of HCOVANY that the document used, with the same share "
            "of members. If everybody is asked, nothing else about them matters.",
            "Dealt cards have this ε only against a reader of one response; a collector who knows the other answers "
            "learns an answer almost surely (erratum 3.5).",
        ),
        values=(entry.against(dealt / back),),
    )


def _nine(members: int, setting: Setting, described: str, *notes: str, values: tuple[Value, ...] = ()) -> Content:
    setup = f"The variance against ε for 9 people, {members} of them members, 36 % of the cards in the middle."
    return _content(
        Survey(9, members, 0.36),
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
    survey: Survey,
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


def _seen(survey: Survey, name: str, epsilons: Sequence[float], setting: Setting) -> Seen:
    """Simulate a device at each ε; a deck that several of them share is dealt once, at its own."""
    devices: dict[float, Design | Deck]
    if name == DEALT:
        devices = {deck.epsilon_alone: deck for deck in survey.decks(epsilons)}
    else:
        devices = {each: survey.design(name, each) for each in epsilons}
    points = (survey.seen(device, f"{name}, ε = {each:.3g}", setting) for each, device in devices.items())
    return Seen(tuple(devices), tuple(points))


def _picture(survey: Survey, epsilons: Sequence[float], seen: dict[str, Seen]) -> Figure:
    """Draw the variances, and beside them, to tell near ones apart, how large they are against Warner's."""
    people = f"{survey.people:,} people, {survey.members:,} of them members"
    titles = (f"{people}; everybody is asked", "The same, against Warner's design")
    figure, (left, right) = panels(titles, x="ε (of dealt cards: for a reader of one response)", y="variance")
    right.set_ylabel("variance / that of Warner's design")
    fine = np.linspace(min(min(each.epsilons) for each in seen.values()), epsilons[-1], 60).tolist()
    base = np.array(survey.curve(DEVICES[0], fine))
    for (name, colour), held in zip(_COLOURS.items(), seen.values(), strict=True):
        curve = survey.curve(name, fine)
        line(left, fine, curve, colour, name, _STYLES[name])
        line(right, fine, curve / base, colour, style=_STYLES[name])
        dots(left, held.epsilons, held.points, colour, f"{name}, simulated", _MARKS[name])
        dots(right, held.epsilons, _against(survey, held), colour, marker=_MARKS[name])
    middle = survey.decks(epsilons)[0].counts[1] / survey.people
    if abs(middle - survey.middle) > _VISIBLE:
        curve = Survey(survey.people, survey.members, middle).curve(DEALT, fine)
        line(left, fine, curve, _COLOURS[DEALT], f"{DEALT}, middle share {middle:.3g}", ":")
        line(right, fine, curve / base, _COLOURS[DEALT], style=":")
    left.set_yscale("log")
    legend(figure, 5)
    return figure


def _against(survey: Survey, held: Seen) -> list[Point]:
    """Return the points with Warner's variance as the unit."""
    units = survey.curve(DEVICES[0], held.epsilons)
    return [
        Point(point.where, point.theory / unit, point.simulated / unit, point.error / unit)
        for point, unit in zip(held.points, units, strict=True)
    ]


def _grid(first: float, last: float) -> tuple[float, ...]:
    """Return ten ε at equal distances."""
    return tuple(round(first + (last - first) * step / 9, 6) for step in range(10))


FIGURES = (
    Exhibit("cards", "figure", "1", "Variance against ε: 100 people, 10 % members", figure_1, weight=0.7),
    Exhibit("cards", "figure", "2", "Variance against ε: 9 people, 1 member", figure_2, weight=0.7),
    Exhibit("cards", "figure", "3", "Variance against ε: 9 people, 2 members", figure_3, weight=0.7),
    Exhibit("cards", "figure", "4", "Variance against ε: 9 people, 4 members", figure_4, weight=0.7),
    Exhibit("cards", "figure", "5", "Variance against ε: health insurance of 3,252,599 people", figure_5, weight=0.8),
)

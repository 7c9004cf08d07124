"""A picture of three ways to use cards: which has the smallest variance depends on the share of members."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable import exact
from deniable.design import integer_deck, warner
from deniable.errors import InvalidDesign
from deniable.estimate.deck import deck_variance
from deniable.plan import crossing, crossing_independent, ideal_deck_variance, variance
from deniable.report.style import INK, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WARNER, _BACK, _DEALT, _SHADE = "#2563a8", "#8a6d3b", "#d1495b", "#e8eef5"


def card_chart(people: int, epsilon: exact.Rational, middle: exact.Rational) -> Figure:
    """Draw the variance over the share of members: Warner's design, cards that are put back, and cards that are dealt.

    The band marks the shares for which Warner's design is better than the dealt deck; in the narrow dark one even cards
    that are put back are. Everybody is asked (a census); the curves are for ideal proportions of cards, the dots for
    the deck that can be printed, if there is one.

    Args:
        people: how many people there are.
        epsilon: of all three, against a reader of one response.
        middle: the share of middle cards.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.8), layout="constrained")
    axes = figure.add_subplot()
    _shade(axes, people, epsilon, middle)
    shares = np.linspace(0, 1, 201)
    axes.axhline(variance(warner(epsilon), people, population="census"), color=_WARNER, label="Warner's design")
    back = ideal_deck_variance(people, epsilon, middle, 0.5, replaced=True)
    axes.axhline(back, color=_BACK, linestyle="--", label="cards put back")
    dealt = [ideal_deck_variance(people, epsilon, middle, share) for share in shares.tolist()]
    axes.plot(shares, dealt, color=_DEALT, label="cards dealt, none to spare, in ideal proportions")
    _dot_printed(axes, people, epsilon, middle)
    _dress(axes, people, epsilon, middle)
    return figure


def _shade(axes: Axes, people: int, epsilon: exact.Rational, middle: exact.Rational) -> None:
    low, high = crossing(people, epsilon, middle)
    axes.axvspan(low, high, color=_SHADE, zorder=0, label=f"Warner better than dealt: {low:.3f} … {high:.3f}")
    low, high = crossing_independent(people)
    axes.axvspan(low, high, color="#c9d6e4", zorder=0, label=f"put back better than dealt: {low:.3f} … {high:.3f}")


def _dot_printed(axes: Axes, people: int, epsilon: exact.Rational, middle: exact.Rational) -> None:
    try:
        deck = integer_deck(people, epsilon, middle)
    except InvalidDesign:
        axes.plot([], [], " ", label="(no deck of whole cards keeps this ε)")
        return
    shares = np.arange(people + 1)[:: max(1, people // 25)] / people
    values = [deck_variance(deck, share, population=people) for share in shares.tolist()]
    axes.plot(shares, values, ".", color=_DEALT, label=f"the printed deck {deck.counts}")


def _dress(axes: Axes, people: int, epsilon: exact.Rational, middle: exact.Rational) -> None:
    axes.set_title(
        f"Three ways to use cards: {people:,} people, ε = {float(exact.rational(epsilon)):.4g} for a reader of one "
        f"response, middle share {float(exact.rational(middle)):.4g}\nAgainst a collector who knows the other answers, "
        "dealt cards have no ε",
        loc="left",
        color=INK,
        fontsize=10,
    )
    axes.set_xlabel("true share of members", color=INK)
    axes.set_ylabel("variance of the estimated share", color=INK)
    axes.set_xlim(0, 1)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    plain(axes)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, frameon=False, fontsize=9)

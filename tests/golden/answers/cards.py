"""Document 003: finite populations and cards; and the sample sizes of F17."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np

import deniable as dn
from deniable import plan
from deniable.estimates import (
    covariance,
    deck_variance,
    estimate_deck,
    left_inverse,
    mean_inverse,
)
from deniable.tallies.decks import tally as tally_deck
from deniable.types.deck.respond import respond as respond_with_card
from tests.golden.runner import document, fractions, quantity


def census(design: dn.Design, people: int, share: float, **options: Any) -> float:
    return float(
        covariance(design, [1 - share, share], people, population=people, **options)[
            1, 1
        ]
    )


def deck_of(cards: dict[str, int], people: int) -> dn.Deck:
    return dn.Deck(
        tuple(cards.get(str(k), 0) for k in range(1, max(map(int, cards)) + 1)),
        people,
    )


@quantity("warner_fixed")
def warner_fixed(eps: float, N: int, n1: int) -> float:
    return census(dn.warner(eps), N, n1 / N)


@quantity("simmons_fixed")
def simmons_fixed(p: float, pi_b: float, N: int, n1: int) -> dict[str, float]:
    design = dn.simmons(p=fractions(p), b=fractions(pi_b))
    return {"eps": design.epsilon, "var": census(design, N, n1 / N)}


@quantity("christofides_fixed")
def christofides_fixed(p_cards: list[float], N: int, n1: int) -> dict[str, float]:
    """The moments of a card are those of a deck in these proportions."""
    design = dn.christofides(cards=fractions(p_cards))
    scale = math.lcm(*(share.denominator for share in fractions(p_cards)))
    deck = dn.Deck(
        tuple(int(share * scale) for share in fractions(p_cards)), people=2
    )
    return {
        "eps": design.epsilon,
        "EY": float(deck.mean),
        "VarY": float(deck.spread),
        "var": census(design, N, n1 / N, inverse=mean_inverse(design)),
    }


@quantity("deck_variance")
def deck_moments(cards: dict[str, int], xs: list[int]) -> dict[str, float]:
    """The mean over every deal, one by one; the variance by the formula."""
    deck, people = deck_of(cards, len(xs)), len(xs)
    answers = ["yes" if x else "no" for x in xs]
    hands = [k for k, count in enumerate(deck.counts, 1) for _ in range(count)]
    estimates = [
        estimate_deck(
            tally_deck(
                deck,
                [
                    respond_with_card(deck, a, c)
                    for a, c in zip(answers, hand, strict=True)
                ],
            )
        ).evidence.exactly
        for hand in permutations(hands, people)
    ]
    return {
        "mean": float(sum(estimates, Fraction(0)) / len(estimates)),
        "var": deck_variance(deck, Fraction(sum(xs), people), population=people),
    }


@quantity("deck_privacy")
def deck_privacy(cards: dict[str, int], n: int) -> dict[str, float]:
    deck = deck_of(cards, n)
    return {
        "eps_all_reports": deck.epsilon_collector,
        "delta_at_eps_1": deck.delta_collector(1),
        "eps_own_report": deck.epsilon_alone,
    }


@quantity("ic_crossing")
def ic_crossing(N: int, p2: float, eps: float) -> list[float]:
    return list(plan.crossing(N, eps, p2))


@quantity("min_sample")
def min_sample(
    *,
    eps: float,
    var: float,
    design: str = "warner",
    pi: float | None = None,
    p2: float = 0.0,
    k: int | None = None,
    model: str = "census",
) -> int:
    """The designs of F17; `model` is "census" or "sampling", and without pi the worst case is meant."""
    population = "census" if model == "census" else None
    if k is not None and k > 2:
        return plan.sample_size(dn.subset(k, eps), variance=var)
    if design in ("deck", "improved", "ic"):
        return plan.deck_sample_size(
            eps, p2, variance=var, share=0.5 if pi is None else pi, ideal=True
        )
    made = (
        dn.christofides(eps, middle=p2)
        if design in ("christofides", "mc")
        else dn.warner(eps)
    )
    shares = None if pi is None else [1 - pi, pi]
    return plan.sample_size(made, variance=var, shares=shares, population=population)


@document("003", "length of [pi_A1,pi_A2]")
def length(entry: dict[str, Any]) -> float:
    low, high = ic_crossing(**entry["inputs"])
    return high - low


@document(
    "003",
    "minimum N, warner",
    "minimum N, christofides",
    "minimum N, improved",
    "minimum N, improved, pi=1/2",
)
def minimum(entry: dict[str, Any]) -> int:
    return min_sample(design=entry["topic"].split(",")[1].strip(), **entry["inputs"])


@document("003", "Var_IC/Var_MC")
def ratio(entry: dict[str, Any]) -> float:
    """The same for all cards."""
    people, share = entry["inputs"]["N"], entry["inputs"]["pi"]
    dealt, back = (
        plan.ideal_deck_variance(people, 0.5, 0.01, share, replaced=r)
        for r in (False, True)
    )
    return dealt / back


@document("003", "interval where IC is worse than MC")
def interval(entry: dict[str, Any]) -> list[float]:
    return list(plan.crossing_independent(**{"people": entry["inputs"]["N"]}))


@document("003", "1/(2 sqrt N) at N=3")
def half_interval(entry: dict[str, Any]) -> float:
    low, high = plan.crossing_independent(entry["inputs"]["N"])
    return (high - low) / 2


@document("003", "Simmons census variance")
def simmons_variance(entry: dict[str, Any]) -> float:
    return simmons_fixed(**entry["inputs"])["var"]


@document("003", "Simmons variance at eps")
def simmons_at_epsilon(entry: dict[str, Any]) -> float:
    given = entry["inputs"]
    return census(
        dn.simmons(given["eps"], b=fractions(given["pi_b"])),
        given["N"],
        given["pi_A"],
    )


@document("003", "mean of the estimator")
def mean_of_the_estimator(entry: dict[str, Any]) -> float:
    design = dn.christofides(cards=fractions(entry["inputs"]["p_cards"]))
    linear = left_inverse(design.channel, inverse=mean_inverse(design))
    share = entry["inputs"]["pi"]
    return float(linear.shares(linear.expected(np.array([1 - share, share])))[1])


@document("003", "improved Christofides eps, all reports seen, others known")
def collector_epsilon(entry: dict[str, Any]) -> float:
    return deck_of(entry["inputs"]["cards"], entry["inputs"]["n"]).epsilon_collector


@document("003", "variances MW, MC, IC")
def three_variances(entry: dict[str, Any]) -> dict[str, float]:
    given = entry["inputs"]
    people, share, eps, p2 = (
        given["N"],
        float(Fraction(given["pi"])),
        given["eps"],
        given["p2"],
    )
    return {
        "MW": census(dn.warner(eps), people, share),
        "MC": census(dn.christofides(eps, middle=p2), people, share),
        "IC": plan.ideal_deck_variance(people, eps, p2, share),
    }

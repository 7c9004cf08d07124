"""All named designs for two answers on one scale: what each reveals, and what it costs.

`python -m tests.support.survey_designs > docs/survey-designs.md` writes the page; a test holds it to that.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from deniable import exact
from deniable.designs import FAMILIES, Design
from deniable.designs.proofs import format_factor
from deniable.estimates import covariance, mean_inverse
from deniable.rendering import formats

SHARE = Fraction(1, 10)
"""The share of members at which posteriors and costs are told."""

EXAMPLES: tuple[tuple[str, dict[str, object]], ...] = (
    ("warner", {"p": "7/10"}),
    ("mirrored", {"p": "7/10"}),
    ("disguised", {"p": "4/5"}),
    ("crosswise", {"p": "1/4"}),
    ("crosswise", {"p": "1/6"}),
    ("number_sequence", {"p": "1/4"}),
    ("mangat_singh", {"t": "3/10", "p": "7/10"}),
    ("forced_response", {"honest": "2/3", "yes": "1/6", "no": "1/6"}),
    ("forced_response", {"honest": "3/4", "yes": "1/6", "no": "1/12"}),
    ("simmons", {"p": "7/10", "b": "1/2"}),
    ("simmons", {"p": "1/2", "b": "1/12"}),
    ("simmons", {"p": "1/2", "b": "2/3"}),
    ("mangat_unrelated", {"t": "3/10", "p": "3/5", "b": "1/2"}),
    ("correlated_question", {"p": "7/10", "b_yes": "1/2", "b_no": "1/5"}),
    ("singh_joarder", {"p": "3/5"}),
    ("kuk", {"p1": "4/5", "p2": "1/5"}),
    ("kuk", {"p1": "4/5", "p2": "1/5", "draws": 2}),
    ("christofides", {"cards": ["3/5", "1/5", "1/5"]}),
    ("triangular", {"p": "1/4"}),
    ("mangat", {"p": "2/3"}),
    ("devore", {"p": "7/10"}),
    ("hard_garbling", {"p": "3/10"}),
    ("mangat_singh_singh", {"p": "3/5", "b": "1/2"}),
)
"""A design of each family with typical parameters; those of one channel stand together."""


class Cost(NamedTuple):
    """What a design for two answers reveals at a share of members, and what it costs.

    Attributes:
        epsilon: its ε, rounded up; infinite where one response proves something.
        factors: by how much each response multiplies the odds of the second answer.
        posteriors: how probable the second answer is after each response.
        multiplier: how many times as many respondents it needs as an honest direct question, by the best unbiased
            estimate at this share.
        by_mean: the same by the customary estimate, from the mean response; for two responses it is no other.
    """

    epsilon: float
    factors: tuple[exact.Ratio, ...]
    posteriors: tuple[Fraction, ...]
    multiplier: float
    by_mean: float


def cost(design: Design, share: Fraction = SHARE) -> Cost:
    """Return what a design for two answers reveals and costs at a share of the second one.

    Example:
        >>> from deniable.designs import mangat
        >>> found = cost(mangat("2/3"))
        >>> found.factors, found.posteriors, round(found.multiplier, 6)
        ((Fraction(0, 1), Fraction(3, 1)), (Fraction(0, 1), Fraction(1, 4)), 6.0)
    """
    factors = tuple(
        design.bayes_factors(symbol, design.categories[1])[0]
        for symbol in design.symbols
    )
    shares = [float(1 - share), float(share)]
    best, mean = (
        covariance(design, shares, 1, guess=shares),
        covariance(design, shares, 1, inverse=mean_inverse(design)),
    )
    posteriors = tuple(_posterior(factor, share) for factor in factors)
    direct = float(share * (1 - share))
    return Cost(
        design.epsilon,
        factors,
        posteriors,
        float(best[1, 1]) / direct,
        float(mean[1, 1]) / direct,
    )


def _posterior(factor: exact.Ratio, share: Fraction) -> Fraction:
    return (
        Fraction(1)
        if factor == math.inf
        else Fraction(factor) * share / (Fraction(factor) * share + 1 - share)
    )


def page() -> str:
    """Return the page with the table, in Markdown."""
    return (
        _HEAD
        + "\n".join(_line(name, settings) for name, settings in EXAMPLES)
        + "\n"
        + _FOOT
    )


def _line(name: str, settings: dict[str, object]) -> str:
    design = FAMILIES[name].build(**settings)
    found = cost(design)
    written = ", ".join(
        f"{key} {_setting(value)}" for key, value in settings.items()
    )
    cells = (
        f"`{name}` {written}",
        "**∞**" if found.epsilon == math.inf else formats.epsilon(found.epsilon, 5),
        ", ".join(design.symbols),
        ", ".join(map(format_factor, found.factors)),
        ", ".join(formats.percent(each) for each in found.posteriors),
        f"{found.multiplier:.2f}"
        + (f" ({found.by_mean:.2f})" if len(design.symbols) > 2 else ""),
    )
    return f"| {' | '.join(cells)} |"


def _setting(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


_HEAD = """# Named designs for two answers, on one scale

What each response reveals, and what the design costs, where 10 of 100 people are members (hold the second answer). ε
is rounded up and Bayes factors are rounded away from 1. An ε of **∞** says that one response proves something: the one
whose Bayes factor is 0 proves that somebody is no member, whatever was believed before; the other one stays deniable,
by the factor beside it. *Multiplier* is how many times as many respondents are needed as for a direct question that
everybody answers honestly, by the best unbiased estimate (in brackets, where there is another: by the customary one,
from the mean response). Written by `python -m tests.support.survey_designs > docs/survey-designs.md`.

| design | ε | responses | Bayes factors of the second answer | its posteriors at 10% | multiplier |
| --- | --- | --- | --- | --- | --- |
"""

_FOOT = """
Equal rows are equal channels with other words: [why, and which](theory/named-designs.md). The ε of designs with a
question in place of a device (`crosswise`, `simmons`, `mangat_unrelated`, `mangat_singh_singh`, `correlated_question`,
`triangular`) holds only against those who do not know this person's answer to that question.
"""


if __name__ == "__main__":
    print(page(), end="")

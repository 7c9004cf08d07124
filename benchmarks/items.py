"""One drawn item of several against splitting ε: variances measured and predicted. `python -m benchmarks.items`

Yes-or-no items with ε = 1 in all, a true share of one half for each, where the variance is largest. Every estimate is
drawn, counted and made by the library's own verbs; a row measures four thousand of each, so that a measured variance is
known to 2 %.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import deniable as dn
from deniable.plan import variance

ITEMS = (2, 5, 10, 20)
ESTIMATES, PEOPLE, SHARE = 4_000, 2_000, 0.5


def answers(names: list[str], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Independent answers of everybody to every item, as codes."""
    return {name: (rng.random(PEOPLE) < SHARE).astype(np.uint8) for name in names}


def drawn(items: int, rng: np.random.Generator) -> tuple[float, float]:
    """n times the variance of a share where everybody answers one item: measured, predicted."""
    names = [f"item {number}" for number in range(items)]
    design = dn.drawn_items({name: dn.warner(1) for name in names})
    found = [
        dn.estimate(
            dn.tally(dn.respond_all(design, answers(names, rng), codes=True))
        ).params
        for _ in range(ESTIMATES // items)
    ]
    values = [each[f"{name}: yes"] for each in found for name in names]
    shares = {name: [1 - SHARE, SHARE] for name in names}
    return PEOPLE * np.var(values), PEOPLE * variance(
        design, PEOPLE, shares=shares, category=f"{names[0]}: yes"
    )


def split(items: int, rng: np.random.Generator) -> tuple[float, float]:
    """The same where everybody answers every item with its part of ε; items are estimated one by one."""
    design = dn.warner(Fraction(1, items))
    values = [
        dn.estimate(
            dn.tally(
                dn.respond_all(design, answers(["one"], rng)["one"], codes=True)
            )
        ).params["yes"]
        for _ in range(ESTIMATES)
    ]
    return PEOPLE * np.var(values), PEOPLE * variance(
        design, PEOPLE, shares=[1 - SHARE, SHARE]
    )


def main() -> None:
    import warnings

    warnings.simplefilter("ignore", dn.errors.ImplausibleResponses)
    rng = np.random.default_rng(13)
    print(
        "| items | one drawn: measured | predicted | splitting: measured | predicted | ratio measured | predicted |"
    )
    print("|" + "---|" * 7)
    for items in ITEMS:
        (one, expected), (all_, predicted) = drawn(items, rng), split(items, rng)
        print(
            f"| {items} | {one:.4g} | {expected:.4g} | {all_:.4g} | {predicted:.4g} | {all_ / one:.3g} "
            f"| {predicted / expected:.3g} |"
        )


if __name__ == "__main__":
    main()

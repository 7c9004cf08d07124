"""How often default 95 % intervals of answers that are more than a category hold the truth.

`python -m benchmarks.coverage_records [repetitions] [part …]`, parts as in `PARTS`. For ε ∈ {½, 2, 8}, n ∈ {10, 30,
300, 3,000} and shares at 0, near 0 and in the middle. Exact (a sum over all tallies) where said, else from surveys
drawn in law. How often value ± z·error holds the truth stands in the last column.
"""

from __future__ import annotations

import itertools
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
from scipy.special import gammaln
from scipy.stats import binom

import deniable as dn
from benchmarks.coverage import EPSILONS, LEAST, LEAST_ON_AVERAGE, RESPONDENTS
from benchmarks.false_strings import CANDIDATES, PRESENT, SETTINGS, drawn
from benchmarks.false_strings import shares as known_shares
from deniable.bulk.edges import Edges
from deniable.designs import NumberDesign, number_design
from deniable.errors import ImplausibleResponses
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import Interval
from deniable.estimates.linear import floats
from deniable.estimates.triples import Scored, Triples
from deniable.types.buckets.count import BucketTally
from deniable.types.buckets.design import BucketDesign
from deniable.types.buckets.plan import response_rates
from deniable.types.edges.count import EdgeTally
from deniable.types.edges.design import one_edge
from deniable.types.edges.estimate import estimate as estimate_edges
from deniable.types.key_value.count import KeyValueTally
from deniable.types.key_value.design import (
    KeyValueDesign,
    lpp_club,
    lpp_ddagger,
    pckv_grr,
    pckv_ue,
)
from deniable.types.key_value.draw import collect
from deniable.types.key_value.estimate import ItemEstimate
from deniable.types.key_value.estimate import estimate as estimate_items
from deniable.types.numbers.count import NumberTally
from deniable.types.numbers.estimate import estimate as estimate_mean
from deniable.types.numbers.estimate import spread
from deniable.types.strings.estimate import estimate as estimate_strings

ITEMS = 5
SCHEMES: dict[str, Callable[[object], KeyValueDesign]] = {
    "lpp_ddagger": lambda epsilon: lpp_ddagger(ITEMS, epsilon, low=1, high=5),
    "lpp_club": lambda epsilon: lpp_club(ITEMS, epsilon, low=1, high=5),
    "pckv_ue": lambda epsilon: pckv_ue(ITEMS, epsilon, padding=2, low=1, high=5),
    "pckv_grr": lambda epsilon: pckv_grr(ITEMS, epsilon, padding=2, low=1, high=5),
}
Named: TypeAlias = list[tuple[Vector, str]]
"""Shares of three answers, and what they are called."""

FREQUENCIES, MEANS = (0.0, 0.005, 0.03, 0.2, 0.5), (1.0, 2.0, 3.0, 4.6)


@dataclass
class Cells:
    """What was found for one design, each with what it belongs to."""

    found: list[tuple[float, str]]

    def add(self, rates: dict[float, float], where: str) -> None:
        self.found += [
            (rate, f"{where}, share {share:.4g}") for share, rate in rates.items()
        ]

    def line(self, name: str) -> str:
        rates = [rate for rate, _ in self.found]
        least, where = min(self.found)
        kept = min(rates) >= LEAST and np.mean(rates) >= LEAST_ON_AVERAGE
        return f"| {name} | {len(rates)} | {least:.3f} | {where} | {np.mean(rates):.3f} | {'yes' if kept else 'NO'} |"


class Both:
    """Cells of the default interval, and of value ± z·error beside them."""

    def __init__(self) -> None:
        self.default, self.normal = Cells([]), Cells([])

    def add(self, rates: Sequence[float], where: str) -> None:
        self.default.found.append((rates[0], where))
        self.normal.found.append((rates[1], where))

    def line(self, name: str) -> str:
        normal = [rate for rate, _ in self.normal.found]
        return (
            f"{self.default.line(name)} {min(normal):.3f} / {np.mean(normal):.3f} |"
        )


def all_tallies(n: int) -> Matrix:
    """All tallies of n responses of three kinds."""
    one, two = (
        each.ravel() for each in np.meshgrid(np.arange(n + 1.0), np.arange(n + 1.0))
    )
    return np.stack([n - one - two, one, two], axis=1)[one + two <= n]


def law(tallies: Matrix, rates: Vector) -> Vector:
    logs = tallies @ np.log(np.maximum(rates, 1e-300))
    return np.asarray(
        np.exp(
            logs + gammaln(tallies[0].sum() + 1) - gammaln(tallies + 1).sum(axis=1)
        )
    )


def holds(low: Vector, high: Vector, truth: float) -> Vector:
    slack = 1e-6 * max(1.0, abs(truth))
    return np.asarray((low - slack <= truth) & (truth <= high + slack))


def enumerated(
    triples: Triples,
    above: Scored,
    below: Scored | None,
    shares: list[tuple[Vector, str]],
    n: int,
    label: str,
    both: Both,
) -> None:
    """Sum over all tallies for each of several shares of the three answers."""
    tallies = all_tallies(n)
    asked = replace(triples, counts=tallies, known=0.0)
    low, high = (
        asked.mean(above, 0.95) if below is None else asked.ratio(above, below, 0.95)
    )
    around = wald(tallies, above, below)
    for each, where in shares:
        chance = law(tallies, triples.matrix @ each)
        truth = float(each @ above.values) / (
            1.0 if below is None else float(each @ below.values)
        )
        rates = [
            float(chance[holds(*ends, truth)].sum())
            for ends in ((low, high), around)
        ]
        both.add((rates[0], rates[1]), f"{label}, n = {n:,}, {where}")


def wald(
    tallies: Matrix, above: Scored, below: Scored | None
) -> tuple[Vector, Vector]:
    """Value ± z·error, the error at the estimate brought into range; a ratio's by the delta method."""
    n = tallies.sum(axis=1)
    one = tallies @ above.responses / n
    two = np.ones_like(one) if below is None else tallies @ below.responses / n
    with np.errstate(divide="ignore", invalid="ignore"):
        value = one / two
        score = above.responses - value[:, None] * (
            1.0 if below is None else below.responses
        )
        error = np.sqrt((tallies * score**2).sum(axis=1)) / n / np.abs(two)
    return value - 1.96 * error, value + 1.96 * error


def items(repetitions: int) -> Iterator[str]:
    """Frequencies, weights and means of items on a scale from 1 to 5: every tally of up to 300 about an item."""
    found = {"weight": Both(), "mean": Both()}
    for (name, build), epsilon, n in itertools.product(
        SCHEMES.items(), EPSILONS, RESPONDENTS[:3]
    ):
        design = build(epsilon)
        one_each = design.scheme.one_each
        counts = np.full((ITEMS, design.width), 0)
        counts[:, 0] = n
        empty = estimate_items(
            KeyValueTally(design, counts, n * (ITEMS if one_each else 1))
        )
        triples, has, weight = empty.numbers.triples()
        shares = [
            (
                np.array([1 - f, f * (mean - 1) / 4, f * (5 - mean) / 4]),
                f"frequency {f:g}, mean {mean:g}",
            )
            for f, mean in itertools.product(FREQUENCIES, MEANS)
        ]
        label = f"{name}, ε = {epsilon}"
        enumerated(triples, weight, None, shares, n, label, found["weight"])
        enumerated(
            triples,
            weight,
            has,
            [each for each in shares if each[0][0] < 1],
            n,
            label,
            found["mean"],
        )
    for quantity, both in found.items():
        yield both.line(f"{quantity} of an item, exact")
    yield from surveys(repetitions)


def surveys(repetitions: int) -> Iterator[str]:
    """The same from whole surveys through the public calls: everybody has at most one of five items."""
    quantities = ("frequency", "weight", "mean")
    found = {each: Both() for each in quantities}
    plain = {"frequency": "normal", "weight": "normal", "mean": "delta"}
    for (name, build), epsilon, n in itertools.product(
        SCHEMES.items(), EPSILONS, RESPONDENTS
    ):
        design, draws = build(epsilon), np.random.default_rng(n)
        truths = {
            "frequency": np.array(FREQUENCIES),
            "mean": np.array([3.0, 4.6, 2.0, 3.0, 5.0]),
        }
        truths["weight"] = n * truths["frequency"] * truths["mean"]
        held = {each: np.zeros((2, ITEMS)) for each in quantities}
        for _ in range(repetitions):
            made = estimate_items(
                collect(design, people(n, truths["mean"], draws), fast=True)
            )
            for quantity in quantities:
                for row, method in enumerate((None, plain[quantity])):
                    held[quantity][row] += ends_hold(
                        made, quantity, method, truths[quantity]
                    )
        for quantity in quantities:
            for number, frequency in enumerate(FREQUENCIES):
                rates = held[quantity][:, number] / repetitions
                if quantity != "mean" or frequency:
                    found[quantity].add(
                        (rates[0], rates[1]),
                        f"{name}, ε = {epsilon}, n = {n:,}, {frequency:g}",
                    )
    for quantity, both in found.items():
        yield both.line(f"{quantity} of an item, surveys")


def ends_hold(
    made: ItemEstimate, quantity: str, method: str | None, truth: Vector
) -> Vector:
    low, high = made.about(quantity)._bounds(method, 0.95)
    return np.asarray((low - 1e-6 <= truth) & (truth <= high + 1e-6))


def people(n: int, means: Vector, draws: np.random.Generator) -> Edges:
    """People who each have one item or none, with the item's mean as its weight."""
    item = draws.choice(ITEMS + 1, size=n, p=[*FREQUENCIES, 1 - sum(FREQUENCIES)])
    some = item < ITEMS
    start = np.concatenate([[0], np.cumsum(some)])
    return Edges(n, ITEMS, start, item[some], (means[item[some]] - 3) / 2)


def edges(_: int) -> Iterator[str]:
    """Mean weights of edges of weight 0, ½ or 1: every tally of up to 300 edges of an item."""
    both = Both()
    shares = [
        (1, 0, 0),
        (0.995, 0, 0.005),
        (0.97, 0.03, 0),
        (0.97, 0, 0.03),
        (0.8, 0.1, 0.1),
        (1 / 3,) * 3,
        (0, 0, 1),
    ]
    named = [
        (np.array(each), f"shares {', '.join(f'{share:.3g}' for share in each)}")
        for each in shares
    ]
    for epsilon, n in itertools.product(EPSILONS, RESPONDENTS[:3]):
        design = one_edge(["a", "b"], epsilon)
        triples, weight = estimate_edges(
            EdgeTally(design, np.array([[n, 0, 0], [n, 0, 0]]))
        ).numbers._triples()
        enumerated(triples, weight, None, named, n, f"ε = {epsilon}", both)
    yield both.line("mean weight of edges, exact")


def shares_of(size: int) -> Iterator[Vector]:
    """Shares of a few categories: at 0, near 0, in the middle and even."""
    for rare in (0.0, 0.005, 0.03, 0.2):
        yield np.array([1 - rare - 0.03 * (size - 2), *[0.03] * (size - 2), rare])
    yield np.full(size, 1 / size)


def inside(interval: tuple[float, float], truth: float) -> bool:
    return bool(interval[0] - 1e-9 <= truth <= interval[1] + 1e-9)


def stages(repetitions: int) -> Iterator[str]:
    """Nine of ten people at the first stage and one at the second, and the difference of two shares.

    Exact, over all pairs of tallies, for three categories and up to 30 people; else from surveys.
    """
    shares, contrasts = {True: Both(), False: Both()}, {True: Both(), False: Both()}
    for size, last, n in itertools.product((3, 5), (2, 8), RESPONDENTS):
        rungs, exact = (
            dn.ladder([dn.k_ary(size, epsilon=each) for each in ("1/2", last)]),
            size == 3 and n <= 30,
        )
        label = f"k = {size}, ε = ½ and {last}, n = {n:,}"
        if exact:
            pairs = list(
                itertools.product(*(all_tallies(n * part // 10) for part in (9, 1)))
            )
            known = [stage_ends(rungs, each) for each in pairs]
        for true in shares_of(size):
            rates = [floats(each.channel) @ true for each in rungs]
            if exact:
                chances = np.multiply.outer(
                    *(
                        law(all_tallies(n * part // 10), rate)
                        for part, rate in zip((9, 1), rates, strict=True)
                    )
                ).ravel()
            else:
                draws = np.random.default_rng(n)
                some = [
                    [
                        draws.multinomial(n * part // 10, rate / rate.sum())
                        for part, rate in zip((9, 1), rates, strict=True)
                    ]
                    for _ in range(repetitions)
                ]
                known, chances = (
                    [stage_ends(rungs, each) for each in some],
                    np.full(repetitions, 1 / repetitions),
                )
            truths = np.array([*true, true[0] - true[-1]])
            ends = np.array(known)  # [tally, method, number, end]
            held = (ends[..., 0] - 1e-9 <= truths) & (truths <= ends[..., 1] + 1e-9)
            found = np.tensordot(chances, held, axes=1)
            for number, share in enumerate(true):
                shares[exact].add(found[:, number], f"{label}, share {share:.3g}")
            contrasts[exact].add(found[:, -1], f"{label}, rarest {true.min():.3g}")
    for exact, how in ((True, "exact"), (False, "surveys")):
        yield shares[exact].line(f"stages, {how}")
        yield contrasts[exact].line(f"contrast of stages, {how}")


def stage_ends(rungs: dn.Ladder, counts: Sequence[Vector]) -> list[list[Interval]]:
    """The intervals of all shares and of the difference between the first and the last: default, and normal."""
    parts = tuple(
        dn.Tally(each, count.astype(np.int64))
        for each, count in zip(rungs, counts, strict=True)
    )
    made = dn.estimate(dn.StageTallies(rungs, parts, parts))
    apart = made.contrast({made.categories[0]: 1, made.categories[-1]: -1})
    return [
        [*made.conf_int(method=each).values(), apart.interval(method=each)]
        for each in (None, "normal")
    ]


def groups(repetitions: int) -> Iterator[str]:
    """The difference of a share between two groups, exact; between two drawn items, from surveys."""
    pairs = [
        (0.0, 0.0),
        (0.0, 0.03),
        (0.005, 0.005),
        (0.005, 0.2),
        (0.03, 0.03),
        (0.2, 0.2),
        (0.5, 0.5),
        (0.03, 0.5),
    ]
    both = Both()
    for epsilon, n, m in itertools.product(EPSILONS, (10, 30, 300), (10, 30, 300)):
        if n <= m:
            some = [differences(epsilon, each) for each in (n, m)]
            for one, two in pairs:
                chances = [
                    binom.pmf(np.arange(len(each[0])), len(each[0]) - 1, rate)
                    for each, rate in zip(
                        some, sending(epsilon, (one, two)), strict=True
                    )
                ]
                rates = [held_apart(some, chances, one - two, row) for row in (0, 1)]
                both.add(
                    (rates[0], rates[1]),
                    f"ε = {epsilon}, n = {n} and {m}, shares {one:g} and {two:g}",
                )
    yield both.line("difference of two groups, exact")
    items_apart = Both()
    for epsilon, n in itertools.product(EPSILONS, RESPONDENTS):
        design = dn.drawn_items({"a": dn.warner(epsilon), "b": dn.warner(epsilon)})
        draws = np.random.default_rng(n)
        for one, two in pairs:
            held = np.zeros(2)
            rates = sending(epsilon, (one, two))
            for _ in range(repetitions):
                asked = np.clip(draws.binomial(n, 0.5), 2, n - 2)
                hits = draws.binomial([asked, n - asked], rates)
                counted = dn.DrawnTally(
                    design,
                    np.array(
                        [asked - hits[0], hits[0], n - asked - hits[1], hits[1]]
                    ),
                )
                made = dn.estimate(counted).contrast({"a: yes": 1, "b: yes": -1})
                held += [
                    inside(made.interval(method=each), one - two)
                    for each in (None, "normal")
                ]
            where = f"ε = {epsilon}, n = {n:,}, shares {one:g} and {two:g}"
            items_apart.add((held[0] / repetitions, held[1] / repetitions), where)
    yield items_apart.line("contrast of drawn items")


def sending(epsilon: object, shares: tuple[float, float]) -> list[float]:
    matrix = floats(dn.warner(epsilon).channel)  # type: ignore[arg-type]
    return [float(matrix[1] @ [1 - share, share]) for share in shares]


def differences(epsilon: object, n: int) -> tuple[list[float], Matrix, Matrix]:
    """The values, the default and the normal intervals of all tallies of n."""
    design = dn.warner(epsilon)  # type: ignore[arg-type]
    made = [
        dn.estimate(dn.Tally(design, [n - hits, hits])).contrast({"yes": 1})
        for hits in range(n + 1)
    ]
    return (
        [each.value for each in made],
        np.array([each.interval() for each in made]),
        np.array([[each.value, each.error] for each in made]),
    )


def held_apart(
    some: list[tuple[list[float], Matrix, Matrix]],
    chances: list[Vector],
    truth: float,
    row: int,
) -> float:
    """Sum over all pairs of tallies, with the ends that `Contrast.__sub__` gives for them."""
    (one, first, first_error), (two, second, second_error) = some
    apart = np.subtract.outer(one, two)
    if row == 0:
        down = np.hypot.outer(
            np.subtract(one, first[:, 0]), np.subtract(second[:, 1], two)
        )
        up = np.hypot.outer(
            np.subtract(first[:, 1], one), np.subtract(two, second[:, 0])
        )
    else:
        down = up = 1.96 * np.hypot.outer(first_error[:, 1], second_error[:, 1])
    held = (apart - down - 1e-9 <= truth) & (truth <= apart + up + 1e-9)
    return float(chances[0] @ held @ chances[1])


PEOPLE: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "all at an end": ((0,), (1,)),
    "0.5 % at the other": ((0, 1), (0.995, 0.005)),
    "3 %": ((0, 1), (0.97, 0.03)),
    "20 %": ((0, 1), (0.8, 0.2)),
    "even": ((0, 1), (0.5, 0.5)),
    "all in the middle": ((0.5,), (1,)),
    "spread evenly": (tuple(np.linspace(0, 1, 101)), (1 / 101,) * 101),
}


def numbers(_: int) -> Iterator[str]:
    """Means and variances of numbers, exact: all tallies of up to 300."""
    means, variances = Both(), Both()
    for (low, high), epsilon, n in itertools.product(
        ((0, 10), (-5, 5), (1, 5)), EPSILONS, RESPONDENTS[:3]
    ):
        design = number_design(low, high, epsilon=epsilon, levels=2)
        designs = [design, design.squared]
        made = [
            [
                estimate_mean(NumberTally(each, [n - hits, hits])).mean
                for hits in range(n + 1)
            ]
            for each in designs
        ]
        ends = [
            [each.conf_int(method=method)["mean"] for each in made[0]]
            for method in (None, "normal")
        ]
        found = {
            method: {
                (i, j): spread(made[0][i], made[1][j]).conf_int(method=method)[
                    "variance"
                ]
                for i, j in itertools.product(range(n + 1), repeat=2)
            }
            for method in ((None, "normal") if n <= 30 else ())
        }
        for name, (places, shares) in PEOPLE.items():
            values = low + (high - low) * np.array(places)
            truths = float(values @ shares), float(values**2 @ shares)
            laws = [
                _hits(design, truth, n)
                for design, truth in zip(designs, truths, strict=True)
            ]
            where = f"{low} to {high}, ε = {epsilon}, n = {n}, {name}"
            means.add(
                tuple(
                    float(laws[0] @ [inside(each, truths[0]) for each in row])
                    for row in ends
                ),
                where,
            )
            if found:
                variances.add(
                    tuple(
                        _pairs(laws, each, truths[1] - truths[0] ** 2)
                        for each in found.values()
                    ),
                    where,
                )
    yield means.line("mean of numbers, exact")
    yield variances.line("variance of numbers, exact")


REST = {"at the bottom": 0.0, "in the middle": 0.5}
"""Where all others are, as a part of the range."""


def levels(repetitions: int) -> Iterator[str]:
    """Means and deviations of numbers with few people at the top of the range."""
    means, deviations = Both(), Both()
    generator = np.random.default_rng(7)
    for epsilon, n, rare, (name, place) in itertools.product(
        (1, 4, 8), (30, 100, 300, 3_000), (0.005, 0.01, 0.02), REST.items()
    ):
        design = number_design(0, 1, epsilon=epsilon)
        shares = np.zeros(design.channel.answers)
        shares[round(place * (len(shares) - 1))], shares[-1] = 1 - rare, rare
        numbers = vector([float(level) for level in design.scale.values])
        mean = float(numbers @ shares)
        truths = {"mean": mean, "sd": float(numbers**2 @ shares - mean**2) ** 0.5}
        rates = floats(design.channel) @ shares
        drawn_counts = generator.multinomial(n, rates / rates.sum(), repetitions)
        tallies, times = np.unique(drawn_counts, axis=0, return_counts=True)
        held = np.zeros((2, 2))
        for counts, count in zip(tallies, times, strict=True):
            estimate = estimate_mean(NumberTally(design, counts.tolist()))
            for column, method in enumerate((None, "normal")):
                intervals = estimate.conf_int(method=method)
                held[:, column] += [
                    count * inside(intervals[each], truth)
                    for each, truth in truths.items()
                ]
        where = f"ε = {epsilon}, n = {n}, {rare:.1%} at the top, others {name}"
        for both, row in zip((means, deviations), held / repetitions, strict=True):
            both.add(tuple(row.tolist()), where)
    yield means.line("mean of numbers, few at the top")
    yield deviations.line("deviation of numbers, few at the top")


CURVE_ERRORS = 2.054
"""Standard errors that an interval of F has on each side: those of a test of the descent."""


def bucket_laws(generator: np.random.Generator, count: int) -> dict[str, Vector]:
    """Return the shares of people in each bucket, from 200,000 numbers: smooth distributions and spikes."""
    n = 200_000
    side = generator.random(n) < 0.5
    numbers = {
        "Beta(2, 5)": generator.beta(2, 5, n),
        "uniform": generator.random(n),
        "log-normal": np.exp(generator.normal(-2, 0.7, n)),
        "bimodal": np.where(
            side, generator.normal(0.25, 0.05, n), generator.normal(0.7, 0.1, n)
        ),
        "spikes": np.where(
            side, generator.choice([0.0, 0.25], n), generator.random(n)
        ),
        "round prices": np.rint(20 * generator.beta(2, 5, n)) / 20,
        "latencies": np.log(generator.lognormal(4, 1, n)) / np.log(10_000),
    }
    places = {
        name: np.clip((column * count).astype(int), 0, count - 1)
        for name, column in numbers.items()
    }
    return {
        name: np.bincount(each, minlength=count) / n for name, each in places.items()
    }


def bucket_tally(
    design: BucketDesign, rates: list[Vector], n: int, generator: np.random.Generator
) -> BucketTally:
    """Draw a tally of the responses of so many people."""
    sizes = generator.multinomial(n, np.full(len(rates), 1 / len(rates)))
    counts = map(generator.multinomial, sizes, rates)
    return BucketTally(design, np.concatenate(list(counts)))


def tree(repetitions: int, count: int = 256) -> Iterator[str]:
    """Median, p95 and p99 of numbers in buckets, by descent; F at three edges; the median's width of Beta(2, 5)."""
    both, generator = Both(), np.random.default_rng(12)
    widths, curves = [], []
    inner = np.array([1, 2, 3]) * count // 4
    laws = bucket_laws(generator, count)
    for epsilon, n in itertools.product((0.5, 1, 2, 4), (10_000, 100_000)):
        design = dn.bucket_design(0, 1, epsilon, count=count)
        edges = design.buckets.edges
        for name, shares in laws.items():
            # a quantile lies between edges with F at most it, and at least it
            below = dict(zip(edges, [0.0, *np.cumsum(shares)], strict=True))
            held, rates = np.zeros((3, 2)), response_rates(design, shares)
            truth = np.array(list(below.values()))[inner]
            width, on_curve = 0.0, 0.0
            for _ in range(repetitions):
                found = dn.estimate(bucket_tally(design, rates, n, generator))
                bounds = list(found.conf_int().values())
                width += (bounds[0][1] - bounds[0][0]) / repetitions
                curve = found.model.curves[0]
                away = np.abs(curve.distribution[inner] - truth)
                on_curve += (away <= CURVE_ERRORS * curve.errors[inner]).mean()
                for index, (low, high) in enumerate(bounds):
                    share = found.model.quantiles[index]
                    held[index] += below[low] <= share + 1e-9 <= below[high] + 2e-9
            for held_rates in held / repetitions:
                both.add(
                    tuple(held_rates.tolist()), f"{name}, ε = {epsilon}, n = {n:,}"
                )
            if name == "Beta(2, 5)":
                widths.append(f"{width:.4f} at ε = {epsilon}, n = {n:,}")
            curves.append(on_curve / repetitions)
    yield both.line(f"quantiles of numbers in {count} buckets (no other interval)")
    middle = np.median([rate for rate, _ in both.default.found])
    yield (
        f"Median of the cells {middle:.3f}; F at three edges, mean of a setting {min(curves):.3f} to {max(curves):.3f}"
    )
    yield f"Mean width of the median's interval, Beta(2, 5): {'; '.join(widths)}"


def _hits(design: NumberDesign, truth: float, n: int) -> Vector:
    share = (truth - float(design.range.low)) / float(design.range.width)
    return np.asarray(
        binom.pmf(
            np.arange(n + 1), n, floats(design.channel)[1] @ [1 - share, share]
        )
    )


def _pairs(
    laws: list[Vector], ends: dict[tuple[int, int], Interval], truth: float
) -> float:
    return sum(
        float(laws[0][i] * laws[1][j])
        for (i, j), each in ends.items()
        if inside(each, truth)
    )


def strings(repetitions: int) -> Iterator[str]:
    """Shares of strings that were found, a tenth as many surveys: those that nobody has, and those that are there."""
    absent, there = Both(), Both()
    for setting in SETTINGS[0], SETTINGS[2], SETTINGS[4]:
        wanted = known_shares(setting)[0]
        kept = {here: np.zeros(3) for here in (False, True)}
        draws = np.random.default_rng(setting.respondents + 1)
        for run in range(max(repetitions // 10, 1)):
            names = [f"{run} {number}" for number in range(wanted.size)]
            truths = dict(
                zip(
                    names[: PRESENT + 1],
                    (wanted / wanted.sum()).tolist(),
                    strict=False,
                )
            )
            nobody = [
                f"{run} nobody {number}"
                for number in range(CANDIDATES - len(truths))
            ]
            people = draws.multinomial(setting.respondents, wanted / wanted.sum())
            for each in estimate_strings(
                drawn(setting.design, names, people, draws), [*truths, *nobody]
            ).found:
                share = truths.get(each.text, 0.0)
                plain = abs(each.share - share) <= 1.96 * each.error
                kept[each.text in truths] += [
                    1,
                    inside(each.interval(), share),
                    plain,
                ]
        for here, both in ((False, absent), (True, there)):
            count, *held = kept[here]
            both.add(
                [each / max(count, 1) for each in held],
                f"{setting.title}, {count:.0f} found",
            )
    yield absent.line("strings found that nobody has")
    yield there.line("strings found that are there")


PARTS: dict[str, Callable[[int], Iterator[str]]] = {
    "items": items,
    "edges": edges,
    "stages": stages,
    "groups": groups,
    "numbers": numbers,
    "levels": levels,
    "tree": tree,
    "tree-1024": partial(tree, count=1024),
    "strings": strings,
}


def main() -> None:
    warnings.simplefilter("ignore", ImplausibleResponses)
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    error = (0.05 * 0.95 / repetitions) ** 0.5
    print(
        f"default 95 % interval; wanted {LEAST:.0%} at least and {LEAST_ON_AVERAGE:.0%} on average"
    )
    print(f"surveys: {repetitions:,} for each cell, standard error {error:.3f}")
    print(
        "| number | cells | least | where | mean | kept | value ± z·error, least / mean |"
    )
    print("|---|---|---|---|---|---|---|")
    for part in sys.argv[2:] or PARTS:
        for line in PARTS[part](repetitions):
            print(line, flush=True)


if __name__ == "__main__":
    main()

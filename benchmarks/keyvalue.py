"""Key-value designs against their formulas, against others on MovieLens, and in speed: `python -m benchmarks.keyvalue`.

Name some of the parts to run only these: `variance`, `movielens`, `rounds`, `speed`.
"""

from __future__ import annotations

import math
import sys
import time
import tracemalloc
from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.optimize import brentq

from benchmarks.measure import Row, race, table
from benchmarks.ratings import EPSILONS, bench_movielens, even_split, variances
from deniable.bulk.edges import Edges
from deniable.bulk.random_words import CHUNK, SPARE
from deniable.engines import local
from deniable.types.key_value.count import KeyValueTally
from deniable.types.key_value.design import lpp_club, lpp_ddagger, pckv_grr, pckv_ue
from deniable.types.key_value.draw import collect
from deniable.types.key_value.estimate import estimate


@cache
def graph(people: int, items: int, most: int) -> Edges:
    """Everybody has up to `most` items, some items more often than others; weights between −1 and 1."""
    rng = np.random.default_rng(20_200_812)
    sizes = rng.integers(0, most + 1, people)
    person = np.repeat(np.arange(people), sizes)
    item = (items * rng.beta(1, 2, len(person))).astype(np.int64)
    keys = np.unique(person * items + item)
    start = np.zeros(people + 1, np.int64)
    np.cumsum(np.bincount(keys // items, minlength=people), out=start[1:])
    return Edges(people, items, start, keys % items, rng.uniform(-1, 1, len(keys)))


def bench_variance() -> None:
    """Squared errors over the formula, on average over items and rounds: 1 if the formula is right."""
    people, items, rounds = 100_000, 100, 200
    edges = graph(people, items, 3)
    truth = np.stack([edges.degree, edges.weight_sum])
    print(
        f"\nempirical variance ÷ formula, {people:,} people × {items} items, {rounds} rounds (bar: 0.95 to 1.05)"
    )
    worst = 0.0
    for epsilon in EPSILONS:
        for design in (
            lpp_ddagger(items, epsilon),
            lpp_club(items, epsilon),
            pckv_ue(items, epsilon, padding=3),
            pckv_grr(items, epsilon, padding=3),
        ):
            for scaling in (
                ("fixed", "conditional") if design.scheme.one_each else ("fixed",)
            ):
                total = np.zeros(2)
                for _ in range(rounds):
                    counted = collect(design, edges, fast=True)
                    found = estimate(counted, scaling=scaling)
                    asked = (
                        counted.asked.astype(float)
                        if scaling == "conditional"
                        else None
                    )
                    errors = (np.stack([found.degree, found.weight]) - truth) ** 2
                    total += (errors / variances(design, edges, asked)).mean(
                        axis=1
                    ) / rounds
                worst = max(worst, *np.abs(total - 1))
                print(
                    f"  ε = {epsilon}  {design.name:<12} {scaling:<12} degree {total[0]:.3f}  weight {total[1]:.3f}"
                )
    print(
        f"  the farthest from 1: {worst:.3f} ({'reached' if worst <= 0.05 else 'MISSED'})"
    )


def bench_rounds() -> None:
    """Whether iterations as in PrivKVM help: the mean of one item, one round of ours against three of theirs.

    The first round is LPP; in each later one whoever told an edge perturbs the value anew, fakes now being the mean of
    the round before. Every round adds to ε; the key is paid for once.
    """
    people, f, mean, rounds, repeats = 20_000, 0.2, 0.6, 3, 400
    rng = np.random.default_rng(20_190_520)
    print(
        f"\nmean of one item, {people:,} people asked, frequency {f}, mean {mean}: root mean squared error"
    )
    for epsilon in EPSILONS:
        each = float(
            brentq(lambda e, target=epsilon: _composed(e, rounds) - target, 1e-6, 20)
        )
        theirs = [
            _privkvm(rng, people, f, mean, each, rounds) - mean
            for _ in range(repeats)
        ]
        single = [
            _privkvm(rng, people, f, mean, even_split(epsilon), 1) - mean
            for _ in range(repeats)
        ]
        design = lpp_club(["item"], epsilon)
        sent = np.array(
            [
                [
                    float(design.scheme.symbol.probability(i, given=j))
                    for j in range(3)
                ]
                for i in range(3)
            ]
        )
        shares = sent @ [1 - f, f * (1 + mean) / 2, f * (1 - mean) / 2]
        ours = []
        for _ in range(repeats):
            counts = rng.multinomial(people, shares).reshape(1, 3)
            ours.append(
                float(
                    np.clip(
                        estimate(KeyValueTally(design, counts, people)).mean[0],
                        -1,
                        1,
                    )
                )
                - mean
            )
        told = [
            float(np.mean(np.square(errors)) ** 0.5)
            for errors in (ours, single, theirs)
        ]
        bias = [float(np.mean(errors)) for errors in (ours, single, theirs)]
        print(
            f"  ε = {epsilon}  ours, one round {told[0]:.3f} (bias {bias[0]:+.3f})   PrivKV {told[1]:.3f} "
            f"({bias[1]:+.3f})   {rounds} rounds {told[2]:.3f} ({bias[2]:+.3f})"
        )


def _composed(each: float, rounds: int) -> float:
    """What LPP with ε₁ = each and ε₂ = each/rounds costs, and then the later rounds."""
    value = each / rounds
    first = max(value, math.log(2) + each + value - math.log(math.exp(value) + 1))
    return first + (rounds - 1) * value


def _privkvm(
    rng: np.random.Generator,
    people: int,
    f: float,
    mean: float,
    each: float,
    rounds: int,
) -> float:
    p, q = 1 / (1 + math.exp(-each)), 1 / (1 + math.exp(-each / rounds))
    real = rng.binomial(people, f)
    true, fake = rng.binomial(real, p), rng.binomial(people - real, 1 - p)
    found = 0.0
    for _ in range(rounds):
        plus = sum(
            rng.binomial(count, ((1 + value) * q + (1 - value) * (1 - q)) / 2)
            for count, value in ((true, mean), (fake, found))
        )
        found = float(np.clip((2 * plus / (true + fake) - 1) / (2 * q - 1), -1, 1))
    return found


def words_alone(count: int) -> Callable[[], None]:
    """The source alone: as many words as the draws take."""
    stream = local.Keystream()
    buffer = np.empty(CHUNK + SPARE, np.uint64)

    def run() -> None:
        for _ in range(0, count, CHUNK):
            stream.fill(buffer, CHUNK)

    return run


def bench_speed() -> None:
    """Respond and tally: linear in responses, whatever the number of items; one core."""
    people, items = 1_000_000, 1_000
    full, quarter, few = (
        graph(people, items, 20),
        graph(people // 4, items, 20),
        graph(people, 100, 20),
    )
    design, small = lpp_ddagger(items, 1), lpp_ddagger(100, 1)
    times = race(
        {
            "words": words_alone(3 * people),
            "fast": lambda: collect(design, full, fast=True),
            "numpy": lambda: collect(design, full, fast=False),
            "quarter": lambda: collect(design, quarter, fast=True),
            "few": lambda: collect(small, few, fast=True),
        },
        rounds=7,
    )
    rows: list[Row] = [
        ("million people a second, fast", people / times["fast"] / 1e6, 1),
        ("million people a second, NumPy", people / times["numpy"] / 1e6, None),
        ("fast ÷ random words alone", times["words"] / times["fast"], None),
        (
            "time for 4 × the people (4 if linear)",
            times["fast"] / times["quarter"],
            None,
        ),
        (
            "time for 10 × the items (1 if they do not matter)",
            times["fast"] / times["few"],
            None,
        ),
        (
            "peak memory beside the edges, MB",
            peak(lambda: collect(design, full, fast=False)),
            None,
        ),
        (
            "peak memory with a quarter of the people, MB",
            peak(lambda: collect(design, quarter, fast=False)),
            None,
        ),
    ]
    table(f"respond + tally, lpp_ddagger, n = {people:,}, m = {items:,}", rows)
    start = time.perf_counter()
    counted = collect(pckv_grr(items, 1, padding=20), full, fast=True)
    print(
        f"  pckv_grr: {counted.respondents / (time.perf_counter() - start) / 1e6:.2f} million people a second"
    )
    part = graph(50_000, items, 20)
    vectors = pckv_ue(items, 1, padding=20)
    collect(vectors, graph(1_000, items, 20), fast=True)
    start = time.perf_counter()
    collect(vectors, part, fast=True)
    seconds = time.perf_counter() - start
    print(
        f"  pckv_ue: {50_000 * items / seconds / 1e6:,.0f} million symbols a second"
    )
    print(
        f"  pckv_ue, peak memory for 50,000 people: {peak(lambda: collect(vectors, part, fast=True)):.1f} MB"
    )


def peak(run: Callable[[], object]) -> float:
    """The most memory that is held while something runs, what was there before not counted."""
    run()  # what is cached stays, and is not counted again
    tracemalloc.start()
    run()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 1e6


PARTS = {
    "variance": bench_variance,
    "movielens": bench_movielens,
    "rounds": bench_rounds,
    "speed": bench_speed,
}


def main() -> None:
    named = sys.argv[1:] or list(PARTS)
    if set(named) - set(PARTS):
        sys.exit(
            f"there are the parts {', '.join(PARTS)}; expected some of them, or none for all."
        )
    for name in named:
        PARTS[name]()


if __name__ == "__main__":
    main()

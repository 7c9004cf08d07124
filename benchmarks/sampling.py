"""How often intervals hold the truth in weighted samples of clusters. `python -m benchmarks.sampling [SAMPLES]`

A population of 30 strata with 40 villages each is made once for each share: villages differ in how many carry the trait
and in their size. A sample takes two villages of each stratum and about 15 people of each, who respond with a device.
Printed is how often the 95 % interval, by the default method, holds the truth of the population, for each estimator;
a line is marked where that is outside of 93 to 97 %. Then the same for few clusters of 20 people with uneven weights,
beside value ± t·error, and for items, edges and strings.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import deniable as dn
from deniable.estimates.sampling import SampledEstimate

SAMPLES = 1000
SHARES = (0.02, 0.1, 0.5)
STRATA, VILLAGES, DRAWN, PEOPLE = 30, 40, 2, 15
_ALIKE = 0.05  # correlation of people of one village
_DRAWS = 100  # of the bootstrap

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Population:
    """Everybody there is: the village, the category, and what else is known of each."""

    village: Ints
    category: Ints
    sex: Ints
    age: Ints
    beds: Ints

    @classmethod
    def made(cls, share: float, rng: np.random.Generator) -> Population:
        """Make villages of 15 to 60 people, in which the first category has shares that differ from place to place."""
        sizes = rng.integers(PEOPLE, 60, STRATA * VILLAGES)
        level = share * np.repeat(np.linspace(0.5, 1.5, STRATA), VILLAGES)
        spread = (1 - _ALIKE) / _ALIKE
        shares = rng.beta(level * spread, (1 - level) * spread)
        village = np.repeat(np.arange(len(sizes)), sizes)
        sex = rng.integers(2, size=len(village))
        carries = rng.random(len(village)) < shares[village] * (0.6 + 0.8 * sex)
        other = 1 + (rng.random(len(village)) < 0.4)
        age = rng.integers(3, size=len(village))
        return cls(
            village,
            np.where(carries, 0, other),
            sex,
            age,
            rng.integers(1, 5, len(village)),
        )

    def sample(self, rng: np.random.Generator) -> tuple[Ints, NDArray[np.float64]]:
        """Draw two villages of each stratum, and about 15 people of each; return the people and their weights."""
        people, weights = [], []
        starts = np.searchsorted(self.village, np.arange(STRATA * VILLAGES + 1))
        for stratum in range(STRATA):
            for village in stratum * VILLAGES + rng.choice(
                VILLAGES, DRAWN, replace=False
            ):
                there = np.arange(starts[village], starts[village + 1])
                count = int(rng.integers(PEOPLE - 3, PEOPLE + 1))
                people.append(rng.choice(there, count, replace=False))
                weights.append(np.full(count, VILLAGES / DRAWN * len(there) / count))
        return np.concatenate(people), np.concatenate(weights)

    def totals(self, of: Ints) -> dict[int, float]:
        """Return how many people each group has."""
        return {
            int(each): float(count) for each, count in Counter(of.tolist()).items()
        }


def responded(
    design: dn.Design, category: Ints, rng: np.random.Generator
) -> dn.Responses[dn.Design]:
    """Draw a response for each category, by the channel in floats: this is no draw for people."""
    below = np.cumsum(design.channel.floats(), axis=0)[:, category]
    return dn.Responses(
        design,
        {
            "response": (rng.random(len(category)) > below)
            .sum(axis=0)
            .astype(np.uint8)
        },
    )


FORCED, CARDS = (
    dn.forced_response("2/3", "1/6", "1/6"),
    dn.kuk("4/5", "1/5", draws=2),
)
THREE = dn.k_ary(3, epsilon=2)
STAGES = dn.ladder([dn.warner(p="2/3"), dn.warner(p="5/6")])
ITEMS = dn.drawn_items({"carries": FORCED, "other": FORCED})

Asking = Callable[[Ints, np.random.Generator], tuple[Any, dict[str, Any]]]


def asked_once(
    category: Ints, rng: np.random.Generator
) -> tuple[Any, dict[str, Any]]:
    """Ask everybody with forced responses."""
    return responded(FORCED, (category == 0).astype(np.int64), rng), {}


def asked_for_three(
    category: Ints, rng: np.random.Generator
) -> tuple[Any, dict[str, Any]]:
    """Ask everybody for one of three categories."""
    return responded(THREE, category, rng), {}


def asked_with_devices(
    category: Ints, rng: np.random.Generator
) -> tuple[Any, dict[str, Any]]:
    """Ask half of the people with forced responses and half with Kuk's cards."""
    carries, cards = (
        (category == 0).astype(np.int64),
        rng.random(len(category)) < 0.5,
    )
    sent = [
        dn.Responses(design, responded(design, carries, rng).columns, missing)
        for design, missing in ((FORCED, cards), (CARDS, ~cards))
    ]
    return sent, {}


def asked_in_stages(
    category: Ints, rng: np.random.Generator
) -> tuple[Any, dict[str, Any]]:
    """Ask everybody along a ladder of which half reach the second stage; the stages of one person are never joined."""
    carries = (category == 0).astype(np.int64)
    columns = {
        name: responded(stage, carries, rng).columns["response"]
        for name, stage in zip(STAGES.columns, STAGES, strict=True)
    }
    return dn.Responses(STAGES, columns), {
        "reached": rng.integers(1, 3, size=len(category))
    }


def dealt(category: Ints, rng: np.random.Generator) -> tuple[Any, dict[str, Any]]:
    """Deal one deck without spare cards to everybody."""
    deck = dn.integer_deck(len(category), epsilon=1.6)
    cards = rng.permutation(np.repeat(np.arange(deck.numbers), deck.counts))
    sent = np.where(category == 0, deck.numbers - 1 - cards, cards)
    return dn.Responses(deck, {"response": sent.astype(np.uint8)}), {}


def asked_one_of_two(
    category: Ints, rng: np.random.Generator
) -> tuple[Any, dict[str, Any]]:
    """Ask everybody about one of two attributes, drawn at random."""
    other = rng.random(len(category)) < 0.5
    answer = np.where(other, category == 1, category == 0).astype(np.int64)
    sent = responded(FORCED, answer, rng).columns["response"] + np.where(
        other, ITEMS.hands[1].start, 0
    )
    return dn.Responses(ITEMS, {"response": sent.astype(np.uint8)}), {}


ASKED: dict[str, tuple[Asking, str]] = {
    "forced response 2/3, 1/6, 1/6": (asked_once, "yes"),
    "k-ary, 3 categories, ε = 2": (asked_for_three, THREE.categories[0]),
    "two devices": (asked_with_devices, "yes"),
    "two stages of a ladder": (asked_in_stages, "yes"),
    "a dealt deck": (dealt, "yes"),
    "one of two drawn items": (asked_one_of_two, "carries: yes"),
}


def estimates(
    ask: Asking, everybody: Population, rng: np.random.Generator
) -> dict[str, tuple[SampledEstimate, float]]:
    """Draw a sample and return each estimate with the truth about its first category."""
    rows, weights = everybody.sample(rng)
    sent, given = ask(everybody.category[rows], rng)

    def estimate(sampling: dn.Sampling, **options: Any) -> SampledEstimate:
        found: SampledEstimate = dn.estimate(
            sent, sampling=sampling, **given, **options
        )
        return found

    carries = everybody.category == 0
    village, sex, age = (
        everybody.village[rows],
        everybody.sex[rows],
        everybody.age[rows],
    )
    known: dict[str, Any] = {
        "weights": weights,
        "strata": village // VILLAGES,
        "clusters": village,
    }
    plain = dn.Sampling(**known)
    replicates = {
        "jackknife": "jackknife",
        "brr": "brr",
        "fay": "fay",
        "bootstrap": dn.Replicates("bootstrap", count=_DRAWS),
    }
    share, whole = float(carries.mean()), len(carries)
    raked = {
        "sex": everybody.totals(everybody.sex),
        "age": everybody.totals(everybody.age),
    }
    post = plain.post_stratify(sex, raked["sex"])
    mean = estimate(plain)
    young = everybody.age == 0
    return {
        "mean": (mean, share),
        "total": (mean.total, share * whole),
        "mean, N known": (estimate(dn.Sampling(**known, population=whole)), share),
        "ratio": (
            estimate(plain, denominator=everybody.beds[rows]),
            float(carries.sum() / everybody.beds.sum()),
        ),
        "domain": (
            estimate(plain, domain=young[rows]),
            float(carries[young].mean()),
        ),
        "post-stratified": (estimate(post), share),
        "raked": (estimate(plain.rake({"sex": sex, "age": age}, raked)), share),
        **{
            f"mean, {name}": (estimate(dn.Sampling(**known, replicates=each)), share)
            for name, each in replicates.items()
        },
        "total, jackknife": (
            estimate(dn.Sampling(**known, replicates="jackknife")).total,
            share * whole,
        ),
        "raked, jackknife": (
            estimate(
                dn.Sampling(**known, replicates="jackknife").rake(
                    {"sex": sex, "age": age}, raked
                )
            ),
            share,
        ),
    }


def few_clusters(samples: int = SAMPLES) -> None:
    """Print how often intervals hold with 6, 12 and 30 clusters, by the default method and by the normal one."""
    designs = {
        "direct": dn.direct(),
        "forced response": FORCED,
        "Kuk, 5 cards": dn.kuk("3/5", "1/5", draws=5),
    }
    spread = (1 - _ALIKE) / _ALIKE
    for title, design in designs.items():
        for share in SHARES[:2]:
            for clusters in (6, 12, 30):
                rng, held = np.random.default_rng(16), []
                of = np.repeat(np.arange(clusters), 20)
                for _ in range(samples):
                    shares = rng.beta(share * spread, (1 - share) * spread, clusters)
                    sent = responded(
                        design,
                        (rng.random(len(of)) < shares[of]).astype(np.int64),
                        rng,
                    )
                    weights = rng.choice([1.0, 2.0, 4.0], clusters)[of]
                    found = dn.estimate(
                        sent, sampling=dn.Sampling(weights, clusters=of)
                    )
                    ends = [
                        found.interval("yes", method=each)
                        for each in (None, "normal")
                    ]
                    held.append([low <= share <= high for low, high in ends])
                rates = np.mean(held, axis=0)
                print(
                    f"{title}, share {share}, {clusters:2} clusters: {rates[0]:.1%}, normal {rates[1]:.1%}",
                    flush=True,
                )


def main(samples: int = SAMPLES) -> None:
    """Print how often intervals hold, for each device, share and estimator."""
    outside = 0
    for title, (ask, name_of) in ASKED.items():
        for share in SHARES:
            rng = np.random.default_rng(16)
            everybody = Population.made(share, rng)
            held: dict[str, list[float]] = {}
            for _ in range(samples):
                for name, (found, truth) in estimates(ask, everybody, rng).items():
                    methods = (
                        {"": None, " (normal)": "normal"}
                        if name in ("mean", "total", "domain")
                        else {"": None}
                    )
                    for told, method in methods.items():
                        low, high = found.conf_int(method=method)[name_of]
                        held.setdefault(name + told, []).append(low <= truth <= high)
                    if name == "mean":
                        held.setdefault("design effect", []).append(
                            found.design_effect[name_of]
                        )
            effect = np.mean(held.pop("design effect"))
            seen = (everybody.category == 0).mean()
            print(
                f"{title}, share {seen:.3f}, {samples:,} samples, design effect {effect:.2f}"
            )
            for name, each in held.items():
                rate = float(np.mean(each))
                outside += not 0.93 <= rate <= 0.97
                print(
                    f"  {name:24} {rate:7.1%}{'' if 0.93 <= rate <= 0.97 else '  <—'}"
                )
    print(
        f"{outside} outside of 93 to 97 %; a rate has an error of {(0.95 * 0.05 / samples) ** 0.5:.1%}"
    )
    few_clusters(samples)
    comparisons(samples)
    records(samples)


class _Bytes:
    """Random bytes that a seed repeats: this is no draw for people."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.read = rng.bytes


def comparisons(samples: int = SAMPLES) -> None:
    """Print how often intervals of differences of groups and of tables hold, and how often tests raise a false alarm.

    Both questions are about traits of which villages have more or less; neither has to do with the other or with sex,
    so that an odds ratio is 1, differences and correlations 0, and every rejection is a false alarm.
    """
    for clusters in (12, 30, 60):
        rng, held, alarms = (
            np.random.default_rng(clusters),
            Counter[str](),
            Counter[str](),
        )
        of, spread = np.repeat(np.arange(clusters), 20), (1 - _ALIKE) / _ALIKE
        for _ in range(samples):
            sample = dn.Sampling(
                rng.choice([1.0, 2.0, 4.0], clusters)[of], clusters=of
            )
            shares = [
                rng.beta(share * spread, (1 - share) * spread, clusters)[of]
                for share in (0.2, 0.4)
            ]
            one, two = (
                responded(FORCED, (rng.random(len(of)) < each).astype(np.int64), rng)
                for each in shares
            )
            sex = rng.choice(["f", "m"], len(of))
            table = dn.cross_table(one, two, rows="a", columns="b", sampling=sample)
            groups = dn.estimate(one, sampling=sample, by=sex)
            measures = {
                "difference of groups": (groups.pairwise(), "f − m · yes", 0.0),
                "odds ratio": (table.odds_ratio(), "odds ratio", 1.0),
                "correlation of answers": (table.correlation(), "correlation", 0.0),
                "share among a row": (table.share("yes", among="no"), "share", 0.4),
                "correlation with a number": (
                    dn.correlation(one, rng.normal(size=len(of)), sampling=sample),
                    "correlation",
                    0.0,
                ),
            }
            for name, (found, number, truth) in measures.items():
                low, high = found.conf_int()[number]
                held[name] += low <= truth <= high
            alarms["groups are alike"] += groups.homogeneity().p_value < 0.05
            alarms["independence"] += table.independence().p_value < 0.05
        told = [f"{name} {count / samples:.1%}" for name, count in held.items()]
        told += [
            f"false alarms of {name} {count / samples:.1%}"
            for name, count in alarms.items()
        ]
        print(f"{clusters} clusters of 20: {', '.join(told)}", flush=True)


def records(samples: int = SAMPLES) -> None:
    """Print how often intervals hold for items, edges and strings: 30 clusters of 30 people, weights of 1, 2 and 4.

    Clusters differ in who has an item and in its weights. Beside the default stands value ± t·error, and the mean of
    those who have the item. Strings are other ones in each sample, so that they meet in other places.
    """
    names, mean = ["a", "b", "c", "d"], 3.6
    truth = [*SHARES, 1 - sum(SHARES)]
    scale: dict[str, Any] = {"low": 1, "high": 5}
    bloom = dn.Bloom(64, hashes=2, cohorts=32)
    designs: dict[str, tuple[Any, dict[str, Any]]] = {
        "lpp_club, ε = 3": (
            dn.lpp_club(names[:3], 3, **scale),
            {"scaling": "conditional"},
        ),
        "lpp_club, ε = 3, fixed": (
            dn.lpp_club(names[:3], 3, **scale),
            {"scaling": "fixed"},
        ),
        "pckv_ue, ε = 3": (dn.pckv_ue(names[:3], 3, padding=3, **scale), {}),
        "pckv_grr, ε = 3": (dn.pckv_grr(names[:3], 3, padding=3, **scale), {}),
        "one_edge, ε = 2": (dn.one_edge(names, 2), {}),
        "strings, ε = 4": (
            dn.string_design(bloom, 4, optimized=True),
            {"candidates": 4},
        ),
        "strings, ε = 4, a third unlisted": (
            dn.string_design(bloom, 4, optimized=True),
            {"candidates": 3},
        ),
    }
    of, spread = np.repeat(np.arange(30), 30), (1 - _ALIKE) / _ALIKE
    for title, (design, options) in designs.items():
        rng, held = np.random.default_rng(16), []
        for number in range(samples):
            weights, texts = rng.choice([1.0, 2.0, 4.0], 30)[of], names
            if design.asks == "key-value":
                shares = rng.beta(
                    np.array(SHARES) * spread,
                    (1 - np.array(SHARES)) * spread,
                    (30, 3),
                )[of]
                level = np.clip(
                    rng.normal(mean, 0.3, 30)[of, None]
                    + rng.uniform(-1, 1, shares.shape),
                    1,
                    5,
                )
                has = rng.random(shares.shape) < shares
                sent: list[Any] = [
                    {
                        names[at]: float(level[who, at])
                        for at in np.flatnonzero(has[who])
                    }
                    for who in range(len(of))
                ]
            else:
                shares = rng.dirichlet(np.array(truth) * spread, 30)[of]
                own = (
                    (rng.random((len(of), 1)) > np.cumsum(shares, axis=1))
                    .sum(axis=1)
                    .clip(0, 3)
                )
                # of weights with a mean of 0.65
                heavy = rng.binomial(2, rng.beta(6.5, 3.5, 30)[of]) / 2
                sent = [
                    {names[at]: each}
                    for at, each in zip(own, heavy.tolist(), strict=True)
                ]
                if design.asks == "strings":
                    texts = [f"{name} {number}" for name in names]
                    sent = [texts[at] for at in own]
            rows = dn.respond_all(design, sent, source=_Bytes(rng))
            more = (
                {"candidates": texts[: options["candidates"]]}
                if design.asks == "strings"
                else options
            )
            found = dn.estimate(
                rows, sampling=dn.Sampling(weights, clusters=of), **more
            )
            told: list[bool] = []
            aim = mean if design.asks == "key-value" else 0.65
            for method in (None, "normal"):
                ends = found.conf_int(method=method)
                told += [
                    ends[name].low <= share <= ends[name].high
                    for name, share in zip(texts, SHARES, strict=False)
                ]
                if design.asks != "strings":
                    told += [
                        ends[f"mean of {name}"].low
                        <= aim
                        <= ends[f"mean of {name}"].high
                        for name in names[:3]
                    ]
            held.append(told)
        rates = np.mean(held, axis=0).reshape(2, -1, 3)
        for what, each in zip(("share", "mean"), rates.swapaxes(0, 1), strict=False):
            cells = ", ".join(f"{one:.1%} ({two:.1%})" for one, two in each.T)
            print(
                f"{title}, {what} at {', '.join(map(str, SHARES))}: {cells}",
                flush=True,
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

"""Every sample and every response to it: totals and their variances are right on average, device included."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

import deniable as dn

DESIGNS = [
    (dn.forced_response("2/3", "1/6", "1/6"), [0, 1, 1, 0, 1]),
    (dn.k_ary(3, epsilon=1), [0, 1, 2, 0, 0]),
    (dn.unary(["a", "b"], 2), [0, 1, 1, 0, 0]),
]


def every_response(design: dn.Design, people: tuple[int, ...], categories: list[int]) -> Iterator[tuple[Any, float]]:
    """Yield all rows that these people may send, with their probability."""
    table = design.channel.floats()
    possible = [number for number in range(design.channel.responses) if design.channel.possible(number)]
    for sent in product(possible, repeat=len(people)):
        chance = float(np.prod([table[each, categories[who]] for each, who in zip(sent, people, strict=True)]))
        column = [design.symbols[each] for each in sent]
        yield dn.Responses.of(design, column), chance


def moments(design: dn.Design, categories: list[int], samples: list[tuple[int, ...]], sampling: Any) -> Any:
    """Return mean, covariance and mean estimated covariance of the total, over even samples and all responses."""
    mean, square, told = 0.0, 0.0, 0.0
    for people in samples:
        for rows, chance in every_response(design, people, categories):
            found = dn.estimate(rows, sampling=sampling(people)).total
            part = chance / len(samples)
            mean, square = mean + part * found.value, square + part * np.outer(found.value, found.value)
            told = told + part * found.cov_params()
    return mean, square - np.outer(mean, mean), told


@pytest.mark.parametrize(("design", "categories"), DESIGNS, ids=lambda each: getattr(each, "name", ""))
@pytest.mark.parametrize("known", ["population", "inclusion", "horvitz-thompson", "sen-yates-grundy", "jackknife"])
def test_a_sample_without_replacement(design: dn.Design, categories: list[int], known: str) -> None:
    everybody, n = len(categories), 2
    pairs = np.full((n, n), n * (n - 1) / everybody / (everybody - 1))
    np.fill_diagonal(pairs, n / everybody)
    given: dict[str, Any] = {
        "population": {"strata": ["all"] * n, "population": {"all": everybody}},
        "inclusion": {"inclusion": [n / everybody] * n},
        "jackknife": {"weights": [everybody / n] * n, "fraction": n / everybody, "replicates": "jackknife"},
    }.get(known, {"joint": pairs, "rule": known})
    samples = list(combinations(range(everybody), n))
    mean, true, told = moments(design, categories, samples, lambda _: dn.Sampling(**given))
    assert mean == pytest.approx(np.bincount(categories, minlength=len(design.categories)))
    assert told == pytest.approx(true)


def test_whole_clusters_without_replacement() -> None:
    """Two of three clusters are drawn and everybody in them responds; a second stratum is drawn whole."""
    design, categories, clusters = dn.forced_response("2/3", "1/6", "1/6"), [0, 1, 1, 0, 1, 0], [0, 0, 1, 2, 3, 4]
    samples = [(*(who for who in range(4) if clusters[who] in pair), 4, 5) for pair in combinations(range(3), 2)]

    def sampling(people: tuple[int, ...]) -> dn.Sampling:
        strata = ["drawn" if who < 4 else "all" for who in people]
        weights = [1.5 if who < 4 else 1.0 for who in people]
        of = [clusters[who] for who in people]
        return dn.Sampling(weights, strata=strata, clusters=of, fraction={"drawn": 2 / 3, "all": 1})

    mean, true, told = moments(design, categories, samples, sampling)
    assert mean == pytest.approx([3, 3])
    assert told == pytest.approx(true)


def test_clusters_with_replacement_hold_the_whole_device() -> None:
    """Two draws of a cluster, perhaps twice the same: nothing is added for the device, which is drawn anew."""
    design, categories = dn.k_ary(3, epsilon=1), [0, 1, 2]
    samples = list(product(range(3), repeat=2))
    mean, true, told = moments(design, categories, samples, lambda _: dn.Sampling([1.5, 1.5]))
    assert mean == pytest.approx([1, 1, 1])
    assert told == pytest.approx(true)


def test_weights_of_a_sample_of_unequal_chances() -> None:
    """One of two people with a third or two thirds, another always: the total is right on average."""
    design, categories = dn.forced_response("2/3", "1/6", "1/6"), [1, 0, 1]
    samples = [(0, 2), (1, 2), (1, 2)]
    chances = [1 / 3, 2 / 3, 1.0]
    mean, _, _ = moments(design, categories, samples, lambda people: dn.Sampling([1 / chances[who] for who in people]))
    assert mean == pytest.approx([1, 2])

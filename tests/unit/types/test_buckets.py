"""Numbers in buckets: the tree, its responses and the quantiles, of smooth distributions and of spikes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks.coverage_records import bucket_tallies

import deniable as dn
from deniable.errors import (
    Incompatible,
    InvalidAnswer,
    InvalidRequest,
    NotEstimable,
)
from deniable.estimates.linear import floats
from tests.support.seeded import seeded

TREE = dn.buckets(0, 80, 64)
DESIGN = TREE.design(1)


def shares_of(numbers: np.ndarray, tree: dn.Buckets) -> np.ndarray:
    places = [tree.place(number) for number in numbers.tolist()]
    return np.bincount(places, minlength=tree.count) / len(numbers)


@pytest.mark.parametrize("spacing", ["linear", "log"])
@pytest.mark.parametrize("count", [16, 64, 256, 1024])
def test_every_edge_begins_its_bucket(spacing: str, count: int) -> None:
    tree = dn.buckets(0.1, 1_000, count, spacing=spacing)
    assert len(tree.edges) == count + 1
    assert [tree.place(edge) for edge in tree.edges[:-1]] == list(range(count))
    assert tree.place(1_000) == count - 1
    below = [math.nextafter(edge, 0) for edge in tree.edges[1:]]
    assert [tree.place(number) for number in below] == list(range(count))
    gaps = np.diff(np.log(tree.edges) if spacing == "log" else tree.edges)
    assert np.allclose(gaps, gaps.mean())


def test_a_path_holds_the_nodes_above_a_bucket() -> None:
    assert TREE.path(37.5) == {"1/4": "1", "1/16": "7", "1/64": "30"}
    assert TREE.paths([37.5, 80]) == {
        "1/4": [1, 3],
        "1/16": [7, 15],
        "1/64": [30, 63],
    }


@pytest.mark.parametrize(
    "number", [-1, 80.01, math.nan, math.inf, True, None, "much"]
)
def test_what_is_no_number_of_the_range_is_refused_without_a_word_of_it(
    number: object,
) -> None:
    with pytest.raises(InvalidAnswer) as refused:
        TREE.place(number)  # type: ignore[arg-type]
    assert str(number) not in str(refused.value).replace("80", "")


@pytest.mark.parametrize(
    ("low", "high", "count", "spacing"),
    [
        (0, 80, 100, "linear"),
        (0, 80, True, "linear"),
        (80, 0, 64, "linear"),
        (0, 80, 64, "log"),
        (0, 80, 64, "square"),
        (1e16, 1e16 + 4, 64, "linear"),
    ],
)
def test_ranges_without_such_buckets_are_refused(
    low: float, high: float, count: int, spacing: str
) -> None:
    with pytest.raises(InvalidRequest, match="expected"):
        dn.buckets(low, high, count, spacing=spacing)


@pytest.mark.parametrize("epsilon", [0.5, 1, 4])
def test_no_response_is_likelier_than_the_budget_allows(epsilon: float) -> None:
    for count in (16, 256):
        design = dn.buckets(0, 1, count).design(epsilon)
        assert design.epsilon <= epsilon
        for _, part in design.factors:
            rates = floats(part.channel)
            most = (rates.max(axis=1) / rates.min(axis=1)).max()
            assert most <= math.exp(epsilon) * (1 + 1e-12)


def test_the_distribution_is_unbiased() -> None:
    """The scores of every response, times its probability, give the shares below each edge, for every bucket."""
    model = dn.bucket_quantiles(
        dn.DrawnTally(DESIGN, np.full(DESIGN.responses, 5)), TREE
    ).model
    expected = np.zeros((TREE.count - 1, TREE.count))
    for scores, (_, part) in zip(model._scores, DESIGN.factors, strict=True):
        nodes = np.kron(
            np.eye(part.channel.answers), np.ones(TREE.count // part.channel.answers)
        )
        expected += scores @ floats(part.channel) @ nodes
    even = np.arange(1, TREE.count) / TREE.count
    below = np.tri(TREE.count - 1, TREE.count)
    assert np.allclose(expected + even[:, None], below, atol=1e-9)


def test_all_steps_of_a_survey() -> None:
    numbers = np.random.default_rng(3).gamma(9, 4, 20_000).clip(0, 80)
    alone = dn.respond(DESIGN, TREE.path(37.5), source=seeded("buckets"))
    assert alone.symbol.split(": ")[0] in TREE.levels
    sent = dn.respond_all(
        DESIGN, TREE.paths(numbers), codes=True, source=seeded("buckets")
    )
    found = dn.bucket_quantiles(dn.tally(sent), TREE)
    assert list(found.params) == ["median", "quantile 0.95", "quantile 0.99"]
    for (low, high), truth in zip(
        found.conf_int().values(),
        np.quantile(numbers, [0.5, 0.95, 0.99]),
        strict=True,
    ):
        assert low <= truth <= high
    assert dn.Statistic.from_json(found.to_json(), DESIGN) == found
    assert list(found.bse.values()) == pytest.approx(
        np.sqrt(np.diagonal(found.cov_params()))
    )


def test_the_interval_of_a_median_is_narrow() -> None:
    tree = dn.buckets(0, 1, 256)
    generator = np.random.default_rng(4)
    shares = shares_of(generator.beta(2, 5, 100_000), tree)
    tally = bucket_tallies(tree.design(1), shares, 100_000, generator)
    low, high = dn.bucket_quantiles(tally, tree).interval("median")
    assert high - low <= 0.05


@pytest.mark.parametrize("law", ["smooth", "spikes"])
def test_intervals_by_descent_hold(law: str) -> None:
    """Of 200 intervals with a coverage of 93 %, fewer than 160 hold the truth once in 10^9 times."""
    tree, generator = dn.buckets(0, 1, 64), np.random.default_rng(5)
    numbers = generator.beta(2, 5, 100_000)
    if law == "spikes":
        numbers = np.where(numbers < 0.3, np.where(numbers < 0.2, 0, 0.25), numbers)
    shares, design = shares_of(numbers, tree), tree.design(2)
    below = dict(zip(tree.edges, [0.0, *np.cumsum(shares)], strict=True))
    held = np.zeros(3)
    for _ in range(200):
        found = dn.bucket_quantiles(
            bucket_tallies(design, shares, 5_000, generator), tree
        )
        held += [
            below[low] <= share + 1e-9 and share - 1e-9 <= below[high]
            for share, (low, high) in zip(
                found.model.quantiles, found.conf_int().values(), strict=True
            )
        ]
    assert (held >= 160).all()


def test_what_does_not_fit_is_refused() -> None:
    counts = np.full(DESIGN.responses, 5)
    with pytest.raises(Incompatible, match="levels"):
        dn.bucket_quantiles(dn.DrawnTally(DESIGN, counts), dn.buckets(0, 80, 256))
    with pytest.raises(InvalidRequest, match="quantile"):
        dn.bucket_quantiles(dn.DrawnTally(DESIGN, counts), TREE, quantiles=[1])
    with pytest.raises(NotEstimable, match="fewer than 2"):
        dn.bucket_quantiles(dn.DrawnTally(DESIGN, 0 * counts), TREE)


def test_a_quantile_at_an_end_is_called_unresolved() -> None:
    counts = np.full(DESIGN.responses, 1)
    found = dn.bucket_quantiles(dn.DrawnTally(DESIGN, counts), TREE)
    assert "not resolved" in str(found.summary())

"""Numbers in buckets: the tree, its responses and the quantiles, of smooth distributions and of spikes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from benchmarks.coverage_records import bucket_tally

import deniable as dn
from deniable.errors import (
    InvalidAnswer,
    InvalidDesign,
    InvalidRequest,
    NotEstimable,
)
from deniable.estimates.covariances import vector
from deniable.estimates.linear import floats
from deniable.types.buckets.estimate import EdgeCurve, design_scores
from deniable.types.buckets.plan import ExpectedCurve, response_rates
from deniable.types.buckets.respond import node_path
from tests.support.seeded import Seeded, seeded

DESIGN = dn.bucket_design(0, 80, 1, count=64)
TREE = DESIGN.buckets


def bucket_of(design: dn.BucketDesign, number: object) -> int:
    """The node of the last level, which is the bucket."""
    return int(node_path(design, number)[design.attributes[-1]])  # type: ignore[arg-type]


def shares_of(numbers: np.ndarray, design: dn.BucketDesign) -> np.ndarray:
    places = [bucket_of(design, number) for number in numbers.tolist()]
    return np.bincount(places, minlength=design.buckets.count) / len(numbers)


@pytest.mark.parametrize("spacing", ["linear", "log"])
@pytest.mark.parametrize("count", [16, 64, 256, 1024])
def test_every_edge_begins_its_bucket(spacing: str, count: int) -> None:
    design = dn.bucket_design(0.1, 1_000, 1, count=count, spacing=spacing)
    tree = design.buckets
    assert len(tree.edges) == count + 1
    assert [bucket_of(design, edge) for edge in tree.edges[:-1]] == list(
        range(count)
    )
    assert bucket_of(design, 1_000) == count - 1
    below = [math.nextafter(edge, 0) for edge in tree.edges[1:]]
    assert [bucket_of(design, number) for number in below] == list(range(count))
    gaps = np.diff(np.log(tree.edges) if spacing == "log" else tree.edges)
    assert np.allclose(gaps, gaps.mean())


def test_a_path_holds_the_nodes_above_a_bucket() -> None:
    path = {"1/4": "1", "1/16": "7", "1/64": "30"}
    assert node_path(DESIGN, 37.5) == node_path(DESIGN, "37.5") == path


@pytest.mark.parametrize("number", [0, 37.5, 80, *TREE.edges[1:40:9], "12.5"])
def test_a_column_takes_the_bytes_of_a_number(number: Any) -> None:
    alone = dn.respond(DESIGN, number, source=Seeded(f"bucket {number}"))
    columns = [[float(number)], np.array([float(number)]), pa.array([float(number)])]
    for column in columns:
        sent = dn.respond_all(DESIGN, column, source=Seeded(f"bucket {number}"))
        assert list(sent) == [alone.symbol]


def test_a_narrow_float_is_the_decimal_that_it_shows() -> None:
    narrow = np.array([0.7], np.float32)  # in 64 bits below 0.7, which is an edge
    design = dn.bucket_design(0, "1.4", 40, count=16)
    for seed in range(8):
        sent = dn.respond_all(design, narrow, source=Seeded(f"narrow {seed}"))
        assert set(sent) <= {"1/4: 2", "1/16: 8"}


@pytest.mark.parametrize(
    "number", [-1, 80.01, math.nan, math.inf, True, None, "much", 10**400]
)
def test_what_is_no_number_of_the_range_is_refused_without_a_word_of_it(
    number: object,
) -> None:
    with pytest.raises(InvalidAnswer) as refused:
        dn.respond(DESIGN, number)  # type: ignore[arg-type]
    assert str(number) not in str(refused.value).replace("80", "")


@pytest.mark.parametrize("number", [-1, 80.01, np.inf])
def test_a_column_outside_of_the_range_is_refused_by_its_row(number: float) -> None:
    with pytest.raises(InvalidAnswer, match="at index 1 ") as refused:
        dn.respond_all(DESIGN, [3.0, number])
    assert str(number) not in str(refused.value)


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
        dn.bucket_design(low, high, 1, count=count, spacing=spacing)


def test_levels_of_other_buckets_are_refused() -> None:
    body = DESIGN.to_body()
    body["buckets"]["count"] = 256
    with pytest.raises(InvalidDesign, match="levels of 256 buckets"):
        dn.BucketDesign.from_body(body)


@pytest.mark.parametrize("epsilon", [0.5, 1, 4])
def test_no_response_is_likelier_than_the_budget_allows(epsilon: float) -> None:
    for count in (16, 64):
        design = dn.bucket_design(0, 1, epsilon, count=count)
        assert design.epsilon <= epsilon
        for _, part in design.factors:
            rates = floats(part.channel)
            most = (rates.max(axis=1) / rates.min(axis=1)).max()
            assert most <= math.exp(epsilon) * (1 + 1e-12)


def test_the_distribution_is_unbiased() -> None:
    """The scores of every response, times its probability, give the shares below each edge, for every bucket."""
    scores = design_scores(DESIGN)
    expected = np.zeros((TREE.count - 1, TREE.count))
    for level, (_, part) in enumerate(DESIGN.factors):
        answers = part.channel.answers
        nodes = np.kron(np.eye(answers), np.ones(TREE.count // answers))
        values = scores.values[:, scores.levels == level]
        expected += values @ floats(part.channel) @ nodes
    even = np.arange(1, TREE.count) / TREE.count
    below = np.tri(TREE.count - 1, TREE.count)
    assert np.allclose(expected + even[:, None], below, atol=1e-9)


@pytest.fixture(scope="module")
def sent() -> tuple[Any, np.ndarray]:
    numbers = np.random.default_rng(3).gamma(9, 4, 20_000).clip(0, 80)
    return dn.respond_all(DESIGN, numbers, source=seeded("buckets")), numbers


def test_all_steps_of_a_survey(sent: tuple[Any, np.ndarray]) -> None:
    rows, numbers = sent
    alone = dn.respond(DESIGN, 37.5, source=seeded("buckets"))
    assert alone.symbol.split(": ")[0] in TREE.levels
    found = dn.estimate(dn.tally(rows))
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


def test_weights_count_as_people_do(sent: tuple[Any, np.ndarray]) -> None:
    """A weight of two counts as two people do; the variance is that of the people who were asked."""
    rows, _ = sent
    weights = np.where(np.arange(len(rows)) % 3 == 0, 2.0, 1.0)
    twice = rows[np.repeat(np.arange(len(rows)), weights.astype(int))]
    found = dn.estimate(rows, sampling=dn.Sampling(weights))
    assert dn.Statistic.from_json(found.to_json(), DESIGN) == found
    assert "20,000 people, Hájek, linearized" in found.summary().title
    weighted = found.model.curves[0]
    repeated = dn.estimate(dn.tally(twice)).model.curves[0]
    even = dn.estimate(dn.tally(rows)).model.curves[0]
    assert weighted.distribution == pytest.approx(repeated.distribution)
    assert not np.allclose(weighted.distribution, even.distribution, atol=1e-4)
    # deff = 1 + cv² of the weights: 20,000·(1·2/3 + 4/3)/(4/3)²/20,000 = 1.125
    effect = (weighted.errors[1:-1] / even.errors[1:-1]) ** 2
    assert np.median(effect) == pytest.approx(1.125, rel=0.02)


def test_clusters_that_agree_widen_the_error(sent: tuple[Any, np.ndarray]) -> None:
    """Five copies of each person in a cluster tell what the person alone tells."""
    rows, _ = sent
    first = rows[np.arange(4_000)]
    copies = rows[np.repeat(np.arange(4_000), 5)]
    clusters = np.repeat(np.arange(4_000), 5)
    alone = dn.estimate(first, sampling=dn.Sampling(np.ones(4_000)))
    sampled = dn.estimate(copies, sampling=dn.Sampling(clusters=clusters))
    jackknife = dn.Sampling(clusters=clusters // 40, replicates="jackknife")
    replicated = dn.estimate(copies, sampling=jackknife)
    one, two, three = (
        found.model.curves[0] for found in (alone, sampled, replicated)
    )
    assert one.distribution == pytest.approx(two.distribution)
    assert one.errors == pytest.approx(two.errors, rel=2e-3)
    # of 100 clusters: the relative error of a standard error is 7 %
    assert np.median(three.errors[1:-1] / one.errors[1:-1]) == pytest.approx(
        1, abs=0.35
    )


def test_groups_and_a_domain_are_told_on_their_own(
    sent: tuple[Any, np.ndarray],
) -> None:
    rows, _ = sent
    people = dn.Sampling(np.ones(len(rows)))
    north = np.arange(len(rows)) % 4 == 0
    groups = np.where(north, "north", "south")
    grouped = dn.estimate(rows, sampling=people, by=groups)
    alone = dn.estimate(rows, sampling=people, domain=north)
    assert next(iter(grouped.params)) == "north · median"
    assert grouped.interval("north · median") == alone.interval("median")
    assert grouped.interval("south · median") != alone.interval("median")
    between = dn.estimate(dn.tally(rows, by=groups)).pairwise()
    assert len(between.params) == 3
    with pytest.raises(NotEstimable, match="of the group 'few'"):
        dn.estimate(
            rows, sampling=people, by=["few"] * 3 + ["many"] * (len(rows) - 3)
        )


def test_an_option_of_another_type_is_refused(sent: tuple[Any, np.ndarray]) -> None:
    rows, _ = sent
    with pytest.raises(InvalidRequest, match="population does not go"):
        dn.estimate(dn.tally(rows), population=10**6)


def test_the_interval_of_a_median_is_narrow() -> None:
    design = dn.bucket_design(0, 1, 1)
    generator = np.random.default_rng(4)
    shares = shares_of(generator.beta(2, 5, 20_000), design)
    rates = response_rates(design, shares)
    tally = bucket_tally(design, rates, 100_000, generator)
    low, high = dn.estimate(tally).interval("median")
    assert high - low <= 0.05


@pytest.mark.parametrize("law", ["smooth", "spikes"])
def test_intervals_by_descent_hold(law: str) -> None:
    """Of 200 intervals with a coverage of 93 %, fewer than 160 hold the truth once in 10^9 times."""
    design, generator = (
        dn.bucket_design(0, 1, 2, count=64),
        np.random.default_rng(5),
    )
    numbers = generator.beta(2, 5, 20_000)
    if law == "spikes":
        numbers = np.where(numbers < 0.3, np.where(numbers < 0.2, 0, 0.25), numbers)
    shares, edges = shares_of(numbers, design), design.buckets.edges
    below = dict(zip(edges, [0.0, *np.cumsum(shares)], strict=True))
    held, rates = np.zeros(3), response_rates(design, shares)
    for _ in range(200):
        found = dn.estimate(bucket_tally(design, rates, 5_000, generator))
        held += [
            below[low] <= share + 1e-9 and share - 1e-9 <= below[high]
            for share, (low, high) in zip(
                found.model.quantiles, found.conf_int().values(), strict=True
            )
        ]
    assert (held >= 160).all()


def test_each_test_of_a_descent_errs_in_four_fifths_of_the_level() -> None:
    """z is 2.054 for 95 %: with 1.96 the sheet found a coverage of 92 %, which too few runs tell apart here."""
    curve = EdgeCurve(
        "", 10**9, vector([0, 0.449, 0.5, 0.551, 1]), vector([0, *[0.025] * 3, 0])
    )
    assert curve.descend(0.5, 0.95) == (0, 4)  # 0.449 + 2.054·0.025 = 0.50034
    assert curve.descend(0.501, 0.95) == (1, 4)
    assert curve.descend(0.499, 0.95) == (0, 3)
    assert curve.descend(0.5, 0.94) == (1, 3)


def test_a_descent_stops_at_the_first_edge_that_is_not_sure() -> None:
    """An edge behind one that is not sure is not looked at, from either end."""
    shares, sure = np.full(17, 0.5), np.full(17, 1e-9)
    shares[[0, 16]] = 0, 1
    low, high = shares.copy(), shares.copy()
    low[[4, 12]], high[[12, 4]] = 0.1, 0.9
    assert EdgeCurve("", 99, low, sure).descend(0.5, 0.95)[0] == 4
    assert EdgeCurve("", 99, high, sure).descend(0.5, 0.95)[1] == 12


def test_what_cannot_be_estimated_is_refused() -> None:
    counts = np.full(DESIGN.responses, 5)
    with pytest.raises(InvalidRequest, match="quantile"):
        dn.estimate(dn.BucketTally(DESIGN, counts), quantiles=[1])
    with pytest.raises(NotEstimable, match="fewer than 2"):
        dn.estimate(dn.BucketTally(DESIGN, 0 * counts))


def test_a_quantile_at_an_end_is_called_unresolved() -> None:
    counts = np.full(DESIGN.responses, 1)
    found = dn.estimate(dn.BucketTally(DESIGN, counts))
    assert "not resolved" in str(found.summary())


def test_a_quantile_beyond_which_few_people_are_is_called_so() -> None:
    design = dn.bucket_design(0, 80, 8, count=16)
    few, many = (
        dn.estimate(dn.tally(dn.respond_all(design, [20.0] * n, source=seeded("n"))))
        for n in (590, 610)
    )
    assert "too few people answered on each level for quantile 0.99;" in str(
        few.summary()
    )
    assert not many.warnings


def test_a_spike_at_the_low_end_is_resolved() -> None:
    design = dn.bucket_design(0, 80, 8, count=16)
    sent = dn.respond_all(design, [0] * 3_000 + [50] * 500, source=seeded("spike"))
    found = dn.estimate(dn.tally(sent), quantiles=[0.5, 0.95])
    assert found.interval("median") == (0, 5)
    assert not found.warnings


def test_a_plan_says_what_surveys_show() -> None:
    """The mean width of 100 intervals of a median is within a third of the planned one, for smooth numbers."""
    design, generator = dn.bucket_design(0, 1, 2), np.random.default_rng(6)
    numbers = generator.beta(2, 5, 2_000).tolist()
    planned = dn.plan.quantile(design, width=0.04, numbers=numbers)
    n = int(planned.value)
    assert dn.plan.quantile(design, n=n, numbers=numbers).value <= 0.04
    assert dn.plan.quantile(design, n=n - 1, numbers=numbers).value > 0.04
    rates = response_rates(design, shares_of(np.array(numbers), design))
    widths = [
        high - low
        for _ in range(100)
        for low, high in [
            dn.estimate(bucket_tally(design, rates, n, generator)).interval("median")
        ]
    ]
    assert np.mean(widths) == pytest.approx(0.04, rel=1 / 3)


def test_a_plan_has_the_errors_of_the_estimate() -> None:
    """n·Var of a score under the expected rates is what the estimate has from counts in these proportions."""
    even = vector(np.linspace(0, 1, 65))
    planned = ExpectedCurve(DESIGN, even).curve(10**9)
    rates = np.concatenate(response_rates(DESIGN, vector(np.diff(even))))
    counts = np.rint(rates * 10**9 / 3).astype(int)
    found = dn.estimate(dn.BucketTally(DESIGN, counts)).model.curves[0]
    assert found.errors == pytest.approx(planned.errors, rel=1e-5)
    assert found.distribution == pytest.approx(even, abs=1e-6)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "exactly one"),
        ({"n": 100, "width": 0.1}, "exactly one"),
        ({"n": 1}, "at least 2"),
        ({"width": 1e-4}, "expected more"),
        ({"n": 100, "quantile": 1.0}, "the quantile is"),
        ({"n": 100, "numbers": [3]}, "at least 2"),
        ({"n": 100, "numbers": [3, 90]}, "expected 0 to 80"),
    ],
)
def test_what_cannot_be_planned_is_refused(
    options: dict[str, Any], expected: str
) -> None:
    with pytest.raises(InvalidRequest, match=expected):
        dn.plan.quantile(DESIGN, **options)


def test_another_design_has_no_such_plan() -> None:
    with pytest.raises(InvalidRequest, match="bucket_design"):
        dn.plan.quantile(dn.warner(1), n=100)  # type: ignore[arg-type]

"""Degrees of both sides of a bipartite graph, and synthetic graphs drawn from them; each false alarm is 1e-9."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy.stats import chi2, chisquare, norm

import deniable as dn
from deniable.bulk.edges import read_edges
from deniable.errors import InvalidRequest, NotEstimable
from deniable.simulate.synthetic_graphs import draw_ties, feasible_degrees
from deniable.tallies import Tally
from deniable.types.key_value.count import KeyValueTally

FALSE_ALARM = 1e-9
ITEMS = ["tea", "coffee", "milk", "juice"]
N = 4_000
SIZES = {0: 0.1, 1: 0.5, 2: 0.35, 4: 0.05}  # 1.4 on average
FREQUENCY = np.array([0.6, 0.4, 0.25, 0.15])
MEAN = np.array([0.5, -0.5, 0.0, 0.5])


def estimate(total: float = 1.4) -> dn.ItemEstimate:
    """Return an estimate from the expected counts of people with so many items on average."""
    design = dn.lpp_club(ITEMS, 4)
    symbol = design.scheme.symbol.floats()  # type: ignore[union-attr]
    f = FREQUENCY * total / FREQUENCY.sum()
    rows = np.stack([1 - f, f * (1 + MEAN) / 2, f * (1 - MEAN) / 2], axis=1)
    counts = np.round(N / len(ITEMS) * rows @ symbol.T).astype(np.int64)
    return dn.estimate(KeyValueTally(design, counts, int(counts.sum())))


def asked(sizes: dict[int, float] = SIZES) -> dn.Estimate:
    """Return the estimate of the question for the number of items, from its expected counts."""
    design = dn.k_ary([str(size) for size in range(5)], 2)
    shares = np.array([sizes.get(size, 0.0) for size in range(5)])
    counts = np.round(N * design.channel.floats() @ shares).astype(np.int64)
    return dn.estimate(Tally(design, counts, respondents=int(counts.sum())))


def test_both_degree_distributions_are_those_of_the_questions() -> None:
    joint = estimate().joint_degrees(asked())
    assert joint.epsilon == pytest.approx(6, abs=1e-6)
    assert joint.people.degrees.tolist() == [0, 1, 2, 3, 4]
    assert joint.people.shares == pytest.approx([0.1, 0.5, 0.35, 0, 0.05], abs=2e-3)
    assert joint.people.mean == pytest.approx(1.4, abs=5e-3)
    assert joint.people.deviation == pytest.approx(0.8602, abs=5e-3)
    assert joint.items.mean == pytest.approx(N * 0.35, rel=0.01)
    assert joint.warnings == ()


def test_along_an_edge_the_ends_are_size_biased_and_independent() -> None:
    joint = estimate().joint_degrees(SIZES)
    assert joint.epsilon == pytest.approx(
        4, abs=1e-6
    )  # shares that are known cost nothing
    along = joint.along_edges()
    assert along.sum(axis=1) == pytest.approx([0, 0.5 / 1.4, 0.7 / 1.4, 0.2 / 1.4])
    degrees, shares = joint.items.degrees, joint.items.shares
    assert along.sum(axis=0) == pytest.approx(degrees * shares / (degrees @ shares))
    assert np.linalg.matrix_rank(along) == 1


def test_the_average_posterior_of_the_items_is_their_distribution() -> None:
    joint = estimate().joint_degrees(SIZES)
    posterior = joint.item_posterior()
    assert posterior.sum(axis=1) == pytest.approx(np.ones(4))
    assert posterior.mean(axis=0) == pytest.approx(joint.items.shares, abs=1e-4)


def test_questions_that_contradict_each_other_are_warned_of() -> None:
    codes = [each.code for each in estimate(0.7).joint_degrees(asked()).warnings]
    assert codes == ["sizes-differ"]


def test_what_padding_cut_off_is_put_back() -> None:
    design = dn.pckv_ue(ITEMS, 8, padding=1)
    symbol = design.scheme.symbol.floats()  # type: ignore[union-attr]
    f = FREQUENCY / 1.4 * 0.9  # of people with an item, one is counted
    rows = np.stack([1 - f, f, 0 * f], axis=1) @ symbol.T
    marks = np.round(N * rows[:, 1:]).astype(np.int64)
    cut = dn.estimate(KeyValueTally.of_marks(design, marks, N))
    joint = cut.joint_degrees(SIZES)
    assert cut.average_degree().value == pytest.approx(N * 0.9 / 4, rel=0.01)
    assert joint.items.mean == pytest.approx(N * 0.35, rel=0.01)
    assert joint.warnings == ()


def test_sizes_that_no_graph_has_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="at most 4"):
        estimate().joint_degrees({1: 0.5, 5: 0.5})
    one_edge = dn.one_edge(ITEMS, 1)
    single = dn.estimate(dn.tally(dn.respond_all(one_edge, [{"tea": 1}] * 50)))
    with pytest.raises(NotEstimable, match="one edge"):
        single.joint_degrees(SIZES)


def test_all_degrees_of_three_people_and_three_items() -> None:
    """Degrees that a graph has stay; others become some that a graph has; the drawn graph has exactly these."""
    draws = np.random.default_rng(1)
    graphs = np.array(list(product([0, 1], repeat=9))).reshape(-1, 3, 3)
    possible = {
        (*rows, *columns)
        for rows, columns in zip(
            graphs.sum(axis=2).tolist(), graphs.sum(axis=1).tolist(), strict=True
        )
    }
    for sizes in product(range(4), repeat=3):
        people = np.array(sizes)
        for degrees in product(range(sum(sizes) + 1), repeat=3):
            if sum(degrees) != sum(sizes):
                continue
            feasible = feasible_degrees(people, np.array(degrees, float), draws)
            assert (*sizes, *feasible.tolist()) in possible
            if (*sizes, *degrees) in possible:
                assert feasible.tolist() == list(degrees)
    for margins in sorted(possible)[::5]:
        sizes, degrees = np.array(margins[:3]), np.array(margins[3:])
        ties = draw_ties(sizes, degrees, draws)
        assert ties.sum(axis=1).tolist() == sizes.tolist()
        assert ties.sum(axis=0).tolist() == degrees.tolist()


def test_all_graphs_with_the_same_degrees_are_as_likely() -> None:
    """Without trades the person with two items always has the frequent one: a statistic far beyond the limit."""
    draws, degrees = np.random.default_rng(2), np.array([2, 1, 1])
    seen = Counter(draw_ties(degrees, degrees, draws).tobytes() for _ in range(500))
    assert len(seen) == 5
    assert chisquare(list(seen.values())).pvalue > FALSE_ALARM


def test_a_synthetic_graph_has_the_estimated_degrees_and_means() -> None:
    joint, draws = estimate().joint_degrees(asked()), np.random.default_rng(3)
    people, runs = 500, 60
    drawn = [dn.simulate.graph(joint, people, draws=draws) for _ in range(runs)]
    sizes = np.bincount(
        np.concatenate([each.ties.sum(axis=1) for each in drawn]), minlength=5
    )
    likely = joint.people.shares > 0
    expected = runs * people * joint.people.shares
    assert sizes[~likely].sum() == 0
    statistic = ((sizes - expected)[likely] ** 2 / expected[likely]).sum()
    assert statistic < chi2.isf(FALSE_ALARM, likely.sum() - 1)
    # degrees of items before they are multiplied
    degrees = np.array([each.ties.sum(axis=0) / each.scaled for each in drawn])
    errors = degrees.std(axis=0, ddof=1) / runs**0.5
    mean = joint.item_posterior() @ joint.items.degrees * people / N
    assert (
        np.abs(degrees.mean(axis=0) - mean) < norm.isf(FALSE_ALARM / 8) * errors
    ).all()
    first = drawn[0]
    edges = read_edges(joint.estimate.design, first.columns(), people=range(people))
    assert edges.degree.tolist() == first.ties.sum(axis=0).tolist()
    means = joint.estimate.shrunk().mean
    assert edges.weight_sum == pytest.approx(edges.degree * means)


def test_a_synthetic_graph_tells_what_it_preserves_and_loses() -> None:
    drawn = dn.simulate.graph(estimate(0.7).joint_degrees(asked()))
    text = str(drawn)
    assert drawn.ties.shape == (estimate(0.7).respondents, 4)
    for phrase in (
        "It preserves",
        "It loses",
        "multiplied by",
        "post-processing: ε = 6",
    ):
        assert phrase in text
    assert "Warning: people say" in text


@pytest.mark.parametrize("people", [0, 10**8])
def test_numbers_of_people_that_cannot_be_drawn_are_refused(people: int) -> None:
    with pytest.raises(InvalidRequest, match="people is"):
        dn.simulate.graph(estimate().joint_degrees(SIZES), people)


def test_people_without_items_have_no_edges() -> None:
    drawn = dn.simulate.graph(estimate().joint_degrees({0: 1.0}), 10)
    assert drawn.columns() == {"person": [], "item": [], "weight": []}

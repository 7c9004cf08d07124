"""The best designs under a known prior, for some pairs and for properties: exact, and not improved on by a search."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.optimize import linprog

import deniable as dn
from deniable.chance import ScriptedSource
from deniable.channel import Dense
from deniable.criteria import ByResponse, KnownPrior, Policy
from deniable.designs.sets_of_answers import subset_risk
from deniable.errors import InvalidNumber, InvalidRequest
from deniable.estimates import covariance
from deniable.plan import cones
from deniable.plan.cones import ConeDemand, best_subset_for_prior, extreme_rays

DEMANDS: dict[str, tuple[int, ByResponse, float | None]] = {
    "prior": (4, KnownPrior(["0.7", "0.1", "0.1", "0.1"], "0.75"), None),
    "prior of three": (3, KnownPrior(["0.6", "0.3", "0.1"], "0.7"), 2),
    "event": (4, KnownPrior(["0.4", "0.3", "0.2", "0.1"], "0.5", about=[2, 3]), 2),
    "pair": (3, Policy(1, pairs=[(0, 1)]), None),
    "pairs in a chain": (4, Policy(1, pairs=[(0, 1), (1, 2), (2, 3)]), 2),
    "property": (5, Policy("1/2", properties=[(0, 1)]), None),
    "five": (5, KnownPrior(["0.3", "0.3", "0.2", "0.1", "0.1"], "0.4"), None),
}


def best_by_random_rows(
    demand: ConeDemand, size: int, shares: np.ndarray, sent: list[np.ndarray]
) -> float:
    """Return how much conditional gradients gain with 20,000 random rows that keep the demand, from a design on."""
    rng = np.random.default_rng(11)
    conditions = demand.demand.conditions(dn.k_ary(size, 1))
    table = np.array(conditions, np.float64)
    rows = np.exp(rng.normal(0, 1.5, (200_000, size)))
    keeps = (rows @ table.T >= 0).all(axis=1)
    if demand.cap < math.inf:
        keeps &= rows.max(axis=1) <= float(demand.cap) * rows.min(axis=1)
    rows = rows[keeps][:20_000]
    own = np.array(sent)
    rows /= rows.mean(axis=1, keepdims=True)
    weights = own.mean(axis=1)
    patterns = own / weights[:, None]
    information = (patterns.T * (weights / (patterns @ shares))) @ patterns
    slopes = -np.sum((np.linalg.inv(information) @ rows.T) ** 2, axis=0) / (
        rows @ shares
    )
    mine = -np.sum((np.linalg.inv(information) @ patterns.T) ** 2, axis=0) / (
        patterns @ shares
    )
    program = linprog(
        np.concatenate([slopes, mine]),
        A_eq=np.vstack([rows, patterns]).T,
        b_eq=np.ones(size),
    )
    return float(mine @ weights - program.fun)


@pytest.mark.parametrize("name", DEMANDS)
def test_no_design_that_keeps_the_demand_is_better(name: str) -> None:
    size, criterion, ceiling = DEMANDS[name]
    choice = dn.optimal(size, criterion, ceiling=ceiling)
    cone = ConeDemand(criterion, ceiling)
    even = np.full(size, 1 / size)
    assert criterion.check(choice.design)
    assert choice.design.parity <= cone.cap
    in_groups = cone.in_groups([str(j) for j in range(size)])
    assert choice.candidates[0].name == (
        "sets within groups" if in_groups else "extreme rays"
    )
    error = np.trace(covariance(choice.design, even, 1, guess=even))
    assert choice.candidates[0].risk == pytest.approx(error)
    best = cone.best([str(j) for j in range(size)], even)
    assert best is not None
    bound = best.bound
    assert in_groups is None or in_groups.bound == pytest.approx(bound, rel=1e-6)
    assert bound * (1 - 1e-9) <= error <= bound * (1 + 1e-6)
    gain = best_by_random_rows(
        cone, size, even, list(choice.design.channel.floats())
    )
    assert gain <= 1e-4 * error
    assert dn.Design.from_json(choice.design.to_json()) == choice.design
    for candidate in choice.candidates:
        assert criterion.check(candidate.design)
        assert error <= candidate.risk * (1 + 1e-6)


def test_extreme_rays_are_those_of_staircase_patterns() -> None:
    """All pairs at one ε: the rays are the 2^k − 2 patterns of ones and e^ε."""
    size, gamma = 5, 3.0
    rows = [
        [gamma * (j == y) - (j == x) for j in range(size)]
        for x, y in permutations(range(size), 2)
    ]
    found = extreme_rays(np.array(rows), size)
    assert found is not None
    rays = found.T * gamma
    patterns = {tuple(ray.round(9)) for ray in rays}
    assert len(rays) == len(patterns) == 2**size - 2
    assert all(set(ray) == {1.0, gamma} for ray in patterns)


def test_a_chain_of_pairs_lets_its_ends_differ_by_more() -> None:
    policy = Policy(1, pairs=[("a", "b"), ("b", "c")])
    design = dn.optimal(["a", "b", "c"], policy).design
    channel = design.channel
    ends = max(
        channel.probability(i, given=0) / channel.probability(i, given=2)
        for i in range(channel.responses)
    )
    assert 1.9 < math.log(ends) <= 2
    assert not Policy(1, pairs=[("a", "c")]).check(design)
    assert "somebody" in str(Policy(1, pairs=[("a", "c")]).check(design)).lower()


def within(*groups: range) -> Policy:
    pairs = [pair for group in groups for pair in combinations(group, 2)]
    return Policy(1, pairs=pairs)


@pytest.mark.parametrize(
    "groups",
    [
        (range(3), range(3, 8)),
        (range(5), range(6, 9), range(9, 11)),  # nothing protects 5, 11 and 12
        (range(10), range(10, 13)),
    ],
)
def test_groups_of_any_size_are_named_with_a_set_within_them(
    groups: tuple[range, ...],
) -> None:
    demand, size = within(*groups), 13
    choice = dn.optimal(size, demand)
    assert choice.candidates[0].name == "sets within groups"
    assert "smaller by more than 0.0001%" in str(choice)
    channel = choice.design.channel
    assert demand.check(choice.design)
    assert not Policy("0.999", pairs=demand.pairs).check(choice.design)
    gamma = math.exp(1)
    risk = -1 / size
    for group in (*groups, *([1] for _ in range(size - sum(map(len, groups))))):
        b = len(group)
        own = min(
            (float(subset_risk(b, t, gamma)) for t in range(1, b)), default=0.0
        )
        risk += b / size * (own + 1 / b)
    assert choice.candidates[0].risk == pytest.approx(risk, rel=1e-9)
    even = np.full(size, 1 / size)
    assert np.trace(covariance(choice.design, even, 1, guess=even)) == pytest.approx(
        risk
    )
    assert channel.probability(0, given=size - 1) == 0


@pytest.mark.parametrize("size", [12, 420])
def test_groups_of_one_size_are_a_product_where_the_table_is_large(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    demand = within(*(range(at, at + 6) for at in range(0, size, 6)))
    labels = [str(j) for j in range(size)]
    table = ConeDemand(demand, None).in_groups(labels)
    monkeypatch.setattr(cones, "_MAX_CELLS", 20 * size)
    choice = ConeDemand(demand, None).in_groups(labels)
    assert table is not None
    assert choice is not None
    channel = choice.design.channel
    assert channel.product is not None
    assert choice.design.symbols == table.design.symbols
    assert choice.bound == table.bound
    assert demand.check(choice.design)
    assert not Policy("0.999", pairs=demand.pairs).check(choice.design)
    assert not Policy(1, pairs=[(5, 6)]).check(choice.design)
    even = np.full(size, 1 / size)
    assert np.trace(covariance(choice.design, even, 1)) == pytest.approx(
        choice.bound
    )
    if size == 12:
        assert channel.dense() == table.design.channel
        best = dn.optimal(size, demand).candidates[0]
        assert best.design == choice.design
        assert best.risk == pytest.approx(choice.bound)
    sources = [ScriptedSource(bytes(range(40))) for _ in range(size)]
    for answer, source in enumerate(sources):
        response = channel.draw(answer, source)
        assert channel.probability(response, given=answer) > 0
    assert len({source.used for source in sources}) == 1


def test_groups_that_are_mixed_up_are_written_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A product would number the answers of one group one after the other."""
    pairs = [pair for at in range(2) for pair in combinations(range(at, 12, 2), 2)]
    demand, labels = Policy(1, pairs=pairs), [str(j) for j in range(12)]
    monkeypatch.setattr(cones, "_MAX_CELLS", 200)
    choice = ConeDemand(demand, None).in_groups(labels)
    assert choice is not None
    assert isinstance(choice.design.channel, Dense)
    assert demand.check(choice.design)


def test_groups_are_those_of_which_all_pairs_are_protected() -> None:
    labels = [str(j) for j in range(7)]
    chain = ConeDemand(Policy(1, pairs=[(0, 1), (1, 2)]), None)
    assert chain.in_groups(labels) is None
    assert ConeDemand(within(range(3)), 2).in_groups(labels) is None
    assert ConeDemand(within(range(3)), None).in_groups(labels) is not None


def test_properties_of_more_than_six_answers_have_a_bound() -> None:
    demand = Policy(1, properties=[range(3)])
    choice = dn.optimal(8, demand)
    assert choice.candidates[0].name == "extreme rays"
    assert demand.check(choice.design)
    assert "smaller by more than 0.0001%" in str(choice)
    many = dn.optimal(14, demand)
    assert many.candidates[0].name.startswith("subset")
    assert "is not proved" in str(many)


def test_what_is_not_protected_is_told_of() -> None:
    policy = Policy(1, pairs=[("a", "b")])
    assert "as good as a proof" in str(dn.optimal(["a", "b", "c"], policy))
    capped = dn.optimal(["a", "b", "c"], policy, ceiling=2)
    assert "as good as a proof" not in str(capped)
    assert capped.design.epsilon <= 2
    assert str(Policy(1, properties=[["a"]])) == "ε = 1 for 1 property"


def test_many_categories_take_the_best_size_of_sets() -> None:
    prior = [Fraction(1, 2)] + [Fraction(1, 22)] * 11
    demand = KnownPrior(prior, "0.6")
    choice = dn.optimal(12, demand)
    assert choice.candidates[0].name == "subset, t = 6, for this prior"
    assert demand.check(choice.design)
    assert choice.design.epsilon <= 1
    assert "looked at" in str(choice)
    t, gamma = best_subset_for_prior(prior, "0.6")
    inside = Fraction(1, 2) + (t - 1) * Fraction(1, 22)
    assert gamma * Fraction(1, 2) / (1 + (gamma - 1) * inside) == Fraction(3, 5)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="no pairs and no properties"):
        Policy(1)
    with pytest.raises(InvalidRequest, match="two different answers"):
        Policy(1, pairs=[("a", "a")])
    with pytest.raises(InvalidNumber):
        Policy(0, pairs=[("a", "b")])
    for demand in (1, Policy(1, pairs=[(0, 1)])):
        with pytest.raises(InvalidRequest, match="goes with a demand"):
            dn.optimal(3, demand, expose=True)
    with pytest.raises(InvalidRequest, match="goes with a demand"):
        dn.optimal(3, 1, ceiling=2)
    with pytest.raises(InvalidRequest, match="goal 'device'"):
        dn.optimal(3, dn.criteria.Relaxed(1, 0.1), ceiling=2, goal="device")

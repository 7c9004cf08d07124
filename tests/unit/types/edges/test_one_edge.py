from __future__ import annotations

import json
import pickle
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multinomial

import deniable as dn
from deniable import documents
from deniable.errors import (
    Incompatible,
    IncompatibleTallies,
    InvalidAnswer,
    InvalidDesign,
    InvalidNumber,
    InvalidRequest,
    InvalidResponse,
    NotEstimable,
    UnreadableFile,
)
from deniable.estimates import covariance
from deniable.types.edges.count import EdgeTally, tally
from deniable.types.edges.design import NAMES, WEIGHTS, EdgeDesign, one_edge
from deniable.types.edges.estimate import estimate
from deniable.types.edges.respond import respond
from deniable.types.key_value.draw import collect, draw_all
from tests.support.hands import Counted
from tests.support.seeded import seeded

ITEMS = ["tax", "transport"]
DESIGN = one_edge(ITEMS, 1)


def test_the_weight_goes_through_a_three_answer_design() -> None:
    assert DESIGN.choice == dn.k_ary(NAMES, 1)
    assert DESIGN.parity == DESIGN.choice.parity
    dagger = one_edge(ITEMS, 1, family="rr3_dagger", importance=[2, 1, 1])
    assert dagger.choice.name == "rr3_dagger"
    assert dagger.epsilon <= 1
    assert "sent as it is" in DESIGN.caveat
    for design in (DESIGN, dagger, one_edge(4, "1/2")):
        assert EdgeDesign.from_json(design.to_json()) == design
        assert [
            design.response_number(design.symbol(i))
            for i in range(3 * len(design.items))
        ] == list(range(3 * len(design.items)))


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: one_edge(["tax"], 1), InvalidDesign),
        (lambda: one_edge(ITEMS, 0), InvalidNumber),
        (lambda: one_edge(ITEMS, 1, family="warner"), InvalidRequest),
        (lambda: one_edge(ITEMS, 1, importance=[1, 1, 1]), InvalidRequest),
        (lambda: EdgeDesign(ITEMS, dn.k_ary(3, 1)), InvalidDesign),
        (lambda: DESIGN.response_number("1/3 tax"), InvalidResponse),
        (lambda: DESIGN.response_number("1 beer"), InvalidResponse),
        (lambda: DESIGN.response_number("tax"), InvalidResponse),
        (lambda: DESIGN.response_number(3), InvalidResponse),  # type: ignore[arg-type]
        (
            lambda: EdgeDesign.from_json(
                documents.seal("one-edge-design", {**DESIGN.to_body(), "more": 1})
            ),
            UnreadableFile,
        ),
    ],
)
def test_what_does_not_fit_is_refused(build, error) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error, match="expected"):
        build()


def test_one_by_one_and_all_together_draw_alike() -> None:
    edges = [
        ("a", "tax", 0.5),
        ("b", "transport", 1),
        ("c", "tax", 0),
        ("d", "tax", 1),
    ]
    table = dict(
        zip(("person", "item", "weight"), zip(*edges, strict=True), strict=True)
    )
    sources = [Counted(b"", seeded("one edge")) for _ in range(2)]
    alone = [
        respond(DESIGN, {item: weight}, source=sources[0]).symbol
        for _, item, weight in edges
    ]
    together = draw_all(
        DESIGN,
        {name: list(values) for name, values in table.items()},
        source=sources[1],
    )
    assert [DESIGN.symbol(code) for code in together.tolist()] == alone
    assert sources[0].used == sources[1].used
    graph = nx.Graph()
    graph.add_weighted_edges_from(edges)
    assert collect(DESIGN, graph, people=["a", "b", "c", "d"]).respondents == 4


@pytest.mark.parametrize(
    ("item", "weight"),
    [("zebra", 1), ("tax", 7731), ("tax", None), ("tax", "zebra"), ("tax", 0.25)],
)
def test_an_answer_that_does_not_fit_is_never_repeated(
    item: str, weight: float
) -> None:
    with pytest.raises(InvalidAnswer) as caught:
        respond(DESIGN, {item: weight})
    told = str(caught.value) + pickle.dumps(caught.value).decode("latin-1")
    assert "zebra" not in told
    assert "7731" not in told
    assert "0.25" not in told


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"person": [1, 1], "item": ITEMS, "weight": [1, 0]},
            "person 1 has no edge or more than one",
        ),
        (
            {"person": [1, 2], "item": ITEMS, "weight": [1, 0.25]},
            "the weight of person 2 is none of",
        ),
        (
            {"person": [1, 2], "item": ITEMS, "weight": [1, 2]},
            "row 2: a weight is not a number from 0 to 1",
        ),
    ],
)
def test_edges_that_do_not_fit_are_refused(
    table: dict[str, list[object]], message: str
) -> None:
    with pytest.raises(InvalidAnswer, match=message):
        draw_all(DESIGN, table)


@st.composite
def tallies(draw: st.DrawFn) -> EdgeTally:
    codes = draw(st.lists(st.integers(0, 5), max_size=10))
    return tally(
        DESIGN, [*map(DESIGN.symbol, codes), *[None] * draw(st.integers(0, 2))]
    )


@given(tallies(), tallies(), tallies())
def test_tallies_form_a_commutative_monoid(
    one: EdgeTally, two: EdgeTally, three: EdgeTally
) -> None:
    assert one + two == two + one
    assert (one + two) + three == one + (two + three)
    assert one + EdgeTally.empty(DESIGN) == one
    assert EdgeTally.from_json(one.to_json(), DESIGN) == one
    assert hash(one) == hash(EdgeTally.from_json(one.to_json(), DESIGN))


def test_tallies_refuse_what_does_not_belong() -> None:
    one, two = (EdgeTally.empty(one_edge(ITEMS, epsilon)) for epsilon in (1, 2))
    with pytest.raises(IncompatibleTallies):
        one + two
    with pytest.raises(IncompatibleTallies):
        EdgeTally.from_json(one.to_json(), two.design)
    with pytest.raises(Incompatible, match="row 1 belongs"):
        tally(DESIGN, [respond(two.design, {"tax": 1})])
    with pytest.raises(InvalidResponse, match="row 2: "):
        tally(DESIGN, ["1 tax", "5 tax"])
    for responses in (np.array([6]), np.array([0.5]), "1 tax", 3):
        with pytest.raises(InvalidResponse):
            tally(DESIGN, responses)
    for counts in (
        np.zeros((3, 3), np.int64),
        -np.ones((2, 3), np.int64),
        np.zeros((2, 3)),
    ):
        with pytest.raises(InvalidResponse):
            EdgeTally(DESIGN, counts)
    with pytest.raises(UnreadableFile):
        EdgeTally.from_json(
            documents.seal(
                "one-edge-tally",
                {"design": DESIGN.hash, "counts": [1], "missing": 0},
            ),
            DESIGN,
        )
    with pytest.raises(TypeError):
        one + 1  # type: ignore[operator]
    assert tally(DESIGN, np.array([0, 5, 5])) == tally(
        DESIGN, ["0 tax", "1 transport", "1 transport"]
    )


def test_weights_are_estimated_without_bias_from_expected_counts() -> None:
    design = one_edge(ITEMS, 2, family="rr3_dagger", importance=[3, 1, 1])
    channel, truth = (
        design.choice.channel,
        np.array([[0.2, 0.3, 0.5], [0.6, 0.1, 0.3]]),
    )
    sent = np.array(
        [
            [float(channel.probability(i, given=j)) for j in range(3)]
            for i in range(3)
        ]
    )
    counts = np.rint(truth @ sent.T * [[10**9], [10**8]]).astype(np.int64)
    found = estimate(EdgeTally(design, counts))
    assert found.numbers.shares == pytest.approx(truth, abs=1e-6)
    assert found.mean == pytest.approx([0.65, 0.35], abs=1e-6)
    assert found.weight == pytest.approx([0.65e9, 0.35e8], rel=1e-5)
    assert dn.estimate(found.tally.of("tax")).value == pytest.approx(
        truth[0], abs=1e-6
    )
    assert json.loads(found.tally.to_json())["design"] == design.hash


@pytest.mark.parametrize("population", [None, 500, 100])
def test_variances_are_those_of_the_three_answer_design(
    population: int | None,
) -> None:
    counts = np.array([[30, 25, 45], [60, 10, 30]])
    found = estimate(
        EdgeTally(one_edge(ITEMS, 3), counts),
        population=None if population is None else population * 2,
    )
    t = np.array([float(weight) for weight in WEIGHTS])
    for number in range(2):
        shares = np.clip(found.numbers.shares[number], 0, None)
        shares /= shares.sum()
        f = (
            1.0
            if population is None
            else (2 * population - 200) / (2 * population - 1)
        )
        free = covariance(found.tally.design.choice, shares.tolist(), 100)
        fixed = covariance(
            found.tally.design.choice, shares.tolist(), 100, population=100
        )
        matrix = (fixed + f * (free - fixed)) * 100 / 99
        assert found.variance("mean")[number] == pytest.approx(
            t @ matrix @ t, rel=1e-9
        )
    assert found.errors("weight") == pytest.approx(found.errors("mean") * 100)


def test_numbers_of_the_whole_graph() -> None:
    found = estimate(EdgeTally(DESIGN, np.array([[30, 25, 45], [60, 10, 30]])))
    assert found.degree.tolist() == [100, 100]
    assert found.average_degree().value == 100
    assert found.average_degree("all").value == pytest.approx(400 / 202)
    assert found.density().value == pytest.approx(0.5)
    assert found.average_weight().value == pytest.approx(found.weight.sum() / 200)
    assert found.average_weight("items").value == pytest.approx(
        found.weight.sum() / 2
    )
    assert found.average_weight().error == pytest.approx(
        found.variance("weight").sum() ** 0.5 / 200
    )
    alone, together = (
        np.array(
            list(
                found.about("mean")
                .conf_int(method="normal", simultaneous=each)
                .values()
            )
        )
        for each in (False, True)
    )
    assert (np.diff(together) > np.diff(alone)).all()
    assert alone.mean(axis=1) == pytest.approx(found.mean)
    for quantity in ("frequency", "degree", "weight"):
        ends = found.about(quantity).conf_int(method="normal")
        assert np.array(list(ends.values())).mean(axis=1) == pytest.approx(
            found.value(quantity)
        )
    for wrong in (
        lambda: found.variance("edges"),
        lambda: found.conf_int(level=2),
        lambda: found.average_degree("x"),
    ):
        with pytest.raises(InvalidRequest):
            wrong()
    with pytest.raises(NotEstimable):
        estimate(EdgeTally.empty(DESIGN))


def test_an_item_without_edges_has_no_mean() -> None:
    found = estimate(EdgeTally(DESIGN, np.array([[1, 2, 3], [0, 0, 0]])))
    assert np.isnan(found.mean[1])
    assert found.weight[1] == 0
    assert found.errors("weight")[1] == 0
    assert Fraction(1, 2) in WEIGHTS


def test_items_of_a_graph_with_one_edge_each_are_ranked() -> None:
    sent = (
        ["1 tax"] * 900 + ["0 tax"] * 100 + ["0 transport"] * 300 + ["1/2 transport"]
    )
    found = estimate(tally(one_edge(["tax", "transport", "water"], 3), sent))
    assert [(each.item, each.sure) for each in found.top(1)] == [("tax", True)]
    # of water nothing is known
    assert [each.item for each in found.top(3, "mean")] == ["tax", "transport"]
    assert found.average_degree().value == pytest.approx(1301 / 3)
    with pytest.raises(InvalidRequest, match="degree"):
        found.value("edges")


def test_intervals_keep_their_level_with_few_edges() -> None:
    """Over all tallies of ten edges at ε = 8: value ± error of edges that all look alike would be next to nothing."""
    design, shares = one_edge(ITEMS, 8), (0.01, 0.04, 0.95)
    law = multinomial(10, design.choice.channel.floats() @ shares)
    held = {"normal": 0.0, None: 0.0}
    for some in [(a, b) for a in range(11) for b in range(11 - a)]:
        counts = [*some, 10 - sum(some)]
        found = estimate(EdgeTally(design, np.array([counts, [0, 0, 0]]))).about(
            "mean"
        )
        for method in held:
            low, high = found.conf_int(method=method)["tax"]
            held[method] += law.pmf(counts) * (low <= 0.97 <= high)
    assert held["normal"] < 0.5
    assert held[None] >= 0.92


def test_one_edge_tells_nothing_and_a_population_is_known() -> None:
    design = one_edge(["tax", "transport"], 8)
    found = estimate(EdgeTally(design, np.array([[1, 0, 0], [9, 0, 1]]))).about(
        "mean"
    )
    assert found.conf_int()["tax"] == (0, 1)
    assert found.summary().interval == "wide"
    census = estimate(found.tally, population=11).about("mean")
    assert census.summary().interval == "score"
    assert np.diff(census.conf_int()["transport"]) < np.diff(
        found.conf_int(method="score")["transport"]
    )
    with pytest.raises(InvalidRequest, match="wide"):
        found.conf_int(method="profile")

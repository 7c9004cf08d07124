"""True edges from matrices, graphs and tables; what does not fit is refused by row, and never repeated."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from deniable.bulk.edges import Edges, read_edges
from deniable.errors import InvalidAnswer
from deniable.types.key_value.design import lpp_club

ITEMS = ["tea", "coffee", "milk"]
DESIGN = lpp_club(ITEMS, 1)
TABLE = {
    "person": ["ann", "bob", "ann", "eve"],
    "item": ["milk", "tea", "tea", "coffee"],
    "weight": [0.5, -1, 1, 0],
}


NARROW = pa.schema(
    [("person", "string"), ("item", "large_string"), ("weight", "float32")]
)


def check(edges: Edges, people: int = 3) -> None:
    """Ann has tea and milk, Bob has tea, Eve has coffee."""
    assert edges.people == people
    assert edges.start.tolist()[:4] == [0, 2, 3, 4]
    assert edges.item.tolist() == [0, 2, 0, 1]
    assert edges.weight.tolist() == [1, 0.5, -1, 0]
    assert edges.degree.tolist() == [2, 1, 1]
    assert edges.weight_sum.tolist() == [0, 0, 0.5]
    assert edges.square_sum.tolist() == [2, 0, 0.25]
    assert edges.sizes[:3].tolist() == [2, 1, 1]


@pytest.mark.parametrize(
    "make",
    [
        dict,
        pa.table,
        pd.DataFrame,
        pl.DataFrame,
        lambda table: pd.DataFrame(table).astype({"item": "category"}),
        lambda table: pd.DataFrame(table, index=[9, 8, 7, 6]),
        lambda table: pl.DataFrame(table).with_columns(pl.col("person").cast(pl.Categorical)),
        lambda table: pa.table(table).cast(NARROW),
        lambda table: {**table, "weight": [str(each) for each in table["weight"]]},
        lambda table: pa.Table.from_batches(pa.table(table).to_batches(max_chunksize=1)),
    ],
)  # fmt: skip
def test_tables_of_all_kinds(make) -> None:  # type: ignore[no-untyped-def]
    edges = read_edges(DESIGN, make(TABLE))
    check(edges)
    assert edges.names == ("ann", "bob", "eve")


def test_columns_may_be_called_otherwise_and_items_be_numbers() -> None:
    table = {"who": [7, 8], "what": [2, 0], "much": [1, -1]}
    edges = read_edges(lpp_club(3, 1), table, columns=("who", "what", "much"))
    assert edges.item.tolist() == [2, 0]
    with pytest.raises(InvalidAnswer, match="no single column called 'person'"):
        read_edges(DESIGN, table)


def test_people_without_an_edge_are_people_too() -> None:
    check(read_edges(DESIGN, TABLE, people=10), people=10)
    check(read_edges(DESIGN, TABLE, people=["ann", "bob", "eve", "joe"]), people=4)
    turned = read_edges(DESIGN, TABLE, people=["joe", "eve", "ann", "bob"])
    assert turned.sizes.tolist() == [0, 1, 2, 1]
    nobody = read_edges(DESIGN, {"person": [], "item": [], "weight": []}, people=4)
    assert nobody.people == 4
    assert nobody.degree.tolist() == [0, 0, 0]
    with pytest.raises(InvalidAnswer, match="expected at most 2"):
        read_edges(DESIGN, TABLE, people=2)
    with pytest.raises(
        InvalidAnswer, match="row 4: the person is not among the people"
    ):
        read_edges(DESIGN, TABLE, people=["ann", "bob"])


@pytest.mark.parametrize(
    "kind", [sparse.csr_array, sparse.coo_array, sparse.csc_matrix, sparse.lil_array]
)
def test_sparse_matrices(kind) -> None:  # type: ignore[no-untyped-def]
    entries = sparse.coo_array(
        ([1.0, 0.5, -1.0, 0.0], ([0, 0, 1, 2], [0, 2, 0, 1])), shape=(3, 3)
    )
    stored = kind(entries)
    if stored.nnz == 4:  # some kinds do not store zeros
        check(read_edges(DESIGN, stored))
    else:
        assert read_edges(DESIGN, stored).degree.tolist() == [2, 0, 1]
    with pytest.raises(InvalidAnswer, match="the matrix has 2 columns; expected 3"):
        read_edges(DESIGN, sparse.csr_array((3, 2)))
    twice = sparse.coo_array(([0.5, 0.5], ([0, 0], [1, 1])), shape=(1, 3))
    with pytest.raises(InvalidAnswer, match="row 2: the same person and item"):
        read_edges(DESIGN, twice)


def test_graphs() -> None:
    graph = nx.Graph()
    graph.add_nodes_from(["ann", "bob", "eve"], bipartite=0)
    graph.add_nodes_from(ITEMS, bipartite=1)
    edges = [
        ("ann", "milk", 0.5),
        ("tea", "bob", -1),
        ("ann", "tea", 1),
        ("eve", "coffee", 0),
    ]
    graph.add_weighted_edges_from(edges)
    check(read_edges(DESIGN, graph))
    check(
        read_edges(
            DESIGN,
            nx.DiGraph(edge for edge in graph.edges(data=True)),
            people=["ann", "bob", "eve"],
        )
    )
    del graph["ann"]["tea"]["weight"]
    check(read_edges(DESIGN, graph))  # an edge without a weight has the largest
    with pytest.raises(InvalidAnswer, match="do not say on which side"):
        read_edges(DESIGN, nx.path_graph(3))
    with pytest.raises(
        InvalidAnswer, match="row 1: an edge does not join a person and an item"
    ):
        read_edges(DESIGN, nx.path_graph(3), people=[0, 1])
    many = nx.MultiGraph(
        [("ann", "tea", {"weight": 1}), ("ann", "tea", {"weight": 0})]
    )
    with pytest.raises(InvalidAnswer, match="row 2: the same person and item"):
        read_edges(DESIGN, many, people=["ann"])


def test_the_davis_women() -> None:
    graph = nx.davis_southern_women_graph()
    events = [node for node, side in graph.nodes(data="bipartite") if side == 1]
    edges = read_edges(lpp_club(events, 1), graph)
    assert (edges.people, len(edges.item)) == (18, 89)
    assert edges.degree.tolist() == [graph.degree(event) for event in events]


@pytest.mark.parametrize(
    ("column", "row", "value", "message"),
    [
        ("weight", 2, 7731.5, "a weight is not a number from -1 to 1"),
        ("weight", 1, float("nan"), "a weight is not a number"),
        ("weight", 0, None, "a weight is not a number"),
        ("weight", 1, float("inf"), "a weight is not a number"),
        ("item", 3, "zebra", "the item is not one of the design's"),
        ("item", 1, None, "there is no item"),
        ("person", 2, None, "there is no person"),
        ("item", 0, "tea", "the same person and item stand in a row before"),
    ],
)
def test_a_row_that_does_not_fit_is_named_and_not_repeated(
    column: str, row: int, value: object, message: str
) -> None:
    table = {name: list(values) for name, values in TABLE.items()}
    table[column][row] = value
    named = 3 if message.startswith("the same") else row + 1
    with pytest.raises(InvalidAnswer, match=f"row {named}: {message}") as caught:
        read_edges(DESIGN, table)
    for secret in ("zebra", "7731", "ann", "bob"):
        assert secret not in str(caught.value)


@pytest.mark.parametrize(
    "data",
    [3, "edges", {"person": [1], "item": ["tea", "milk"], "weight": [1]}],
)
def test_what_is_no_table_is_refused(data: object) -> None:
    with pytest.raises(InvalidAnswer, match="cannot be read as a table"):
        read_edges(DESIGN, data)


def test_weights_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(InvalidAnswer, match="expected numbers"):
        read_edges(DESIGN, {**TABLE, "weight": [True, False, True, True]})
    with pytest.raises(InvalidAnswer, match="row 2: a weight"):
        read_edges(DESIGN, {**TABLE, "weight": ["1", "zebra", "1", "1"]})


def test_other_scales_are_brought_to_minus_one_and_one() -> None:
    design = lpp_club(ITEMS, 1, low=1, high=5)
    assert read_edges(design, {**TABLE, "weight": [1, 2, 3, 5]}).weight.tolist() == [
        0,
        -1,
        -0.5,
        1,
    ]
    with pytest.raises(InvalidAnswer, match="from 1 to 5"):
        read_edges(design, TABLE)


def test_edges_that_are_read_already_are_taken_as_they_are() -> None:
    edges = read_edges(DESIGN, TABLE)
    assert read_edges(DESIGN, edges) is edges
    assert "0.5" not in repr(edges)
    assert "ann" not in repr(edges)
    assert np.array_equal(edges.keys, [0, 2, 3, 7])
    with pytest.raises(InvalidAnswer, match="the edges lead to 3 items; expected 2"):
        read_edges(lpp_club(2, 1), edges)


@pytest.mark.parametrize("kind", ["int64", "uint64"])
def test_whole_weights_beyond_floats_are_refused_by_row_and_not_repeated(
    kind: str,
) -> None:
    weights = pa.array([1, (1 << 60) + 1, 1, 1], kind)
    with pytest.raises(
        InvalidAnswer, match="row 2: a weight is not a number from -1 to 1"
    ) as caught:
        read_edges(DESIGN, {**TABLE, "weight": weights})
    assert "1152921504606846977" not in str(caught.value)


@pytest.mark.parametrize("column", ["person", "item"])
@pytest.mark.parametrize("value", [["tea"], {"a": 1}], ids=["list", "struct"])
def test_columns_of_lists_are_refused(column: str, value: object) -> None:
    with pytest.raises(InvalidAnswer, match="expected text or numbers"):
        read_edges(DESIGN, {**TABLE, column: [value] * 4})


@pytest.mark.parametrize("people", ["abe", 10.0, [["ann"]], True])
def test_people_are_listed_or_counted(people: object) -> None:
    with pytest.raises(InvalidAnswer, match="expected a list of the people"):
        read_edges(DESIGN, TABLE, people=people)
    with pytest.raises(InvalidAnswer, match="expected a list of the people"):
        read_edges(DESIGN, nx.Graph([("ann", "tea")]), people=people)
    with pytest.raises(InvalidAnswer, match="expected no people= beside it"):
        read_edges(DESIGN, sparse.csr_array((3, 3)), people=people)


def test_more_people_than_can_be_held_are_refused() -> None:
    with pytest.raises(InvalidAnswer, match="at a time"):
        read_edges(DESIGN, TABLE, people=10**12)


def test_matrices_of_other_kinds_are_refused() -> None:
    with pytest.raises(InvalidAnswer, match="1 dimensions"):
        read_edges(DESIGN, sparse.coo_array(np.array([1.0, 0, 0])))
    with pytest.raises(InvalidAnswer, match="of complex128"):
        read_edges(DESIGN, sparse.csr_array(np.array([[1j, 0, 0]])))


def test_weights_as_text_of_polars() -> None:
    check(
        read_edges(
            DESIGN, pl.DataFrame({**TABLE, "weight": ["0.5", "-1", "1", "0"]})
        )
    )


def test_a_mapping_for_each_person_is_read() -> None:
    """As the guide says; who has nothing is there too, and people= beside the list is refused."""
    design = lpp_club(["tea", "coffee"], 1)
    people = [{"coffee": 0.5}, {}, {"tea": -1, "coffee": 1}]
    edges = read_edges(design, people)
    assert (edges.people, edges.sizes.tolist()) == (3, [1, 0, 2])
    assert edges.degree.tolist() == [1, 2]
    assert edges.weight.tolist() == [0.5, -1, 1]
    assert read_edges(design, [{}, {}]).sizes.tolist() == [0, 0]
    with pytest.raises(InvalidAnswer, match="no people= beside it"):
        read_edges(design, people, people=5)
    with pytest.raises(InvalidAnswer, match="the answer at index 1 is a str"):
        read_edges(design, [{}, "tea"])

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deniable.bulk.edges import read_edges
from deniable.engines.files import tally_file
from deniable.engines.record_files import read_edge_file, respond_edges
from deniable.errors import (
    Incompatible,
    InvalidAnswer,
    InvalidRequest,
    InvalidResponse,
)
from deniable.types.edges.design import one_edge
from deniable.types.key_value.design import lpp_club, pckv_grr, pckv_ue
from tests.support.answers import FORMATS, read, write

ITEMS = ["tea", 'a, "b"', "milk ☕"]
EDGES = {
    "person": ["ann", "bob", "ann"],
    "item": ["tea", "milk ☕", 'a, "b"'],
    "weight": [1, 0.5, 0],
}
DESIGNS = [
    lpp_club(ITEMS, 1),
    pckv_ue(ITEMS, 1, padding=1),
    pckv_grr(ITEMS, 1, padding=1),
]


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_files_of_edges_become_files_of_responses_and_tallies(
    tmp_path: Path, ending: str, design
) -> None:  # type: ignore[no-untyped-def]
    source = write(tmp_path / f"edges.{ending}", EDGES)
    edges = read_edge_file(design, source, people=500)
    assert edges.degree.tolist() == [1, 1, 1]
    target = tmp_path / f"responses.{ending}"
    assert respond_edges(design, edges, target) == 500
    rows = read(target)
    assert len(rows) == 500
    assert {row["design"] for row in rows} == {design.hash}
    counted = tally_file(design, target)
    assert counted.respondents == 500
    sent = [_number(design, row["response"]) for row in rows]
    assert np.array_equal(counted.counts, _counts(design, sent))
    assert "ann" not in target.read_bytes().decode("latin-1")
    with pytest.raises(InvalidRequest, match="exists already"):
        respond_edges(design, edges, target)
    respond_edges(design, edges, target, overwrite=True)


def _number(design, sent) -> int:  # type: ignore[no-untyped-def]
    """Return the number of a response, which typed files hold as a code, or as a byte for each item."""
    if isinstance(sent, bytes):
        return sum(symbol * 3**item for item, symbol in enumerate(sent))
    return sent if isinstance(sent, int) else design.response_number(sent)


def _counts(design, numbers) -> np.ndarray:  # type: ignore[no-untyped-def]
    counts = np.zeros((3, 3), np.int64)
    for number in numbers:
        for item, symbol in design.scheme.cells(number):
            counts[item, symbol] += 1
    if not design.scheme.one_each:
        counts[:, 0] = len(numbers) - counts.sum(axis=1)
    return counts


def test_one_edge_each(tmp_path: Path) -> None:
    design = one_edge(ITEMS, 1)
    source = write(
        tmp_path / "edges.csv", {name: values[:2] for name, values in EDGES.items()}
    )
    target = tmp_path / "responses.ndjson"
    assert respond_edges(design, read_edge_file(design, source), target) == 2
    assert tally_file(design, target).respondents == 2


def test_a_row_that_does_not_fit_leaves_no_file(tmp_path: Path) -> None:
    source = write(tmp_path / "edges.csv", {**EDGES, "weight": [1, "zebra", 7731]})
    with pytest.raises(InvalidAnswer, match="row 2: a weight") as caught:
        read_edge_file(DESIGNS[0], source)
    assert "zebra" not in str(caught.value)
    with pytest.raises(InvalidRequest, match="no single column called 'weight'"):
        read_edge_file(
            DESIGNS[0],
            write(tmp_path / "few.csv", {"person": ["a"], "item": ["tea"]}),
        )
    with pytest.raises(InvalidRequest, match="expected a name in"):
        respond_edges(
            DESIGNS[0],
            read_edge_file(DESIGNS[0], write(tmp_path / "e.csv", EDGES)),
            tmp_path / "out.txt2",
        )
    assert not (tmp_path / "out.txt2").exists()


def test_an_empty_file_of_edges_is_people_without_any(tmp_path: Path) -> None:
    (tmp_path / "none.csv").write_text("person,item,weight\n")
    assert read_edge_file(DESIGNS[0], tmp_path / "none.csv", people=7).people == 7


def test_responses_of_another_design_are_refused(tmp_path: Path) -> None:
    edges = read_edge_file(DESIGNS[0], write(tmp_path / "edges.csv", EDGES))
    for ending in FORMATS:
        target = tmp_path / f"r.{ending}"
        respond_edges(DESIGNS[0], edges, target)
        with pytest.raises(Incompatible, match="belongs to the design"):
            tally_file(lpp_club(ITEMS, 2), target)
    bad = write(
        tmp_path / "bad.csv",
        {"response": ["+ tea", "+ beer"], "design": [DESIGNS[0].hash] * 2},
    )
    with pytest.raises(InvalidResponse, match="row 2: '\\+ beer'"):
        tally_file(DESIGNS[0], bad)
    vectors = write(
        tmp_path / "vectors.csv",
        {"response": ["0+-", "0+x"], "design": [DESIGNS[1].hash] * 2},
    )
    with pytest.raises(InvalidResponse, match="row 2: '0\\+x'"):
        tally_file(DESIGNS[1], vectors)
    with pytest.raises(InvalidRequest, match="no columns"):
        tally_file(DESIGNS[0], write(tmp_path / "other.csv", {"a": ["1"]}))


def test_the_order_of_responses_tells_nothing(tmp_path: Path) -> None:
    """People stand in the order of their first edge, and those without one last; the file is shuffled.

    At ε = 40 a response gives its answer away, so that the order of people would show. A shuffle leaves half of the
    first 400 of 800 places to those who have nothing: 200 ± 7, and seven standard errors are hardly ever missed (10⁻⁹).
    """
    design = lpp_club(["tea"], 40)
    people = [f"p{number}" for number in range(400)]
    edges = read_edges(
        design,
        {"person": people, "item": ["tea"] * 400, "weight": [1.0] * 400},
        people=800,
    )
    target = tmp_path / "responses.csv"
    respond_edges(design, edges, target)
    sent = [row["response"] for row in read(target)]
    assert sent.count("+ tea") == 400
    assert abs(sent[:400].count("+ tea") - 200) < 50

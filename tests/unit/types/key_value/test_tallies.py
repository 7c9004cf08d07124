from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import (
    Incompatible,
    IncompatibleTallies,
    InvalidResponse,
    UnreadableFile,
)
from deniable.types.key_value.count import KeyValueTally, tally
from deniable.types.key_value.design import (
    KeyValueDesign,
    lpp_club,
    pckv_grr,
    pckv_ue,
)
from deniable.types.key_value.respond import respond
from tests.support.keyvalue import designs
from tests.support.seeded import seeded

ITEMS = ["tea", "coffee", "milk"]
EVERY = [pytest.param(design, id=name) for name, design in designs(3).items()]
BUILT = [lpp_club(3, 1), pckv_ue(3, 1, padding=1), pckv_grr(3, 1, padding=1)]


@pytest.mark.parametrize("design", EVERY)
def test_responses_texts_and_arrays_count_alike(design: KeyValueDesign) -> None:
    source = seeded("responses, texts and arrays")
    sent = [respond(design, {"0": 1, "1": -0.5}, source=source) for _ in range(40)]
    numbers = [design.response_number(each.symbol) for each in sent]
    if design.scheme.KIND == "unary":
        array = np.array(
            [[number // 3**place % 3 for place in range(3)] for number in numbers],
            np.uint8,
        )
    else:
        array = np.array(numbers, np.uint16)
    counted = tally(design, sent)
    assert (
        counted
        == tally(design, [each.symbol for each in sent])
        == tally(design, array)
    )
    assert counted.respondents == 40
    assert counted.asked.sum() == (40 if design.scheme.one_each else 120)
    assert KeyValueTally.from_json(counted.to_json(), design) == counted


@st.composite
def tallies(draw: st.DrawFn, design: KeyValueDesign) -> KeyValueTally:
    numbers = draw(
        st.lists(st.integers(0, design.scheme.responses - 1), max_size=12)
    )
    missing = draw(st.integers(0, 3))
    return tally(
        design, [*(design.symbol(number) for number in numbers), *[None] * missing]
    )


@given(st.data())
def test_tallies_form_a_commutative_monoid(data: st.DataObject) -> None:
    design = data.draw(st.sampled_from(BUILT))
    one, two, three = (data.draw(tallies(design)) for _ in range(3))
    assert one + two == two + one
    assert (one + two) + three == one + (two + three)
    assert one + KeyValueTally.empty(design) == one
    assert hash(one + two) == hash(two + one)


def test_tallies_of_other_designs_are_refused() -> None:
    one, two = (KeyValueTally.empty(lpp_club(3, epsilon)) for epsilon in (1, 2))
    with pytest.raises(IncompatibleTallies, match="expected one design"):
        one + two
    with pytest.raises(IncompatibleTallies, match="belongs to the design"):
        KeyValueTally.from_json(one.to_json(), two.design)
    assert one != two
    assert (one == 3) is False
    with pytest.raises(TypeError):
        one + 3  # type: ignore[operator]


def test_a_foreign_response_is_named_by_its_row() -> None:
    design = lpp_club(ITEMS, 1)
    sent = [respond(design, {}), respond(lpp_club(ITEMS, 2), {})]
    with pytest.raises(Incompatible, match="row 2 belongs to the design"):
        tally(design, sent)
    with pytest.raises(InvalidResponse, match="row 3: '\\+ beer'"):
        tally(design, ["+ tea", None, "+ beer"])


@pytest.mark.parametrize(
    ("design", "responses", "message"),
    [
        (BUILT[0], np.array([0, 9]), "row 2 is not below 9"),
        (BUILT[0], np.array([-1]), "row 1"),
        (BUILT[0], np.array([0.5]), "a whole number for each"),
        (BUILT[0], np.zeros((2, 3), np.uint8), "a whole number for each"),
        (BUILT[1], np.zeros(3, np.uint8), "a row of symbols"),
        (BUILT[1], np.zeros((2, 4), np.uint8), "3 symbols for each"),
        (BUILT[1], np.array([[0, 1, 2], [0, 3, 0]]), "row 2 holds no symbols"),
        (BUILT[2], np.array([7]), "row 1 is not below 7"),
        (BUILT[0], "+ 0", "expected a sequence"),
        (BUILT[0], 5, "expected a sequence"),
    ],
)
def test_what_was_not_sent_is_not_counted(
    design: KeyValueDesign, responses: object, message: str
) -> None:
    with pytest.raises(InvalidResponse, match=message):
        tally(design, responses)


@pytest.mark.parametrize(
    ("counts", "respondents", "message"),
    [
        (np.zeros((2, 3), np.int64), 0, "of shape"),
        (np.zeros((3, 3)), 0, "type float64"),
        (-np.ones((3, 3), np.int64), 0, "negative"),
        (np.ones((3, 3), np.int64), 8, "do not belong to 8"),
    ],
)
def test_counts_that_do_not_fit_are_refused(
    counts: np.ndarray, respondents: int, message: str
) -> None:
    with pytest.raises(InvalidResponse, match=message):
        KeyValueTally(BUILT[0], counts, respondents)


def test_counts_cannot_be_changed() -> None:
    given = np.ones((3, 3), np.int64)
    counted = KeyValueTally(BUILT[0], given, 9)
    given[0, 0] = 100
    assert counted.counts[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        counted.counts[0, 0] = 5


def test_a_tally_file_with_other_counts_is_refused() -> None:
    from deniable import documents

    counted = KeyValueTally.empty(BUILT[0])
    body = json.loads(counted.to_json())
    for counts in ([[0, 0]] * 3, [["0", 0, 0]] * 3, [3, 3, 3]):
        edited = {
            key: value
            for key, value in body.items()
            if key not in ("schema", "hash")
        } | {"counts": counts}
        with pytest.raises(UnreadableFile, match="whole numbers"):
            KeyValueTally.from_json(
                documents.seal("keyvalue-tally", edited), BUILT[0]
            )

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from deniable import documents
from deniable.errors import (
    InvalidAnswer,
    InvalidDesign,
    InvalidNumber,
    InvalidRequest,
    InvalidResponse,
    UnreadableFile,
)
from deniable.types.key_value.design import (
    KeyValueDesign,
    lpp,
    lpp_club,
    lpp_ddagger,
    pckv_grr,
    pckv_ue,
    vpp,
)
from tests.support.keyvalue import designs

ITEMS = ["tea", "coffee", "milk"]
EVERY = [pytest.param(design, id=name) for name, design in designs(3).items()]
every = pytest.mark.parametrize("design", EVERY)


@every
def test_a_design_travels_as_json(design: KeyValueDesign) -> None:
    back = KeyValueDesign.from_json(design.to_json(indent=1))
    assert back == design
    assert hash(back) == hash(design)
    assert back.parity == design.parity
    assert json.loads(design.to_json())["hash"] == design.hash


@every
def test_every_response_is_written_and_read_back(design: KeyValueDesign) -> None:
    texts = [design.symbol(number) for number in range(design.scheme.responses)]
    assert len(set(texts)) == len(texts)
    assert [design.response_number(text) for text in texts] == list(
        range(design.scheme.responses)
    )


NO_RESPONSES = [
    "",
    "0",
    "+",
    "+ 3",
    "? 0",
    "+0",
    "00",
    "0+-0",
    "0?-",
    "nothing",
    7,
    None,
]


@pytest.mark.parametrize(
    ("design", "text"),
    [
        pytest.param(each, text, id=f"{name}-{text}")
        for name, each in designs(3).items()
        for text in NO_RESPONSES
        if (each.name, text) != ("pckv_grr", "0")
    ],
)
def test_what_is_no_response_is_refused(
    design: KeyValueDesign, text: object
) -> None:
    with pytest.raises(InvalidResponse, match="expected one such as"):
        design.response_number(text)  # type: ignore[arg-type]


def test_an_edited_design_is_refused() -> None:
    body = json.loads(lpp_club(ITEMS, 1).to_json())
    body["items"][0] = "beer"
    with pytest.raises(UnreadableFile, match="does not match its hash"):
        KeyValueDesign.from_json(json.dumps(body))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("items", ["a", "a"], "more than once"),
        ("scheme", {"kind": "oracle"}, "expected one of"),
        ("extra", 1, "no further fields"),
        ("low", 3, "wrong type"),
    ],
)
def test_a_design_file_that_deniable_does_not_write_is_refused(
    name: str, value: object, message: str
) -> None:
    body = documents.unseal("keyvalue-design", lpp_club(2, 1).to_json())
    body[name] = value
    with pytest.raises(UnreadableFile, match=message):
        KeyValueDesign.from_json(documents.seal("keyvalue-design", body))


def test_the_saving_against_sequential_composition_is_a_number() -> None:
    assert lpp_ddagger(4, epsilon1=1, epsilon2=1).saving == pytest.approx(
        2 - 1.37988549304172
    )
    # the even channel tells both with ε at the price of one
    assert lpp_club(4, 1).saving == pytest.approx(1)
    assert vpp(4, 1).saving == 0
    assert pckv_ue(4, 2, padding=1).saving > 1
    # sampling among places saves too
    assert pckv_grr(4, 2, padding=2).saving > pckv_grr(4, 2, padding=1).saving


def test_a_public_fake_weight_costs_what_lemma_1_prints() -> None:
    assert lpp(4, 1, 1, fake_weight=1).epsilon == pytest.approx(2)
    assert lpp(4, 1, 1, fake_weight=-1).epsilon == pytest.approx(2)
    assert lpp(4, 1, 1).parity == lpp_ddagger(4, epsilon1=1, epsilon2=1).parity
    # small fake weights are free here
    assert lpp(4, "1/10", 2, fake_weight="1/10").epsilon == pytest.approx(2)


def test_one_item_alone_is_enough() -> None:
    for design in (
        lpp_club(["tea"], 1),
        pckv_ue(1, 1, padding=1),
        pckv_grr(1, 1, padding=1),
    ):
        assert KeyValueDesign.from_json(design.to_json()) == design
        assert len(design.items) == 1
    # Without a second item there is no other place that could tell.
    assert (
        pckv_ue(1, a=0.6, b=0.7, p="2/3", padding=1).parity
        < pckv_ue(2, a=0.6, b=0.7, p="2/3", padding=1).parity
    )


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: lpp_club([], 1), InvalidDesign),
        (lambda: lpp_club(["a", "a"], 1), InvalidDesign),
        (lambda: lpp_club([""], 1), InvalidDesign),
        (lambda: lpp_club(ITEMS, 0), InvalidNumber),
        (lambda: lpp_club(ITEMS, 1, low=1, high=1), InvalidDesign),
        (lambda: lpp_club(ITEMS, 1, importance="degree"), InvalidRequest),
        (lambda: lpp_club(ITEMS, 1, importance={"mean": -1}), InvalidRequest),
        (lambda: lpp_club(ITEMS, 1, importance={"mean": 0}), InvalidRequest),
        (lambda: lpp_club(ITEMS, 1, frequency=0), InvalidRequest),
        (lambda: lpp_club(ITEMS, 1, mean=2), InvalidRequest),
        (lambda: lpp_ddagger(ITEMS), InvalidRequest),
        (lambda: lpp_ddagger(ITEMS, 1, epsilon1=1), InvalidRequest),
        (lambda: lpp_ddagger(ITEMS, epsilon1=1), InvalidRequest),
        (lambda: lpp_ddagger(ITEMS, 1, epsilon1=1, epsilon2=1), InvalidRequest),
        (lambda: lpp(ITEMS, 1, 1, fake_weight=2), InvalidNumber),
        (lambda: vpp(ITEMS, 1, low=0), InvalidRequest),
        (lambda: pckv_ue(ITEMS, padding=1), InvalidRequest),
        (lambda: pckv_ue(ITEMS, 1, a=0.5, padding=1), InvalidRequest),
        (lambda: pckv_ue(ITEMS, a=0.5, b=0.5, padding=1), InvalidRequest),
        (lambda: pckv_ue(ITEMS, a=0.5, b=1, p=0.5, padding=1), InvalidDesign),
        (lambda: pckv_ue(ITEMS, 1, padding=0), InvalidDesign),
        (lambda: pckv_ue(ITEMS, 1, padding=4), InvalidDesign),
        (lambda: pckv_grr(ITEMS, 1, padding=True), InvalidDesign),
        (lambda: pckv_grr(ITEMS, a=0.5, padding=1), InvalidRequest),
        (lambda: pckv_grr(ITEMS, a=0, p=0.5, padding=1), InvalidDesign),
    ],
)
def test_arguments_that_do_not_fit_are_refused(build, error) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error, match="expected"):
        build()


def test_rows_are_read_by_number_and_on_the_scale_of_the_design() -> None:
    design = lpp_club(ITEMS, 1, low="1/2", high=5)
    assert design.row({"milk": 5, "tea": "11/4"}) == {2: Fraction(1), 0: Fraction(0)}
    assert design.row({}) == {}


@pytest.mark.parametrize(
    "answer",
    [
        {"zebra": 1},
        {"tea": "zebra"},
        {"tea": 7731},
        {3: 1},
        {"tea": None},
        ["tea"],
        None,
    ],
)
def test_a_row_that_does_not_fit_is_refused_and_not_repeated(answer: object) -> None:
    with pytest.raises(InvalidAnswer) as caught:
        lpp_club(ITEMS, 1).row(answer)  # type: ignore[arg-type]
    assert "zebra" not in str(caught.value)
    assert "7731" not in str(caught.value)
    assert caught.value.__cause__ is None

from __future__ import annotations

import json
import math
from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import Any

import pytest

from deniable import documents
from deniable.channel import Diagonal
from deniable.designs import Design, k_ary, matrix, warner
from deniable.errors import InvalidDesign, InvalidNumber, UnreadableFile


def test_labels_must_fit_the_channel() -> None:
    with pytest.raises(InvalidDesign, match="there are 2 categories; expected 3"):
        Design("odd", ["a", "b"], ["a", "b", "c"], Diagonal(3, 2, 1))
    with pytest.raises(InvalidDesign, match="there are 2 symbols; expected 3"):
        Design("odd", ["a", "b", "c"], ["a", "b"], Diagonal(3, 2, 1))


def test_a_design_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        warner(1).name = "other"  # type: ignore[misc]


def test_designs_are_equal_by_content() -> None:
    assert warner(1) == warner(1.0) == warner("1")
    assert len({warner(1), warner(1), warner(2)}) == 2
    assert warner(1) != warner(1, categories=["ja", "nein"])
    assert warner(1) != k_ary(["no", "yes"], 1)
    assert warner(1) != 1


def test_its_text_is_short_however_many_categories_there_are() -> None:
    assert (
        repr(k_ary(10**6, 1))
        == "k_ary('0', '1', '2', '3', '4', … (1,000,000 in all); ε = 1)"
    )


def test_an_infinite_parity_is_told_as_such() -> None:
    sure = matrix([[1, 0], [0, 1]])
    assert sure.parity == sure.epsilon == math.inf
    assert "ε = ∞" in repr(sure)
    assert sure.delta(5) == 1


def test_delta_is_total_variation_at_zero() -> None:
    assert warner(p="3/4").delta(0) == 0.5
    assert warner(p="3/4").delta(1e-300) <= 0.5


@pytest.mark.parametrize("epsilon", [-1, -1e-9, math.nan, math.inf, "much", 10**6])
def test_delta_is_asked_at_an_epsilon(epsilon: Any) -> None:
    with pytest.raises(InvalidNumber, match="expected"):
        warner(1).delta(epsilon)


def test_delta_reads_its_own_epsilon_as_the_float_that_it_is() -> None:
    for size in (2, 3, 10, 77):
        for tenth in range(1, 60):
            design = k_ary(size, tenth / 10)
            assert design.delta(design.epsilon) == 0


def test_a_further_field_is_refused() -> None:
    body = json.loads(warner(1).to_json())
    del body["hash"], body["schema"]
    assert Design.from_json(documents.seal("design", body)) == warner(1)
    with pytest.raises(UnreadableFile, match="no further fields"):
        Design.from_json(documents.seal("design", {**body, "note": "hello"}))
    with pytest.raises(UnreadableFile, match="no further fields"):
        Design.from_json(
            documents.seal(
                "design", {**body, "channel": {**body["channel"], "note": "hello"}}
            )
        )


@pytest.mark.parametrize(
    "change", [{"same": "6"}, {"same": "03"}, {"same": 3}], ids=str
)
def test_weights_written_in_another_way_are_refused(change: dict[str, Any]) -> None:
    body = json.loads(warner(p="3/4").to_json())
    del body["hash"], body["schema"]
    if change == {"same": "6"}:
        change = {"same": "6", "other": "2"}
    with pytest.raises(UnreadableFile, match="lowest terms"):
        Design.from_json(
            documents.seal(
                "design", {**body, "channel": {**body["channel"], **change}}
            )
        )


def test_a_file_of_another_kind_says_what_it_is() -> None:
    with pytest.raises(UnreadableFile) as caught:
        Design.from_json(documents.seal("tally", {}))
    assert "It is a tally" in caught.value.hint


def test_labels_survive_in_any_script() -> None:
    design = k_ary(["да", "нет", "не знаю · 知らない", 'a"b\\c\n'], 1)
    assert Design.from_json(design.to_json()).categories == design.categories
    assert "да" in design.to_json()


def test_probability_is_a_fraction() -> None:
    assert warner(p=0.7).probability("yes", given="no") == Fraction(3, 10)

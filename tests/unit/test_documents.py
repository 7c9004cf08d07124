from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from deniable import documents
from deniable.documents import HashedDocument, Response
from deniable.errors import UnreadableFile


def test_the_hash_is_that_of_sorted_json_without_spaces() -> None:
    body = {"b": [1, "ε"], "a": {"d": None, "c": True}}
    canonical = '{"a":{"c":true,"d":null},"b":[1,"ε"]}'
    assert (
        documents.digest(body)
        == "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()
    )


def test_a_sealed_body_comes_back() -> None:
    body = {"numbers": [1, 2], "text": "naïve · ε"}
    for indent in (None, 2):
        text = documents.seal("thing", body, indent=indent)
        assert documents.unseal("thing", text) == body
        assert documents.unseal("thing", text.encode()) == body
        document = json.loads(text)
        assert document["schema"] == "deniable/thing/1"
        assert list(document)[-1] == "hash"


def test_order_and_spaces_do_not_matter() -> None:
    document = json.loads(documents.seal("thing", {"a": 1, "b": 2}))
    turned = json.dumps(dict(reversed(document.items())), indent=7)
    assert documents.unseal("thing", turned) == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("", "JSON ends or breaks early", "truncated"),
        ('{"schema": "deniable/thing/1"', "JSON ends or breaks early", "truncated"),
        ('{"a": 1, "a": 2}', "a key occurs twice", "truncated"),
        (
            "[1]",
            "the schema is missing; expected 'deniable/thing/1'",
            "Hand over a thing",
        ),
        (
            "{}",
            "the schema is missing; expected 'deniable/thing/1'",
            "Hand over a thing",
        ),
        ('{"schema": 3}', "the schema is missing", "Hand over a thing"),
        ('{"schema": "else"}', "the schema is 'else'", "Hand over a thing"),
        (
            '{"schema": "deniable/tally/1"}',
            "the schema is 'deniable/tally/1'",
            "It is a tally",
        ),
        (
            '{"schema": "deniable/thing/9"}',
            "the schema is 'deniable/thing/9'",
            "another version",
        ),
        (
            '{"schema": "deniable/thing/1", "hash": "sha256:0"}',
            "does not match its hash",
            "original file",
        ),
        (
            '{"schema": "deniable/thing/1", "hash": null}',
            "does not match its hash",
            "original file",
        ),
        (
            '{"schema": "deniable/thing/1", "x": NaN}',
            "does not match its hash",
            "original file",
        ),
        (
            '{"schema": "deniable/thing/1", "x": "\\ud800"}',
            "does not match its hash",
            "original file",
        ),
        (
            '{"schema": "deniable/thing/1", "x": 1e999, "hash": null}',
            "does not match its hash",
            "original file",
        ),
    ],
)
def test_what_was_not_sealed_is_refused_with_advice(
    text: str, problem: str, hint: str
) -> None:
    with pytest.raises(UnreadableFile) as caught:
        documents.unseal("thing", text)
    assert problem in caught.value.problem
    assert hint in caught.value.hint


def test_a_key_that_occurs_twice_is_refused_inside_as_well() -> None:
    text = documents.seal("thing", {"inner": {"a": 1}}).replace(
        '"a": 1', '"a": 2, "a": 1'
    )
    assert json.loads(text)["inner"] == {"a": 1}
    with pytest.raises(UnreadableFile, match="occurs twice"):
        documents.unseal("thing", text)


def test_an_edit_is_found() -> None:
    text = documents.seal("thing", {"count": 10})
    with pytest.raises(UnreadableFile, match="edited or damaged"):
        documents.unseal("thing", text.replace("10", "11"))


def test_a_hash_of_another_kind_does_not_fit() -> None:
    document = json.loads(documents.seal("thing", {"count": 10}))
    document["schema"] = "deniable/other/1"
    with pytest.raises(UnreadableFile, match="does not match its hash"):
        documents.unseal("other", json.dumps(document))


@pytest.mark.parametrize(
    ("value", "kinds"),
    [("x", (int,)), (True, (int,)), (1.5, (int, str)), (None, (list,))],
)
def test_fields_are_checked_for_their_type(
    value: Any, kinds: tuple[type, ...]
) -> None:
    with pytest.raises(UnreadableFile, match="'f' is missing or of the wrong type"):
        documents.field({"f": value}, "f", *kinds)
    with pytest.raises(UnreadableFile, match="'g' is missing"):
        documents.field({"f": value}, "g", *kinds)


def test_whole_numbers_are_read_from_numbers_and_text() -> None:
    assert documents.integer_field({"n": 0}, "n") == 0
    assert documents.integer_field({"n": str(2**64)}, "n") == 2**64
    assert documents.integer_field({"n": "9" * 4000}, "n") == 10**4000 - 1


@pytest.mark.parametrize(
    "value",
    [
        -1,
        "-1",
        "",
        "1.0",
        "1e3",
        " 1",
        "٣",
        "²",
        "0x1",
        "9" * 4001,
        True,
        1.0,
        None,
        [],
    ],
)
def test_anything_else_is_no_whole_number(value: Any) -> None:
    with pytest.raises(UnreadableFile, match="'n' is"):
        documents.integer_field({"n": value}, "n")


def test_a_response_names_its_design_and_holds_nothing_else() -> None:
    response = Response("sha256:abc", "yes")
    document = json.loads(response.to_json())
    assert sorted(document) == ["design", "hash", "schema", "symbol"]
    assert Response.from_json(response.to_json()) == response
    assert Response.from_json(response.to_json().encode()) == response


@pytest.mark.parametrize(
    "body",
    [
        {"design": "d"},
        {"symbol": "s"},
        {"design": 1, "symbol": "s"},
        {"design": "d", "symbol": 2},
    ],
)
def test_a_response_without_design_or_symbol_is_refused(
    body: dict[str, Any],
) -> None:
    with pytest.raises(UnreadableFile, match="missing or of the wrong type"):
        Response.from_json(documents.seal("response", body))


@dataclass(frozen=True, eq=False)
class Weight(HashedDocument):
    SCHEMA: ClassVar[str] = "weight"
    grams: int

    def to_body(self) -> dict[str, Any]:
        return {"grams": self.grams}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Weight:
        return cls(documents.integer_field(body, "grams"))


@dataclass(frozen=True, eq=False)
class Length(Weight):
    SCHEMA: ClassVar[str] = "length"


def test_a_class_that_states_schema_and_body_is_a_document() -> None:
    weight = Weight(3)
    assert json.loads(weight.to_json())["hash"] == weight.hash
    assert weight.to_json(indent=1) == documents.seal(
        "weight", {"grams": 3}, indent=1
    )
    again = Weight.from_json(weight.to_json())
    assert again == weight
    assert hash(again) == hash(weight)
    assert again.hash is again.hash
    assert weight not in (Weight(4), Length(3), 3)


def test_one_content_has_one_text() -> None:
    for body in ({"grams": "3"}, {"grams": 3, "note": 1}):
        with pytest.raises(
            UnreadableFile, match="not as deniable writes it"
        ) as caught:
            Weight.from_json(documents.seal("weight", body))
        assert "to_json()" in caught.value.hint
    with pytest.raises(UnreadableFile, match="deniable/length"):
        Weight.from_json(Length(3).to_json())


def test_what_is_nested_too_deep_is_refused() -> None:
    class Endless(Weight):
        @classmethod
        def from_body(cls, body: Mapping[str, Any]) -> Weight:
            return cls.from_body(body)

    with pytest.raises(UnreadableFile, match="nested too deep"):
        Endless.from_json(Weight(3).to_json())

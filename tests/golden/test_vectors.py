"""The golden vectors: every hand that draws agrees with the file, and the file with the registry."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deniable.chance import ScriptedSource
from deniable.designs import Design, NumberDesign
from deniable.types import operation, read_design
from deniable.types.numbers.respond import respond
from tests.support import vectors
from tests.support.hands import Counted, engine, scalar

VECTORS: list[dict[str, Any]] = json.loads(vectors.FILE.read_text(encoding="utf-8"))[
    "vectors"
]
NUMBERS: list[dict[str, Any]] = json.loads(vectors.FILE.read_text(encoding="utf-8"))[
    "numbers"
]

TYPED: list[dict[str, Any]] = json.loads(vectors.FILE.read_text(encoding="utf-8"))[
    "typed"
]

each_vector = pytest.mark.parametrize(
    "vector", VECTORS, ids=[vector["name"] for vector in VECTORS]
)


def test_the_file_is_what_the_script_writes() -> None:
    written, now = (
        vectors.FILE.read_text(encoding="utf-8").splitlines(),
        vectors.text().splitlines(),
    )
    changed = [line[:60] for line in {*written} ^ {*now}]
    assert not changed, (
        "run scripts/vectors, and say in the commit why these changed"
    )
    assert written == now


@each_vector
def test_every_hand_gives_the_responses_of_the_file(vector: dict[str, Any]) -> None:
    design = Design.from_json(json.dumps(vector["design"]))
    answers, expected = vector["answers"], (vector["responses"], vector["used"])

    def source() -> Counted:
        return Counted(bytes.fromhex(vector["bytes"]), ScriptedSource(b""))

    assert scalar(design, answers, source()) == expected
    assert engine(design, answers, source(), fast=False) == expected
    assert engine(design, answers, source(), fast=True) == expected


@pytest.mark.parametrize(
    "vector", NUMBERS, ids=[vector["name"] for vector in NUMBERS]
)
def test_numbers_are_rounded_and_drawn_as_in_the_file(
    vector: dict[str, Any],
) -> None:
    design = Design.from_json(json.dumps(vector["design"]))
    assert isinstance(design, NumberDesign)
    source = ScriptedSource(bytes.fromhex(vector["bytes"]))
    assert [
        respond(design, answer, source=source).symbol for answer in vector["answers"]
    ] == vector["symbols"]
    assert source.used == vector["used"]


@pytest.mark.parametrize("vector", TYPED, ids=[vector["name"] for vector in TYPED])
def test_what_a_page_draws_is_what_the_type_draws(vector: dict[str, Any]) -> None:
    """The file is written with the type's own `respond`; here the page's design draws, from the category's number."""
    design = read_design(json.dumps(vector["design"]))
    fielded = operation(design, "page_design")(design)
    assert fielded.to_json() == design.to_json()
    source = ScriptedSource(bytes.fromhex(vector["bytes"]))
    numbers = [
        fielded.channel.draw(fielded.category_number(answer), source)
        for answer in vector["answers"]
    ]
    assert [fielded.symbols[number] for number in numbers] == vector["symbols"]
    assert source.used == vector["used"]
    assert [fielded.symbol_number(symbol) for symbol in vector["symbols"]] == numbers


def test_the_vectors_show_words_that_are_thrown_away() -> None:
    thrown = [
        each
        for each in VECTORS
        if each["used"] % (8 * vectors.DRAWS) and each["used"] > 8 * vectors.DRAWS
    ]
    assert len(thrown) >= 10

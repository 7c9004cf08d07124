"""All messages of a survey have one size, and no larger one than the largest message takes."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

import pytest

from deniable.collector.signing import SigningKey
from deniable.designs import FAMILIES, Design, k_ary, product, unary
from deniable.designs.labels import max_json_size, size
from deniable.survey import Keys, Survey
from tests.support.surveys import question, small

AWKWARD = [
    "a",
    "\u0627\u0644\u0639",
    'quo"ted',
    "tab\t",
    "back\\slash",
    "\U0001f600",
    "\x7f\u2028",
]
DESIGNS = [
    built
    for family in FAMILIES.values()
    for example in family.examples
    if isinstance(built := family.build(**example), Design)
]
DESIGNS += [
    k_ary(AWKWARD, epsilon=1),
    k_ary(1001, epsilon=1),
    unary(AWKWARD, epsilon=1),
    product({"a": k_ary(AWKWARD, epsilon=1), "b": unary(11, epsilon=1)}),
]


def message(survey: Survey, *symbols: tuple[str, str, str], **others: Any) -> bytes:
    """Return a message with responses: question, design, symbol."""
    fields = ("question", "design", "symbol")
    responses = [dict(zip(fields, each, strict=True)) for each in symbols]
    body = {"survey": survey.hash, "key": "f" * 32, "responses": responses, **others}
    encoded = survey.encode_message(body)
    assert json.loads(encoded) == body
    return encoded


@pytest.mark.parametrize("design", DESIGNS, ids=lambda each: each.name)
def test_messages_have_one_size_whatever_the_response(design: Design) -> None:
    asked = question("one", design, acknowledge="inf")
    survey = small(questions=(asked,), groups=(), acknowledge="inf")
    symbols = set(islice(design.symbols, 3000)) | {
        design.symbols[size(design.symbols) - 1]
    }
    sent = [message(survey, ("one", design.hash, symbol)) for symbol in symbols]
    assert {len(each) for each in sent} == {survey.message_size}
    longest = max(max_json_size([symbol]) for symbol in symbols)
    if len(symbols) >= design.channel.responses:
        assert longest == max_json_size(design.symbols)
        assert min(each.count(b" ") for each in sent) == min(
            symbol.count(" ")
            for symbol in symbols
            if max_json_size([symbol]) == longest
        )


@pytest.mark.parametrize(
    "groups",
    [("x", "\u0627\u0644"), ("x" * 150, "\u0627" * 100), ('"' * 100, "x" * 150)],
)
def test_groups_stages_and_tokens_have_room(groups: tuple[str, ...]) -> None:
    """The largest group is that of the most bytes, whatever the number of its letters."""
    tokens = SigningKey.make().public
    keys = Keys("0" * 64, tokens)
    survey = small(admission="invitation", keys=keys, groups=groups)
    every = [
        (each.name, design.hash, design.symbols[0])
        for each in survey.questions
        for design in each.designs
    ]
    token = {"message": "0" * 64, "signature": tokens.digits(1)}
    alone = message(survey, every[0])
    fulls = [message(survey, *every, group=each, token=token) for each in groups]
    assert {len(each) for each in (alone, *fulls)} == {survey.message_size}
    assert min(each.count(b" ") for each in fulls) < 30, (
        "it is the largest message but for labels"
    )

"""Comprehension checks come from a catalogue: their words are ours, and their right answer follows from the device."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import pytest

from deniable import documents
from deniable.designs import direct, warner
from deniable.errors import InvalidRequest
from deniable.survey import CHECKS, Survey, comprehension_check
from deniable.survey.catalogue import LANGUAGES
from tests.support.surveys import question

COCAINE = {
    "name": "cocaine",
    "check": "yes",
    "design": {"categories": ["no", "yes"]},
    "texts": {"en": {"text": "Have you ever taken cocaine?"}},
}


WARNER = {"family": "warner", "p": "3/4"}
MANGAT = {"family": "mangat", "p": "2/3"}
MASKED = question("masked", warner(p="3/4"))


def survey(
    *questions: dict[str, Any],
    design: Mapping[str, object] = WARNER,
    **others: Any,
) -> Survey:
    """Return a survey that asks one question with a device, and others after it."""
    masked = device_question("masked", design)
    return Survey.from_document(
        {
            "name": "small",
            "texts": {"en": {"title": "Small"}},
            "acknowledge": "inf",
            "questions": [masked, *questions],
        }
        | others
    )


def device_question(name: str, design: Mapping[str, object]) -> dict[str, Any]:
    texts = {"en": {"text": f"{name}?"}}
    return {"name": name, "design": design, "acknowledge": "inf", "texts": texts}


def check(key: str = "certain") -> dict[str, Any]:
    return {"name": "understood", "check": key}


@pytest.mark.parametrize("key", ["yes", "", "Certain", 1, ["certain"]])
def test_no_question_of_an_author_passes_as_a_check(key: Any) -> None:
    with pytest.raises(InvalidRequest, match="expected one of 'sent', 'certain'"):
        survey(COCAINE | {"check": key})


@pytest.mark.parametrize("field", ["texts", "design", "help", "device", "right"])
def test_a_check_has_nothing_of_its_author_but_a_name(field: str) -> None:
    words = {"texts": COCAINE["texts"]}.get(field, "Have you ever taken cocaine?")
    with pytest.raises(InvalidRequest, match=f"has a field '{field}'"):
        survey(check() | {field: words})


def resealed(definition: Survey, **changes: Any) -> str:
    """Return a definition with another check in it, under a hash that fits."""
    body = definition.to_body()
    body["questions"][1] |= changes
    return documents.seal("survey", body)


@pytest.mark.parametrize(
    "changes",
    [
        {"texts": {"en": {"text": "Cocaine?", "labels": ["Yes", "No", "Unsure"]}}},
        {"right": "yes"},
        {"check": "sent"},
        {"check": "yes"},
        {"device": "physical"},
        {"compare": "masked"},
        {"acknowledge": "3"},
    ],
)
def test_a_definition_with_another_check_is_refused(changes: Any) -> None:
    definition = survey(check())
    assert Survey.from_json(definition.to_json()) == definition
    with pytest.raises(InvalidRequest, match="expected"):
        Survey.from_json(resealed(definition, **changes))


def test_a_design_with_more_in_its_labels_is_refused() -> None:
    asked = json.loads(direct(["I took it", "no", "unknown"]).to_json())
    with pytest.raises(InvalidRequest, match="not as the catalogue has it"):
        Survey.from_json(resealed(survey(check()), design=asked))


@pytest.mark.parametrize(
    ("key", "design", "right", "label"),
    [
        ("sent", {"family": "warner", "p": "3/4"}, "response", ""),
        ("certain", {"family": "warner", "p": "3/4"}, "no", ""),
        ("certain", {"family": "mangat", "p": "2/3"}, "yes", ""),
        ("certain", {"family": "unary", "categories": 5, "epsilon": 1}, "no", ""),
        ("frequency", {"family": "warner", "p": "3/4"}, "some", "About 75"),
        ("frequency", {"family": "forced_response", "honest": "2/3", "yes": "1/6"}, "some", "About 83"),
        ("frequency", {"family": "k_ary", "categories": 7, "p": "1/2"}, "some", "About 50"),
    ],
)  # fmt: skip
def test_the_right_answer_follows_from_the_device(
    key: str, design: dict[str, Any], right: str, label: str
) -> None:
    definition = survey(check(key), design=design)
    asked = definition.question("understood")
    assert asked.right == right
    assert not label or asked.labels("en")[1] == label
    assert definition.disclosure.parity == definition.questions[0].disclosure.parity


@pytest.mark.parametrize("checked", [("a",), ("b",), ("a", "b"), ()])
@pytest.mark.parametrize("devices", list(product([WARNER, MANGAT], repeat=3)))
def test_one_device_that_proves_something_makes_a_check_certain(
    devices: Sequence[dict[str, str]], checked: tuple[str, ...]
) -> None:
    """The devices that count are those of the arms that have the check, and of all where no arm names it."""
    names = ("masked", "other", "apart")
    others = [
        device_question(*each) for each in zip(names[1:], devices[1:], strict=True)
    ]
    arms = {"a": ["masked", "other"], "b": ["apart"]}
    written = [
        {"name": arm, "questions": [*asked, *["understood"] * (arm in checked)]}
        for arm, asked in arms.items()
    ]
    definition = survey(*others, check(), design=devices[0], arms=written)
    asked = [name for arm in checked or arms for name in arms[arm]]
    proves = any(
        dict(zip(names, devices, strict=True))[name] == MANGAT for name in asked
    )
    assert definition.question("understood").right == ("yes" if proves else "no")
    assert Survey.from_json(definition.to_json()) == definition


@pytest.mark.parametrize(
    "design",
    [
        {"family": "mangat", "p": "2/3"},
        {"family": "crosswise", "p": "1/4"},
        {"family": "unary", "categories": 5, "epsilon": 1},
        {"family": "number_design", "low": 0, "high": 4, "epsilon": 1},
        {"family": "warner", "p": "1/1000"},
        {"family": "k_ary", "categories": 2000, "p": "1/2"},
    ],
)
def test_a_frequency_is_asked_for_where_it_is_one(design: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest, match="with one probability"):
        survey(check("frequency"), design=design)


def test_a_check_is_asked_beside_a_device_in_words_that_there_are() -> None:
    bare = {"family": "direct"}
    with pytest.raises(InvalidRequest, match="people who use no device"):
        survey(check(), design=bare)
    named = {"name": "bare", "design": bare, "acknowledge": "inf"}
    asked = named | {"texts": {"en": {"text": "Bare?"}}}
    arms = [
        {"name": "a", "questions": ["masked"]},
        {"name": "b", "questions": ["bare"]},
    ]
    with pytest.raises(InvalidRequest, match="in every arm that has the check"):
        survey(asked, check(), arms=arms, acknowledge="inf")
    arms[0]["questions"].append("understood")
    assert survey(asked, check(), arms=arms, acknowledge="inf").question(
        "understood"
    )
    with pytest.raises(InvalidRequest, match="expected one of en, de, es, fr, ar"):
        comprehension_check("understood", "sent", [MASKED], languages=["tlh"])


@pytest.mark.parametrize("key", CHECKS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_check_has_a_label_for_each_category(key: str, language: str) -> None:
    asked = comprehension_check("understood", key, [MASKED], languages=[language])
    assert len(asked.labels(language)) == len(CHECKS[key])
    assert asked.right in CHECKS[key]
    assert "{" not in str(asked.to_body()["texts"])[2:].replace("': {", "")

"""Every text says in every language what it says in English: the same digits and facts, in the same order."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

import pytest

from deniable.survey import HARMLESS, TEMPLATES
from deniable.survey.templates import survey_template

_FACT = re.compile(r"\{\w+\}|\d+")
REORDERED = {
    ("fieldkit", "de", "facts.cell"): "{answer} {count} {total} {symbol}",
    ("fieldkit", "de", "facts.chance"): "1 {answer} {symbol} {chance}",
    ("fieldkit", "es", "facts.chance"): "1 {answer} {symbol} {chance}",
}
"""Texts whose grammar wants another order, with that order."""
BOUNDS = {
    "at most": {
        "de": ("höchstens",), "fr": ("au plus",), "es": ("como mucho", "como máximo"),
        "ar": ("على الأكثر", "في أكثر من", "لا يزيد على"),
    },
    "at least": {
        "de": ("mindestens",), "fr": ("au moins",), "es": ("al menos",), "ar": ("على الأقل",),
    },
}  # fmt: skip
"""What bounds are called in each language."""


def flat(words: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the texts of tables and lists by path."""
    if isinstance(words, str):
        yield path, words
    elif isinstance(words, Mapping | list):
        entries = words if isinstance(words, Mapping) else dict(enumerate(words))
        for key, value in entries.items():
            yield from flat(value, f"{path}.{key}".lstrip("."))


def catalogue(package: str) -> dict[str, dict[str, str]]:
    folder = files(f"deniable.{package}").joinpath("locales")
    return {
        file.name.removesuffix(".toml"): dict(
            flat(tomllib.loads(file.read_text(encoding="utf-8")))
        )
        for file in folder.iterdir()
    }


def template(name: str) -> dict[str, dict[str, str]]:
    """Return the texts of a template by language; a question is known by its place."""
    document = tomllib.loads(survey_template(name))
    asked = [document, *document["questions"]]
    return {
        tag: dict(flat([each.get("texts", {}).get(tag, {}) for each in asked]))
        for tag in document["languages"]
    }


def harmless() -> dict[str, dict[str, str]]:
    tags = HARMLESS[0].texts
    return {tag: {each.name: each.texts[tag] for each in HARMLESS} for tag in tags}


SOURCES = {
    "survey": catalogue("survey"),
    "fieldkit": catalogue("fieldkit"),
    "harmless": harmless(),
    **{f"template {name}": template(name) for name in TEMPLATES},
}
PAIRS = [(source, tag) for source, words in SOURCES.items() for tag in words]


def differing(source: str, tag: str, texts: Mapping[str, str]) -> list[str]:
    """Return the paths of the texts with other digits or facts than in English, or in another order."""
    english = SOURCES[source]["en"]
    assert texts.keys() == english.keys()
    expected = {
        path: REORDERED.get((source, tag, path), " ".join(_FACT.findall(text)))
        for path, text in english.items()
    }
    return [
        path
        for path, text in texts.items()
        if " ".join(_FACT.findall(text)) != expected[path]
    ]


@pytest.mark.parametrize(("source", "tag"), PAIRS)
def test_digits_and_facts_are_those_of_english(source: str, tag: str) -> None:
    assert differing(source, tag, SOURCES[source][tag]) == []


@pytest.mark.parametrize(
    ("source", "tag", "path", "right", "wrong"),
    [
        ("survey", "de", "disclosure.belief", "10 von 100", "20 von 100"),
        ("survey", "ar", "disclosure.line", "من كل 100 على", "من كل 1000 على"),
        ("fieldkit", "fr", "facts.cell", "{count}", "{total}"),
        ("fieldkit", "de", "facts.cell", "{count}", "{total}"),
    ],
)
def test_another_number_is_found(
    source: str, tag: str, path: str, right: str, wrong: str
) -> None:
    texts = SOURCES[source][tag]
    assert right in texts[path]
    swapped = {right: wrong, wrong: right}
    changed = re.sub(
        "|".join(map(re.escape, swapped)), lambda m: swapped[m[0]], texts[path]
    )
    assert differing(source, tag, {**texts, path: changed}) == [path]


def unbounded(source: str, tag: str, texts: Mapping[str, str]) -> list[str]:
    """Return the paths of the texts with another bound than in English, or without it."""
    return [
        path
        for path, text in SOURCES[source]["en"].items()
        for bound, words in BOUNDS.items()
        if (bound in text.lower())
        != any(each in texts[path].lower() for each in words[tag])
    ]


LIMITED = [("survey", tag) for tag in ("de", "fr", "es", "ar")]


@pytest.mark.parametrize(("source", "tag"), LIMITED)
def test_what_holds_at_most_in_english_holds_at_most(source: str, tag: str) -> None:
    assert unbounded(source, tag, SOURCES[source][tag]) == []


@pytest.mark.parametrize(("source", "tag"), LIMITED)
def test_another_bound_is_found(source: str, tag: str) -> None:
    """The sentence on guesses, with "at least" in the place of "at most"."""
    texts, path = SOURCES[source][tag], "disclosure.guess"
    most, least = (BOUNDS[bound][tag][0] for bound in ("at most", "at least"))
    changed = texts[path].replace(most, least)
    assert path in unbounded(source, tag, {**texts, path: changed})

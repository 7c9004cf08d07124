"""Whatever stands in a survey's file, it is read or refused in words; nothing else happens."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given, reject
from hypothesis import strategies as st

from deniable import documents
from deniable.designs import FAMILIES
from deniable.errors import DeniableError
from deniable.survey import Survey
from tests.support.surveys import small

WRITTEN = {
    "name": "one",
    "languages": ["en", "de"],
    "groups": ["a", "b"],
    "minimum": 3,
    "opens": "2026-01-01",
    "admission": "open",
    "texts": {"en": {"title": "T", "intro": "I"}, "de": {"title": "T"}},
    "questions": [
        {
            "name": "first",
            "device": "browser",
            "acknowledge": 4,
            "design": {"family": "k_ary", "categories": ["x", "y"], "epsilon": 1},
            "texts": {
                "en": {"text": "?", "labels": ["X", "Y"]},
                "de": {"text": "?"},
            },
        },
        {
            "name": "second",
            "design": {"categories": ["x", "y", "z"]},
            "ladder": [1, 2],
            "texts": {"en": {"text": "?"}, "de": {"text": "?"}},
        },
    ],
}
SEALED = json.loads(small().to_json())
ODD = [
    10**30,
    0.5,
    1e308,
    "",
    "x",
    "1/0",
    "nan",
    "\ud800",
    "deniable/design/1",
    "sha256:0",
]
NAMES = ["family", "categories", "epsilon", "en", "text", "schema", "designs"]
THINGS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from(ODD + sorted(FAMILIES)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=5,
)


def places(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    inner = (
        document.items()
        if isinstance(document, dict)
        else enumerate(document)
        if isinstance(document, list)
        else ()
    )
    for name, value in inner:
        yield from places(value, (*path, name))


def changed(document: Any, path: tuple[Any, ...], thing: Any) -> Any:
    if not path:
        return thing
    copied = copy.deepcopy(document)
    inner = copied
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = thing
    return copied


def read_or_refused(document: Any) -> Survey | None:
    try:
        return Survey.from_document(document)
    except DeniableError:
        return None


@given(st.sampled_from(list(places(WRITTEN))), THINGS)
def test_a_written_survey_with_anything_in_it_is_read_or_refused(
    path: tuple[Any, ...], thing: Any
) -> None:
    found = read_or_refused(changed(WRITTEN, path, thing))
    assert found is None or Survey.from_json(found.to_json()) == found


@given(st.sampled_from(list(places(SEALED))), THINGS)
def test_a_sealed_survey_with_anything_in_it_is_read_or_refused(
    path: tuple[Any, ...], thing: Any
) -> None:
    """Also where somebody has worked out the hash anew."""
    document = changed(SEALED, path, thing)
    if isinstance(document, dict) and path != ("hash",):
        body = {name: value for name, value in document.items() if name != "hash"}
        try:
            document = {**body, "hash": documents.digest(body)}
        except ValueError:  # half a surrogate pair has no hash
            reject()
    found = read_or_refused(document)
    assert found is None or Survey.from_json(found.to_json()) == found


def test_what_is_changed_here_can_be_read_unchanged() -> None:
    assert Survey.from_document(WRITTEN).questions[1].stages == 2
    assert Survey.from_document(SEALED) == small()

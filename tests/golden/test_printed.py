"""What the package knows of print is what the golden file knows, and every value has the golden verdict."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from deniable_papers.run import DOCUMENTS, uncovered
from tests.golden.runner import HERE
from tests.support.reproduced import made

GOLDEN = {
    entry["id"]: entry
    for entry in json.loads((HERE / "golden.json").read_text())["documents"]
}
OURS = {
    entry["id"]: entry
    for entry in json.loads(
        files("deniable_papers").joinpath("printed.json").read_text()
    )
}
SAME = ("place", "topic", "printed_kind", "inputs", "printed", "recomputed")


def test_every_golden_value_is_in_the_package_unchanged() -> None:
    assert [id for id in GOLDEN if id not in OURS] == []
    for id, entry in GOLDEN.items():
        assert {name: OURS[id][name] for name in SAME} == {
            name: entry[name] for name in SAME
        }
        assert ("erratum" in OURS[id]) is not entry["agrees"], id


def test_a_printed_number_says_how_many_digits_it_has() -> None:
    for id, entry in OURS.items():
        assert (entry["printed_kind"] == "number") or "digits" not in entry, id
        if "digits" in entry and isinstance(entry["printed"], float):
            assert round(entry["printed"], entry["digits"]) == entry["printed"], id


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_verdicts_are_the_golden_ones(document: object) -> None:
    values = [
        value for content in made(document.name).values() for value in content.values
    ]  # type: ignore[attr-defined]
    for value in values:
        golden = GOLDEN.get(value.entry.id)
        if golden is not None:
            assert (value.verdict == "agrees") is golden["agrees"], value.entry.id
            assert value.verdict != "differs", value.entry.id


def test_nothing_printed_is_left_uncovered() -> None:
    values = [
        value
        for document in DOCUMENTS
        for content in made(document.name).values()
        for value in content.values
    ]
    assert list(uncovered(values)) == []
    assert set(GOLDEN) <= {value.entry.id for value in values}

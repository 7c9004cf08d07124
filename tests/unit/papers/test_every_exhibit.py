"""What holds for the exhibits of every document."""

from __future__ import annotations

import pytest

from deniable_papers.run import DOCUMENTS, SourceDocument
from deniable_papers.values import starting
from tests.support.reproduced import made

FIGURES = {
    "rr3": [2],
    "minimax": range(1, 8),
    "binary": [1, 2],
    "cards": range(1, 6),
    "gradual": range(1, 4),
}
TABLES = {
    "rr3": [],
    "minimax": [1],
    "binary": [],
    "cards": [1, 2],
    "gradual": [1, 2, 3],
}

every_document = pytest.mark.parametrize(
    "document", DOCUMENTS, ids=lambda document: document.name
)


@every_document
def test_a_value_is_as_printed_or_the_corrected_one(
    document: SourceDocument,
) -> None:
    for content in made(document.name).values():
        for value in content.values:
            explained = (
                "holds with a condition"
                if value.entry.condition
                else "the paper is wrong"
            )
            assert value.verdict == (
                explained if value.entry.erratum else "agrees"
            ), value.entry.id
            assert value.entry.erratum or not value.entry.condition, value.entry.id


@every_document
def test_every_printed_value_is_compared_once(document: SourceDocument) -> None:
    met = [
        value.entry.id
        for content in made(document.name).values()
        for value in content.values
    ]
    assert sorted(met) == sorted(
        entry.id for entry in starting(f"{document.number}-")
    )


@every_document
def test_all_figures_and_tables_are_there(document: SourceDocument) -> None:
    contents = made(document.name)
    for number in FIGURES[document.name]:
        content = contents[f"{document.name}-figure-{number}"]
        assert content.described
        assert content.draw is not None
    for number in TABLES[document.name]:
        content = contents[f"{document.name}-table-{number}"]
        assert {len(row) for row in content.rows} == {len(content.columns)}

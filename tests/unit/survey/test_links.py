"""Links say where, who and exactly what: a link that does not pin its definition is none."""

from __future__ import annotations

import pytest

from deniable.errors import Incompatible, InvalidRequest
from deniable.survey import Keys, Link
from tests.support.surveys import small

HASH, AUTHOR = "ab" * 32, "cd" * 32
WHOLE = (
    "https://survey.example/panel/s/working-life?group=field+staff"
    f"#definition={HASH}&author={AUTHOR}&invitation=in_secret-code_1"
)


def test_a_link_says_where_what_and_who() -> None:
    link = Link.read(WHOLE)
    assert (link.base, link.survey, link.group) == (
        "https://survey.example/panel",
        "working-life",
        "field staff",
    )
    assert (link.definition, link.author, link.invitation) == (
        HASH,
        AUTHOR,
        "in_secret-code_1",
    )
    assert link.text == WHOLE
    assert "in_secret" not in repr(link)
    assert "in_secret" not in str(link)
    assert Link.read(
        f"http://127.0.0.1:8000/s/small?lang=de#definition={HASH}"
    ) == Link("http://127.0.0.1:8000", "small", HASH)


def test_a_link_to_a_survey_names_its_whole_hash() -> None:
    survey = small()
    link = Link.to_survey(survey, "https://survey.example/", group="north")
    assert (
        link.text
        == f"https://survey.example/s/small?group=north#definition={survey.hash[7:]}"
    )
    assert len(link.definition) == 64
    assert Link.read(link.text) == link
    with pytest.raises(InvalidRequest, match="no group"):
        Link.to_survey(survey, "https://survey.example", group="west")


def test_a_link_fits_its_definition_and_no_other() -> None:
    fielded = small(keys=Keys(AUTHOR))
    link = Link.to_survey(fielded, "https://survey.example")
    link.check(fielded)
    for other in (
        small(),
        small(minimum=21, keys=Keys(AUTHOR)),
        small(keys=Keys(HASH)),
        small(name="other"),
    ):
        with pytest.raises(Incompatible, match="the link names"):
            link.check(other)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("http://survey.example/s/small", "not encrypted"),
        ("http://127.0.0.1.example/s/small", "not encrypted"),
        ("ftp://survey.example/s/small", "not the link"),
        ("https://survey.example/small", "not the link"),
        ("https://survey.example/s/", "not the link"),
        ("https://survey.example/s/a/b", "not the link"),
        ("https:///s/small", "not the link"),
        ("small", "not the link"),
        ("file:///s/small", "not the link"),
        ("https://survey.example/s/small", "which definition"),
        (f"https://survey.example/s/small#author={AUTHOR}", "which definition"),
        ("https://survey.example/s/small#in_secret", "cannot be read"),
        (f"https://survey.example/s/small#definition={HASH[:19]}", "cannot be read"),
        (
            f"https://survey.example/s/small#definition={HASH.upper()}",
            "cannot be read",
        ),
        (
            f"https://survey.example/s/small#definition={HASH}&author=",
            "cannot be read",
        ),
        (
            f"https://survey.example/s/small#definition={HASH}&definition={HASH}",
            "cannot be read",
        ),
        (
            f"https://survey.example/s/small#definition={HASH}&budget=100",
            "cannot be read",
        ),
    ],
)
def test_what_is_no_safe_link_is_refused(text: str, words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        Link.read(text)

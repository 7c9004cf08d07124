"""Links, as respondents are given them."""

from __future__ import annotations

import pytest

from deniable.client.link import Link
from deniable.errors import InvalidRequest


def test_a_link_says_where_what_and_who() -> None:
    link = Link.read("https://survey.example/panel/s/working-life?group=field%20staff&lang=de#in_secret")
    assert (link.base, link.survey, link.group) == ("https://survey.example/panel", "working-life", "field staff")
    assert link.code == "in_secret"
    assert "in_secret" not in repr(link)
    assert Link.read("http://127.0.0.1:8000/s/small") == Link("http://127.0.0.1:8000", "small")


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
    ],
)
def test_what_is_no_safe_link_is_refused(text: str, words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        Link.read(text)

from __future__ import annotations

from typing import Any

import pytest

from deniable.collector.pages.render import choose_language
from deniable.survey.catalogue import LANGUAGES, locale
from deniable.survey.tools import TOOLS


def flat(words: Any, path: str = "") -> dict[str, Any]:
    if not isinstance(words, dict):
        return {path: words}
    return {
        name: text
        for key, each in words.items()
        for name, text in flat(each, f"{path}.{key}").items()
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_says_everything(language: str) -> None:
    english, other = flat(locale("en").words), flat(locale(language).words)
    assert other.keys() == english.keys()
    for name, text in other.items():
        if isinstance(text, list):
            assert len(set(text)) == len(english[name])
        else:
            assert text.strip() == text != ""


@pytest.mark.parametrize("language", [each for each in LANGUAGES if each != "en"])
def test_nothing_is_left_in_english(language: str) -> None:
    english, other = flat(locale("en").words), flat(locale(language).words)
    alike = {name for name, text in other.items() if text == english[name]}
    assert alike <= {".day.written"}, "which holds places alone"


def test_every_device_has_a_name() -> None:
    assert set(locale("en").words["device"]["tools"]) == set(TOOLS)


def test_right_to_left() -> None:
    assert [locale(each).direction for each in LANGUAGES] == [
        "ltr",
        "ltr",
        "ltr",
        "ltr",
        "rtl",
    ]


@pytest.mark.parametrize(
    ("asked", "accepted", "found"),
    [
        ("", "", "en"),
        ("de", "ar", "de"),
        ("it", "ar;q=0.5, es;q=0.7", "es"),
        ("", "de-AT, en;q=0.5", "de"),
        ("", "de;q=x, ar;q=0.1", "ar"),
        ("", ";;;,,,q=", "en"),
    ],
)
def test_the_language_is_that_of_the_address_then_of_the_browser(
    asked: str, accepted: str, found: str
) -> None:
    assert choose_language(LANGUAGES, asked, accepted) == found

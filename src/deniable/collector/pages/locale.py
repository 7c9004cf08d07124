"""The page's own words, in the languages of `locales/`. What a survey asks is in the survey."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

LANGUAGES = ("en", "de", "es", "ar")
"""The languages that pages speak; the first one where a survey is written in none of them."""


@dataclass(frozen=True, slots=True)
class Locale:
    """One language.

    Attributes:
        language: its tag.
        name: what its speakers call it.
        direction: "ltr" or "rtl".
        words: sentences by section and name, with places for facts in braces.
    """

    language: str
    name: str
    direction: str
    words: Mapping[str, Any]


@cache
def locale(language: str) -> Locale:
    """Return the words of a language, of the one it is a variety of, or English.

    Example:
        >>> locale("de-AT").name, locale("ar").direction, locale("tlh").language
        ('Deutsch', 'rtl', 'en')
    """
    known = next((each for each in (language, language.partition("-")[0]) if each in LANGUAGES), LANGUAGES[0])
    text = files("deniable.collector").joinpath("locales", f"{known}.toml").read_text(encoding="utf-8")
    words = tomllib.loads(text)
    return Locale(known, words.pop("name"), words.pop("direction"), words)


def chosen(offered: Sequence[str], asked: str, accepted: str) -> str:
    """Return the language of a page.

    Args:
        offered: languages that there are, the default first.
        asked: what the address asks for; empty where it does not.
        accepted: what the browser accepts, as the header `Accept-Language` has it.

    Example:
        >>> chosen(["en", "de"], "", "fr;q=0.9, de-CH;q=0.8"), chosen(["en", "de"], "de", "en"), chosen(["en"], "x", "")
        ('de', 'de', 'en')
    """
    wanted = [asked, *(tag for _, tag in sorted(_accepted(accepted), key=lambda each: -each[0]))]
    for tag in wanted:
        for each in (tag, tag.partition("-")[0]):
            if each in offered:
                return each
    return offered[0]


def _accepted(header: str) -> list[tuple[float, str]]:
    found = []
    for part in header[:500].split(","):
        tag, _, quality = part.strip().partition(";q=")
        try:
            found.append((float(quality or 1), tag))
        except ValueError:
            continue
    return found

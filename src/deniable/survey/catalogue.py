"""The words that respondents are told things in, in five languages: one catalogue for pages, commands and receipts.

What a survey asks, and in which words, is in the survey; everything else that is said about it is said from here.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

LANGUAGES = ("en", "de", "es", "fr", "ar")
"""The languages that there are words in; the first one where a survey is written in none of them."""

_DECIMAL = re.compile(r"(?<![/\d])\d+(\.\d+)?(?![/\d])")  # not a part of a fraction


@dataclass(frozen=True, slots=True)
class Locale:
    """One language.

    Attributes:
        language: its tag.
        name: what its speakers call it.
        direction: "ltr" or "rtl".
        thousands: what stands between groups of three digits.
        decimal: what stands before decimals.
        words: sentences by section and name, with places for facts in braces.
    """

    language: str
    name: str
    direction: str
    thousands: str
    decimal: str
    words: Mapping[str, Any]

    def number(self, value: int | Decimal) -> str:
        """Return a number as it is written in this language.

        Example:
            >>> locale("de").number(100_000), locale("en").number(Decimal("99.96"))
            ('100.000', '99.96')
        """
        return f"{Decimal(value):,f}".translate(
            {ord(","): self.thousands, ord("."): self.decimal}
        )

    def written(self, text: str) -> str:
        """Return a text with the decimals in it as they are written in this language.

        Example:
            >>> locale("de").written("1250.5 … 2000"), locale("en").written("-2 … 1/3")
            ('1.250,5 … 2.000', '-2 … 1/3')
        """
        return _DECIMAL.sub(lambda match: self.number(Decimal(match[0])), text)

    def day(self, day: date) -> str:
        """Return a day as it is written in this language.

        Example:
            >>> locale("de").day(date(2026, 3, 1))
            '1. März 2026'
        """
        day_words = self.words["day"]
        return fill(
            day_words["written"],
            day=day.day,
            month=day_words["months"][day.month - 1],
            year=day.year,
        )


@cache
def locale(language: str) -> Locale:
    """Return the words of a language, of the one it is a variety of, or English.

    Example:
        >>> locale("de-AT").name, locale("ar").direction, locale("tlh").language
        ('Deutsch', 'rtl', 'en')
    """
    tag = next(
        (
            code
            for code in (language, language.partition("-")[0])
            if code in LANGUAGES
        ),
        LANGUAGES[0],
    )
    text = (
        files("deniable.survey")
        .joinpath("locales", f"{tag}.toml")
        .read_text(encoding="utf-8")
    )
    words = tomllib.loads(text)
    about = {
        name: words.pop(name)
        for name in ("name", "direction", "thousands", "decimal")
    }
    return Locale(language=tag, words=words, **about)


def fill(sentence: str, **facts: object) -> str:
    """Put facts into the places of a sentence.

    Example:
        >>> fill("{count} of {base}", count=3, base=100)
        '3 of 100'
    """
    return sentence.format_map(facts)

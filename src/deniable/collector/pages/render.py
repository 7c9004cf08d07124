"""From a context to a page: Jinja2 templates, the page of a problem, and the pages' own words in four languages.

Everything is escaped and nothing is guessed. What a survey asks, and in which words, is in the survey.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar, Protocol

from jinja2 import Environment, PackageLoader, StrictUndefined

from deniable.collector.refusals import Told

LANGUAGES = ("en", "de", "es", "ar")
"""The languages that pages speak; the first one where a survey is written in none of them."""


class Context(Protocol):
    """A frozen dataclass with all that one template reads, under the names that it reads it by."""

    __dataclass_fields__: ClassVar[dict[str, Any]]
    TEMPLATE: ClassVar[str]


@cache
def environment() -> Environment:
    """The templates of the collector. A name that a context does not have is an error, never an empty place."""
    made = Environment(
        loader=PackageLoader("deniable.collector", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["fill"] = fill
    made.policies["json.dumps_kwargs"] = {"ensure_ascii": False}
    return made


def fill(sentence: str, **facts: object) -> str:
    """Put facts into the places of a sentence.

    Example:
        >>> fill("{count} of {base}", count=3, base=100)
        '3 of 100'
    """
    return sentence.format_map(facts)


def render(context: Context) -> str:
    """Return the HTML of a context."""
    facts = {each.name: getattr(context, each.name) for each in fields(context)}
    return environment().get_template(context.TEMPLATE).render(facts)


@dataclass(frozen=True, slots=True)
class Problem:
    """What was wrong (the title), what was expected, and how to go on."""

    TEMPLATE: ClassVar[str] = "problem.html"
    title: str
    expected: str
    next: str


def problem(told: Told) -> str:
    """Return the page of a refusal."""
    return render(Problem(told.what[:1].upper() + told.what[1:], told.expected, told.next))


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
    tag = next((each for each in (language, language.partition("-")[0]) if each in LANGUAGES), LANGUAGES[0])
    text = files("deniable.collector").joinpath("locales", f"{tag}.toml").read_text(encoding="utf-8")
    words = tomllib.loads(text)
    return Locale(tag, words.pop("name"), words.pop("direction"), words)


def choose_language(offered: Sequence[str], asked: str, accepted: str) -> str:
    """Return the language of a page.

    Args:
        offered: languages that there are, the default first.
        asked: what the address asks for; empty where it does not.
        accepted: what the browser accepts, as the header `Accept-Language` has it.

    Example:
        >>> choose_language(["en", "de"], "", "fr;q=0.9, de-CH;q=0.8"), choose_language(["en"], "x", "")
        ('de', 'en')
    """
    wanted = [asked, *(tag for _, tag in sorted(_accepted(accepted), key=lambda rated: -rated[0]))]
    for tag in wanted:
        for language in (tag, tag.partition("-")[0]):
            if language in offered:
                return language
    return offered[0]


def _accepted(header: str) -> list[tuple[float, str]]:
    tags = []
    for part in header[:500].split(","):
        tag, _, quality = part.strip().partition(";q=")
        try:
            tags.append((float(quality or 1), tag))
        except ValueError:
            continue
    return tags

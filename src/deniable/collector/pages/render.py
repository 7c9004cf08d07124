"""From a context to a page: Jinja2 templates, the page of a problem, and the language of a page.

Everything is escaped and nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar, Protocol

from jinja2 import Environment, PackageLoader, StrictUndefined

from deniable.collector.refusals import Told
from deniable.rendering import formats
from deniable.report.result_texts import estimator
from deniable.survey.catalogue import fill


class Context(Protocol):
    """A frozen dataclass with all that one template reads, under the names that it reads it by."""

    __dataclass_fields__: ClassVar[dict[str, Any]]
    TEMPLATE: ClassVar[str]


@cache
def environment() -> Environment:
    """The templates of the collector. A name that a context does not have is an error, never an empty place."""
    jinja = Environment(
        loader=PackageLoader("deniable.collector", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.filters["fill"] = fill
    jinja.filters["estimator"] = estimator
    jinja.filters["above"] = formats.epsilon
    jinja.filters["points"] = formats.points
    jinja.filters["whole"] = formats.count
    jinja.policies["json.dumps_kwargs"] = {"ensure_ascii": False}
    return jinja


def render(context: Context) -> str:
    """Return the HTML of a context."""
    facts = {field.name: getattr(context, field.name) for field in fields(context)}
    return environment().get_template(context.TEMPLATE).render(facts)


@dataclass(frozen=True, slots=True)
class Problem:
    """What was wrong (the title), what was expected, and how to go on."""

    TEMPLATE: ClassVar[str] = "problem.html"
    title: str
    expected: str
    next: str


def problem(texts: Told) -> str:
    """Return the page of a refusal."""
    return render(
        Problem(texts.what[:1].upper() + texts.what[1:], texts.expected, texts.next)
    )


def choose_language(offered: Sequence[str], requested: str, accepted: str) -> str:
    """Return the language of a page.

    Args:
        offered: languages that there are, the default first.
        asked: what the address asks for; empty where it does not.
        accepted: what the browser accepts, as the header `Accept-Language` has it.

    Example:
        >>> choose_language(["en", "de"], "", "fr;q=0.9, de-CH;q=0.8"), choose_language(["en"], "x", "")
        ('de', 'en')
    """
    tags = [
        requested,
        *(
            tag
            for _, tag in sorted(
                _parse_accepted(accepted), key=lambda rated: -rated[0]
            )
        ),
    ]
    for tag in tags:
        for language in (tag, tag.partition("-")[0]):
            if language in offered:
                return language
    return offered[0]


def _parse_accepted(header: str) -> list[tuple[float, str]]:
    tags = []
    for entry in header[:500].split(","):
        tag, _, quality = entry.strip().partition(";q=")
        try:
            tags.append((float(quality or 1), tag))
        except ValueError:
            continue
    return tags

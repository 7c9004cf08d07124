"""From a context to a page: Jinja2 templates in which everything is escaped and nothing is guessed."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any, ClassVar, Protocol

from jinja2 import Environment, PackageLoader, StrictUndefined


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

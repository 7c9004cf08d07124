"""A page for people whose request went wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from deniable.collector.pages.render import render
from deniable.collector.refusals import Told


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

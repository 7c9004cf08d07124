"""The analyst's pages as tables for spreadsheets: a line of names, then rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, astuple, fields
from functools import singledispatch
from typing import Any

from deniable.collector.pages.analyst_context import OverviewPage, PlanPage, QuestionPage, SurveyLine, SurveyPage
from deniable.collector.results import FAKES, Share

_RISKY = ("=", "+", "-", "@", "\t", "\r")


def to_csv(page: object) -> str:
    """Return the facts of a page as CSV. A text that a spreadsheet would take for a formula is written as text."""
    out = io.StringIO()
    writer = csv.writer(out)
    for row in _rows(page):
        writer.writerow(["" if cell is None else _plain(cell) for cell in row])
    return out.getvalue()


@singledispatch
def _rows(page: object) -> Iterator[Sequence[Any]]:
    raise AssertionError(f"no table for {type(page).__name__}")


@_rows.register
def _(page: OverviewPage) -> Iterator[Sequence[Any]]:
    yield [each.name for each in fields(SurveyLine)]
    yield from map(astuple, page.facts)


@_rows.register
def _(page: SurveyPage) -> Iterator[Sequence[Any]]:
    lines = page.facts.questions
    yield [each.name for each in fields(lines[0])]
    yield from map(astuple, lines)


@_rows.register
def _(page: QuestionPage) -> Iterator[Sequence[Any]]:
    """A row for each group and category; the whole has no group's name."""
    ends = [f"{end} if {share:g} fabricated" for share in FAKES for end in ("low", "high")]
    yield ["group", "respondents", "category", "label", "share", "error", "low", "high", "direct low", "direct high",
           "effective", *ends]  # fmt: skip
    if page.facts.results:
        yield from _shares(page.facts.group, page.facts.results.respondents, page.facts.results.shares)
    for group in page.facts.groups if not page.facts.group else ():
        yield from _shares(group.name, group.respondents, group.shares)


@_rows.register
def _(page: PlanPage) -> Iterator[Sequence[Any]]:
    facts = page.facts
    wish = asdict(facts.wish)
    told = {"level": facts.level, "design": facts.design, "margin": facts.margin, "direct": facts.direct,
            "worth": facts.worth, "needed": facts.needed, "posterior": facts.posterior}  # fmt: skip
    yield [*wish, *told]
    yield [*wish.values(), *told.values()]


def _shares(group: str, respondents: int, shares: Iterable[Share]) -> Iterator[Sequence[Any]]:
    for each in shares:
        category, *numbers = astuple(each.row)
        yield [group, respondents, category, each.label, *numbers, *(end for ends in each.fakes for end in ends)]


def _plain(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_RISKY) else cell

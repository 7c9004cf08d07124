"""The analyst's pages: all surveys, one survey, one question, and the planner; each also as JSON and CSV.

A page holds facts, which programs are told as JSON or CSV, and adds pictures and words for people. The application lets
nobody in here who has not signed in; `request.state.token` says who it is.
"""

from __future__ import annotations

import asyncio
import csv
import io
import textwrap
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from datetime import date
from itertools import chain
from typing import Any, ClassVar

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from deniable.collector import planner, results
from deniable.collector.charts import (
    DaysChart,
    SharesChart,
    days_chart,
    select_largest,
    shares_chart,
)
from deniable.collector.pages.render import render
from deniable.collector.refusals import Refused
from deniable.collector.results import (
    FAKES,
    ArmResult,
    CategoryResult,
    GroupResult,
    Results,
    capital,
)
from deniable.collector.settings import Collector
from deniable.collector.store import Entry, ShownQuestion, ShownReader, Store, Token
from deniable.collector.store.base import Invitations
from deniable.errors import NotAllowed, NotEstimable
from deniable.estimates.results import ALWAYS_VALID
from deniable.files.cells import safe_cell
from deniable.rendering import formats

_TITLE = 76  # letters in a line of a figure's title


@dataclass(frozen=True, slots=True)
class SurveyLine:
    """A survey in the overview; `responses` are those to its question with the most."""

    name: str
    title: str
    state: str
    pilot: bool
    questions: int
    responses: int
    opens: date | None
    closes: date | None


@dataclass(frozen=True, slots=True)
class QuestionLine:
    """A question in the overview of its survey; `sentence` says why where nothing is shown."""

    name: str
    text: str
    respondents: int
    epsilon: float
    stages: int
    sentence: str
    warnings: int


@dataclass(frozen=True, slots=True)
class SurveyFacts:
    """A survey and its questions."""

    name: str
    title: str
    state: str
    pilot: bool
    survey: str
    admission: str
    invited: int
    invitations_used: int
    minimum: int
    opens: date | None
    closes: date | None
    questions: tuple[QuestionLine, ...]


@dataclass(frozen=True, slots=True)
class QuestionFacts:
    """The results of a question; `results` are missing, and `why` says the reason, where nothing is shown.

    They change when there are `next_step` responses, or more where there are groups, until they are `complete`.
    """

    survey: str
    pilot: bool
    question: str
    text: str
    group: str
    results: Results | None
    why: str
    groups: tuple[GroupResult, ...]
    compared: tuple[str, ...]
    hidden: tuple[str, ...]
    comparisons: tuple[ArmResult, ...]
    next_step: int
    complete: bool
    days: tuple[tuple[date, int], ...]


@dataclass(frozen=True, slots=True)
class OverviewPage:
    """All surveys that a token may see."""

    TEMPLATE: ClassVar[str] = "analyst/overview.html"
    facts: tuple[SurveyLine, ...]

    def rows(self) -> Iterator[Sequence[Any]]:
        """Yield the names of the facts, then the facts of each survey."""
        yield [field.name for field in fields(SurveyLine)]
        yield from map(astuple, self.facts)


@dataclass(frozen=True, slots=True)
class SurveyResultsPage:
    """One survey."""

    TEMPLATE: ClassVar[str] = "analyst/survey.html"
    facts: SurveyFacts

    def rows(self) -> Iterator[Sequence[Any]]:
        """Yield the names of the facts, then the facts of each question."""
        yield [field.name for field in fields(QuestionLine)]
        yield from map(astuple, self.facts.questions)


@dataclass(frozen=True, slots=True)
class QuestionPage:
    """One question, with its pictures."""

    TEMPLATE: ClassVar[str] = "analyst/question.html"
    facts: QuestionFacts
    title: str
    chart: SharesChart | None
    table: tuple[CategoryResult, ...]
    days: DaysChart | None
    about: str
    fakes: tuple[float, ...]

    def rows(self) -> Iterator[Sequence[Any]]:
        """Yield names, then a row for each group and category, or number; the whole has no group's name."""
        ends = [
            f"{end} if {share:g} fabricated"
            for share in FAKES
            for end in ("low", "high")
        ]
        yield ["group", "respondents", "category", "label", "share", "error", "low", "high", "direct low",
               "direct high", "effective", *ends]  # fmt: skip
        facts = self.facts
        if facts.results:
            yield from _result_rows(facts.group, facts.results)
        for group in facts.groups if not facts.group else ():
            yield from _result_rows(group.name, group)


@dataclass(frozen=True, slots=True)
class FigureFile:
    """The picture of a question, as a file: its title in lines, and what it is of."""

    TEMPLATE: ClassVar[str] = "analyst/figure.svg"
    title: tuple[str, ...]
    facts: str
    chart: SharesChart


@dataclass(frozen=True, slots=True)
class PlanPage:
    """The planner."""

    TEMPLATE: ClassVar[str] = "analyst/plan.html"
    facts: planner.SurveyPlan

    def rows(self) -> Iterator[Sequence[Any]]:
        """Yield names, then what was planned with and what comes of it."""
        names = (
            "level",
            "design",
            "margin",
            "direct",
            "worth",
            "needed",
            "posterior",
        )
        wish = asdict(self.facts.wish)
        yield [*wish, *names]
        yield [*wish.values(), *(getattr(self.facts, name) for name in names)]


Page = OverviewPage | SurveyResultsPage | QuestionPage | PlanPage
Build = Callable[[Request, Store], Page]


def overview(store: Store, token: Token) -> OverviewPage:
    """Return the overview for whoever holds a token: all surveys, or the one that the token is for."""

    def read(reader: ShownReader) -> list[list[ShownQuestion]]:
        entries = [
            entry
            for entry in reader.surveys()
            if token.survey in ("", entry.survey.name)
        ]
        return [_read_questions(reader, entry) for entry in entries]

    return OverviewPage(tuple(map(_survey_line, store.read_shown(read))))


def survey_page(store: Store, name: str) -> SurveyResultsPage:
    """Return the page of a survey.

    Raises:
        NoSuchSurvey: there is none of this name.
    """

    def read(reader: ShownReader) -> tuple[list[ShownQuestion], Invitations]:
        entry = reader.survey(name)
        return _read_questions(reader, entry), reader.invitations(entry.id)

    questions, invitations = store.read_shown(read)
    entry = questions[0].entry
    survey = entry.survey
    facts = SurveyFacts(
        name=name,
        title=survey.texts[survey.language].title,
        state=entry.state,
        pilot=survey.pilot,
        survey=survey.hash,
        admission=survey.admission,
        invited=invitations.made,
        invitations_used=invitations.used,
        minimum=survey.minimum,
        opens=survey.opens,
        closes=survey.closes,
        questions=tuple(map(_question_line, questions)),
    )
    return SurveyResultsPage(facts)


def _read_questions(reader: ShownReader, entry: Entry) -> list[ShownQuestion]:
    """Read all questions of a survey, without groups."""
    return [
        reader.question(entry.id, number, groups=())
        for number in range(len(entry.survey.questions))
    ]


def question_page(
    store: Store, name: str, question: str, group: str = ""
) -> QuestionPage:
    """Return the page of a question, of everybody or of one group.

    Raises:
        NoSuchSurvey: there is no survey of this name.
        InvalidRequest: there is no such question or group.
    """

    def read(reader: ShownReader) -> tuple[ShownQuestion, list[ShownQuestion]]:
        entry = reader.survey(name)
        number = entry.survey.number(question)
        arms = () if group else results.compared_questions(entry.survey, number)
        return reader.question(entry.id, number), [
            reader.question(entry.id, arm, groups=()) for arm in arms
        ]

    published, compared = store.read_shown(read)
    selected = published.entry.survey.group(group) if group else None
    facts = _question_facts(published, compared, selected)
    shares = facts.results.shares if facts.results else ()
    return QuestionPage(
        facts=facts,
        title=published.entry.survey.texts[published.language].title,
        chart=shares_chart(shares) if shares else None,
        table=tuple(select_largest(shares, lambda share: share.row.estimate)),
        days=days_chart(facts.days),
        about="ladder" if published.is_staged else "design",
        fakes=FAKES,
    )


def _question_facts(
    shown: ShownQuestion, compared: Sequence[ShownQuestion], group: int | None
) -> QuestionFacts:
    """Return the results of a question, of everybody or of one group."""
    survey = shown.entry.survey
    result, why = _results(shown, group)
    groups = results.groups(shown)
    names = {line.name for line in groups}
    return QuestionFacts(
        survey=survey.name,
        pilot=survey.pilot,
        question=shown.question.name,
        text=_text(shown),
        group="" if group is None else survey.groups[group],
        results=result,
        why=why,
        groups=groups,
        compared=results.compared(shown),
        hidden=tuple([name for name in survey.groups if name not in names]),
        comparisons=tuple(results.compare_arms(shown, arm) for arm in compared),
        next_step=shown.next_steps[group],
        complete=bool(shown.complete_stages),
        days=shown.days,
    )


def figure_file(store: Store, name: str, question: str, group: str = "") -> str:
    """Return the picture of a question as SVG.

    Raises:
        NotAllowed: it is not shown.
        InvalidRequest: there is no such question or group.
    """
    page = question_page(store, name, question, group)
    result = page.facts.results
    if result is None or page.chart is None:
        raise NotAllowed(
            f"there is no figure yet: {page.facts.why[:1].lower()}{page.facts.why[1:]}"
        )
    prefix = f"{group}, " if group else ""
    selection = (
        f", the {len(page.chart.lines)} largest shares"
        if page.chart.left_out
        else ""
    )
    kind = f"{ALWAYS_VALID} intervals" if result.looks else "intervals"
    facts = f"{prefix}{result.respondents:,} respondents, {formats.level(result.level)} {kind}{selection}"
    return render(
        FigureFile(tuple(textwrap.wrap(page.facts.text, _TITLE)), facts, page.chart)
    )


def plan_page(given: Mapping[str, str]) -> PlanPage:
    """Return the planner's page.

    Raises:
        InvalidRequest: a number that cannot be planned with.
    """
    return PlanPage(planner.plan(planner.read_wish(given)))


def tally_file(store: Store, name: str, question: str, group: str = "") -> str:
    """Return the counts of a question as a file.

    Raises:
        NotAllowed: they are not shown.
        InvalidRequest: there is no such question or group.
    """

    def read(reader: ShownReader) -> tuple[ShownQuestion, int | None]:
        entry = reader.survey(name)
        number = entry.survey.group(group) if group else None
        groups = () if number is None else (number,)
        return reader.question(
            entry.id, entry.survey.number(question), groups
        ), number

    published, selected = store.read_shown(read)
    return published.counts(selected).tally.to_json(indent=2)


def about_file(store: Store, name: str, question: str) -> str:
    """Return the design or the ladder of a question as a file.

    Raises:
        InvalidRequest: there is no such question.
    """
    return store.survey(name).survey.question(question).fielded.to_json(indent=2)


def _survey_line(questions: Sequence[ShownQuestion]) -> SurveyLine:
    entry = questions[0].entry
    survey = entry.survey
    return SurveyLine(
        survey.name,
        survey.texts[survey.language].title,
        entry.state,
        survey.pilot,
        len(survey.questions),
        max(question.everybody.tally.respondents for question in questions),
        survey.opens,
        survey.closes,
    )


def _question_line(shown: ShownQuestion) -> QuestionLine:
    question = shown.question
    result, why = _results(shown, None)
    return QuestionLine(
        name=question.name,
        text=_text(shown),
        respondents=result.respondents if result else 0,
        epsilon=question.designs[-1].epsilon,
        stages=question.stages,
        sentence=result.sentence if result else why,
        warnings=len(result.signals) if result else 0,
    )


def _results(shown: ShownQuestion, group: int | None) -> tuple[Results | None, str]:
    try:
        return results.read(shown, group), ""
    except (NotAllowed, NotEstimable) as error:
        return None, capital(error.problem)


def _text(shown: ShownQuestion) -> str:
    return shown.question.texts[shown.language].text


def to_csv(page: Page) -> str:
    """Return the facts of a page as CSV. A text that a spreadsheet would take for a formula is written as text."""
    out = io.StringIO()
    writer = csv.writer(out)
    for row in page.rows():
        writer.writerow(["" if cell is None else safe_cell(cell) for cell in row])
    return out.getvalue()


def _result_rows(
    group: str, result: Results | GroupResult
) -> Iterator[Sequence[Any]]:
    """Yield a row for each number and each category."""
    for row in result.numbers:
        name, *numbers = astuple(row)
        yield [group, result.respondents, name, name, *numbers]
    for share in result.shares:
        name, *numbers = astuple(share.row)
        bounds = chain.from_iterable(share.fakes)
        yield [group, result.respondents, name, share.label, *numbers, *bounds]


def _overview(request: Request, store: Store) -> Page:
    return overview(store, request.state.token)


def _survey(request: Request, store: Store) -> Page:
    return survey_page(store, request.path_params["name"])


def _question(request: Request, store: Store) -> Page:
    parts = request.path_params
    return question_page(
        store,
        parts["name"],
        parts["question"],
        request.query_params.get("group", ""),
    )


def _plan(request: Request, store: Store) -> Page:  # noqa: ARG001 - as the others
    return plan_page(request.query_params)


FORMS: dict[str, tuple[Callable[[Page], str | bytes], str]] = {
    ".json": (lambda page: msgspec.json.encode(page.facts), "application/json"),
    ".csv": (to_csv, "text/csv; charset=utf-8"),
    "": (lambda page: render(page), "text/html"),  # noqa: PLW0108 - looked up when it is called
}
"""How a page is told, by the ending of its address, and of which media type that is."""


def _handler(build: Build, ending: str) -> Callable[[Request], Awaitable[Response]]:
    write, media_type = FORMS[ending]

    async def handle(request: Request) -> Response:
        store = Collector.from_request(request).store
        # Reading and rendering, both.
        text = await asyncio.to_thread(lambda: write(build(request, store)))
        return Response(text, media_type=media_type)

    return handle


async def _figure(request: Request) -> Response:
    """Return the picture of a question, to be put into a report."""
    store, parts = Collector.from_request(request).store, request.path_params
    group = request.query_params.get("group", "")
    text = await asyncio.to_thread(
        figure_file, store, parts["name"], parts["question"], group
    )
    headers = {
        "Content-Disposition": f'attachment; filename="{parts["question"]}.svg"'
    }
    return Response(text, media_type="image/svg+xml", headers=headers)


async def _file(request: Request) -> Response:
    """Return the design, the ladder or the counts of a question, to be read by the command line."""
    store, parts = Collector.from_request(request).store, request.path_params
    name, question, kind = parts["name"], parts["question"], parts["kind"]
    if kind == "tally":
        group = request.query_params.get("group", "")
        text = await asyncio.to_thread(tally_file, store, name, question, group)
    elif kind in {"design", "ladder"}:
        text = await asyncio.to_thread(about_file, store, name, question)
    else:
        raise Refused(
            404,
            "there is no such file; expected design.json, ladder.json or tally.json.",
        )
    headers = {
        "Content-Disposition": f'attachment; filename="{question}-{kind}.json"'
    }
    return Response(text, media_type="application/json", headers=headers)


async def _to_overview(_: Request) -> Response:
    return RedirectResponse("/a", 308)


_PAGES: tuple[tuple[str, Build], ...] = (
    ("/a", _overview),
    ("/a/plan", _plan),
    ("/a/{name}", _survey),
    ("/a/{name}/{question}", _question),
)

routes = [
    # People type the slash; this address holds nothing to be repeated.
    Route("/a/", _to_overview),
    *(
        Route(path + ending, _handler(build, ending))
        for path, build in _PAGES
        for ending in FORMS
    ),
    Route("/a/{name}/{question}/figure.svg", _figure),
    Route("/a/{name}/{question}/{kind}.json", _file),
]

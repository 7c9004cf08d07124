"""What the analyst's pages show: facts for programs, and frozen contexts that add pictures and words for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import ClassVar

from deniable.collector import planner, results, shown
from deniable.collector.charts import Days, Shares, days_chart, shares_chart
from deniable.collector.results import Group, Results
from deniable.collector.signals import capital
from deniable.collector.store import Entry, Store, Token
from deniable.errors import NotAllowed, NotEstimable
from deniable.survey import Question


@dataclass(frozen=True, slots=True)
class SurveyLine:
    """A survey in the overview; `responses` are those to its question with the most."""

    name: str
    title: str
    state: str
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
    """The results of a question; `results` are missing, and `why` says the reason, where nothing is shown."""

    survey: str
    question: str
    text: str
    group: str
    results: Results | None
    why: str
    groups: tuple[Group, ...]
    hidden: tuple[str, ...]
    days: tuple[tuple[date, int], ...]


@dataclass(frozen=True, slots=True)
class OverviewPage:
    """All surveys that a token may see."""

    TEMPLATE: ClassVar[str] = "analyst/overview.html"
    facts: tuple[SurveyLine, ...]


@dataclass(frozen=True, slots=True)
class SurveyPage:
    """One survey."""

    TEMPLATE: ClassVar[str] = "analyst/survey.html"
    facts: SurveyFacts


@dataclass(frozen=True, slots=True)
class QuestionPage:
    """One question, with its pictures."""

    TEMPLATE: ClassVar[str] = "analyst/question.html"
    facts: QuestionFacts
    title: str
    chart: Shares | None
    days: Days | None
    about: str
    fakes: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class PlanPage:
    """The planner."""

    TEMPLATE: ClassVar[str] = "analyst/plan.html"
    facts: planner.Plan


def overview(store: Store, token: Token) -> OverviewPage:
    """Return the overview for whoever holds a token: all surveys, or the one that the token is for."""
    entries = [entry for entry in store.surveys() if token.survey in ("", entry.survey.name)]
    return OverviewPage(tuple(_survey_line(store, entry) for entry in entries))


def survey_page(store: Store, name: str) -> SurveyPage:
    """Return the page of a survey.

    Raises:
        NoSuchSurvey: there is none of this name.
    """
    entry = store.survey(name)
    survey = entry.survey
    invited = store.invitations(name) if survey.admission == "invitation" else (0, 0)
    facts = SurveyFacts(
        name=name,
        title=survey.texts[survey.language].title,
        state=entry.state,
        survey=survey.hash,
        admission=survey.admission,
        invited=invited[0],
        invitations_used=invited[1],
        minimum=survey.minimum,
        opens=survey.opens,
        closes=survey.closes,
        questions=tuple(_question_line(store, entry, number) for number in range(len(survey.questions))),
    )
    return SurveyPage(facts)


def question_page(store: Store, name: str, question: str, group: str = "") -> QuestionPage:
    """Return the page of a question, of everybody or of one group.

    Raises:
        NoSuchSurvey: there is no survey of this name.
        InvalidRequest: there is no such question or group.
    """
    entry = store.survey(name)
    survey, number = entry.survey, entry.survey.number(question)
    asked = survey.questions[number]
    found, why = _results(store, entry, number, survey.group(group) if group else None)
    seen = results.groups(store, entry, number)
    facts = QuestionFacts(
        survey=name,
        question=question,
        text=_text(entry, asked),
        group=group,
        results=found,
        why=why,
        groups=seen,
        hidden=tuple(each for each in survey.groups if each not in {one.name for one in seen}),
        days=results.days(store, entry, number),
    )
    chart = None
    if found:
        chart = shares_chart([each.row for each in found.shares], [each.label for each in found.shares])
    about = "ladder" if asked.ladder else "design"
    title = survey.texts[survey.language].title
    return QuestionPage(facts, title, chart, days_chart(facts.days), about, results.FAKES)


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
    entry = store.survey(name)
    number = entry.survey.group(group) if group else None
    return shown.counted(store, entry, entry.survey.number(question), number).to_json(indent=2)


def about_file(store: Store, name: str, question: str) -> str:
    """Return the design or the ladder of a question as a file.

    Raises:
        InvalidRequest: there is no such question.
    """
    return store.survey(name).survey.question(question).about.to_json(indent=2)


def _survey_line(store: Store, entry: Entry) -> SurveyLine:
    survey = entry.survey
    counts = [store.tallies(entry.id, number).respondents for number in range(len(survey.questions))]
    return SurveyLine(
        survey.name,
        survey.texts[survey.language].title,
        entry.state,
        len(survey.questions),
        max(counts),
        survey.opens,
        survey.closes,
    )


def _question_line(store: Store, entry: Entry, number: int) -> QuestionLine:
    asked = entry.survey.questions[number]
    found, why = _results(store, entry, number, None)
    return QuestionLine(
        name=asked.name,
        text=_text(entry, asked),
        respondents=found.respondents if found else store.tallies(entry.id, number).respondents,
        epsilon=asked.designs[-1].epsilon,
        stages=asked.stages,
        sentence=found.sentence if found else why,
        warnings=len(found.signals) if found else 0,
    )


def _results(store: Store, entry: Entry, number: int, group: int | None) -> tuple[Results | None, str]:
    try:
        return results.read(store, entry, number, group), ""
    except (NotAllowed, NotEstimable) as error:
        return None, capital(error.problem)


def _text(entry: Entry, asked: Question) -> str:
    return asked.texts[entry.survey.language].text

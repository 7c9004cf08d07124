"""The results of a question, as every page and program is told them; nothing below the survey's minimum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from deniable.audit import swing
from deniable.collector import shown, signals
from deniable.collector.signals import Signal
from deniable.collector.store import Entry, Store
from deniable.errors import NotEstimable
from deniable.estimates import Estimate, Interval, Row, Summary, stages
from deniable.estimates.plausible import RATE
from deniable.estimates.shares import fitted
from deniable.estimates.stages import Combined, combine
from deniable.report import words
from deniable.report import words as sentence
from deniable.survey import Question
from deniable.tallies import Tally
from deniable.tallies.stages import StageTallies

LEVEL = 0.95
FAKES = (0.01, 0.05)
"""Shares of fabricated responses for which it is told how far they can have moved an estimate."""


@dataclass(frozen=True, slots=True)
class Share:
    """One category: its row in the summary, what it is called, and where it lies if some responses are made up."""

    label: str
    row: Row
    fakes: tuple[Interval, ...]


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a question that is released gradually.

    Attributes:
        epsilon: what somebody who has sent it has spent in all, on this question.
        seen: how many have sent it.
        finest: how many of them have sent no finer one.
        weight: the part that those make up in the estimate.
    """

    epsilon: float
    seen: int
    finest: int
    weight: float


@dataclass(frozen=True, slots=True)
class Results:
    """What the responses to a question tell, of everybody or of one group.

    Attributes:
        respondents: how many there are.
        level: of the intervals.
        method: how the shares were estimated.
        epsilon: the most that a respondent has spent.
        sentence: the result in a sentence.
        shares: the result, a category each.
        notes: what has to be known to read it; the cost of privacy first.
        protection: what a response reveals at most, in words.
        device: what people send, answer by answer, at the finest stage.
        signals: what looks wrong.
        stages: of a question that is released gradually.
    """

    respondents: int
    level: float
    method: str
    epsilon: float
    sentence: str
    shares: tuple[Share, ...]
    notes: tuple[str, ...]
    protection: tuple[str, ...]
    device: tuple[str, ...]
    signals: tuple[Signal, ...]
    stages: tuple[Stage, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A group, with its sentence and shares if it may be shown."""

    name: str
    respondents: int
    sentence: str
    shares: tuple[Share, ...]


def read(store: Store, entry: Entry, question: int, group: int | None = None) -> Results:
    """Return the results of a question.

    Raises:
        NotAllowed: too few responses, or a group that is hidden.
    """
    counts = shown.counted(store, entry, question, group)
    asked, made = entry.survey.questions[question], _estimated(counts)
    summary = made.summary(level=LEVEL)
    shares = _shares(asked, entry.survey.language, summary, made)
    return Results(
        respondents=summary.respondents,
        level=LEVEL,
        method=summary.method,
        epsilon=summary.epsilon,
        sentence=_sentence(shares),
        shares=shares,
        notes=tuple(note for note in summary.notes if not note.startswith("Warning: ")),
        protection=_protection(asked),
        device=(*words.frequencies(asked.designs[-1]), *words.odds(asked.designs[-1])),
        signals=(*signals.fabricated(store, entry, question, counts, group), *_compliance(made)),
        stages=_stages(made),
    )


def groups(store: Store, entry: Entry, question: int) -> tuple[Group, ...]:
    """Return the groups that may be shown and can be estimated; the others are left out."""
    asked, found = entry.survey.questions[question], []
    for number in shown.groups(store, entry, question):
        try:
            made = _estimated(store.tallies(entry.id, question, number))
        except NotEstimable:
            continue
        shares = _shares(asked, entry.survey.language, made.summary(level=LEVEL), made)
        found.append(Group(entry.survey.groups[number], _counts(made).respondents, _sentence(shares), shares))
    return tuple(found)


def days(store: Store, entry: Entry, question: int) -> tuple[tuple[date, int], ...]:
    """Return how many responses came on each day."""
    return tuple(store.days(entry.id, question))


def _estimated(counts: Tally | StageTallies) -> Estimate | Combined:
    return combine(counts) if isinstance(counts, StageTallies) else fitted(counts)


def _counts(made: Estimate | Combined) -> Tally | StageTallies:
    return made.tallies if isinstance(made, Combined) else made.tally


def _shares(asked: Question, language: str, summary: Summary, made: Estimate | Combined) -> tuple[Share, ...]:
    subject = made if isinstance(made, Combined) else made.tally
    try:
        moved = [swing(subject, share) for share in FAKES]
    except NotEstimable:  # a design for which the bound is not known
        moved = []
    rows = enumerate(zip(asked.labels(language), summary.rows, strict=True))
    return tuple(Share(label, row, tuple(ends[j] for ends in moved)) for j, (label, row) in rows)


def _sentence(shares: Sequence[Share]) -> str:
    """Tell about "yes" where the answers are no and yes, and otherwise about the answer that most people give."""
    told = shares[1] if len(shares) == 2 else max(shares, key=lambda each: each.row.value)
    return sentence.about(told.row, told.label)


def _protection(asked: Question) -> tuple[str, ...]:
    last = asked.designs[-1]
    caveat = (last.caveat,) if last.caveat else ()
    if asked.ladder is None:
        return (*words.promise(last), *caveat)
    each = [f"Up to stage {number}: {words.promise(design)[0]}" for number, design in enumerate(asked.designs, 1)]
    return (*each, "All stages together reveal what the finest one reveals, and no more.", *caveat)


def _compliance(made: Estimate | Combined) -> tuple[Signal, ...]:
    if isinstance(made, Estimate):
        return tuple(Signal("compliance", signals.capital(text), RATE) for text in made.warnings)
    told = [note.removeprefix("Warning: ") for note in made.summary(level=LEVEL).notes if note.startswith("Warning: ")]
    return tuple(Signal("compliance", signals.capital(text), stages.RATE) for text in told)


def _stages(made: Estimate | Combined) -> tuple[Stage, ...]:
    if isinstance(made, Estimate):
        return ()
    counts = made.tallies
    rows = zip(counts.design.epsilons, counts.seen, counts.finest, made.weights, strict=True)
    return tuple(Stage(epsilon, seen.respondents, left.respondents, weight) for epsilon, seen, left, weight in rows)

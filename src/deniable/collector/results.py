"""The results of a question, as pages and programs are told them, and what looks wrong about its responses."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from deniable.attacks import doubts, fabricated, swing
from deniable.collector.small_cells import counts_shown, groups_shown
from deniable.collector.store import Entry, Store
from deniable.designs import NumberDesign
from deniable.errors import InvalidRequest, NotAllowed, NotEstimable
from deniable.estimates import Estimate, Interval, Row, ShareRow, Summary, cross_table, plausible, stages
from deniable.estimates.differences import REST
from deniable.estimates.groups import GroupedEstimate
from deniable.estimates.shares import fitted
from deniable.estimates.stages import Combined, combine
from deniable.report import words
from deniable.survey import Question
from deniable.tallies import Tally, marginal
from deniable.tallies.groups import GroupedTally
from deniable.tallies.stages import StageTallies
from deniable.types.numbers.estimate import NumberEstimate

LEVEL = 0.95
MOST_TABLED = 4
"""Questions answered together of which each two are set against each other: six tables."""

MOST_TABLE_CELLS = 100
"""Cells of a table on a page."""

FAKES = (0.01, 0.05)
"""Shares of fabricated responses for which it is told how far they can have moved an estimate."""


@dataclass(frozen=True, slots=True)
class CategoryResult:
    """One category: its row in the summary, what it is called, and where it lies if some responses are made up."""

    label: str
    row: ShareRow
    fakes: tuple[Interval, ...]


@dataclass(frozen=True, slots=True)
class StageResult:
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
class MarginResult:
    """One of several questions that were answered together, by itself.

    Attributes:
        attribute: what programs call it.
        text: the question.
        labels: what its answers are called.
        rows: the share of each.
    """

    attribute: str
    text: str
    labels: tuple[str, ...]
    rows: tuple[ShareRow, ...]


@dataclass(frozen=True, slots=True)
class PairResult:
    """Two questions that were answered together, against each other.

    Attributes:
        rows: the place of the one that goes down among the margins.
        columns: the place of the one that goes across.
        cells: the share of each pair of answers, row by row.
        notes: whether they are independent, and how they hang together.
    """

    rows: int
    columns: int
    cells: tuple[tuple[Row, ...], ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Signal:
    """A warning.

    Attributes:
        kind: "fabricated" for counts that no population gives through the device, "compliance" for shares below
            nobody or stages that differ.
        text: what was seen.
        rate: how often such a warning comes although all is well, at most.
    """

    kind: str
    text: str
    rate: float


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
        numbers: where a number is asked for: its mean, deviation and quantiles; `shares` are then those of its levels.
        margins: of several questions that were answered together: each by itself.
        pairs: each two of them against each other.
    """

    respondents: int
    level: float
    method: str
    epsilon: float
    sentence: str
    shares: tuple[CategoryResult, ...]
    notes: tuple[str, ...]
    protection: tuple[str, ...]
    device: tuple[str, ...]
    signals: tuple[Signal, ...]
    stages: tuple[StageResult, ...]
    numbers: tuple[Row, ...] = ()
    margins: tuple[MarginResult, ...] = ()
    pairs: tuple[PairResult, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupResult:
    """A group, with its sentence, shares and numbers if it may be shown."""

    name: str
    respondents: int
    sentence: str
    shares: tuple[CategoryResult, ...]
    numbers: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True)
class ShareDifference:
    """By how much the share of a category is larger than in another arm: with its standard error and interval."""

    label: str
    value: float
    error: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ArmResult:
    """A question beside one that asks the same of other people.

    Attributes:
        question: the other one.
        design: what it is called; "direct" where answers are sent as they are.
        respondents: of the other one.
        differences: this question less the other one, a category each; empty where one of the two is not shown yet.
    """

    question: str
    design: str
    respondents: int
    differences: tuple[ShareDifference, ...]


def read(store: Store, entry: Entry, question: int, group: int | None = None) -> Results:
    """Return the results of a question.

    Raises:
        NotAllowed: too few responses, or a group that is hidden.
    """
    counts = counts_shown(store, entry, question, group)
    asked, estimate = entry.survey.questions[question], _estimated(counts)
    summary = estimate.summary(level=LEVEL)
    shares = _shares(asked, entry.survey.language, summary, estimate)
    numbers = _numbers(estimate)
    return Results(
        respondents=summary.respondents,
        level=LEVEL,
        method=summary.method,
        epsilon=summary.epsilon,
        sentence=_sentence(shares, numbers, asked.check),
        shares=shares,
        notes=numbers.notes if numbers else summary.notes,
        protection=_protection(asked),
        device=(*words.frequencies(asked.designs[-1]), *words.odds(asked.designs[-1])),
        signals=(*_fabricated(store, entry, question, counts, group), *_compliance(estimate)),
        stages=_stages(estimate),
        numbers=numbers.rows if numbers else (),
        margins=_margins(asked, entry.survey.language, estimate),
        pairs=_pairs(estimate),
    )


def groups(store: Store, entry: Entry, question: int) -> tuple[GroupResult, ...]:
    """Return the groups that may be shown and can be estimated; the others are left out."""
    asked, results = entry.survey.questions[question], []
    for number in groups_shown(store, entry, question):
        try:
            estimate = _estimated(store.tallies(entry.id, question, number, shown=True))
        except NotEstimable:
            continue
        shares = _shares(asked, entry.survey.language, estimate.summary(level=LEVEL), estimate)
        numbers = _numbers(estimate)
        results.append(
            GroupResult(
                entry.survey.groups[number],
                _counts(estimate).respondents,
                _sentence(shares, numbers, asked.check),
                shares,
                numbers.rows if numbers else (),
            )
        )
    return tuple(results)


def compared(store: Store, entry: Entry, question: int) -> tuple[str, ...]:
    """Return whether the groups that are shown differ, and which of them differ from the rest; nothing for one group.

    Each is told of shares, with p-values adjusted for the number of groups. Hidden groups are in none of it.
    """
    asked = entry.survey.questions[question]
    tallies = {
        entry.survey.groups[number]: store.tallies(entry.id, question, number, shown=True)
        for number in groups_shown(store, entry, question)
    }
    if len(tallies) < 2 or asked.ladder or isinstance(asked.design, NumberDesign):
        return ()
    try:
        found = GroupedEstimate(GroupedTally(asked.design, tallies))
        apart = found.against_rest()
    except (NotEstimable, InvalidRequest):
        return ()
    labels = asked.labels(entry.survey.language)
    told = [f"{found.homogeneity()}."]
    for name, value in apart.params.items():
        if apart.adjusted[name] <= 1 - LEVEL:
            group, _, category = name.partition(f" − {REST} · ")
            low, high = apart.interval(name, level=LEVEL)
            label = labels[asked.design.category_number(category)]
            told.append(
                f"{group}, {label}: {_points(value, '+')} points against the other groups "
                f"({_points(low)} … {_points(high)}; adjusted p = {apart.adjusted[name]:.2g})."
            )
    return tuple(told)


def _points(share: float, sign: str = "") -> str:
    return f"{100 * share:{sign}.1f}".replace("-", "−")


def comparisons(store: Store, entry: Entry, question: int) -> tuple[ArmResult, ...]:
    """Compare a question with those that ask the same of other people, by what is shown of each."""
    survey = entry.survey
    asked = survey.questions[question]
    others = [each for each in survey.questions if each.name == asked.compare or each.compare == asked.name]
    return tuple(_compared(store, entry, question, survey.number(other.name)) for other in others)


def _compared(store: Store, entry: Entry, question: int, number: int) -> ArmResult:
    asked, other = (entry.survey.questions[each] for each in (question, number))
    try:
        own, beside = (_estimated(counts_shown(store, entry, each)) for each in (question, number))
    except (NotAllowed, NotEstimable):
        return ArmResult(other.name, other.design.name, 0, ())
    found = []
    for category, label in zip(asked.design.categories, asked.labels(entry.survey.language), strict=True):
        more = own.contrast({category: 1.0}) - beside.contrast({category: 1.0})
        found.append(ShareDifference(label, more.value, more.error, *more.interval(level=LEVEL)))
    return ArmResult(other.name, other.design.name, _counts(beside).respondents, tuple(found))


def days(store: Store, entry: Entry, question: int) -> tuple[tuple[date, int], ...]:
    """Return how many responses came on each day that has ended."""
    return tuple((day, count) for day, count in store.days(entry.id, question) if day < store.today())


def _estimated(counts: Tally | StageTallies) -> Estimate | Combined:
    return combine(counts) if isinstance(counts, StageTallies) else fitted(counts)


def _counts(estimate: Estimate | Combined) -> Tally | StageTallies:
    return estimate.tallies if isinstance(estimate, Combined) else estimate.tally


def _shares(
    asked: Question, language: str, summary: Summary[ShareRow], estimate: Estimate | Combined
) -> tuple[CategoryResult, ...]:
    subject = estimate if isinstance(estimate, Combined) else estimate.tally
    try:
        moved = [swing(subject, share) for share in FAKES]
    except NotEstimable:  # a design for which the bound is not known
        moved = []
    rows = enumerate(zip(asked.labels(language), summary.rows, strict=True))
    return tuple(CategoryResult(label, row, tuple(ends[j] for ends in moved)) for j, (label, row) in rows)


def _numbers(estimate: Estimate | Combined) -> Summary[Row] | None:
    """Return mean, deviation and quantiles where the categories are levels of a number."""
    if isinstance(estimate, Combined) or not isinstance(estimate.design, NumberDesign):
        return None
    return NumberEstimate(estimate).summary(level=LEVEL)


def _margins(asked: Question, language: str, estimate: Estimate | Combined) -> tuple[MarginResult, ...]:
    """Return each of several questions that were answered together by itself, with its own words if it has any."""
    if isinstance(estimate, Combined) or not estimate.design.factors:
        return ()
    texts = asked.texts[language].parts
    labels = asked.part_labels(language) if texts else [tuple(each.categories) for _, each in estimate.design.factors]
    return tuple(
        MarginResult(
            attribute,
            texts[at].text if texts else attribute,
            labels[at],
            fitted(marginal(estimate.tally, attribute)).summary(level=LEVEL).rows,
        )
        for at, attribute in enumerate(estimate.design.attributes)
    )


def _pairs(estimate: Estimate | Combined) -> tuple[PairResult, ...]:
    """Return the table of each two of several questions; of very many, or with very many cells, none."""
    if isinstance(estimate, Combined) or len(estimate.design.factors) > MOST_TABLED:
        return ()
    found, names = [], estimate.design.attributes
    for rows, columns in itertools.combinations(range(len(names)), 2):
        table = cross_table(estimate.tally, rows=names[rows], columns=names[columns])
        if table.shares.size > MOST_TABLE_CELLS:
            continue
        told = table.summary(level=LEVEL)
        width = table.shares.shape[1]
        cells = [told.rows[at : at + width] for at in range(0, len(told.rows), width)]
        found.append(PairResult(rows, columns, tuple(cells), table.association_words(level=LEVEL)))
    return tuple(found)


def _sentence(shares: Sequence[CategoryResult], numbers: Summary[Row] | None, check: str = "") -> str:
    """Tell the mean of a number, or who got a check right; else about "yes", or the answer that most people give."""
    if numbers:
        return words.about_mean(numbers.rows[0])
    if check:
        right = next(share for share in shares if share.row.name == check)
        told = words.about(right.row, right.label)
        return f"The right answer: {told[:1].lower()}{told[1:]}"
    chosen = shares[1] if len(shares) == 2 else max(shares, key=lambda share: share.row.estimate)
    return words.about(chosen.row, chosen.label)


def _protection(asked: Question) -> tuple[str, ...]:
    last = asked.designs[-1]
    caveat = (last.caveat,) if last.caveat else ()
    if asked.ladder is None:
        return (*words.promise(last), *caveat)
    promises = [f"Up to stage {number}: {words.promise(design)[0]}" for number, design in enumerate(asked.designs, 1)]
    return (*promises, "All stages together reveal what the finest one reveals, and no more.", *caveat)


def _compliance(estimate: Estimate | Combined) -> tuple[Signal, ...]:
    rate = plausible.RATE if isinstance(estimate, Estimate) else stages.RATE
    return tuple(
        Signal("compliance", capital(doubt.text), rate)
        for doubt in estimate.warnings
        if doubt.code in (plausible.IMPLAUSIBLE, stages.DIFFER)
    )


def _stages(estimate: Estimate | Combined) -> tuple[StageResult, ...]:
    if isinstance(estimate, Estimate):
        return ()
    counts = estimate.tallies
    rows = zip(counts.design.epsilons, counts.seen, counts.finest, estimate.weights, strict=True)
    return tuple(
        StageResult(epsilon, seen.respondents, left.respondents, weight) for epsilon, seen, left, weight in rows
    )


def _fabricated(
    store: Store, entry: Entry, question: int, counts: Tally | StageTallies, group: int | None
) -> tuple[Signal, ...]:
    """Return what looks fabricated, stage by stage; all stages together keep the rate of false alarms."""
    tallies = counts.seen if isinstance(counts, StageTallies) else (counts,)
    signals = []
    for stage, tally in enumerate(tallies):
        shapes = store.shapes(entry.id, question, stage, group, shown=True)
        sizes = {int(ones): int(shapes[ones]) for ones in np.flatnonzero(shapes)} or None
        where = f"Stage {stage + 1}: " if len(tallies) > 1 else ""
        signals += [
            Signal("fabricated", f"{where}{capital(doubt.what)}", fabricated.RATE)
            for doubt in doubts(tally, sizes=sizes, rate=fabricated.RATE / len(tallies))
        ]
    return tuple(signals)


def capital(text: str) -> str:
    """Return a text that begins with a capital letter.

    Example:
        >>> capital("a set of 3 was sent")
        'A set of 3 was sent'
    """
    return text[:1].upper() + text[1:]

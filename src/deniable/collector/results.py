"""The results of a question, as pages and programs are told them, and what looks wrong about its responses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, repeat
from typing import Any, NamedTuple, cast

import numpy as np

from deniable.attacks import doubts, fabricated, swing
from deniable.collector.store import ShownCounts, ShownQuestion
from deniable.designs import Design, FieldedDesign
from deniable.display import privacy_texts
from deniable.errors import InvalidRequest, NotAllowed, NotEstimable
from deniable.estimates import (
    Estimate,
    Interval,
    Row,
    ShareRow,
    Summary,
    cross_table,
    diagnostics,
    stages,
)
from deniable.estimates.differences import REST
from deniable.estimates.results import IntervalRequest
from deniable.estimates.shares import fitted
from deniable.estimates.stages import StageEvidence
from deniable.groups.estimates import GroupedEstimate
from deniable.groups.tallies import GroupedTally
from deniable.order.ladders import Ladder
from deniable.rendering import formats
from deniable.rendering.statements import state
from deniable.report import result_texts
from deniable.survey import Question, Survey
from deniable.tallies import Tally, marginal
from deniable.tallies.stages import StageTallies
from deniable.types import find_operation, operation

LEVEL = 0.95
_CACHED_DESIGNS = 256  # whose sentences are kept: they do not change

MAX_TABLED = 4
"""Questions answered together of which each two are set against each other: six tables."""

MAX_TABLE_CELLS = 100
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
        table: where a response is about several items, or a text: the heads and the rows of a table, in words.
        looks: why the intervals are wider than those of one look; empty when the survey takes no more responses.
        shell_options: of `deniable estimate`, for the same intervals.
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
    table: tuple[tuple[str, ...], ...] = ()
    looks: str = ""
    shell_options: str = ""


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


LIVE = "Intervals for one look are shown when the survey is closed."
"""When always-valid intervals give way to narrower ones."""


def request_intervals(shown: ShownQuestion) -> IntervalRequest:
    """Return which intervals are shown: always-valid ones while responses come, those of one look when all came.

    Why: a live page is looked at again and again, and a survey may be closed because of what it shows. The number of
    responses for which these are tuned is a part of the survey's definition, never of its data.
    """
    planned = shown.entry.survey.planned
    if shown.is_over:
        return IntervalRequest(LEVEL)
    return IntervalRequest(LEVEL, always=True, planned=planned)


def read(shown: ShownQuestion, group: int | None = None) -> Results:
    """Return the results of a question.

    Raises:
        NotAllowed: too few responses, or a group that is hidden.
    """
    counts = shown.counts(group)
    fielded = shown.question.fielded
    if isinstance(fielded, FieldedDesign):
        return _read_typed(shown, counts.tally, fielded)
    estimate = _Estimated.from_tally(shown, counts.tally)
    sentences = _design_sentences(fielded)
    joint = cast(Tally, counts.tally) if getattr(fielded, "factors", ()) else None
    request = request_intervals(shown)
    shares, summary, numbers = estimate.shares, estimate.summary, estimate.numbers
    return Results(
        respondents=summary.respondents,
        level=LEVEL,
        method=summary.method,
        epsilon=summary.epsilon,
        sentence=estimate.sentence,
        shares=estimate.categories,
        notes=tuple(
            note for note in (numbers or summary).notes if note not in request.notes
        ),
        protection=sentences.protection,
        device=sentences.device,
        signals=(*_fabrication_signals(counts), *_compliance_signals(shares)),
        stages=_stages(cast(Estimate[StageEvidence], shares))
        if shown.is_staged
        else (),
        numbers=numbers.rows if numbers else (),
        margins=() if joint is None else _margins(shown, joint),
        pairs=() if joint is None else _pairs(joint, request),
        looks=" ".join((*request.notes, LIVE)) if request.always else "",
        shell_options=f" --always --planned {request.tuning}"
        if request.always
        else "",
    )


def _read_typed(
    shown: ShownQuestion, tally: object, fielded: FieldedDesign
) -> Results:
    """Return the results of a question whose responses are about several items, or about a text."""
    request = request_intervals(shown)
    summary = _summarize(shown, tally)
    heads, rows = summary.table(percent=True)
    called = _row_names(shown, fielded)
    return Results(
        respondents=summary.respondents,
        level=LEVEL,
        method=summary.method,
        epsilon=summary.epsilon,
        sentence=_typed_sentence(shown, summary, called),
        shares=(),
        notes=tuple(note for note in summary.notes if note not in request.notes),
        protection=_typed_protection(fielded),
        device=(),
        signals=(),
        stages=(),
        numbers=_numbers(summary),
        table=(
            tuple(heads),
            *(
                (called(row.name), *cells[1:])
                for row, cells in zip(summary.rows, rows, strict=False)
            ),
        ),
        looks=" ".join((*request.notes, LIVE)) if request.always else "",
        shell_options=f" --always --planned {request.tuning}"
        if request.always
        else "",
    )


def _typed_protection(fielded: FieldedDesign) -> tuple[str, ...]:
    privacy_text = find_operation(fielded.about, "privacy_text")
    if privacy_text:
        return tuple(privacy_text(fielded.about))
    if fielded.parity == math.inf:
        return ("Some responses prove something about an answer.",)
    return privacy_texts.promise(fielded)


def _summarize(shown: ShownQuestion, tally: object) -> Summary[Row]:
    question = shown.question
    known = [
        label for texts in question.texts.values() for label in texts.labels
    ]  # of a text that is entered
    fit = find_operation(question.about, "fitted") or operation(
        question.about, "estimate"
    )
    try:
        estimate = fit(tally, list(dict.fromkeys(known))) if known else fit(tally)
        summary: Summary[Row] = estimate.summary(
            **request_intervals(shown)._asdict()
        )
    except InvalidRequest as error:  # without candidates, or for a second look
        raise NotEstimable(error.problem, error.hint) from None
    return summary


def _numbers(summary: Summary[Row]) -> tuple[Row, ...]:
    return tuple(
        Row(row.name, row.estimate, row.error, row.low, row.high)
        for row in summary.rows
    )


def _row_names(shown: ShownQuestion, fielded: FieldedDesign) -> Callable[[str], str]:
    """Return what tells the name of a row in the words of the survey: an item, or an item with one of its answers."""
    texts = [part.text for part in shown.question.texts[shown.language].parts]
    words = dict(zip(fielded.attributes, texts, strict=False))

    def called(name: str) -> str:
        item, mark, rest = name.rpartition(": ")
        return words.get(name, f"{words.get(item, item)}{mark}{rest}")

    return called


def _typed_sentence(
    shown: ShownQuestion, summary: Summary[Row], called: Callable[[str], str]
) -> str:
    """Tell the largest share; of what is ticked in a list the largest share of those who did."""
    rows = [
        row
        for row in summary.rows
        if not (shown.question.ticked and row.name.endswith(": no"))
    ]
    if not rows or summary.quantity not in ("share", "frequency"):
        return f"{summary.title}."
    largest = max(rows, key=lambda row: row.estimate)
    return result_texts.about(largest, called(largest.name))


def groups(shown: ShownQuestion) -> tuple[GroupResult, ...]:
    """Return the groups that may be shown and can be estimated; the others are left out."""
    results = []
    for number, counts in shown.groups.items():
        with suppress(NotEstimable):
            name = shown.entry.survey.groups[number]
            results.append(_group_result(shown, name, counts.tally))
    return tuple(results)


def _group_result(shown: ShownQuestion, name: str, tally: Any) -> GroupResult:
    fielded = shown.question.fielded
    if isinstance(fielded, FieldedDesign):
        summary = _summarize(shown, tally)
        sentence = _typed_sentence(shown, summary, _row_names(shown, fielded))
        return GroupResult(name, tally.respondents, sentence, (), _numbers(summary))
    estimate = _Estimated.from_tally(shown, tally)
    return GroupResult(
        name=name,
        respondents=tally.respondents,
        sentence=estimate.sentence,
        shares=estimate.categories,
        numbers=estimate.numbers.rows if estimate.numbers else (),
    )


class _Estimated(NamedTuple):
    """The estimate of a question, from the counts of everybody or of one group.

    Attributes:
        shares: of the categories; doubts about the responses are among its warnings.
        summary: of the shares.
        numbers: mean, deviation and quantiles where the categories are levels of a number; else None.
        categories: the result, a category each.
        sentence: the result in a sentence.
    """

    shares: Estimate[Any]
    summary: Summary[ShareRow]
    numbers: Summary[Row] | None
    categories: tuple[CategoryResult, ...]
    sentence: str

    @classmethod
    def from_tally(
        cls, shown: ShownQuestion, tally: Tally | StageTallies
    ) -> _Estimated:
        """Estimate the shares of the categories, and what follows from them."""
        question = shown.question
        shares = _estimate(question, tally)
        options = request_intervals(shown)._asdict()
        summary = shares.summary(**options)
        about_numbers = find_operation(question.about, "NumberEstimate")
        numbers = about_numbers(shares).summary(**options) if about_numbers else None
        categories = _share_results(shown, summary, shares)
        sentence = _sentence(categories, numbers, question.right)
        return cls(shares, summary, numbers, categories, sentence)


def compared(shown: ShownQuestion) -> tuple[str, ...]:
    """Return whether the groups that are shown differ, and which of them differ from the rest; nothing for one group.

    Each is told of shares, with p-values adjusted for the number of groups. Hidden groups are in none of it. While
    responses come there are no p-values, which are of one look: a group differs where all always-valid intervals
    together say so.
    """
    question, survey = shown.question, shown.entry.survey
    tallies = {
        survey.groups[number]: counts.tally
        for number, counts in shown.groups.items()
    }
    if (
        len(tallies) < 2
        or shown.is_staged
        or isinstance(question.fielded, FieldedDesign)
        or find_operation(question.about, "NumberEstimate")
    ):
        return ()  # only shares of categories are compared
    try:
        estimates = GroupedEstimate(GroupedTally(question.design, tallies))
        differences = estimates.against_rest()
    except (NotEstimable, InvalidRequest):
        return ()
    labels = question.labels(survey.language)
    request = request_intervals(shown)
    together = request._replace(simultaneous=request.always)
    bounds = differences.conf_int(**together._asdict())
    sentences = [] if request.always else [f"{estimates.homogeneity()}."]
    for name, value in differences.params.items():
        low, high = bounds[name]
        adjusted = differences.adjusted[name]
        stated = state(value, low, high, (-1, 1))
        is_apart = low > 0 or high < 0
        is_sure = is_apart and (request.always or adjusted <= 1 - LEVEL)
        if not is_sure or math.isnan(stated.value):
            continue
        group, _, category = name.partition(f" − {REST} · ")
        label = labels[question.design.category_number(category)]
        p = "" if request.always else f"; adjusted p = {formats.p_value(adjusted)}"
        text = (
            f"{group}, {label}: {_points(stated.value, '+')} points against the other groups "
            f"({_points(stated.low)} … {_points(stated.high)}{p}). {stated.remark('−100', '100')}"
        )
        sentences.append(text.rstrip())
    return tuple(sentences)


def _points(share: float, sign: str = "") -> str:
    return f"{100 * share:{sign}.1f}".replace("-", "−")


def compared_questions(survey: Survey, question: int) -> tuple[int, ...]:
    """Return the indices of the questions that ask the same as one of them, of other people."""
    name, compare = (
        survey.questions[question].name,
        survey.questions[question].compare,
    )
    return tuple(
        number
        for number, candidate in enumerate(survey.questions)
        if candidate.name == compare or candidate.compare == name
    )


def compare_arms(shown: ShownQuestion, compared: ShownQuestion) -> ArmResult:
    """Compare a question with one that asks the same of other people, by what is shown of each."""
    question, labels = compared.question, shown.question.labels(shown.language)
    differences, respondents = [], 0
    with suppress(NotAllowed, NotEstimable):
        first, second = (
            _estimate(arm.question, arm.counts().tally) for arm in (shown, compared)
        )
        respondents = compared.everybody.tally.respondents
        categories = shown.question.design.categories
        for category, label in zip(categories, labels, strict=True):
            weights = {category: 1.0}
            contrast = first.contrast(weights) - second.contrast(weights)
            request = request_intervals(shown)
            bounds = contrast.interval(
                level=LEVEL, always=request.always, planned=request.planned
            )
            differences.append(
                ShareDifference(label, contrast.value, contrast.error, *bounds)
            )
    name = question.design.name
    return ArmResult(question.name, name, respondents, tuple(differences))


def _estimate(question: Question, tally: Tally | StageTallies) -> Estimate[Any]:
    """Return the shares of the categories; doubts about the responses are among its warnings."""
    shares: Estimate[Any] = operation(question.about, "fitted")(tally)
    return shares


def _share_results(
    shown: ShownQuestion, summary: Summary[ShareRow], estimate: Estimate[Any]
) -> tuple[CategoryResult, ...]:
    intervals: list[Sequence[Interval]] = []
    with suppress(NotEstimable):  # a design for which the bound is not known
        if shown.is_staged:
            intervals = [
                swing(cast(Estimate[StageEvidence], estimate), share)
                for share in FAKES
            ]
        else:
            single = cast(Estimate, estimate)
            intervals = [
                swing(single.tally, share, linear=single.basis.linear)
                for share in FAKES
            ]
    fakes = zip(*intervals, strict=True) if intervals else repeat(())
    labels = shown.question.labels(shown.language)
    return tuple(map(CategoryResult, labels, summary.rows, fakes))


def _margins(shown: ShownQuestion, tally: Tally) -> tuple[MarginResult, ...]:
    """Return each of several questions that were answered together by itself, with its own words if it has any."""
    question, language = shown.question, shown.language
    options = request_intervals(shown)._asdict()
    texts = question.texts[language].parts
    attributes = question.design.attributes
    names = [part.text for part in texts] if texts else attributes
    labels = (
        question.part_labels(language)
        if texts
        else [tuple(part.categories) for _, part in tally.design.factors]
    )
    return tuple(
        MarginResult(
            attribute,
            name,
            categories,
            fitted(marginal(tally, attribute)).summary(**options).rows,
        )
        for attribute, name, categories in zip(
            attributes, names, labels, strict=True
        )
    )


def _pairs(tally: Tally, request: IntervalRequest) -> tuple[PairResult, ...]:
    """Return the table of each two of several questions; of very many, or with very many cells, none.

    Whether they are independent is tested when all responses came: a test is of one look.
    """
    names = tally.design.attributes
    if len(names) > MAX_TABLED:
        return ()
    results = []
    for rows, columns in combinations(range(len(names)), 2):
        table = cross_table(tally, rows=names[rows], columns=names[columns])
        if table.shares.size > MAX_TABLE_CELLS:
            continue
        cells = iter(table.summary(**request._asdict()).rows)
        lines = tuple(zip(*[cells] * table.shares.shape[1], strict=True))
        notes = () if request.always else table.association_words(level=LEVEL)
        results.append(PairResult(rows, columns, lines, notes))
    return tuple(results)


def _sentence(
    shares: Sequence[CategoryResult], numbers: Summary[Row] | None, right: str = ""
) -> str:
    """Tell the mean of a number, or who got a check right; else about "yes", or the answer that most people give."""
    if numbers:
        mean = numbers.rows[0]
        return result_texts.about_mean(mean, numbers.possible(mean.name))
    if right:
        share = next(share for share in shares if share.row.name == right)
        sentence = result_texts.about(share.row, share.label)
        return f"The right answer: {sentence[:1].lower()}{sentence[1:]}"
    chosen = (
        shares[1]
        if len(shares) == 2
        else max(shares, key=lambda share: share.row.estimate)
    )
    return result_texts.about(chosen.row, chosen.label)


class _DesignSentences(NamedTuple):
    """What a response reveals at most; and what people send, answer by answer, at the finest stage."""

    protection: tuple[str, ...]
    device: tuple[str, ...]


@lru_cache(maxsize=_CACHED_DESIGNS)
def _design_sentences(about: Design | Ladder) -> _DesignSentences:
    """Describe a design, or the stages of a ladder."""
    designs = getattr(about, "designs", None)
    last: Design = designs[-1] if designs else cast(Design, about)
    caveat = (last.caveat,) if last.caveat else ()
    device = (*privacy_texts.frequencies(last), *privacy_texts.odds(last))
    if not designs:
        return _DesignSentences((*privacy_texts.promise(last), *caveat), device)
    promises = [
        f"Up to stage {number}: {privacy_texts.promise(design)[0]}"
        for number, design in enumerate(designs, 1)
    ]
    together = "All stages together reveal what the finest one reveals, and no more."
    return _DesignSentences((*promises, together, *caveat), device)


def _compliance_signals(estimate: Estimate[Any]) -> tuple[Signal, ...]:
    rates = {diagnostics.IMPLAUSIBLE: diagnostics.RATE, stages.DIFFER: stages.RATE}
    return tuple(
        Signal("compliance", capital(caution.text), rates[caution.code])
        for caution in estimate.warnings
        if caution.code in rates
    )


def _stages(estimate: Estimate[StageEvidence]) -> tuple[StageResult, ...]:
    """Return of each stage its ε, how many were seen at it, for how many it is the finest, and its weight."""
    evidence = estimate.evidence
    seen, finest = (
        [tally.respondents for tally in tallies]
        for tallies in (evidence.tallies.seen, evidence.tallies.finest)
    )
    epsilons = evidence.tallies.design.epsilons
    rows = zip(epsilons, seen, finest, evidence.weights, strict=True)
    return tuple(StageResult(*row) for row in rows)


def _fabrication_signals(counts: ShownCounts) -> tuple[Signal, ...]:
    """Return what looks fabricated, stage by stage; all stages together keep the rate of false alarms."""
    tallies = getattr(counts.tally, "seen", (counts.tally,))
    signals = []
    for stage, (tally, set_sizes) in enumerate(
        zip(tallies, counts.set_sizes, strict=True), 1
    ):
        sizes = {
            int(size): int(set_sizes[size]) for size in np.flatnonzero(set_sizes)
        } or None
        prefix = f"Stage {stage}: " if len(tallies) > 1 else ""
        signals += [
            Signal("fabricated", f"{prefix}{capital(doubt.what)}", fabricated.RATE)
            for doubt in doubts(
                tally, sizes=sizes, rate=fabricated.RATE / len(tallies)
            )
        ]
    return tuple(signals)


def capital(text: str) -> str:
    """Return a text that begins with a capital letter.

    Example:
        >>> capital("a set of 3 was sent")
        'A set of 3 was sent'
    """
    return text[:1].upper() + text[1:]

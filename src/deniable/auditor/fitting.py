"""Goodness of fit: does a mechanism send each response as often as the design says that it claims to be?

Every event whose probability the design knows is counted for every answer: each response, or, of sets too many to list,
each category and each size. For each answer one more event is made of all responses that came up too often on half of
the draws, and counted on the other half: many small differences add up there. Each count has an exact binomial law, and
the rate of false alarms is shared among all of them; nothing rests on large numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from deniable.auditor.features import comparable_form
from deniable.auditor.findings import (
    CONSISTENT,
    FIT,
    VIOLATED,
    CheckContext,
    Finding,
)
from deniable.claims.response_laws import ResponseLaw, Vector
from deniable.designs import Design
from deniable.errors import DeniableError
from deniable.order.ladders import stages_of
from deniable.rendering import formats
from deniable.tallies.responses import Responses
from deniable.types import find_operation, operation

_MAX_ANSWERS = 64  # answers that are counted, the first ones
_CHUNK = 1 << 20


class Stray(NamedTuple):
    """An event that came up too often or too seldom: its tail, and all that a sentence needs."""

    tail: float
    words: str
    answer: int
    seen: float
    claimed: float


def goodness_of_fit(context: CheckContext) -> Finding | None:
    """Compare how often responses come up with what a claimed design says; None without one whose law is at hand.

    Guarantee: a mechanism that draws as the design says is called violated with probability `context.false_alarm` at
    most.
    """
    law = _law(context.claimed)
    if law is None or not context.asks_freely:
        return None
    answers = range(min(len(context.answers), _MAX_ANSWERS))
    half_draws = context.draws // len(answers) // 2
    counts = np.zeros((len(answers), 2, law.probabilities.shape[1]), np.int64)
    for answer, half in itertools.product(answers, (0, 1)):
        event_counts = _count(context, law, answer, half_draws)
        if event_counts is None:
            wrong = "A response was sent that the claimed design never sends."
            return Finding(
                FIT, VIOLATED, wrong, {"draws": half_draws * (2 * answer + half + 1)}
            )
        counts[answer, half] = event_counts
        context.progress(FIT, (answer + 1) / len(answers))
    return _misfit_finding(context, law, counts, half_draws)


def _law(claimed: object) -> ResponseLaw | None:
    """Return the distribution of responses that a design claims; None where it is not at hand."""
    find = find_operation(claimed, "response_law")
    return None if find is None else find(claimed)


def _count(
    context: CheckContext, law: ResponseLaw, answer: int, draws: int
) -> NDArray[np.int64] | None:
    """Return how often each event comes true under an answer; None where something is sent that has no place there."""
    counts = np.zeros(law.probabilities.shape[1], np.int64)
    for start in range(0, draws, _CHUNK):
        responses = context.draw(np.full(min(_CHUNK, draws - start), answer))
        try:
            counts += law.count_events(_rows(context.claimed, law, responses))
        except DeniableError:
            return None
    return counts


def _rows(claimed: Any, law: ResponseLaw, sent: Sequence[Any]) -> NDArray[Any]:
    """Return responses as packed sets or as numbers, which those of several stages make together.

    Raises:
        InvalidResponse: one that the design never sends.
    """
    stages = stages_of(claimed)
    columns = _columns(stages, sent)
    if law.sets is not None:
        return columns[0]
    numbers = np.zeros(len(columns[0]), np.int64)
    for design, column in zip(stages, columns, strict=True):
        numbers *= design.channel.responses
        numbers += design.channel.coding.numbers(column).astype(np.int64)
    return numbers


def _columns(stages: tuple[Design, ...], sent: Sequence[Any]) -> list[NDArray[Any]]:
    if isinstance(sent, Responses):
        return [
            design.channel.coding.checked(column)
            for design, column in zip(stages, sent.columns.values(), strict=True)
        ]
    symbols: list[Any] = [
        [response] if len(stages) == 1 else response
        for response in map(comparable_form, sent)
    ]
    return [
        design.channel.coding.pack(
            [design.symbol_number(str(symbol[at])) for symbol in symbols]
        )
        for at, design in enumerate(stages)
    ]


def _misfit_finding(
    context: CheckContext, law: ResponseLaw, counts: NDArray[np.int64], each: int
) -> Finding:
    strays = list(_strays(law, counts, each, _numbers(context)))
    worst, tried = min(strays), len(strays)
    bound = min(1.0, worst.tail * tried)
    violated = bound < context.false_alarm
    event = (
        f"{worst.words} comes up in {formats.percent(worst.seen, 4)} of the responses to "
        f"{context.answer_text(worst.answer)}; the claimed design says {formats.percent(worst.claimed, 4)}"
    )
    sentence = (
        f"{event[0].upper()}{event[1:]}. That, or worse among {tried:,} events, has a probability of {bound:.2g} at "
        "most."
        if violated
        else f"All of {tried:,} events come up as often as the claimed design says, as far as {2 * each:,} draws for "
        "each answer tell."
    )
    figures = {
        "draws": 2 * each * len(counts),
        "events": tried,
        "probability_at_most": bound,
        "event": worst.words,
        "seen": worst.seen,
        "claimed": worst.claimed,
    }
    return Finding(FIT, VIOLATED if violated else CONSISTENT, sentence, figures)


def _numbers(context: CheckContext) -> list[int]:
    """Return the number of each answer in the design."""
    claimed: Any = context.claimed
    numbers: list[int] = operation(claimed, "answer_codes")(claimed, context.answers)
    return numbers


def _strays(
    law: ResponseLaw, table: NDArray[np.int64], each: int, numbers: list[int]
) -> Iterator[Stray]:
    """Yield for each answer the tail of every event, and of the union of those that came up too often.

    Of sets also that of each category under all answers but its own, where its probability is one number.
    """
    for at, halves in enumerate(table):
        law_here, both_halves = law.probabilities[numbers[at]], halves.sum(axis=0)
        tails = _tails(both_halves, 2 * each, law_here)
        for event, tail in enumerate(tails.tolist()):
            yield Stray(
                tail,
                law.events[event],
                at,
                both_halves[event] / (2 * each),
                law_here[event],
            )
        if law.sets is None:
            often = halves[0] > each * law_here
            share = min(float(law_here[often].sum()), 1.0)
            hits = int(halves[1][often].sum())
            tail = float(_tails(np.array([hits]), each, np.array([share]))[0])
            yield Stray(
                tail,
                f"one of {int(often.sum())} responses together",
                at,
                hits / each,
                share,
            )
    yield from _category_strays(law, table, each, numbers)


def _category_strays(
    law: ResponseLaw, table: NDArray[np.int64], each: int, numbers: list[int]
) -> Iterator[Stray]:
    """Yield for each category of a set the tail of its count among all other answers."""
    for category in range(0 if law.sets is None else law.sets.size):
        other_answers = [
            at
            for at, number in enumerate(numbers[: len(table)])
            if number != category
        ]
        hits, n = (
            table[other_answers, :, category].sum(),
            2 * each * len(other_answers),
        )
        share = float(law.sets.p_false)  # type: ignore[union-attr]  # there are sets where there are categories
        tail = float(_tails(np.array([hits]), n, np.array([share]))[0])
        yield Stray(
            tail,
            f"{law.events[category]} where that is not the answer",
            other_answers[0],
            hits / n,
            share,
        )


def _tails(counts: NDArray[np.int64], n: int, probabilities: Vector) -> Vector:
    """Return twice the smaller tail of binomial counts."""
    clipped = probabilities.clip(0.0, 1.0)
    low, high = binom.cdf(counts, n, clipped), binom.sf(counts - 1, n, clipped)
    return np.asarray(np.minimum(2 * np.minimum(low, high), 1.0))

"""Repeated reports of one person: whether a response is kept or drawn anew, and how soon many of them give it away.

of_respondents   a function that makes a respondent, who may remember: each draw is somebody new
repeatedly       so many reports of one person as one response: audit this where ε is claimed for a lifetime
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from deniable.auditor.findings import CONSISTENT, CheckContext, Figure, Finding
from deniable.auditor.mechanisms import Called, Mechanism, mechanism, of_callable
from deniable.auditor.randomness import Digests, digests
from deniable.errors import InvalidRequest
from deniable.rendering import formats

# draws of an answer from which its law is learned; draws that are told apart by it
_LEARNED, _TRIED = 2_000, 6_000
_MAX_ANSWERS = 16  # whose laws are compared
_PEOPLE, _ASKED = 20, 20  # respondents who may remember, and how often each is asked
_SEEN = 40  # times that a value occurs on average where its probability counts as learned
_MIN_GUESSES = 100
_SURE = 5.0  # standard errors that the evidence of two laws must lie apart
_ERROR = 0.05  # how often the answer is guessed wrongly when it counts as known


@dataclass(frozen=True)
class Respondents:
    """People made by a function, each a function from an answer to a response; each draw is somebody new."""

    name: str
    make: Callable[[], Callable[[Any], object]]

    def responses(self, answers: Sequence[object]) -> Sequence[object]:
        """Ask somebody new for each answer."""
        return [self.make()(answer) for answer in answers]

    def fresh(self) -> Called:
        """Return one new respondent."""
        return of_callable(self.make(), name=self.name)


@dataclass(frozen=True)
class Repeated:
    """A mechanism that is asked so many times by one person; the response is all of them, in their order."""

    name: str
    once: Mechanism
    times: int

    def responses(self, answers: Sequence[object]) -> Sequence[object]:
        """Ask one person so often for each answer."""
        if isinstance(self.once, Respondents):
            return [
                tuple(self.once.fresh().responses([answer] * self.times))
                for answer in answers
            ]
        drawn = list(
            self.once.responses(
                [answer for answer in answers for _ in range(self.times)]
            )
        )
        return [
            tuple(drawn[at : at + self.times])
            for at in range(0, len(drawn), self.times)
        ]


def of_respondents(
    make: Callable[[], Callable[[Any], object]], *, name: str = ""
) -> Respondents:
    """Return a mechanism of people who may remember what they sent.

    Args:
        make: returns a new respondent: a function from an answer to a response.
        name: what it is called in reports.

    Example:
        >>> of_respondents(lambda: str).responses([1, 2])
        ['1', '2']
    """
    return Respondents(
        name or getattr(make, "__qualname__", "") or type(make).__name__, make
    )


def repeatedly(thing: object, times: int, *, name: str = "") -> Repeated:
    """Return a mechanism whose response is so many reports of one person, for claims that hold over a lifetime.

    Raises:
        InvalidRequest: fewer than two reports.

    Example:
        >>> repeatedly(str, 3).responses([1, 2])
        [('1', '1', '1'), ('2', '2', '2')]
    """
    if times < 2:
        raise InvalidRequest(
            f"there are {times} reports of one person; expected at least two."
        )
    once = mechanism(thing)
    return Repeated(
        name or f"{once.name}, {times} reports of one person", once, times
    )


def averaging(context: CheckContext) -> Finding | None:
    """Find out whether a person's second response is the first one again, and how many tell the answer."""
    if not context.asks_freely or isinstance(context.mechanism, Repeated):
        return None
    name = "repeated reports"
    if isinstance(context.mechanism, Respondents) and _repeats_first_response(
        context, context.mechanism
    ):
        sentence = "Each person's response is kept: further reports of the same answer tell nothing more."
        return Finding(name, CONSISTENT, sentence, {"kept": 1})
    compared = range(min(len(context.answers), _MAX_ANSWERS))
    learned, first, second, needed = _learn_answers(context, compared, name)
    figures: dict[str, Figure] = {
        "kept": 0,
        "reports_needed": needed,
        "draws": sum(digests_learned.shape[1] for digests_learned in learned)
        + 2 * _n_trial_draws(context),
    }
    pair = f"{context.answer_text(first)} from {context.answer_text(second)}"
    if all(
        (digests_learned[0] == digests_learned[0, 0]).all()
        for digests_learned in learned
    ):
        sentence = "An answer gives the same response whenever it is asked: it is kept, or nothing is random."
        return Finding(name, CONSISTENT, sentence, {**figures, "kept": 1})
    if needed is None:
        return Finding(
            name,
            CONSISTENT,
            f"Each report is drawn anew; even many do not tell {pair}.",
            figures,
        )
    claim = _total_claim(context, needed)
    sentence = (
        f"Each report is drawn anew, so ε adds up: {needed:,} of one person are enough to tell {pair} with "
        f"{formats.percent(_ERROR)} errors or fewer.{claim} Where ε is claimed for a lifetime, audit repeatedly(…)."
    )
    return Finding(name, CONSISTENT, sentence, figures)


def _learn_answers(
    context: CheckContext, compared: range, name: str
) -> tuple[list[Digests], int, int, int | None]:
    """Draw from each answer; return the draws, the pair that is told apart best, and how many reports it takes."""
    learned = [
        digests(context.draw(np.full(_n_learning_draws(context), at)))
        for at in compared
    ]
    rows = _informative_rows(learned)
    context.progress(name, 0.5)
    laws = [_law(digests_learned[rows]) for digests_learned in learned]
    first, second = max(
        combinations(compared, 2),
        key=lambda pair: _divergence(
            *((laws[at], learned[at][rows]) for at in pair)
        ),
    )
    needed = _reports_needed(
        context, (first, second), (laws[first], laws[second]), rows
    )
    return learned, first, second, needed


def _total_claim(context: CheckContext, needed: int) -> str:
    return (
        f" By then an ε of {formats.epsilon(context.epsilon)} a report has become "
        f"{formats.epsilon(needed * context.epsilon)}."
        if context.epsilon
        else ""
    )


def _n_learning_draws(context: CheckContext) -> int:
    return min(_LEARNED, max(2, context.draws // (4 * _MAX_ANSWERS)))


def _repeats_first_response(context: CheckContext, people: Respondents) -> bool:
    """Whether everybody repeats the first response, while not everybody's is the same."""
    first_responses = [
        digests(people.fresh().responses([context.answers[0]] * _ASKED))[0]
        for _ in range(_PEOPLE)
    ]
    return all((row == row[0]).all() for row in first_responses)


Learned: TypeAlias = list[tuple[Digests, NDArray[np.float64]]]
"""For each part of a response its values, rising, and the logarithms of their probabilities."""


def _informative_rows(learned: Sequence[Digests]) -> slice:
    """Return the rows that distinguish answers: the whole response where it has few values, otherwise its parts."""
    parts = {len(digests_learned) for digests_learned in learned}
    has_few = all(
        len(np.unique(digests_learned[0])) < digests_learned.shape[1] // _SEEN
        for digests_learned in learned
    )
    return (
        slice(0, 1) if has_few or len(parts) > 1 or parts == {1} else slice(1, None)
    )


def _law(drawn: Digests) -> Learned:
    """Learn how probable the values of each part are."""
    counted = [np.unique(row, return_counts=True) for row in drawn]
    return [
        (values, np.log((counts + 0.5) / (drawn.shape[1] + 1)))
        for values, counts in counted
    ]


def _evidence(law: Learned, drawn: Digests) -> NDArray[np.float64]:
    """Return the logarithm of the probability of each draw."""
    total = np.zeros(drawn.shape[1])
    for (values, logs), row in zip(law, drawn, strict=True):
        at = np.minimum(np.searchsorted(values, row), len(values) - 1)
        total += np.where(values[at] == row, logs[at], logs.min() - 1)
    return total


def _divergence(
    some: tuple[Learned, Digests], others: tuple[Learned, Digests]
) -> float:
    """Return how far two laws lie apart, by the evidence that each gives for itself."""
    gaps = [
        _evidence(some[0], drawn) - _evidence(others[0], drawn)
        for _, drawn in (some, others)
    ]
    return float(gaps[0].mean() - gaps[1].mean())


def _n_trial_draws(context: CheckContext) -> int:
    return max(2, min(_TRIED, context.draws // 8))


def _reports_needed(
    context: CheckContext,
    pair: tuple[int, int],
    laws: tuple[Learned, Learned],
    rows: slice,
) -> int | None:
    """Return how many reports tell two answers apart with few errors, in draws from which nothing was learned."""
    drawn = [
        digests(context.draw(np.full(_n_trial_draws(context), at)))[rows]
        for at in pair
    ]
    if any(len(digests_drawn) != len(laws[0]) for digests_drawn in drawn):
        return None
    gaps = [
        _evidence(laws[0], digests_drawn) - _evidence(laws[1], digests_drawn)
        for digests_drawn in drawn
    ]
    reports = 1
    while len(gaps[0]) // reports >= _MIN_GUESSES:
        sums = [
            gap[: len(gap) // reports * reports].reshape(-1, reports).sum(axis=1)
            for gap in gaps
        ]
        if ((sums[0] <= 0).mean() + (sums[1] > 0).mean()) / 2 <= _ERROR:
            return reports
        reports = max(reports + 1, reports * 5 // 4)
    return _extrapolate_reports(*gaps)


def _extrapolate_reports(
    some: NDArray[np.float64], others: NDArray[np.float64]
) -> int | None:
    """Return how many are needed if sums of evidence are normal, as they are when they are many."""
    apart, spread = (
        float(some.mean() - others.mean()),
        float(np.sqrt((some.var() + others.var()) / 2)),
    )
    if apart <= _SURE * spread * math.sqrt(2 / len(some)):
        return None  # no more than chance makes of two equal laws
    return math.ceil((2 * float(norm.isf(_ERROR)) * spread / apart) ** 2)

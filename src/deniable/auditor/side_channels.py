"""What shows beside the response: how many random bytes an answer takes, how long its response is, how long it takes.

Each check looks for the two answers that differ most, and asks again about these alone, in random order: what it says
rests on draws that were not searched through. If an answer makes no difference, the order is all that tells the two
apart, so Fisher's exact test holds whatever the measurements are.
"""

from __future__ import annotations

import math
import pickle
import time as clock
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import fisher_exact, rankdata

from deniable.auditor.check_context import CheckContext, answers_shown
from deniable.auditor.drawn_bytes import CountingSource, Meter
from deniable.auditor.findings import CONSISTENT, VIOLATED, Figure, Finding
from deniable.auditor.mechanisms import Called, Designed
from deniable.auditor.randomness import asked_freely
from deniable.estimates.backing import clopper_pearson
from deniable.rendering import formats

__all__ = ["random_words", "size", "time"]

_SEARCHED, _CONFIRMING = (
    2_000,
    1_000,
)  # measurements before and after the two answers are known
_MOST_ANSWERS = 512  # that are compared
_ROWS = 64  # equal answers that anything but a function is given in one go; it is measured less often, too
_FEWER = 4
_SECONDS = 30.0  # that all measurements of one check may take
_CLEAR = 2.0  # times as long: what makes a difference in time more than a remark

Measure: TypeAlias = Callable[[NDArray[np.int64]], NDArray[np.float64]]
"""Measures what answers, given by their numbers and in their order, take or give."""


class Difference(NamedTuple):
    """What two answers differ in, in draws that were not searched through.

    Attributes:
        more: the answer with more, by its number.
        less: the one with less.
        threshold: what the first passes more often.
        passing: how often each of them does.
        asked: how often each of them was asked.
        middles: the median of each.
    """

    more: int
    less: int
    threshold: float
    passing: tuple[int, int]
    asked: tuple[int, int]
    middles: tuple[float, float]

    @property
    def chance(self) -> float:
        """How probable a difference as large is where the answer makes none."""
        passing, n_asked = np.array(self.passing), np.array(self.asked)
        table = np.stack([passing, n_asked - passing], axis=1)
        return float(fisher_exact(table, alternative="greater").pvalue)

    def epsilon_at_least(self, delta: float, false_alarm: float) -> float:
        """Return the lower bound on ε, beside a δ, that passing the threshold or not passing it gives."""
        (first, second), (n_first, n_second) = self.passing, self.asked
        events = (
            (first, n_first, second, n_second),
            (n_second - second, n_second, n_first - first, n_first),
        )
        return max(_log_ratio(*event, delta, false_alarm / 4) for event in events)


def _log_ratio(
    count: int, draws: int, other: int, other_draws: int, delta: float, level: float
) -> float:
    """Return a lower bound on the log of a ratio of probabilities, by their exact limits; 0 where it is below 1."""
    hits, n = np.array([count, other], float), np.array([draws, other_draws], float)
    lows, highs = clopper_pearson(hits, n, 1 - 2 * level)
    low, high = float(lows[0]) - delta, float(highs[1])
    return math.log(low / high) if low > high else 0.0


def random_words(context: CheckContext) -> Finding | None:
    """Compare how many random bytes are taken for each answer: a sound mechanism takes as many for all."""
    name, mechanism = "random words", context.mechanism
    with ExitStack() as watching:
        if isinstance(mechanism, Called):
            meter, function = Meter(mechanism.function), mechanism.function
            watching.enter_context(meter.watching())
            difference = _difference(
                context,
                name,
                _measure_each(
                    context, lambda answer: meter.taken(lambda: function(answer))
                ),
            )
        elif isinstance(mechanism, Designed) and mechanism.source is None:
            difference = _difference(
                context,
                name,
                _measure_each(
                    context, lambda answer: _bytes_of_design(mechanism, answer)
                ),
            )
        else:
            return None
    if max(difference.middles) == 0 == sum(difference.passing):
        sentence = "No random bytes were seen: they are not drawn through Python's os, random or numpy.random."
        return Finding(name, CONSISTENT, sentence, {})
    figures = _figures(context, difference)
    if difference.chance < context.false_alarm:
        sentence = (
            f"{_answer_text(context, difference.more)} takes more random bytes than "
            f"{_answer_text(context, difference.less)}: more than {difference.threshold:g} in "
            f"{_shares(difference)} calls."
        )
        return Finding(name, VIOLATED, sentence, figures)
    sentence = f"Every answer takes as many random bytes as any other ({difference.middles[0]:g} in the middle)."
    return Finding(name, CONSISTENT, sentence, figures)


def _bytes_of_design(mechanism: Designed, answer: object) -> float:
    counting = CountingSource()
    replace(mechanism, source=counting).responses([answer] * _ROWS)
    return counting.count


def size(context: CheckContext) -> Finding | None:
    """Bound ε by the size of what is sent alone: letters of a text, bytes of anything else when it is written out."""
    if not asked_freely(context) or context.epsilon is None:
        return None
    difference = _difference(
        context,
        "size",
        lambda asked: np.array(
            [_length(response) for response in context.draw(asked)], float
        ),
    )
    return _finding_with_bound(
        context, "size", difference, "response", "letters or bytes"
    )


def _length(response: object) -> int:
    return (
        len(response)
        if isinstance(response, str | bytes)
        else len(pickle.dumps(response))
    )


def time(context: CheckContext) -> Finding | None:
    """Bound ε by the time that an answer takes; a remark, unless the difference is very clear."""
    if not asked_freely(context) or context.epsilon is None:
        return None
    rows = 1 if isinstance(context.mechanism, Called) else _ROWS
    difference = _difference(
        context,
        "time",
        _measure_each(context, lambda answer: _seconds(context, [answer] * rows)),
    )
    finding = _finding_with_bound(context, "time", difference, "call", "seconds")
    clear = finding.violated and difference.middles[0] > _CLEAR * difference.middles[1]
    if not clear and (finding.violated or difference.chance < context.false_alarm):
        sentence = (
            f"A remark: {_answer_text(context, difference.more)} takes longer than "
            f"{_answer_text(context, difference.less)}, "
            f"{difference.middles[0]:.3g} against {difference.middles[1]:.3g} seconds. Time depends on the machine; it "
            "counts against a mechanism where it is twice as long."
        )
        return replace(finding, verdict=CONSISTENT, sentence=sentence)
    return finding


def _seconds(context: CheckContext, answers: list[object]) -> float:
    start = clock.perf_counter()
    context.mechanism.responses(answers)
    return clock.perf_counter() - start


def _finding_with_bound(
    context: CheckContext, name: str, found: Difference, what: str, unit: str
) -> Finding:
    """Return the finding that a difference gives, if it counts as a response."""
    assert context.epsilon is not None
    bound = found.epsilon_at_least(context.delta, context.false_alarm)
    figures = {**_figures(context, found), "epsilon_at_least": bound}
    if bound > context.epsilon:
        sentence = (
            f"The {name} of a {what} alone tells {_answer_text(context, found.more)} from "
            f"{_answer_text(context, found.less)} with "
            f"ε ≥ {formats.epsilon_at_least(bound, 3)}: more than {found.threshold:.4g} {unit} in "
            f"{_shares(found)} draws."
        )
        return Finding(name, VIOLATED, sentence, figures)
    return Finding(
        name,
        CONSISTENT,
        f"The {name} of a {what} alone tells answers apart with ε ≥ {formats.epsilon_at_least(bound, 3)}.",
        figures,
    )


def _figures(context: CheckContext, found: Difference) -> dict[str, Figure]:
    return {
        "answer": _answer_text(context, found.more),
        "other": _answer_text(context, found.less),
        "draws": sum(found.asked),
        "threshold": found.threshold,
        "chance": found.chance,
        "middle": found.middles[0],
        "other_middle": found.middles[1],
    }


def _answer_text(context: CheckContext, at: int) -> str:
    return answers_shown(context.answers, at)


def _shares(found: Difference) -> str:
    (first, second), (n_first, n_second) = found.passing, found.asked
    return f"{first:,} of {n_first:,} against {second:,} of {n_second:,}"


def _measure_each(context: CheckContext, measure: Callable[[object], float]) -> Measure:
    """Measure answers one after another."""
    return lambda asked: np.array(
        [measure(context.answers[number]) for number in asked.tolist()], float
    )


def _difference(context: CheckContext, name: str, measure: Measure) -> Difference:
    """Find the two answers that differ most, and measure these again."""
    rng = context.generator()
    n_answers = min(len(context.answers), _MOST_ANSWERS)
    chosen = np.sort(rng.choice(len(context.answers), n_answers, replace=False))
    searched, confirming = _affordable(context, measure, chosen)
    numbers = rng.permuted(np.resize(chosen, max(searched, 4 * n_answers)))
    measured = measure(numbers)
    context.progress(name, 0.6)
    ranks = rankdata(measured)
    means = np.array([ranks[numbers == number].mean() for number in chosen])
    more, less = (int(chosen[at]) for at in (means.argmax(), means.argmin()))
    if more == less:  # nothing differs at all
        more, less = int(chosen[0]), int(chosen[1])
    threshold = _threshold(measured[numbers == more], measured[numbers == less])
    again = rng.permuted(np.resize([more, less], confirming))
    values = measure(again)
    first_values, second_values = (values[again == number] for number in (more, less))
    passing = (
        int((first_values > threshold).sum()),
        int((second_values > threshold).sum()),
    )
    middles = float(np.median(first_values)), float(np.median(second_values))
    return Difference(
        more, less, threshold, passing, (len(first_values), len(second_values)), middles
    )


def _affordable(
    context: CheckContext, measure: Measure, chosen: NDArray[np.int64]
) -> tuple[int, int]:
    """Return how many measurements there is time for, before and after the two answers are known."""
    start = clock.perf_counter()
    tried = np.resize(chosen, 8)
    measure(tried)
    most = int(_SECONDS * len(tried) / (clock.perf_counter() - start + 1e-9))
    most = max(64, min(most, context.draws))
    fewer = 1 if isinstance(context.mechanism, Called) else _FEWER
    return min(_SEARCHED // fewer, 2 * most // 3), min(_CONFIRMING // fewer, most // 3)


def _threshold(more: NDArray[np.float64], less: NDArray[np.float64]) -> float:
    """Return what the one passes more often than the other, by most."""
    values = np.unique(np.concatenate([more, less]))
    passing = [
        1
        - np.searchsorted(np.sort(values_measured), values, side="right")
        / len(values_measured)
        for values_measured in (more, less)
    ]
    return float(values[(passing[0] - passing[1]).argmax()])

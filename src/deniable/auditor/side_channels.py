"""What shows beside the response: how many random bytes an answer takes, how long its response is, how long it takes.

Each check looks for the two answers that differ most, and asks again about these alone, in random order: what it says
rests on draws that were not searched through. If an answer makes no difference, the order is all that tells the two
apart, so Fisher's exact test holds whatever the measurements are.
"""

from __future__ import annotations

import gc
import os
import pickle
import random
import sys
import time as clock
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from types import BuiltinMethodType, CellType, CodeType, FunctionType, MethodType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray
from scipy.stats import fisher_exact, rankdata

from deniable.auditor.bounds import Counted, epsilon_at_least
from deniable.auditor.findings import (
    CONSISTENT,
    VIOLATED,
    CheckContext,
    Figure,
    Finding,
)
from deniable.auditor.mechanisms import Called, Designed
from deniable.chance import SYSTEM, Source
from deniable.rendering import formats

# how many words of the table are used, and the table
_Twisted: TypeAlias = tuple[int, npt.NDArray[np.uint32]]
_MT_WORDS = 624
_MAX_TURNS = (
    2_000  # 1.2 million words in one call; beyond that the generator was seeded anew
)
_PCG64 = 0x2360ED051FC65DA44385DF649FCCF645
_MASK = (1 << 128) - 1
_DEEPEST = 4  # references that are followed from a function to a generator
_MAX_SEEN = 2_000  # objects that are looked at on the way


class CountingSource:
    """Passes bytes of another source on, and counts them."""

    def __init__(self, source: Source = SYSTEM) -> None:
        self._source = source
        self.count = 0

    def read(self, count: int) -> bytes:
        """Return so many bytes of the other source."""
        self.count += count
        return self._source.read(count)


class Meter:
    """Counts the random bytes that calls of a function take.

    Args:
        function: where to look for generators that it holds: in its closure, its object, and globals that it names.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        self._asked = 0
        generators = list(
            {
                id(generator): generator for generator in _generators(function)
            }.values()
        )
        states = [
            generator
            for generator in generators
            if isinstance(generator, random.Random)
            and not isinstance(generator, random.SystemRandom)
        ]
        self._twisters: list[Callable[[], _Twisted]] = [
            _twister(state) for state in states
        ]
        self._twisters += [
            _numpy_twister(generator)
            for generator in generators
            if isinstance(generator, np.random.RandomState)
        ]
        self._pcg = [
            generator.bit_generator
            for generator in generators
            if isinstance(generator, np.random.Generator)
        ]
        self._pcg = [
            generator
            for generator in self._pcg
            if type(generator) is np.random.PCG64
        ]

    @contextmanager
    def count_urandom(self) -> Iterator[Meter]:
        """Count what the operating system is asked for, whoever asks through Python's `os.urandom`."""
        original = os.urandom

        def counted(size: int) -> bytes:
            self._asked += size
            return original(size)

        homes = [
            module for module in list(sys.modules.values()) if module is not None
        ]
        places = [
            (home, name)
            for home in homes
            for name, value in list(vars(home).items())
            if value is original
        ]
        for home, name in places:
            setattr(home, name, counted)
        try:
            yield self
        finally:
            for home, name in places:
                setattr(home, name, original)

    def taken(self, call: Callable[[], object]) -> int:
        """Return how many bytes one call takes; 4 for each word of 32 bits of a generator."""
        n_asked, twisted = self._asked, [twister() for twister in self._twisters]
        stepped = [generator.state for generator in self._pcg]
        call()
        words = sum(
            _count_words(before, twister())
            for before, twister in zip(twisted, self._twisters, strict=True)
        )
        words += 2 * sum(
            _steps(before, generator.state)
            for before, generator in zip(stepped, self._pcg, strict=True)
        )
        return self._asked - n_asked + 4 * words


def _generators(function: object) -> Iterator[object]:
    """Yield generators of random numbers that a function can reach, and the two that everybody can."""
    yield random.random.__self__  # type: ignore[attr-defined]  # the one behind random.random()
    yield np.random.mtrand._rand  # the one behind np.random.random()
    seen: set[int] = set()
    edge: list[object] = [function]
    for _ in range(_DEEPEST):
        reached: list[object] = []
        for node in edge:
            if id(node) in seen or len(seen) > _MAX_SEEN:
                continue
            seen.add(id(node))
            if isinstance(
                node, random.Random | np.random.RandomState | np.random.Generator
            ):
                yield node
            else:
                reached += _references(node)
        edge = reached


def _references(thing: object) -> list[object]:
    if isinstance(thing, FunctionType):
        return [
            *(thing.__closure__ or ()),
            *(thing.__globals__.get(name) for name in _names(thing.__code__)),
        ]
    if isinstance(thing, MethodType | BuiltinMethodType):
        return [thing.__self__, getattr(thing, "__func__", None)]
    if isinstance(thing, CellType | dict | list | tuple):
        return gc.get_referents(thing)
    return (
        [*getattr(thing, "__dict__", {}).values()]
        if not isinstance(thing, type)
        else []
    )


def _names(code: CodeType) -> Iterator[str]:
    """Yield the globals that a function names, those of its comprehensions too."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _twister(generator: random.Random) -> Callable[[], _Twisted]:
    def read() -> _Twisted:
        *words, position = generator.getstate()[1]
        return position, np.array(words, dtype=np.uint32)

    return read


def _numpy_twister(generator: np.random.RandomState) -> Callable[[], _Twisted]:
    def read() -> _Twisted:
        state = generator.get_state(legacy=False)["state"]
        return int(state["pos"]), state["key"].copy()

    return read


def _count_words(before: _Twisted, after: _Twisted) -> int:
    """Return how many words of the Mersenne Twister lie between two states; 624 at a time are made anew."""
    twin = np.random.MT19937(0)  # a seed, so that none is drawn
    twin.state = {
        "bit_generator": "MT19937",
        "state": {"key": before[1], "pos": before[0]},
    }
    turns = 0
    while turns < _MAX_TURNS and not np.array_equal(
        twin.state["state"]["key"], after[1]
    ):
        twin.random_raw(_MT_WORDS)
        turns += 1
    return after[0] - before[0] + _MT_WORDS * turns


def _steps(before: Mapping[str, Any], after: Mapping[str, Any]) -> int:
    """Return how many steps of PCG64 lie between two states."""
    state, target = before["state"]["state"], after["state"]["state"]
    multiplier, plus, bit, steps = _PCG64, before["state"]["inc"], 1, 0
    while state != target and bit <= _MASK:
        if (state ^ target) & bit:
            state = (state * multiplier + plus) & _MASK
            steps |= bit
        bit <<= 1
        plus = (multiplier + 1) * plus & _MASK
        multiplier = multiplier * multiplier & _MASK
    return steps


# measurements before and after the two answers are known
_SEARCHED, _CONFIRMING = 2_000, 1_000
_MAX_ANSWERS = 512  # that are compared
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
        passes = Counted(first, n_first, second, n_second)
        fails = Counted(n_second - second, n_second, n_first - first, n_first)
        return max(
            float(epsilon_at_least(event, false_alarm / 2, delta)[0])
            for event in (passes, fails)
        )


def random_words(context: CheckContext) -> Finding | None:
    """Compare how many random bytes are taken for each answer: a sound mechanism takes as many for all."""
    name, mechanism = "random words", context.mechanism
    with ExitStack() as watching:
        if isinstance(mechanism, Called):
            meter, function = Meter(mechanism.function), mechanism.function
            watching.enter_context(meter.count_urandom())
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
            f"{context.answer_text(difference.more)} takes more random bytes than "
            f"{context.answer_text(difference.less)}: more than {difference.threshold:g} in "
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
    if not context.asks_freely or context.epsilon is None:
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
    if not context.asks_freely or context.epsilon is None:
        return None
    rows = 1 if isinstance(context.mechanism, Called) else _ROWS
    difference = _difference(
        context,
        "time",
        _measure_each(context, lambda answer: _seconds(context, [answer] * rows)),
    )
    finding = _finding_with_bound(context, "time", difference, "call", "seconds")
    clear = (
        finding.violated and difference.middles[0] > _CLEAR * difference.middles[1]
    )
    if not clear and (finding.violated or difference.chance < context.false_alarm):
        sentence = (
            f"A remark: {context.answer_text(difference.more)} takes longer than "
            f"{context.answer_text(difference.less)}, "
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
            f"The {name} of a {what} alone tells {context.answer_text(found.more)} from "
            f"{context.answer_text(found.less)} with "
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
        "answer": context.answer_text(found.more),
        "other": context.answer_text(found.less),
        "draws": sum(found.asked),
        "threshold": found.threshold,
        "chance": found.chance,
        "middle": found.middles[0],
        "other_middle": found.middles[1],
    }


def _shares(found: Difference) -> str:
    (first, second), (n_first, n_second) = found.passing, found.asked
    return f"{first:,} of {n_first:,} against {second:,} of {n_second:,}"


def _measure_each(
    context: CheckContext, measure: Callable[[object], float]
) -> Measure:
    """Measure answers one after another."""
    return lambda asked: np.array(
        [measure(context.answers[number]) for number in asked.tolist()], float
    )


def _difference(context: CheckContext, name: str, measure: Measure) -> Difference:
    """Find the two answers that differ most, and measure these again."""
    rng = context.generator()
    n_answers = min(len(context.answers), _MAX_ANSWERS)
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
    threshold = _separating_threshold(
        measured[numbers == more], measured[numbers == less]
    )
    again = rng.permuted(np.resize([more, less], confirming))
    values = measure(again)
    first_values, second_values = (
        values[again == number] for number in (more, less)
    )
    passing = (
        int((first_values > threshold).sum()),
        int((second_values > threshold).sum()),
    )
    middles = float(np.median(first_values)), float(np.median(second_values))
    return Difference(
        more,
        less,
        threshold,
        passing,
        (len(first_values), len(second_values)),
        middles,
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
    return min(_SEARCHED // fewer, 2 * most // 3), min(
        _CONFIRMING // fewer, most // 3
    )


def _separating_threshold(
    more: NDArray[np.float64], less: NDArray[np.float64]
) -> float:
    """Return the threshold that one sample exceeds more often than the other by the largest margin."""
    values = np.unique(np.concatenate([more, less]))
    passing = [
        1
        - np.searchsorted(np.sort(values_measured), values, side="right")
        / len(values_measured)
        for values_measured in (more, less)
    ]
    return float(values[(passing[0] - passing[1]).argmax()])

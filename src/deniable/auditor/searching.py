"""The search for the worst event: where two answers are told apart best, and how sure that is.

1. *Explore*: every answer is asked about; pairs that differ little are dropped, and what is left is asked more.
2. *Choose*: scores learned for the best pairs (`learning`) are tried on further draws; for each that threshold is taken
   at which the bound is largest.
3. *Hold out*: the few events that were chosen are counted on draws that nothing was learned from. The bounds come from
   these alone, at a level that is shared among all events, so that whatever happened before cannot make them wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.auditor.bounds import (
    Counted,
    delta_at_least,
    draws_to_refute,
    epsilon_at_least,
)
from deniable.auditor.features import Facts, facts
from deniable.auditor.findings import (
    CONSISTENT,
    VIOLATED,
    WORST_EVENT,
    CheckContext,
    Finding,
)
from deniable.auditor.learning import Codebook, Coder, Score, Table, scores, tables
from deniable.rendering import formats

Which: TypeAlias = NDArray[np.int64]
Vector: TypeAlias = NDArray[np.float64]

_EXPLORED = 600_000  # draws from which on exploring more tells little
_CHOSEN = 1_000_000  # the same for choosing thresholds
_FEW = 4  # answers that are left when exploring ends
_PAIRS = 3  # pairs that scores are learned for
_ROWS_COMPARED = 256  # answers that are compared each with each
_THRESHOLDS = 256
_SIMPLER = (
    0.99  # a simpler score is taken, if its bound is at least this share of the best
)
_CHUNK = 1 << 20  # responses of arrays that are looked at together
_SMALL_CHUNK = 1 << 15  # responses that are Python objects


class Pair(NamedTuple):
    """Two answers by number: the first is the one that the event is likely under."""

    first: int
    second: int


@dataclass(frozen=True, eq=False)
class Event:
    """That a score lies between two ends.

    Attributes:
        pair: which answers it tells apart; the first makes it likely.
        score: of responses.
        least: the smallest score in it.
        most: the largest.
    """

    pair: Pair
    score: Score
    least: float
    most: float

    def holds(self, table: Table) -> NDArray[np.bool_]:
        """Return for which responses it comes true."""
        scores = self.score.evaluate(table)
        return (scores >= self.least) & (scores <= self.most)

    @property
    def words(self) -> str:
        """The event in words."""
        return self.score.say(self.least, self.most)


@dataclass(eq=False)
class Explored:
    """What was seen while exploring: codes of the responses to each answer; and how many were asked for so far."""

    book: Codebook
    seen: Facts
    samples: dict[int, Table]
    asked: int = 0


def worst_event(context: CheckContext) -> Finding:
    """Search for the event that tells two answers apart best, and bound ε and δ from below on draws held out.

    Guarantee: any bound is too large with probability `context.false_alarm` at most, if responses are drawn
    independently of each other.
    """
    rng, draws = context.generator(), context.draws
    explored = _explore(context, rng, min(draws // 4, _EXPLORED))
    context.progress(WORST_EVENT, 0.25)
    events = _choose(context, rng, explored, min(draws // 4, _CHOSEN))
    context.progress(WORST_EVENT, 0.5)
    counted = _count(context, rng, explored, events, draws - explored.asked)
    return _loss_finding(context, events, counted, explored.asked)


def _explore(
    context: CheckContext, rng: np.random.Generator, budget: int
) -> Explored:
    """Ask about all answers, and ever more about ever fewer: those that differ most from each other."""
    alive = list(range(len(context.answers)))
    rounds = 1 + max(0, math.ceil(math.log2(len(alive) / _FEW) / 2))
    explored = Explored({}, {}, {})
    for number in range(rounds):
        numbers = _balanced_shuffle(context, rng, alive, budget // rounds, 4)
        _learn(explored, numbers, context)
        if number + 1 < rounds:
            pairs = _rank_pairs(explored, alive)
            alive = _answers_of_best_pairs(pairs, max(_FEW, len(alive) // 4))
            explored.samples = {answer: explored.samples[answer] for answer in alive}
    return explored


def _balanced_shuffle(
    context: CheckContext,
    rng: np.random.Generator,
    alive: Sequence[int],
    total: int,
    part: int,
) -> Which:
    """Return which answers to ask about, equally often and in no order: a mechanism that drifts favours none of them.

    Of a fixed sample at most a part of what is there is taken, so that something is left to hold out.
    """
    left = getattr(context.mechanism, "left", None)
    per_answer = max(total // len(alive), 1)
    counts = [
        per_answer
        if left is None
        else min(per_answer, left(context.answers[at]) // part)
        for at in alive
    ]
    numbers = np.repeat(np.array(alive, np.int64), counts)
    rng.shuffle(numbers)
    return numbers


def _batches(context: CheckContext, which: Which) -> Iterator[tuple[Which, Facts]]:
    """Ask in batches, and return what can be seen in each."""
    size = _CHUNK if hasattr(context.mechanism, "draw") else _SMALL_CHUNK
    for start in range(0, len(which), size):
        batch = which[start : start + size]
        yield batch, facts(context.draw(batch))


def _learn(explored: Explored, which: Which, context: CheckContext) -> None:
    """Add responses to what was seen; the first ones decide how facts are coded."""
    explored.asked += len(which)
    for batch, seen in _batches(context, which):
        if not explored.book:
            explored.seen |= seen
            explored.book |= {
                name: Coder.learn(column.values()) for name, column in seen.items()
            }
        table = tables(explored.book, seen)
        for answer in np.unique(batch).tolist():
            rows = np.flatnonzero(batch == answer)
            new = {name: codes[rows] for name, codes in table.items()}
            old = explored.samples.get(answer)
            explored.samples[answer] = (
                new if old is None else _append_columns(old, new)
            )


def _append_columns(old: Table, new: Table) -> Table:
    return {name: np.concatenate([codes, new[name]]) for name, codes in old.items()}


def _rank_pairs(explored: Explored, alive: Sequence[int]) -> list[Pair]:
    """Return pairs of answers, those that differ most for sure first: by the best value of each fact, added up."""
    n = np.array(
        [len(next(iter(explored.samples[at].values()))) for at in alive], np.float64
    )[:, None]
    total = np.zeros((len(alive), len(alive)))
    for name, coder in explored.book.items():
        counts = np.array(
            [
                np.bincount(explored.samples[at][name], minlength=coder.size)
                for at in alive
            ]
        )
        logs = np.log((counts + 0.5) / (n + 1))
        errors = 2 * np.sqrt((1 - (counts + 0.5) / (n + 1)) / (counts + 0.5))
        total += _gaps(logs - errors, logs + errors)
    np.fill_diagonal(total, -1)
    order = np.argsort(-total, axis=None, kind="stable")[: 16 * len(alive)]
    return [
        Pair(alive[at // len(alive)], alive[at % len(alive)])
        for at in order.tolist()
        if at % (len(alive) + 1)
    ]


def _gaps(low: Vector, high: Vector) -> Vector:
    """Return for each two rows by how much some value of the first is surely above that of the second; at least 0."""
    if len(low) <= _ROWS_COMPARED:
        return np.array([np.maximum((row - high).max(axis=1), 0.0) for row in low])
    ahead, behind = (
        (low - high.min(axis=0)).max(axis=1),
        (low.max(axis=0) - high).max(axis=1),
    )
    return np.asarray(np.maximum(ahead[:, None] + behind, 0.0))


def _answers_of_best_pairs(pairs: Sequence[Pair], count: int) -> list[int]:
    """Return the answers of the best pairs."""
    answers_kept: dict[int, None] = {}
    for pair in pairs:
        answers_kept |= dict.fromkeys(pair)
        if len(answers_kept) >= count:
            break
    return sorted(answers_kept)


def _choose(
    context: CheckContext, rng: np.random.Generator, explored: Explored, budget: int
) -> list[Event]:
    """Return events of the best pair: the best for ε in both directions, and the best for δ at the claimed ε."""
    pairs = _without_order(_rank_pairs(explored, sorted(explored.samples)))[:_PAIRS]
    learned = {
        pair: scores(
            explored.samples[pair.first],
            explored.samples[pair.second],
            explored.book,
            explored.seen,
        )
        for pair in pairs
    }
    answers = sorted({at for pair in pairs for at in pair})
    numbers = _balanced_shuffle(context, rng, answers, budget, 3)
    explored.asked += len(numbers)
    scored = _score_draws(context, explored, learned, numbers)
    tried = [
        trial
        for pair in pairs
        for score, values in scored[pair]
        for trial in _best_thresholds(context, pair, score, values)
    ]
    return _best(tried)


def _without_order(pairs: Sequence[Pair]) -> list[Pair]:
    return list(dict.fromkeys(Pair(*sorted(pair)) for pair in pairs))


Scored: TypeAlias = dict[Pair, list[tuple[Score, tuple[Vector, Vector]]]]


def _score_draws(
    context: CheckContext,
    explored: Explored,
    learned: dict[Pair, list[Score]],
    which: Which,
) -> Scored:
    """Return the scores of new draws, for each pair and each score: under the first answer, under the second."""
    names = {
        name
        for pair_scores in learned.values()
        for score in pair_scores
        for name in score.columns
    }
    parts: dict[tuple[Pair, int], tuple[list[Vector], list[Vector]]] = {}
    for batch, seen in _batches(context, which):
        table = tables(explored.book, seen, names)
        for pair, pair_scores in learned.items():
            for at, score in enumerate(pair_scores):
                values = score.evaluate(table)
                sides = parts.setdefault((pair, at), ([], []))
                for values_side, answer in zip(sides, pair, strict=True):
                    values_side.append(values[batch == answer])
    return {
        pair: [
            (
                score,
                (np.sort(np.concatenate(first)), np.sort(np.concatenate(second))),
            )
            for at, score in enumerate(pair_scores)
            for first, second in [parts[pair, at]]
        ]
        for pair, pair_scores in learned.items()
    }


class Tried(NamedTuple):
    """An event with what the draws for choosing say of it: the bound on ε, and by how much it exceeds the claim."""

    event: Event
    epsilon: float
    excess: float


def _best_thresholds(
    context: CheckContext, pair: Pair, score: Score, values: tuple[Vector, Vector]
) -> Iterator[Tried]:
    """Yield the best thresholds of a score in both directions."""
    first, second = values
    if not len(first) or not len(second):
        return
    everything = np.unique(np.concatenate([first, second]))
    if len(everything) > _THRESHOLDS:
        everything = np.unique(
            np.quantile(everything, np.linspace(0, 1, _THRESHOLDS), method="nearest")
        )
    above = [
        len(values_side) - np.searchsorted(values_side, everything, side="left")
        for values_side in values
    ]
    below = [
        np.searchsorted(values_side, everything, side="right")
        for values_side in values
    ]
    yield from _thresholds(
        context,
        Pair(*pair),
        score,
        Counted(above[0], len(first), above[1], len(second)),
        everything,
        1,
    )
    yield from _thresholds(
        context,
        Pair(pair.second, pair.first),
        score,
        Counted(below[1], len(second), below[0], len(first)),
        everything,
        -1,
    )


def _thresholds(
    context: CheckContext,
    pair: Pair,
    score: Score,
    counted: Counted,
    thresholds: Vector,
    side: int,
) -> Iterator[Tried]:
    epsilons = epsilon_at_least(counted, context.false_alarm, context.delta)
    excesses = delta_at_least(counted, context.false_alarm, context.epsilon or 0.0)
    for at in {int(np.argmax(epsilons)), int(np.argmax(excesses))}:
        ends = (
            (thresholds[at], math.inf) if side > 0 else (-math.inf, thresholds[at])
        )
        yield Tried(
            Event(pair, score, *map(float, ends)),
            float(epsilons[at]),
            float(excesses[at]),
        )


def _best(tried: Sequence[Tried]) -> list[Event]:
    """Return the best event, the best one of the same two answers the other way round, and the best for δ."""
    if not tried:
        return []
    best = _simplest(tried, [trial.epsilon for trial in tried])
    turned = [
        trial
        for trial in tried
        if trial.event.pair == Pair(*reversed(best.event.pair))
    ]
    same = [
        trial for trial in tried if set(trial.event.pair) == set(best.event.pair)
    ]
    chosen = [best, _simplest(turned, [trial.epsilon for trial in turned])]
    if max(trial.excess for trial in same) > 0:
        chosen.append(_simplest(same, [trial.excess for trial in same]))
    return list(dict.fromkeys(event_tried.event for event_tried in chosen))


def _simplest(tried: Sequence[Tried], bounds: Sequence[float]) -> Tried:
    """Return the first that is nearly as good as the best; simple scores come first."""
    return next(
        trial
        for trial, bound in zip(tried, bounds, strict=True)
        if bound >= _SIMPLER * max(bounds)
    )


def _count(
    context: CheckContext,
    rng: np.random.Generator,
    explored: Explored,
    events: Sequence[Event],
    draws: int,
) -> list[Counted]:
    """Count events on draws that nothing was learned from."""
    if not events:
        return []
    numbers = _balanced_shuffle(context, rng, events[0].pair, draws, 1)
    names = {name for event in events for name in event.score.columns}
    hits = np.zeros((len(events), 2), np.int64)
    n_counted = 0
    for batch, seen in _batches(context, numbers):
        table = tables(explored.book, seen, names)
        for at, event in enumerate(events):
            is_held = event.holds(table)
            hits[at] += [
                np.count_nonzero(is_held & (batch == answer))
                for answer in event.pair
            ]
        n_counted += len(batch)
        context.progress(WORST_EVENT, 0.5 + 0.5 * n_counted / len(numbers))
    times = {
        answer: int(np.count_nonzero(numbers == answer)) for answer in events[0].pair
    }
    return [
        Counted(
            int(first),
            times[event.pair.first],
            int(second),
            times[event.pair.second],
        )
        for event, (first, second) in zip(events, hits.tolist(), strict=True)
    ]


def _loss_finding(
    context: CheckContext,
    events: Sequence[Event],
    counted: Sequence[Counted],
    used: int,
) -> Finding:
    if not events:
        return Finding(
            WORST_EVENT,
            CONSISTENT,
            "No event was found that tells answers apart.",
            {"draws": used},
        )
    share = context.false_alarm / len(events)
    epsilons = [
        float(epsilon_at_least(pair_counts, share, context.delta)[0])
        for pair_counts in counted
    ]
    claim = context.epsilon
    deltas = [
        0.0 if claim is None else float(delta_at_least(pair_counts, share, claim)[0])
        for pair_counts in counted
    ]
    worst = int(np.argmax(epsilons))
    violated = claim is not None and (
        epsilons[worst] > claim or max(deltas) > context.delta
    )
    needed = (
        []
        if claim is None
        else [
            draws_to_refute(pair_counts, share, claim, context.delta)
            for pair_counts in counted
        ]
    )
    n_drawn = int(counted[0].n + counted[0].other_n)
    least = min((n for n in needed if n is not None), default=None)
    sentences = [
        _event_figures(context, *row)
        for row in zip(events, counted, epsilons, strict=True)
    ]
    witness = str(sentences[worst]["words"])
    figures: dict[str, Any] = {
        "epsilon_at_least": epsilons[worst],
        "delta_at_least": max(deltas),
        "witness": witness,
        "draws": used + n_drawn,
        "held_out": n_drawn,
        "draws_needed": None
        if least is None
        else math.ceil(least * (used + n_drawn) / n_drawn),
        "events": sentences,
    }
    sentence = f"{witness} So ε is at least {formats.epsilon_at_least(epsilons[worst])}{_against(claim, violated)}."
    return Finding(
        WORST_EVENT, VIOLATED if violated else CONSISTENT, sentence, figures
    )


def _against(claim: float | None, violated: bool) -> str:
    if claim is None:
        return "; nothing was claimed"
    return f"; {formats.epsilon(claim)} was claimed" + (
        "" if violated else ", which these draws do not refute"
    )


def _event_figures(
    context: CheckContext, event: Event, counted: Counted, epsilon: float
) -> dict[str, Any]:
    first, second = (context.answer_text(at) for at in event.pair)
    often, second_rate = (
        counted.hits / counted.n,
        counted.other_hits / counted.other_n,
    )
    return {
        "words": (
            f"In {formats.percent(often)} of the draws the answer {first} gives {event.words}; {second} does so in "
            f"{formats.percent(second_rate)}."
        ),
        "epsilon_at_least": epsilon,
        "seen": math.log(often / second_rate) if often and second_rate else None,
        "hits": int(counted.hits),
        "n": int(counted.n),
        "other_hits": int(counted.other_hits),
        "other_n": int(counted.other_n),
    }

"""Whether draws are fresh: repeats across calls, threads, forks and restarts; draws that depend on what came before.

Why a common run tells: two sequences of independent draws for one answer agree at one place with probability
c = Σ P(response)². A run of L responses is common to two sequences of n draws, wherever it stands, with probability at
most n²·c^L. So a common run of ⌈log(n²/level) / log(1/c)⌉ is no chance. c is bounded from above by neighbours in one
sequence. The same holds for each part of a response, such as a bit or a seed.
"""

from __future__ import annotations

import hashlib
import math
import os
import pickle
import select
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from types import FunctionType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, binomtest, chi2

from deniable.auditor.adapters import Command, LocalService
from deniable.auditor.findings import (
    CONSISTENT,
    VIOLATED,
    CheckContext,
    Figure,
    Finding,
)
from deniable.auditor.mechanisms import Called, Designed, Mechanism

_SECONDS = 120.0  # that a thread, a child or a new process may take
_THREADS, _CHILDREN, _STARTS = 3, 2, 2

Drawn: TypeAlias = list[Sequence[object]]


class LeftOut(Exception):
    """A mechanism cannot be asked there; says why."""


def _in_calls(mechanism: Mechanism, answers: Sequence[object]) -> Drawn:
    return [mechanism.responses(answers) for _ in range(2)]


def _in_threads(mechanism: Mechanism, answers: Sequence[object]) -> Drawn:
    if isinstance(mechanism, Command | LocalService):
        raise LeftOut("it does not run in this process")
    start = threading.Barrier(_THREADS)
    drawn: Drawn = []

    def run() -> None:
        start.wait(_SECONDS)
        drawn.append(mechanism.responses(answers))

    threads = [threading.Thread(target=run, daemon=True) for _ in range(_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_SECONDS)
    if len(drawn) < _THREADS:
        raise LeftOut("it does not respond in threads")
    return drawn


def _in_forks(mechanism: Mechanism, answers: Sequence[object]) -> Drawn:
    if isinstance(mechanism, Command | LocalService):
        raise LeftOut("it does not run in this process")
    if not hasattr(os, "fork"):
        raise LeftOut("nothing forks on this system")
    # what is set up at the first call is there before the fork
    mechanism.responses(answers[:1])
    return [
        *(_in_fork(mechanism, answers) for _ in range(_CHILDREN)),
        mechanism.responses(answers),
    ]


def _in_fork(mechanism: Mechanism, answers: Sequence[object]) -> Sequence[object]:
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # of threads, which the child does not have
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:  # pragma: no cover - another process
        try:
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump(list(mechanism.responses(answers)), pipe)
        finally:
            os._exit(0)
    os.close(writing)
    try:
        return _load_responses(_read_pipe(reading))
    finally:
        os.close(reading)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _read_pipe(reading: int) -> bytes:
    received, end = bytearray(), time.monotonic() + _SECONDS
    while select.select([reading], [], [], max(0.0, end - time.monotonic()))[0]:
        chunk = os.read(reading, 1 << 16)
        if not chunk:
            return bytes(received)
        received += chunk
    return b""


def _load_responses(received: bytes) -> Sequence[object]:
    try:
        responses: Sequence[object] = pickle.loads(received)  # noqa: S301 - of our own child
    except Exception:  # whatever a child that was cut short or a class that cannot be rebuilt raises
        raise LeftOut("it does not respond in a child of this process") from None
    return responses


def _after_restarts(mechanism: Mechanism, answers: Sequence[object]) -> Drawn:
    fresh: Callable[[], Mechanism] | None = getattr(mechanism, "fresh", None)
    if fresh is not None:
        return [_once(fresh(), answers) for _ in range(_STARTS)]
    if not _by_name(mechanism):
        raise LeftOut(
            "it cannot be started anew; hand over a function of a module, or a command"
        )
    return [_in_new_process(mechanism, answers) for _ in range(_STARTS)]


def _once(mechanism: Mechanism, answers: Sequence[object]) -> Sequence[object]:
    try:
        return mechanism.responses(answers)
    finally:
        getattr(mechanism, "close", lambda: None)()


def _by_name(mechanism: Mechanism) -> bool:
    """Whether another process finds the mechanism by its name, and not by a copy of its state."""
    if isinstance(mechanism, Designed):
        return mechanism.source is None
    function: Any = getattr(mechanism, "function", None)
    if (
        not isinstance(mechanism, Called)
        or not isinstance(function, FunctionType)
        or function.__module__ == "__main__"
    ):
        return False
    return (
        getattr(sys.modules.get(function.__module__), function.__qualname__, None)
        is function
    )


_NEW = """
import pickle, sys
sys.path[:] = pickle.load(sys.stdin.buffer)
ask, answers = pickle.load(sys.stdin.buffer)
pickle.dump([ask(each) for each in answers], sys.stdout.buffer)
"""


def _in_new_process(
    mechanism: Mechanism, answers: Sequence[object]
) -> Sequence[object]:
    payload = pickle.dumps(sys.path) + pickle.dumps(
        _call_of_process(mechanism, answers)
    )
    try:
        completed = subprocess.run(
            [sys.executable, "-c", _NEW],
            input=payload,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LeftOut("it does not respond in a new process") from None
    responses = _load_responses(completed.stdout)
    return responses[0] if isinstance(mechanism, Designed) else responses  # type: ignore[return-value]


def _call_of_process(
    mechanism: Any, answers: Sequence[object]
) -> tuple[Callable[..., object], list[object]]:
    """Return what a new process calls, and with what: nothing of the auditor, which would be loaded there as well."""
    if isinstance(mechanism, Designed):
        return partial(mechanism.engine.respond_all, mechanism.design), [[*answers]]
    return mechanism.function, [*answers]


PLACES: dict[str, Callable[[Mechanism, Sequence[object]], Drawn]] = {
    "from call to call": _in_calls,
    "in threads": _in_threads,
    "in forked children": _in_forks,
    "after restarts": _after_restarts,
}
"""Where sequences are drawn that must not repeat each other."""


Digests: TypeAlias = NDArray[np.uint64]
"""Digests of consecutive responses: a row for whole responses, and one for each of their parts."""

_RUN_DRAWS = 2048  # in each of the sequences that are compared
_SERIAL_DRAWS = 20_000
_MAX_PARTS = 512  # parts of a response that are told apart
_MAX_TESTED = 32  # of which so many are tested for dependence
_MIN_VARIED = 0.99  # a part whose neighbours agree more often hardly varies, and is passed over
_LAGS = (1, 2, 3, 4, 8, 16, 64)
_BINS = 8  # responses told apart when dependence is tested
_MIN_IN_BIN = 200  # so that the law of χ² holds far out
_CONFIRMED = 1e-3  # what looks dependent must look so once more, in draws of its own
_LOW_BITS = 16
_FEW_DRAWS = 100  # that show whether there are seeds at all
_WIDE = 0.9  # share of different values from which on a whole number is a seed, and no label


def repeats(context: CheckContext) -> Finding | None:
    """Compare sequences of responses to one answer, drawn in other calls, threads, forked children and processes."""
    if (
        not context.asks_freely
        or getattr(context.mechanism, "source", None) is not None
    ):
        return None
    figures: dict[str, Figure] = {}
    level = context.false_alarm / len(PLACES)
    draws = max(2, min(_RUN_DRAWS, context.draws // (4 * len(PLACES))))
    for n_done, (setting, drawn_there) in enumerate(PLACES.items()):
        context.progress("repeats", n_done / len(PLACES))
        try:
            drawn = [
                digests(responses)
                for responses in drawn_there(
                    context.mechanism, [context.answers[0]] * draws
                )
            ]
        except LeftOut as reason:
            figures[setting] = f"left out: {reason}"
            continue
        figures[setting] = _compare_sequences(drawn, level)
    return _repeats_finding(figures, draws)


def _repeats_finding(figures: dict[str, Figure], draws: int) -> Finding:
    repeated = [
        setting
        for setting, figure in figures.items()
        if str(figure).startswith("repeated")
    ]
    if repeated:
        return Finding(
            "repeats",
            VIOLATED,
            f"Responses repeat {' and '.join(repeated)}: {figures[repeated[0]]}. Whoever holds one sequence knows what "
            "was drawn for the other.",
            figures,
        )
    summary = "; ".join(
        f"{setting}: {figure}" for setting, figure in figures.items()
    )
    return Finding(
        "repeats",
        CONSISTENT,
        f"No sequence of {draws:,} responses repeats another ({summary}).",
        figures,
    )


def _compare_sequences(drawn: list[Digests], level: float) -> str:
    pairs = list(combinations(drawn, 2))
    if all(run_length(row, len(row), level) is None for row in drawn[0]):
        return "left out: responses to one answer hardly vary"
    for left, right in pairs:
        run = common_run(left, right, level=level / len(pairs))
        if run is not None:
            component, length = run
            responses_repeated = (
                f"part {component} of {length:,} responses"
                if component
                else f"{length:,} responses"
            )
            return f"repeated {responses_repeated} in the same order"
    return "fresh"


def digests(responses: Sequence[object]) -> Digests:
    """Return a row of digests for whole responses, and one for each part where all have equally many."""
    listed = list(responses)
    cache: dict[bytes, int] = {}
    return np.array(
        [
            [_digest(value, cache) for value in column]
            for column in (listed, *_columns(listed))
        ],
        np.uint64,
    )


def _columns(responses: Sequence[object]) -> Iterator[Sequence[object]]:
    """Yield the parts of responses one after another, where all have equally many."""
    parts = [_response_elements(response) for response in responses]
    count = len(parts[0]) if parts else 0
    if 1 < count <= _MAX_PARTS and all(len(elements) == count for elements in parts):
        yield from zip(*parts, strict=True)


def _response_elements(response: object) -> Sequence[object]:
    """Return the elements of a response: characters, items, bytes or fields."""
    content = getattr(response, "__dict__", None) or response
    if isinstance(content, dict):
        return list(content.values())
    if isinstance(content, np.ndarray):
        return content.ravel().tolist()
    return content if isinstance(content, str | bytes | list | tuple) else (content,)


def _digest(value: object, known: dict[bytes, int]) -> int:
    """Return 64 bits that stand for a value; those that are known already are not reckoned again."""
    text = value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode()
    if text not in known:
        known[text] = int.from_bytes(
            hashlib.blake2b(text, digest_size=8).digest(), "little"
        )
    return known[text]


def common_run(
    some: Digests, others: Digests, *, level: float
) -> tuple[int, int] | None:
    """Return a run that two sequences share beyond chance: of which part (0 for the whole), and how long.

    Guarantee: for independent draws one is found with probability `level` at most.
    """
    for component, (left, right) in enumerate(zip(some, others, strict=False)):
        length = run_length(left, len(right), level / len(some))
        if length is None:
            continue
        windows = {
            window.tobytes()
            for window in np.lib.stride_tricks.sliding_window_view(left, length)
        }
        if any(
            window.tobytes() in windows
            for window in np.lib.stride_tricks.sliding_window_view(right, length)
        ):
            return component, length
    return None


def run_length(sequence: Digests, other: int, level: float) -> int | None:
    """Return how long a common run must be to be no chance; None where draws hardly vary or are too few to tell."""
    pairs = len(sequence) // 2
    equal = int((sequence[: 2 * pairs : 2] == sequence[1 : 2 * pairs : 2]).sum())
    agreement = (
        float(beta.ppf(1 - level / 2, equal + 1, pairs - equal))
        if equal < pairs
        else 1.0
    )
    if agreement > _MIN_VARIED:
        return None
    length = math.ceil(
        math.log(2 * len(sequence) * other / level) / -math.log(agreement)
    )
    return length if length <= min(len(sequence), other) else None


def dependence(context: CheckContext) -> Finding | None:
    """Test whether a response depends on responses before it, or on the answer before it, beyond its own answer."""
    if not context.asks_freely:
        return None
    first = _suspects(context)
    level = context.false_alarm / max(1, len(first))
    suspects = [name for name, probability in first.items() if probability < level]
    again = _suspects(context) if suspects else {}
    confirmed = [name for name in suspects if again.get(name, 1.0) < _CONFIRMED]
    figures: dict[str, Figure] = {
        "tests": len(first),
        "least_chance": min(first.values(), default=1.0),
        "draws": 2 * _serial_draws(context),
    }
    if confirmed:
        return Finding(
            "dependence",
            VIOLATED,
            f"A response depends on {confirmed[0]}: independent draws look like that with probability "
            f"{first[confirmed[0]]:.1g}, and new draws confirm it.",
            figures,
        )
    sentence = f"Responses depend neither on those before nor on the answer before, in {len(first):,} tests."
    return Finding("dependence", CONSISTENT, sentence, figures)


def _serial_draws(context: CheckContext) -> int:
    return min(_SERIAL_DRAWS, context.draws // 4)


def _suspects(context: CheckContext) -> dict[str, float]:
    """Return for each dependence that was looked for how probable it is that independent draws look as dependent."""
    draws = _serial_draws(context)
    alone = digests(context.draw(np.zeros(draws, np.int64)))
    context.progress("dependence", 0.3)
    answers = context.generator().integers(
        min(len(context.answers), _BINS), size=draws
    )
    mixed = digests(context.draw(answers))
    parts = min(len(alone), len(mixed))
    p_values = {}
    for component in sorted(
        {
            0,
            *np.linspace(1, parts - 1, min(parts - 1, _MAX_TESTED))
            .astype(int)
            .tolist(),
        }
    ):
        suffix, row = f", part {component}" if component else "", alone[component]
        for lag in _LAGS:
            p_values[f"the one {lag} before it{suffix}"] = independent(
                row[lag:], row[:-lag]
            )
        before = answers[:-1].astype(np.uint64)
        p_values[f"the answer before it{suffix}"] = independent(
            mixed[component][1:], before, answers[1:]
        )
    return p_values


def independent(
    left: Digests, right: Digests, strata: NDArray[np.int64] | None = None
) -> float:
    """Return how probable it is that two independent columns look as dependent as these, within each stratum."""
    groups = np.zeros(len(left), np.int64) if strata is None else strata
    statistic, freedom = 0.0, 0
    for group in np.unique(groups):
        table = _table(left[groups == group], right[groups == group])
        expected = (
            table.sum(axis=1, keepdims=True)
            * table.sum(axis=0)
            / max(1, table.sum())
        )
        statistic += float(((table - expected) ** 2 / expected).sum())
        freedom += (table.shape[0] - 1) * (table.shape[1] - 1)
    return float(chi2.sf(statistic, freedom)) if freedom else 1.0


def _table(left: Digests, right: Digests) -> NDArray[np.float64]:
    rows, columns = _bin_values(left), _bin_values(right)
    table = np.zeros((rows.max(initial=0) + 1, columns.max(initial=0) + 1))
    np.add.at(table, (rows, columns), 1)
    return table


def _bin_values(values: Digests) -> NDArray[np.int64]:
    """Number the values, frequent ones each for itself; rare ones share numbers, by their digests."""
    _, numbers, counts = np.unique(values, return_inverse=True, return_counts=True)
    least = max(_MIN_IN_BIN, len(values) // (_BINS * _BINS))
    frequent = np.argsort(-counts)[:_BINS]
    frequent = frequent[counts[frequent] >= least]
    bins = np.full(len(counts), len(frequent))
    bins[frequent] = np.arange(len(frequent))
    numbered = bins[numbers]
    rare = numbered == len(frequent)
    if rare.sum() >= 2 * least:
        numbered[rare] += (values[rare] & np.uint64(1)).astype(np.int64)
    elif rare.any() and len(frequent):
        numbered[rare] = len(frequent) - 1
    return numbered


def low_order_bits(context: CheckContext) -> Finding | None:
    """Test whether the low-order bits of whole numbers that are seeds, and no labels, are fair coins."""
    if not context.asks_freely:
        return None
    if not _seeds(context, _FEW_DRAWS):
        return None
    draws = _serial_draws(context)
    columns = _seeds(context, draws)
    if not columns:
        return None
    level = context.false_alarm / (len(columns) * _LOW_BITS)
    chances = {}
    for number, column in enumerate(columns):
        for bit in range(_LOW_BITS):
            ones = sum(int(value) >> bit & 1 for value in column)  # type: ignore[call-overload]  # whole numbers all
            chances[number, bit] = (
                binomtest(ones, draws).pvalue if 0 < ones < draws else 1.0
            )
    (_, bit), least = min(chances.items(), key=lambda each: each[1])
    figures: dict[str, Figure] = {
        "seeds": len(columns),
        "bit": bit,
        "least_chance": float(least),
        "draws": draws,
    }
    if least < level:
        sentence = (
            f"Bit {bit} of a random number that is sent is no fair coin: that is "
            f"chance with probability {least:.1g}."
        )
        return Finding("low-order bits", VIOLATED, sentence, figures)
    return Finding(
        "low-order bits",
        CONSISTENT,
        "Low-order bits of random numbers that are sent are fair coins.",
        figures,
    )


def _seeds(context: CheckContext, draws: int) -> list[Sequence[object]]:
    """Draw for one answer, and return the parts of responses that are seeds."""
    listed = list(context.draw(np.zeros(draws, np.int64)))
    return [
        column for column in (listed, *_columns(listed)) if _is_seed_column(column)
    ]


def _is_seed_column(column: Sequence[object]) -> bool:
    is_whole = all(
        isinstance(value, int | np.integer) and not isinstance(value, bool)
        for value in column
    )
    return is_whole and len(set(column)) > _WIDE * len(column)

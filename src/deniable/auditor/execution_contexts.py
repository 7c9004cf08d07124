"""The same mechanism asked elsewhere: in another call, in threads, in forked children, in new processes."""

from __future__ import annotations

import os
import pickle
import select
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType
from typing import Any, TypeAlias

from deniable.auditor.adapters import Command, LocalService
from deniable.auditor.mechanisms import Called, Designed, Mechanism

__all__ = ["PLACES", "LeftOut"]

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
    mechanism.responses(
        answers[:1]
    )  # what is set up at the first call is there before the fork
    return [
        *(_in_fork(mechanism, answers) for _ in range(_CHILDREN)),
        mechanism.responses(answers),
    ]


def _in_fork(mechanism: Mechanism, answers: Sequence[object]) -> Sequence[object]:
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # of threads, which the child does not have
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
    except (
        Exception
    ):  # whatever a child that was cut short or a class that cannot be rebuilt raises
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

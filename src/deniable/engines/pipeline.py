"""Steps that run at the same time: one reads, one draws, one writes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from queue import Full, Queue
from threading import Event, Thread
from typing import Any, TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")

_DEPTH = 2  # items that wait: memory stays constant
_PATIENCE = 0.1  # seconds after which a thread looks whether anybody still waits for it


def ahead(items: Iterator[_T]) -> Generator[_T]:
    """Take items in a thread of their own, a few of them ahead of whoever asks.

    An error is raised where the item would have come. Whoever stops early closes the generator, which ends the thread.

    Example:
        >>> list(ahead(iter([1, 2, 3])))
        [1, 2, 3]
    """
    waiting: Queue[tuple[str, Any]] = Queue(_DEPTH)
    stop = Event()
    thread = Thread(target=_take, args=(items, waiting, stop), daemon=True)
    thread.start()
    try:
        while True:
            kind, item = waiting.get()
            if kind == "item":
                yield item
            elif kind == "error":
                raise item
            else:
                return
    finally:
        stop.set()
        thread.join()


def _take(items: Iterator[Any], waiting: Queue[tuple[str, Any]], stop: Event) -> None:
    try:
        for item in items:
            if not _put(("item", item), waiting, stop):
                break
        _put(("end", None), waiting, stop)
    except BaseException as error:
        _put(("error", error), waiting, stop)
    finally:
        if isinstance(items, Generator):
            items.close()


def _put(item: tuple[str, Any], waiting: Queue[tuple[str, Any]], stop: Event) -> bool:
    while not stop.is_set():
        try:
            waiting.put(item, timeout=_PATIENCE)
        except Full:
            continue
        return True
    return False


def in_order(
    items: Generator[_T], work: Callable[[_T], _R], threads: int
) -> Generator[_R]:
    """Do some work for each item on several threads, a few of them ahead, and yield the results in order.

    Example:
        >>> list(in_order((number for number in range(4)), lambda number: number**2, threads=2))
        [0, 1, 4, 9]
    """
    with closing(items):
        if threads == 1:
            yield from map(work, items)
            return
        with ThreadPoolExecutor(threads) as pool:
            begun: deque[Future[_R]] = deque()
            for item in items:
                begun.append(pool.submit(work, item))
                if len(begun) > threads:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()

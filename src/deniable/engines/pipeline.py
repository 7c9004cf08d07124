"""Steps that run at the same time: one reads, one draws, one writes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")

_DEPTH = 2  # items that wait: memory stays constant


def prefetch(items: Generator[_T]) -> Generator[_T]:
    """Iterate in a thread of its own, a few items ahead of the consumer.

    An error is raised where the item would have come. Whoever stops early closes the generator, which ends the thread.

    Example:
        >>> list(prefetch(number for number in [1, 2, 3]))
        [1, 2, 3]
    """
    end = object()
    with closing(items), ThreadPoolExecutor(1) as pool:
        waiting = deque(pool.submit(next, items, end) for _ in range(_DEPTH))
        try:
            while (item := waiting.popleft().result()) is not end:
                waiting.append(pool.submit(next, items, end))
                yield item  # type: ignore[misc]  # it is not the end
        finally:
            pool.shutdown(cancel_futures=True)


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

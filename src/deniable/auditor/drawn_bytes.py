"""How many random bytes a call takes: from the operating system, `random` and `numpy.random`, or a source of ours.

Generators that hold a state are read before and after: the number of words between two states of the Mersenne Twister
is a difference of positions and the turns of its table; between two states of PCG64 it is found bit by bit, as the
generator is a linear recurrence modulo 2^128.
"""

from __future__ import annotations

import gc
import os
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import BuiltinMethodType, CellType, CodeType, FunctionType, MethodType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from deniable.chance import SYSTEM, Source

__all__ = ["CountingSource", "Meter"]

_Twisted: TypeAlias = tuple[
    int, npt.NDArray[np.uint32]
]  # how many words of the table are used, and the table
_MT_WORDS = 624
_MOST_TURNS = (
    2_000  # 1.2 million words in one call; beyond that the generator was seeded anew
)
_PCG64 = 0x2360ED051FC65DA44385DF649FCCF645
_MASK = (1 << 128) - 1
_DEEPEST = 4  # references that are followed from a function to a generator
_MOST_SEEN = 2_000  # objects that are looked at on the way


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
            {id(generator): generator for generator in _generators(function)}.values()
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
            generator for generator in self._pcg if type(generator) is np.random.PCG64
        ]

    @contextmanager
    def watching(self) -> Iterator[Meter]:
        """Count what the operating system is asked for, whoever asks through Python's `os.urandom`."""
        original = os.urandom

        def counted(size: int) -> bytes:
            self._asked += size
            return original(size)

        homes = [module for module in list(sys.modules.values()) if module is not None]
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
            if id(node) in seen or len(seen) > _MOST_SEEN:
                continue
            seen.add(id(node))
            if isinstance(
                node, random.Random | np.random.RandomState | np.random.Generator
            ):
                yield node
            else:
                reached += _references(node)
        edge = reached


def _references(thing: Any) -> list[object]:
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


def _numpy_twister(generator: Any) -> Callable[[], _Twisted]:
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
    while turns < _MOST_TURNS and not np.array_equal(
        twin.state["state"]["key"], after[1]
    ):
        twin.random_raw(_MT_WORDS)
        turns += 1
    return after[0] - before[0] + _MT_WORDS * turns


def _steps(before: Any, after: Any) -> int:
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

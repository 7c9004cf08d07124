"""Who is asked: fixed people, or a sample of them; and cards or people that are drawn without replacement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidRequest

Counts: TypeAlias = NDArray[np.int64]
"""Counts, a row for each repetition."""

People: TypeAlias = Mapping[str, int] | Sequence[int] | Counts
"""How many people have each answer, by name or in the order of the categories."""

_MOST_DEALT = 10**9  # what NumPy's hypergeometric law takes


def read_people(categories: Sequence[str], people: People) -> Counts:
    """Read how many people have each answer.

    Raises:
        InvalidRequest: not a whole number of people for each category, or nobody at all.
    """
    known = list(categories)
    if isinstance(people, Mapping):
        strangers = [name for name in people if name not in known]
        given = np.array([0] if strangers else [people.get(name, 0) for name in known])
    else:
        given = np.asarray(people)
    if given.shape != (len(known),) or given.dtype.kind not in "iu" or given.min() < 0 or given.sum() < 1:
        raise InvalidRequest(
            f"these are not numbers of people with each answer; expected {len(known)} whole numbers, 0 or more.",
            "Give them in the order of the categories, or by name.",
        )
    return given.astype(np.int64)


def repeated(repetitions: int) -> int:
    """Read a number of repetitions.

    Raises:
        InvalidRequest: not a whole number, or none.
    """
    if isinstance(repetitions, bool) or not isinstance(repetitions, int | np.integer) or repetitions < 1:
        raise InvalidRequest(f"there are {repetitions!r:.40} repetitions; expected a whole number of at least 1.")
    return int(repetitions)


def asked(
    people: Counts, repetitions: int, respondents: int | None, *, replaced: bool, draws: np.random.Generator
) -> Counts:
    """Return how many of those who are asked have each answer, in each repetition.

    Raises:
        InvalidRequest: more respondents than people, or a number that is none.
    """
    everybody = int(people.sum())
    n = everybody if respondents is None else respondents
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1 or (n > everybody and not replaced):
        raise InvalidRequest(
            f"there are {n!r:.40} respondents of {everybody:,} people; expected at least 1, and at most all of them.",
            "With replaced=True the same person may be asked again.",
        )
    if replaced:
        return np.asarray(draws.multinomial(n, people / everybody, size=repetitions), np.int64)
    all_of_them = np.broadcast_to(people, (repetitions, len(people)))
    return all_of_them if n == everybody else dealt(all_of_them, np.full(repetitions, n), draws)


def dealt(kinds: Counts, number: Counts, draws: np.random.Generator) -> Counts:
    """Draw so many things without replacement in each repetition; return how many of each kind there are.

    Why: the first kind follows the hypergeometric law; given how many of it there are, the rest is drawn from the other
    kinds in the same way. NumPy's own multivariate law takes the same kinds for every repetition.

    Raises:
        InvalidRequest: more than a thousand million things.
    """
    if kinds.sum(axis=1).max() >= _MOST_DEALT:
        raise InvalidRequest(f"there are {_MOST_DEALT:,} or more to draw from without replacement; expected fewer.")
    drawn, left = np.empty_like(kinds), number.copy()
    behind = kinds.sum(axis=1)
    for kind in range(kinds.shape[1]):
        behind = behind - kinds[:, kind]
        drawn[:, kind] = draws.hypergeometric(kinds[:, kind], behind, left)
        left -= drawn[:, kind]
    return drawn

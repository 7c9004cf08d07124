"""Scores that tell two answers apart, learned from responses: the larger the score, the more it speaks for the first.

Facts of responses become codes (`Coder`), counts of codes say which of them differ between two answers, and from these
`scores` makes, the simpler first: one fact alone; the whole response, where there are few; the few facts that differ
most, in every combination; the logarithm of the ratio of likelihoods, added up over all facts, which is exactly right
where facts are independent. Whether a score is any good is seen on other draws: nothing here needs to be right for a
bound to hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.auditor.features import Facts

Codes: TypeAlias = NDArray[np.uint16]
Vector: TypeAlias = NDArray[np.float64]

_MAX_VALUES = 4096  # different values of a fact that are told apart
_BINS = 64  # stretches of a number that has more
_SEEN = 5  # a value that came up less often is not told apart from others
_DIFFERS = 3.0  # standard errors from which on a difference is believed, if there is one fact
_JOINED = (2, 3, 6, 10)  # how many facts are taken together
_SINGLE = 10  # facts that are tried alone
_WHOLE = ("whole", "response")  # how facts are called that are all of a response
_VERBS = ("is", "has", "holds", "lacks", "shows")
_MAX_ADDED = 256  # facts whose likelihoods are added up


@dataclass(frozen=True, eq=False)
class Coder:
    """Numbers the values of one fact: 0 for all that was rarely seen.

    Attributes:
        known: the values in order; of very many numbers the ends of stretches.
        stretches: whether they are such ends.
    """

    known: NDArray[Any]
    stretches: bool = False

    @classmethod
    def learn(cls, values: NDArray[Any]) -> Coder:
        """Learn which values there are."""
        distinct, counts = np.unique(values, return_counts=True)
        if len(distinct) > _MAX_VALUES // 4 and distinct.dtype.kind in "iuf":
            return cls(
                np.unique(np.quantile(values, np.linspace(0, 1, _BINS + 1)[1:-1])),
                stretches=True,
            )
        often = np.sort(np.argsort(counts, kind="stable")[-_MAX_VALUES:])
        return cls(distinct[often][counts[often] >= _SEEN])

    @property
    def size(self) -> int:
        """How many codes there are."""
        return len(self.known) + 1

    def code(self, values: NDArray[Any]) -> Codes:
        """Return the codes of values."""
        if self.stretches:
            return np.searchsorted(self.known, values, side="right").astype(
                np.uint16
            )
        if not len(self.known) or values.dtype.kind != self.known.dtype.kind:
            return np.zeros(len(values), np.uint16)
        at = np.searchsorted(self.known, values).clip(max=len(self.known) - 1)
        return np.where(self.known[at] == values, at + 1, 0).astype(np.uint16)

    def say(self, code: int, say: Callable[[Any], str]) -> str:
        """Return a code in words."""
        if self.stretches:
            low = f"at least {self.known[code - 1]:.6g}" if code else ""
            high = f"below {self.known[code]:.6g}" if code < len(self.known) else ""
            return f"is {' and '.join(filter(None, (low, high)))}"
        return str(say(self.known[code - 1])) if code else "is seldom seen"


Codebook: TypeAlias = dict[str, Coder]
Table: TypeAlias = dict[str, Codes]
"""The codes of a batch of responses, fact by fact."""


def tables(book: Codebook, seen: Facts, names: Iterable[str] | None = None) -> Table:
    """Return the codes of facts; a fact that a batch does not have is seldom seen."""
    columns = book if names is None else names
    rows = len(next(iter(seen.values())).values()) if seen else 0
    return {
        name: book[name].code(seen[name].values())
        if name in seen
        else np.zeros(rows, np.uint16)
        for name in columns
    }


class Fact(NamedTuple):
    """That a fact has one value; in words, and that it has another."""

    column: str
    code: int
    words: str
    denied: str


class Score(Protocol):
    """A number for each response; the larger, the more it speaks for the first answer."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The facts that it looks at."""
        ...

    def evaluate(self, table: Table) -> Vector:
        """Return the scores of a batch."""
        ...

    def say(self, least: float, most: float) -> str:
        """Return in words that the score lies from the one to the other."""
        ...


@dataclass(frozen=True, eq=False)
class Joined:
    """A few facts in every combination, each with what it was seen to say.

    Attributes:
        facts: which ones, at most ten.
        weights: the logarithm of the ratio of likelihoods of each combination; fact i is bit i of its number.
    """

    facts: tuple[Fact, ...]
    weights: Vector

    @property
    def columns(self) -> tuple[str, ...]:
        """The facts that it looks at."""
        return tuple(fact.column for fact in self.facts)

    def evaluate(self, table: Table) -> Vector:
        """Return the scores of a batch."""
        return np.asarray(self.weights[_combine_facts(self.facts, table)])

    def say(self, least: float, most: float) -> str:
        """Return in words that the score lies from the one to the other."""
        chosen = np.flatnonzero(
            (self.weights >= least) & (self.weights <= most)
        ).tolist()
        return _response(
            _combination_text(
                self.facts, chosen, np.flatnonzero(self.weights).tolist()
            )
        )


@dataclass(frozen=True, eq=False)
class Added:
    """The logarithms of the ratios of likelihoods of several facts, added up; of one fact alone, the ratio itself.

    Attributes:
        weights: for each fact what each of its codes says.
        words: the values that say most, in words, the strongest first.
    """

    weights: Mapping[str, Vector]
    words: tuple[tuple[float, str], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The facts that it looks at."""
        return tuple(self.weights)

    def evaluate(self, table: Table) -> Vector:
        """Return the scores of a batch."""
        parts = (weights[table[name]] for name, weights in self.weights.items())
        return np.asarray(sum(parts), np.float64)

    def say(self, least: float, most: float) -> str:
        """Return in words that the score lies from the one to the other."""
        sign = 1 if least > -np.inf else -1
        if len(self.weights) == 1:
            chosen = [
                words for weight, words in self.words if least <= weight <= most
            ]
            more = f" or is one of {len(chosen) - 3} more" if len(chosen) > 3 else ""
            return _response(
                f"{' or '.join(chosen[:3]) or 'is something else'}{more}"
            )
        telling = [words for weight, words in self.words if weight * sign > 0]
        many = len(self.weights)
        return f"a response that looks like one to it by {many} facts, such as: {'; '.join(telling[:2])}"


def scores(first: Table, second: Table, book: Codebook, seen: Facts) -> list[Score]:
    """Learn scores that speak for the first answer, the simpler ones first.

    Args:
        first: codes of responses to the first answer.
        second: codes of responses to the second.
        book: how facts were coded.
        seen: the facts, for words.
    """
    n, m = (len(next(iter(table.values()))) for table in (first, second))
    counts = {
        name: _counts(first[name], second[name], book[name].size) for name in book
    }
    strengths = {name: _strength(*pair, n, m) for name, pair in counts.items()}
    facts = _strongest(strengths, book, seen)
    if not facts:
        return []
    scores_found: list[Score] = [
        _join_facts((fact,), first, second) for fact in facts[:_SINGLE]
    ]
    joined = [
        _join_facts(facts[:size], first, second)
        for size in _JOINED
        if size <= len(facts)
    ]
    wholes = [name for name in book if book[name].size > 2 and name.endswith(_WHOLE)]
    scores_found += joined[:1]
    scores_found += [
        _add_columns([name], counts, strengths, book, seen) for name in wholes
    ]
    scores_found += joined[1:]
    least, telling = _informative_columns(strengths, wholes)
    if len(telling) > 1:
        scores_found.append(
            _add_columns(telling, counts, strengths, book, seen, least)
        )
    return scores_found


def _informative_columns(
    strengths: Mapping[str, Vector], wholes: list[str]
) -> tuple[float, list[str]]:
    """Return how strong a fact must be, and the columns that hold one, the strongest first."""
    least = _required_errors(strengths)
    telling = sorted(
        strengths, key=lambda name: -float(np.abs(strengths[name]).max())
    )[:_MAX_ADDED]
    telling = [
        name
        for name in telling
        if np.abs(strengths[name]).max() >= least and name not in wholes
    ]
    return least, telling


def _counts(first: Codes, second: Codes, size: int) -> tuple[Vector, Vector]:
    return np.bincount(first, minlength=size).astype(float), np.bincount(
        second, minlength=size
    ).astype(float)


def _strength(first: Vector, second: Vector, n: int, m: int) -> Vector:
    """Return by how many standard errors each value differs between two answers."""
    pooled = (first + second + 1) / (n + m + 2)
    return np.asarray(
        (first / n - second / m)
        / np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m) + 1e-300)
    )


def _required_errors(strengths: Mapping[str, Vector]) -> float:
    """Return the standard errors from which on a difference is believed, given how many are looked at."""
    return float(
        np.sqrt(_DIFFERS**2 + 2 * np.log(sum(map(len, strengths.values()))))
    )


def _strongest(
    strengths: Mapping[str, Vector], book: Codebook, seen: Facts
) -> tuple[Fact, ...]:
    """Return the facts that differ most, once each: of a fact with two values one says all."""
    ranked = sorted(
        (-abs(round(float(z), 6)), not name.endswith(_WHOLE), name, code)
        for name, strength in strengths.items()
        for code, z in enumerate(strength)
    )
    chosen: dict[tuple[str, int], Fact] = {}
    for _, _, name, code in ranked:
        if len(chosen) == max(_JOINED):
            break
        # of two values the second says what the first does
        two = book[name].size == 3
        at, say = (2 if two else code), seen[name].say
        words = book[name].say(at, say)
        chosen.setdefault(
            (name, at),
            Fact(name, at, words, book[name].say(1, say) if two else _negate(words)),
        )
    return tuple(chosen.values())


def _combine_facts(facts: tuple[Fact, ...], table: Table) -> Codes:
    number = np.zeros(len(table[facts[0].column]), np.uint16)
    for at, fact in enumerate(facts):
        number |= (table[fact.column] == fact.code).astype(np.uint16) << np.uint16(
            at
        )
    return number


def _join_facts(facts: tuple[Fact, ...], first: Table, second: Table) -> Joined:
    size = 1 << len(facts)
    counted = _counts(
        _combine_facts(facts, first), _combine_facts(facts, second), size
    )
    return Joined(facts, _log_ratio(*counted))


def _log_ratio(first: Vector, second: Vector) -> Vector:
    """Return what each value says; values that nobody sent say nothing."""
    n, m = first.sum(), second.sum()
    ratio = np.log((first + 0.5) / (n + 1)) - np.log((second + 0.5) / (m + 1))
    return np.where(first + second > 0, ratio, 0.0)


def _add_columns(
    names: list[str],
    counts: Mapping[str, tuple[Vector, Vector]],
    strengths: Mapping[str, Vector],
    book: Codebook,
    seen: Facts,
    least: float = 0.0,
) -> Added:
    weights = {
        name: np.where(
            np.abs(strengths[name]) >= least, _log_ratio(*counts[name]), 0.0
        )
        for name in names
    }
    ranked = sorted(
        (
            (-abs(float(weight)), float(weight), name, code)
            for name in names
            for code, weight in enumerate(weights[name])
        )
    )
    words = tuple(
        (weight, book[name].say(code, seen[name].say))
        for _, weight, name, code in ranked[:_MAX_ADDED]
    )
    return Added(weights, words)


def _combination_text(
    facts: tuple[Fact, ...], chosen: list[int], seen: list[int]
) -> str:
    """Return which combinations of facts are meant, in words: what they have in common, where that says it all."""
    every = range(len(facts))
    always = [at for at in every if all(number >> at & 1 for number in chosen)]
    never = [at for at in every if not any(number >> at & 1 for number in chosen)]
    common = " and ".join(
        [facts[at].words for at in always] + [facts[at].denied for at in never]
    )
    alike = [
        pattern
        for pattern in seen
        if all(pattern >> at & 1 for at in always)
        and not any(pattern >> at & 1 for at in never)
    ]
    if set(alike) <= set(chosen):
        return common
    others_shown = [
        facts[at].words for at in every if at not in always and at not in never
    ]
    sentence = f"{common} and shows" if common else "shows"
    return f"{sentence} one of {len(chosen)} combinations of whether it {', whether it '.join(others_shown[:4])}"


def _response(words: str) -> str:
    """Return a response of which something holds: of itself, or of a part of it."""
    return f"a response {'that' if words.startswith(_VERBS) else 'whose'} {words}"


def _negate(words: str) -> str:
    """Return that something does not hold.

    Example:
        >>> _negate("stage_1 holds 'tea'"), _negate("is 'yes'")
        ("stage_1 lacks 'tea'", "is not 'yes'")
    """
    opposites = {
        " holds ": " lacks ",
        " lacks ": " holds ",
        " is ": " is not ",
        " has ": " has not ",
    }
    padded = f" {words}"
    at, verb = min(
        (padded.index(opposite), opposite)
        for opposite in opposites
        if opposite in padded
    )
    return f"{padded[:at]}{opposites[verb]}{padded[at + len(verb) :]}".strip()

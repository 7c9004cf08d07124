"""Makes exhibits one after the other, and sums up what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deniable import chance
from deniable.audit.simulate import generator
from deniable.errors import InvalidRequest
from deniable.reproduce import registry
from deniable.reproduce.values import Content, Exhibit, Point, Setting, Value, Verdict

Told = Callable[[Exhibit, float], None]
"""Called before each exhibit, with the share of the work that is done."""

FEWEST = 100
"""Repetitions below which the errors of simulated points would not be known well enough to flag any."""


@dataclass(frozen=True, slots=True)
class Made:
    """An exhibit, and what it shows."""

    exhibit: Exhibit
    content: Content


@dataclass(frozen=True, slots=True)
class Results:
    """What a run made.

    Attributes:
        made: exhibits with what they show, in order.
        repetitions: of every simulation.
        whole: whether all documents were asked for.
    """

    made: tuple[Made, ...]
    repetitions: int
    whole: bool = False

    @property
    def values(self) -> list[Value]:
        """All printed values, with ours."""
        return [value for each in self.made for value in each.content.values]

    @property
    def points(self) -> list[Point]:
        """All simulated points, with their theory."""
        return [point for each in self.made for point in each.content.points]

    @property
    def flagged(self) -> list[Point]:
        """The points that are too far from their theory."""
        return [point for point in self.points if point.flagged]

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many printed values have each verdict."""
        seen = Counter(value.verdict for value in self.values)
        order: tuple[Verdict, ...] = ("agrees", "the document is wrong", "differs")
        return {verdict: seen[verdict] for verdict in order}

    @property
    def uncovered(self) -> list[str]:
        """The printed values that nothing compares; empty unless all documents were asked for."""
        return list(registry.uncovered(self.values)) if self.whole else []


def setting(repetitions: int = 10_000, *, source: chance.Source = chance.SYSTEM) -> Setting:
    """Return how exhibits are made: how often simulations repeat, and where their randomness begins.

    Raises:
        InvalidRequest: too few repetitions to tell how far off a simulation may be.
    """
    if repetitions < FEWEST:
        raise InvalidRequest(f"there are {repetitions} repetitions; expected at least {FEWEST}.")
    return Setting(generator(source), repetitions)


def run(
    exhibits: Sequence[Exhibit],
    chosen: Setting,
    *,
    whole: bool = False,
    told: Told | None = None,
    each: Callable[[Made], None] | None = None,
) -> Results:
    """Make exhibits in order.

    Args:
        exhibits: which.
        chosen: how; see `setting`.
        whole: whether these are all exhibits of all documents.
        told: is told of the progress.
        each: is handed each exhibit when it is made.
    """
    total, done = sum(exhibit.weight for exhibit in exhibits), 0.0
    found = []
    for exhibit in exhibits:
        if told is not None:
            told(exhibit, done / total)
        found.append(Made(exhibit, exhibit.make(chosen)))
        if each is not None:
            each(found[-1])
        done += exhibit.weight
    return Results(tuple(found), chosen.repetitions, whole)

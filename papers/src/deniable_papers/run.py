"""The five papers with their exhibits, made one after the other, and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module

from deniable import chance
from deniable.attacks.simulated import generator
from deniable.errors import InvalidRequest, quoted
from deniable_papers.values import (
    FORMS,
    VERDICTS,
    Content,
    Exhibit,
    Form,
    Kind,
    Point,
    Setting,
    Value,
    Verdict,
    everything,
)


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A paper, and the module of this package that makes it again.

    Attributes:
        name: on the command line, and of the module.
        number: in the golden file, as "003".
        about: what it is about.
        authors: as they are cited.
        year: when it appeared.
    """

    name: str
    number: str
    about: str
    authors: str
    year: int

    @property
    def title(self) -> str:
        """What it is about, and who wrote it when."""
        return f"{self.about}: {self.authors} ({self.year})"

    @property
    def exhibits(self) -> tuple[Exhibit, ...]:
        """What can be made again, in the order of the paper."""
        return tuple(import_module(f"deniable_papers.{self.name}").exhibit)


DOCUMENTS = (
    SourceDocument(
        "rr3", "000", "Three answers, and key-value data", "Ma and Wang", 2021
    ),
    SourceDocument(
        "minimax",
        "001",
        "What counts as private, and the best designs for many categories",
        "Chai",
        2019,
    ),
    SourceDocument(
        "binary",
        "002",
        "The best designs for two answers under (ε, δ)",
        "Holohan, Leith and Mason",
        2017,
    ),
    SourceDocument(
        "cards",
        "003",
        "Finite populations, and devices made of cards",
        "Sun, Yan and Zhou",
        2023,
    ),
    SourceDocument("gradual", "004", "A response released in stages", "Pan", 2024),
)


def document(name: str) -> SourceDocument:
    """Return a paper.

    Raises:
        InvalidRequest: a name that none has.
    """
    for each in DOCUMENTS:
        if each.name == name:
            return each
    raise InvalidRequest(
        f"there is no paper {quoted(name)}; expected one of {', '.join(each.name for each in DOCUMENTS)}, or all."
    )


def select(name: str, wanted: Iterable[tuple[Kind, str]] = ()) -> list[Exhibit]:
    """Return the exhibits of a paper, or of all, or those of them that are asked for.

    Args:
        name: of a paper, or "all".
        wanted: kinds and numbers; everything, if there is none.

    Raises:
        InvalidRequest: a paper that does not exist, or an exhibit that it does not have.
    """
    chosen = list(wanted)
    if name == "all":
        if chosen:
            raise InvalidRequest(
                "every document has its own numbers; expected one document, or no number."
            )
        return [exhibit for each in DOCUMENTS for exhibit in each.exhibits]
    exhibits = document(name).exhibits
    if not chosen:
        return list(exhibits)
    known = {(exhibit.kind, exhibit.number): exhibit for exhibit in exhibits}
    for kind, number in chosen:
        if (kind, number) not in known:
            have = [exhibit.number for exhibit in exhibits if exhibit.kind == kind]
            expected = (
                f"expected one of {', '.join(have)}"
                if have
                else f"it has no {kind} that is made again"
            )
            raise InvalidRequest(
                f"{name} has no {kind} {quoted(number)}; {expected}."
            )
    return [known[each] for each in chosen]


def uncovered(values: Iterable[Value]) -> Iterator[str]:
    """Return the ids of printed values that none of these compares."""
    met = {value.entry.id for value in values}
    return (id for id in everything() if id not in met)


Progress = Callable[[Exhibit, float], None]
"""Called before each exhibit, with the share of the work that is done."""

FEWEST = 100
"""Repetitions below which the errors of simulated points would not be known well enough to flag any."""


@dataclass(frozen=True, slots=True)
class Made:
    """An exhibit, and what it shows."""

    exhibit: Exhibit
    content: Content


@dataclass(frozen=True, slots=True)
class Reproduction:
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
    def counts(self) -> dict[Form, dict[Verdict, int]]:
        """How many printed numbers, and how many formulas and statements, have each verdict."""
        seen = Counter((value.entry.form, value.verdict) for value in self.values)
        return {
            form: {verdict: seen[form, verdict] for verdict in VERDICTS}
            for form in FORMS
        }

    @property
    def differing(self) -> list[Value]:
        """The values that neither agree nor are explained."""
        return [value for value in self.values if value.verdict == "differs"]

    @property
    def uncovered(self) -> list[str]:
        """The printed values that nothing compares; empty unless all documents were asked for."""
        return list(uncovered(self.values)) if self.whole else []


def setting(
    repetitions: int = 10_000, *, source: chance.Source = chance.SYSTEM
) -> Setting:
    """Return how exhibits are made: how often simulations repeat, and where their randomness begins.

    Raises:
        InvalidRequest: too few repetitions to tell how far off a simulation may be.
    """
    if repetitions < FEWEST:
        raise InvalidRequest(
            f"there are {repetitions} repetitions; expected at least {FEWEST}."
        )
    return Setting(generator(source), repetitions)


def run(
    exhibits: Sequence[Exhibit],
    chosen: Setting,
    *,
    whole: bool = False,
    progress: Progress | None = None,
    on_made: Callable[[Made], None] | None = None,
) -> Reproduction:
    """Make exhibits in order.

    Args:
        exhibits: which.
        chosen: how; see `setting`.
        whole: whether these are all exhibits of all papers.
        progress: is told before each exhibit.
        on_made: is handed each exhibit when it is made.
    """
    total, done = sum(exhibit.weight for exhibit in exhibits), 0.0
    made = []
    for exhibit in exhibits:
        if progress is not None:
            progress(exhibit, done / total)
        made.append(Made(exhibit, exhibit.make(chosen)))
        if on_made is not None:
            on_made(made[-1])
        done += exhibit.weight
    return Reproduction(tuple(made), chosen.repetitions, whole)

"""What can be audited: anything that turns answers into responses, seen from outside.

of_callable   a function from an answer to a response
of_design     a design of ours, on any engine
jointly       several of them side by side: several questions asked of one person
mechanism     whichever of these, or of those in `adapters`, fits what is handed over

What a mechanism returns is looked at as it is: the order of the elements of a list, the letters of a text, the type.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from deniable.auditor.adapters import of_command, of_endpoint, of_pairs
from deniable.chance import SYSTEM, Source
from deniable.designs import AnyDesign
from deniable.engines import Engine, Local
from deniable.errors import InvalidRequest
from deniable.types import find_operation, operation

_MAX_ANSWERS = (
    4096  # combinations of answers that are listed where a design has very many
)


@runtime_checkable
class Mechanism(Protocol):
    """Anything that turns answers into responses: a black box.

    Some say more, and what they say is taken where nobody says otherwise: `answers` that it can be asked about, the
    `epsilon` that it claims, the `design` that it claims to be. One that holds a fixed sample and cannot draw says by
    `left(answer)` how many responses to an answer it can still give; its `responses` gives each of them once.
    """

    @property
    def name(self) -> str:
        """What it is called in reports."""
        ...

    def responses(self, answers: Sequence[object]) -> Sequence[object]:
        """Return one response for each answer, in their order."""
        ...


@dataclass(frozen=True)
class Called:
    """A Python function from an answer to a response."""

    name: str
    function: Callable[[Any], object]
    answers: tuple[object, ...] = ()
    epsilon: float | None = None

    def responses(self, answers: Sequence[object]) -> Sequence[object]:
        """Call the function for each answer."""
        return [self.function(answer) for answer in answers]


@dataclass(frozen=True)
class Designed:
    """A design of ours on an engine. Responses stay arrays, so that millions are drawn in a moment.

    Attributes:
        name: what it is called in reports.
        design: what is drawn with, of any type but a deck.
        engine: where rows run.
        source: random bytes; None for the engine's own, which is fresh in every call.
    """

    name: str
    design: AnyDesign
    engine: Engine = field(default_factory=Local)
    source: Source | None = None

    @property
    def answers(self) -> tuple[object, ...]:
        """Answers that the design knows: all of them, or, where they have no end, a few that differ much."""
        return known_answers(self.design)

    @property
    def epsilon(self) -> float:
        """The ε that the design claims."""
        return float(self.design.epsilon)  # type: ignore[attr-defined]  # all types but a deck have one

    def responses(self, answers: Sequence[object]) -> Sequence[object]:
        """Draw a response for each answer."""
        return self.engine.respond_all(self.design, answers, **self._options())  # type: ignore[return-value]

    def draw(self, answers: Sequence[object], numbers: NDArray[np.int64]) -> object:
        """Draw for answers that are given by their number, which is quick where the design has categories."""
        answer_codes = find_operation(self.design, "answer_codes")
        if answer_codes is None:
            return self.responses([answers[number] for number in numbers.tolist()])
        codes = np.array(answer_codes(self.design, answers), np.int64)
        return self.engine.respond_all(
            self.design, codes[numbers], codes=True, **self._options()
        )

    def _options(self) -> dict[str, Any]:
        return {} if self.source is None else {"source": self.source}


@dataclass(frozen=True)
class Joint:
    """Several mechanisms side by side: an answer to each goes in, a response of each comes out."""

    name: str
    parts: tuple[Mechanism, ...]

    @property
    def answers(self) -> tuple[object, ...]:
        """Every combination of the answers that the parts know."""
        known_answers = (
            getattr(mechanism, "answers", ()) for mechanism in self.parts
        )
        return tuple(
            itertools.islice(itertools.product(*known_answers), _MAX_ANSWERS)
        )

    @property
    def epsilon(self) -> float | None:
        """What the parts claim together: the sum; None where one of them claims nothing."""
        claims = [getattr(mechanism, "epsilon", None) for mechanism in self.parts]
        return None if None in claims else sum(claims)  # type: ignore[arg-type]

    def responses(self, answers: Sequence[object]) -> Sequence[object]:
        """Return the responses of all parts, as tuples."""
        columns: Any = zip(*answers, strict=True)  # an answer is a tuple here
        drawn = [
            mechanism.responses(column)
            for mechanism, column in zip(self.parts, columns, strict=True)
        ]
        return list(zip(*drawn, strict=True))


def of_callable(function: Callable[[Any], object], *, name: str = "") -> Called:
    """Return a mechanism that calls a function for each answer.

    Example:
        >>> of_callable(lambda answer: answer).responses(["yes", "no"])
        ['yes', 'no']
    """
    return Called(
        name or getattr(function, "__qualname__", "") or type(function).__name__,
        function,
    )


def of_design(
    design: AnyDesign,
    engine: Engine | None = None,
    *,
    source: Source | None = None,
    name: str = "",
) -> Mechanism:
    """Return a mechanism that draws with a design of ours, of any type: categories, stages, records, cards.

    Args:
        design: what is drawn with. Of a deck each draw is the first card of a deck that is shuffled for it: what
            somebody learns who sees one response and no other.
        engine: where rows run; this machine by default.
        source: random bytes, for tests; by default whatever the engine takes, which is what people get.
        name: what it is called in reports.
    """
    title = name or f"{getattr(design, 'name', '') or design.asks} of ours"
    respond_alone = find_operation(design, "respond_alone")
    if respond_alone is not None:
        chance = SYSTEM if source is None else source
        epsilon = operation(design, "claimed_epsilon")(design)
        return Called(
            title,
            lambda answer: respond_alone(design, answer, chance),
            known_answers(design),
            epsilon,
        )
    return Designed(title, design, Local() if engine is None else engine, source)


def jointly(*parts: Mechanism, name: str = "") -> Joint:
    """Return several mechanisms as one whose answers and responses are tuples: what is known of a person after all.

    Raises:
        InvalidRequest: fewer than two.
    """
    if len(parts) < 2:
        raise InvalidRequest(
            f"there are {len(parts)} mechanisms side by side; expected at least two."
        )
    return Joint(name or " and ".join(mechanism.name for mechanism in parts), parts)


def mechanism(thing: object, *, source: Source | None = None) -> Mechanism:
    """Return what is handed over as a mechanism.

    Args:
        thing: a design, a function, or a mechanism as it is; a path to a file of answers and responses; an address of
            HTTP on this machine, or a command, as text.
        source: random bytes for a design, for tests.

    Raises:
        InvalidRequest: none of these.
    """
    if isinstance(thing, os.PathLike):
        return of_pairs(thing)
    if isinstance(thing, str):
        return (
            of_endpoint(thing)
            if "://" in thing.partition(" ")[0]
            else of_command(thing)
        )
    if find_operation(thing, "known_answers") is not None:
        return of_design(cast("AnyDesign", thing), source=source)
    if isinstance(thing, Mechanism):
        return thing
    if callable(thing):
        return of_callable(thing)
    raise InvalidRequest(
        f"a {type(thing).__name__} cannot be audited; expected a design, a function from an answer to a response, a "
        "command, an address on this machine, a path to a file, or a mechanism.",
        "Something with a name and responses(answers) is a mechanism.",
    )


def known_answers(design: AnyDesign) -> tuple[object, ...]:
    """Return answers that a design knows: all categories, or a few answers that differ much, where they have no end."""
    return tuple(
        itertools.islice(operation(design, "known_answers")(design), _MAX_ANSWERS)
    )

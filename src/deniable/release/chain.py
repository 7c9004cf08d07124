"""The stages of one question that are out, in order; where another one stands among them, and how it is drawn."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from deniable import chance, exact
from deniable.designs import Design
from deniable.errors import Incompatible, InvalidRequest, NotAllowed, NotOrdered
from deniable.order.blackwell import find_step
from deniable.order.ladders import check_alike, step_from_body, step_to_body
from deniable.order.relaxation import relax
from deniable.order.steps import Step

__all__ = ["Find", "Place", "Staged", "check_same", "place", "remember", "remembered", "step"]


class Staged(Protocol):
    """What can be a stage: a `Design`, or a string design within a cohort."""

    @property
    def hash(self) -> str:
        """The content hash."""
        ...

    @property
    def channel(self) -> Any:
        """How responses are drawn, by number."""
        ...

    @property
    def categories(self) -> Any:
        """What the stages of one question have in common."""
        ...

    @property
    def symbols(self) -> Any:
        """What responses are called, by number."""
        ...

    @property
    def parity(self) -> exact.Ratio:
        """The parity, exactly."""
        ...

    @property
    def epsilon(self) -> float:
        """The ε, rounded up."""
        ...

    def category_number(self, category: str | Mapping[str, str], /) -> int:
        """Return the number of an answer."""
        ...

    def to_json(self) -> str:
        """Return the design as JSON."""
        ...


Find = Callable[[Staged, Staged], Step | None]
"""From a coarser and a finer design to the relaxation between them, or None where there is none."""


@dataclass(frozen=True)
class Place:
    """Where a design stands in a chain of others, each of which is a garbling of the next.

    Attributes:
        at: how many stages of the chain lie below it.
        below: the relaxation from the next coarser stage, if there is one.
        above: the relaxation to the next finer stage, if there is one.
    """

    at: int
    below: Step | None
    above: Step | None

    @property
    def finest(self) -> bool:
        """Whether nothing finer is out, so that the answer is needed."""
        return self.above is None

    def draw(
        self,
        design: Staged,
        answer: int | None,
        *,
        coarser: int | None,
        finer: int | None,
        source: chance.Source = chance.SYSTEM,
    ) -> int:
        """Draw the response of a stage, given the responses of its neighbours that are out.

        Args:
            design: what stands at this place.
            answer: the number of the true answer; not looked at where a finer response is out.
            coarser: the response of the next coarser stage, if there is one.
            finer: the response of the next finer stage, if there is one.
            source: random bytes.

        Raises:
            NotAllowed: the answer is needed and was erased.
        """
        if self.above is not None and finer is not None:
            if self.below is None or coarser is None:
                return self.above.degrade(finer, source)
            return self.below.between(self.above, coarser, finer, source)
        if answer is None:
            raise NotAllowed(
                "the answer was erased, and this stage is finer than all that were drawn; expected a coarser one.",
                "Nothing beyond the stages that were drawn can be released any more.",
            )
        if self.below is None or coarser is None:
            return int(design.channel.draw(answer, source))
        return self.below.upgrade(coarser, answer, source)


def place(design: Staged, stages: Sequence[Staged], *, find: Find | None = None) -> Place:
    """Find where a design stands among the stages that are out.

    Args:
        design: another stage.
        stages: those that are out, the coarsest first.
        find: how the relaxation from one design to another is found; `step` by default, and `remembered` where some
            were drawn already.

    Raises:
        NotOrdered: it cannot be compared with one of them.
        Incompatible: it is about other categories.
        InvalidRequest: it lies between two stages whose step does not lead through it.
    """
    find = find or step
    for each in stages[-1:]:
        check_same(each, design)
    at = len(stages)
    below: Step | None = None
    while at and below is None:
        below = find(stages[at - 1], design)
        at -= below is None
    if at == len(stages):
        return Place(at, below, None)
    above = find(design, stages[at])
    if above is None:
        raise _not_in_line(design, stages[at])
    if below is not None:
        whole = find(stages[at - 1], stages[at])
        if whole is None or not below.composes(above, whole):
            raise InvalidRequest(
                f"{design!r} lies between two stages that are out, but they were not drawn through it; expected a "
                "design of their own family.",
                "Plan the whole ladder beforehand, or release stages in rising order.",
            )
    return Place(at, below, above)


def check_same(old: Staged, new: Staged) -> None:
    """Refuse two designs that are not about the same answers.

    Raises:
        Incompatible: they are not.
    """
    if isinstance(old, Design) and isinstance(new, Design):
        check_alike(old, new)
    elif old.categories != new.categories:
        raise Incompatible("the designs are about different answers; expected stages of one question.")


def step(old: Staged, new: Staged) -> Step | None:
    """Return the relaxation from one design to another, or None where there is none."""
    found = find_step(old.channel, new.channel)
    return found if isinstance(found, Step) else None


def remembered(bodies: Mapping[tuple[str, str], str]) -> Find:
    """Return how to find relaxations of which some were drawn already.

    Why: where several garblings are right, a search may find another one than the one that was drawn with.

    Args:
        bodies: what `remember` wrote, by the hashes of the coarser and the finer design.
    """

    def find(old: Staged, new: Staged) -> Step | None:
        body = bodies.get((old.hash, new.hash))
        return step(old, new) if body is None else step_from_body(json.loads(body), old.channel, new.channel)

    return find


def remember(step: Step) -> str:
    """Return a relaxation as JSON, for `remembered`."""
    return json.dumps(step_to_body(step))


def _not_in_line(design: Staged, out: Staged) -> NotOrdered:
    """Tell why a design has no place: it is neither coarser nor finer than one that is out."""
    if isinstance(out, Design) and isinstance(design, Design):
        try:
            relax(out, design)
        except NotOrdered as error:
            return error
    return NotOrdered(f"{design!r} is neither coarser nor finer than {out!r}, which is out; expected one that is.")

"""Stages of one question: designs that tell more and more, and the relaxations between them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from deniable import channel as channels
from deniable import documents, exact
from deniable.channel import Channel, Dense
from deniable.designs import AnyDesign, Design
from deniable.designs.labels import same_labels
from deniable.errors import (
    Incompatible,
    InvalidDesign,
    InvalidRequest,
    UnreadableFile,
    quoted,
)
from deniable.exact import Ratio
from deniable.order.closed_forms import (
    factor_pairs,
    find_closed_form,
    step_to_body,
    through_sets,
)
from deniable.order.sets import Nested
from deniable.order.steps import Factors, Step, Tabulated
from deniable.rendering import formats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.estimates.sampling import SampledEstimate, Sampling
    from deniable.tallies.stages import StageTallies
    from deniable.types.ladder import count as _count
    from deniable.types.ladder import draw as _draw
    from deniable.types.ladder import respond as _respond

_MAX_HISTORIES = 1_000_000  # cells of a joint channel that are written out: seconds


AnyStage = TypeVar("AnyStage")
"""The design of a single stage, of any kind."""


@dataclass(frozen=True, eq=False)
class Relaxation:
    """One rung: from a response of `old` to a response of `new`.

    Guarantee: whoever sees both responses knows no more than whoever sees the finer one: the joint ε is `new`'s.

    Attributes:
        old: the coarser design.
        new: the finer design.
        step: how a response is raised, or degraded, in exact numbers.
    """

    old: Design
    new: Design
    step: Step

    def __post_init__(self) -> None:
        check_alike(self.old, self.new)
        if (self.step.old, self.step.new) != (
            self.old.channel,
            self.new.channel,
        ) or not self.step.verify():
            raise InvalidDesign(
                "this step does not lead from the one design to the other exactly."
            )

    def kernel(self, symbol: str, *, old: str, given: str) -> Fraction:
        """Return the probability of a finer symbol, given the coarser one and the answer."""
        return self.step.kernel(
            self.new.symbol_number(symbol),
            old=self.old.symbol_number(old),
            given=self.new.category_number(given),
        )

    def garbling(self, old: str, new: str) -> Fraction:
        """Return the probability that a finer symbol is degraded to a coarser one."""
        return self.step.garbling(
            self.old.symbol_number(old), self.new.symbol_number(new)
        )

    @property
    def alone_parity(self) -> Ratio:
        """Parity of the second response for an observer of the first: at most the product of both.

        It is no cost: the two together have the parity of the finer design. Written out, so for small designs only.
        """
        old, new = self.step.old, self.step.new
        check_cells(old.responses * new.responses * new.answers)
        ratios: list[Ratio] = []
        for old_response in range(old.responses):
            senders = [
                x
                for x in range(new.answers)
                if old.probability(old_response, given=x)
            ]
            for new_response in range(new.responses):
                row = [
                    self.step.kernel(new_response, old=old_response, given=x)
                    for x in senders
                ]
                ratios.append(exact.parity(row) if row else Fraction(1))
        return max(ratios)

    @property
    def alone_epsilon(self) -> float:
        """The logarithm of `alone_parity`, rounded up."""
        return exact.log_above(self.alone_parity)


@dataclass(frozen=True, eq=False)
class Ladder(AnyDesign):
    """The stages of one question, the coarsest first.

    Guarantee: the responses of all stages together have the ε of the finest one that was released, exactly; each by
    itself is a response of its stage's design.

    Attributes:
        designs: a design for each stage.
        steps: the relaxations between neighbours, one fewer.
    """

    SCHEMA: ClassVar[str] = "ladder"
    asks: ClassVar[str] = "ladder"
    accepts_codes: ClassVar[bool] = True
    has_stages: ClassVar[bool] = True
    designs: tuple[Design, ...]
    steps: tuple[Step, ...]

    # signatures of the verbs; a design must not load what takes an answer
    if TYPE_CHECKING:
        respond = _respond.respond
        respond_all = _draw.respond_all
        tally = _count.tally

        def count_sent(self, *, reached: object = None) -> StageTallies: ...
        def estimate_sampled(
            self,
            *,
            sampling: Sampling,
            reached: object = None,
            denominator: object = None,
            domain: object = None,
            by: object = None,
        ) -> SampledEstimate: ...

    def __post_init__(self) -> None:
        if not self.designs or len(self.steps) != len(self.designs) - 1:
            raise InvalidDesign(
                f"there are {len(self.designs)} stages and {len(self.steps)} steps; expected at least one stage, and a "
                "step between each two."
            )
        if len({design.hash for design in self.designs}) < len(self.designs):
            raise InvalidDesign(
                "a stage occurs twice; expected designs that tell more and more."
            )
        assert self.relaxations is not None  # each checks itself

    @cached_property
    def relaxations(self) -> tuple[Relaxation, ...]:
        """The steps, each with its two designs."""
        pairs = zip(self.designs, self.designs[1:], self.steps, strict=False)
        return tuple(Relaxation(old, new, step) for old, new, step in pairs)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(f"stage_{number}" for number in range(1, len(self) + 1))

    def device_of(self, column: str) -> Design:
        return self.designs[self.columns.index(column)]

    def symbols_in(self, column: str, rows: NDArray[Any]) -> list[str]:
        return self.device_of(column).symbols_in(column, rows)

    def __len__(self) -> int:
        return len(self.designs)

    def __iter__(self) -> Iterator[Design]:
        return iter(self.designs)

    def stage(self, design: str) -> int:
        """Return the number of a stage, counted from 0, by the hash of its design.

        Raises:
            Incompatible: no stage of this ladder.
        """
        for number, stage_design in enumerate(self.designs):
            if stage_design.hash == design:
                return number
        raise Incompatible(
            f"the design {quoted(design, 30)} is no stage of this ladder; expected one of its {len(self)}.",
            "A response names its design by hash; hand over the ladder that it was drawn with.",
        )

    @property
    def categories(self) -> Sequence[str]:
        """Labels of the possible answers."""
        return self.designs[0].categories

    @property
    def epsilons(self) -> tuple[float, ...]:
        """The ε that is spent in all after each stage, certified."""
        return tuple(design.epsilon for design in self.designs)

    @cached_property
    def joint_parity(self) -> Ratio:
        """The parity of all responses together, from the numbers that are drawn with.

        Small ladders are gone through: every history of responses and every answer. For the others it follows: each
        step has verified that P₁ = C·P₂ with its own numbers, so that the joint law is P_n times garblings, which do
        not look at the answer, and every response of the last stage belongs to some history.
        """
        if self._cells() <= _MAX_HISTORIES // 100:
            return self.joint().parity
        assert all(step.verify() for step in self.steps)
        return self.designs[-1].parity

    @property
    def epsilon(self) -> float:
        """The ε of all stages together, rounded up."""
        return exact.log_above(self.joint_parity)

    def joint(self) -> Dense:
        """Write out the channel from the answer to the responses of all stages, as the open-ended mode draws them.

        A response of it numbers a history in mixed radix, the last stage fastest.

        Raises:
            InvalidRequest: more than a million cells.
        """
        check_cells(self._cells())
        sizes = [range(design.channel.responses) for design in self.designs]
        answers = range(self.designs[0].channel.answers)
        return Dense.from_rows(
            [
                [self.probability(history, given=x) for x in answers]
                for history in product(*sizes)
            ]
        )

    def probability(self, history: Sequence[int], *, given: int) -> Fraction:
        """Return the probability of the responses of all stages, by number, as the open-ended mode draws them."""
        p_history = self.designs[0].channel.probability(history[0], given=given)
        for step, old, new in zip(self.steps, history, history[1:], strict=False):
            if not p_history:
                break
            p_history *= step.kernel(new, old=old, given=given)
        return p_history

    def _cells(self) -> int:
        answers = self.designs[0].channel.answers
        return math.prod(
            (design.channel.responses for design in self.designs), start=answers
        )

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Ladder:
        designs = tuple(
            map(Design.from_body, documents.entries(body, "designs", "design", dict))
        )
        steps = documents.entries(body, "steps", "step", dict)
        pairs = zip(steps, designs, designs[1:], strict=False)
        return cls(
            designs,
            tuple(
                step_from_body(entry, old.channel, new.channel)
                for entry, old, new in pairs
            ),
        )

    def to_body(self) -> dict[str, Any]:
        """Return the designs, and of the steps what does not follow from them; each is verified anew when read."""
        return {
            "designs": [design.to_body() for design in self.designs],
            "steps": [step_to_body(step) for step in self.steps],
        }

    def __repr__(self) -> str:
        stages = ", ".join(formats.epsilon(epsilon) for epsilon in self.epsilons)
        return f"Ladder({self.designs[-1].name}; ε = {stages})"


def stages_of(subject: AnyStage | Ladder) -> tuple[AnyStage | Design, ...]:
    """Return the designs of all stages, the coarsest first; of a single design itself."""
    ladder = as_ladder(subject)
    return (cast("AnyStage", subject),) if ladder is None else ladder.designs


def as_ladder(subject: object) -> Ladder | None:
    """Return a ladder as it is; None for anything else."""
    return cast("Ladder", subject) if getattr(subject, "has_stages", False) else None


def check_categories(design: object) -> None:
    """Refuse what cannot be a stage: a design that is not about categories, such as items with weights.

    Raises:
        Incompatible: it is not.
    """
    if not hasattr(design, "category_number"):
        raise Incompatible(
            f"this design asks for {getattr(design, 'asks', 'something else')}; expected one about categories, of "
            "which stages are made.",
            "The symbols of a key-value response can be raised: symbol_design, settle and released of "
            "deniable.types.key_value.respond.",
        )


def check_alike(old: Design, new: Design) -> None:
    """Refuse two designs that are not about the same categories.

    Raises:
        Incompatible: they are not.
    """
    check_categories(old)
    check_categories(new)
    old_labels, new_labels = old.categories, new.categories
    if same_labels(old_labels, new_labels):
        return
    raise Incompatible(
        f"the designs ask for {len(old_labels):,} and {len(new_labels):,} categories, or call them differently; "
        "expected the same ones in the same order."
    )


def check_cells(cells: int) -> None:
    """Refuse to write out more than a million cells.

    Raises:
        InvalidRequest: more.
    """
    if cells > _MAX_HISTORIES:
        raise InvalidRequest(
            f"there are {exact.text(cells)} histories and answers to go through; expected at most "
            f"{_MAX_HISTORIES:,}.",
            "Ask for the parity or for single probabilities instead, or take fewer stages or categories.",
        )


def step_from_body(body: Mapping[str, Any], old: Channel, new: Channel) -> Step:
    """Read what `step_to_body` wrote.

    Raises:
        UnreadableFile: not a step between these channels.
    """
    kind = documents.field(body, "kind", str)
    step: Step | None = None
    if kind == "derived":
        step = find_closed_form(old, new)
    elif kind == "written":
        table = channels.from_body(documents.field(body, "channel", dict))
        step = Tabulated(old, new, table) if isinstance(table, Dense) else None
    elif kind == "nested":
        step = through_sets(old, new, partial(Nested.from_body, body))
    elif kind == "factors":
        step = _factors(body, old, new)
    if step is None:
        raise UnreadableFile(
            f"a step of kind {quoted(kind)} does not lead from the one design to the other."
        )
    return step


def _factors(body: Mapping[str, Any], old: Channel, new: Channel) -> Step | None:
    step_bodies = documents.entries(body, "steps", "step", dict)
    pairs = factor_pairs(old, new)
    if pairs is None or len(pairs) != len(step_bodies):
        return None
    assert old.product is not None
    assert new.product is not None
    steps = [
        step_from_body(entry, *pair)
        for entry, pair in zip(step_bodies, pairs, strict=True)
    ]
    return Factors(old.product, new.product, tuple(steps))

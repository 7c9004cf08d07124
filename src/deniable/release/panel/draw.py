"""A stage drawn for many respondents: those whose neighbouring stages are the same ones are drawn at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.channel.coding import code_type
from deniable.designs import Design
from deniable.engines.local.bulk import draw_all
from deniable.engines.local.gradual import Raiser, release_planned
from deniable.engines.local.keystream import Keystream
from deniable.errors import NotAllowed
from deniable.order.ladders import Ladder, Relaxation
from deniable.order.steps import Step
from deniable.release.chain import Find, Place, check_same, place
from deniable.release.panel.book import Stage, State

Drawn = tuple[list[str], list[int], dict[tuple[str, str], Step]]
"""Respondents, their responses, and the steps by which these were drawn, by the hashes of the two designs."""

Neighbours = tuple[int | None, int | None]
"""The stages next below and next above that a respondent holds, by their place in the chain."""


def position(design: Design, designs: Sequence[Design], find: Find) -> int:
    """Return how many stages of a chain lie below a design.

    Raises:
        NotOrdered: it cannot be compared with one of them.
        Incompatible: it is about other categories.
    """
    for each in designs[-1:]:
        check_same(each, design)
    at = len(designs)
    while at and find(designs[at - 1], design) is None:
        at -= 1
    if at < len(designs) and find(design, designs[at]) is None:
        place(design, [designs[at]])  # tells why
    return at


def draw(
    design: Design, at: int, state: State, stages: Sequence[Stage], read: Callable[[Stage], Design], find: Find
) -> Iterator[Drawn]:
    """Draw a stage for respondents; yield some of them with their responses.

    Args:
        design: the stage.
        at: how many of the other stages lie below it.
        state: answers of those respondents, and what is drawn so far.
        stages: the other stages of the question, the coarsest first.
        read: reads the design of a stage.
        find: how relaxations are found.

    Raises:
        NotAllowed: an answer is needed and was not kept.
        InvalidRequest: the stage lies between two that somebody holds, and they were not drawn through it.
    """
    for (low, high), names in _groups(state, stages, at).items():
        around = [None if number is None else read(stages[number]) for number in (low, high)]
        found = place(design, [each for each in around if each is not None], find=find)
        held = [
            [] if number is None else [state.held[stages[number].id][name][0] for name in names]
            for number in (low, high)
        ]
        if found.finest:
            responses = _upwards(design, found, around[0], held[0], _answers(state, names, design))
        else:
            assert around[1] is not None
            responses = _downwards(design, found, around[1], held[0], held[1])
        pairs = ((around[0], design, found.below), (design, around[1], found.above))
        yield names, responses, {(one.hash, two.hash): each for one, two, each in pairs if one and two and each}


def _groups(state: State, stages: Sequence[Stage], at: int) -> dict[Neighbours, list[str]]:
    """Return respondents by the stages next below and next above a place that they hold."""
    found: dict[Neighbours, list[str]] = {}
    held = [state.held.get(stage.id, {}) for stage in stages]
    for name in state.answers:
        low = next((number for number in reversed(range(at)) if name in held[number]), None)
        high = next((number for number in range(at, len(stages)) if name in held[number]), None)
        found.setdefault((low, high), []).append(name)
    return found


def _upwards(design: Design, found: Place, below: Design | None, low: list[int], answers: NDArray[Any]) -> list[int]:
    if found.below is None or below is None:
        return design.channel.coding.unpack(draw_all(design, answers, codes=True))
    raiser = Raiser(Relaxation(below, design, found.below), codes=True)
    return design.channel.coding.unpack(raiser.upgrade(below.channel.coding.pack(low), answers))


def _downwards(design: Design, found: Place, above: Design, low: list[int], high: list[int]) -> list[int]:
    assert found.above is not None
    if found.below is None:
        coarsened = Raiser(Relaxation(design, above, found.above)).degrade(above.channel.coding.pack(high))
        return design.channel.coding.unpack(coarsened)
    source = Keystream()
    pairs = zip(low, high, strict=True)
    return [found.below.between(found.above, coarse, fine, source) for coarse, fine in pairs]


def draw_planned(ladder: Ladder, answers: Sequence[int]) -> list[list[int]]:
    """Draw all stages of a ladder; return the responses of each stage."""
    kind = code_type(ladder.designs[-1].channel.answers)
    columns = release_planned(ladder, np.array(answers, kind), codes=True)
    return [design.channel.coding.unpack(column) for design, column in zip(ladder.designs, columns, strict=True)]


def _answers(state: State, names: Sequence[str], design: Design) -> NDArray[Any]:
    known = [state.answers[name] for name in names]
    kept = [number for number in known if number is not None]
    if len(kept) < len(known):
        raise NotAllowed(
            f"the answers of {len(known) - len(kept):,} respondents were not kept, and this stage is finer than all "
            "that were drawn for them; expected a coarser one."
        )
    return np.array(kept, code_type(design.channel.answers))

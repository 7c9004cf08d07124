"""The auditor on ourselves: every registered design and every type of record on every engine, with the default source.

All audits of a run together call a sound design violated once in 10^9 runs. Nothing is seeded: what is looked at is
what people get. The planted faults below are found by audits of the same size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import deniable as dn
from deniable.auditor import Audit, Mechanism, audit, of_callable, of_design
from deniable.designs import AnyDesign, Design
from deniable.engines import Engine, Local
from deniable.engines.spark.tasks import Drawing
from deniable.tallies.responses import Responses
from tests.conformance.test_every_engine import ENGINES
from tests.support.registered import registered
from tests.support.types import TYPES

FALSE_ALARM = 1e-9
DRAWS = 32_000
FEW_DRAWS = 1_000  # one by one
CHECKS = ("worst event", "goodness of fit")
SCALAR = "one by one"
HANDS: dict[str, Engine | None] = {**ENGINES, SCALAR: None}
DESIGNS = registered()
RECORDS = {
    name: build
    for name, build in TYPES.items()
    if build().design.asks not in ("categories", "deck")
}
# with one column of answers
IN_TASKS = [design for design in DESIGNS if not design.attributes]
AUDITS = len(HANDS) * (len(DESIGNS) + len(RECORDS)) + len(IN_TASKS)


def hand(design: Any, engine: Engine | None) -> Mechanism:
    """Return a design as an engine draws with it, or as `respond` does."""
    return (
        of_design(design, engine)
        if engine is not None
        else of_callable(lambda answer: dn.respond(design, answer))
    )


def looked_at(mechanism: Mechanism, design: Any, engine: Engine | None) -> Audit:
    return audit(
        mechanism,
        getattr(of_design(design), "answers"),  # noqa: B009 - what a design knows, by whatever hand it is drawn
        epsilon=design.epsilon if np.isfinite(design.epsilon) else None,
        claimed=design,
        draws=FEW_DRAWS if engine is None else DRAWS,
        level=1 - FALSE_ALARM / AUDITS,
        checks=CHECKS,
    )


@pytest.mark.statistical
@pytest.mark.parametrize("name", HANDS)
def test_no_registered_design_is_refuted(name: str) -> None:
    for design in DESIGNS:
        found = looked_at(hand(design, HANDS[name]), design, HANDS[name])
        assert found.verdict == "consistent", f"{design!r}\n{found}"
        assert len(found.findings) == 2, "a design whose law is not at hand"


class Task:
    """What a task of a cluster does with a column of codes, without a cluster."""

    def respond_all(
        self, design: AnyDesign, answers: Any, **options: Any
    ) -> Responses[Any]:
        task = Drawing(design, ("answer",), options=options, shuffle=False)
        table = pa.Table.from_batches(
            task([pa.record_batch([pa.array(answers)], names=["answer"])])
        )
        plain = Local().respond_all(design, answers[:1], **options).columns
        return Responses(
            design,
            {
                name: _as_drawn(table.column(name), like)
                for name, like in plain.items()
            },
        )

    respond_stream: Any = None
    tally: Any = None


def _as_drawn(column: pa.ChunkedArray, like: Any) -> Any:
    """Return a column of codes or packed rows as the engine on this machine gives it."""
    if like.ndim == 1:
        return column.to_numpy().astype(like.dtype)
    return np.frombuffer(b"".join(column.to_pylist()), like.dtype).reshape(
        len(column), -1
    )


@pytest.mark.statistical
def test_no_registered_design_is_refuted_in_a_task_of_a_cluster() -> None:
    for design in IN_TASKS:
        found = looked_at(hand(design, Task()), design, Task())
        assert found.verdict == "consistent", f"{design!r}\n{found}"


@pytest.mark.statistical
@pytest.mark.parametrize("name", HANDS)
def test_no_type_of_record_is_refuted(name: str) -> None:
    for kind, build in RECORDS.items():
        design = build().design
        found = looked_at(hand(design, HANDS[name]), design, HANDS[name])
        assert found.verdict == "consistent", f"{kind}\n{found}"


class Planted:
    """An engine that draws with another design, or spoils what was drawn."""

    def __init__(
        self,
        other: AnyDesign | None = None,
        spoil: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        self.other = other
        self.spoil = spoil

    def respond_all(
        self, design: AnyDesign, answers: Any, **options: Any
    ) -> Responses[Any]:
        drawn = Local().respond_all(self.other or design, answers, **options)
        columns = {name: rows.copy() for name, rows in drawn.columns.items()}
        for rows in columns.values():
            if self.spoil is not None:
                self.spoil(rows, answers)
        return Responses(design, columns)

    respond_stream: Any = None
    tally: Any = None


def truth_told(rows: Any, answers: Any) -> None:
    """Send every fourth answer as it is."""
    rows[::4] = answers[::4]


def first_bit_kept(rows: Any, answers: Any) -> None:
    """Never flip the first bit."""
    rows[:, 0] = rows[:, 0] & 0xFE | (answers == 0)


def constant(rows: Any, answers: Any) -> None:  # noqa: ARG001 - whatever the answers are
    """Send the first response again and again."""
    rows[:] = rows[0]


FAULTS: dict[str, tuple[Design, Planted]] = {
    "ε too large by half": (dn.k_ary(4, 1), Planted(dn.k_ary(4, "1.5"))),
    "ε too large by half, of bits": (dn.unary(3, 1), Planted(dn.unary(3, "1.5"))),
    "the truth at times": (dn.k_ary(4, 1), Planted(spoil=truth_told)),
    "a bit never flipped": (dn.unary(4, 1), Planted(spoil=first_bit_kept)),
    "always the same": (dn.warner(1), Planted(spoil=constant)),
    "answers that change places": (
        dn.binary("9/10", "7/10"),
        Planted(dn.binary("7/10", "9/10")),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_planted_faults_are_found_by_audits_of_this_size(name: str) -> None:
    design, engine = FAULTS[name]
    assert looked_at(hand(design, engine), design, engine).verdict == "violated"

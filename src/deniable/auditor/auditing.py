"""`audit`: every check on one mechanism, and what comes of it. `CHECKS` is the table of all checks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from deniable.auditor.adapters import Command, LocalService
from deniable.auditor.findings import (
    FIT,
    WORST_EVENT,
    Audit,
    Check,
    CheckContext,
    Finding,
    Progress,
)
from deniable.auditor.fitting import goodness_of_fit
from deniable.auditor.mechanisms import Mechanism, mechanism
from deniable.auditor.randomness import dependence, low_order_bits, repeats
from deniable.auditor.reports import averaging
from deniable.auditor.searching import worst_event
from deniable.auditor.side_channels import random_words, size, time
from deniable.chance import SYSTEM, Source
from deniable.designs import AnyDesign
from deniable.errors import InvalidRequest, quoted, read_names

DRAWS = 200_000
LEVEL = 0.9999

CHECKS: dict[str, Check] = {
    WORST_EVENT: worst_event,
    FIT: goodness_of_fit,
    "repeats": repeats,
    "dependence": dependence,
    "low-order bits": low_order_bits,
    "random words": random_words,
    "size": size,
    "time": time,
    "repeated reports": averaging,
}
"""All checks by name, in the order in which they run."""


def audit(
    thing: object,
    answers: Sequence[object] | None = None,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    draws: int = DRAWS,
    level: float = LEVEL,
    claimed: AnyDesign | None = None,
    checks: Sequence[str] | None = None,
    source: Source | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Look at a mechanism from outside, and say whether it keeps the privacy that it claims.

    Guarantee: a mechanism that keeps its claim is called violated with probability 1 − `level` at most, all checks
    together, if each call draws independently of the others. "Consistent" is no proof: so many draws did not refute.

    Args:
        thing: a design, a function from an answer to a response, or a mechanism, as `of_callable` and its kin build.
        answers: what to ask it about; of a design by default all that it knows.
        epsilon: what is claimed; of a design by default its own. Without a claim the bound alone is told.
        delta: the δ that is claimed beside ε.
        draws: how many responses each check may ask for.
        level: the confidence of the bounds and of the verdict.
        claimed: a design whose channel the mechanism claims to have; of a design by default itself.
        checks: which ones, by name; all of `CHECKS` by default.
        source: random bytes for a design and for the order in which answers are asked, for tests.
        progress: told which check runs, and which share of it is done.

    Raises:
        InvalidRequest: nothing that can be audited, fewer than two answers, or a check that does not exist.

    Example:
        >>> import deniable as dn
        >>> dn.audit(dn.warner(1), checks=["worst event"]).verdict
        'consistent'
        >>> dn.audit(lambda answer: answer, ["yes", "no"], epsilon=1, draws=4000, checks=["worst event"]).verdict
        'violated'
    """
    chosen = _read_checks(checks)
    context = _check_context(thing, answers, epsilon, delta, claimed, source)
    _check_numbers(context, draws, level)
    context = replace(context, draws=draws, false_alarm=(1 - level) / len(chosen))
    if progress is not None:
        context = replace(context, progress=progress)
    with _close_afterwards(context.mechanism):
        results = [_run(name, context) for name in chosen]
    findings = [finding for finding in results if finding is not None]
    n_drawn = sum(int(finding.figures.get("draws") or 0) for finding in findings)
    return Audit(
        context.mechanism.name,
        context.epsilon,
        context.delta,
        level,
        n_drawn,
        tuple(findings),
    )


@contextmanager
def _close_afterwards(asked: Mechanism) -> Iterator[None]:
    """Close a mechanism's process or connection afterwards; it is opened anew on the next call."""
    try:
        yield
    finally:
        if isinstance(asked, Command | LocalService):
            asked.close()


def _run(name: str, context: CheckContext) -> Finding | None:
    context.progress(name, 0.0)
    finding = CHECKS[name](context)
    context.progress(name, 1.0)
    return finding


def _read_checks(checks: Sequence[str] | None) -> tuple[str, ...]:
    chosen = tuple(CHECKS) if checks is None else read_names(checks, "checks")
    wrong = [name for name in chosen if name not in CHECKS]
    if wrong or not chosen:
        problem = (
            f"there is no check {quoted(wrong[0])}"
            if wrong
            else "there is no check to run"
        )
        raise InvalidRequest(
            f"{problem}; expected some of {', '.join(map(repr, CHECKS))}."
        )
    return chosen


def _check_context(
    thing: object,
    answers: Sequence[object] | None,
    epsilon: float | None,
    delta: float,
    claimed: AnyDesign | None,
    source: Source | None,
) -> CheckContext:
    """Return what is to be looked at; what a design says of itself is taken for what nobody says."""
    audited: Any = mechanism(thing, source=source)
    design: Any = getattr(audited, "design", None) if claimed is None else claimed
    if epsilon is None:
        epsilon = (
            getattr(audited, "epsilon", None) if claimed is None else design.epsilon
        )
    if epsilon is not None and math.isinf(epsilon):
        epsilon = None  # whoever claims nothing can break nothing; the bound is told all the same
    return CheckContext(
        audited,
        _read_answers(audited, answers),
        epsilon,
        delta,
        design,
        source=SYSTEM if source is None else source,
    )


def _read_answers(
    audited: object, answers: Sequence[object] | None
) -> tuple[object, ...]:
    known_answers = tuple(
        getattr(audited, "answers", ()) if answers is None else answers
    )
    if len(known_answers) < 2:
        raise InvalidRequest(
            f"there are {len(known_answers)} answers to ask about; expected at least two, between which it may tell.",
            "Pass them: dn.audit(function, ['yes', 'no'], epsilon=1).",
        )
    return known_answers


def _check_numbers(context: CheckContext, draws: int, level: float) -> None:
    if context.epsilon is not None and not context.epsilon > 0:
        raise InvalidRequest(
            f"the ε that is claimed is {context.epsilon}; expected a positive number."
        )
    if not 0 <= context.delta < 1:
        raise InvalidRequest(
            f"the δ that is claimed is {context.delta}; expected at least 0 and below 1."
        )
    if not 0 < level < 1:
        raise InvalidRequest(
            f"the level is {level}; expected a number between 0 and 1, such as 0.9999."
        )
    if draws < 1000:
        raise InvalidRequest(f"there are {draws} draws; expected at least 1,000.")

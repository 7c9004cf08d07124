"""Claims about the stages of one answer, and the garblings that lead from each stage to the one before."""

from __future__ import annotations

from fractions import Fraction

from deniable import types
from deniable.channel import Dense
from deniable.claims.statements import (
    UNLISTED_KINDS,
    ClaimedPart,
    Claims,
    Priors,
    ratio_text,
)
from deniable.designs import Design
from deniable.errors import InvalidRequest
from deniable.order.bits import BitByBit
from deniable.order.ladders import Ladder
from deniable.order.sets import Nested, SetShare
from deniable.order.steps import Crossed, Factors, KeepOrFresh, Recoded, Step


def claims(ladder: Ladder, prior: Priors = None) -> Claims:
    """Return the claims about each stage; those of the last one hold for all together.

    Raises:
        InvalidRequest: stages of strings, a prior that does not fit, or a step that the checker cannot follow.
    """
    if not all(isinstance(stage, Design) for stage in ladder.designs):
        raise InvalidRequest(
            "the stages are those of one cohort; expected designs.",
            "Certify the string design of each stage.",
        )
    parts = [
        types.operation(stage, "claims")(stage, prior) for stage in ladder.designs
    ]
    last = {name: parts[-1][name] for name in ("parity", "epsilon", "delta")}
    return {
        "rule": "last",
        **last,
        "parts": parts,
        "garblings": [_garbling(step) for step in ladder.steps],
    }


def caveats(ladder: Ladder) -> tuple[str, ...]:
    """Return the assumptions and limits of the guarantee of the last stage, in sentences."""
    last = ladder.designs[-1]
    sentences: tuple[str, ...] = types.operation(last, "caveats")(last)
    return sentences


def labelled_design(ladder: Ladder) -> None:  # noqa: ARG001 - none for any
    """Return None: the claims are about several stages."""
    return


def claimed_parts(ladder: Ladder, claims: Claims) -> list[ClaimedPart]:
    """Return the stages, each with its claims."""
    stages = zip(ladder.designs, claims["parts"], strict=True)
    return [
        ClaimedPart(f"stage {number}", stage, part)
        for number, (stage, part) in enumerate(stages, 1)
    ]


def _garbling(step: Step) -> Claims:
    """Return how a finer response becomes a coarser one, as the checker reads it."""
    if isinstance(step, Recoded):
        return _garbling(step.step)
    if isinstance(step, Factors):
        return {
            "kind": "factors",
            "steps": [_garbling(factor) for factor in step.steps],
        }
    if isinstance(step, BitByBit):
        return {
            "kind": "bits",
            "hit": ratio_text(step.each.hit),
            "stray": ratio_text(step.each.stray),
        }
    shares = _set_shares(step)
    if shares:
        rows = [
            [share.coarse, share.fine, *map(ratio_text, share[2:])]
            for share in shares
        ]
        return {"kind": "sets", "shares": rows}
    if isinstance(step, KeepOrFresh):
        return {"kind": "keep", "share": ratio_text(step.share)}
    return {**_table(step).to_body(), "kind": "table"}


def _set_shares(step: Step) -> tuple[SetShare, ...]:
    """Return a step between sets in the terms of `SetShare`; a single category is a set of one."""
    if isinstance(step, Nested):
        return () if step.old.bitwise else step.shares
    if isinstance(step, Crossed):
        kept = step.garbling(0, 0)
        return (SetShare(1, 1, kept, 1 - kept, Fraction(0)),)
    size = step.new.set_size
    if isinstance(step, KeepOrFresh) and size:
        return (SetShare(size, size, step.share, Fraction(0), 1 - step.share),)
    return ()


def _table(step: Step) -> Dense:
    """Return a garbling written out, of stages that the checker can write out too."""
    written = step.written()
    if written is None or any(
        channel.sizes or channel.KIND in UNLISTED_KINDS
        for channel in (step.old, step.new)
    ):
        raise InvalidRequest(
            f"a step of this ladder leads from {step.old.KIND} to {step.new.KIND}, which a checker cannot follow; "
            "expected stages of one kind, or tables.",
            "Certify each stage by itself; what the ladder promises for all together is in docs/theory/relaxation.md.",
        )
    return written.dense()

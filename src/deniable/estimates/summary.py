"""Sentences of summaries: what privacy cost, and what the promise rests on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deniable.designs import Design
from deniable.designs.proofs import proofs
from deniable.errors import quoted
from deniable.estimates.covariances import Vector
from deniable.estimates.diagnostics import IMPLAUSIBLE
from deniable.estimates.results import (
    Caution,
    Description,
    IntervalRequest,
    told_method,
    words_of,
)
from deniable.estimates.sensitivity import ReadWith, breakdown_sentence
from deniable.rendering import formats
from deniable.tallies.columns import asked_part, known_attributes, subject

if TYPE_CHECKING:
    from deniable.estimates.shares import Estimate, TallyEvidence


def reference(value: Vector, errors: Vector) -> Vector:
    """Return the shares at which responses are compared with direct answers: two errors away from 0 and 1, or more.

    Why: at a share of 0 a direct question has no variance, so that any number of responses would be worth nothing. What
    the responses leave open reaches two errors from the share; nothing nearer to 0 is known of it.
    """
    away = np.minimum(2 * errors, 0.5)
    shares: Vector = np.clip(value, away, 1 - away)
    return shares


def worth(
    respondents: int, shares: Vector, variances: Vector
) -> tuple[Vector, float]:
    """Return how many direct answers have the same variances, for each category and for all together.

    Args:
        respondents: how many responses there are.
        shares: at which a direct question is asked; see `reference`.
        variances: of the estimated shares, for one respondent.

    Example:
        >>> each, overall = worth(1000, np.array([0.9, 0.1]), np.array([0.9, 0.9]))
        >>> each.round(), round(overall)
        (array([100., 100.]), 100)
    """
    direct = shares * (1 - shares)
    whole = direct.sum() / max(variances.sum(), 1e-300)
    sizes: Vector = respondents * np.minimum(
        direct / np.maximum(variances, 1e-300), 1.0
    )
    return sizes, float(respondents * min(whole, 1.0))


class PrivacyCost(NamedTuple):
    """The worth of responses in direct and truthful answers, as a sentence when it is printed.

    Attributes:
        respondents: how many responses there are.
        sizes: how many direct answers would tell as much about each share.
        overall: how many would about all shares together.
        moved: whether shares were moved away from 0 or 1 to compare.
    """

    respondents: int
    sizes: Vector
    overall: float
    moved: bool

    def __str__(self) -> str:
        n, direct = f"{self.respondents:,}", f"{self.overall:,.0f}"
        moved = ""
        if self.moved:
            moved = (
                " Shares nearer to 0 or 1 than two errors are compared there: at 0 itself a direct question has no "
                "error."
            )
        return (
            f"The cost of privacy: {n} responses are worth about {direct} direct and truthful "
            f"answer{'' if direct == '1' else 's'}. 'asked directly' is the interval that {n} of those would have had."
            f"{moved}"
        )


def privacy_cost(
    n: int, value: Vector, errors: Vector, variances: Callable[[Vector], Vector]
) -> PrivacyCost:
    """Compare responses with direct answers.

    Args:
        n: how many responses there are.
        value: the estimated shares.
        errors: their standard errors.
        variances: of one response about each share, if these were true.
    """
    shares = reference(value, errors)
    sizes, overall = worth(n, shares, variances(shares))
    return PrivacyCost(n, sizes, overall, moved=bool((shares != value).any()))


def describe_tally(
    evidence: TallyEvidence,
    estimate: Estimate,
    warnings: Sequence[Caution],
    request: IntervalRequest,
) -> Description:
    """Return the title and the notes of the summary of an estimate from a tally."""
    tally, basis = evidence.tally, evidence.basis
    design, n = tally.design, tally.respondents
    below = not estimate.bounded and bool((estimate.value < 0).any())
    notes = [*below_zero(warnings, below=below)]
    known, asked, question = (
        known_sentences(design),
        asked_part(design),
        subject(design),
    )
    caveat, proof = design.caveat, ""
    if asked.epsilon == np.inf:
        proof = _proofs(asked, "this design")
    read = ReadWith(design, basis.linear)
    notes.append(breakdown_sentence(read, float(basis.unbiased[-1])))
    if request.simultaneous:
        notes.append("The intervals hold all together with this level.")
    if tally.missing:
        notes.append(silent_note(tally.missing))
    if tally.declared is not None:
        notes.extend(tally.declared.notes())
    family, method = words_of(question), told_method(estimate.method)
    return Description(
        title=f"{family}, ε = {formats.epsilon(asked.epsilon)}, {n:,} respondents, by {method}",
        quantity="share",
        method=estimate.method,
        respondents=n,
        epsilon=asked.epsilon,
        missing=tally.missing,
        notes=tuple(filter(None, [*notes, *known, proof, caveat])),
    )


def silent_note(missing: int) -> str:
    """Tell how many people sent nothing."""
    return f"{missing:,} sent no response and take no part in the estimate."


def below_zero(warnings: Sequence[Caution], *, below: bool) -> tuple[str, ...]:
    """Tell why a share can lie outside of 0 … 1, unless a warning says that chance does not explain it."""
    doubted = any(each.code == IMPLAUSIBLE for each in warnings)
    return (
        ("A share below 0 is the price of an estimate without bias.",)
        if below and not doubted
        else ()
    )


def rests_on(*designs: object) -> tuple[str, ...]:
    """Tell what responses of these designs prove, and what their promises rest on besides their probabilities.

    Of a ladder it is told of each stage; of a deck what is promised against whom.

    Every summary of numbers that were made from responses ends with it.

    Example:
        >>> from deniable.designs import crosswise, direct
        >>> rests_on(crosswise("1/4"), direct())[-1]
        'Answers are sent as they are; nothing is hidden.'
    """
    sentences: list[str] = []
    stages = [getattr(design, "designs", (design,)) for design in designs]
    devices: list[Any] = [device for stage in stages for device in stage]
    for device in devices:
        asked = asked_part(device) if isinstance(device, Design) else None
        if asked is not None and asked.epsilon == np.inf:
            name = "this design" if len(devices) == 1 else words_of(device.name)
            sentences.append(_proofs(asked, name))
        sentences += [getattr(device, name, "") for name in ("caveat", "guarantee")]
    return tuple(dict.fromkeys(sentence for sentence in sentences if sentence))


def _proofs(design: Design, name: str) -> str:
    """Return which responses prove something about the answer."""
    return f"Some response of {name} proves something about the answer: its ε is infinite. {' '.join(proofs(design))}"


def known_sentences(design: Design) -> tuple[str, ...]:
    """Tell which attributes are openly known, and what the ε is about."""
    return tuple(map(_known_sentence, known_attributes(design)))


def _known_sentence(attribute: str) -> str:
    return f"{quoted(attribute, 60)} is openly known: nothing was drawn, and ε is about the rest."

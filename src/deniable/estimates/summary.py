"""An estimate as a table, with what privacy cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deniable.designs import Design
from deniable.designs.proofs import proofs
from deniable.errors import quoted
from deniable.estimates.covariances import Vector
from deniable.estimates.diagnostics import IMPLAUSIBLE
from deniable.estimates.intervals import wilson
from deniable.estimates.results import Caution, Summary, told_method, words_of
from deniable.estimates.sensitivity import ReadWith, breakdown_sentence
from deniable.estimates.shares import Estimate, ShareRow
from deniable.estimates.simplex import projection
from deniable.rendering import formats
from deniable.tallies.columns import asked_part, known_attributes, subject

_KNOWN = "{} is openly known: nothing was drawn, and ε is about the rest."


def summarize(
    estimate: Estimate, level: float, interval: str, *, simultaneous: bool
) -> Summary[ShareRow]:
    """Return the summary of an estimate."""
    tally, linear, value = estimate.tally, estimate.basis.linear, estimate.value
    design, n = tally.design, tally.respondents
    intervals = estimate.conf_int(
        level=level, method=interval, simultaneous=simultaneous
    )
    errors, warnings = estimate.errors, estimate.warnings
    # Around the estimated share itself: one that was projected can lie far from the unprojected one.
    direct_low, direct_high = wilson(
        np.clip(value, 0.0, 1.0), 1.0, 0.0, n, estimate.basis.f, level
    )
    own, others = linear.spread(projection(value))
    known, asked, question = (
        known_attributes(design),
        asked_part(design),
        subject(design),
    )
    caveat = design.caveat
    # Both variances are those of independent respondents, so that a census, where a direct question would leave no
    # doubt at all, has the same cost for each response.
    shares = reference(value, errors)
    device_variance = own * shares + others * (1 - shares) - shares
    sizes, overall = worth(n, shares, shares * (1 - shares) + device_variance)
    notes = [
        cost(n, overall, moved=bool((shares != value).any())),
        *below_zero(warnings, below=not estimate.bounded and bool((value < 0).any())),
    ]
    known_notes = [_KNOWN.format(quoted(attribute, 60)) for attribute in known]
    lows, highs = zip(*intervals.values(), strict=True)
    proof = _proofs(asked, "this design") if asked.epsilon == np.inf else ""
    family, method = words_of(question), told_method(estimate.method)
    title = f"{family}, ε = {formats.epsilon(asked.epsilon)}, {n:,} respondents, by {method}"
    doubt = breakdown_sentence(
        ReadWith(design, linear), float(estimate.basis.unbiased[-1])
    )
    if doubt:
        notes.append(doubt)
    if simultaneous:
        notes.append("The intervals hold all together with this level.")
    if tally.missing:
        notes.append(
            f"{tally.missing:,} sent no response and take no part in the estimate."
        )
    if tally.declared is not None:
        notes.extend(tally.declared.notes())
    notes.extend(known_notes)
    notes.extend(filter(None, (proof, caveat)))
    rows = map(
        ShareRow,
        design.categories,
        value.tolist(),
        errors.tolist(),
        lows,
        highs,
        direct_low.tolist(),
        direct_high.tolist(),
        sizes.tolist(),
    )
    return Summary(
        title=title,
        quantity="share",
        rows=tuple(rows),
        warnings=warnings,
        notes=tuple(notes),
        level=level,
        interval=interval,
        simultaneous=simultaneous,
        method=estimate.method,
        respondents=n,
        missing=tally.missing,
        epsilon=asked.epsilon,
    )


def reference(value: Vector, errors: Vector) -> Vector:
    """Return the shares at which responses are compared with direct answers: two errors away from 0 and 1, or more.

    Why: at a share of 0 a direct question has no variance, so that any number of responses would be worth nothing. What
    the responses leave open reaches two errors from the share; nothing nearer to 0 is known of it.
    """
    away = np.minimum(2 * errors, 0.5)
    shares: Vector = np.clip(value, away, 1 - away)
    return shares


def worth(respondents: int, shares: Vector, variances: Vector) -> tuple[Vector, float]:
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


def cost(respondents: int, direct: float, *, moved: bool = False) -> str:
    """Tell the cost of privacy; and where shares were moved away from 0 or 1 to compare, that they were."""
    many = "" if f"{direct:,.0f}" == "1" else "s"
    where = (
        " Shares nearer to 0 or 1 than two errors are compared there: at 0 itself a direct question has no error."
        if moved
        else ""
    )
    return (
        f"The cost of privacy: {respondents:,} responses are worth about {direct:,.0f} direct and truthful "
        f"answer{many}. 'asked directly' is the interval that {respondents:,} of those would have had.{where}"
    )


def below_zero(warnings: Sequence[Caution], *, below: bool) -> tuple[str, ...]:
    """Tell why a share can lie outside of 0 … 1, unless a warning says that chance does not explain it."""
    doubted = any(each.code == IMPLAUSIBLE for each in warnings)
    return (
        ("A share below 0 is the price of an estimate without bias.",)
        if below and not doubted
        else ()
    )


def rests_on(*designs: Any) -> tuple[str, ...]:
    """Tell what responses of these designs prove, and what their promises rest on besides their probabilities.

    Every summary of numbers that were made from responses ends with it.

    Example:
        >>> from deniable.designs import crosswise, direct
        >>> rests_on(crosswise("1/4"), direct())[-1]
        'Answers are sent as they are; nothing is hidden.'
    """
    sentences: list[str] = []
    for design in designs:
        asked = asked_part(design) if isinstance(design, Design) else None
        if asked is not None and asked.epsilon == np.inf:
            sentences.append(
                _proofs(
                    asked, "this design" if len(designs) == 1 else words_of(design.name)
                )
            )
        sentences.append(getattr(design, "caveat", ""))
    return tuple(dict.fromkeys(sentence for sentence in sentences if sentence))


def _proofs(design: Design, name: str) -> str:
    """Return which responses prove something about the answer."""
    return f"Some response of {name} proves something about the answer: its ε is infinite. {' '.join(proofs(design))}"


def known_sentences(design: Design) -> tuple[str, ...]:
    """Tell which attributes are openly known, and what the ε is about."""
    return tuple(
        _KNOWN.format(quoted(attribute, 60)) for attribute in known_attributes(design)
    )

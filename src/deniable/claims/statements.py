"""Privacy claims in exact numbers that travel as text: of one channel, and of parts that are asked together.

`certificates/checker.py` computes the same claims a second time and shares no code with this file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from deniable import exact
from deniable.channel import Channel
from deniable.claims.losses import (
    MOST_COMPARED,
    LossSet,
    combine_losses,
    compute_delta,
    count_comparisons,
    privacy_losses,
)
from deniable.criteria.belief import posterior, read_prior
from deniable.designs import AnyDesign, Design
from deniable.errors import InvalidRequest
from deniable.order.admissibility import admissible

Claims: TypeAlias = dict[str, Any]
"""Claims as they are written to JSON."""

Priors: TypeAlias = Any
"""A prior for the answers of one design; or for some of several parts, by name."""

POINTS = 8
"""Steps of the curve δ(γ), from γ = 1 to the parity."""

MOST_LISTED = 256
"""Cells of a channel that are listed one by one; of a larger one only the witness is."""

MOST_ANSWERS = 100_000
"""Answers over which one response is compared."""

CHECKED_KINDS = (
    "bits",
    "dense",
    "diagonal",
    "hadamard",
    "hashing",
    "mixture",
    "patterns",
    "subset",
)
"""Kinds of channel that the checker can read; a product is certified as its parts and their composition."""

UNLISTED_KINDS = ("hashing",)
"""Kinds whose responses are not listed one by one, however few they are."""


class ClaimedPart(NamedTuple):
    """A part of what is certified: its title on the page, its design and its claims."""

    title: str
    design: AnyDesign
    claims: Claims


def channel_claims(design: Design, prior: Priors) -> Claims:
    """Return the claims about the channel of a design for one attribute: guarantee, witness, Bayes factors.

    Raises:
        InvalidRequest: a kind of channel that the checker cannot read, or a prior that does not fit.
    """
    channel = design.channel
    _check_kind(channel)
    is_small = (
        channel.answers * channel.responses <= MOST_LISTED
        and channel.KIND not in UNLISTED_KINDS
    )
    is_exact = (
        bool(channel.separations) or count_comparisons(channel) <= MOST_COMPARED
    )
    claims: Claims = {
        **guarantee(channel.parity, None, channel if is_exact else None),
        "witness": {
            name: index_text(number)
            for name, number in channel.witness._asdict().items()
        },
        "admissible": _admissible(channel),
    }
    shares = None if prior is None else read_prior(design, prior)
    if shares is not None:
        claims["prior"] = [ratio_text(share) for share in shares]
    response, *pair = channel.witness
    if is_small:
        rows = [
            (number, list(range(channel.answers)))
            for number in range(channel.responses)
        ]
    else:
        rows = [(response, pair)] if channel.answers <= MOST_ANSWERS else []
    claims["table"] = [
        _bayes_factors(channel, number, answers, shares) for number, answers in rows
    ]
    return claims


def _bayes_factors(
    channel: Channel,
    response: int,
    answers: Sequence[int],
    prior: Sequence[Fraction] | None,
) -> Claims:
    """Return both Bayes factors of a response for each of some answers, and with a prior their posterior."""
    factors = [
        (answer, *map(ratio_text, channel.bayes_factors(response, answer)))
        for answer in answers
    ]
    row: Claims = {
        "response": index_text(response),
        "factors": [
            {"answer": answer, "least": least, "most": most}
            for answer, least, most in factors
        ],
    }
    if prior is not None:
        possible = any(
            share and channel.probability(response, given=j)
            for j, share in enumerate(prior)
        )
        after = posterior(channel, prior, response) if possible else ()
        row["posterior"] = (
            [ratio_text(after[answer]) for answer in answers] if possible else None
        )
    return row


def priors_by_part(prior: Priors, names: Sequence[str]) -> Mapping[str, Priors]:
    """Return the priors of some of several parts, by name.

    Raises:
        InvalidRequest: not a mapping from some of these names.
    """
    priors = prior or {}
    if not isinstance(priors, Mapping) or not set(priors) <= set(names):
        raise InvalidRequest(
            f"the prior does not fit; expected one for some of {', '.join(names)}, by name.",
            'For example {"smokes": {"no": "9/10", "yes": "1/10"}}.',
        )
    return priors


def factor_claims(
    factors: Mapping[str, Design], prior: Priors, per_respondent: int | None = None
) -> Claims:
    """Return the claims of attributes that are asked together, each with a design of its own.

    Args:
        factors: the designs, by attribute.
        prior: priors of some attributes, by name.
        per_respondent: how many attributes are drawn for each respondent; None if all are asked.

    Raises:
        InvalidRequest: a prior that does not fit, or a kind of channel that the checker cannot read.
    """
    priors = priors_by_part(prior, tuple(factors))
    claims = {
        name: channel_claims(design, priors.get(name))
        for name, design in factors.items()
    }
    losses = [privacy_losses(design.channel) for design in factors.values()]
    return combine_claims(claims, losses, per_respondent)


def combine_claims(
    parts: Mapping[str, Claims],
    losses: Sequence[LossSet | None],
    per_respondent: int | None = None,
) -> Claims:
    """Return the claims of parts that are asked together: all of them, or a fixed number that is drawn.

    Args:
        parts: the claims of each part, by name.
        losses: the privacy losses of each part, in the same order; None for a part that has too many.
        per_respondent: how many parts are drawn for each respondent; None if all are asked.
    """
    parities = sorted(
        (read_ratio(claims["parity"]) for claims in parts.values()), reverse=True
    )[:per_respondent]
    parity = (
        math.inf
        if math.inf in parities
        else math.prod((Fraction(ratio) for ratio in parities), start=Fraction(1))
    )
    if per_respondent is None:
        combined = guarantee(parity, combine_losses(losses))
    elif per_respondent == 1 and None not in losses:
        # One part is drawn, evenly and independently of the answers: δ is the mean, each part at its own worst pair.
        combined = _mean_delta(parity, losses)
    else:
        combined = guarantee(parity, None)
    rule = (
        {"rule": "all"}
        if per_respondent is None
        else {"rule": "some", "each": per_respondent}
    )
    return {**rule, **combined, "parts": dict(parts)}


def _mean_delta(parity: exact.Ratio, losses: Sequence[LossSet | None]) -> Claims:
    """Return the guarantee where one part is drawn: its δ is the mean over the parts."""
    deltas = [
        (
            gamma,
            sum(compute_delta(loss_set, gamma) for loss_set in losses if loss_set),
        )
        for gamma in gamma_grid(parity)
    ]
    curve = [
        {"gamma": ratio_text(gamma), "delta": ratio_text(total / len(losses))}
        for gamma, total in deltas
    ]
    return {
        **guarantee(parity, None),
        "delta": {"exact": True, "curve": curve},
    }


def guarantee(
    parity: exact.Ratio, losses: LossSet | None, channel: Channel | None = None
) -> Claims:
    """Return parity, ε and the curve of δ: from a channel or from losses, else the bound that the parity gives."""
    is_exact = channel is not None or losses is not None
    curve = []
    for gamma in gamma_grid(parity):
        if channel is not None:
            delta = channel.delta(gamma)
        elif losses is not None:
            delta = compute_delta(losses, gamma)
        else:
            delta = (
                Fraction(1)
                if parity == math.inf
                else (Fraction(parity) - gamma) / (Fraction(parity) + 1)
            )
        curve.append({"gamma": ratio_text(gamma), "delta": ratio_text(delta)})
    epsilon = repr(exact.log_above(parity))
    return {
        "parity": ratio_text(parity),
        "epsilon": epsilon,
        "delta": {"exact": is_exact, "curve": curve},
    }


def gamma_grid(parity: exact.Ratio) -> list[Fraction]:
    """Return the values of γ at which δ is stated."""
    if parity == math.inf:
        return [Fraction(1 << step) for step in range(POINTS + 1)]
    # Squares, because ε is a logarithm: even steps of γ would crowd where ε is large.
    return [
        1 + (Fraction(parity) - 1) * step**2 / POINTS**2
        for step in range(POINTS + 1)
    ]


def _admissible(channel: Channel) -> bool | None:
    """Whether no other channel of the same parity tells more; None where that is infinite."""
    return None if channel.parity == math.inf else bool(admissible(channel))


def _check_kind(channel: Channel) -> None:
    if channel.KIND not in CHECKED_KINDS:
        raise InvalidRequest(
            f"the channel is of kind {channel.KIND!r}, which a checker cannot read; expected one of "
            f"{', '.join(CHECKED_KINDS)}.",
            "Certify the same design with its channel written out (channel.dense()), or several with dn.product().",
        )


def refuse_prior(prior: Priors) -> None:
    """Refuse a prior for answers that cannot be listed.

    Raises:
        InvalidRequest: a prior was given.
    """
    if prior is not None:
        raise InvalidRequest(
            "a prior was given for answers that are too many to be listed; expected none.",
            "The parity bounds what any prior can become: the odds change by at most that factor.",
        )


def index_text(number: int) -> str:
    """Return the number of a response as a certificate writes it; beyond 2^53 in base 16."""
    return str(number) if number < 1 << 53 else hex(number)


def ratio_text(number: exact.Ratio) -> str:
    """Return a number as a certificate writes it: in lowest terms, or "inf".

    Raises:
        InvalidRequest: thousands of digits.
    """
    try:
        return "inf" if number == math.inf else str(Fraction(number))
    except ValueError:
        raise InvalidRequest(
            "a number of this certificate has thousands of digits; expected weights with fewer.",
            "Weights that add up to 2^64 are as fine as anybody can tell apart.",
        ) from None


def read_ratio(text: str) -> exact.Ratio:
    """Read a number of a certificate."""
    return math.inf if text == "inf" else Fraction(text)

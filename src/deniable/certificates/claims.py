"""What a certificate claims of a design, a ladder or a survey, in exact numbers that travel as text.

Claims are nested as what is certified is: a part for each question, attribute or stage, and what holds for all of them
together. The same claims are worked out a second time by `checker.py`, which shares no code with this file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import singledispatch
from typing import Any, TypeAlias

from deniable import exact
from deniable.certificates.losses import MOST_COMPARED, Losses, bit_losses, compared, delta_of, losses, side_by_side
from deniable.channel import Bits, Channel, Dense, Diagonal, Hadamard, Hashing, Mixture, Sets, Subset
from deniable.channel.two_level import TwoLevel
from deniable.criteria.belief import posterior, read_prior
from deniable.designs import Deck, Design
from deniable.designs.cards import excess
from deniable.errors import InvalidRequest
from deniable.order.admissibility import admissible
from deniable.order.bits import BitByBit
from deniable.order.ladders import Ladder
from deniable.order.sets import Nested, SetShare
from deniable.order.steps import Crossed, Factors, KeepOrFresh, Recoded, Step
from deniable.survey import Survey
from deniable.types.drawn.design import DrawnDesign
from deniable.types.edges.design import EdgeDesign
from deniable.types.key_value.design import KeyValueDesign, symbol_design
from deniable.types.key_value.schemes import Index
from deniable.types.strings.design import StringDesign

Claims: TypeAlias = dict[str, Any]
"""What is claimed, for JSON."""

Priors: TypeAlias = Any
"""A prior for the answers of one design; or for some of several parts, by name."""

POINTS = 8
"""Steps of the curve δ(γ), from γ = 1 to the parity."""

MOST_LISTED = 256
"""Cells of a channel that are told one by one; of a larger one the witness alone is."""

MOST_ANSWERS = 100_000
"""Answers over which one response is compared."""

KNOWN = (Bits, Dense, Diagonal, Hadamard, Hashing, Mixture, Subset)
"""Kinds of channel that the checker can read; a product is certified as its parts and what they tell together."""


@singledispatch
def claims_of(thing: Any, prior: Priors = None) -> Claims:  # noqa: ARG001 - the types below take it
    """Return what is claimed of something that can be asked.

    Raises:
        InvalidRequest: nothing that can be certified, or a prior that does not fit.
    """
    raise InvalidRequest(
        f"a {type(thing).__name__} was given; expected a design of any type, a ladder, a deck or a survey.",
        "Certify what a respondent's answer goes through.",
    )


@claims_of.register
def _of_design(thing: Design, prior: Priors = None) -> Claims:
    if thing.factors:
        return _together({factor.attribute: factor.design for factor in thing.factors}, prior)
    return _of_channel(thing, prior)


@claims_of.register
def _of_ladder(thing: Ladder, prior: Priors = None) -> Claims:
    if not all(isinstance(stage, Design) for stage in thing.designs):
        raise InvalidRequest(
            "the stages are those of one cohort; expected designs.", "Certify the string design of each stage."
        )
    parts = [claims_of(stage, prior) for stage in thing.designs]
    last = {name: parts[-1][name] for name in ("parity", "epsilon", "delta")}
    return {"rule": "last", **last, "parts": parts, "garblings": [_garbling(step) for step in thing.steps]}


@claims_of.register
def _of_survey(thing: Survey, prior: Priors = None) -> Claims:
    return _together({question.name: question.about for question in thing.questions}, prior, thing.each)


@claims_of.register
def _of_drawn(thing: DrawnDesign, prior: Priors = None) -> Claims:
    return _together({factor.attribute: factor.design for factor in thing.factors}, prior, thing.each)


@claims_of.register
def _of_edges(thing: EdgeDesign, prior: Priors = None) -> Claims:
    return _of_design(thing.choice, prior)


@claims_of.register
def _of_items(thing: KeyValueDesign, prior: Priors = None) -> Claims:
    if isinstance(thing.scheme, Index):
        return _of_design(symbol_design(thing), prior)
    _no_prior(prior)
    marked = len(thing.scheme.cells(thing.scheme.witness.response))
    return {"rule": "padded", **_guarantee(thing.parity, None), "witness": {"marked": str(marked)}}


@claims_of.register
def _of_strings(thing: StringDesign, prior: Priors = None) -> Claims:
    _no_prior(prior)
    hit, stray = thing.bit
    bits, most = thing.bloom.bits, thing.bloom.hashes
    pairs = [(own, min(most, bits - own)) for own in range(1, min(most, bits - 1) + 1)]
    found = frozenset(bit_losses(hit, stray, *pair) for pair in pairs)
    one, two = thing.ratios
    own, others = max(pairs, key=lambda pair: math.prod((one,) * pair[0] + (two,) * pair[1]))
    likely, unlikely = (1 << own) - 1, ((1 << others) - 1) << own
    witness = {"response": place(likely), "likely": place(likely), "unlikely": place(unlikely)}
    return {"rule": "bits", **_guarantee(thing.parity, found), "witness": witness}


@claims_of.register
def _of_deck(thing: Deck, prior: Priors = None) -> Claims:
    known = thing.people - 1
    both = list(zip(thing.counts, reversed(thing.counts), strict=True))
    apart = [at for at, (own, _) in enumerate(both) if 2 * at + 1 != thing.numbers and own]
    worst = max(apart, key=lambda at: exact.ratio(both[at][0], max(both[at][1] - known, 0)))
    gammas = _grid(thing.parity_collector)
    remaining = thing.cards - known
    curve = [{"gamma": text(g), "delta": text(excess(thing.counts, remaining, g))} for g in gammas]
    return {
        "rule": "deck",
        **_guarantee(thing.parity_collector, None),
        "delta": {"exact": True, "curve": curve},
        "witness": {"response": str(worst)},
        "alone": _of_channel(deck_alone(thing), prior),
    }


def deck_alone(deck: Deck) -> Design:
    """Return what one response of a deck is to somebody who sees no other: that of a card drawn from the full deck."""
    both = tuple(zip(deck.counts, reversed(deck.counts), strict=True))
    return Design(
        "deck", deck.categories, [str(number) for number in range(1, deck.numbers + 1)], Dense(both, deck.cards)
    )


def _of_channel(design: Design, prior: Priors) -> Claims:
    channel = design.channel
    _check_kind(channel)
    small = channel.answers * channel.responses <= MOST_LISTED and not isinstance(channel, Hashing)
    exactly = isinstance(channel, TwoLevel) or compared(channel) <= MOST_COMPARED
    claims: Claims = {
        **_guarantee(channel.parity, None, channel if exactly else None),
        "witness": {name: place(number) for name, number in channel.witness._asdict().items()},
        "admissible": _admissible(channel),
    }
    believed = None if prior is None else read_prior(design, prior)
    if believed is not None:
        claims["prior"] = [text(share) for share in believed]
    response, *pair = channel.witness
    if small:
        rows = [(each, list(range(channel.answers))) for each in range(channel.responses)]
    else:
        rows = [(response, pair)] if channel.answers <= MOST_ANSWERS else []
    claims["table"] = [_told(channel, each, answers, believed) for each, answers in rows]
    return claims


def _told(channel: Channel, response: int, answers: Sequence[int], prior: Sequence[Fraction] | None) -> Claims:
    """Return both Bayes factors of a response for each of some answers, and how probable the answers are after it."""
    factors = [(answer, *map(text, channel.bayes_factors(response, answer))) for answer in answers]
    told: Claims = {
        "response": place(response),
        "factors": [{"answer": answer, "least": least, "most": most} for answer, least, most in factors],
    }
    if prior is not None:
        possible = any(share and channel.probability(response, given=j) for j, share in enumerate(prior))
        after = posterior(channel, prior, response) if possible else ()
        told["posterior"] = [text(after[answer]) for answer in answers] if possible else None
    return told


def _together(parts: Mapping[str, Any], prior: Priors, each: int | None = None) -> Claims:
    """Return the claims of parts that are asked side by side: all of them, or so many that are drawn."""
    known = prior or {}
    if not isinstance(known, Mapping) or not set(known) <= set(parts):
        raise InvalidRequest(
            f"the prior does not fit; expected one for some of {', '.join(parts)}, by name.",
            'For example {"smokes": {"no": "9/10", "yes": "1/10"}}.',
        )
    claims = {name: claims_of(part, known.get(name)) for name, part in parts.items()}
    parities = sorted((ratio_of(part["parity"]) for part in claims.values()), reverse=True)[:each]
    parity = math.inf if math.inf in parities else math.prod((Fraction(each) for each in parities), start=Fraction(1))
    told = {name: _losses_of(part) for name, part in parts.items()}
    if each is None:
        guarantee = _guarantee(parity, side_by_side(list(told.values())))
    elif each == 1 and None not in told.values():
        # One part is drawn, evenly and whatever the answers are: δ is the mean, each part at its own worst pair.
        curve = [
            {"gamma": text(g), "delta": text(sum(delta_of(each, g) for each in told.values() if each) / len(told))}
            for g in _grid(parity)
        ]
        guarantee = {**_guarantee(parity, None), "delta": {"exact": True, "curve": curve}}
    else:
        guarantee = _guarantee(parity, None)
    rule = {"rule": "all"} if each is None else {"rule": "some", "each": each}
    return {**rule, **guarantee, "parts": claims}


def _losses_of(part: Any) -> frozenset[Losses] | None:
    design = part.designs[-1] if isinstance(part, Ladder) else part
    return losses(design.channel)


def _guarantee(parity: exact.Ratio, found: frozenset[Losses] | None, channel: Channel | None = None) -> Claims:
    """Return parity, ε and the curve of δ: from a channel or from losses, else the bound that the parity gives."""
    exactly = channel is not None or found is not None
    curve = []
    for gamma in _grid(parity):
        if channel is not None:
            delta = channel.delta(gamma)
        elif found is not None:
            delta = delta_of(found, gamma)
        else:
            delta = Fraction(1) if parity == math.inf else (Fraction(parity) - gamma) / (Fraction(parity) + 1)
        curve.append({"gamma": text(gamma), "delta": text(delta)})
    epsilon = repr(exact.log_above(parity))
    return {"parity": text(parity), "epsilon": epsilon, "delta": {"exact": exactly, "curve": curve}}


def _grid(parity: exact.Ratio) -> list[Fraction]:
    if parity == math.inf:
        return [Fraction(1 << step) for step in range(POINTS + 1)]
    # Squares, because ε is a logarithm: even steps of γ would crowd where ε is large.
    return [1 + (Fraction(parity) - 1) * step**2 / POINTS**2 for step in range(POINTS + 1)]


def _admissible(channel: Channel) -> bool | None:
    """Whether no other channel of the same parity tells more; None where that is infinite."""
    return None if channel.parity == math.inf else bool(admissible(channel))


def _check_kind(channel: Channel) -> None:
    if type(channel) not in KNOWN:
        kinds = ", ".join(sorted(kind.KIND for kind in KNOWN))
        raise InvalidRequest(
            f"the channel is of kind {channel.KIND!r}, which a checker cannot read; expected one of {kinds}.",
            "Certify the same design with its channel written out (channel.dense()), or several with dn.product().",
        )


def _no_prior(prior: Priors) -> None:
    if prior is not None:
        raise InvalidRequest(
            "a prior was given for answers that are too many to be listed; expected none.",
            "The parity bounds what any prior can become: the odds change by at most that factor.",
        )


def _garbling(step: Step) -> Claims:
    """Return how a finer response becomes a coarser one, as the checker reads it."""
    if isinstance(step, Recoded):
        return _garbling(step.step)
    if isinstance(step, Factors):
        return {"kind": "factors", "steps": [_garbling(each) for each in step.steps]}
    if isinstance(step, BitByBit):
        return {"kind": "bits", "hit": text(step.each.hit), "stray": text(step.each.stray)}
    shares = _shares(step)
    if shares:
        return {"kind": "sets", "shares": [[each.coarse, each.fine, *map(text, each[2:])] for each in shares]}
    if isinstance(step, KeepOrFresh):
        return {"kind": "keep", "share": text(step.share)}
    return {**_table(step).to_body(), "kind": "table"}


def _shares(step: Step) -> tuple[SetShare, ...]:
    """Return a step between sets in the words of `SetShare`; a single category is a set of one."""
    if isinstance(step, Nested):
        return () if isinstance(step.old, Bits) else step.shares
    if isinstance(step, Crossed):
        kept = step.garbling(0, 0)
        return (SetShare(1, 1, kept, 1 - kept, Fraction(0)),)
    if isinstance(step, KeepOrFresh) and isinstance(step.new, Diagonal | Subset):
        ones = step.new.ones if isinstance(step.new, Subset) else 1
        return (SetShare(ones, ones, step.share, Fraction(0), 1 - step.share),)
    return ()


def _table(step: Step) -> Dense:
    """Return a garbling written out, of stages that the checker can write out too."""
    written = step.written()
    if written is None or any(isinstance(each, Sets | Hashing) for each in (step.old, step.new)):
        raise InvalidRequest(
            f"a step of this ladder leads from {step.old.KIND} to {step.new.KIND}, which a checker cannot follow; "
            "expected stages of one kind, or tables.",
            "Certify each stage by itself; what the ladder promises for all together is in docs/theory/relaxation.md.",
        )
    return written.dense()


def place(number: int) -> str:
    """Return the number of a response as a certificate writes it; beyond 2^53 in base 16."""
    return str(number) if number < 1 << 53 else hex(number)


def text(number: exact.Ratio) -> str:
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


def ratio_of(written: str) -> exact.Ratio:
    """Read a number of a certificate."""
    return math.inf if written == "inf" else Fraction(written)

"""Rows of people to whom cards were dealt without replacement, whose responses depend on each other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from deniable.designs.cards import Deck
from deniable.errors import InvalidRequest, NotEstimable
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.decks import check_possible, estimate_deck
from deniable.estimates.sampling.estimating import Asked, estimate_values
from deniable.estimates.sampling.results import SampledEstimate
from deniable.estimates.sampling.samples import Sampling
from deniable.estimates.sampling.values import Dealt, OneResponse, RowValues
from deniable.estimates.shares import Estimate
from deniable.tallies.decks import tally
from deniable.tallies.responses import Responses

_APART = vector([[1, -1], [-1, 1]])  # what one share gains the other loses


def estimate_dealt(
    responses: Responses[Deck],
    sampling: Sampling,
    *,
    domain: Any = None,
    by: Any = None,
    denominator: Any = None,
) -> SampledEstimate:
    """Estimate the share of members among the people that a sample stands for, to whom a deck was dealt.

    Implements: r_i = (z_i − EY)/(L + 1 − 2·EY), whose device has the variance A and, of two people of one deal, the
    covariance −s_i·s_j·A/(M − 1), s = −1 for a member and 1 for another; 1 − 2r_i tells s_i.

    Guarantee: the variance of a total is right on average, whatever the weights are; not less than that where a deal
    goes over several clusters, or variances come from replicates.

    Why: a deal takes away nearly all that cards vary, and what clusters differ by does not show it: between few of them
    the unbiased variance is mostly chance, and often below 0. So the one of the same people drawn one by one, which is
    known well, is the least that is told.

    Args:
        responses: what was sent, a row for each person; of several deals of the deck one after the other, as responses
            add up.
        sampling: how these people were drawn.
        domain: True for the rows of a part of the people.
        by: a group for each row; each group is told on its own.
        denominator: a number for each row: what is told is the ratio of both totals.

    Raises:
        NotEstimable: a stratum with one cluster, responses that no deal gives, or a deck too small to know its part of
            the variance.
        InvalidRequest: columns that do not fit, or another number of rows than whole deals have.
    """
    deck = responses.design
    asked = Asked(
        deck, f"deck of {deck.cards:,} cards {deck.counts}", deck.epsilon_collector
    )

    def count(part: Any, population: int | None) -> Estimate[Any] | None:
        # The distribution of counts is that of a whole deal, to everybody there is.
        whole = len(responses) == deck.people and part.all() and population is None
        return estimate_deck(tally(deck, responses)) if whole else None

    def estimate_as(sample: Sampling) -> SampledEstimate:
        rows = dealt_values(responses, sample)
        return estimate_values(
            [rows],
            sample,
            asked,
            domain=domain,
            by=by,
            denominator=denominator,
            count=count,
        )

    estimate = estimate_as(sampling)
    # in whole numbers: of a share of 0 the variance is 0, not nearly
    if estimate.evidence:
        return estimate.with_evidence(estimate.evidence)
    one_by_one = not sampling.clustered and sampling.replicates is None
    if one_by_one or _within_clusters(_deals(responses), sampling):
        return estimate
    return _at_least(estimate, estimate_as(sampling.without_clusters()))


def _at_least(estimate: SampledEstimate, least: SampledEstimate) -> SampledEstimate:
    """Return an estimate whose variances are those of another one at least, in every direction."""
    sizes, directions = np.linalg.eigh(estimate.covariance - least.covariance)
    more = (directions * np.maximum(sizes, 0.0)) @ directions.T
    below = (
        None
        if estimate.totals is None or least.totals is None
        else _at_least(estimate.totals, least.totals)
    )
    return replace(estimate, covariance=least.covariance + more, totals=below)


def dealt_values(responses: Responses[Deck], sampling: Sampling) -> RowValues:
    """Return what each response of people to whom a deck was dealt says, and how these depend on each other.

    Raises:
        NotEstimable: responses that no deal gives, or a deck too small to know how its cards depend on each other.
        InvalidRequest: another number of rows than whole deals have.
    """
    deck, deals = responses.design, _deals(responses)
    present = (
        np.ones(len(responses), np.bool_)
        if responses.missing is None
        else ~responses.missing
    )
    between = float(deck.numbers + 1 - 2 * deck.mean)
    spread, cards = float(deck.spread) / between**2, deck.cards
    members = np.where(
        present,
        (responses.columns["response"] + 1 - float(deck.mean)) / between,
        0.0,
    )

    def device(factors: Vector, _: Vector) -> Matrix:
        return vector(spread * float(factors[present].sum()) * _APART)

    def one(weights: Vector, _: Vector) -> OneResponse:
        # F11 for as many people of each deal as the weights are worth: a deck dealt whole leaves 4A·π(1 − π).
        people = float(
            (np.bincount(deals, weights=weights) ** 2).sum() / (weights**2).sum()
        )
        level, slope = (
            spread * (cards - people) / (cards - 1),
            1 + 4 * spread * (people - 1) / (cards - 1),
        )
        nothing = np.full(2, np.nan)
        return OneResponse(
            vector([[level] * 2, [slope] * 2, [-slope] * 2]), nothing, nothing
        )

    values = vector(np.stack([present - members, members], axis=1))
    left = cards - 1 - 4 * spread
    if left > 0:
        signs = np.where(present, 1 - 2 * members, 0.0) * (spread / left) ** 0.5
        dealt = Dealt(vector(np.stack([-signs, signs], axis=1)), deals)
    elif _within_clusters(deals, sampling):
        dealt = None
    else:
        raise NotEstimable(
            f"a deck of {cards:,} cards is too small to tell how they depend on each other across clusters; expected "
            f"more than {1 + 4 * spread:,.1f}.",
            "Name each deal as a cluster, or a cluster that holds it: clusters=….",
        )
    return RowValues(
        tuple(deck.categories),
        values,
        present,
        device,
        "share",
        one,
        dealt=dealt,
        exclusive=True,
    )


def _deals(responses: Responses[Deck]) -> Any:
    """Return the number of each row's deal, and refuse responses that no deal gives."""
    deck, rows = responses.design, len(responses)
    if not rows or rows % deck.people:
        raise InvalidRequest(
            f"there are {rows:,} rows of a deck for {deck.people:,} people; expected all rows of each deal.",
            "Rows of people who sent nothing stay, as missing.",
        )
    for start in range(0, rows, deck.people):
        own = slice(start, start + deck.people)
        sent = responses.columns["response"][own]
        sent = sent if responses.missing is None else sent[~responses.missing[own]]
        check_possible(
            deck,
            tuple(np.bincount(sent, minlength=deck.numbers).tolist()),
            len(sent),
        )
    return np.arange(rows) // deck.people


def _within_clusters(deals: Any, sampling: Sampling) -> bool:
    """Whether no deal goes over two clusters, so that the variance between them holds all that its cards do."""
    if (
        len(deals) != len(sampling)
        or sampling.finite.any()
        or sampling.calibration is not None
    ):
        return False
    homes = sampling.clusters[np.unique(deals, return_index=True)[1]]
    return bool((sampling.clusters == homes[deals]).all())

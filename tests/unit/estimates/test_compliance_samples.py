"""People who do not follow the device, in samples with weights, strata and clusters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import deniable as dn
from deniable.errors import (
    DeniableError,
    InvalidRequest,
    NotEstimable,
    UnreadableFile,
)
from deniable.estimates.compliance.response_shares import ResponseShares

DIE = dn.forced_response("2/3", "1/6", "1/6")
FEW, MANY = dn.forced_response("4/5", "1/5"), dn.forced_response("1/5", "4/5")
ITEMS = dn.product(dict.fromkeys("abc", DIE))
BOTH = dn.product({"habit": dn.crosswise("3/20"), "anchor": dn.crosswise("1/10")})
C = dn.compliance


def rows(design: dn.Design, codes: Any) -> dn.Responses[dn.Design]:
    return dn.Responses(design, {"response": np.asarray(codes, np.uint8)})


def of_counts(design: dn.Design, counts: list[int]) -> dn.Responses[dn.Design]:
    """Rows with these counts, in an order without meaning."""
    return rows(
        design,
        np.random.default_rng(11).permutation(
            np.repeat(np.arange(len(counts)), counts)
        ),
    )


GROUPS: dict[str, tuple[Callable[..., Any], list[tuple[dn.Design, list[int]]]]] = {
    "cheating": (C.cheating_detection, [(FEW, [210, 90]), (MANY, [110, 190])]),
    "cheating at the border": (
        C.cheating_detection,
        [(FEW, [242, 58]), (MANY, [54, 246])],
    ),
    "lie detector": (
        C.lie_detector,
        [(dn.mangat("1/6"), [191, 373]), (dn.mangat("5/6"), [294, 398])],
    ),
    "three groups": (
        C.unrelated_cheating,
        [
            (dn.simmons(p=p, b="3/10"), [300 - yes, yes])
            for p, yes in (("3/4", 52), ("1/2", 70), ("1/4", 60))
        ],
    ),
    "one-sayers": (
        C.one_sayers,
        [(dn.crosswise("1/4"), [80, 170]), (dn.crosswise("3/4"), [165, 75])],
    ),
    "extended crosswise": (
        C.extended_crosswise,
        [(dn.crosswise("1/4"), [80, 170]), (dn.crosswise("3/4"), [165, 75])],
    ),
    "control": (C.control_item, [(BOTH, [90, 420, 260, 1230])]),
    "self-protection": (
        C.self_protection,
        [(ITEMS, [300, 60, 50, 15, 70, 20, 18, 7])],
    ),
    "sums": (C.sum_scores, [(ITEMS, [300, 60, 50, 15, 70, 20, 18, 7])]),
    "sums of Poisson": (
        partial(C.sum_scores, law="poisson"),
        [(ITEMS, [300, 60, 50, 15, 70, 20, 18, 7])],
    ),
    "free sums": (
        partial(C.sum_scores, law="free"),
        [(ITEMS, [300, 60, 50, 15, 70, 20, 18, 7])],
    ),
}
ALONE = ("control", "self-protection", "sums", "sums of Poisson", "free sums")


def fitted(
    name: str, made: Callable[[dn.Responses[dn.Design]], Any], **how: Any
) -> Any:
    """Fit a model to its groups, each of which is made from rows."""
    model, groups = GROUPS[name]
    given = [made(of_counts(design, counts)) for design, counts in groups]
    return model(given[0] if name in ALONE else given, **how)


def number_of(name: str) -> list[int]:
    return [sum(counts) for _, counts in GROUPS[name][1]]


@pytest.mark.parametrize("name", GROUPS)
def test_even_weights_and_no_clusters_are_plain_counts(name: str) -> None:
    """Numbers and intervals are the same but for rounding; errors of a sample with two groups differ by 1/n."""
    plain = fitted(name, dn.tally)
    intervals = plain.conf_int()
    sizes = number_of(name)
    apart = [dn.Sampling(np.full(n, 2.5)) for n in sizes]
    ways = [
        fitted(name, lambda sent: dn.tally(sent, weights=np.full(len(sent), 0.5))),
        fitted(
            name, lambda sent: sent, sampling=dn.Sampling(np.full(sum(sizes), 3.0))
        ),
        fitted(
            name, lambda sent: sent, sampling=apart if len(apart) > 1 else apart[0]
        ),
    ]
    # plain: the information, which trusts the model
    sandwich = name in ("self-protection", "sums", "sums of Poisson")
    for found in ways:
        assert found.params == pytest.approx(
            plain.params, abs=1e-7 if sandwich else 1e-12
        )
        assert found.bse == pytest.approx(plain.bse, rel=0.15 if sandwich else 0.005)
        ends = found.conf_int()
        assert {
            each: pytest.approx(own, abs=1e-6) for each, own in intervals.items()
        } == ends
        assert found.fit.statistic == pytest.approx(plain.fit.statistic, abs=1e-6)
        assert found.fit.df == plain.fit.df
        assert found.respondents == plain.respondents
        assert list(found.design_effect.values()) == pytest.approx(
            [1.0] * len(found.params), abs=0.005
        )
        assert "A weighted sample of" in str(found.summary())
        assert (
            f"design effect{' is' if len(sizes) == 1 else 's are'} 1.00"
            in " ".join(str(found.summary()).split())
        )
        assert "design effect" in found.summary().table()[0]


@pytest.mark.parametrize("name", GROUPS)
def test_a_weight_is_as_many_rows_of_one_person(name: str) -> None:
    """Rows that are written out w times, and are one cluster, say what one row with the weight w says."""
    model, groups = GROUPS[name]
    weights = [
        np.random.default_rng(12).integers(1, 5, sum(counts)) for _, counts in groups
    ]
    sent = [of_counts(design, counts) for design, counts in groups]
    again = [
        rows(each.design, np.repeat(each.columns["response"], w))
        for each, w in zip(sent, weights, strict=True)
    ]
    people = [np.repeat(np.arange(len(w)), w) for w in weights]
    one = [dn.Sampling(w) for w in weights]
    many = [dn.Sampling(clusters=each) for each in people]
    if name in ALONE:
        found, copied = (
            model(sent[0], sampling=one[0]),
            model(again[0], sampling=many[0]),
        )
    else:
        found, copied = model(sent, sampling=one), model(again, sampling=many)
    # effective sizes differ by n/(n − 1)
    assert copied.params == pytest.approx(found.params, abs=1e-4)
    assert copied.moments == pytest.approx(found.moments, abs=1e-4)
    assert copied.bse == pytest.approx(found.bse, rel=1e-3)
    ends = copied.conf_int()
    assert {
        each: pytest.approx(own, abs=2e-3) for each, own in found.conf_int().items()
    } == ends
    counted = [
        dn.tally(each, weights=w) for each, w in zip(sent, weights, strict=True)
    ]
    tallied = model(counted[0] if name in ALONE else counted)
    assert tallied.params == pytest.approx(found.params, abs=1e-7)
    assert tallied.bse == pytest.approx(found.bse, rel=1e-6)


def arms(
    seed: int, villages: int = 40, size: int = 12, spread: float = 0.35
) -> dict[str, Any]:
    """People of both arms in the same villages, which differ in how many are members and in how many cheat."""
    draws = np.random.default_rng(seed)
    village = np.repeat(np.arange(villages), size)
    pi = np.clip(draws.normal(0.3, spread, villages), 0, 0.8)[village]
    gamma = np.clip(draws.normal(0.1, 0.1, villages), 0, 0.2)[village]
    arm = draws.integers(2, size=len(village))
    p = np.where(arm == 0, 0.2, 0.8)
    yes = draws.random(len(village)) < pi + (1 - pi - gamma) * p
    return {
        "village": village,
        "arm": arm,
        "yes": yes.astype(np.uint8),
        "pi": pi,
        "gamma": gamma,
    }


def in_arms(of: dict[str, Any]) -> list[dn.Responses[dn.Design]]:
    return [
        dn.Responses(
            design,
            {"response": np.where(of["arm"] == at, of["yes"], 0)},
            of["arm"] != at,
        )
        for at, design in enumerate((FEW, MANY))
    ]


def test_arms_in_the_same_clusters_vary_together() -> None:
    """The error of each number, from the sums of villages written out."""
    of = arms(1)
    weights = np.random.default_rng(2).integers(1, 4, len(of["arm"]))
    found = C.cheating_detection(
        in_arms(of), sampling=dn.Sampling(weights, clusters=of["village"])
    )
    shares, moves = [], []
    for at in (0, 1):
        own = weights * (of["arm"] == at)
        shares.append(own @ of["yes"] / own.sum())
        moves.append(
            np.bincount(of["village"], own * (of["yes"] - shares[at]) / own.sum())
        )
    totals = np.stack(moves)
    spread = np.cov(totals) * totals.shape[1]
    # what is left out where arms are taken apart
    assert spread[0, 1] > 0.1 * np.sqrt(spread[0, 0] * spread[1, 1])
    pi = np.array([0.8, -0.2]) / 0.6
    beta = np.array([-1.0, 1.0]) / 0.6
    assert found.moments["yes, honest"] == pytest.approx(pi @ shares)
    assert found.bse["yes, honest"] == pytest.approx(np.sqrt(pi @ spread @ pi))
    assert found.bse["yes at most"] == pytest.approx(np.sqrt(beta @ spread @ beta))
    assert found.design_effect["yes, honest"] > 1.5


def test_a_contrast_of_arms_that_go_together_is_told_more_surely() -> None:
    """Villages that say yes more often in both arms: sums of both vary, their difference does not."""
    draws = np.random.default_rng(14)
    village, arm = np.repeat(np.arange(60), 40), np.arange(2400) % 2
    level = draws.choice([-0.19, 0.19], 60)[village]
    yes = (draws.random(2400) < np.where(arm == 0, 0.35, 0.65) + level).astype(
        np.uint8
    )
    groups = in_arms({"arm": arm, "yes": yes})
    drawn = dn.Sampling(clusters=village)
    together = C.cheating_detection(groups, sampling=drawn)
    assert together.model.response_shares.effects.min() > 2
    assert together.design_effect["no, honest"] < 1.2
    # nothing is told more surely than so
    one_by_one = C.cheating_detection([dn.tally(each) for each in groups]).bse
    for name in ("yes, honest", "no, honest"):
        low, high = together.interval(name)
        assert high - low == pytest.approx(
            2 * 2.0 * max(together.bse[name], one_by_one[name]), rel=0.05
        )


def test_one_group_after_another_is_the_same_as_side_by_side() -> None:
    of = arms(3)
    weights = np.random.default_rng(4).integers(1, 4, len(of["arm"]))
    beside = C.lie_detector(
        in_arms(of), sampling=dn.Sampling(weights, clusters=of["village"])
    )
    order = np.argsort(of["arm"], kind="stable")
    first, second = (
        rows(design, of["yes"][of["arm"] == at])
        for at, design in enumerate((FEW, MANY))
    )
    after = C.lie_detector(
        [first, second],
        sampling=dn.Sampling(weights[order], clusters=of["village"][order]),
    )
    assert after.params == pytest.approx(beside.params, abs=1e-12)
    assert after.bse == pytest.approx(beside.bse, rel=1e-12)
    assert {
        name: pytest.approx(ends, abs=1e-9)
        for name, ends in beside.conf_int().items()
    } == after.conf_int()
    swapped = C.lie_detector(
        in_arms(of)[::-1], sampling=dn.Sampling(weights, clusters=of["village"])
    )
    assert swapped.params == pytest.approx(beside.params, abs=1e-12)
    assert swapped.bse == pytest.approx(beside.bse, rel=1e-9)


def test_replicates_say_what_the_linearized_variance_says() -> None:
    of = arms(5)
    drawn = {"weights": np.ones(len(of["arm"])), "clusters": of["village"]}
    plain = C.cheating_detection(in_arms(of), sampling=dn.Sampling(**drawn))
    again = C.cheating_detection(
        in_arms(of), sampling=dn.Sampling(**drawn, replicates="jackknife")
    )
    assert again.params == pytest.approx(plain.params, abs=1e-12)
    assert again.bse == pytest.approx(plain.bse, rel=0.03)
    assert "jackknife" in str(again.summary())


def test_intervals_hold_where_people_of_a_village_are_alike() -> None:
    """150 surveys; 93 % hold on the average, fewer than this once in 1e9 runs; without clusters far fewer do."""
    surveys, least = 150, int(binom.ppf(1e-9, 150, 0.93))
    pi = np.clip(
        np.random.default_rng(0).normal(0.3, 0.35, 1_000_000), 0, 0.8
    ).mean()
    gamma = np.clip(
        np.random.default_rng(1).normal(0.1, 0.1, 1_000_000), 0, 0.2
    ).mean()
    truths = {"yes, honest": pi, "always no": gamma, "yes at most": pi + gamma}
    held, blind = dict.fromkeys(truths, 0), 0
    for seed in range(surveys):
        of = arms(100 + seed, villages=30, size=30)
        groups = in_arms(of)
        ends = C.cheating_detection(
            groups, sampling=dn.Sampling(clusters=of["village"])
        ).conf_int()
        for name, truth in truths.items():
            held[name] += ends[name].low <= truth <= ends[name].high
        one_by_one = C.cheating_detection(
            [dn.tally(each) for each in groups]
        ).interval("yes, honest")
        blind += one_by_one.low <= pi <= one_by_one.high
    assert min(held.values()) >= least
    assert blind < least


def test_the_test_of_fit_knows_what_groups_have_in_common() -> None:
    """Of one degree of freedom G² is near the square of z, whose variance has the covariance of both groups."""
    draws = np.random.default_rng(8)
    village = np.repeat(np.arange(40), 20)
    arm = draws.integers(2, size=800)
    # people of some villages say "same" more often, whatever the device
    level = draws.normal(0, 0.25, 40)[village]
    same = draws.random(800) < np.clip(np.where(arm == 0, 0.7, 0.3) + level, 0, 1)
    groups = [
        dn.Responses(
            dn.crosswise(p),
            {"response": np.where(arm == at, same, 0).astype(np.uint8)},
            arm != at,
        )
        for at, p in enumerate(("1/4", "3/4"))
    ]
    found = C.extended_crosswise(groups, sampling=dn.Sampling(clusters=village))
    plain = C.extended_crosswise([dn.tally(each) for each in groups])
    assert found.fit.statistic == pytest.approx(found.model.z_sum**2, rel=0.03)
    assert found.fit.statistic < plain.fit.statistic / 3
    alone = found.model.one_sayers()
    assert alone.sample is found.sample
    assert alone.moments["always different"] == pytest.approx(
        1 - found.model.response_shares.value[1::2].sum()
    )


@pytest.mark.parametrize("law", ["items", "binomial", "poisson", "free"])
def test_errors_over_several_items_are_those_of_leaving_out_clusters(
    law: str,
) -> None:
    draws = np.random.default_rng(9)
    village = np.repeat(np.arange(50), 24)
    share = draws.beta(2, 6, 50)[village]
    carries = draws.random((1200, 3)) < share[:, None]
    said = draws.random((1200, 3)) < np.where(carries, 5 / 6, 1 / 6)
    said[draws.random(1200) < 0.15] = False
    codes = said @ np.array([4, 2, 1])
    weights = draws.integers(1, 4, 1200).astype(float)

    def fit(kept: Any) -> Any:
        sample = dn.Sampling(weights[kept], clusters=village[kept])
        sent = rows(ITEMS, codes[kept])
        if law == "items":
            return C.self_protection(sent, sampling=sample)
        return C.sum_scores(sent, sampling=sample, law=law)  # type: ignore[call-overload]

    found = fit(np.ones(1200, bool))
    left = np.array(
        [list(fit(village != each).params.values()) for each in range(50)]
    )
    spread = np.sqrt(49 / 50 * ((left - left.mean(axis=0)) ** 2).sum(axis=0))
    inside = np.array([0.001 < value < 0.999 for value in found.params.values()])
    if law == "free" and min(found.moments.values()) < 0:
        inside[:] = (
            False  # on the border the most likely numbers vary less than the moments do
        )
    assert np.array(list(found.bse.values()))[inside] == pytest.approx(
        spread[inside], rel=0.1
    )


def test_nobody_who_sends_another_response_still_has_a_design_effect() -> None:
    """Where everybody of a group says no its own sample shows nothing: the other group's effect stands for it."""
    village = np.repeat(np.arange(20), 10)
    yes = np.concatenate([np.zeros(200), np.repeat(np.arange(20) % 2, 10)])
    first, second = rows(FEW, yes[:200]), rows(MANY, yes[200:])
    found = C.cheating_detection(
        [first, second],
        sampling=dn.Sampling(clusters=np.concatenate([village, village])),
    )
    assert (
        found.model.response_shares.effects[0]
        == found.model.response_shares.effects[1]
        > 5
    )
    assert all(0 <= low <= high <= 1 for low, high in found.conf_int().values())


def test_few_clusters_are_told_and_make_intervals_wider() -> None:
    of = arms(6, villages=6, size=80, spread=0.05)
    found = C.cheating_detection(
        in_arms(of), sampling=dn.Sampling(clusters=of["village"])
    )
    assert "clusters" in [each.code for each in found.warnings]
    assert found.model.response_shares.quantile(0.95) == pytest.approx(
        1.96 * 2.5706 / 1.98, abs=0.02
    )  # t of 5 and of 240
    low, high = found.interval("yes, honest", method="normal")
    assert (high - low) / 2 == pytest.approx(
        2.56 * found.bse["yes, honest"], rel=0.01
    )


def test_silence_counts_once() -> None:
    of = arms(7)
    groups = in_arms(of)
    gone = np.arange(len(of["arm"])) < 9
    quiet = [
        dn.Responses(each.design, each.columns, each.missing | gone)
        for each in groups
    ]
    found = C.cheating_detection(quiet, sampling=dn.Sampling(clusters=of["village"]))
    assert found.summary().missing == 9
    assert found.respondents == len(of["arm"]) - 9
    summed = C.sum_scores(dn.Responses(ITEMS, {"response": np.arange(40, dtype=np.uint8) % 8}, np.arange(40) < 3),
                          sampling=dn.Sampling(np.ones(40)))  # fmt: skip
    assert summed.summary().missing == 3
    assert summed.respondents == 37


SENT = rows(FEW, [0, 1, 1, 0]), rows(MANY, [1, 1, 1, 0])
W = dn.Sampling(np.ones(8))


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (
            lambda: C.cheating_detection(SENT),
            InvalidRequest,
            "responses without a sampling",
        ),
        (
            lambda: C.cheating_detection(
                [dn.tally(each) for each in SENT], sampling=W
            ),
            InvalidRequest,
            "no rows",
        ),
        (
            lambda: C.cheating_detection([SENT[0], dn.tally(SENT[1])], sampling=W),
            InvalidRequest,
            "one kind",
        ),
        (
            lambda: C.cheating_detection(SENT, sampling=dn.Sampling(np.ones(7))),
            InvalidRequest,
            "4 and 4 rows",
        ),
        (
            lambda: C.cheating_detection(SENT, sampling=dn.Sampling(np.ones(4))),
            InvalidRequest,
            "in two groups",
        ),
        (
            lambda: C.cheating_detection(SENT, sampling=[W]),
            InvalidRequest,
            "one for each",
        ),
        (
            lambda: C.cheating_detection(SENT, sampling=[W, W, W]),
            InvalidRequest,
            "one for each",
        ),
        (
            lambda: C.cheating_detection(SENT, sampling=[W, W]),
            InvalidRequest,
            "8 rows; expected 4",
        ),
        (
            lambda: C.cheating_detection(SENT, sampling=np.ones(8)),
            InvalidRequest,
            "expected one Sampling",
        ),
        (
            lambda: C.cheating_detection(SENT, sampling="w"),
            InvalidRequest,
            "expected one Sampling",
        ),
        (
            lambda: C.cheating_detection([1, 2], sampling=W),
            InvalidRequest,
            "there is a int; expected tallies",
        ),
        (
            lambda: C.cheating_detection(
                SENT, sampling=dn.Sampling(clusters=[1] * 8)
            ),
            NotEstimable,
            "one cluster",
        ),
        (
            lambda: C.cheating_detection(
                SENT, sampling=dn.Sampling([0] * 4 + [1] * 4)
            ),
            NotEstimable,
            "weight 0",
        ),
        (
            lambda: C.cheating_detection(
                [SENT[0], rows(MANY, [1])], sampling=dn.Sampling([1] * 5)
            ),
            NotEstimable,
            "2 re",
        ),
        (
            lambda: C.cheating_detection(
                [dn.tally(each, weights=[0, 0, 0, 0]) for each in SENT]
            ),
            NotEstimable,
            "weight 0",
        ),
        (
            lambda: C.cheating_detection(
                [dn.tally(rows(FEW, [1]), weights=[1]), dn.tally(SENT[1])]
            ),
            NotEstimable,
            "2",
        ),
        (
            lambda: C.sum_scores(DIE, [5, 4, 3], sampling=W),
            InvalidRequest,
            "no rows",
        ),
        (
            lambda: C.sum_scores(DIE, [5, 4, 3], law="normal"),
            InvalidRequest,
            "binomial, poisson, free",
        ),  # type: ignore[call-overload]
        (
            lambda: C.sum_scores(dn.direct(["a", "b", "c"]), [5, 4, 3]),
            InvalidRequest,
            "two answers",
        ),
        (
            lambda: C.sum_scores(
                dn.matrix([["1/3", "1/3"], ["2/3", "2/3"]]), [5, 4, 3]
            ),
            NotEstimable,
            "same whatever",
        ),
        (lambda: C.sum_scores(dn.tally(SENT[0])), InvalidRequest, "several items"),
        (
            lambda: C.sum_scores(
                dn.Tally(dn.product({"a": DIE, "b": FEW}), [5, 4, 3, 2])
            ),
            InvalidRequest,
            "different devices",
        ),
        (
            lambda: C.self_protection(SENT[0], sampling=W),
            InvalidRequest,
            "several items",
        ),
        (
            lambda: C.control_item(rows(BOTH, [0, 1, 2, 3]), sampling=W),
            InvalidRequest,
            "8 rows; expected 4",
        ),
        (
            lambda: C.control_item([dn.crosswise("1/4")]),
            InvalidRequest,
            "expected tallies",
        ),  # type: ignore[list-item]
    ],
)
def test_what_does_not_fit_has_one_clear_error(
    call: Any, error: type[DeniableError], match: str
) -> None:
    with pytest.raises(error, match=match):
        call()


def test_weights_that_calibration_made_negative_are_refused() -> None:
    drawn = dn.Sampling([1, 1, 1, 1, 1, 1, 1, 1]).calibrate(
        {"x": np.arange(8.0)}, {"x": 200.0}
    )
    bent = dn.Sampling([1] * 8).calibrate(
        {"n": np.ones(8), "x": np.arange(8.0)}, {"n": 8.0, "x": 55.0}
    )
    assert (bent.weights < 0).any()
    with pytest.raises(InvalidRequest, match="negative"):
        C.cheating_detection(SENT, sampling=bent)
    assert C.cheating_detection(SENT, sampling=drawn).params


def test_a_sample_that_was_cut_short_is_not_read() -> None:
    found = ResponseShares.of_counts([[3, 4], [5, 6]]).to_body()
    for broken in (
        {**found, "value": [0.5]},
        {**found, "people": [7.0]},
        {"cells": [2]},
        None,
        {**found, "cells": "x"},
    ):
        with pytest.raises(UnreadableFile, match="sample"):
            ResponseShares.from_body(broken)

"""Rows of several devices, stages, dealt cards and drawn items in a sample: what agrees, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from scipy.stats import t as student

import deniable as dn
from deniable.errors import (
    Incompatible,
    InvalidRequest,
    InvalidResponse,
    NotEstimable,
)
from tests.support.seeded import Seeded

N = 240
RNG = np.random.default_rng(37)
WEIGHTS, CLUSTERS = RNG.integers(1, 5, N).astype(float), np.arange(N) // 8
SAMPLE = dn.Sampling(WEIGHTS, strata=CLUSTERS % 2, clusters=CLUSTERS)
DEVICES = {
    "RR": dn.forced_response("2/3", "1/6", "1/6"),
    "cards": dn.kuk("4/5", "1/5", draws=2),
    "DQ": dn.direct(),
}
ASKED = RNG.choice(list(DEVICES), N).tolist()
COLUMN = [int(RNG.integers(2)) if RNG.random() < 0.95 else None for _ in range(N)]
LADDER = dn.ladder(dn.k_ary(["never", "once", "often"], e) for e in (0.5, 1, 2))
REACHED = RNG.integers(0, 4, N)  # how many of three stages


def rows(
    column: Any = COLUMN, devices: Any = ASKED
) -> list[dn.Responses[dn.Design]]:
    return dn.Responses.of(DEVICES, column, devices=devices, codes=True)


def stages() -> dn.Responses[Any]:
    return dn.respond_all(
        LADDER,
        RNG.choice(["never", "once", "often"], N),
        source=Seeded("stages of a sample"),
    )


def test_rows_of_several_devices_come_from_columns_of_every_kind() -> None:
    expected = rows()
    frame = pd.DataFrame({"q": pd.array(COLUMN, "Int64"), "device": ASKED})
    found = dn.Responses.of(DEVICES, frame["q"], devices=frame["device"], codes=True)
    assert all(one == two for one, two in zip(found, expected, strict=True))
    counted = dn.tally(DEVICES, COLUMN, devices=ASKED, codes=True)
    assert all(
        (dn.tally(one).counts == two.counts).all()
        for one, two in zip(expected, counted, strict=True)
    )


def test_rows_of_a_deck_and_of_drawn_items_come_from_columns() -> None:
    deck = dn.Deck((1, 1, 2), people=4)
    expected = dn.Responses(
        deck,
        {"response": np.array([0, 2, 0, 1])},
        np.array([False, False, True, False]),
    )
    for column in (
        ["1", "3", None, "2"],
        [1, 3, None, 2],
        pd.Series([1, 3, None, 2]),
        np.ma.masked_equal([1, 3, 9, 2], 9),
    ):
        assert dn.Responses.of(deck, column) == expected
    with pytest.raises(InvalidResponse, match="row 2: '4' is on no card"):
        dn.Responses.of(deck, [1, 4])
    for wrong in (True, 1.5, "0", "x"):
        with pytest.raises(InvalidResponse, match="is on no card"):
            dn.Responses.of(deck, [wrong])
    drawn = dn.drawn_items({"a": dn.warner(1), "b": dn.warner(1)})
    sent = dn.respond_all(
        drawn, [{"a": "yes", "b": "no"}, None] * 9, source=Seeded("column")
    )
    assert dn.Responses.of(drawn, list(sent)) == sent
    with pytest.raises(InvalidResponse, match="expected a column"):
        dn.Responses.of(drawn, "a: yes")
    with pytest.raises(InvalidRequest, match="with codes="):
        dn.Responses.of(deck, [0, 1], codes=True)


def test_even_weights_of_several_devices_add_them_up_as_strata() -> None:
    found = dn.estimate(rows(), sampling=dn.Sampling([3.0] * N), method="strata")
    plain = dn.estimate(
        dn.tally(DEVICES, COLUMN, devices=ASKED, codes=True), method="strata"
    )
    assert found.value == pytest.approx(plain.value, rel=1e-12)
    assert found.bse["yes"] == pytest.approx(plain.bse["yes"])
    assert (found.respondents, found.missing) == (
        plain.respondents,
        COLUMN.count(None),
    )
    assert found.design == tuple(DEVICES.values())
    assert found.asked == "3 devices"
    assert found.epsilon == np.inf
    assert found.default_interval == plain.default_interval == "wide"
    assert dn.SampledEstimate.from_json(found.to_json(), None) == found
    hidden = dn.estimate(rows()[:2], sampling=SAMPLE)
    assert hidden.epsilon == max(each.epsilon for each in list(DEVICES.values())[:2])
    assert hidden.asked == "2 devices"


def test_one_device_alone_is_what_it_is_by_itself() -> None:
    sent = dn.Responses.of(DEVICES["RR"], COLUMN, codes=True)
    alone, among = (
        dn.estimate(sent, sampling=SAMPLE),
        dn.estimate(rows(devices=["RR"] * N), sampling=SAMPLE),
    )
    assert among.value == pytest.approx(alone.value)
    assert among.cov_params() == pytest.approx(alone.cov_params())
    for name, ends in alone.conf_int().items():
        assert list(among.conf_int()[name]) == pytest.approx(list(ends))
    assert among.default_interval == alone.default_interval == "score"


def test_a_weight_of_two_is_a_row_twice() -> None:
    double = [
        each
        for each, weight in zip(
            zip(COLUMN, ASKED, strict=True), WEIGHTS, strict=True
        )
        for _ in range(int(weight))
    ]
    column, devices = zip(*double, strict=True)
    whole = dn.estimate(
        rows(list(column), list(devices)), sampling=dn.Sampling([1.0] * len(double))
    )
    assert dn.estimate(rows(), sampling=SAMPLE).value == pytest.approx(
        whole.value, rel=1e-4
    )  # up to the last round
    sent, again = stages(), np.repeat(np.arange(N), WEIGHTS.astype(int))
    repeated = dn.Responses(
        LADDER, {name: column[again] for name, column in sent.columns.items()}
    )
    whole = dn.estimate(
        repeated, sampling=dn.Sampling(np.ones(len(again))), reached=REACHED[again]
    )
    assert dn.estimate(
        sent, sampling=SAMPLE, reached=REACHED
    ).value == pytest.approx(whole.value, rel=1e-4)


def test_a_group_that_one_device_was_used_in_has_that_devices_interval() -> None:
    devices = ["RR"] * (N // 2) + ["DQ"] * (N // 2)
    whole = rows(devices=devices)
    groups = dn.estimate(whole, sampling=SAMPLE, by=devices)
    alone = dn.estimate(
        dn.Responses.of(DEVICES["DQ"], COLUMN, codes=True),
        sampling=SAMPLE,
        domain=np.arange(N) >= N // 2,
    )
    assert list(groups.interval("DQ · yes")) == pytest.approx(
        list(alone.interval("yes"))
    )


def test_the_finest_stage_counts_once() -> None:
    sent = stages()
    found = dn.estimate(sent, sampling=dn.Sampling(np.ones(N)), reached=REACHED)
    counted = dn.tally(sent, reached=REACHED)
    assert found.value == pytest.approx(dn.estimate(counted).value, rel=1e-12)
    assert found.missing == (REACHED == 0).sum()
    assert found.epsilon == LADDER.epsilon
    coarse = dn.estimate(sent, sampling=SAMPLE, reached=np.ones(N, int))
    first = dn.Responses(LADDER.designs[0], {"response": sent.columns["stage_1"]})
    assert coarse.value == pytest.approx(dn.estimate(first, sampling=SAMPLE).value)
    assert coarse.epsilon == LADDER.epsilons[0]
    by_device = dn.Responses.of(
        dict(enumerate(LADDER)),
        [
            None if not at else row[at - 1]
            for row, at in zip(sent, REACHED, strict=True)
        ],
        devices=np.maximum(REACHED - 1, 0),
    )
    assert dn.estimate(by_device, sampling=SAMPLE).value == pytest.approx(
        dn.estimate(sent, sampling=SAMPLE, reached=REACHED).value
    )


def test_levels_beyond_the_interval_of_a_quantile_are_sure_by_the_quantile_of_t() -> (
    None
):
    """Of 5 clusters: the share at or below each level that is left out lies t errors away."""
    design = dn.number_design(0, 20, 4, levels=21)
    sent = dn.Responses.of(
        design, np.random.default_rng(2).integers(21, size=5000), codes=True
    )
    sampling = dn.Sampling(clusters=np.arange(5000) % 5)
    shares = [0.1, 0.3, 0.5, 0.7, 0.9]
    found = dn.estimate(sent, sampling=sampling, quantiles=shares)
    levels = found.evidence[0].shares
    below = np.tri(20, 21)
    cumulated, errors = (
        below @ levels.value,
        np.sqrt(np.diagonal(below @ levels.cov_params() @ below.T)),
    )
    for share, name in zip(shares, list(found.params)[2:], strict=True):
        low, high = map(int, found.interval(name))
        away = np.abs(cumulated - share) / errors
        assert (np.delete(away, range(low, high)) > student.ppf(0.975, 4)).all()


def test_numbers_along_a_ladder_have_a_mean() -> None:
    ladder = dn.ladder(
        dn.number_design(0, 10, epsilon, levels=2) for epsilon in (1, 3)
    )
    sent = dn.respond_all(
        ladder, RNG.choice(["0", "10"], N), source=Seeded("numbers")
    )
    found = dn.estimate(sent, sampling=SAMPLE, reached=1 + np.arange(N) % 2)
    assert found.names == ("mean",)
    assert found.quantity == "mean"
    assert abs(found.params["mean"] - 5) < 7 * found.bse["mean"]


def test_a_deck_without_clusters_agrees_with_its_own_estimate() -> None:
    deck = dn.integer_deck(N, epsilon=1)
    for members in (0.02, 0.3):
        answers = np.where(np.arange(N) < members * N, "yes", "no")
        sent = dn.respond_all(deck, answers, source=Seeded(f"deck {members}"))
        plain, found = (
            dn.estimate(dn.tally(sent)),
            dn.estimate(sent, sampling=dn.Sampling([2.0] * N)),
        )
        assert found.params["yes"] == pytest.approx(plain.params["yes"])
        assert found.cov_params()[1, 1] == pytest.approx(
            plain.evidence.share_variance, rel=0.05, abs=2e-4
        )
        assert "certain of the answer" in str(found.summary())
        census = dn.estimate(
            sent, sampling=dn.Sampling(strata=["all"] * N, population=N)
        )
        exact = dn.estimate(dn.tally(sent), population=N)
        assert census.cov_params()[1, 1] == pytest.approx(
            exact.evidence.share_variance, rel=0.05, abs=2e-4
        )


def test_a_deal_over_clusters_is_never_surer_than_people_drawn_one_by_one() -> None:
    deck, smaller = dn.integer_deck(N, epsilon=1), 0
    for seed in range(20):
        sent = dn.respond_all(
            deck, ["yes"] * 5 + ["no"] * (N - 5), source=Seeded(f"floor {seed}")
        )
        alone = dn.estimate(sent, sampling=dn.Sampling(WEIGHTS, strata=CLUSTERS % 2))
        told = [dn.estimate(sent, sampling=SAMPLE)]
        told += [
            dn.estimate(
                sent,
                sampling=dn.Sampling(
                    WEIGHTS, strata=CLUSTERS % 2, replicates="jackknife"
                ),
            )
        ]
        for each in told:
            assert each.value == pytest.approx(alone.value)
            assert each.bse["yes"] >= alone.bse["yes"] * (1 - 1e-9)
            assert each.total.bse["yes"] >= alone.total.bse["yes"] * (1 - 1e-9)
        smaller += told[0].bse["yes"] == pytest.approx(alone.bse["yes"])
    assert 0 < smaller < 20


def test_groups_of_one_deal_vary_together() -> None:
    """What groups have in common is told: the variance of their sum is that of the whole."""
    deck = dn.integer_deck(N, epsilon=1)
    sent = dn.respond_all(
        deck, RNG.choice(["no", "yes"], N, p=[0.8, 0.2]), source=Seeded("groups")
    )
    for fraction in (0.0, 0.5):
        sample = dn.Sampling(WEIGHTS, fraction=fraction)
        whole = dn.estimate(sent, sampling=sample).total
        parts = dn.estimate(sent, sampling=sample, by=np.arange(N) % 3).total
        summed = np.tile(np.eye(2), 3)
        assert summed @ parts.value == pytest.approx(whole.value)
        assert summed @ parts.cov_params() @ summed.T == pytest.approx(
            whole.cov_params()
        )


def test_drawn_items_agree_with_their_own_estimate() -> None:
    """The shares and their variances are the same, and attributes of the same people covary alike."""
    design, n = (
        dn.drawn_items({name: dn.warner(3) for name in ("a", "b", "c")}, each=2),
        6000,
    )
    carries = np.random.default_rng(4).random(n) < 0.4
    # all three hang together
    answers = [dict.fromkeys("abc", "yes" if each else "no") for each in carries]
    sent = dn.respond_all(design, answers, source=Seeded("hands"))
    found, plain = (
        dn.estimate(sent, sampling=dn.Sampling(np.ones(n))),
        dn.estimate(dn.tally(sent)),
    )
    assert found.params == pytest.approx(plain.params)
    for attribute in "abc":
        assert found.bse[f"{attribute}: yes"] == pytest.approx(
            plain.bse[f"{attribute}: yes"]
        )
    assert found.cov_params() == pytest.approx(plain.cov_params())
    assert plain.cov_params()[1, 3] > 1e-5
    known = dn.estimate(dn.tally(sent), population=8000)
    finite = dn.estimate(
        sent, sampling=dn.Sampling(strata=["all"] * n, population={"all": 8000})
    )
    for attribute in "abc":
        assert finite.bse[f"{attribute}: yes"] == pytest.approx(
            known.bse[f"{attribute}: yes"], rel=0.01
        )
        assert (
            finite.bse[f"{attribute}: yes"] < 0.95 * found.bse[f"{attribute}: yes"]
        )


def test_what_does_not_fit_is_refused() -> None:
    sent = dn.Responses.of(DEVICES["RR"], COLUMN, codes=True)
    with pytest.raises(InvalidRequest, match="go together"):
        dn.Responses.of(DEVICES, COLUMN)  # type: ignore[call-overload]
    with pytest.raises(InvalidRequest, match="go together"):
        dn.Responses.of(DEVICES["RR"], COLUMN, devices=ASKED)  # type: ignore[call-overload]
    with pytest.raises(InvalidRequest, match="a design for each device"):
        dn.Responses.of({}, COLUMN, devices=ASKED)
    with pytest.raises(InvalidResponse, match="3 responses and 1 devices"):
        dn.Responses.of(DEVICES, ["yes"] * 3, devices=["RR"])
    with pytest.raises(InvalidResponse, match="no columns"):
        dn.Responses.of(DEVICES, 3, devices=["RR"])
    with pytest.raises(InvalidResponse, match="row 2 is 'perhaps'"):
        dn.Responses.of(
            DEVICES, ["yes", "no", "perhaps"], devices=["DQ", "RR", "DQ"]
        )
    with pytest.raises(InvalidResponse, match="row 0 has responses to two devices"):
        dn.estimate([sent, sent], sampling=SAMPLE)
    with pytest.raises(InvalidRequest, match="have 1 rows; expected 240"):
        dn.estimate([sent, dn.Responses.of(DEVICES["DQ"], ["yes"])], sampling=SAMPLE)
    others = dn.Responses.of(
        dn.direct(["never", "ever"]), [None] * (N - 1) + ["ever"]
    )
    with pytest.raises(Incompatible, match="different categories"):
        dn.estimate(
            [
                dn.Responses.of(DEVICES["RR"], [0] * (N - 1) + [None], codes=True),
                others,
            ],
            sampling=SAMPLE,
        )
    with pytest.raises(InvalidRequest, match="asks for ladder"):
        dn.estimate([stages()], sampling=SAMPLE)
    with pytest.raises(InvalidRequest, match="inverse does not go with"):
        dn.estimate(rows(), sampling=SAMPLE, inverse=[[1, 0], [0, 1]])  # type: ignore[call-overload]
    with pytest.raises(InvalidRequest, match="reached does not go with"):
        dn.estimate(sent, sampling=SAMPLE, reached=REACHED)  # type: ignore[call-overload]
    with pytest.raises(InvalidResponse, match="240 whole numbers"):
        dn.estimate(stages(), sampling=SAMPLE, reached=[0, 1])
    with pytest.raises(InvalidResponse, match="4 stages were reached"):
        dn.estimate(stages(), sampling=SAMPLE, reached=[4] * N)
    with pytest.raises(NotEstimable, match="0 responses"):
        dn.estimate(stages(), sampling=SAMPLE, reached=[0] * N)
    deck = dn.Deck((20, 20, 60), people=N // 4)
    with pytest.raises(InvalidRequest, match="expected all rows of each deal"):
        dn.estimate(
            dn.Responses(deck, {"response": np.zeros(59, np.uint8)}),
            sampling=dn.Sampling([1.0] * 59),
        )
    with pytest.raises(NotEstimable, match="only 20 cards lead to it"):
        dn.estimate(
            dn.Responses(deck, {"response": np.ones(60, np.uint8)}),
            sampling=dn.Sampling([1.0] * 60),
        )
    for design in (
        deck,
        LADDER,
        dn.drawn_items({"a": dn.warner(1), "b": dn.warner(1)}),
    ):
        with pytest.raises(
            InvalidRequest,
            match=r"dn\.estimate\(responses, sampling=dn\.Sampling\(weights\)\)",
        ):
            dn.tally(design, ["1"], weights=[1.0])  # type: ignore[call-overload]


@pytest.mark.parametrize("share", [0.05, 0.5])
def test_intervals_of_a_dealt_deck_hold(share: float) -> None:
    """200 samples of 24 villages, drawn with uneven weights; fewer than 80 % would hold by chance once in 1e9."""
    rng, deck, held = np.random.default_rng(5), dn.integer_deck(N, epsilon=2), 0
    villages = rng.beta(share * 19, (1 - share) * 19, 500)
    sizes = rng.integers(1, 4, 500)
    truth = float(sizes @ villages / sizes.sum())
    for _ in range(200):
        drawn = rng.choice(500, 24)
        of = np.repeat(np.arange(24), 10)
        member = rng.random(N) < villages[drawn][of]
        cards = rng.permutation(np.repeat(np.arange(deck.numbers), deck.counts))
        sent = np.where(member, deck.numbers - 1 - cards, cards).astype(np.uint8)
        sample = dn.Sampling(sizes[drawn][of].astype(float), clusters=of)
        low, high = dn.estimate(
            dn.Responses(deck, {"response": sent}), sampling=sample
        ).interval("yes")
        held += low <= truth <= high
    assert held >= binom.ppf(1e-9, 200, 0.93)

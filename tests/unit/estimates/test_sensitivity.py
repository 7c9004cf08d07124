"""What a share would be if some people did not follow the device."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from deniable.errors import (
    ImplausibleResponses,
    InvalidRequest,
    InvalidResponse,
    MissingExtra,
)
from deniable.estimates.sensitivity import KINDS
from tests.support.sets import with_sums

DIE = dn.forced_response("2/3", "1/6", "1/6")


def mixed(
    design: dn.Design, shares: list[float], failing: float, law: list[float]
) -> dn.Tally:
    """A tally in which a share of people respond with a law of their own, as if there were no chance."""
    expected = (1 - failing) * design.channel.floats() @ np.array(
        shares
    ) + failing * np.array(law)
    return dn.Tally(design, np.rint(expected * 10**9).astype(np.int64))


@pytest.mark.parametrize(
    "design",
    [DIE, dn.crosswise("1/4"), dn.simmons(p="7/10", b="3/10"), dn.warner(p="1/4")],
)
@pytest.mark.parametrize("kind", ["always_no", "always_yes", "random"])
def test_the_curve_gives_back_the_share_of_those_who_follow(
    design: dn.Design, kind: str
) -> None:
    """ "No" is the response that speaks against the second answer, whatever it is called and wherever it stands."""
    speaks_for = int(design.channel.floats()[1, 1] > design.channel.floats()[1, 0])
    law = {
        "always_yes": np.eye(2)[speaks_for],
        "always_no": np.eye(2)[1 - speaks_for],
        "random": np.full(2, 0.5),
    }
    found = dn.estimate(
        mixed(design, [0.7, 0.3], 0.2, law[kind].tolist())
    ).sensitivity(kind, shares=[0, 0.2])
    (curve,) = found.curves
    assert curve.points[1].estimate == pytest.approx(0.3, abs=1e-6)
    assert curve.points[1].lowest == pytest.approx(0.24, abs=1e-6)
    assert curve.points[1].highest == pytest.approx(0.44, abs=1e-6)


def test_members_who_deny() -> None:
    """Of 30 % members a fifth always say no: 70 % honest others, 24 % honest members, 6 % who send no."""
    tally = mixed(DIE, [0.7 / 0.94, 0.24 / 0.94], 0.06, [1, 0])
    curve = dn.estimate(tally).sensitivity("carriers_no", shares=[0.2]).curves[0]
    assert curve.points[0].estimate == pytest.approx(0.3, abs=1e-6)
    beyond = dn.estimate(tally).sensitivity("carriers_no", shares=[0.99]).curves[0]
    # with so many no share explains the responses
    assert beyond.points[0].estimate == np.inf


@pytest.mark.parametrize(
    "design",
    [DIE, dn.k_ary(["a", "b", "c"], epsilon=2), dn.kuk("3/5", "1/5", draws=3)],
)
def test_at_the_breakdown_share_the_estimate_reaches_its_end(
    design: dn.Design,
) -> None:
    shares = [0.8, 0.2] if len(design.categories) == 2 else [0.5, 0.3, 0.2]
    estimate = dn.estimate(mixed(design, shares, 0.0, [0] * len(design.symbols)))
    for kind in KINDS:
        share = estimate.sensitivity(kind).curves[0].breakdown
        assert share is not None
        curve = estimate.sensitivity(kind, shares=[share]).curves[0]
        assert curve.points[0].estimate == pytest.approx(curve.reaches, abs=1e-9)
        assert "the estimate reaches" in curve.sentence


def test_many_answers_and_a_named_response() -> None:
    design = dn.k_ary(["never", "once", "often"], epsilon=2)
    estimate = dn.estimate(mixed(design, [0.5, 0.3, 0.2], 0.1, [1, 0, 0]))
    for category, share in (("never", 0.5), ("once", 0.3), ("often", 0.2)):
        curve = estimate.sensitivity(
            symbol="never", category=category, shares=[0.1]
        ).curves[0]
        assert curve.points[0].estimate == pytest.approx(share, abs=1e-6)


def test_designs_that_count_sums_have_a_curve_too() -> None:
    design = dn.rappor(30, epsilon=3)
    estimate = dn.estimate(with_sums(design, [20] * 30, 100))
    assert len(estimate.sensitivity(category="4").curves) == 4
    with pytest.raises(InvalidRequest, match="one by one"):
        estimate.sensitivity(symbol=design.symbols[0])


def test_a_bounded_estimate_shows_the_unbiased_curve() -> None:
    tally = dn.Tally(DIE, [180, 20])
    likely = dn.estimate(tally, method="likelihood").sensitivity()
    assert likely.value == pytest.approx(-0.1)
    assert (
        likely
        == dn.estimate(tally).projected().sensitivity()
        == dn.estimate(tally).sensitivity()
    )


def test_intervals_widen_with_the_share() -> None:
    curve = (
        dn.estimate(dn.Tally(DIE, [230, 70]))
        .sensitivity("random", level=0.9)
        .curves[0]
    )
    widths = [point.high - point.low for point in curve.points]
    assert widths == sorted(widths)
    assert curve.points[2].error == pytest.approx(curve.points[0].error / 0.9)


def test_table_frame_picture_and_words(monkeypatch: pytest.MonkeyPatch) -> None:
    found = dn.estimate(dn.Tally(DIE, [230, 70])).sensitivity()
    assert found.breakdown == pytest.approx(
        {"always_no": 0.72, "always_yes": 0.08, "carriers_no": 0.72, "random": 0.2}
    )
    assert (
        "random: the estimate reaches 0 if 20% of people send any response at random."
        in str(found)
    )
    assert len(found.to_frame()) == 4 * 11
    axes = found.plot(title="Curve").axes[0]
    assert axes.get_title(loc="left") == "Curve"
    assert len(axes.get_lines()) == 6
    assert (
        "<caption>share of &#x27;yes&#x27; among those who follow"
        in found._repr_html_()
    )
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(MissingExtra, match="pip install pandas"):
        found.to_frame()


def test_what_is_not_known_is_refused() -> None:
    estimate = dn.estimate(dn.Tally(DIE, [230, 70]))
    with pytest.raises(InvalidRequest, match="the kind is 'mostly'"):
        estimate.sensitivity("mostly")
    with pytest.raises(InvalidRequest, match="in \\[0, 1\\)"):
        estimate.sensitivity(shares=[1])
    with pytest.raises(InvalidRequest, match="beside a symbol"):
        estimate.sensitivity("random", symbol="no")
    with pytest.raises(InvalidResponse):
        estimate.sensitivity(symbol="perhaps")


def test_the_summary_says_where_it_breaks_down() -> None:
    told = "if nobody were 'yes', 8% who always send the response that suggests it or 20% who respond at random"
    assert told in str(dn.estimate(dn.Tally(DIE, [230, 70])).summary())
    direct, many = (
        dn.Tally(dn.direct(), [230, 70]),
        dn.Tally(dn.k_ary(3, 1), [90, 80, 70]),
    )
    for other in (direct, many):
        assert "following the device" not in str(dn.estimate(other).summary())


def test_a_share_below_0_names_the_usual_cause() -> None:
    """Forced response, 20 yes of 200: moment −.10 (SE .0319), likelihood 0 with a one-sided interval."""
    with pytest.warns(
        ImplausibleResponses, match="whom the device told to say yes said no"
    ):
        found = dn.estimate(dn.Tally(DIE, [180, 20]), method="likelihood")
    assert found.params["yes"] == 0
    assert found.interval("yes").low == 0 < found.interval("yes").high
    with pytest.warns(ImplausibleResponses, match="the harmless share is not p"):
        dn.estimate(dn.Tally(dn.crosswise("1/4"), [30, 270]))
    with pytest.warns(ImplausibleResponses) as told:
        dn.estimate(dn.Tally(DIE, [20, 180]))
    # more than everybody: nothing is known of why
    assert "usually mean" not in str(told[0].message)

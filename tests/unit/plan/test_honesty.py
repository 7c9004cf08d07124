from __future__ import annotations

import math
from typing import Any

import pytest
from scipy.stats import binom

import deniable as dn
from deniable import plan
from deniable.errors import InvalidRequest

DIE = dn.forced_response("2/3", "1/6", "1/6")
CROSSWISE = dn.crosswise("1/4")


@pytest.mark.parametrize(
    "design", [DIE, CROSSWISE, dn.warner(p="4/5")], ids=lambda each: each.name
)
def test_the_estimate_tends_away_by_what_the_response_says_not_by_its_name(
    design: dn.Design,
) -> None:
    given: dict[str, Any] = {"share": 0.2, "failing": 0.1}
    tends = {
        kind: plan.noncompliance(design, 500, kind=kind, **given).lines[-1][
            "expected estimate"
        ]
        for kind in ("always_no", "carriers_no", "always_yes", "random")
    }
    assert (
        tends["always_no"]
        < tends["carriers_no"]
        < 0.2
        < tends["random"]
        < tends["always_yes"]
    )
    # "different" speaks for the answer, and a protective "same" is sent by one in ten
    if design is CROSSWISE:
        assert tends["always_no"] == pytest.approx(
            (0.75 - (0.9 * (0.75 - 0.5 * 0.2) + 0.1)) / 0.5
        )


@pytest.mark.parametrize(("share", "null"), [(0.15, 0.0), (0.1, 0.2)])
def test_the_exact_power_sums_what_is_rejected(share: float, null: float) -> None:
    n, said, at_null = 200, 0.9 * (1 / 6 + share * 2 / 3), 1 / 6 + null * 2 / 3
    found = plan.noncompliance(DIE, n, share=share, failing=0.1, null=null)
    tail = (
        (lambda c: binom.sf(c - 1, n, at_null))
        if share > null
        else (lambda c: binom.cdf(c, n, at_null))
    )
    assert found.value == pytest.approx(
        sum(binom.pmf(c, n, said) for c in range(n + 1) if tail(c) <= 0.05)
    )
    assert found.lines[0]["power"] == pytest.approx(
        plan.power(DIE, n, share=share, null=null)
    )


def test_power_for_the_wrong_reason_is_told() -> None:
    assert (
        "wrong reason"
        in plan.noncompliance(
            DIE, 500, share=0.15, failing=0.2, kind="random"
        ).notes[0]
    )
    assert (
        "wrong share"
        in plan.noncompliance(DIE, 500, share=0.15, failing=0.2).notes[0]
    )


@pytest.mark.parametrize(
    "design",
    [DIE, dn.warner(p="7/10"), dn.kuk("4/5", "1/5", draws=2)],
    ids=lambda each: each.name,
)
@pytest.mark.parametrize("bias", [0.0, 0.03])
def test_errors_cross_where_it_is_said(design: dn.Design, bias: float) -> None:
    found = plan.crossover(design, share=0.2, lying=0.3, bias=bias)

    def better(n: int) -> bool:
        mine = plan.variance(design, n, shares=[0.8, 0.2]) + bias**2
        return mine < 0.06**2 + 0.14 * 0.86 / n

    first = math.floor(found.value) + 1
    assert better(first)
    assert not better(first - 1)
    assert f"From {first:,} respondents on" in found.sentence
    errors = [list(line.values()) for line in found.lines]
    assert errors[0][1] < errors[0][2]
    assert errors[-1][1] > errors[-1][2]


def test_a_crossing_is_drawn() -> None:
    found = plan.crossover(DIE, share=0.2, lying=0.3)
    lines = found.drawn().splitlines()
    assert len(lines) == 1 + len(found.lines)
    assert "1,000 │" in found.drawn()
    assert lines[1].index("●") < lines[1].index("○")
    assert lines[-1].index("○") < lines[-1].index("●")
    axes = found.plot().axes[0]
    assert [line.get_label() for line in axes.lines][:2] == list(found.lines[0])[1:]


def test_where_nobody_lies_nothing_crosses() -> None:
    for given in ({"lying": 0.0}, {"lying": 0.3, "bias": 0.07}):
        found = plan.crossover(DIE, share=0.2, **given)
        assert found.value == math.inf
        assert found.sentence.startswith("A direct question has the smaller error")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"kind": "always_maybe"}, "the kind is"),
        ({"failing": 1.2}, "failing is 1.2"),
        ({"null": 0.15}, "two different shares"),
        ({"method": "bayes"}, "the method is"),
        ({"design": dn.kuk("4/5", "1/5", draws=2)}, "one response that decides"),
    ],
)
def test_what_does_not_fit_is_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidRequest, match=why):
        plan.noncompliance(
            **{"design": DIE, "n": 100, "share": 0.15, "failing": 0.1, **given}
        )

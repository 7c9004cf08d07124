from __future__ import annotations

import json
from typing import Any

import pytest
from scipy.stats import binom

import deniable as dn
from deniable import plan
from deniable.errors import InvalidRequest

DIE = dn.forced_response("2/3", "1/6", "1/6")
CROSSWISE = dn.crosswise("1/4")


def narrow(design: dn.Design, n: int, share: float, width: float) -> float:
    """Sum how often the interval that `estimate` gives is at most so wide."""
    u, v = (float(design.channel.probability(1, given=each)) for each in (0, 1))
    hits = 0.0
    for count in range(n + 1):
        tally = dn.tally(design, [1] * count + [0] * (n - count), codes=True)
        found = dn.estimate(tally).conf_int(method="normal")["yes"]
        if found.high - found.low <= width + 1e-12:
            hits += binom.pmf(count, n, u + (v - u) * share)
    return hits


@pytest.mark.parametrize("design", [DIE, CROSSWISE], ids=lambda each: each.name)
def test_an_assurance_is_kept_from_that_number_on(design: dn.Design) -> None:
    given: dict[str, Any] = {"share": 0.1, "width": 0.5}
    n = plan.sample_size_for_width(design, assurance=0.9, **given)
    assert narrow(design, n - 1, **given) < 0.9 <= narrow(design, n, **given)
    assert min(narrow(design, n + more, **given) for more in (1, 2, 3)) >= 0.9
    wide = plan.how_wide(design, n, share=0.1, assurance=0.9).value
    assert wide <= 0.5 < plan.how_wide(design, n - 1, share=0.1, assurance=0.9).value


def test_without_an_assurance_the_width_is_the_one_on_average() -> None:
    n = plan.how_many(DIE, share=0.2, width=0.12).value
    assert n == 505 == plan.sample_size(DIE, margin=0.06, shares=[0.8, 0.2])
    assert plan.how_wide(DIE, 505, share=0.2).value == pytest.approx(
        plan.width(DIE, 505, shares=[0.8, 0.2])
    )


def test_answers_are_those_of_the_functions_for_numbers() -> None:
    assert plan.how_many(
        DIE, share=0.1, power=0.8
    ).value == plan.sample_size_for_power(DIE, share=0.1)
    assert plan.how_small(DIE, 300).value == plan.detection_limit(DIE, 300)
    kinds = dn.k_ary(["a", "b", "c"], 2)
    told = plan.how_many(kinds, share=0.2, width=0.1, category="b")
    assert told.value == plan.sample_size(
        kinds, margin=0.05, shares=[0.4, 0.2, 0.4], category="b"
    )


def test_an_answer_is_a_sentence_then_a_table() -> None:
    told = plan.how_many(DIE, share=0.1, power=0.8)
    lines = str(told).splitlines()
    sentence = "Ask 241 people: a share of 10% is shown to differ from 0% with a power of 80%."
    assert lines[0] == told.sentence == sentence
    assert lines[1].startswith("expected share")
    assert len(lines) == 2 + len(told.lines)
    assert json.loads(told.to_json())["value"] == 241
    assert told.to_frame()["people"].tolist() == [
        line["people"] for line in told.lines
    ]
    assert [
        line["people"] for line in told.lines if line["expected share"] == "10%"
    ] == [241]
    assert told.plot().axes[0].get_xlabel() == "people"
    with pytest.raises(InvalidRequest, match="no picture"):
        told.drawn()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "either a width or a power"),
        ({"width": 0.1, "power": 0.8}, "either a width or a power"),
        ({"power": 0.8, "assurance": 0.8}, "an assurance with a width alone"),
        ({"width": 0.1, "assurance": 1.0}, "the assurance is 1.0"),
        ({"width": 2.0}, "the width is 2.0"),
        ({"width": 0.1, "category": "maybe"}, "not a category"),
    ],
)
def test_what_does_not_fit_is_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidRequest, match=why):
        plan.how_many(DIE, share=0.2, **given)


def test_an_assurance_needs_one_response_that_decides() -> None:
    with pytest.raises(InvalidRequest, match="one response that decides"):
        plan.how_many(
            dn.kuk("4/5", "3/10", draws=3), share=0.2, width=0.1, assurance=0.8
        )

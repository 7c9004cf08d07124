"""The likelihood of sets from the responses themselves: the same as from a tally that counts each set."""

from __future__ import annotations

import json

import numpy as np
import pytest

import deniable as dn
from deniable.channel import sets
from deniable.designs import Design
from deniable.errors import InvalidRequest, NotEstimable, UnreadableFile
from deniable.estimates.rows import SentSets
from tests.support.seeded import seeded

FEW = {
    "subset": lambda: dn.subset(5, 2, t=2),
    "unary": lambda: dn.unary(4, 2),
    "optimized": lambda: dn.unary(4, 2, optimized=True),
    "rappor": lambda: dn.rappor(5, 3),
    "mixture": lambda: dn.mixture(4, {0: 0.1, 1: 0.4, 3: 0.4, 4: 0.1}, 2),
    "low": lambda: dn.unary(4, p="1/5", q="1/2"),
    "never outside": lambda: dn.subset(4, t=2, p=1),
}


def sent(design: Design, n: int = 3000) -> dn.Responses[Design]:
    answers = (
        np.minimum(
            np.random.default_rng(5).geometric(0.6, n), len(design.categories)
        )
        - 1
    )
    return dn.respond_all(
        design, answers, codes=True, source=seeded(f"rows of {design!r}"), fast=False
    )


@pytest.mark.parametrize("build", FEW.values(), ids=FEW.keys())
def test_rows_say_what_a_count_of_each_set_says(
    build: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = dn.estimate(dn.tally(sent(build())), method="likelihood")  # type: ignore[operator]
    ends = wanted.conf_int()
    monkeypatch.setattr(sets, "MAX_COUNTED_APART", 1)
    responses = sent(build())  # type: ignore[operator] # anew: a channel decides once how its sets are counted
    with pytest.raises(NotEstimable, match="keeps sums"):
        dn.estimate(dn.tally(responses), method="likelihood")
    found = dn.estimate(responses, method="likelihood")
    assert found.basis.sent is not None
    assert found.convergence is not None
    assert found.convergence.converged
    assert found.value == pytest.approx(wanted.value, abs=1e-6)
    # observed information for expected
    assert found.errors == pytest.approx(wanted.errors, rel=0.1)
    for name, (low, high) in found.conf_int().items():
        assert (low, high) == pytest.approx(ends[name], abs=1e-5)


def test_many_categories_have_a_likelihood_from_their_responses() -> None:
    """Shares that are rare: the likelihood is nearer to them than the unbiased estimate, and knows how near."""
    design = dn.rappor(40, 4)
    truth = np.zeros(40)
    truth[:4] = 0.9, 0.07, 0.02, 0.01
    answers = np.repeat(np.arange(4), (20_000 * truth[:4]).astype(int))
    responses = dn.respond_all(
        design, answers, codes=True, source=seeded("many rows"), fast=False
    )
    found, unbiased = (
        dn.estimate(responses, method="likelihood"),
        dn.estimate(responses),
    )
    assert unbiased == dn.estimate(dn.tally(responses))
    assert found.value.sum() == pytest.approx(1)
    assert found.value.min() >= 0
    assert (
        np.square(found.value - truth).sum()
        < np.square(unbiased.value - truth).sum() / 2
    )
    assert np.abs(found.value - truth)[:4].max() < 6 * found.errors[:4].max()
    assert found.errors[:4].max() < unbiased.errors[:4].max()


def test_an_estimate_from_rows_travels_with_them() -> None:
    design = dn.unary(14, 3)
    responses = sent(design, 300)
    found = dn.estimate(responses, method="likelihood")
    again = dn.Estimate.from_json(found.to_json(method="normal"), design)
    assert again == found
    assert again.value == pytest.approx(found.value)
    body = json.loads(json.dumps(found._source()["sent"]))
    channel = design.channel
    assert isinstance(channel, sets.Sets)
    for wrong in (
        {**body, "times": body["times"][1:]},
        {**body, "rows": ["zz"]},
        {**body, "rows": ["ffff"] * 300},
    ):
        with pytest.raises(UnreadableFile):
            SentSets.from_body(wrong, channel)


def test_other_responses_than_those_counted_are_refused() -> None:
    design = dn.unary(14, 3)
    one, two = sent(design, 300), sent(design, 301)
    with pytest.raises(InvalidRequest, match="not those that were counted"):
        dn.estimates.estimate(dn.tally(one), method="likelihood", sent=two)


def test_responses_of_every_other_design_are_counted_first() -> None:
    for design in (dn.k_ary(3, 1), dn.hadamard(5, 2), dn.rappor(3, 2)):
        responses = sent(design, 300)
        for method in ("inversion", "likelihood"):
            assert dn.estimate(responses, method=method) == dn.estimate(
                dn.tally(responses), method=method
            )

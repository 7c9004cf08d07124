"""Estimates from sets: unbiased, with the covariance that the table written out gives."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

import deniable as dn
from deniable.channel import Bits, Mixture, Sets, Subset, sets
from deniable.channel.sets import Part
from deniable.engines import local
from deniable.errors import (
    ImplausibleResponses,
    InvalidRequest,
    InvalidResponse,
    NotEstimable,
)
from deniable.estimates import covariance, left_inverse
from deniable.estimates.covariances import LowRank
from deniable.estimates.linear import Linear
from deniable.estimates.supported import Supported, customary
from tests.support.sets import TELLING, around, with_sums

METHODS = {"inversion": left_inverse, "customary": customary}
both = pytest.mark.parametrize("method", METHODS)
every = pytest.mark.parametrize("channel", TELLING.values(), ids=TELLING.keys())

Matrix = NDArray[np.float64]


@pytest.fixture(autouse=True, params=["each set apart", "sums"])
def _counted(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Count few categories once as they are counted, and once as many are."""
    if request.param == "sums":
        monkeypatch.setattr(sets, "MAX_COUNTED_APART", 1)


def written(channel: Sets) -> Matrix:
    return np.array(
        [
            [float(channel.probability(i, given=j)) for j in range(channel.size)]
            for i in range(channel.responses)
        ]
    )


def counted(channel: Sets) -> Matrix:
    """Cells × responses: in which cells each response counts."""
    cells = np.zeros((channel.cells, channel.responses))
    for response in filter(channel.possible, range(channel.responses)):
        cells[list(channel.cells_of(response)), response] = 1
    return cells


def rows_of(linear: Linear, channel: Sets) -> Matrix:
    """L: what each possible response adds to each share."""
    return np.array([linear.shares(column) for column in counted(channel).T]).T


@every
@both
def test_the_estimate_is_unbiased(channel: Sets, method: str) -> None:
    linear = METHODS[method](channel)
    assert rows_of(linear, channel) @ written(channel) == pytest.approx(
        np.eye(channel.size)
    )
    shares = np.arange(1, channel.size + 1) / np.arange(1, channel.size + 1).sum()
    assert linear.expected(shares) == pytest.approx(
        counted(channel) @ written(channel) @ shares
    )


@every
@both
@pytest.mark.parametrize(
    ("population", "f"), [(None, 1.0), (10, 0.0), (20, 10 / 19)]
)
def test_the_covariance_is_that_of_the_table(
    channel: Sets, method: str, population: int | None, f: float
) -> None:
    shares = np.arange(1, channel.size + 1) / np.arange(1, channel.size + 1).sum()
    left = rows_of(METHODS[method](channel), channel)
    device = (left * (written(channel) @ shares)) @ left.T - np.diag(shares)
    expected = (f * (np.diag(shares) - np.outer(shares, shares)) + device) / 10
    found = covariance(
        around(channel), shares, 10, population=population, method=method
    )
    assert found == pytest.approx(expected, abs=1e-12)


@every
@both
def test_the_estimated_covariance_is_right_on_average(
    channel: Sets, method: str
) -> None:
    """Over every pair of responses that two people can send, weighted by its probability."""
    design, matrix, cells = around(channel), written(channel), counted(channel)
    shares = np.zeros(channel.size)
    shares[0] = 0.75
    shares[1] = 0.25
    sent = matrix @ shares
    mean = np.zeros((channel.size, channel.size))
    for one in np.flatnonzero(sent):
        for two in np.flatnonzero(sent):
            tally = dn.Tally(
                design,
                (cells[:, one] + cells[:, two]).astype(np.int64),
                respondents=2,
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ImplausibleResponses)
                made = dn.estimate(tally, method=method)
            mean += sent[one] * sent[two] * made.cov_params()
    assert mean == pytest.approx(
        covariance(design, shares, 2, method=method), abs=1e-9
    )


@every
@both
def test_the_spread_is_that_of_the_table(channel: Sets, method: str) -> None:
    linear = METHODS[method](channel)
    moments = rows_of(linear, channel) ** 2 @ written(channel)
    own, other = linear.spread(np.full(channel.size, 1 / channel.size))
    assert own == pytest.approx(np.diagonal(moments))
    assert other == pytest.approx(
        [np.delete(row, j).mean() for j, row in enumerate(moments)]
    )


@every
def test_the_estimate_is_the_locally_best_at_even_shares(channel: Sets) -> None:
    """Set by set there are many linear unbiased estimates, and this is the best; from sums it is the best of fewer."""
    if not (channel.own_cells or channel.by_size or len(channel.sizes) == 1):
        channel = replace(channel, sized=True)
    matrix = written(channel)
    sent = matrix.sum(axis=1) / channel.size
    occurs = sent > 0
    weighted = matrix[occurs].T / sent[occurs]
    best = np.linalg.solve(weighted @ matrix[occurs], weighted)
    assert rows_of(left_inverse(channel), channel)[:, occurs] == pytest.approx(
        best, abs=1e-10
    )


def test_the_minimax_estimate_of_rappor_beats_the_customary_one() -> None:
    for k, epsilon in ((3, 1), (10, 2), (100, 3)):
        design, shares = dn.rappor(k, epsilon), np.full(k, 1 / k)
        ours, usual = (
            np.trace(covariance(design, shares, 1, method=m)) for m in METHODS
        )
        assert ours < usual
        root = np.exp(epsilon / 2)
        assert usual == pytest.approx(k * root / (root - 1) ** 2 + 1 - 1 / k)
        best = np.trace(covariance(dn.subset(k, epsilon), shares, 1))
        cut = np.trace(covariance(dn.truncated_rappor(k, epsilon), shares, 1))
        assert best < cut <= ours * (1 + 1e-12)


def test_a_hundred_thousand_categories_need_no_matrix() -> None:
    for design in (dn.subset(100_000, 4), dn.unary(100_000, 4)):
        answers = np.repeat(np.arange(10), 30)
        estimate = dn.estimate(
            local.tally(design, local.draw_all(design, answers, codes=True))
        )
        assert isinstance(estimate.basis.covariance, LowRank)
        assert estimate.value.shape == (100_000,)
        linear = left_inverse(design.channel)
        own, other = linear.spread(estimate.value)
        variances = (
            other + (own - other) * estimate.value - estimate.value**2
        ) / 299
        assert estimate.errors[:20] ** 2 == pytest.approx(variances[:20])
        assert estimate.contrast({"0": 1, "1": -1}).error > 0


def test_thousands_of_sizes_are_weighed_in_floats_that_add_up() -> None:
    channel = dn.rappor(1500, 1).channel
    linear = left_inverse(channel)
    expected = linear.expected(np.full(1500, 1 / 1500)).reshape(1501, 1501)
    assert expected[:, 0].sum() == pytest.approx(1, abs=1e-12)
    assert isinstance(channel, Bits)
    assert expected[:, 1:].sum(axis=0) == pytest.approx(
        channel.stray / channel.total
        + (channel.hit - channel.stray) / channel.total / 1500
    )


def test_a_tiny_epsilon_keeps_its_digits() -> None:
    k, epsilon = 6, 1e-6
    for design in (
        dn.rappor(k, epsilon),
        dn.subset(k, epsilon),
        dn.mixture(k, {2: 0.5, 3: 0.5}, epsilon),
    ):
        linear = left_inverse(design.channel)
        shares = np.array([0.5, 0.5, 0, 0, 0, 0])
        assert linear.shares(linear.expected(shares)) == pytest.approx(
            shares, abs=1e-9
        )


def test_intervals_hold_as_often_as_they_say() -> None:
    """Each count is binomial, so coverage is a sum over counts; the exact interval is never below its level."""
    design, n, share = dn.subset(6, 1, t=2), 300, 0.1
    linear = customary(design.channel)
    assert isinstance(linear, Supported)
    chance = linear.q + linear.gap * share
    for method, least in (("score", 0.93), ("exact", 0.95)):
        held = 0.0
        for hits in np.flatnonzero(binom.pmf(np.arange(n + 1), n, chance) > 1e-10):
            rest, more = divmod(2 * n - int(hits), 5)
            sums = [int(hits), *(rest + (i < more) for i in range(5))]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ImplausibleResponses)
                low, high = dn.estimate(with_sums(design, sums, n)).interval(
                    "0", method=method
                )
            held += binom.pmf(hits, n, chance) * (low <= share <= high)
        assert held >= least


def test_exact_intervals_are_the_same_however_sets_are_counted() -> None:
    """How often each category was in is all that they rest on: set by set, by size, or by category."""
    held = ["b100", "b110", "b001"]
    many = [each + 10 * "0" for each in held]
    wanted = dn.estimate(dn.tally(dn.unary(13, 1), many)).conf_int(method="exact")
    assert (
        dn.estimate(dn.tally(dn.rappor(13, 1), many)).conf_int(method="exact")
        == wanted
    )
    few = dn.estimate(dn.tally(dn.rappor(3, 1), held)).conf_int(method="exact")
    assert few == {name: wanted[name] for name in few}


@pytest.mark.parametrize(
    ("make", "error", "problem"),
    [
        (lambda t: dn.estimate(t, method="likelihood"), NotEstimable, "keeps sums"),
        (
            lambda t: dn.estimate(t, guess=[1 / 13] * 13),
            InvalidRequest,
            "a guess needs a count for every response",
        ),
        (
            lambda t: dn.estimate(t, method="customary", guess=[1 / 13] * 13),
            InvalidRequest,
            "no guess",
        ),
        (
            lambda t: dn.estimate(t, inverse=np.eye(13)),
            NotEstimable,
            "an inverse needs a count for every response",
        ),
        (lambda t: dn.estimate(t, method="usual"), InvalidRequest, "customary"),
    ],
)
def test_what_does_not_fit_is_refused(
    make: object, error: type[Exception], problem: str
) -> None:
    tally = dn.tally(
        dn.unary(13, 1), [each + 10 * "0" for each in ("b100", "b110", "b001")]
    )
    with pytest.raises(error, match=problem):
        make(tally)  # type: ignore[operator]


def test_other_designs_have_no_customary_estimate() -> None:
    with pytest.raises(InvalidRequest, match="'diagonal' has no customary estimate"):
        dn.estimate(dn.tally(dn.warner(1), ["yes", "no"]), method="customary")


@pytest.mark.parametrize(
    "channel",
    [
        Bits(3, 1, 1, 2),
        Mixture(2, (Part(0, 1, 0), Part(2, 1, 2)), 2),
        Subset(4, 2, 1, 2),
    ],
)
@both
def test_sets_that_tell_nothing_are_not_estimable(
    channel: Sets, method: str
) -> None:
    with pytest.raises(NotEstimable, match="cannot be told apart"):
        METHODS[method](channel)


def test_bits_that_never_stray_are_estimable() -> None:
    channel = Bits(3, 1, 0, 2)
    tally = dn.tally(around(channel), ["b100", "b000"])
    assert dn.estimate(tally).value == pytest.approx([1, 0, 0])


def test_an_estimate_comes_back_from_its_file_with_its_method() -> None:
    design = dn.rappor(3, 1)
    tally = dn.tally(design, ["b100", "b110", "b001", "b100"])
    made = dn.estimate(tally, method="customary")
    again = dn.Estimate.from_json(made.to_json(), design)
    assert again.method == "customary"
    assert again.value == pytest.approx(made.value)
    assert dn.estimate(tally).value != pytest.approx(made.value)


def test_a_tally_of_sets_must_add_up() -> None:
    design = dn.subset(13, 1, t=2)
    rest = 9 * [0]
    assert dn.Tally(design, [1, 1, 2, 0, *rest], respondents=2).respondents == 2
    for sums, respondents in (
        ([1, 1, 2, 0], 3),
        ([1, 1, 1, 0], 2),
        ([3, 1, 0, 0], 2),
        ([1, 1, 2, 0], -1),
    ):
        with pytest.raises(InvalidResponse, match="do not belong to"):
            dn.Tally(design, [*sums, *rest], respondents=respondents)
    by_size = dn.mixture(13, {0: 0.2, 1: 0.4, 2: 0.4}, 1)
    none, rest = 14 * [0], 11 * [0]
    good = [*none, 2, 1, 1, *rest, 1, 1, 1, *rest]
    assert dn.Tally(by_size, good, respondents=3).respondents == 3
    for wrong in (
        [*none, 2, 2, 1, *rest, 1, 1, 1, *rest],
        [*none, 2, 1, 1, *rest, 1, 1, 2, *rest],
        [1, *none[1:], 2, 1, 1, *rest, 1, 1, 1, *rest],
    ):
        with pytest.raises(InvalidResponse, match="do not belong to"):
            dn.Tally(by_size, wrong, respondents=3)

"""Two questions at once: scores without bias, and all ways to pair rows, gone through one by one."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import deniable as dn
from deniable.estimates import cross_table, independence
from deniable.estimates.cross_tables import OTHER
from deniable.estimates.independence import TableSide, white
from deniable.estimates.linear import floats
from deniable.pairs import estimates
from deniable.types.categories.scores import row_scores as category_scores
from deniable.types.strings.scores import row_scores as string_scores

BLOOM = dn.Bloom(4, hashes=2, cohorts=3)
LISTED = ["one", "two"]
STRINGS = dn.string_design(BLOOM, epsilon=3)


def every_string_response() -> tuple[dn.Responses[dn.StringDesign], np.ndarray]:
    """Each cohort with all 16 sets of bits, and how often each comes of each true filter: [filter, row]."""
    rows = list(itertools.product(range(BLOOM.cohorts), range(16)))
    hit, stray = map(float, STRINGS.bit)
    law = np.array([
        [math.prod(_chance(bits >> j & 1, hit if true >> j & 1 else stray) for j in range(4)) for _, bits in rows]
        for true in range(16)
    ])  # fmt: skip
    columns = {
        "cohort": np.array([cohort for cohort, _ in rows]),
        "response": np.array([[bits] for _, bits in rows], np.uint8),
    }
    return dn.Responses(STRINGS, columns), law


def _chance(bit: int, rate: float) -> float:
    return rate if bit else 1 - rate


def mean_of_string(text: str, values: np.ndarray, law: np.ndarray) -> np.ndarray:
    """The mean score of a string over all cohorts and all responses."""
    cohorts = np.repeat(range(BLOOM.cohorts), 16)
    filters = np.array([BLOOM.filter(text, cohort) for cohort in cohorts.tolist()])
    return (law[filters, np.arange(len(cohorts))] / BLOOM.cohorts) @ values


def test_a_listed_string_scores_one_for_itself_and_zero_elsewhere() -> None:
    sent, law = every_string_response()
    found = string_scores(sent, np.ones(len(sent), bool), LISTED)
    assert found.labels == (*LISTED, OTHER)
    for number, text in enumerate(LISTED):
        assert mean_of_string(text, found.values, law) == pytest.approx(
            np.eye(3)[number], abs=1e-12
        )


def test_a_string_that_is_not_listed_scores_zero_over_all_the_places_it_may_have() -> (
    None
):
    sent, law = every_string_response()
    values = string_scores(sent, np.ones(len(sent), bool), LISTED).values
    # as both hashes may fall, all alike
    places = [1 << one | 1 << two for one in range(4) for two in range(4)]
    mean = np.mean([law[place] / BLOOM.cohorts for place in places], axis=0) @ values
    assert mean == pytest.approx([0, 0, 1], abs=1e-12)


@pytest.mark.parametrize(
    "design",
    [
        dn.k_ary(3, 1),
        dn.unary(3, 2),
        dn.subset(4, 1),
        dn.hadamard(5, 1),
        dn.warner(1),
    ],
)
def test_the_joint_table_is_unbiased_for_every_pair_of_answers(
    design: dn.Design,
) -> None:
    """All pairs of responses of one person, with how often they are sent: one row is in the mean of many as it is."""
    strings, law = every_string_response()
    one = string_scores(strings, np.ones(len(strings), bool), LISTED).values
    sent = dn.Responses(
        design,
        {"response": design.channel.coding.pack(range(design.channel.responses))},
    )
    two = category_scores(sent, np.ones(len(sent), bool), None).values
    law_two = floats(design.channel)
    for row, text in enumerate(LISTED):
        for column in range(len(design.categories)):
            mean = np.outer(mean_of_string(text, one, law), law_two[:, column] @ two)
            wanted = np.zeros(mean.shape)
            wanted[row, column] = 1
            assert mean == pytest.approx(wanted, abs=1e-12)


def test_the_mean_square_given_an_answer_is_that_of_all_its_responses() -> None:
    sent, law = every_string_response()
    found = string_scores(sent, np.ones(len(sent), bool), LISTED)
    squares = [
        mean_of_string(text, found.values**2, law)[number]
        for number, text in enumerate(LISTED)
    ]
    assert found.own[:2] == pytest.approx(squares, abs=1e-12)


def test_two_categorical_questions_have_the_table_of_their_product() -> None:
    one, two = dn.k_ary(["a", "b", "c"], 1), dn.warner(2)
    rng = np.random.default_rng(3)
    codes = rng.integers(3, size=500), rng.integers(2, size=500)
    found = dn.association(
        *(
            dn.Responses(each, {"response": code.astype(np.uint8)})
            for each, code in zip((one, two), codes, strict=True)
        )
    )
    both = dn.product({"one": one, "two": two})
    table = cross_table(
        dn.estimate(
            dn.Tally(both, np.bincount(codes[0] * 2 + codes[1], minlength=6))
        )
    )
    assert found.shares == pytest.approx(table.shares, abs=1e-12)
    # no variance is too small
    assert found.cov_params() == pytest.approx(
        table.cov_params(), rel=0.05, abs=2e-5
    )
    assert found.summary().epsilon == pytest.approx(both.epsilon)
    assert list(found.params) == list(table.params)


@pytest.mark.parametrize(("ranks", "rows"), [((1, 1), 6), ((2, 3), 6), ((2, 2), 7)])
def test_mean_and_variance_of_the_statistic_are_those_of_all_pairings(
    ranks: tuple[int, int], rows: int
) -> None:
    rng = np.random.default_rng(rows)
    one, two = (white(rng.exponential(size=(rows, rank)) ** 2) for rank in ranks)
    every = [
        (rows - 1) * float(((one.T @ two[list(order)]) ** 2).sum())
        for order in itertools.permutations(range(rows))
    ]
    assert np.mean(every) == pytest.approx(math.prod(ranks), rel=1e-9)
    assert np.var(every) == pytest.approx(
        TableSide.of(one).variances(TableSide.of(two), rows)[0], rel=1e-9
    )


def test_counted_pairings_approach_all_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With 19,999 of them a p-value is right within 7 standard errors but for once in 10^11 runs."""
    rng = np.random.default_rng(8)
    one, two = (white(rng.exponential(size=(6, 2)) ** 2) for _ in range(2))
    seen = float(((one.T @ two) ** 2).sum())
    every = np.mean(
        [
            float(((one.T @ two[list(order)]) ** 2).sum()) >= seen - 1e-9
            for order in itertools.permutations(range(6))
        ]
    )
    monkeypatch.setattr(estimates, "_PERMUTATIONS", 19_999)
    monkeypatch.setattr(independence, "NEAR", -1.0)
    from tests.support.seeded import seeded

    told = estimates._test_independence(one, two, seeded("pairings"))
    assert told["permutations"] == 19_999
    assert told["p_value"] == pytest.approx(
        every, abs=7 * math.sqrt(every * (1 - every) / 20_000)
    )

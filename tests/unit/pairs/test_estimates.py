"""The association of two questions through the public door: what it finds, and what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

import deniable as dn
from deniable.errors import Incompatible, InvalidRequest, NotEstimable
from deniable.estimates import independence
from tests.support.seeded import seeded

N = 4_000
STRINGS = dn.string_design(dn.Bloom(64, cohorts=16), 8, optimized=True)
SMOKES = dn.warner(6)
NAMES = ["anna", "bert", "carl"]


def answers(linked: float = 1.0) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(2)
    names = rng.choice(NAMES, N, p=[0.5, 0.3, 0.2])
    follow = np.where(names == "anna", "yes", "no")
    return names.tolist(), np.where(
        rng.random(N) < linked, follow, rng.choice(["no", "yes"], N)
    ).tolist()


def both(
    linked: float = 1.0,
) -> tuple[dn.Responses[dn.StringDesign], dn.Responses[dn.Design]]:
    names, smokes = answers(linked)
    return (
        dn.respond_all(STRINGS, names, source=seeded("names")),
        dn.respond_all(SMOKES, smokes, source=seeded("smokes")),
    )


def test_a_table_a_test_and_a_strength() -> None:
    """Within six standard errors, which fails by chance less than once in 10^8 runs; the seeds are fixed."""
    found = dn.association(*both(), rows=NAMES[:2])
    assert found.row_labels == ("anna", "bert", "(other)")
    truth = np.array([[0, 0.5], [0.3, 0], [0.2, 0]])
    assert (np.abs(found.shares - truth) < 6 * found.errors).all()
    assert found.shares.sum() == pytest.approx(1)
    assert found.p_value < 1e-9
    assert found.cramers_v > 0.9
    low, high = found.cramers_v_interval()
    assert low < found.cramers_v <= high <= 1
    assert found.summary().epsilon >= STRINGS.epsilon + SMOKES.epsilon - 1e-12
    text = str(found)
    assert text.splitlines()[0].split() == [
        "first",
        "by",
        "second",
        "no",
        "yes",
        "all",
    ]
    assert "Independent questions: p =" in text
    assert "Cramér's V" in text


def test_strength_is_that_of_the_shares() -> None:
    """30 % of the second answers follow the first: V is 0.3 for three even categories, whatever the device."""
    rng = np.random.default_rng(4)
    one = rng.integers(3, size=200_000)
    two = np.where(rng.random(one.size) < 0.3, one, rng.integers(3, size=one.size))
    for epsilon in (1, 4):
        design = dn.k_ary(3, epsilon)
        sent = [
            dn.respond_all(design, each, codes=True, source=seeded(f"{epsilon}"))
            for each in (one, two)
        ]
        sent[1] = dn.respond_all(
            design, two, codes=True, source=seeded(f"{epsilon} two")
        )
        found = dn.association(*sent)
        low, high = found.cramers_v_interval(level=1 - 1e-9)
        assert low < 0.3 < high
        assert high - low < 0.2
        assert low < found.cramers_v < high


def test_the_interval_begins_at_zero_where_nothing_hangs_together() -> None:
    rng = np.random.default_rng(6)
    sent = [
        dn.respond_all(
            dn.k_ary(3, 2),
            rng.integers(3, size=N),
            codes=True,
            source=seeded(f"apart {number}"),
        )
        for number in range(2)
    ]
    found = dn.association(*sent)
    assert found.cramers_v_interval()[0] == 0
    assert found.p_value > 1e-3


def test_noise_does_not_feign_a_strength() -> None:
    """Of independent questions V is 0 in half of all surveys or more, so that so few are chance once in 10^9 runs."""
    rng, runs, none = np.random.default_rng(9), 60, 0
    for run in range(runs):
        sent = [
            dn.respond_all(
                dn.k_ary(3, 1),
                rng.integers(3, size=500),
                codes=True,
                source=seeded(f"{run} {number}"),
            )
            for number in range(2)
        ]
        none += dn.association(*sent).cramers_v == 0
    assert none >= binom.ppf(1e-9, runs, 0.5)


def test_missing_rows_are_left_out_and_told() -> None:
    names, smokes = answers()
    one = dn.respond_all(STRINGS, [None, *names[1:]], source=seeded("names"))
    two = dn.respond_all(SMOKES, [*smokes[:-2], None, None], source=seeded("smokes"))
    found = dn.association(one, two, rows=NAMES)
    assert (found.respondents, found.missing) == (N - 3, 3)
    assert found.summary().missing == 3


def test_prefixes_leave_those_who_told_whole_strings() -> None:
    bloom = dn.Prefixes(
        64, cohorts=2 * 16, alphabet="abcdefghijklmnopqrstuvwxyz", lengths=(4,)
    )
    names, smokes = answers()
    one = dn.respond_all(
        dn.string_design(bloom, 8, optimized=True), names, source=seeded("prefixes")
    )
    found = dn.association(
        one, dn.respond_all(SMOKES, smokes, source=seeded("smokes")), rows=NAMES[:2]
    )
    assert found.respondents == int((one.columns["cohort"] >= 16).sum())
    assert found.respondents + found.missing == N
    truth = np.array([[0, 0.5], [0.3, 0], [0.2, 0]])
    assert (np.abs(found.shares - truth) < 6 * found.errors).all()


def test_rare_answers_count_together_in_the_strength() -> None:
    found = dn.association(*both(0.5), rows=[*NAMES[:2], "nobody"])
    assert [each.code for each in found.warnings] == ["faint"]
    assert found.pooled(1).tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]]
    assert math.isfinite(found.cramers_v)
    plain = dn.association(*both(0.5), rows=NAMES[:2])
    assert found.cramers_v == pytest.approx(plain.cramers_v, abs=0.02)
    categories = dn.k_ary(["often", "never", "nowhere"], 4)
    sent = dn.respond_all(
        categories, ["often", "never"] * 1_000, source=seeded("often")
    )
    alone = dn.association(sent, sent)
    assert alone.pooled(1).sum() == 3
    assert len(alone.pooled(1)) == 2


def test_a_strength_of_one_answer_is_not_a_number() -> None:
    sent = dn.respond_all(dn.warner(1), ["no"] * 300, source=seeded("all no"))
    found = dn.association(
        sent,
        dn.respond_all(dn.warner(1), ["no", "yes"] * 150, source=seeded("half")),
    )
    assert math.isnan(found.cramers_v)
    assert math.isnan(found.cramers_v_interval()[0])
    assert "nan" not in str(found)
    assert "Cramér's V, less what noise adds: the data cannot decide" in str(found)


@pytest.mark.parametrize(
    ("given", "options", "error", "told"),
    [
        ((dn.Tally(SMOKES, [1, 2]), None), {}, InvalidRequest, "given a Tally"),
        ((None, 5), {}, InvalidRequest, "given a int"),
        ((None, None), {}, InvalidRequest, "nobody has listed"),
        (
            (None, None),
            {"rows": ["anna", "(other)"]},
            InvalidRequest,
            "as all others are",
        ),
        ((None, None), {"rows": ["anna", "anna"]}, InvalidRequest, "stands twice"),
        (
            (None, None),
            {"rows": NAMES, "columns": ["no"]},
            InvalidRequest,
            "a question about categories",
        ),
        (
            (None, None),
            {"rows": [str(each) for each in range(500)]},
            InvalidRequest,
            "pairs of answers",
        ),
        (
            (None, dn.respond_all(SMOKES, ["no"])),
            {"rows": NAMES},
            Incompatible,
            "4,000 and 1 rows",
        ),
        (
            (dn.respond_all(dn.number_design(0, 1, epsilon=1), [0.5] * N), None),
            {},
            InvalidRequest,
            "or for strings",
        ),
    ],
)
def test_what_has_no_table_is_refused(
    given: tuple[object, object], options: dict, error: type, told: str
) -> None:
    sent = [
        each if own is None else own for each, own in zip(both(), given, strict=True)
    ]
    with pytest.raises(error, match=told):
        dn.association(*sent, **options)


def test_one_cohort_and_shared_cohorts_are_refused() -> None:
    single = dn.string_design(dn.Bloom(64, cohorts=1), 4)
    two = both()[1]
    with pytest.raises(InvalidRequest, match="one cohort"):
        dn.association(dn.respond_all(single, answers()[0]), two, rows=NAMES)
    same = np.arange(N) % 16
    sent = [dn.respond_all(STRINGS, answers()[0], cohorts=same) for _ in range(2)]
    with pytest.raises(Incompatible, match="the same cohorts"):
        dn.association(*sent, rows=NAMES, columns=NAMES)
    few = dn.string_design(dn.Bloom(2, cohorts=2), 4)
    with pytest.raises(InvalidRequest, match="tells all strings apart"):
        dn.association(
            dn.respond_all(few, answers()[0]),
            two,
            rows=[str(each) for each in range(9)],
        )


def test_too_few_are_refused() -> None:
    with pytest.raises(NotEstimable, match="1 respondents"):
        dn.association(
            dn.respond_all(SMOKES, ["no", None]),
            dn.respond_all(SMOKES, ["no", "no"]),
        )
    found = dn.association(
        dn.respond_all(SMOKES, ["no", "yes"]), dn.respond_all(SMOKES, ["no", "no"])
    )
    assert 0 < found.p_value <= 1


def test_the_same_bytes_give_the_same_p_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(independence, "NEAR", 0.0)
    one, two = both(0.01)
    told = [
        dn.association(one, two, rows=NAMES, source=seeded("pairs"))
        for _ in range(2)
    ]
    assert told[0].independence().tables == 999
    assert told[0] == told[1]
    assert "(999 permutations)" in str(told[0])


def test_a_counted_p_value_is_never_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pairing that was observed counts as one of those that are as strongly associated."""
    monkeypatch.setattr(independence, "NEAR", 0.0)
    sent = dn.respond_all(SMOKES, ["no", "yes"] * 200, source=seeded("counted"))
    found = dn.association(sent, sent, source=seeded("pairings"))
    assert found.independence().tables == 999
    assert found.p_value == 1 / 1000

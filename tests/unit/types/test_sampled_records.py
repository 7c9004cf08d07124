"""Items, edges and strings of people who were drawn with weights and clusters."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.errors import Incompatible, InvalidRequest, NotEstimable
from deniable.estimates.sampling import values
from deniable.types.strings.estimate import Candidates
from deniable.types.strings.hashing import seeds_of
from deniable.types.strings.regression import LeastSquares, table
from tests.support.seeded import seeded

N, ITEMS = 240, ["tea", "coffee", "milk"]
NAMES = ["Ann", "Bob", "Cy", "Dan", "Eve"]
RNG = np.random.default_rng(20)
WEIGHTS = RNG.integers(1, 5, N).astype(np.float64)
VILLAGE, REGION = (
    np.repeat(np.arange(24), N // 24),
    np.repeat(["north", "south"], N // 2),
)
KNOWN: dict[str, Any] = {"weights": WEIGHTS, "strata": REGION, "clusters": VILLAGE}
SAMPLE, EVEN = dn.Sampling(**KNOWN), dn.Sampling([1.0] * N)
EDGES = dn.one_edge(ITEMS, 2)
STRINGS = dn.string_design(dn.Bloom(16, hashes=2, cohorts=6), 4)
PREFIXES = dn.string_design(
    dn.Prefixes(16, cohorts=6, alphabet="abn", lengths=(2,)), 4
)
RECORDS = [
    dn.lpp(ITEMS, 1, "3/2", low=1, high=5),
    dn.lpp_ddagger(ITEMS, 2, low=1, high=5),
    dn.lpp_club(ITEMS, 2, low=1, high=5),
    dn.pckv_ue(ITEMS, 2, low=1, high=5, padding=2),
    dn.pckv_grr(ITEMS, 2, low=1, high=5, padding=2),
]


def answers() -> list[dict[str, float]]:
    rng = np.random.default_rng(21)
    return [
        {item: float(rng.uniform(1, 5)) for item in ITEMS[:2] if rng.random() < 0.4}
        for _ in range(N)
    ]


def sent(design: Any) -> dn.Responses[Any]:
    source = seeded(f"sampled {design.hash}")
    if design is EDGES:
        given: list[Any] = [{ITEMS[at % 2]: (at % 3) / 2} for at in range(N)]
    elif design.asks == "strings":
        given = [NAMES[at % 7] if at % 7 < 3 else NAMES[0] for at in range(N)]
    else:
        given = [dict(each) for each in answers()]
    return dn.respond_all(design, given, source=source)


every_design = pytest.mark.parametrize(
    "design", [*RECORDS, EDGES, STRINGS, PREFIXES], ids=lambda each: str(each)[:12]
)


def options(design: Any) -> dict[str, Any]:
    if design.asks == "strings":
        return {"candidates": NAMES}
    return (
        {"scaling": "conditional"}
        if design.asks == "key-value" and design.scheme.one_each
        else {}
    )


@pytest.mark.parametrize(
    "design",
    [each for each in RECORDS if not each.scheme.one_each],
    ids=lambda each: each.name,
)
def test_a_scaling_that_needs_one_item_of_each_is_refused(
    design: dn.KeyValueDesign,
) -> None:
    with pytest.raises(InvalidRequest, match="the scaling is 'conditional'"):
        dn.estimate(sent(design), sampling=EVEN, scaling="conditional")


@pytest.mark.parametrize(
    ("design", "scaling"),
    [
        pytest.param(each, scaling, id=f"{each.name} {scaling}")
        for each in RECORDS
        for scaling in (
            None,
            "fixed",
            *(["conditional"] if each.scheme.one_each else []),
        )
    ],
)
def test_even_weights_tell_what_the_tally_tells(
    design: dn.KeyValueDesign, scaling: str | None
) -> None:
    rows = sent(design)
    plain, found = (
        dn.estimate(dn.tally(rows), scaling=scaling),
        dn.estimate(rows, sampling=EVEN, scaling=scaling),
    )
    assert found.quantity == plain.quantity == "frequency"
    for quantity in plain.QUANTITIES:
        assert found.about(quantity).value == pytest.approx(plain.value(quantity))
        assert found.about(quantity).errors == pytest.approx(plain.errors(quantity))
        assert found.about(quantity).about("frequency").params == found.params
    assert found.total.value == pytest.approx(plain.degree)
    with pytest.raises(InvalidRequest, match="the quantity is 'height'"):
        found.about("height")
    nearly = dn.estimate(
        rows, sampling=dn.Sampling(1 + 1e-9 * np.arange(N)), scaling=scaling
    )
    assert nearly.errors[:2] == pytest.approx(
        plain.errors("frequency")[:2], rel=0.15
    )
    assert nearly.about("weight").errors[:2] == pytest.approx(
        plain.errors("weight")[:2], rel=0.25
    )


def test_even_weights_tell_the_edges_of_the_tally() -> None:
    rows = sent(EDGES)
    plain, found = dn.estimate(dn.tally(rows)), dn.estimate(rows, sampling=EVEN)
    mean = found.about("mean")
    assert mean.value[:2] == pytest.approx(plain.mean[:2])
    assert np.isnan(mean.params["milk"])  # which nobody has an edge to
    assert mean.interval("milk") == (0, 1)
    assert found.total.value == pytest.approx(plain.degree)
    assert found.about("weight").value == pytest.approx(plain.weight)
    assert mean.errors[:2] == pytest.approx(plain.errors("mean")[:2], rel=0.05)
    # which item is sent as it is
    assert list(found.device_share.values())[:2] == [0, 0]
    codes = [each.code for each in mean.warnings]
    assert codes == ["within-noise"]


@pytest.mark.parametrize("design", [STRINGS, PREFIXES], ids=["listed", "prefixes"])
def test_nearly_even_weights_tell_least_squares_over_all_candidates(
    design: dn.StringDesign,
) -> None:
    rows, nearly = sent(design), dn.Sampling(1 + 1e-9 * np.arange(N))
    counted, found = dn.tally(rows), dn.estimate(rows, NAMES, sampling=nearly)
    last = np.arange(6) >= (3 if design is PREFIXES else 0)
    used, (hit, stray) = (counted.sizes > 0) & last, counted.rates()
    cells = (counted.ones[used] / counted.sizes[used, None] - stray) / (hit - stray)
    weights = np.repeat(counted.sizes[used].astype(np.float64), 16)
    whole = dn.Bloom(16, design.bloom.hashes, 6)
    fit = LeastSquares(
        table(whole, seeds_of(NAMES), used), cells.reshape(-1), weights
    ).fit(np.arange(5))
    assert found.value == pytest.approx(fit.shares)
    assert found.total.value == pytest.approx(N * fit.shares)
    assert set(found.people) == {counted.sizes[last].sum()}
    again = dn.estimate(rows, Candidates(whole, NAMES), sampling=nearly)
    assert again == found


@pytest.mark.parametrize("design", [STRINGS, PREFIXES], ids=["listed", "prefixes"])
def test_even_weights_tell_the_strings_of_the_tally(design: dn.StringDesign) -> None:
    rows = sent(design)
    plain = dn.estimate(dn.tally(rows), candidates=NAMES)
    found = dn.estimate(rows, NAMES, sampling=EVEN)
    assert found.params == plain.params
    assert found.conf_int() == plain.conf_int()
    assert found.total.value == pytest.approx(N * plain.shares)
    assert dn.SampledEstimate.from_json(found.to_json(), design) == found
    nearly = dn.estimate(rows, NAMES, sampling=dn.Sampling(1 + 1e-9 * np.arange(N)))
    assert nearly.value == pytest.approx(found.value, abs=found.errors.max() / 2)
    assert nearly.errors == pytest.approx(found.errors, rel=0.5)


@every_design
def test_a_weight_of_two_is_the_row_twice(design: Any) -> None:
    rows = sent(design)
    picked = np.concatenate(
        [np.arange(N)] * 2
        if design.asks == "strings"
        else [np.arange(N), np.arange(N // 2)]
    )
    columns = {name: column[picked] for name, column in rows.columns.items()}
    weights = np.where(
        (np.arange(N) < N // 2) | (design.asks == "strings"), 2.0, 1.0
    )
    twice = dn.estimate(
        dn.Responses(design, columns),
        sampling=dn.Sampling([1.0] * len(picked)),
        **options(design),
    )
    once = dn.estimate(rows, sampling=dn.Sampling(weights), **options(design))
    assert once.value == pytest.approx(twice.value, nan_ok=True)
    assert once.total.value == pytest.approx(twice.total.value, nan_ok=True)


@every_design
def test_groups_domains_replicates_and_a_round_trip(design: Any) -> None:
    rows, more = sent(design), options(design)
    found = dn.estimate(rows, sampling=SAMPLE, **more)
    groups = dn.estimate(rows, sampling=SAMPLE, by=REGION, **more)
    for region in ("north", "south"):
        part = dn.estimate(rows, sampling=SAMPLE, domain=region == REGION, **more)
        told = [f"{region} · {name}" for name in part.names]
        assert [groups.params[name] for name in told] == pytest.approx(
            list(part.params.values()), nan_ok=True
        )
        assert [groups.bse[name] for name in told] == pytest.approx(
            list(part.bse.values()), nan_ok=True
        )
    jackknife = dn.estimate(
        rows, sampling=dn.Sampling(**KNOWN, replicates="jackknife"), **more
    )
    shares = np.flatnonzero(np.isfinite(found.curve[0]))
    assert jackknife.errors[shares] == pytest.approx(found.errors[shares], rel=0.1)
    assert jackknife.total.errors == pytest.approx(found.total.errors, rel=0.1)
    for result in (found, groups, found.total, jackknife):
        assert type(result).from_json(result.to_json(), design) == result
    calibrated = dn.estimate(
        rows,
        sampling=SAMPLE.post_stratify(REGION, {"north": 900, "south": 700}),
        **more,
    )
    assert np.isfinite(calibrated.value[shares]).all()
    known = dn.estimate(
        rows, sampling=dn.Sampling(**KNOWN, population=float(WEIGHTS.sum())), **more
    )
    # as many people as the weights sum to
    assert known.value == pytest.approx(found.value, nan_ok=True)


@every_design
def test_rows_without_a_response_are_counted(design: Any) -> None:
    rows, more = sent(design), options(design)
    gone = np.arange(N) % 5 == 0
    left = dn.Responses(design, rows.columns, gone)
    found = dn.estimate(left, sampling=SAMPLE, **more)
    assert (found.respondents, found.missing) == (192, 48)
    kept = dn.Responses(
        design, {name: column[~gone] for name, column in rows.columns.items()}
    )
    plain = dn.estimate(kept, sampling=dn.Sampling(WEIGHTS[~gone]), **more)
    assert found.value == pytest.approx(plain.value, nan_ok=True)
    assert found.total.value == pytest.approx(
        plain.value[: len(found.total.value)] * WEIGHTS.sum(), nan_ok=True
    )


def test_the_device_is_not_made_smaller_by_a_census() -> None:
    """Everybody responds: what is left of the variance is the device's."""
    for design in (RECORDS[2], EDGES, STRINGS):
        whole = dn.estimate(
            sent(design),
            sampling=dn.Sampling([1.0] * N, fraction=1),
            **options(design),
        )
        assert whole.errors[:2] ** 2 == pytest.approx(whole.device[:2], rel=0.2)


def test_what_designs_do_not_tell() -> None:
    signs = dn.estimate(
        dn.respond_all(dn.vpp(ITEMS, 1), [{"tea": 1}] * N), sampling=SAMPLE
    )
    assert list(signs.params) == ITEMS
    assert (signs.quantity, signs.default_interval) == ("weight", "normal")
    edges = dn.lpp_club(ITEMS, 2, importance="frequency")
    shares = dn.estimate(dn.respond_all(edges, [{"tea": 1}] * N), sampling=SAMPLE)
    assert list(shares.params) == ITEMS
    # then a weight needs to know who has it
    uneven = replace(dn.vpp(ITEMS, 1), low=Fraction(1), high=Fraction(5))
    with pytest.raises(NotEstimable, match="does not tell who has an item"):
        dn.estimate(
            dn.Responses(uneven, {"response": np.arange(N) % 6}), sampling=SAMPLE
        )


def test_a_mean_of_perhaps_nobody_may_be_anything() -> None:
    found = dn.estimate(sent(RECORDS[3]), sampling=SAMPLE).about("mean")
    assert found.interval("milk") == (1, 5)
    low, high = found.interval("tea")
    assert 1 <= low < found.params["tea"] < high <= 5
    (told,) = [each for each in found.warnings if each.code == "within-noise"]
    assert "of 3 means" in told.text
    with pytest.raises(InvalidRequest, match="fieller interval is one of ratios"):
        found.about("frequency").conf_int(method="fieller")
    normal = found.interval("milk", method="normal")
    assert normal.high - normal.low > 4


def test_strings_that_are_not_listed_widen_the_errors() -> None:
    """A string that half of the people send, and nobody listed, falls on the places of others."""
    design = dn.string_design(dn.Bloom(16, cohorts=3), 8)
    rows = dn.respond_all(design, ["Zoe", "Ann"] * 1000, source=seeded("unlisted"))
    sampling = dn.Sampling([1.0] * 2000)
    listed, unlisted = (
        dn.estimate(rows, names, sampling=sampling)
        for names in ([*NAMES, "Zoe"], NAMES)
    )
    # nobody has any of these
    assert (np.abs(unlisted.value[1:]) < 5 * unlisted.errors[1:]).all()
    assert (np.abs(unlisted.value[1:]) > 5 * listed.errors[1:5]).any()
    assert (unlisted.errors > 2 * listed.errors[:5]).all()


def test_what_is_refused() -> None:
    for design in (RECORDS[2], EDGES):
        with pytest.raises(InvalidRequest, match="denominator does not go with"):
            dn.estimate(sent(design), sampling=SAMPLE, denominator=WEIGHTS)  # type: ignore[call-overload]
    rows = sent(STRINGS)
    assert (
        dn.estimate(rows, NAMES, sampling=SAMPLE, denominator=WEIGHTS).quantity
        == "ratio"
    )
    with pytest.raises(InvalidRequest, match="ratios already"):
        dn.estimate(sent(PREFIXES), NAMES, sampling=SAMPLE, denominator=WEIGHTS)
    for design in (STRINGS, PREFIXES):
        with pytest.raises(
            InvalidRequest, match="they are not discovered; expected candidates"
        ):
            dn.estimate(sent(design), sampling=SAMPLE)  # type: ignore[call-overload]
    with pytest.raises(InvalidRequest, match="expected no fdr"):
        dn.estimate(rows, NAMES, sampling=SAMPLE, fdr=0.05)  # type: ignore[call-overload]
    with pytest.raises(Incompatible, match="hashed for another filter"):
        dn.estimate(
            rows, Candidates(dn.Bloom(16, cohorts=2), NAMES), sampling=SAMPLE
        )
    with pytest.raises(NotEstimable, match="do not tell 200 candidates apart"):
        dn.estimate(rows, [f"name {at}" for at in range(200)], sampling=SAMPLE)
    first = dn.Responses(
        PREFIXES,
        {"cohort": np.zeros(2, np.int64), "response": np.ones((2, 2), np.uint8)},
    )
    with pytest.raises(NotEstimable, match="nobody was asked for a whole string"):
        dn.estimate(first, NAMES, sampling=dn.Sampling([1, 1]))
    nothing = dn.Responses(
        RECORDS[2], {"response": np.zeros(2, np.uint8)}, np.array([True, True])
    )
    with pytest.raises(NotEstimable, match="there are 0 responses"):
        dn.estimate(nothing, sampling=dn.Sampling([1, 1]))


def test_more_than_is_held_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "MOST_VALUES", 1000)
    for design, of in (
        (RECORDS[2], "numbers about items"),
        (EDGES, "numbers about items"),
        (STRINGS, "candidates"),
    ):
        with pytest.raises(
            InvalidRequest, match=f"240 rows of .* {of} are too many"
        ):
            dn.estimate(sent(design), sampling=SAMPLE, **options(design))

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.chance import ScriptedSource, Source
from deniable.designs import NumberDesign, Range, Scale, number_design, warner
from deniable.errors import (
    Incompatible,
    InvalidAnswer,
    InvalidDesign,
    InvalidRequest,
    InvalidResponse,
    NotEstimable,
)
from deniable.estimates.stages import combine
from deniable.release.ledger import Ledger
from deniable.tallies.stages import count_stages
from deniable.types.numbers.count import NumberTally, tally
from deniable.types.numbers.draw import round_values
from deniable.types.numbers.estimate import estimate, mean, spread
from deniable.types.numbers.respond import (
    level_below,
    level_of,
    respond,
    rounded,
)
from deniable_papers.means import from_share, moments
from tests.support.seeded import seeded as source_named

UNIT = number_design(0, 1, 1, levels=2)


def two(low: object, high: object, epsilon: object = 1) -> NumberDesign:
    """Numbers that are rounded to the ends of their range."""
    return number_design(low, high, epsilon, levels=2)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value", [0.3, "0.3", Fraction(3, 10), Decimal("0.3"), np.float64(0.3)]
)
def test_a_value_is_the_decimal_it_shows(value: object) -> None:
    assert level_below(UNIT, value) == (0, Fraction(3, 10))  # type: ignore[arg-type]  # all that users bring


@pytest.mark.parametrize(
    "value",
    [101, -0.001, "100.0000001", math.inf, math.nan, "a secret", None, 7777777],
)
def test_a_value_outside_its_range_is_refused_and_not_repeated(
    value: object,
) -> None:
    with pytest.raises(InvalidAnswer) as caught:
        rounded(number_design(0, 100, 1), value)  # type: ignore[arg-type]  # what users bring by mistake
    told = str(caught.value)
    assert "0 to 100" in told or "finite number" in told
    for part in ("101", "001", "inf", "nan", "secret", "7777777"):
        assert part not in told


def test_squares_have_a_range_of_their_own() -> None:
    assert Range.of(-3, 2).squared == Range.of(0, 9)
    assert Range.of(2, 3).squared == Range.of(4, 9)
    assert Range.of(-3, -2).squared == Range.of(4, 9)
    assert level_below(two(-3, 2).squared, 9) == (1, 0)
    with pytest.raises(InvalidAnswer):
        rounded(two(-3, 2).squared, 16)
    with pytest.raises(InvalidRequest):
        Range.of(2, 2)


def test_the_kept_level_is_what_a_ledger_releases_in_stages(tmp_path: Path) -> None:
    stages = dn.ladder(
        number_design(0, 5000, each, levels=5, width=2) for each in (0.5, 1, 2)
    )
    with Ledger.create(tmp_path / "mine.ledger") as ledger:
        ledger.answer("income", rounded(stages.designs[0], 1234.5), about=stages)  # type: ignore[arg-type]
        first, last = ledger.release("income", 0), ledger.release("income", 2)
        assert {first.response.symbol, last.response.symbol} <= set(
            stages.designs[0].symbols
        )
        assert ledger.status().epsilon == 2.0


def estimate_of(
    values: np.ndarray, design: NumberDesign, name: str
) -> dn.NumberEstimate:
    return dn.estimate(
        dn.tally(dn.respond_all(design, values, source=source_named(name)))
    )


@pytest.mark.statistical
@pytest.mark.parametrize("levels", [2, 5])
def test_mean_and_spread_come_out(levels: int) -> None:
    """Six standard errors: a false alarm in 10^9 tests."""
    values = np.random.default_rng(3).gamma(2, 3, 200_000).clip(0, 40).round(2)
    design = number_design(0, 40, 2, levels=levels)
    first = estimate_of(values, design, "first").mean
    second = estimate_of(values**2, design.squared, "second").mean
    assert abs(first.value - values.mean()) < 6 * first.error
    assert abs(second.value - (values**2).mean()) < 6 * second.error
    found = spread(first, second)
    assert abs(found.value - values.var()) < 6 * found.error
    assert spread(first, second, same_people=True).error > found.error
    low, high = found.interval("variance")
    assert 0 <= low < found.value < high
    assert (
        first.model.device_variance
        < first.model.census_variance(second.model)
        <= first.model.variance
    )


def test_the_variance_of_a_census_is_that_of_the_moments() -> None:
    values = np.random.default_rng(3).gamma(2, 3, 2000).clip(0, 40).round(2)
    first, second = (
        estimate_of(values**power, each, "census")
        for power, each in ((1, two(0, 40, 4)), (2, two(0, 1600, 4)))
    )
    theory = moments(Range.of(0, 40), values.tolist(), warner(4))
    assert first.mean.model.census_variance(second.mean.model) == pytest.approx(
        float(theory.variance), rel=0.1
    )


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", [1, 4])
def test_deviation_and_quantiles_come_out(epsilon: int) -> None:
    """Intervals at 1 − 10^-9: a false alarm in 10^8 tests or fewer."""
    values = np.random.default_rng(4).gamma(2, 3, 100_000).clip(0, 40).round(2)
    found = estimate_of(
        values,
        number_design(0, 40, epsilon, goal="distribution"),
        f"quantiles {epsilon}",
    )
    truth = [values.mean(), values.std(), *np.quantile(values, found.quantiles)]
    for (name, (low, high)), true in zip(
        found.conf_int(level=1 - 1e-9).items(), truth, strict=True
    ):
        assert low <= true <= high, name
    assert found.interval("median").high - found.interval("median").low <= 16
    near = dict(zip(found.params, truth, strict=True))
    assert found.params["sd"] == pytest.approx(near["sd"], rel=0.2)
    assert found.params["median"] == pytest.approx(near["median"], abs=4)


def sure(
    shares: list[float], design: NumberDesign, n: int = 10**7
) -> dn.NumberEstimate:
    """The estimate from counts as they are expected of so many people."""
    sent = np.rint(n * design.channel.floats() @ shares).astype(int)
    return dn.estimate(
        dn.tally(design, dict(zip(design.symbols, sent.tolist(), strict=True)))
    )


def test_quantiles_lie_between_levels_that_are_sure() -> None:
    design = number_design(0, 4, 4, goal="distribution", levels=5)
    found = sure([0.0, 0.3, 0.4, 0.3, 0.0], design)
    # Below 0.3 + 0.4 of all are rounded to 2 or less: of these everybody at or below 2, and nobody at or above 3.
    assert found.interval("median") == pytest.approx((1, 3))
    assert found.interval("quantile 0.9") == pytest.approx((2, 4))
    assert found.interval("quantile 0.1") == pytest.approx((0, 2))
    assert found.params["median"] == pytest.approx(2, abs=0.01)
    assert found.params["sd"] == pytest.approx(math.sqrt(0.6 - 1 / 6), abs=0.01)
    low, high = found.interval("sd")
    assert (low, high) == pytest.approx(
        (math.sqrt(0.6 - 1 / 4), math.sqrt(0.6)), abs=0.01
    )


def test_who_is_at_one_level_has_no_deviation_and_that_quantile() -> None:
    found = sure(
        [0.0, 0.0, 1.0, 0.0, 0.0],
        number_design(0, 4, 4, goal="distribution", levels=5),
    )
    assert found.interval("sd").low == 0
    for name in ("quantile 0.1", "median", "quantile 0.9"):
        assert found.interval(name).low <= 2 <= found.interval(name).high


def test_what_tells_nothing_about_quantiles_says_so() -> None:
    design = number_design(0, 80, 0.5)
    found = dn.estimate(dn.tally(design, dict.fromkeys(design.symbols, 3)))
    assert [each.code for each in found.warnings] == ["few"]
    assert "median" in found.warnings[0].text
    assert 'goal="distribution"' in found.warnings[0].text


def test_people_at_different_stages_are_combined() -> None:
    stages = dn.ladder(two(0, 10, each) for each in (0.5, 2))
    columns = [["0"] * 400 + ["10"] * 600, ["0"] * 150 + ["10"] * 350 + [None] * 500]
    found = mean(
        combine(count_stages(stages, columns, reached=[2] * 500 + [1] * 500))
    )
    assert found.model.respondents == 1000
    alone = mean(dn.estimate(dn.Tally(stages.designs[1], [150, 350])).shares)  # type: ignore[attr-defined]
    assert found.error < alone.error
    assert (
        found.interval("mean").low
        < found.value
        < found.interval("mean", method="chebyshev").high
    )


def test_rounding_stays_in_doubt_where_everybody_is_asked() -> None:
    """Half of 400 people at each of two levels, 5 apart: rounding may have drawn all of that."""
    design = number_design(0, 10, epsilon=20, levels=3)
    found = dn.estimate(dn.Tally(design, [200, 200, 0]), population=400).mean
    low, high = found.interval("mean")
    assert found.error == pytest.approx(2.5 / 20, rel=1e-3)
    assert high - low == pytest.approx(2 * 1.96 * 2.5 / 20, rel=0.02)


def test_an_interval_is_that_of_the_share_carried_over() -> None:
    found = dn.estimate(tally(two(-10, 30), {"-10": 400, "30": 600})).mean
    for method in (None, "normal", "exact", "chebyshev"):
        low, high = found.model.shares.interval("30", method=method, level=0.9)
        assert found.interval("mean", method=method, level=0.9) == pytest.approx(
            (-10 + 40 * low, -10 + 40 * high)
        )
    assert found.model.variance == pytest.approx(
        found.model.rounding_variance + found.model.device_variance
    )
    assert found.value == pytest.approx(
        float(from_share(Range.of(-10, 30), warner(1), "3/5"))
    )


def test_other_estimates_and_ranges_are_refused() -> None:
    with pytest.raises(Incompatible, match="levels of a range"):
        mean(dn.estimate(dn.Tally(dn.warner(1), [400, 600])))
    first = dn.estimate(tally(two(0, 3), {"0": 400, "3": 600})).mean
    with pytest.raises(Incompatible, match="0 to 9"):
        spread(first, first)
    second = dn.estimate(tally(two(0, 3).squared, {"0": 400, "9": 600})).mean
    with pytest.raises(InvalidRequest):
        spread(first, second).conf_int(level=2)
    with pytest.raises(InvalidRequest):
        moments(Range.of(0, 1), [2], warner(1))
    with pytest.raises(InvalidRequest):
        moments(Range.of(0, 1), [], warner(1))
    with pytest.raises(InvalidRequest):
        from_share(Range.of(0, 1), dn.k_ary(3, epsilon=1), 0.5)
    with pytest.raises(NotEstimable):
        from_share(Range.of(0, 1), dn.matrix([["1/2", "1/2"], ["1/2", "1/2"]]), 0.5)
    with pytest.raises(InvalidRequest, match="quantile"):
        dn.estimate(tally(two(0, 3), {"0": 400, "3": 600}), quantiles=[1.5])


class TestInBulk:
    @pytest.mark.parametrize("levels", [2, 4, 9])
    def test_the_same_bytes_give_the_same_levels(
        self, levels: int, seeded: Source
    ) -> None:
        design = number_design("-1/3", 2, 1, levels=levels)
        values = [each / 100 for each in range(-33, 201)] * 3
        script = seeded.read(8 * len(values))
        found = round_values(design, values, source=ScriptedSource(script))
        one = ScriptedSource(script)
        assert found.tolist() == [
            level_of(design, value, source=one) for value in values
        ]

    def test_words_at_the_very_place_of_a_value_are_decided_as_one_by_one(
        self, seeded: Source
    ) -> None:
        """A third begins with the word 0x5555…: only the next word decides."""
        design = two(0, 3)
        edge = ((1 << 64) // 3).to_bytes(8, "little")
        script = (
            seeded.read(80) + edge + seeded.read(40) + edge + edge + seeded.read(200)
        )
        values = [1] * 30
        one, bulk = ScriptedSource(script), ScriptedSource(script)
        wanted = [level_of(design, value, source=one) for value in values]
        assert round_values(design, values, source=bulk).tolist() == wanted
        assert one.used == bulk.used == 8 * 33

    @pytest.mark.parametrize(
        "value", [0.1, 0.3, 1 / 3, 0.7654321, 1e-9, 1 - 1e-9, 0.5]
    )
    @pytest.mark.parametrize("levels", [2, 3, 11])
    def test_words_that_floats_cannot_tell_apart_are_told_apart(
        self, value: float, levels: int
    ) -> None:
        """A float keeps 53 of a word's 64 bits: each of these words is, as a float, the place of the value itself."""
        design = number_design(0, 1, 1, levels=levels)
        below, part = level_below(design, value)
        digit = int(part * 2**64)
        for by in (-1000, -100, -2, -1, 0, 1, 2, 100, 1000):
            if not 0 <= digit + by < 2**64:
                continue
            script = (digit + by).to_bytes(8, "little") + bytes(8)
            # an equal digit is followed by a word of 0, which is below
            up = Fraction(digit + by, 2**64) < part
            assert round_values(
                design, [value], source=ScriptedSource(script)
            ).tolist() == [below + up]

    def test_a_value_that_floats_put_on_the_wrong_side_of_a_level_is_not(
        self,
    ) -> None:
        """0.3333333333333333 lies below a third; divided in floats it is the level itself."""
        design, last = number_design(0, 1, 1, levels=4), ScriptedSource(b"\xff" * 8)
        assert round_values(design, [1 / 3], source=last).tolist() == [0]
        assert level_of(design, 1 / 3, source=ScriptedSource(b"\xff" * 8)) == 0

    def test_a_narrow_range_far_from_zero_is_exact_too(self, seeded: Source) -> None:
        design = two(10**15, 10**15 + 1)
        values = [1e15 + each / 8 for each in range(9)] * 50
        script = seeded.read(8 * len(values))
        one = ScriptedSource(script)
        wanted = [level_of(design, value, source=one) for value in values]
        assert (
            round_values(
                design, np.array(values), source=ScriptedSource(script)
            ).tolist()
            == wanted
        )

    @pytest.mark.parametrize("wrong", [math.nan, math.inf, -0.5, 10.000001])
    def test_only_the_index_of_a_wrong_row_is_told(self, wrong: float) -> None:
        with pytest.raises(InvalidAnswer, match="index 70,000") as caught:
            round_values(two(0, 10), [5.0] * 70_000 + [wrong])
        assert str(wrong) not in str(caught.value)

    def test_what_is_no_column_of_numbers_is_refused(self) -> None:
        for wrong in (["a"], [[1.0]], [None, 1], [True]):
            with pytest.raises(InvalidAnswer):
                round_values(two(0, 10), wrong)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_short_floats_are_the_decimals_they_show(kind: type[np.floating]) -> None:
    """A word between the decimal and the binary number tells which of the two was taken."""
    for value in (kind(0.1), kind(0.9)):
        shown = level_below(UNIT, value)[1]  # type: ignore[arg-type]  # a number of an array
        word = int((shown + Fraction(float(value))) / 2 * 2**64).to_bytes(
            8, "little"
        )
        many = round_values(UNIT, np.array([value]), source=ScriptedSource(word * 2))
        one = level_of(UNIT, value, source=ScriptedSource(word * 2))  # type: ignore[arg-type]
        assert many[0] == one


@pytest.mark.parametrize(
    ("low", "high"), [(0, 10**400), (-(10**151), 0), (0, "1e-151")]
)
def test_a_range_beyond_floats_is_refused(low: int, high: int) -> None:
    with pytest.raises(InvalidRequest, match="too wide or too narrow"):
        Range.of(low, high)


HOURS = number_design(0, "80.5", epsilon=2)


def test_a_design_for_numbers_is_a_document() -> None:
    assert (
        NumberDesign.from_json(HOURS.to_json())
        == HOURS
        != number_design(0, 80, epsilon=2)
    )
    assert HOURS.squared.range == HOURS.range.squared
    assert HOURS.squared.channel == HOURS.channel
    assert isinstance(dn.Design.from_json(HOURS.to_json()), NumberDesign)
    with pytest.raises(InvalidDesign, match="levels of the range"):
        NumberDesign(
            "k_ary",
            ("0", "2"),
            ("0", "2"),
            dn.warner(1).channel,
            scale=Scale(Range.of(0, 1), 2),
        )
    with pytest.raises(InvalidRequest, match="expected it to rise"):
        number_design(1, 1, epsilon=2)
    for wrong in (
        {"levels": 1},
        {"levels": 33},
        {"levels": True},
        {"levels": 4, "width": 4},
        {"width": 0},
    ):
        with pytest.raises(InvalidDesign):
            number_design(0, 1, 1, **wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest, match="goal"):
        number_design(0, 1, 1, goal="median")


def test_numbers_go_through_the_four_verbs(seeded: Source) -> None:
    sent = [respond(HOURS, value, source=seeded) for value in [40.25] * 4000]
    counted = tally(HOURS, [*sent, None])
    assert (counted.respondents, counted.missing) == (4000, 1)
    assert counted == tally(HOURS, [each.symbol for each in sent] + [None])
    assert NumberTally.from_json(counted.to_json(), HOURS) == counted
    found = estimate(counted)
    assert abs(found.mean.value - 40.25) < 6 * found.mean.error  # fails once in 10^9


def test_what_is_no_number_and_no_response_is_refused() -> None:
    for wrong in (81, "many", None, {"x": 1}, [1]):
        with pytest.raises(InvalidAnswer) as caught:
            respond(HOURS, wrong)  # type: ignore[arg-type]
        assert "many" not in str(caught.value)
    for sent in (3, "0", ["middle"], [{}]):
        with pytest.raises(InvalidResponse):
            tally(HOURS, sent)
    with pytest.raises(Incompatible, match="1"):
        tally(HOURS, [respond(number_design(0, 80, epsilon=2), 1)])
    with pytest.raises(InvalidResponse, match="negative"):
        NumberTally(HOURS, [1, 2, 3, 4, 5, 6], -1)  # type: ignore[arg-type]
    with pytest.raises(NotEstimable):
        estimate(NumberTally.empty(HOURS))

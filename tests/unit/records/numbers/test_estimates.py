from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.chance import ScriptedSource, Source
from deniable.engines import local
from deniable.engines.local.numbers import round_values
from deniable.errors import Incompatible, InvalidAnswer, InvalidDesign, InvalidRequest, InvalidResponse, NotEstimable
from deniable.estimates.stages import combine
from deniable.records.numbers.designs import ENDS, NumberDesign, Range, end_design, number_design
from deniable.records.numbers.estimates import estimate, from_share, mean, moments, spread
from deniable.records.numbers.responses import place_of, respond, rounded, square
from deniable.records.numbers.tallies import NumberTally, tally
from deniable.release.ledger import Ledger
from deniable.tallies.stages import count_stages
from tests.support.seeded import seeded as source_named


@pytest.mark.parametrize("value", [0.3, "0.3", Fraction(3, 10), Decimal("0.3"), np.float64(0.3)])
def test_a_value_is_the_decimal_it_shows(value: object) -> None:
    assert place_of(Range.of(0, 1), value) == Fraction(3, 10)  # type: ignore[arg-type]  # all that users bring


@pytest.mark.parametrize("value", [101, -0.001, "100.0000001", math.inf, math.nan, "a secret", None, 7777777])
def test_a_value_outside_its_range_is_refused_and_not_repeated(value: object) -> None:
    with pytest.raises(InvalidAnswer) as caught:
        rounded(Range.of(0, 100), value)  # type: ignore[arg-type]  # what users bring by mistake
    told = str(caught.value)
    assert "0 to 100" in told or "finite number" in told
    for part in ("101", "001", "inf", "nan", "secret", "7777777"):
        assert part not in told


def test_squares_have_a_range_of_their_own() -> None:
    assert Range.of(-3, 2).squared == Range.of(0, 9)
    assert Range.of(2, 3).squared == Range.of(4, 9)
    assert Range.of(-3, -2).squared == Range.of(4, 9)
    assert place_of(Range.of(-3, 2).squared, -3, square) == 1
    with pytest.raises(InvalidAnswer):
        rounded(Range.of(-3, 2).squared, 4, of=square)
    with pytest.raises(InvalidRequest):
        Range.of(2, 2)


def test_the_kept_end_is_what_a_ledger_releases_in_stages(tmp_path: Path) -> None:
    stages = dn.ladder(end_design(each) for each in (0.5, 1, 2))
    with Ledger.create(tmp_path / "mine.ledger") as ledger:
        ledger.answer("income", rounded(Range.of(0, 5000), 1234.5), about=stages)
        first, last = ledger.release("income", 0), ledger.release("income", 2)
        assert {first.response.symbol, last.response.symbol} <= set(ENDS)
        assert ledger.status().epsilon == 2.0


def estimate_of(values: np.ndarray, range_: Range, epsilon: float, name: str, *, squares: bool = False) -> dn.Estimate:
    source = source_named(name)
    design = end_design(epsilon)
    ends = round_values(range_, values, square=squares, source=source)
    return dn.estimate(dn.tally(design, local.draw_all(design, ends, codes=True, source=source)))


@pytest.mark.statistical
def test_mean_and_spread_come_out() -> None:
    """Six standard errors: a false alarm in 10^9 tests."""
    values = np.random.default_rng(3).gamma(2, 3, 200_000).clip(0, 40).round(2)
    range_ = Range.of(0, 40)
    first = mean(estimate_of(values, range_, 2, "first"), range_)
    second = mean(estimate_of(values, range_.squared, 2, "second", squares=True), range_.squared)
    assert abs(first.value - values.mean()) < 6 * first.error
    assert abs(second.value - (values**2).mean()) < 6 * second.error
    found = spread(first, second)
    assert abs(found.value - values.var()) < 6 * found.error
    assert spread(first, second, same_people=True).error > found.error
    low, high = found.interval("variance")
    assert 0 <= low < found.value < high
    census = first.census_variance(second)
    theory = moments(range_, values[:2000].tolist(), end_design(2))
    assert first.device_variance < census < first.variance
    assert census == pytest.approx(float(theory.variance) * 2000 / 200_000, rel=0.1)


def test_people_at_different_stages_are_combined() -> None:
    stages, range_ = dn.ladder(end_design(each) for each in (0.5, 2)), Range.of(0, 10)
    columns = [["low"] * 400 + ["high"] * 600, ["low"] * 150 + ["high"] * 350 + [None] * 500]
    found = mean(combine(count_stages(stages, columns, reached=[1] * 500 + [0] * 500)), range_)
    assert found.respondents == 1000
    alone = mean(dn.estimate(dn.Tally(stages.designs[1], [150, 350])), range_)
    assert found.error < alone.error
    assert found.interval("mean").low < found.value < found.interval("mean", method="chebyshev").high


def test_an_interval_is_that_of_the_share_carried_over() -> None:
    shares = dn.estimate(dn.Tally(end_design(1), [400, 600]))
    found = mean(shares, Range.of(-10, 30))
    for method in (None, "normal", "exact", "chebyshev"):
        low, high = shares.interval("high", method=method, level=0.9)
        assert found.interval("mean", method=method, level=0.9) == pytest.approx((-10 + 40 * low, -10 + 40 * high))
    assert found.variance == pytest.approx(found.rounding_variance + found.device_variance)
    assert found.value == pytest.approx(float(from_share(Range.of(-10, 30), end_design(1), "3/5")))


def test_other_estimates_and_ranges_are_refused() -> None:
    with pytest.raises(Incompatible, match="'low' and 'high'"):
        mean(dn.estimate(dn.Tally(dn.warner(1), [400, 600])), Range.of(0, 1))
    first = mean(dn.estimate(dn.Tally(end_design(1), [400, 600])), Range.of(0, 3))
    with pytest.raises(Incompatible, match="0 to 9"):
        spread(first, first)
    with pytest.raises(InvalidRequest):
        spread(first, mean(first.shares, first.range.squared)).conf_int(level=2)
    with pytest.raises(InvalidRequest):
        moments(Range.of(0, 1), [2], end_design(1))
    with pytest.raises(InvalidRequest):
        moments(Range.of(0, 1), [], end_design(1))
    with pytest.raises(InvalidRequest):
        from_share(Range.of(0, 1), dn.k_ary(3, epsilon=1), 0.5)
    with pytest.raises(NotEstimable):
        from_share(Range.of(0, 1), dn.matrix([["1/2", "1/2"], ["1/2", "1/2"]], categories=ENDS), 0.5)


class TestInBulk:
    def test_the_same_bytes_give_the_same_ends(self, seeded: Source) -> None:
        range_ = Range.of("-1/3", 2)
        values = [each / 100 for each in range(-33, 201)] * 3
        script = seeded.read(8 * len(values))
        for squares in (False, True):
            reach = range_.squared if squares else range_
            used = [each for each in values if not squares or 0 <= each**2 <= 4]
            ends = round_values(reach, used, square=squares, source=ScriptedSource(script))
            one = ScriptedSource(script)
            assert ends.tolist() == [
                ENDS.index(rounded(reach, v, of=square if squares else None, source=one)) for v in used
            ]

    def test_words_at_the_very_place_of_a_value_are_decided_as_one_by_one(self, seeded: Source) -> None:
        """A third begins with the word 0x5555…: only the next word decides."""
        range_ = Range.of(0, 3)
        edge = ((1 << 64) // 3).to_bytes(8, "little")
        script = seeded.read(80) + edge + seeded.read(40) + edge + edge + seeded.read(200)
        values = [1] * 30
        one, bulk = ScriptedSource(script), ScriptedSource(script)
        wanted = [ENDS.index(rounded(range_, value, source=one)) for value in values]
        assert round_values(range_, values, source=bulk).tolist() == wanted
        assert one.used == bulk.used == 8 * 33

    @pytest.mark.parametrize("value", [0.1, 0.3, 1 / 3, 0.7654321, 1e-9, 1 - 1e-9, 0.5])
    @pytest.mark.parametrize("squares", [False, True])
    def test_words_that_floats_cannot_tell_apart_are_told_apart(self, value: float, squares: bool) -> None:
        """A float keeps 53 of a word's 64 bits: each of these words is, as a float, the place of the value itself."""
        range_ = Range.of(0, 1)
        place = place_of(range_, value, square if squares else None)
        digit = int(place * 2**64)
        for by in (-1000, -100, -2, -1, 0, 1, 2, 100, 1000):
            if not 0 <= digit + by < 2**64:
                continue
            script = (digit + by).to_bytes(8, "little") + bytes(8)
            wanted = Fraction(digit + by, 2**64) < place  # an equal digit is followed by a word of 0, which is below
            assert round_values(range_, [value], square=squares, source=ScriptedSource(script)).tolist() == [wanted]

    def test_a_narrow_range_far_from_zero_is_exact_too(self, seeded: Source) -> None:
        range_ = Range.of(10**15, 10**15 + 1)
        values = [1e15 + each / 8 for each in range(9)] * 50
        script = seeded.read(8 * len(values))
        one = ScriptedSource(script)
        wanted = [ENDS.index(rounded(range_, value, source=one)) for value in values]
        assert round_values(range_, np.array(values), source=ScriptedSource(script)).tolist() == wanted

    @pytest.mark.parametrize("wrong", [math.nan, math.inf, -0.5, 10.000001])
    def test_only_the_index_of_a_wrong_row_is_told(self, wrong: float) -> None:
        with pytest.raises(InvalidAnswer, match="index 70,000") as caught:
            round_values(Range.of(0, 10), [5.0] * 70_000 + [wrong])
        assert str(wrong) not in str(caught.value)

    def test_what_is_no_column_of_numbers_is_refused(self) -> None:
        for wrong in (["a"], [[1.0]], [None, 1], [True]):
            with pytest.raises(InvalidAnswer):
                round_values(Range.of(0, 10), wrong)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_short_floats_are_the_decimals_they_show(kind: type[np.floating]) -> None:
    """A word between the decimal and the binary number tells which of the two was taken."""
    for value in (kind(0.1), kind(0.9)):
        shown = place_of(Range.of(0, 1), value)  # type: ignore[arg-type]  # a number of an array
        word = int((shown + Fraction(float(value))) / 2 * 2**64).to_bytes(8, "little")
        many = round_values(Range.of(0, 1), np.array([value]), source=ScriptedSource(word * 2))
        one = rounded(Range.of(0, 1), value, source=ScriptedSource(word * 2))  # type: ignore[arg-type]
        assert ENDS[many[0]] == one


@pytest.mark.parametrize(("low", "high"), [(0, 10**400), (-(10**151), 0), (0, "1e-151")])
def test_a_range_beyond_floats_is_refused(low: int, high: int) -> None:
    with pytest.raises(InvalidRequest, match="too wide or too narrow"):
        Range.of(low, high)


def test_a_square_without_an_end_lies_outside() -> None:
    with pytest.raises(InvalidAnswer, match="index 1"):
        round_values(Range.of(0, 9), [1.0, 1e200], square=True)


def test_the_variance_of_a_census_asks_for_the_squares() -> None:
    first = mean(dn.estimate(dn.Tally(end_design(1), [400, 600])), Range.of(0, 10))
    with pytest.raises(Incompatible, match="0 to 100"):
        first.census_variance(first)


HOURS = number_design(0, "80.5", epsilon=2)


def test_a_design_for_numbers_is_a_document() -> None:
    assert NumberDesign.from_json(HOURS.to_json()) == HOURS != number_design(0, 80, epsilon=2)
    assert HOURS.squared.range == HOURS.range.squared
    assert HOURS.squared.ends == HOURS.ends
    assert (HOURS.epsilon, HOURS.parity) == (end_design(2).epsilon, end_design(2).parity)
    with pytest.raises(InvalidDesign, match="ends of a range"):
        NumberDesign(Range.of(0, 1), dn.warner(1))
    with pytest.raises(InvalidRequest, match="expected it to rise"):
        number_design(1, 1, epsilon=2)


def test_numbers_go_through_the_four_verbs(seeded: Source) -> None:
    sent = [respond(HOURS, value, source=seeded) for value in [40.25] * 4000]
    counted = tally(HOURS, [*sent, None])
    assert (counted.respondents, counted.missing) == (4000, 1)
    assert counted == tally(HOURS, [each.symbol for each in sent] + [None])
    assert NumberTally.from_json(counted.to_json(), HOURS) == counted
    found = estimate(counted)
    assert found.value == mean(dn.estimate(counted.ends), HOURS.range).value
    assert abs(found.value - 40.25) < 6 * found.error  # fails once in 10^9


def test_what_is_no_number_and_no_response_is_refused() -> None:
    for wrong in (81, "many", None, {"x": 1}, [1]):
        with pytest.raises(InvalidAnswer) as caught:
            respond(HOURS, wrong)  # type: ignore[arg-type]
        assert "many" not in str(caught.value)
    for sent in (3, "low", ["middle"], [{}]):
        with pytest.raises(InvalidResponse):
            tally(HOURS, sent)
    with pytest.raises(Incompatible, match="row 1"):
        tally(HOURS, [respond(number_design(0, 80, epsilon=2), 1)])
    with pytest.raises(InvalidResponse, match="negative"):
        NumberTally(HOURS, [1, 2], -1)  # type: ignore[arg-type]
    with pytest.raises(NotEstimable):
        estimate(NumberTally.empty(HOURS))

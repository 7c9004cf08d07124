from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

from hypothesis import example, given
from hypothesis import strategies as st

from deniable import exact
from tests.support import brute
from tests.support.strategies import finite_floats, ratios

exponents = st.fractions(min_value=-60, max_value=60, max_denominator=10**12)


@given(finite_floats)
@example(0.7)
@example(0.1)
@example(5e-324)
@example(1.7976931348623157e308)
@example(-0.0)
def test_a_float_is_the_decimal_that_it_shows(number: float) -> None:
    assert (
        exact.rational(number)
        == Fraction(repr(number))
        == Fraction(Decimal(repr(number)))
    )
    assert float(exact.rational(number)) == number


@given(
    st.fractions()
    | st.integers()
    | st.decimals(allow_nan=False, allow_infinity=False, places=6)
)
def test_exact_numbers_are_taken_as_they_are(
    number: Fraction | int | Decimal,
) -> None:
    assert exact.rational(number) == number
    assert exact.rational(str(number)) == number


@given(exponents)
@example(Fraction(0))
@example(Fraction(1, 10**80))
@example(Fraction(-1, 10**80))
def test_exponentials_enclose_the_truth_tightly(exponent: Fraction) -> None:
    low, high = exact.exp_below(exponent), exact.exp_above(exponent)
    with localcontext() as context:
        context.prec = 120
        truth = (Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp()
        slack = Decimal("1e-100")  # the truth itself is rounded to 120 digits
        assert Fraction(truth * (1 - slack)) <= high
        assert low <= Fraction(truth * (1 + slack))
    assert 0 < low <= high
    assert high - low <= low * Fraction(1, 10**40)
    assert (low >= 1) if exponent >= 0 else (high <= 1)


@given(exponents, exponents)
def test_exponentials_rise(one: Fraction, two: Fraction) -> None:
    low, high = sorted((one, two))
    assert exact.exp_below(low) <= exact.exp_above(high)
    assert exact.exp_below(low) <= exact.exp_below(high)


@given(exponents)
def test_what_is_rounded_down_stays_below_one_when_multiplied_back(
    exponent: Fraction,
) -> None:
    assert exact.exp_below(exponent) * exact.exp_below(-exponent) <= 1
    assert exact.exp_above(exponent) * exact.exp_above(-exponent) >= 1


def check_log(ratio: Fraction) -> None:
    truth, above = brute.log(ratio), exact.log_above(ratio)
    assert Decimal(above) >= truth
    assert Decimal(math.nextafter(above, -math.inf)) < truth


@given(ratios)
@example(Fraction(3))
@example(Fraction(2**64 - 1))
@example(Fraction(10**4000))
@example(Fraction(1, 10**4000))
@example(exact.exp_below(2))
@example(exact.exp_above(2))
def test_logarithms_are_the_next_float_above(ratio: Fraction) -> None:
    check_log(ratio)


@given(st.integers(1, 300), st.integers(1, 10**6), st.booleans())
@example(18, 1, False)
@example(19, 1, True)
@example(120, 7, False)
def test_logarithms_near_one_are_the_next_float_above_too(
    places: int, units: int, below: bool
) -> None:
    check_log(1 + (-1 if below else 1) * Fraction(units, 10 ** (places + 7)))


@given(ratios, ratios)
def test_logarithms_rise(one: Fraction, two: Fraction) -> None:
    low, high = sorted((one, two))
    assert exact.log_above(low) <= exact.log_above(high)


@given(st.fractions(min_value=0, max_value=64))
@example(Fraction(2))
@example(Fraction(1, 2))
def test_no_exponential_rounded_down_has_a_logarithm_above_the_next_float(
    exponent: Fraction,
) -> None:
    assert exact.log_above(exact.exp_below(exponent)) <= exact.float_above(exponent)


@given(st.fractions())
@example(Fraction(1, 3))
@example(Fraction(10**400))
@example(Fraction(-(10**400)))
@example(Fraction(1, 10**400))
def test_float_above_is_the_smallest_float_not_below(value: Fraction) -> None:
    above = exact.float_above(value)
    assert above >= value
    assert math.nextafter(above, -math.inf) < value


@given(st.floats(min_value=1e-300, max_value=64))
def test_a_requested_float_is_never_raised(epsilon: float) -> None:
    read = exact.positive_epsilon(epsilon)
    assert read <= Fraction(epsilon)
    assert read <= Fraction(repr(epsilon))
    assert exact.float_above(read) <= epsilon
    assert exact.float_above(read) >= math.nextafter(epsilon, 0)


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=64))
@example(Fraction(1, 10))
@example(Fraction(7, 10))
def test_a_requested_fraction_is_never_raised(epsilon: Fraction) -> None:
    read = exact.positive_epsilon(epsilon)
    assert exact.float_above(read) == read <= epsilon
    assert math.nextafter(float(read), math.inf) > epsilon


@given(st.fractions(min_value=0), st.fractions(min_value=0))
def test_ratios_follow_the_conventions_for_zero(
    one: Fraction, two: Fraction
) -> None:
    assert exact.ratio(one, two) == brute.quotient(one, two)
    assert exact.ratio(one, 0) == (math.inf if one else 1)

"""What formulas may say: all that formulaic computes on a frame, also with a memory of the fitted data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from deniable.errors import InvalidRequest

RNG = np.random.default_rng(11)
FRAME = pd.DataFrame(
    {
        "sent": RNG.choice(["no", "yes"], 400),
        "age": RNG.normal(40, 10, 400),
        "years at work": RNG.normal(10, 3, 400),
        "sex": RNG.choice(["f", "m"], 400),
    }
)
DESIGN = dn.direct()


def fit(terms: str) -> dn.Regression:
    return dn.regress(f"sent ~ {terms}", FRAME, design=DESIGN)


@pytest.mark.parametrize(
    ("terms", "same"),
    [
        ("scale(age)", "age"),
        ("center(age)", "age"),
        ("poly(age, 2)", "age + {age**2}"),
        ("bs(age, df=3)", "age + {age**2} + {age**3}"),
        ("scale(age):sex + sex", "age:sex + sex"),
        ("scale(`years at work`)", "`years at work`"),
        ("scale(age) + np.log(age.clip(1))", "age + np.log(age.clip(1))"),
    ],
)
def test_terms_with_a_memory_fit_predict_and_have_effects(
    terms: str, same: str
) -> None:
    """Two bases of one space: all that does not depend on the basis is the same, also of a single new row."""
    found, plain = fit(terms), fit(same)
    assert found.log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-9)
    some = FRAME.iloc[[3]]
    assert found.predict(some)["estimate"].item() == pytest.approx(
        plain.predict(some)["estimate"].item(), rel=1e-5
    )
    ours, theirs = found.effects().params, plain.effects().params
    assert ours == pytest.approx(theirs, rel=1e-3)


def test_a_spline_says_where_it_ends() -> None:
    with pytest.raises(
        InvalidRequest, match="outside of the range that a spline was fitted on"
    ):
        fit("bs(age, df=4)").predict({"age": [400.0]})


def test_a_term_that_leaves_a_row_without_a_number_is_refused() -> None:
    with pytest.raises(
        InvalidRequest, match=r"lag\(age\).*not a finite number in every row"
    ):
        fit("lag(age)")


def test_a_name_inside_of_a_term_that_the_data_lack_is_told() -> None:
    with pytest.raises(
        InvalidRequest, match="the formula names 'agee', which the data lack"
    ):
        fit("scale(agee)")


def test_one_person_is_predicted_from_single_values() -> None:
    found = fit("age + sex")
    one = found.predict({"age": 30, "sex": "m"})
    assert one.equals(found.predict({"age": [30], "sex": ["m"]}))
    with pytest.raises(InvalidRequest, match="not of one length"):
        found.predict({"age": [30, 40], "sex": ["m"]})
    with pytest.raises(InvalidRequest, match="expected a list for each"):
        found.predict({"age": [30, 40], "sex": None})


def test_a_new_level_and_a_column_that_is_there_twice_are_told() -> None:
    with pytest.raises(
        InvalidRequest,
        match="hold a level that the fitted data lack, 'x'; expected levels",
    ):
        fit("age + sex").predict({"age": 30, "sex": "x"})
    twice = pd.concat([FRAME, FRAME["age"]], axis=1)
    with pytest.raises(InvalidRequest, match="the data have two columns 'age'"):
        dn.regress("sent ~ age", twice, design=DESIGN)

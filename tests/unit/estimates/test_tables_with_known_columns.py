"""A table of what was randomized against what is openly known: what it promises, and how both hang together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import deniable as dn

FRAME = pd.DataFrame(
    {
        "drug": ["yes", "no", "no", "no", None] * 40,
        "sex": list("fmmfmfm") * 28 + list("fmfm"),
    }
)
TABLE = dn.cross_table(
    (dn.k_ary(["no", "yes"], epsilon=1.5), FRAME["drug"]), FRAME["sex"]
)


def test_what_is_openly_known_is_no_part_of_the_promise() -> None:
    told = TABLE.summary()
    assert told.epsilon == pytest.approx(1.5)
    assert told.title.startswith("drug by sex, ε = 1.5, 160 respondents")
    text = str(told)
    assert "'sex' is openly known" in text
    assert "proves" not in text
    assert "sent as they are" not in text
    assert TABLE.odds_ratio().summary().epsilon == pytest.approx(1.5)
    assert dn.Table.from_json(
        TABLE.to_json(), TABLE.design
    ).summary().epsilon == pytest.approx(1.5)
    assert TABLE.plot().axes[0].get_title("left").startswith("drug by sex")


def test_what_was_asked_directly_stays_without_a_promise() -> None:
    asked = dn.respond_all(dn.direct(["f", "m"]), FRAME["sex"])
    told = dn.cross_table(
        (dn.k_ary(["no", "yes"], epsilon=1.5), FRAME["drug"]), asked
    ).summary()
    assert told.epsilon == np.inf
    assert "proves" in str(told)


def test_a_sampled_table_promises_the_same() -> None:
    sent = dn.respond_all(dn.k_ary(["no", "yes"], epsilon=1.5), FRAME["drug"])
    told = dn.cross_table(
        sent, FRAME["sex"], sampling=dn.Sampling(np.ones(200))
    ).summary()
    assert told.epsilon == pytest.approx(1.5)
    assert "drug by sex" in told.title
    assert "'sex' is openly known" in str(told)


def test_a_printed_table_says_how_many_people_it_is_of() -> None:
    assert "160 respondents; 40 without both are left out." in str(TABLE)


def test_a_table_without_any_spread_can_be_printed() -> None:
    frame = FRAME.assign(sex=FRAME["drug"].map({"yes": "f", "no": "m"}))
    assert "Cramér's V, less what noise adds: 1.000" in str(
        dn.cross_table((dn.warner(epsilon=3), frame["drug"]), frame["sex"])
    )


def test_questions_that_seem_independent_leave_room_for_doubt() -> None:
    found = dn.cross_table(
        (dn.warner(epsilon=3), ["yes", "no"] * 50), ["f", "m", "m", "f"] * 25
    )
    low, high = found.cramers_v_interval()
    assert low == 0
    assert 0.2 < high < 0.4


@pytest.mark.parametrize(
    ("strength", "people"), [(0.0, 200), (0.05, 200), (0.05, 2000), (0.3, 2000)]
)
def test_the_interval_of_cramers_v_holds_the_truth(
    strength: float, people: int
) -> None:
    """Of 400 tables at least 345 hold it: fewer come with chance below 1e-9 where 95% do."""
    rng = np.random.default_rng([17, people, int(100 * strength)])
    both = dn.product(
        {"smokes": dn.warner(epsilon=2), "drinks": dn.warner(epsilon=2)}
    )
    away = strength / 4
    shares = np.array([0.25 + away, 0.25 - away, 0.25 - away, 0.25 + away])
    chances = np.array(
        [
            [float(both.probability(each, given=one)) for each in both.symbols]
            for one in both.categories
        ]
    )
    counts = rng.multinomial(people, shares @ chances, size=400)
    found = [
        dn.cross_table(dn.Tally(both, each)).cramers_v_interval() for each in counts
    ]
    assert sum(low <= strength <= high for low, high in found) >= 345
    assert all(high > 0 for _, high in found)

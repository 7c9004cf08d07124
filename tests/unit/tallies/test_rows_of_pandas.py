"""pandas names rows: responses keep the names, and columns of other people are refused, not taken by their place."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import deniable as dn

DESIGN = dn.warner(epsilon=3)
FRAME = pd.DataFrame(
    {
        "drug": ["yes", "no", "no", "yes", "no"] * 8,
        "sex": list("fmmfm") * 8,
        "weight": np.arange(40) + 1.0,
        "device": ["RR"] * 40,
    },
    index=[f"person {number}" for number in range(40)],
)
SHUFFLED = FRAME.iloc[::-1]
SENT = dn.respond_all(DESIGN, SHUFFLED["drug"])
SAMPLED = dn.Sampling(SHUFFLED["weight"])


def test_responses_find_their_people_again() -> None:
    frame = FRAME.copy()
    frame["sent"] = dn.respond_all(dn.direct(), SHUFFLED["drug"]).to_frame()[
        "response"
    ]
    assert (frame["sent"] == frame["drug"]).all()


def test_responses_keep_the_names_of_their_rows_in_all_that_is_made_of_them() -> (
    None
):
    some = SENT[:3] + SENT[np.arange(40) == 7]
    assert list(some.index) == [SHUFFLED.index[row] for row in (0, 1, 2, 7)]
    answered = pd.Series(["yes", "no"], index=["secretanswer", "secretname"])
    sent = dn.respond_all(dn.warner(1), answered)
    assert list(sent.index) == ["secretanswer", "secretname"]
    # what leaves this program names nobody
    assert b"secret" not in pickle.dumps(sent)
    assert pickle.loads(pickle.dumps(sent)) == sent
    assert pickle.loads(pickle.dumps(SENT)).index is None
    assert dn.Responses.of(DESIGN, SHUFFLED["drug"]).index.equals(SHUFFLED.index)
    assert (SENT + dn.respond_all(DESIGN, ["yes"])).index is None
    assert SENT.name == "drug"
    assert b"person" not in str(SENT.to_arrow().schema).encode()


def test_rows_of_a_table_of_edges_name_no_people() -> None:
    """Its people are shuffled, so that their place tells nothing; an index would."""
    edges = pd.DataFrame(
        {"person": ["a", "b"], "item": ["tea", "milk"], "weight": [0.5, 1]},
        index=["x", "y"],
    )
    assert (
        dn.respond_all(dn.lpp_club(["tea", "milk"], epsilon=1), edges).index is None
    )


OTHERS: dict[str, Callable[[Any], object]] = {
    "groups": lambda of: dn.tally(SENT, by=of["sex"]),
    "groups of a frame": lambda of: dn.tally(SENT, by=of[["sex", "device"]]),
    "groups of a mapping": lambda of: dn.tally(SENT, by={"sex": of["sex"]}),
    "groups of labels": lambda of: dn.tally(DESIGN, SHUFFLED["drug"], by=of["sex"]),
    "weights": lambda of: dn.tally(SENT, weights=of["weight"]),
    "devices": lambda of: dn.tally(
        {"RR": DESIGN}, SHUFFLED["drug"], devices=of["device"]
    ),
    "a cross table": lambda of: dn.cross_table(SENT, of["sex"]),
    "a cross table of labels": lambda of: dn.cross_table(
        (DESIGN, SHUFFLED["drug"]), of["sex"]
    ),
    "a sampled cross table": lambda of: dn.cross_table(
        SENT, SHUFFLED["sex"], sampling=dn.Sampling(of["weight"])
    ),
    "a correlation": lambda of: dn.correlation(SENT, of["weight"]),
    "an association": lambda of: dn.association(
        SENT, dn.respond_all(DESIGN, of["drug"])
    ),
    "a sample": lambda of: dn.estimate(SENT, sampling=dn.Sampling(of["weight"])),
    "a sample by name": lambda of: dn.estimate(
        SENT, sampling=dn.Sampling("weight", data=of)
    ),
    "groups of a sample": lambda of: dn.estimate(
        SENT, sampling=SAMPLED, by=of["sex"]
    ),
    "a domain": lambda of: dn.estimate(
        SENT, sampling=SAMPLED, domain=of["sex"] == "f"
    ),
    "a denominator": lambda of: dn.estimate(
        SENT, sampling=SAMPLED, denominator=of["weight"]
    ),
    "columns of a sample": lambda of: dn.Sampling(
        SHUFFLED["weight"], strata=of["sex"]
    ),
    "a margin": lambda of: SAMPLED.post_stratify(of["sex"], {"f": 16, "m": 24}),
    "a regression": lambda of: dn.regress(
        "drug ~ 1", SHUFFLED, design=DESIGN, sampling=dn.Sampling(of["weight"])
    ),
}


@pytest.mark.parametrize("call", OTHERS.values(), ids=OTHERS)
def test_a_column_of_other_people_is_refused(call: Callable[[Any], object]) -> None:
    with pytest.raises(
        dn.errors.Incompatible, match="indexes differ, first in row 1"
    ) as refused:
        call(FRAME)
    assert "person 3" not in str(refused.value)  # an index may be a name
    call(SHUFFLED)
    call(FRAME.loc[SENT.index])


def test_what_has_no_index_goes_by_its_place() -> None:
    named = dict(dn.tally(SENT, by=SHUFFLED["sex"]))
    assert (
        named
        == dict(dn.tally(SENT, by=SHUFFLED["sex"].to_numpy()))
        == dict(dn.tally(SENT, by=list(SHUFFLED["sex"])))
    )


def test_groups_of_a_frame_are_by_its_columns_and_not_by_its_index() -> None:
    assert list(dn.tally(SENT, by=SHUFFLED[["sex", "device"]])) == [
        ("f", "RR"),
        ("m", "RR"),
    ]


def test_responses_are_a_sequence() -> None:
    sent = dn.Responses.of(DESIGN, ["yes", None, "no"])
    assert (sent[0], sent[1], sent[-1]) == ("yes", None, "no")
    assert list(sent[1:]) == [None, "no"]
    assert np.array(sent).tolist() == ["yes", None, "no"]
    with pytest.raises(IndexError):
        sent[3]
    frame = pd.DataFrame({"age": [30, 40, 50]}, index=[9, 8, 7])
    frame["sent"] = sent
    assert list(frame["sent"])[::2] == ["yes", "no"]

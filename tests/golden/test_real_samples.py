"""Samples of the R package RRTCS again: what it answers, what is right where it errs, and calls over which it falls.

The rows stay outside the project, as in `test_real_surveys.py`. Sources: section E and H of the survey sheet.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import deniable as dn
from tests.golden.test_real_surveys import column

WARNER = dn.warner(p="7/10")
UNRELATED = dn.simmons(p="3/5", b="1/2")
FORCED = dn.forced_response("3/5", "1/5", "1/5")


def rows(file: str, design: dn.Design) -> dn.Responses[dn.Design]:
    return dn.Responses.of(
        design, [int(each) for each in column(file, "z")], codes=True
    )


def chances(file: str) -> list[float]:
    return [float(each) for each in column(file, "Pi")]


@pytest.mark.parametrize("rule", ["horvitz-thompson", "sen-yates-grundy"])
def test_a_mean_with_joint_probabilities_is_not_divided_twice(rule: str) -> None:
    """RRTCS divides the part of the sample by N² twice and answers a variance 7.5 times too small: H6."""
    sent, people = rows("WarnerData", WARNER), 802
    n = len(sent)
    joint = np.full((n, n), n * (n - 1) / people / (people - 1))
    np.fill_diagonal(joint, n / people)
    found = dn.estimate(
        sent, sampling=dn.Sampling(joint=joint, rule=rule, population=people)
    )
    assert found.params["yes"] == pytest.approx(0.45)
    assert found.bse["yes"] ** 2 == pytest.approx(0.01225635508, rel=2e-3)


def test_a_mean_without_the_number_of_people_has_a_variance() -> None:
    """RRTCS answers an estimate and no variance; here it is Hájek's, linearized."""
    found = dn.estimate(
        rows("HorvitzDataStCl", UNRELATED),
        sampling=dn.Sampling(inclusion=chances("HorvitzDataStCl")),
    )
    assert found.params["yes"] == pytest.approx(0.402209944751)
    assert found.bse["yes"] > 0
    assert "Hájek" in found.method


def test_one_missing_value_is_dropped_and_counted() -> None:
    """RRTCS stops with an internal error."""
    sent = [int(each) for each in column("WarnerData", "z")]
    gap = dn.Responses.of(WARNER, [None, *sent[1:]], codes=True)
    found = dn.estimate(
        gap, sampling=dn.Sampling(inclusion=chances("WarnerData"), population=802)
    )
    assert (found.respondents, found.missing) == (len(sent) - 1, 1)
    others = dn.estimate(
        dn.Responses.of(WARNER, sent[1:], codes=True),
        sampling=dn.Sampling([1.0] * (len(sent) - 1)),
    )
    assert found.params["yes"] == pytest.approx(others.params["yes"])


def test_strata_and_clusters_are_not_ignored() -> None:
    """RRTCS's variance of this total is 3,798, as if nobody lived in a cluster: H6."""
    sent, inclusion = rows("HorvitzDataStCl", UNRELATED), chances("HorvitzDataStCl")
    known: dict[str, Any] = {
        "strata": column("HorvitzDataStCl", "ST"),
        "clusters": column("HorvitzDataStCl", "CL"),
    }
    theirs = dn.estimate(sent, sampling=dn.Sampling(inclusion=inclusion)).total
    ours = dn.estimate(
        sent, sampling=dn.Sampling(inclusion=inclusion, **known)
    ).total
    assert theirs.bse["yes"] ** 2 == pytest.approx(3798, abs=0.5)
    assert ours.bse["yes"] ** 2 == pytest.approx(5603, abs=0.5)


def test_a_stratified_total_uses_its_strata() -> None:
    """938,392 is the variance without them: H7."""
    sent, inclusion = (
        rows("ForcedResponseDataSt", FORCED),
        np.array(chances("ForcedResponseDataSt")),
    )
    strata = column("ForcedResponseDataSt", "ST")
    total = dn.estimate(
        sent, sampling=dn.Sampling(1 / inclusion, strata=strata)
    ).total
    assert total.params["yes"] == pytest.approx(2599.82665813)
    assert total.bse["yes"] ** 2 == pytest.approx(932_694, abs=0.5)
    assert dn.estimate(sent, sampling=dn.Sampling(inclusion=inclusion)).total.bse[
        "yes"
    ] ** 2 == pytest.approx(938_392, abs=0.5)


def test_no_red_card_is_a_response() -> None:
    """RRTCS refuses Kuk's response 0: H6."""
    kuk = dn.kuk("3/5", "1/5", draws=25)
    sent = dn.Responses.of(
        kuk, [0, *(int(each) for each in column("KukData", "z"))], codes=True
    )
    assert dn.estimate(sent, sampling=dn.Sampling([1.0] * len(sent))).bse["yes"] > 0


SCRAMBLED: dict[str, dict[str, Any]] = {
    "EichhornHayreData": {
        "model": "eichhorn_hayre",
        "factor": ("1.111111", "0.5414886"),
    },
    "ErikssonData": {
        "model": "eriksson",
        "p": "1/2",
        "other": dict.fromkeys((0, 1, 3, 5, 8), "1/5"),
    },
    "BarLevData": {"model": "bar_lev", "p": "3/5", "factor": ("1", "1")},
}


@pytest.mark.parametrize("file", SCRAMBLED)
def test_scrambled_numbers_of_strata(file: str) -> None:
    """Every way to a variance holds the device's, also where all of a stratum are asked (Pi = 1 in BarLevData)."""
    sheet = dn.scrambled(**SCRAMBLED[file])
    sent, strata, inclusion = (
        [float(each) for each in column(file, "z")],
        column(file, "ST"),
        chances(file),
    )
    deville = sheet.estimate(
        sent, sampling=dn.Sampling(inclusion=inclusion, strata=strata)
    ).total
    linear = sheet.estimate(
        sent, sampling=dn.Sampling(1 / np.array(inclusion), strata=strata)
    ).total
    jackknife = sheet.estimate(
        sent,
        sampling=dn.Sampling(
            1 / np.array(inclusion), strata=strata, replicates="jackknife"
        ),
    ).total
    assert jackknife.bse["mean"] == pytest.approx(linear.bse["mean"])
    assert 0 < deville.bse["mean"] <= linear.bse["mean"] * 1.001
    values = np.array([sheet.value(each) for each in sent])
    device = sum(
        sheet.estimated_device_variance(value) / chance
        for value, chance in zip(values, inclusion, strict=True)
    )
    assert deville.bse["mean"] ** 2 >= device * (1 - 1e-9)

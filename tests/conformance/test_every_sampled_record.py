"""Items, edges and strings of a sample answer every question that a result is asked."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from deniable.estimates.sampling import SampledEstimate
from tests.support.types import TYPES, Asked

CANDIDATES = {
    "strings": ["Smith", "Jones", "Miller"],
    "unlisted strings": ["ab", "a", "b"],
}
RECORDS = (
    "key-value",
    "key-value vectors",
    "key-value, one of them",
    "edges",
    *CANDIDATES,
)


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("replicates", [None, "jackknife"])
def test_a_sample_of_every_record_is_one_shape_of_result(
    name: str, replicates: str | None
) -> None:
    asked: Asked = TYPES[name]()
    rows, size = dn.respond_all(asked.design, asked.answers), len(asked.answers)
    clusters = np.arange(size) // 4
    sampling = dn.Sampling(
        1.0 + np.arange(size) % 3, clusters=clusters, replicates=replicates
    )
    more = {"candidates": CANDIDATES[name]} if name in CANDIDATES else {}
    for options in (
        {},
        {"by": np.where(clusters % 2, "odd", "even")},
        {"domain": clusters > 3},
    ):
        found = dn.estimate(rows, sampling=sampling, **more, **options)  # type: ignore[call-overload]
        assert type(found) is SampledEstimate
        assert (
            len(set(found.names))
            == len(found.names)
            == len(found.params)
            == len(found.bse)
        )
        assert (
            list(found.conf_int())
            == list(found.names)
            == [row.name for row in found.summary().rows]
        )
        assert found.cov_params().shape == (len(found.names),) * 2
        assert type(found).from_json(found.to_json(), asked.design) == found
        assert (found.design, found.epsilon) == (asked.design, asked.design.epsilon)
        for result in (found, found.total):
            assert str(result.summary())
            assert result.to_frame().shape[0] == len(result.names)
            assert result.plot().axes
            assert "<table" in result._repr_html_()
    assert found.missing == sum(
        answer is None
        for answer, old in zip(asked.answers, clusters > 3, strict=True)
        if old
    )

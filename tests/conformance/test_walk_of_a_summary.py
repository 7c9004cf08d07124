"""How far a reader follows a printed summary: changes of file while it is computed and printed."""

from __future__ import annotations

from itertools import groupby

import pytest

import deniable as dn
from tests.support.walks import walk


def changes_of_file(tally: dn.Tally) -> list[str]:
    str(dn.estimate(tally).summary())  # everything is loaded
    result = dn.estimate(tally)
    files = walk(lambda: str(result.summary()))
    # The checks that refuse a wrong argument are not a step of the walk.
    return [
        name for name, _ in groupby(name for name in files if name != "errors.py")
    ]


@pytest.mark.parametrize(
    ("design", "counts", "limit"),
    [
        (dn.k_ary(["a", "b", "c"], epsilon=1), [50, 30, 20], 40),
        # Of two answers the summary also says how many people who do not follow the device would explain the estimate.
        (dn.warner(p="3/4"), [60, 40], 55),
    ],
    ids=["three answers", "two answers"],
)
def test_a_summary_is_printed_in_few_changes_of_file(
    design: dn.Design, counts: list[int], limit: int
) -> None:
    files = changes_of_file(dn.Tally(design, counts))
    assert "estimates/summary.py" in files
    assert "rendering/formats.py" in files
    assert len(files) <= limit, files

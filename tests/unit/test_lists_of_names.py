"""Where a list of names is asked for, text is refused: it is one name, and not a list of letters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.errors import InvalidRequest

STRINGS = dn.string_design(dn.Bloom(16, 1, 4), epsilon=4)
SENT = dn.respond_all(STRINGS, ["a", "b", "c"] * 30)
ITEMS = dn.estimate(
    dn.tally(dn.respond_all(dn.lpp_club(["a", "b"], 2), [{"a": 1}, {}] * 30))
)
CALLS: dict[str, Callable[[Any, Path], object]] = {
    "candidates": lambda names, _: dn.estimate(dn.tally(SENT), candidates=names),
    "candidates of a sample": lambda names, _: dn.estimate(
        SENT, candidates=names, sampling=dn.Sampling([1.0] * 90)
    ),
    "items": lambda names, _: ITEMS.joint_covariance(names),
    "checks": lambda names, _: dn.audit(dn.warner(1), checks=names),
    "columns that are kept": lambda names, path: dn.engines.files.respond_file(
        dn.warner(1), path / "a.csv", str(path / "b.csv"), column="c", keep=names
    ),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(
    ("names", "what"),
    [("ab", "is a str"), (7, "is an int"), (["a", 7], "holds an int")],
)
def test_text_is_no_list_of_names(
    call: Callable[[Any, Path], object], names: object, what: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidRequest, match=f"{what}; expected a list of names"):
        call(names, tmp_path)

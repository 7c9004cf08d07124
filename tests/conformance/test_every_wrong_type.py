"""Every public function, given something of the wrong type: one error of this package, never what broke inside."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from deniable.designs import FAMILIES

WRONG: tuple[Any, ...] = (
    3,
    -1.5,
    "x",
    None,
    object(),
    [1],
    {"a": 1},
    b"x",
    [],
    {},
    float("nan"),
    True,
    ["a", None],
)
DESIGN = dn.warner(epsilon=1)
BOTH = dn.product({"drug": DESIGN, "vote": dn.k_ary(["a", "b", "c"], epsilon=1)})
SENT = dn.respond_all(DESIGN, ["yes", "no", "no"] * 20)
PAIRS = dn.respond_all(
    BOTH, [{"drug": "yes", "vote": "a"}, {"drug": "no", "vote": "c"}] * 30
)
TALLY = dn.tally(DESIGN, {"yes": 30, "no": 70})
FOUND = dn.estimate(TALLY)
NUMBER = dn.number_design(0, 10, epsilon=1, levels=3)
NUMBERS = dn.estimate(dn.tally(dn.respond_all(NUMBER, [0, 5, 10] * 20)))
FRAME = pd.DataFrame(
    {"y": ["yes", "no"] * 60, "age": np.arange(120.0), "sex": list("fmmf") * 30}
)
FIT = dn.regress("y ~ age + sex", FRAME, design=dn.direct())
SAMPLE = dn.Sampling(np.ones(60), strata=["a", "b"] * 30)
GROUPS = dn.estimate(dn.tally(SENT, by=["n", "s"] * 30))
TABLE = dn.cross_table(dn.tally(BOTH, dict.fromkeys(BOTH.symbols, 10)))
LADDER = dn.ladder([dn.warner(1), dn.warner(2)])
RESULTS = {
    "shares": FOUND,
    "groups": GROUPS,
    "a table": TABLE,
    "a fit": FIT,
    "numbers": NUMBERS,
}

CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "respond": (dn.respond, {"design": DESIGN, "answer": "yes", "source": None}),
    "respond_all": (
        dn.respond_all,
        {
            "design": DESIGN,
            "answers": ["yes"],
            "codes": None,
            "source": None,
            "threads": 1,
            "fast": None,
            "engine": None,
        },
    ),
    "tally": (
        dn.tally,
        {
            "design": DESIGN,
            "responses": ["yes"],
            "codes": None,
            "by": None,
            "weights": None,
        },
    ),
    "tally of responses": (dn.tally, {"design": SENT, "by": None, "weights": None}),
    "estimate": (
        dn.estimate,
        {
            "tally": TALLY,
            "method": None,
            "population": None,
            "guess": None,
            "inverse": None,
        },
    ),
    "estimate of a sample": (
        dn.estimate,
        {
            "tally": SENT,
            "sampling": SAMPLE,
            "by": None,
            "domain": None,
            "denominator": None,
        },
    ),
    "cross_table": (
        dn.cross_table,
        {"given": SENT, "second": ["f", "m"] * 30, "rows": None, "columns": None},
    ),
    "cross_table of a product": (
        dn.cross_table,
        {"given": PAIRS, "rows": "drug", "columns": "vote", "method": "inversion"},
    ),
    "correlation": (
        dn.correlation,
        {"first": SENT, "second": list(range(60)), "sampling": None},
    ),
    "association": (
        dn.association,
        {"first": SENT, "second": SENT, "rows": None, "columns": None},
    ),
    "independence": (dn.independence, {"given": TABLE.estimate, "method": None}),
    "regress": (
        dn.regress,
        {
            "formula": "y ~ age",
            "data": FRAME,
            "design": DESIGN,
            "devices": None,
            "family": None,
            "sampling": None,
        },
    ),
    "posterior": (dn.posterior, {"tally": TALLY}),
    "mean": (dn.mean, {"shares": NUMBERS.shares}),
    "compare": (dn.compare, {"first": DESIGN, "second": dn.warner(2)}),
    "garbling": (dn.garbling, {"coarse": DESIGN, "fine": dn.warner(2)}),
    "admissible": (dn.admissible, {"design": DESIGN}),
    "repair": (dn.repair, {"design": DESIGN}),
    "relax": (dn.relax, {"old": DESIGN, "new": dn.warner(2)}),
    "ladder": (dn.ladder, {"designs": [DESIGN, dn.warner(2)]}),
    "coalition_loss": (dn.coalition_loss, {"ladder": LADDER, "stages": [0]}),
    "certify": (dn.certify, {"thing": DESIGN, "prior": None}),
    "Tally": (dn.Tally, {"design": DESIGN, "counts": [1, 2], "missing": 0}),
    "Responses": (
        dn.Responses,
        {
            "design": DESIGN,
            "columns": {"response": np.array([0, 1])},
            "missing": None,
        },
    ),
    "Responses.of": (
        dn.Responses.of,
        {"design": DESIGN, "column": ["yes"], "codes": None},
    ),
    "Sampling": (
        dn.Sampling,
        {
            "weights": [1, 2, 3],
            "strata": None,
            "clusters": None,
            "population": None,
            "fraction": None,
            "replicates": None,
        },
    ),
    "post_stratify": (
        SAMPLE.post_stratify,
        {"groups": ["f", "m"] * 30, "totals": {"f": 10, "m": 20}},
    ),
    "rake": (
        SAMPLE.rake,
        {"groups": {"sex": ["f", "m"] * 30}, "totals": {"sex": {"f": 10, "m": 20}}},
    ),
    "calibrate": (
        SAMPLE.calibrate,
        {
            "auxiliary": {"age": list(range(60))},
            "totals": {"age": 100},
            "method": "linear",
        },
    ),
    "contrast": (FOUND.contrast, {"weights": {"yes": 1}}),
    "interval": (FOUND.interval, {"name": "yes", "level": 0.9, "method": None}),
    "sensitivity": (
        FOUND.sensitivity,
        {"kind": None, "category": None, "level": 0.9},
    ),
    "odds_ratio": (TABLE.odds_ratio, {"rows": ("no", "yes"), "columns": ("a", "b")}),
    "correlation of a table": (TABLE.correlation, {"rows": None, "columns": None}),
    "share of a table": (TABLE.share, {"column": "a", "among": "yes"}),
    "predict": (FIT.predict, {"data": FRAME}),
    "test": (FIT.test, {"hypothesis": "age = 0"}),
    "effects": (FIT.effects, {}),
    "Estimate.from_json": (
        dn.Estimate.from_json,
        {"text": FOUND.to_json(), "design": DESIGN},
    ),
    "Tally.from_json": (
        dn.Tally.from_json,
        {"text": TALLY.to_json(), "design": DESIGN},
    ),
    "Design.from_json": (dn.Design.from_json, {"text": DESIGN.to_json()}),
    "plan.how_many": (
        dn.plan.how_many,
        {
            "design": DESIGN,
            "share": 0.1,
            "width": 0.2,
            "category": None,
            "method": None,
        },
    ),
    "plan.variance": (
        dn.plan.variance,
        {"design": DESIGN, "n": 100, "shares": None, "category": None},
    ),
    "plan.compare": (dn.plan.compare, {"designs": {"a": DESIGN}, "n": 100}),
    "design.delta": (DESIGN.delta, {"epsilon": 1}),
    "design.probability": (DESIGN.probability, {"symbol": "yes", "given": "no"}),
    "report.save": (
        dn.report.save,
        {"figure": None, "path": "no folder/picture.png"},
    ),
    **{
        f"{name} of {of}": (
            getattr(result, name),
            {"level": 0.9, "method": None, "simultaneous": False},
        )
        for of, result in RESULTS.items()
        for name in ("conf_int", "summary", "to_frame", "to_json")
    },
    **{
        f"plot of {of}": (thing.plot, {"title": "", "dark": False})
        for of, thing in {
            "a design": DESIGN,
            "a tally": TALLY,
            "shares": FOUND,
            "groups": GROUPS,
        }.items()
    },
    **{
        f"{name} {number}": (family.build, dict(example))
        for name, family in FAMILIES.items()
        for number, example in enumerate(family.examples)
    },
}


def attempts(
    call: Callable[..., Any], options: dict[str, Any]
) -> Iterator[tuple[str, Any, Callable[[], Any]]]:
    """Yield each call with one thing replaced."""
    for name in options:
        for wrong in WRONG:
            yield name, wrong, partial(call, **{**options, name: wrong})


@pytest.mark.parametrize(("call", "options"), CALLS.values(), ids=CALLS)
def test_something_of_the_wrong_type_is_one_error_of_this_package(
    call: Callable[..., Any],
    options: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    broken = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, wrong, attempt in attempts(call, options):
            try:
                attempt()
            except dn.DeniableError:
                pass
            except Exception as error:
                broken.append(
                    f"{name}={wrong!r:.30}: {type(error).__name__}: {error!s:.90}"
                )
    assert broken == []


@pytest.mark.parametrize(("call", "options"), CALLS.values(), ids=CALLS)
def test_a_keyword_that_does_not_exist_is_a_type_error(
    call: Callable[..., Any], options: dict[str, Any]
) -> None:
    with pytest.raises((TypeError, dn.DeniableError)):
        call(**options, no_such_keyword=1)

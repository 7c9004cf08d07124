"""Every type of result answers the same questions under the same names."""

from __future__ import annotations

import csv
import dataclasses
import inspect
import io
import json
import pickle
import re
import string
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import deniable as dn
from deniable.errors import (
    Incompatible,
    InvalidRequest,
    MissingExtra,
    UnreadableFile,
)
from deniable.estimates import (
    Caution,
    Interval,
    Result,
    Summary,
    cross_table,
    estimate_deck,
    mean_inverse,
)
from deniable.estimates import measures as _measures_results  # noqa: F401 - likewise
from deniable.estimates import regression as _regressions  # noqa: F401 - likewise
from deniable.estimates.results import result_types
from deniable.estimates.scrambled import estimates as _scrambled_results  # noqa: F401 - likewise
from deniable.estimates.shares import Estimate
from deniable.estimates.stages import combine
from deniable.groups import estimates as _groups_results  # noqa: F401 - whose results are to be known, too
from deniable.order.relaxation import ladder
from deniable.pairs.estimates import PairedDesigns, association
from deniable.rendering.pictures import DARK
from deniable.report import result_texts
from deniable.tallies.decks import DeckTally
from deniable.tallies.stages import count_stages
from deniable.types.drawn import estimate as _drawn_results  # noqa: F401 - whose results are to be known, too
from deniable.types.edges.count import tally as tally_edges
from deniable.types.edges.design import one_edge
from deniable.types.edges.estimate import estimate as estimate_edges
from deniable.types.key_value.count import KeyValueTally
from deniable.types.key_value.count import tally as tally_items
from deniable.types.key_value.design import lpp_club, pckv_ue, vpp
from deniable.types.key_value.estimate import estimate as estimate_items
from deniable.types.numbers.estimate import mean, spread
from deniable.types.strings.count import StringTally
from deniable.types.strings.design import Bloom, string_design
from deniable.types.strings.estimate import estimate as estimate_strings
from tests.support.seeded import seeded
from tests.support.sentences import check_sentence
from tests.support.sets import with_sums

PROPERTIES = ("params", "bse", "warnings")
METHODS = (
    "cov_params", "conf_int", "summary", "to_frame", "to_json", "from_json", "plot", "_repr_html_", "to_csv", "to_html",
    "to_latex", "to_markdown",
)  # fmt: skip
READ_BY_LATEX = {*string.printable, *"“”‘’²áäéöü"}
"""Characters that LaTeX reads without a further package."""

RISKY = "=<b>&|_%"  # a name that means something to HTML, Markdown, LaTeX and spreadsheets


def _shares() -> tuple[Result, Any]:
    design = dn.k_ary([RISKY, "once", "often"], epsilon=2)
    return dn.estimate(dn.Tally(design, [150, 90, 60], missing=7)), design


def _likelihood() -> tuple[Result, Any]:
    design = dn.k_ary([RISKY, "once", "often"], epsilon=2)
    return dn.estimate(
        dn.Tally(design, [150, 90, 60]), method="likelihood", population=5000
    ), design


def _sets() -> tuple[Result, Any]:
    design = dn.unary([RISKY, "b", "c"], 2)
    return dn.estimate(with_sums(design, [150, 90, 60], 200)), design


def _few() -> tuple[Result, Any]:
    design = dn.warner("1/2")
    return dn.estimate(dn.Tally(design, [2, 2])), design


def _projected() -> tuple[Result, Any]:
    design = dn.warner(2, categories=["no", RISKY])
    with pytest.warns(dn.errors.ImplausibleResponses):
        return dn.estimate(dn.Tally(design, [200, 2])).projected(), design


def _cross_table() -> tuple[Result, Any]:
    design = dn.product({"smokes": dn.warner(p="3/4"), RISKY: dn.warner(p="3/4")})
    return cross_table(dn.estimate(dn.Tally(design, [400, 200, 250, 150]))), design


def _odds_ratio() -> tuple[Result, Any]:
    found, design = _cross_table()
    assert isinstance(found, dn.Table)
    return found.odds_ratio(found.row_labels[:2], found.column_labels[:2]), design


def _correlation() -> tuple[Result, Any]:
    design = dn.warner(3, categories=["no", RISKY])
    sent = dn.Responses(design, {"response": np.arange(60, dtype=np.uint8) % 2})
    return dn.correlation(sent, np.arange(60) % 7 + np.arange(60) % 2), design


def _stages() -> tuple[Result, Any]:
    stages = ladder(
        [
            dn.k_ary(["a", RISKY, "c"], epsilon=1),
            dn.k_ary(["a", RISKY, "c"], epsilon=2),
        ]
    )
    columns = [
        ["a"] * 60 + [RISKY] * 40,
        ["a"] * 25 + [RISKY] * 15 + ["c"] * 10 + [None] * 50,
    ]
    tallies = count_stages(stages, columns, reached=[2] * 50 + [1] * 50)
    return combine(tallies, method="linear", guess=[0.5, 0.3, 0.2]), stages


def _devices() -> tuple[Result, Any]:
    categories = ["no", RISKY]
    tallies = [
        dn.Tally(dn.crosswise("1/4", categories=categories), [140, 260], missing=3),
        dn.Tally(dn.mangat("2/3", categories=categories), [85, 55]),
    ]
    return dn.estimate(tallies), None


def _two_samples() -> tuple[Result, Any]:
    return dn.unrelated_two_samples(
        p=["7/10", 0], yes=[95, 60], respondents=[250, 150]
    ), None


def _prevalence() -> tuple[Result, Any]:
    return dn.prevalence(
        [520, 330, 150],
        validation=[[128, 10, 4], [15, 80, 12], [7, 10, 64]],
        categories=["never", RISKY, "often"],
    ), None


def _list_experiment() -> tuple[Result, Any]:
    counts, treated = [*[0, 1, 2] * 30, *[0, 1, 2, 2, 3] * 30], [0] * 90 + [1] * 150
    return dn.list_experiment(
        counts, treated, n_items=2, by=["north", RISKY] * 120
    ), None


def _regression() -> tuple[Result, Any]:
    design, rng = (
        dn.k_ary([RISKY, "once", "often"], epsilon=2),
        np.random.default_rng(5),
    )
    rows = {
        "sent": rng.integers(3, size=300),
        "age": rng.normal(size=300),
        "region": rng.choice(["a", RISKY], 300),
    }
    return dn.regress("sent ~ age + region", rows, design=design), design


def _regression_of_devices() -> tuple[Result, Any]:
    designs, rng = (
        {"RR": dn.crosswise("1/4"), RISKY: dn.direct()},
        np.random.default_rng(6),
    )
    rows = {"sent": rng.integers(2, size=200), "by": ["RR", RISKY] * 100}
    sample = dn.Sampling([1, 2, 3, 4] * 50, clusters=[n % 10 for n in range(200)])
    return dn.regress(
        "sent ~ by", rows, design=designs, devices="by", sampling=sample
    ), None


def _effects() -> tuple[Result, Any]:
    found, design = _regression()
    assert isinstance(found, dn.Regression)
    return found.effects(), design


def _answer_quantiles() -> tuple[Result, Any]:
    design = dn.warner(p="3/4", categories=["no", RISKY])
    sent = dn.Responses.of(design, ["no", RISKY, "no", "no", RISKY] * 60)
    seconds = np.arange(300.0) % 37
    return dn.quantiles_by_answer(seconds, sent, [0.5, 0.75]), None


def _odds_ratios() -> tuple[Result, Any]:
    found, design = _regression()
    assert isinstance(found, dn.Regression)
    return found.odds_ratios(), design


def _deck() -> tuple[Result, Any]:
    deck = dn.Deck((40, 10, 50), people=100, categories=("no", RISKY))
    return estimate_deck(
        DeckTally(deck, np.array([40, 10, 48]), missing=2), population=100
    ), deck


def _items() -> tuple[Result, Any]:
    design = lpp_club([RISKY, "coffee", "milk"], 1)
    counts = np.array([[1000, 1500, 500], [1500, 800, 700], [2000, 500, 500]])
    return estimate_items(KeyValueTally(design, counts, 9000)), design


def _means() -> tuple[Result, Any]:
    design = pckv_ue([RISKY, "coffee"], 3, padding=2, low=1, high=5)
    counts = np.array([[400, 500, 100], [700, 200, 100]])
    return estimate_items(KeyValueTally(design, counts, 1000)).corrected(
        {2: 1.0}
    ).about("mean"), design


def _sums() -> tuple[Result, Any]:
    design = vpp([RISKY, "coffee"], 1)
    return estimate_items(
        tally_items(design, [f"+ {RISKY}", "- coffee", "+ coffee", f"+ {RISKY}"])
    ), design


def _edges() -> tuple[Result, Any]:
    design = one_edge([RISKY, "transport", "nobody's"], 3)
    sent = [f"1 {RISKY}"] * 90 + [f"0 {RISKY}"] * 10 + ["1/2 transport"] * 5
    return estimate_edges(tally_edges(design, sent), population=500), design


def _strings() -> tuple[Result, Any]:
    design = string_design(Bloom(16, hashes=1, cohorts=4), epsilon=4)
    ones, texts = np.zeros((4, 16), np.int64), [RISKY, "other"]
    hit, stray = StringTally(design, ones, np.full(4, 1000)).rates()
    for cohort in range(4):
        shares = np.zeros(16)
        for text, share in zip(texts, (0.7, 0.3), strict=True):
            shares[list(design.bloom.places(text, cohort))] += share
        ones[cohort] = np.rint(1000 * (stray + (hit - stray) * shares))
    return estimate_strings(
        StringTally(design, ones, np.full(4, 1000)), [*texts, "absent"]
    ), design


def _association() -> tuple[Result, Any]:
    design, other = (
        string_design(Bloom(16, hashes=1, cohorts=4), epsilon=4),
        dn.k_ary(["a", RISKY, "c"], epsilon=2),
    )
    rng = np.random.default_rng(3)
    rows = {
        "cohort": np.arange(300) % 4,
        "response": rng.integers(256, size=(300, 2), dtype=np.uint8),
    }
    sent = dn.Responses(
        other,
        {"response": rng.integers(3, size=300).astype(np.uint8)},
        np.arange(300) == 7,
    )
    return association(
        dn.Responses(design, rows), sent, rows=[RISKY, "other"]
    ), PairedDesigns(design, other)


def _drawn_items() -> tuple[Result, Any]:
    design = dn.drawn_items(
        {"smokes": dn.warner(p="3/4"), RISKY: dn.k_ary(["a", RISKY, "c"], p="2/3")}
    )
    return dn.estimate(
        dn.DrawnTally(design, np.array([400, 200, 250, 150, 100]), missing=2)
    ), design


def _drawn_pairs() -> tuple[Result, Any]:
    design = dn.drawn_items(
        {name: dn.warner(p="3/4", categories=["no", RISKY]) for name in "abc"},
        each=2,
    )
    counts = np.array([400, 200, 250, 150, 100, 300, 200, 90, 120, 300, 60, 70])
    return dn.estimate(dn.DrawnTally(design, counts), method="likelihood"), design


def _drawn_table() -> tuple[Result, Any]:
    found, design = _drawn_pairs()
    assert isinstance(found, dn.DrawnEstimate)
    return dn.estimate(found.tally, population=5000).cross_table("c", "a"), design


def _bucket_quantiles() -> tuple[Result, Any]:
    design = dn.bucket_design(0, 80, 2)
    hours = [0.01 * n for n in range(8_000)]
    rows = dn.respond_all(design, hours, source=seeded("quantiles of buckets"))
    return dn.estimate(dn.tally(rows)), design


def _mean() -> tuple[Result, Any]:
    design = dn.number_design(0, 10, 2)
    return dn.estimate(
        dn.tally(
            design,
            dict(zip(design.symbols, [90, 150, 200, 220, 190, 150], strict=True)),
        )
    ).mean, design


def _numbers() -> tuple[Result, Any]:
    design = dn.number_design(0, 10, 2, goal="distribution", levels=5)
    counts = dict(zip(design.symbols, [90, 150, 200, 220, 190], strict=True))
    return dn.estimate(dn.tally(design, counts), quantiles=[0.5, 0.05]), design


def _scrambled() -> tuple[Result, Any]:
    sheet = dn.scrambled("saha", factor=(1, "1/4"), shift={0: "1/2", 3: "1/2"})
    return sheet.estimate([1.5, 4, 0, None, 2.5], population=100), None


def _groups() -> tuple[Result, Any]:
    design = dn.k_ary(["a", RISKY, "c"], epsilon=2)
    counts = {
        RISKY: [150, 90, 60],
        "south": [90, 100, 110],
        None: [3, 2, 1],
        "few": [1, 0, 0],
    }
    tally = dn.GroupedTally(
        design,
        {group: dn.Tally(design, each, missing=2) for group, each in counts.items()},
    )
    return dn.estimate(tally, method="likelihood"), design


def _weighted_groups() -> tuple[Result, Any]:
    design = dn.warner(2, categories=["no", RISKY])
    groups = ["north", "south", RISKY, "north"] * 15
    return dn.estimate(
        dn.tally(
            design, ["no", RISKY, "no"] * 20, by=groups, weights=[1, 2, 3, 4] * 15
        )
    ), design


def _groups_of_numbers() -> tuple[Result, Any]:
    design = dn.number_design(0, 10, 2, levels=2)
    counts = {"north": {"0": 40, "10": 60}, ("south", 2): {"0": 70, "10": 30}}
    tally = dn.GroupedTally(
        design, {group: dn.tally(design, each) for group, each in counts.items()}
    )
    return dn.estimate(tally, quantiles=[0.5]), design


def _differences() -> tuple[Result, Any]:
    found, design = _groups()
    assert isinstance(found, dn.GroupedEstimate)
    return found.pairwise(), design


def _differences_from_the_rest() -> tuple[Result, Any]:
    found, design = _groups_of_numbers()
    assert isinstance(found, dn.GroupedEstimate)
    return found.against_rest(), design


SAMPLE = dn.Sampling(
    [1, 2, 3, 4, 2, 1] * 10,
    strata=["a", "b"] * 30,
    clusters=[at // 6 for at in range(60)],
    replicates="jackknife",
)


def _sampled() -> tuple[Result, Any]:
    design = dn.k_ary([RISKY, "once", "often"], epsilon=2)
    rows = dn.Responses.of(design, [RISKY, "once", RISKY, "often", None, RISKY] * 10)
    return dn.estimate(rows, sampling=SAMPLE), design


def _sampled_total() -> tuple[Result, Any]:
    design = dn.unary([RISKY, "b", "c"], 2)
    rows = dn.Responses(
        design, {"response": np.array([[each % 8] for each in range(60)], np.uint8)}
    )
    return dn.estimate(
        rows, sampling=SAMPLE, by=["north", "south", "south"] * 20
    ).total, design


def _sampled_few() -> tuple[Result, Any]:
    design = dn.kuk("3/5", "1/5", draws=2, categories=["no", RISKY])
    rows = dn.Responses.of(design, [0, 0, 0, 0, 1, 0] * 10, codes=True)
    sample = dn.Sampling(clusters=[at % 4 for at in range(60)])
    return dn.estimate(rows, sampling=sample, inverse=mean_inverse(design)), design


def _sampled_ratio() -> tuple[Result, Any]:
    design = dn.number_design(0, 10, 2)
    rows = dn.Responses.of(design, list(design.symbols) * 10)
    return dn.estimate(rows, sampling=SAMPLE, denominator=[1, 2, 3] * 20), design


def _sampled_scrambled() -> tuple[Result, Any]:
    sheet = dn.scrambled("saha", factor=(1, "1/4"), shift={0: "1/2", 3: "1/2"})
    return sheet.estimate([1.5, 4, 0, None, 2.5, 3] * 10, sampling=SAMPLE), None


def _sampled_devices() -> tuple[Result, Any]:
    designs = {
        "RR": dn.crosswise("1/4", categories=["no", RISKY]),
        "DQ": dn.direct(["no", RISKY]),
    }
    column, devices = (
        ["same", "no", "different", None, "same", RISKY] * 10,
        ["RR", "DQ"] * 30,
    )
    return dn.estimate(
        dn.Responses.of(designs, column, devices=devices), sampling=SAMPLE
    ), None


def _sampled_stages() -> tuple[Result, Any]:
    stages = ladder(
        [
            dn.k_ary(["a", RISKY, "c"], epsilon=1),
            dn.k_ary(["a", RISKY, "c"], epsilon=2),
        ]
    )
    columns = {
        name: np.arange(60, dtype=np.uint8) // each % 3
        for each, name in enumerate(stages.columns, 1)
    }
    return dn.estimate(
        dn.Responses(stages, columns), sampling=SAMPLE, reached=[1, 2] * 30
    ), stages


def _sampled_deck() -> tuple[Result, Any]:
    deck = dn.Deck((20, 5, 35), people=60, categories=("no", RISKY))
    sent = np.array([0] * 22 + [1] * 5 + [2] * 33, np.uint8)
    return dn.estimate(
        dn.Responses(deck, {"response": sent}, np.arange(60) == 7), sampling=SAMPLE
    ), deck


def _sampled_deck_total() -> tuple[Result, Any]:
    deck = dn.Deck((20, 0, 40), people=60, categories=("no", RISKY))
    sent = np.array([0, 2, 2] * 20, np.uint8)
    return dn.estimate(
        dn.Responses(deck, {"response": sent}), sampling=SAMPLE
    ).total, deck


def _sampled_drawn() -> tuple[Result, Any]:
    design = dn.drawn_items(
        {"smokes": dn.warner(p="3/4"), RISKY: dn.k_ary(["a", RISKY, "c"], p="2/3")}
    )
    return dn.estimate(
        dn.Responses(design, {"response": np.arange(60, dtype=np.uint8) % 5}),
        sampling=SAMPLE,
    ), design


def _sampled_tally() -> tuple[Result, Any]:
    design = dn.warner(2, categories=["no", RISKY])
    return dn.estimate(
        dn.tally(design, ["no", RISKY, "no", "no"] * 5, weights=[1, 2, 3, 4] * 5)
    ), design


def _sampled_differences() -> tuple[Result, Any]:
    design = dn.k_ary([RISKY, "once", "often"], epsilon=2)
    rows = dn.Responses.of(design, [RISKY, "once", RISKY, "often", None, RISKY] * 10)
    found = dn.estimate(rows, sampling=SAMPLE, by=["north", "south", "south"] * 20)
    return found.pairwise(), design


def _sampled_table() -> tuple[Result, Any]:
    design = dn.k_ary([RISKY, "once", "often"], epsilon=2)
    rows = dn.Responses.of(design, [RISKY, "once", RISKY, "often", None, RISKY] * 10)
    other = dn.Responses.of(dn.warner(2), ["no", "yes", "no", "yes", "no"] * 12)
    found = dn.cross_table(rows, other, rows="a", columns="b", sampling=SAMPLE)
    return found, found.design


def _sampled_odds() -> tuple[Result, Any]:
    found, design = _sampled_table()
    assert isinstance(found, dn.Table)
    return found.odds_ratio(found.row_labels[:2], found.column_labels[:2]), design


def _sampled_correlation() -> tuple[Result, Any]:
    design = dn.warner(2, categories=["no", RISKY])
    rows = dn.Responses.of(design, ["no", RISKY, "no", "no", None] * 12)
    return dn.correlation(
        rows, [at * 7 % 11 for at in range(60)], sampling=SAMPLE
    ), design


def _mean_of_stages() -> tuple[Result, Any]:
    stages = ladder(
        dn.number_design(0, 10, epsilon, levels=2) for epsilon in (0.5, 2)
    )
    columns = [["0"] * 40 + ["10"] * 60, ["0"] * 15 + ["10"] * 35 + [None] * 50]
    return mean(
        combine(count_stages(stages, columns, reached=[2] * 50 + [1] * 50))
    ), stages


def _variance() -> tuple[Result, Any]:
    first, design = _mean()
    assert isinstance(first, dn.Statistic)
    squares = dict(
        zip(design.squared.symbols, [150, 180, 220, 190, 150, 110], strict=True)
    )
    return spread(first, dn.estimate(dn.tally(design.squared, squares)).mean), design


def _cheating() -> tuple[Result, Any]:
    categories = ["no", RISKY]
    first, second = (
        dn.forced_response("4/5", "1/5", categories=categories),
        dn.devore("1/5", categories=categories),
    )
    return dn.compliance.cheating_detection(
        [dn.Tally(first, [210, 90], missing=3), dn.Tally(second, [110, 190])]
    ), None


def _cheating_at_the_border() -> tuple[Result, Any]:
    return dn.compliance.cheating_detection(
        forced_yes=["1/5", "4/5"], yes=[58, 246], respondents=[300, 300]
    ), None


def _cheating_by_all() -> tuple[Result, Any]:
    return dn.compliance.one_sayers(p="1/4", same=[0, 0], respondents=[10, 12]), None


def _lie_detector() -> tuple[Result, Any]:
    return dn.compliance.lie_detector(
        truth=["1/6", "5/6"], yes=[373, 398], respondents=[564, 692]
    ), None


def _extended_crosswise() -> tuple[Result, Any]:
    return dn.compliance.extended_crosswise(
        p="1/4", same=[190, 50], respondents=[250, 240]
    ), None


def _control_item() -> tuple[Result, Any]:
    return dn.compliance.anchored_crosswise(
        p=0.15, anchor=0.1, table=[[90, 420], [260, 1230]]
    ), None


def _control_item_by_margins() -> tuple[Result, Any]:
    return dn.compliance.anchored_crosswise(
        p="1/5", same=640, anchor_same=780, respondents=1000, guess="3/5"
    ), None


def _self_protection() -> tuple[Result, Any]:
    items = dn.product(
        {name: dn.forced_response("2/3", "1/6", "1/6") for name in ("a", RISKY, "c")}
    )
    return dn.compliance.self_protection(
        dn.Tally(items, [300, 60, 50, 15, 70, 20, 18, 7], missing=2)
    ), None


def _sum_scores() -> tuple[Result, Any]:
    return dn.compliance.sum_scores(
        dn.forced_response("3/5", "1/5", "1/5"), [310, 250, 120, 40, 8]
    ), None


def _poisson_sums() -> tuple[Result, Any]:
    design = dn.forced_response("3/5", "1/5", "1/5")
    return dn.compliance.sum_scores(
        design, [310, 250, 120, 40, 8], law="poisson"
    ), None


def _free_sums() -> tuple[Result, Any]:
    return dn.compliance.sum_scores(
        dn.forced_response("3/5", "1/5", "1/5"), [90, 80, 40, 12], law="free"
    ), None


def sampled_rows(design: dn.Design, seed: int) -> dn.Responses[dn.Design]:
    codes = (
        np.random.default_rng(seed)
        .integers(design.channel.cells, size=120)
        .astype(np.uint8)
    )
    return dn.Responses(design, {"response": codes}, np.arange(120) == 7)


DRAWN: dict[str, Any] = {
    "strata": np.repeat(["north", "south"], 60),
    "clusters": np.repeat(np.arange(12), 10),
}


def _sampled_cheating() -> tuple[Result, Any]:
    groups = [
        sampled_rows(dn.forced_response("1/2", up), seed)
        for seed, up in enumerate(["1/10", "4/10"])
    ]
    samples = [dn.Sampling(np.arange(120) % 5 + 1, **DRAWN) for _ in groups]
    return dn.compliance.cheating_detection(groups, sampling=samples), None


def _sampled_crosswise() -> tuple[Result, Any]:
    groups = [
        sampled_rows(dn.crosswise(p), seed) for seed, p in enumerate(["1/4", "3/4"])
    ]
    both = {name: np.concatenate([each, each]) for name, each in DRAWN.items()}
    drawn = dn.Sampling(np.arange(240) % 5 + 1, replicates="jackknife", **both)
    return dn.compliance.extended_crosswise(groups, sampling=drawn), None


def _sampled_control_item() -> tuple[Result, Any]:
    both = dn.product({"habit": dn.crosswise("1/4"), RISKY: dn.direct()})
    return dn.compliance.control_item(
        dn.tally(sampled_rows(both, 5), weights=np.arange(120) % 3 + 1)
    ), None


def _sampled_self_protection() -> tuple[Result, Any]:
    items = dn.product(
        {name: dn.forced_response("2/3", "1/6", "1/6") for name in ("a", RISKY, "c")}
    )
    return dn.compliance.self_protection(
        sampled_rows(items, 6), sampling=dn.Sampling(**DRAWN)
    ), None


def _sampled_sums() -> tuple[Result, Any]:
    items = dn.product(
        {name: dn.forced_response("2/3", "1/6", "1/6") for name in "abc"}
    )
    return dn.compliance.sum_scores(
        sampled_rows(items, 7), sampling=dn.Sampling(**DRAWN), law="poisson"
    ), None


def _arms() -> tuple[Result, Any]:
    categories = ["never", RISKY, "often"]
    arm = dn.Tally(dn.k_ary(categories, epsilon=2), [150, 90, 60], missing=1)
    return dn.compliance.compare_arms(
        arm, dn.Tally(dn.direct(categories), [200, 30, 10])
    ), None


def _posterior() -> tuple[Result, Any]:
    design = dn.forced_response("2/3", "1/6", "1/6", categories=["no", RISKY])
    return dn.posterior(
        dn.Tally(design, [230, 70], missing=2), prior={"no": 2, RISKY: 0.5}
    ), design


def _posterior_draws() -> tuple[Result, Any]:
    design = dn.k_ary([RISKY, "once", "often"], epsilon=5)
    return dn.posterior(
        dn.Tally(design, [150, 90, 60]), draws=np.random.default_rng(5)
    ), design


MADE: dict[str, Callable[[], tuple[Result, Any]]] = {
    name.removeprefix("_"): made
    for name, made in list(globals().items())
    if inspect.isfunction(made)
    and made.__module__ == __name__
    and name.startswith("_")
    and name != "_types"
}


def _types(base: type[Result] = Result) -> set[type[Result]]:
    """Every type of result that can be made."""
    below = {each for sub in base.__subclasses__() for each in _types(sub)}
    return below | (set() if inspect.isabstract(base) else {base})


@cache
def made(name: str) -> tuple[Result, Any]:
    return MADE[name]()


@pytest.fixture(params=sorted(MADE))
def both(request: pytest.FixtureRequest) -> tuple[Result, Any]:
    return made(request.param)


@pytest.fixture
def result(both: tuple[Result, Any]) -> Result:
    return both[0]


def lacking(kind: type[Any]) -> list[str]:
    """Return the members that a type lacks, or has as something else than every other type."""
    properties = [
        name for name in PROPERTIES if callable(getattr(kind, name, print))
    ]
    methods = [name for name in METHODS if not callable(getattr(kind, name, None))]
    shaped = [
        name
        for name in METHODS
        if callable(getattr(kind, name, None))
        and not set(inspect.signature(getattr(Result, name)).parameters)
        <= set(inspect.signature(getattr(kind, name)).parameters)
    ]
    return [*properties, *methods, *shaped]


def test_every_type_is_tried() -> None:
    # first: some types are loaded when they are made
    tried = {type(made(name)[0]) for name in MADE}
    ours = {kind for kind in _types() if kind.__module__.startswith("deniable.")}
    assert tried == ours
    assert {made(name)[0].type for name in MADE} == set(result_types())


@pytest.mark.parametrize("kind", sorted(_types(), key=lambda kind: kind.__name__))
def test_every_type_has_every_member(kind: type[Result]) -> None:
    assert issubclass(kind, Result)
    assert lacking(kind) == []


def test_a_type_that_lacks_or_misnames_a_member_is_found() -> None:
    """Faults planted: one left out, one under another name, one with other parameters, one that is no property."""

    class Misnamed:
        params = bse = warnings = property(lambda _: {})
        cov_params = summary = to_frame = to_json = from_json = plot = (
            _repr_html_
        ) = Estimate.summary
        confidence_intervals = Estimate.conf_int

    class Positional(Estimate):
        def conf_int(self, level: float = 0.95) -> Any:  # type: ignore[override]
            return super().conf_int(level=level)

    class Called(Estimate):
        def bse(self) -> Any:  # type: ignore[override]
            return {}

    assert "conf_int" in lacking(Misnamed)
    assert lacking(Positional) == ["conf_int"]
    assert lacking(Called) == ["bse"]


def test_numbers_errors_and_intervals_have_the_same_names(result: Result) -> None:
    names = list(result.params)
    assert names
    assert all(isinstance(name, str) for name in names)
    assert all(
        isinstance(value, float)
        for value in (*result.params.values(), *result.bse.values())
    )
    intervals = result.conf_int()
    assert list(result.bse) == list(intervals) == names
    assert all(isinstance(each, Interval) for each in intervals.values())
    for name in names:
        if np.isfinite(result.params[name]):
            assert result.bse[name] >= 0
            assert result.interval(name) == intervals[name]
    with pytest.raises(InvalidRequest, match="was not estimated"):
        result.interval("nothing of this name")


def test_the_covariance_matrix_has_the_order_of_the_numbers(result: Result) -> None:
    matrix = result.cov_params()
    assert matrix.shape == (len(result.params),) * 2
    assert matrix.dtype == np.float64
    errors = np.array(list(result.bse.values()))
    known = np.isfinite(errors) & (np.diagonal(matrix) > 0)
    assert np.sqrt(np.diagonal(matrix)[known]) == pytest.approx(errors[known])
    assert np.allclose(matrix, matrix.T, equal_nan=True)
    matrix[:] = 7  # somebody's own copy
    assert not (result.cov_params() == 7).all()


def test_intervals_grow_with_their_level(result: Result) -> None:
    narrow, wide, together = (
        np.array(list(each.values()))
        for each in (
            result.conf_int(level=0.5),
            result.conf_int(level=0.99),
            result.conf_int(simultaneous=True),
        )
    )
    known = np.isfinite(narrow).all(axis=1)
    assert (wide[known, 0] <= narrow[known, 0]).all()
    assert (narrow[known, 1] <= wide[known, 1]).all()
    alone = np.array(list(result.conf_int().values()))
    assert (
        np.ptp(together[known], axis=1) >= np.ptp(alone[known], axis=1) - 1e-12
    ).all()
    for level in (0, 1, 95, float("nan")):
        with pytest.raises(InvalidRequest, match="level"):
            result.conf_int(level=level)
    with pytest.raises(InvalidRequest, match="method"):
        result.conf_int(method="bootstrap")


def test_the_level_of_one_and_of_all_intervals_is_honoured(result: Result) -> None:
    """Each interval is strictly wider at a larger level, and together: no type may ignore either option."""
    half, most, together, widest = (
        np.ptp(
            np.array(
                list(
                    result.conf_int(level=level, simultaneous=simultaneous).values()
                )
            ),
            axis=1,
        )
        for level, simultaneous in (
            (0.5, False),
            (0.9, False),
            (0.9, True),
            (0.9999, False),
        )
    )
    # these lie between two levels
    continuous = np.array(["quantile" not in name for name in result.params])
    known = continuous & np.isfinite(most) & (most < widest) & (most > 1e-12)
    assert (half < most)[known].all()
    covariance = np.nan_to_num(result.cov_params())
    if (
        np.linalg.matrix_rank(
            covariance, tol=max(1e-9 * np.trace(covariance), 1e-20)
        )
        > 1
    ):  # else one tells all
        assert (most < together)[known].all()


REFUSED = "credible intervals|found anew|cards that are dealt|population"
"""Why some results have no always-valid intervals."""


def _depends(result: Result) -> bool:
    """Whether responses of one person depend on those of others: cards of one deck, or people of a population."""
    evidence = getattr(result, "evidence", None)
    population = getattr(result._subject(), "population", None)
    return bool(getattr(evidence, "dependent", "") or population)


def test_always_valid_intervals_are_wider_or_refused_by_name(result: Result) -> None:
    """No type may ignore `always`, nor `planned` with it: more is planned, and the interval is another one."""
    ask = partial(result.conf_int, always=True, level=0.9)
    if type(result).__name__ in {"Posterior", "StringEstimate"} or _depends(result):
        with pytest.raises(
            InvalidRequest, match=f"always is True for .*({REFUSED})"
        ):
            ask()
    else:
        _check_always_valid(result, ask)


def _check_always_valid(
    result: Result, ask: Callable[..., dict[str, Interval]]
) -> None:
    bounds = [ask(planned=planned) for planned in (50, 100_000)]
    usual, late = (np.array(list(each.values())) for each in bounds)
    fixed = np.array(list(result.conf_int(level=0.9).values()))
    # those that are known, and not cut at an end of the possible values
    known = np.isfinite(fixed).all(axis=1) & (np.ptp(fixed, axis=1) > 1e-12)
    if result.summary().quantity in ("share", "frequency"):
        known &= (usual > 0).all(axis=1) & (usual < 1).all(axis=1)
    # one by one a difference may be narrower: always-valid shares end at 0 and 1
    assert np.ptp(usual[known], axis=1).sum() >= np.ptp(fixed[known], axis=1).sum()
    assert (usual != late)[known].any() or not known.any()


def test_warnings_are_data(result: Result) -> None:
    assert isinstance(result.warnings, tuple)
    for each in result.warnings:
        assert isinstance(each, Caution)
        assert each.code
        assert " " not in each.code
        assert not each.text.startswith("Warning")
        assert f"Warning: {each.text}" in str(result.summary())


def test_what_tells_nothing_is_doubted() -> None:
    found, _ = _few()
    assert [each.code for each in found.warnings] == ["few"]
    assert "4 responses are too few" in found.warnings[0].text


def test_the_summary_tells_the_same_numbers(result: Result) -> None:
    summary = result.summary(level=0.9)
    assert isinstance(summary, Summary)
    assert summary.level == 0.9
    intervals = result.conf_int(level=0.9)
    for row in summary.rows:
        told = (row.estimate, row.error, row.low, row.high)
        expected = (
            result.params[row.name],
            result.bse[row.name],
            *intervals[row.name],
        )
        assert told == pytest.approx(expected, nan_ok=True)
    assert summary.title in str(summary)
    heads, cells = summary.table()
    assert [name for name, *_ in cells] == [row.name for row in summary.rows]
    assert all(len(row) == len(heads) for row in cells)
    assert all(cell in str(summary) for row in cells for cell in row)


def test_the_frame_has_a_row_for_each_name(result: Result) -> None:
    frame = result.to_frame(level=0.9)
    assert list(frame.columns[:4]) == ["estimate", "error", "low", "high"]
    assert list(frame.index) == list(result.params)
    assert frame["estimate"].tolist() == pytest.approx(
        list(result.params.values()), nan_ok=True
    )
    ends = list(zip(frame["low"], frame["high"], strict=True))
    assert np.array(ends) == pytest.approx(
        np.array(list(result.conf_int(level=0.9).values())), nan_ok=True
    )


def test_without_pandas_the_frame_says_what_to_install(
    result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(MissingExtra, match="pip install pandas"):
        result.to_frame()


def test_json_has_one_shape_and_is_read_back(both: tuple[Result, Any]) -> None:
    result, design = both
    text = result.to_json(level=0.9)
    body = json.loads(text)
    assert body["schema"] == "deniable/result/1"
    assert {"type", "design", "quantity", "method", "respondents", "missing", "level", "interval", "warnings",
            "epsilon", "simultaneous", "title", "notes", "source", "hash"} <= set(body)  # fmt: skip
    assert body["design"] == ("" if design is None else design.hash)
    assert [row["name"] for row in body["rows"]] == list(result.params)
    for row, value in zip(body["rows"], result.params.values(), strict=True):
        assert list(row)[:5] == ["name", "estimate", "error", "low", "high"]
        assert row["estimate"] == (value if np.isfinite(value) else None)
    assert body["warnings"] == [
        {"code": each.code, "text": each.text} for each in result.warnings
    ]
    again = type(result).from_json(text, design)
    assert again == result
    assert hash(again) == hash(result)
    assert again.to_json(level=0.9) == text
    assert np.array_equal(again.cov_params(), result.cov_params(), equal_nan=True)


def test_another_design_and_another_type_are_refused(
    both: tuple[Result, Any],
) -> None:
    result, design = both
    with pytest.raises(Incompatible):
        type(result).from_json(result.to_json(), dn.k_ary(7, 1))
    with pytest.raises(UnreadableFile):
        type(result).from_json(result.to_json()[:-20], design)
    other = made("strings" if isinstance(result, dn.Estimate) else "shares")[0]
    with pytest.raises(UnreadableFile, match="expected"):
        type(result).from_json(other.to_json(), design)
    assert result != other
    assert result != "a result"


def test_the_picture_has_a_title_and_labels(result: Result) -> None:
    figure = result.plot(level=0.9)
    assert isinstance(figure, Figure)
    axes = figure.axes[0]
    assert axes.get_title(loc="left")
    assert re.search("90% (credible )?intervals", figure.axes[-1].get_xlabel())
    drawn = {
        each.get_text() for axes in figure.axes for each in axes.get_yticklabels()
    }
    assert drawn == {
        row.name for row in result.summary().rows if "Intercept" not in row.name
    }
    assert (
        result.plot(title="Who smokes?")
        .axes[0]
        .get_title(loc="left")
        .startswith("Who smokes?")
    )
    assert to_hex(result.plot(dark=True).get_facecolor()) == DARK["#ffffff"]


def test_notebooks_are_shown_an_escaped_table(result: Result) -> None:
    page = result._repr_html_()
    assert page == result.to_html()
    assert page.startswith('<div class="deniable"><style>')
    assert "<table><caption>" in page
    assert "<b>" not in page
    if RISKY in result.params:
        assert "=&lt;b&gt;&amp;|_%" in page


def test_every_format_has_every_number(result: Result) -> None:
    rows = list(csv.DictReader(io.StringIO(result.to_csv())))
    assert [row["name"].removeprefix("'") for row in rows] == list(result.params)
    told = [float(row["estimate"] or "nan") for row in rows]
    assert told == pytest.approx(list(result.params.values()), nan_ok=True)
    summary = result.summary()
    for text in (summary.to_latex(), summary.to_markdown()):
        assert len(
            [
                line
                for line in text.splitlines()
                if line.count("&") > 1 or line.count(" | ") > 1
            ]
        ) > len(summary.rows)
    assert r"\begin{tabular}" in result.to_latex()
    assert not set(result.to_latex()) - READ_BY_LATEX
    assert result.to_markdown().startswith("**")
    assert "<b>" not in result.to_markdown().replace(r"\<b\>", "")


# what comes before how a variance was found
SAMPLED = "Hájek", "Horvitz–Thompson", "ratio", "expanded", "moments", "hull"


def test_the_methods_paragraph_has_the_numbers_of_the_object(result: Result) -> None:
    told, summary = dn.report.methods(result, level=0.9), result.summary(level=0.9)
    counted = re.search(r"([\d,]+) responses were counted", told)
    assert counted is not None
    assert int(counted[1].replace(",", "")) == summary.respondents
    nothing = re.search(r"([\d,]+) (?:people|person) sent nothing", told)
    assert (
        0 if nothing is None else int(nothing[1].replace(",", ""))
    ) == summary.missing
    epsilon = re.search(r"ε-local differential privacy with ε = ([\d.]+)\)", told)
    if epsilon is not None:
        # rounded up
        assert summary.epsilon <= float(epsilon[1]) <= summary.epsilon * 1.001 + 1e-9
    else:
        assert (
            "no finite ε" in told
            or isinstance(getattr(result, "design", None), dn.Deck)
            or result.type in ("deck", "prevalence")  # of which no ε is claimed
        )
    assert "90% intervals" in told
    assert f"deniable {dn.__version__}" in told
    weighing, _, errors = summary.method.partition(", ")
    variance = errors if weighing in SAMPLED else ""
    model = (
        "regression of the answers"
        if result.type == "regression"
        else result_texts.estimator(summary.method)
    )
    assert (f"(variance: {variance})" if variance else model) in told
    assert "; then linearized" not in told
    assert bool(variance or weighing == "pseudo-likelihood") == (
        "from a sample of" in told
    )
    assert not re.search(r"\. [a-z]|  |\(\)", told.replace("sha256", ""))


def test_the_sentence_has_the_numbers_of_the_object(result: Result) -> None:
    summary = result.summary(level=0.9)
    grouped = isinstance(result, dn.GroupedEstimate | dn.SampledEstimate) and bool(
        result.groups
    )
    for row in summary.rows[:3]:
        told = dn.report.sentence(result, row.name, level=0.9)
        group, _, own = row.name.rpartition(" · ") if grouped else ("", "", row.name)
        assert own in told or own == summary.quantity
        assert told.startswith(f"In {group} " if group else ("An", "The", "How"))
        people = re.search(r"([\d,]+) responses", told)
        assert people is not None
        n = int(people[1].replace(",", ""))
        assert n == summary.respondents or (grouped and n < summary.respondents)
        check_sentence(told, row, summary.possible(row.name))
    if not grouped:  # a table does not know which group has how many responses
        assert dn.report.sentence(result)[:-1] in dn.report.sentence(
            result.summary()
        )
    with pytest.raises(InvalidRequest, match="was not estimated"):
        dn.report.sentence(result, "nothing of this name")


def test_a_result_is_a_frozen_value(result: Result) -> None:
    for field in dataclasses.fields(result):  # type: ignore[arg-type]
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(result, field.name, None)
    assert pickle.loads(pickle.dumps(result)) == result

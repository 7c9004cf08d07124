"""Pictures and tables of graphs: what is drawn is what was estimated."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

from deniable.errors import InvalidRequest, NotEstimable
from deniable.estimates.formats import sheet
from deniable.rendering.terminal import to_rich
from deniable.report.graphs import against_truth, weighted_graph
from deniable.types.edges.count import EdgeTally
from deniable.types.edges.design import one_edge
from deniable.types.edges.estimate import estimate as estimate_edges
from deniable.types.key_value.count import KeyValueTally, tally
from deniable.types.key_value.design import lpp_club, vpp
from deniable.types.key_value.estimate import ItemEstimate, estimate

ITEMS = ["tea", "coffee with a name that is far too long for a line", "milk"]


def made(**options: object) -> ItemEstimate:
    design = lpp_club(ITEMS, 2, **options)  # type: ignore[arg-type]
    counts = np.array([[2000, 1800, 500], [3000, 900, 600], [3300, 440, 450]])
    return estimate(KeyValueTally(design, counts, int(counts.sum())))


def texts(figure) -> str:  # type: ignore[no-untyped-def]
    found = [each.get_text() for axes in figure.axes for each in axes.texts]
    found += [axes.get_title(loc="left") for axes in figure.axes]
    found += [axes.get_xlabel() + axes.get_ylabel() for axes in figure.axes]
    found += [
        each.get_text()
        for axes in figure.axes
        if axes.get_legend()
        for each in axes.get_legend().get_texts()
    ]
    return "\n".join([*found, figure.get_suptitle()])


def shown(table: object) -> str:
    out = io.StringIO()
    Console(file=out, width=100).print(table)
    return out.getvalue()


def test_estimates_against_the_truth() -> None:
    found = made()
    degree = dict(zip(ITEMS, found.degree.tolist(), strict=True)) | {"tea": 1.0}
    figure = against_truth(
        found, degree=degree, mean=dict(zip(ITEMS, found.mean.tolist(), strict=True))
    )
    assert len(figure.axes) == 2
    drawn = [line for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert sorted(
        float(x) for line in drawn for x in line.get_xdata()
    ) == pytest.approx(sorted(degree.values()))
    told = texts(figure)
    assert "interval holds the truth (2)" in told
    assert "it does not (1)" in told
    assert "true degree of an item" in told
    assert "1 items with a degree within noise of 0 left out" in told
    assert len(against_truth(found, degree=degree, title="one").axes) == 1


def test_the_graph_with_what_is_uncertain() -> None:
    found = made()
    figure = weighted_graph(found, count=3)
    told = texts(figure)
    assert f"{found.respondents:,} people" in told
    assert "unknown" in told  # the mean of an item within noise
    assert "coffee with a name that is far to…" in told
    assert f"{found.mean[0]:.2f} ± {found.errors('mean')[0]:.2f}" in told
    curves = figure.axes[0].lines[:3]
    widths = [line.get_linewidth() for line in curves]
    # upper end, estimate, lower end of the first item
    assert widths[0] > widths[1] > widths[2] > 0
    low, high = next(iter(found.about("degree").conf_int().values()))
    assert widths[2] / widths[0] == pytest.approx(low / high)
    assert widths[1] / widths[0] == pytest.approx(found.degree[0] / high)
    assert len(figure.axes) == 2  # with a scale of colors
    # and without, where weights are not told
    assert len(weighted_graph(made(importance="frequency")).axes) == 1
    for wrong in (0, 41):
        with pytest.raises(InvalidRequest, match="1 to 40"):
            weighted_graph(found, count=wrong)
    with pytest.raises(NotEstimable):
        weighted_graph(estimate(tally(vpp(2, 1), ["+ 0", "- 1"])))


def test_tables_of_items() -> None:
    table = shown(to_rich(sheet(made(low=1, high=5).summary(count=2))))
    assert "The largest 2 of 3." in table
    assert "frequency" in table
    assert "tea" in table
    sums = shown(
        to_rich(
            sheet(estimate(tally(vpp(["[b]", "c"], 1), ["+ [b]", "- c"])).summary())
        )
    )
    assert "weight" in sums
    assert "[b]" in sums
    assert "frequency" not in sums


def test_tables_of_one_edge_each() -> None:
    found = estimate_edges(
        EdgeTally(
            one_edge(["tax", "transport", "none"], 1),
            np.array([[1, 2, 3], [9, 9, 9], [0] * 3]),
        )
    )
    table = shown(to_rich(sheet(found.summary(count=3))))
    assert table.index("transport") < table.index("tax") < table.index("none")
    assert "—" in table  # no edges, no mean

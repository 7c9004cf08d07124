"""Everything that people look at has a table in every format and a picture, light and dark, with names as given."""

from __future__ import annotations

import csv
import html
import inspect
import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from typing import Any, ClassVar

import numpy as np
import pytest
from matplotlib.cbook import is_math_text
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text

import deniable as dn
from deniable.attacks.inference import error_rates
from deniable.designs import FAMILIES
from deniable.estimates.results import Result, Summary
from deniable.order.blackwell import Order
from deniable.plan import Choice, Comparison, ItemsChoice, Planned
from deniable.rendering import Rendered
from deniable.rendering.pictures import DARK, Picture
from deniable.tallies.decks import DeckTally
from deniable.tallies.stages import StageTallies, count_stages
from deniable.types.drawn.design import DrawnDesign
from deniable.types.drawn.form import page_design
from deniable.types.edges.count import EdgeTally
from deniable.types.edges.design import EdgeDesign
from deniable.types.key_value.count import KeyValueTally
from deniable.types.key_value.design import KeyValueDesign
from deniable.types.numbers.count import NumberTally
from deniable.types.strings.count import NoisyTally, StringTally
from deniable.types.strings.design import StringDesign
from tests.support.types import TYPES

RISKY = "=<script>&|_%${}\\\n[x]"
"""A name that means something to spreadsheets, HTML, Markdown and LaTeX, and has a line break."""


def _design() -> Any:
    return dn.k_ary([RISKY, "once", "often"], epsilon=2)


def _ladder() -> Any:
    return dn.ladder(
        [dn.k_ary(["a", RISKY], epsilon=1), dn.k_ary(["a", RISKY], epsilon=2)]
    )


MADE: dict[str, Callable[[], Any]] = {
    "design": _design,
    "product": lambda: dn.product({RISKY: dn.warner(p="3/4"), **{f"q{n}": dn.warner(p="3/4") for n in range(4)}}),
    "deck": lambda: dn.Deck((40, 10, 50), people=100, categories=("no", RISKY)),
    "ladder": _ladder,
    "drawn": lambda: dn.drawn_items({"smokes": dn.warner(p="3/4"), RISKY: dn.warner(p="2/3")}),
    "fielded": lambda: page_design(MADE["drawn"]()),
    "buckets": lambda: dn.bucket_design(0, 10, 2, count=16),
    "items": lambda: dn.lpp_club([RISKY, "milk"], 1),
    "padded items": lambda: dn.pckv_grr([RISKY, "milk"], 3, padding=2),
    "edges": lambda: dn.one_edge([RISKY, "tax"], 3),
    "strings": lambda: dn.string_design(dn.Bloom(16, hashes=1, cohorts=4), epsilon=4),
    "numbers": lambda: dn.number_design(0, 10, 2),
    "many levels": lambda: dn.number_design(0, 100, 2, levels=30, goal="distribution"),
    "tally": lambda: dn.Tally(_design(), [150, 90, 60], missing=7),
    "tally of sums": lambda: dn.tally(dn.respond_all(dn.rappor([RISKY, *map(str, range(40))], 3), ["1"] * 30)),
    "tally of numbers": lambda: dn.tally(dn.number_design(0, 10, 2, levels=2), ["0", "10"]),
    "tally of drawn": lambda: dn.DrawnTally(MADE["drawn"](), np.array([400, 200, 250, 150]), missing=2),
    "tally of buckets": lambda: dn.tally(dn.respond_all(MADE["buckets"](), [1.0, 2.5] * 20)),
    "tally of a deck": lambda: DeckTally(MADE["deck"](), np.array([40, 10, 48]), missing=2),
    "tallies of stages": lambda: count_stages(
        _ladder(), [["a"] * 60 + [RISKY] * 40, ["a"] * 50 + [None] * 50], reached=[2] * 50 + [1] * 50
    ),
    "weighted tally": lambda: dn.tally(_design(), ["once", RISKY, None, "once"], weights=[1, 2.5, 3, 4]),
    "tally of groups": lambda: dn.tally(_design(), ["once", RISKY, None, "once"], by=[RISKY, None, "=1+1", ""]),
    "sensitivity": lambda: dn.estimate(dn.Tally(dn.warner(1, categories=["no", RISKY]), [150, 90])).sensitivity(),
    "tally of items": lambda: KeyValueTally(MADE["items"](), np.array([[10, 15, 5], [15, 8, 7]]), 60),
    "tally of edges": lambda: dn.tally(MADE["edges"](), ["0 tax", "1/2 tax", f"1 {RISKY}"]),
    "tally of strings": lambda: StringTally(MADE["strings"](), np.full((4, 16), 30), np.full(4, 100)),
    "tally of samples": lambda: NoisyTally(
        dn.Bloom(16, cohorts=4), dn.NoisySampling.of("3/4", "7/10", "4/10"), 2, np.full((4, 16), 30), np.full(4, 100)
    ),
    "comparison": lambda: dn.plan.compare({RISKY: dn.warner(1), "deck": dn.integer_deck(100, 1)}, 100, shares=[.9, .1]),
    "choice": lambda: dn.optimal([RISKY, "green", "blue"], 0.5),
    "choice of items": lambda: dn.plan.optimal_items({RISKY: 2, "b": 2, "c": 2}, 1),
    "crossing": lambda: dn.plan.crossover(dn.warner(2), share=0.1, lying=0.3),
    "how many": lambda: dn.plan.how_many(dn.warner(1), share=0.1, width=0.1),
    "order": lambda: dn.compare(dn.k_ary(4, epsilon=2), dn.k_ary(4, epsilon=1)),
    "equal": lambda: dn.compare(dn.subset(4, 1), dn.k_ary(4, epsilon=1)),
    "error rates": lambda: error_rates(dn.ladder([dn.k_ary([RISKY, "b", "c"], epsilon=1)])),
    "side by side": lambda: dn.report.side_by_side({RISKY: dn.estimate(MADE["tally"]())}),
    "summary": lambda: dn.estimate(MADE["tally"]()).summary(),
    "estimate": lambda: dn.estimate(MADE["tally"]()),
}  # fmt: skip


@cache
def made(name: str) -> Any:
    return MADE[name]()


@pytest.fixture(params=sorted(MADE))
def thing(request: pytest.FixtureRequest) -> Any:
    return made(request.param)


class Tags(HTMLParser):
    """What a page is made of: its tags, and its text."""

    KNOWN: ClassVar[set[str]] = {
        "div", "style", "table", "caption", "thead", "tbody", "tr", "th", "td", "p", "svg", "line", "circle",
    }  # fmt: skip

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002 - as called
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def _kinds(base: type[Any] = Rendered) -> set[type[Any]]:
    below = {each for sub in base.__subclasses__() for each in _kinds(sub)}
    return below | (set() if inspect.isabstract(base) else {base})


def test_every_type_is_tried() -> None:
    tried = {type(made(name)) for name in MADE}
    shown = {kind for kind in _kinds() if kind.__module__.startswith("deniable.")}
    # those have a suite of their own
    ours = {kind for kind in shown if not issubclass(kind, Result | Summary)}
    names = {kind.__qualname__ for kind in ours} - {
        "Rendered",
        "AnyDesign",
        "AdditiveTally",
        "Summary",
    }
    assert names - {kind.__qualname__ for kind in tried} == set(), (
        "enter a new type that people look at above"
    )
    assert {
        dn.Design,
        dn.NumberDesign,
        dn.Deck,
        dn.Ladder,
        DrawnDesign,
        KeyValueDesign,
        EdgeDesign,
        StringDesign,
    } <= tried
    assert {
        dn.Tally,
        NumberTally,
        DeckTally,
        StageTallies,
        KeyValueTally,
        EdgeTally,
        StringTally,
        NoisyTally,
    } <= tried
    assert {Summary, Order, Planned, Choice, Comparison, ItemsChoice} <= tried


def test_a_type_that_cannot_be_looked_at_is_found() -> None:
    """The fault planted: something that is to be rendered, of which nobody knows how."""

    class Unknown(Rendered):
        pass

    for look in (Unknown().to_html, Unknown().to_csv, Unknown().plot):
        with pytest.raises(dn.errors.InvalidRequest, match="there is no"):
            look()
    assert Unknown in _kinds()


def test_html_is_escaped_whole_and_has_a_caption(thing: Any) -> None:
    page = thing._repr_html_()
    found = Tags(page)
    assert set(found.tags) <= Tags.KNOWN
    assert found.tags.count("caption") == 1
    assert "<script" not in page
    assert page.count("<tr>") > 1
    # colours are those of the page around it
    assert "currentColor" in page or "stroke" not in page


def test_latex_compiles_in_shape(thing: Any) -> None:
    """Every special letter is escaped, every row has as many cells as there are columns, and braces match."""
    text = thing.to_latex()
    columns = re.search(r"\\begin\{tabular\}\{(l[lr]*)\}", text)
    assert columns is not None
    body = text.split(r"\toprule")[1].split(r"\bottomrule")[0]
    rows = [line for line in body.splitlines() if line.endswith(r"\\")]
    assert len(rows) > 1
    for row in rows:
        assert len(re.findall(r"(?<!\\)&", row)) == len(columns[1]) - 1
    bare = re.sub(r"\\[&%$#_{}\\]", "", text)
    assert bare.count("{") == bare.count("}")
    assert "#" not in bare
    assert "%" not in bare
    assert "_" not in bare


def test_markdown_keeps_its_columns(thing: Any) -> None:
    lines = [
        line for line in thing.to_markdown().splitlines() if line.startswith("|")
    ]
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in lines}
    assert len(lines) > 2
    assert len(widths) == 1
    assert "<script" not in thing.to_markdown().replace(r"\<", "")


def test_csv_has_every_row_and_no_formula(thing: Any) -> None:
    heads, *rows = list(csv.reader(io.StringIO(thing.to_csv())))
    assert rows
    assert all(len(row) == len(heads) for row in rows)
    for row in (heads, *rows):
        for cell in row:
            assert not re.match(r"^[=+\-@\t\r](?![0-9.])", cell)


def test_columns_have_names_for_programs_but_for_labels(thing: Any) -> None:
    heads = next(csv.reader(io.StringIO(thing.to_csv())))
    label = re.compile(r"'?[+-]|[0-9./]+|\w+( · \w+)+")
    ours = [
        head for head in heads if RISKY not in head and not label.fullmatch(head)
    ]
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", head) for head in ours), ours
    assert len(set(heads)) == len(heads)


def test_a_picture_has_a_title_and_is_dark_if_asked(thing: Any) -> None:
    figure = thing.plot()
    assert isinstance(figure, Picture)
    texts = [each.get_text() for each in figure.findobj(Text)]
    assert any(len(each) > 5 for each in texts)
    assert all(axes.get_xlabel() or not axes.axison for axes in figure.axes)
    dark = thing.plot(title="Who smokes?", dark=True)
    assert "Who smokes?" in [
        each.get_text().partition("\n")[0] for each in dark.findobj(Text)
    ]
    assert to_hex(dark.get_facecolor()) == DARK["#ffffff"]
    light = {
        to_hex(each.get_color()) for each in figure.findobj(Text) if each.get_text()
    }
    shown = {
        to_hex(each.get_color()) for each in dark.findobj(Text) if each.get_text()
    }
    assert light <= set(DARK)
    assert shown <= set(DARK.values())


def test_a_picture_shows_itself_and_follows_its_reader(thing: Any) -> None:
    told = thing.plot()._repr_svg_()
    ET.fromstring(told[told.index("<svg") :])
    assert "prefers-color-scheme:dark" in told
    drawn = told.partition("</style>")[2]
    assert not set(re.findall("#[0-9a-f]{6}", drawn)) & set(DARK)


def test_the_same_picture_has_the_same_bytes_and_a_dollar_begins_no_formula() -> (
    None
):
    design = dn.k_ary(["from $100 to $200", RISKY], epsilon=1)
    assert design.plot()._repr_svg_() == design.plot()._repr_svg_()
    for thing in (design, dn.estimate(dn.Tally(design, [60, 40]))):
        labels = [each.get_text() for each in thing.plot().axes[0].get_yticklabels()]
        assert labels[0] == r"from \$100 to \$200"
        assert not any(is_math_text(each) for each in labels)


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_every_family_is_seen(name: str) -> None:
    design = FAMILIES[name].build(**FAMILIES[name].examples[0])
    page, figure = design._repr_html_(), design.plot()
    assert html.escape(design.categories[0]) in page or design.factors
    assert figure.axes
    for axes in figure.axes:
        assert axes.texts, "the numbers stand on the cells"


@pytest.mark.parametrize("kind", sorted(TYPES))
def test_every_type_of_question_is_seen(kind: str) -> None:
    asked = TYPES[kind]()
    counted = dn.tally(dn.respond_all(asked.design, asked.answers))
    for each in (asked.design, counted):
        assert isinstance(each.plot(), Figure)
        assert "<table>" in each.to_html()


def test_of_a_thousand_categories_the_largest_are_shown_and_the_rest_told() -> None:
    labels = [f"country {number}" for number in range(1000)]
    counted = dn.Tally(dn.k_ary(labels, epsilon=8), np.arange(1000) + 500)
    result = dn.estimate(counted)
    for thing in (counted, result):
        assert thing.to_html().count("<tr>") == 41
        assert "The largest 40 of 1,000." in thing.to_html()
        assert "country 999" in thing.to_html()
        assert len(thing.to_csv().splitlines()) == 1001
        assert thing.to_latex().count(r"\\" + "\n") == 41
        assert thing.to_latex(most=None).count(r"\\" + "\n") == 1001
        shown = [each.get_text() for each in thing.plot().axes[0].get_yticklabels()]
        assert len(shown) == 40
        assert shown[0] == "country 999"
        assert "the 40 largest of 1,000" in thing.plot().axes[0].get_title(
            loc="left"
        )
    assert len(str(result.summary()).splitlines()) < 60
    assert "… 960 more" in str(result.summary())
    assert "Of 1,000 categories" in counted.design.to_html()


def test_certificates_and_audits_stay_in_their_frame() -> None:
    certificate = dn.certify(dn.k_ary([RISKY, "b"], 1))
    audit = dn.audit(dn.warner(1), epsilon=0.1, draws=2000, checks=["worst event"])
    for each in (certificate, audit):
        page = each._repr_html_()
        # a style for its body is no style for the notebook
        assert Tags(page).tags == ["iframe"]
        assert (
            html.unescape(page.split('srcdoc="')[1].split('" style')[0])
            == each.to_html()
        )
        assert isinstance(each.plot(), Picture)
        assert to_hex(each.plot(dark=True).get_facecolor()) == DARK["#ffffff"]
    assert certificate.plot().axes[0].texts[0].get_text() == "73%"

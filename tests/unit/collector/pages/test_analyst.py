"""The analyst's pages without HTTP: contexts, tables, and what templates read."""

from __future__ import annotations

import csv
import io
import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import msgspec
import pytest
from jinja2 import meta

from deniable.collector.pages import analyst as contexts
from deniable.collector.pages.analyst import to_csv
from deniable.collector.pages.render import environment, render
from deniable.collector.store import NoSuchSurvey, Store, Token, open_store
from deniable.designs import k_ary
from deniable.errors import InvalidRequest, NotAllowed
from deniable.survey import Question, QuestionTexts, SurveyTexts
from deniable.tallies import Tally
from tests.support import filled
from tests.support.surveys import question, small

ALL = Token("all", "analyst")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    made = open_store(tmp_path_factory.mktemp("pages") / "c.db")
    filled.fill(made, filled.opened(made, filled.example()), {0: 300, 1: 200})
    made.close("working-life")
    made.create(small())
    yield made
    made.shut()


def rows(page: object) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(to_csv(page))))


@pytest.mark.parametrize(
    "kind",
    [
        contexts.OverviewPage,
        contexts.SurveyResultsPage,
        contexts.QuestionPage,
        contexts.PlanPage,
    ],
    ids=str,
)
def test_a_template_reads_what_its_context_has(
    kind: type[contexts.QuestionPage],
) -> None:
    loader = environment().loader
    assert loader is not None
    read: set[str] = set()
    for name in (kind.TEMPLATE, "analyst/base.html", "analyst/parts.html"):
        source = loader.get_source(environment(), name)[0]
        read |= meta.find_undeclared_variables(environment().parse(source))
    assert read - {"parts"} == {each.name for each in fields(kind)}


def test_a_figure_reads_what_its_context_has() -> None:
    loader = environment().loader
    assert loader is not None
    source = loader.get_source(environment(), contexts.FigureFile.TEMPLATE)[0]
    read = meta.find_undeclared_variables(environment().parse(source))
    assert read == {each.name for each in fields(contexts.FigureFile)}


def test_a_figure_has_the_numbers_of_its_page(store: Store) -> None:
    page = contexts.question_page(store, "working-life", "overtime", "office")
    assert page.chart is not None
    figure = ET.fromstring(
        contexts.figure_file(store, "working-life", "overtime", "office")
    )
    name = "{http://www.w3.org/2000/svg}"
    texts = ["".join(each.itertext()) for each in figure.iter(f"{name}text")]
    for line in page.chart.lines:
        assert line.label in texts, "labels, not codes"
    assert page.facts.text in texts
    assert "office, 300 respondents, 95% intervals" in texts
    assert "share of respondents" in texts
    dots = [float(each.attrib["cx"]) for each in figure.iter(f"{name}circle")][
        : len(page.chart.lines)
    ]
    assert dots == pytest.approx([250 + 5 * line.value for line in page.chart.lines])
    with pytest.raises(NotAllowed, match="there is no figure yet"):
        contexts.figure_file(store, "small", "smokes")


def test_of_very_many_answers_the_largest_are_beside_their_picture(
    tmp_path: Path,
) -> None:
    with_many = open_store(tmp_path / "c.db")
    texts = {
        "en": QuestionTexts(
            "Which <b>job</b>?",
            labels=tuple(f"job & {number}" for number in range(300)),
        )
    }
    asked = Question("job", k_ary(300, epsilon=3), texts)
    entry = filled.opened(with_many, small(questions=(asked,), groups=()))
    filled.ask(with_many, entry, 0, [number % 100 for number in range(2000)])
    with_many.close("small")
    page = contexts.question_page(with_many, "small", "job")
    assert page.chart is not None
    assert [share.label for share in page.table] == [
        line.label for line in page.chart.lines
    ]
    assert (len(page.table), page.chart.left_out) == (40, 260)
    shown = render(page)
    assert (
        "The 40 largest shares are shown; 260 smaller ones are in the files" in shown
    )
    assert "estimated by inverting the probabilities of the device" in shown
    figure = contexts.figure_file(with_many, "small", "job")
    assert "the 40 largest shares" in figure
    assert "Which &lt;b&gt;job&lt;/b&gt;?" in figure
    assert "<b>" not in figure
    assert len(rows(page)) == 300
    with_many.shut()


def test_no_template_has_inline_style_or_script() -> None:
    for name in environment().list_templates(
        filter_func=lambda name: name.startswith("analyst/")
    ):
        text = (environment().loader.get_source(environment(), name))[0]  # type: ignore[union-attr]
        assert "style=" not in text
        assert "onclick" not in text
        assert text.count("<script") == text.count(
            '<script type="module" src="/static/'
        )


def test_the_overview_lists_what_a_token_may_see(store: Store) -> None:
    page = contexts.overview(store, ALL)
    assert [(each.name, each.state, each.responses) for each in page.facts] == [
        ("small", "draft", 0), ("working-life", "closed", 500)
    ]  # fmt: skip
    assert [
        each.name
        for each in contexts.overview(store, Token("one", "analyst", "small")).facts
    ] == ["small"]
    assert [row["name"] for row in rows(page)] == ["small", "working-life"]
    assert "Working life" in render(page)


def test_an_empty_overview_says_how_to_begin(tmp_path: Path) -> None:
    empty = open_store(tmp_path / "c.db")
    assert "deniable survey create" in render(contexts.overview(empty, ALL))
    empty.shut()


def test_a_survey_has_a_sentence_for_each_question(store: Store) -> None:
    page = contexts.survey_page(store, "working-life")
    assert [each.name for each in page.facts.questions] == [
        "overtime",
        "sick-leave",
        "exhaustion",
    ]
    html = render(page)
    for each in page.facts.questions:
        assert each.respondents == 500
        assert each.sentence.startswith("About")
        assert each.sentence in html.replace("&#39;", "'")
    assert [row["sentence"] for row in rows(page)] == [
        each.sentence for each in page.facts.questions
    ]


def test_nothing_is_shown_of_a_survey_without_responses(store: Store) -> None:
    line = contexts.survey_page(store, "small").facts.questions[0]
    assert line.sentence == (
        "There are too few responses to 'smokes'; expected at least 40 before anything is shown."
    )
    page = contexts.question_page(store, "small", "smokes")
    assert page.facts.results is None
    assert "Nothing is shown yet" in render(page)
    assert rows(page) == []


def test_a_question_is_told_in_html_json_and_csv_alike(store: Store) -> None:
    page = contexts.question_page(store, "working-life", "exhaustion")
    found = page.facts.results
    assert found is not None
    html, table, told = (
        render(page),
        rows(page),
        msgspec.json.decode(msgspec.json.encode(page.facts)),
    )
    assert len(table) == 4 * 3  # everybody, and two groups
    for share, row, body in zip(
        found.shares, table, told["results"]["shares"], strict=False
    ):
        assert float(row["share"]) == share.row.estimate == body["row"]["estimate"]
        assert float(row["low"]) == share.row.low
        assert float(row["low if 0.01 fabricated"]) == share.fakes[0].low
        assert f"{100 * share.row.estimate:.1f}%".replace("-", "−") in html
    assert {row["group"] for row in table} == {"", "office", "field"}
    assert "deniable estimate exhaustion-ladder.json exhaustion-tally.json" in html
    assert html.count('class="value"') == 4 + 1


def test_one_group_alone(store: Store) -> None:
    page = contexts.question_page(store, "working-life", "overtime", "field")
    assert page.facts.results is not None
    assert page.facts.results.respondents == 200
    assert {row["group"] for row in rows(page)} == {"field"}
    with pytest.raises(InvalidRequest, match="there is no group 'elsewhere'"):
        contexts.question_page(store, "working-life", "overtime", "elsewhere")


def test_files_of_a_question_are_what_the_command_line_reads(store: Store) -> None:
    asked = filled.example().question("overtime")
    counted = Tally.from_json(
        contexts.tally_file(store, "working-life", "overtime"), asked.design
    )
    assert counted.respondents == 500
    assert contexts.about_file(
        store, "working-life", "overtime"
    ) == asked.design.to_json(indent=2)
    with pytest.raises(NotAllowed):
        contexts.tally_file(store, "small", "smokes")
    with pytest.raises(NoSuchSurvey):
        contexts.about_file(store, "none", "smokes")


def test_words_of_a_survey_are_only_words(tmp_path: Path) -> None:
    """What a survey's author writes is neither markup on a page nor a formula in a spreadsheet."""
    texts = {"en": SurveyTexts("<script>alert(1)</script>")}
    asked = question("x", small().questions[0].about)
    asked = type(asked)(
        asked.name,
        asked.about,
        {"en": QuestionTexts("<b>why</b>", labels=("=1+1", "@x"))},
    )
    store = open_store(tmp_path / "c.db")
    filled.fill(
        store,
        filled.opened(store, small(texts=texts, questions=(asked,), groups=())),
        {None: 100},
    )
    store.close("small")
    page = contexts.question_page(store, "small", "x")
    assert "<script>alert" not in render(page)
    assert "<b>why" not in render(page)
    assert [row["label"] for row in rows(page)] == ["'=1+1", "'@x"]
    store.shut()


def test_many_categories_are_drawn_in_part_and_told_in_whole(tmp_path: Path) -> None:
    from deniable.designs import subset

    store = open_store(tmp_path / "c.db")
    entry = filled.opened(
        store, small(questions=(question("x", subset(60, epsilon=3)),), groups=())
    )
    filled.fill(store, entry, {None: 600})
    store.close("small")
    page = contexts.question_page(store, "small", "x")
    assert page.chart is not None
    assert len(page.chart.lines) == 40
    assert "20 smaller ones are in the files" in render(page)
    assert len(rows(page)) == 60
    store.shut()


def test_the_plan_as_a_table() -> None:
    page = contexts.plan_page({"epsilon": "2", "categories": "3"})
    (row,) = rows(page)
    assert (row["epsilon"], row["categories"], row["design"]) == ("2", "3", "k_ary")
    assert math.isclose(float(row["margin"]), page.facts.margin)
    assert "From 10% to at most 45.1%" in render(page)

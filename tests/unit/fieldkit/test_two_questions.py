"""Designs with a harmless question are asked with it: a card with both, and with the share that the design has."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from typer.testing import CliRunner

import deniable as dn
from deniable.cli.commands import app
from deniable.errors import InvalidRequest
from deniable.fieldkit import TwoQuestions, nearest_devices, write_kit
from deniable.fieldkit.kit import _draw_paper, _pages
from deniable.fieldkit.paper import HEIGHT, MARGIN, WIDTH
from deniable.fieldkit.texts import LANGUAGES, ChoosingTexts, PairTexts, device_texts
from deniable.fieldkit.two_questions import ChoosingDevice, two_questions
from deniable.survey.disclosure import Disclosure

BIRTHDAY, DIGIT = "mother-january-to-march", "banknote-digit-0-to-2"
P = dn.harmless_question(BIRTHDAY).share
ASKED = "Have you ever taken something from a shop without paying for it?"
PAIRS = [dn.crosswise(P), dn.triangular(P)]
CHOOSING = dn.simmons(p="3/4", b="3/10")


def on_paper(told: PairTexts | ChoosingTexts, page: str) -> str:
    """All letters of a page, in the order in which they were set."""
    figures = _draw_paper(told, _pages(told, ASKED)[page]).figures
    return " ".join(
        text.get_text() for figure in figures for text in figure.axes[0].texts
    )


def pair(design: dn.Design, language: str = "en") -> PairTexts:
    (found,) = two_questions(design, BIRTHDAY)
    told = device_texts(found, language)
    assert isinstance(told, PairTexts)
    return told


def made(*arguments: str, code: int = 0) -> str:
    run = CliRunner().invoke(app, list(arguments))
    assert run.exit_code == code, run.output
    return run.output


@pytest.mark.parametrize("design", PAIRS, ids=lambda each: each.name)
def test_what_is_said_makes_the_channel(design: dn.Design) -> None:
    """Walk both answers, weighed with the share of the harmless question."""
    (found,) = two_questions(design, BIRTHDAY)
    assert isinstance(found, TwoQuestions)
    for answer, given in enumerate(design.categories):
        for y, symbol in enumerate(design.symbols):
            said = sum(
                share
                for harmless, share in ((1, P), (0, 1 - P))
                if found.says(answer, harmless) == y
            )
            assert said == design.probability(symbol, given=given)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("design", PAIRS, ids=lambda each: each.name)
def test_the_card_has_both_questions_and_what_may_be_said(
    design: dn.Design, language: str
) -> None:
    told, card = pair(design, language), on_paper(pair(design, language), "question")
    assert ASKED in card
    assert dn.harmless_question(BIRTHDAY).texts[language] in card
    for said, meaning in told.choices():
        assert said in card
        assert meaning in card


def test_the_two_choices_of_each_model_in_words() -> None:
    crosswise, triangular = (dict(pair(each).choices()) for each in PAIRS)
    assert crosswise == {
        "different": "One answer is yes, and the other is no.",
        "same": "Both answers are yes, or both are no.",
    }
    assert triangular == {
        "neither": "Both answers are no.",
        "at least one": "At least one of the two answers is yes.",
    }


@pytest.mark.parametrize(
    "page", ["question", "facts", "script", "consent", "quiz", "entry"]
)
@pytest.mark.parametrize("design", PAIRS, ids=lambda each: each.name)
def test_no_page_of_two_questions_speaks_of_a_device(
    design: dn.Design, page: str
) -> None:
    assert "device" not in on_paper(pair(design), page)


def test_the_key_follows_from_the_answers() -> None:
    quiz = [right for _, right in pair(PAIRS[0]).quiz()]
    assert quiz[:4] == ["same", "different", "different", "same"]
    triangular = [right for _, right in pair(PAIRS[1]).quiz()]
    assert triangular[:4] == [
        "at least one",
        "at least one",
        "at least one",
        "neither",
    ]
    assert triangular[4] == "Yes: “yes” cannot be true."


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("design", PAIRS, ids=lambda each: each.name)
def test_the_consent_text_says_what_a_response_reveals(
    design: dn.Design, language: str
) -> None:
    told = pair(design, language)
    assert set(Disclosure.of_response(design).response_words(told.spoken)) <= set(
        told.consent()
    )
    chances = {
        str(design.probability(symbol, given=given))
        for symbol in design.symbols
        for given in ("no", "yes")
    }
    assert all(any(chance in fact for fact in told.facts()) for chance in chances)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_device_that_chooses_has_the_share_of_its_outcomes(language: str) -> None:
    for found in two_questions(CHOOSING, DIGIT):
        assert isinstance(found, ChoosingDevice)
        first, second = found.instructions
        p = Fraction(first.count, first.count + second.count)
        assert found.design.probability("yes", given="no") == (1 - p) * Fraction(
            3, 10
        )
        assert found.design.probability("yes", given="yes") == p + (
            1 - p
        ) * Fraction(3, 10)
        assert found.design.parity <= CHOOSING.parity
        told = device_texts(found, language)
        assert isinstance(told, ChoosingTexts)
        assert dn.harmless_question(DIGIT).texts[language] in on_paper(
            told, "question"
        )
        assert str(second.count) in [right for _, right in told.quiz()]


def test_the_nearest_device_reveals_no_more() -> None:
    """7/10 is no share of coins: two of four tosses with 11 of 16 is the nearest below."""
    found = {
        each.kind: each
        for each in two_questions(dn.simmons(p="7/10", b="3/10"), DIGIT)
    }
    assert found["cards"].exact
    assert not found["coins"].exact
    assert found["coins"].design.parity < dn.simmons(p="7/10", b="3/10").parity
    assert found["coins"].instructions[0].count / found["coins"].outcomes == 11 / 16


def test_a_design_from_epsilon_is_asked_with_its_exact_share() -> None:
    """Weights of a design from ε are rounded; the one that is written has the share of the question itself."""
    for found in two_questions(dn.simmons(1, b="3/10"), DIGIT):
        assert found.design.epsilon <= 1
        no, yes = (
            found.design.probability("yes", given=given) for given in ("no", "yes")
        )
        assert no / (1 - (yes - no)) == Fraction(3, 10)


@pytest.mark.parametrize(
    "told",
    [
        *(pair(design, language) for design in PAIRS for language in LANGUAGES),
        *(device_texts(each, "fr") for each in two_questions(CHOOSING, DIGIT)),
    ],
    ids=lambda told: f"{told.device.kind}-{told.language}",
)
def test_nothing_leaves_its_page(told: PairTexts | ChoosingTexts) -> None:
    for draw in _pages(
        told, "Have you ever taken something that was not yours? " * 7
    ).values():
        for figure in _draw_paper(told, draw).figures:
            axes = figure.axes[0]
            figure.set_dpi(200)
            renderer = FigureCanvasAgg(figure).get_renderer()
            for text in axes.texts:
                box = text.get_window_extent(renderer).transformed(
                    axes.transData.inverted()
                )
                assert min(box.x0, box.x1) >= 0.8 * MARGIN, text
                assert max(box.x0, box.x1) <= WIDTH - 0.8 * MARGIN, text
                assert max(box.y0, box.y1) <= HEIGHT - 5, text


def test_a_crosswise_kit_from_the_shell(tmp_path: Path) -> None:
    """As a researcher does it: p = 1/4 fits no birthday, the message says which p does, and the kit is a card."""
    design, kit = str(tmp_path / "cw.json"), tmp_path / "kit"
    made("design", "crosswise", "--p", "1/4", "--out", design)
    refused = made("fieldkit", design, "--out", str(kit), code=2)
    assert "asks a harmless question beside the sensitive one" in refused
    assert (
        "p = 36097/146097 and take --harmless mother-january-to-march"
        in refused.replace("\n", " ")
    )
    assert "biased" in made(
        "fieldkit", design, "--out", str(kit), "--harmless", BIRTHDAY, code=2
    )
    assert not kit.exists()
    made("design", "crosswise", "--p", "36097/146097", "--out", design, "--force")
    both = ("fieldkit", design, "--out", str(kit), "--harmless", BIRTHDAY)
    refused = made(*both, "--device", "dice", code=2).replace("\n", " ")
    assert "nobody needs a device; expected none to be named" in refused
    assert not kit.exists()
    told = made(*both, "--question", ASKED)
    assert "nobody needs a device" in told
    assert "left out" not in told
    (home,) = kit.iterdir()
    pages = {"facts", "question", "script", "consent", "quiz", "quiz-key", "entry"}
    names = {f"{page}.pdf" for page in pages} | {
        "question.svg",
        "design.json",
        "quiz-key.json",
        "entry.csv",
    }
    assert (home.name, {path.name for path in home.iterdir()}) == (
        "crosswise",
        names,
    )
    asked = dn.Design.from_json((home / "design.json").read_text())
    assert asked == dn.crosswise(P)
    assert len(json.loads((home / "quiz-key.json").read_text())) == 7


def test_a_question_of_your_own(tmp_path: Path) -> None:
    own = dn.HarmlessQuestion(
        "born-in-may",
        Fraction(1, 12),
        {"en": "Were you born in May?"},
        "by the office",
    )
    (found,) = write_kit(dn.crosswise("1/12"), tmp_path / "kit", harmless=own)
    assert found.design == dn.crosswise("1/12")
    with pytest.raises(InvalidRequest, match="not there in the language fr"):
        write_kit(
            dn.crosswise("1/12"), tmp_path / "other", harmless=own, language="fr"
        )


@pytest.mark.parametrize(
    "design",
    [
        *PAIRS,
        CHOOSING,
        dn.number_sequence("1/4"),
        dn.mangat_unrelated("2/5", "7/10", "3/10"),
        dn.correlated_question("7/10", "1/2", "1/5"),
        dn.mangat_singh_singh("3/5", "1/2"),
    ],
    ids=lambda each: each.name,
)
def test_no_device_stands_in_for_a_question(design: dn.Design) -> None:
    with pytest.raises(
        InvalidRequest, match="something beside the sensitive question"
    ) as refused:
        nearest_devices(design)
    assert refused.value.hint


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="asks one question alone"):
        write_kit(dn.warner(1), tmp_path / "kit", harmless=BIRTHDAY)
    with pytest.raises(InvalidRequest, match="other answers than no and yes"):
        write_kit(
            dn.crosswise(P, categories=["never", "ever"]),
            tmp_path / "kit",
            harmless=BIRTHDAY,
        )
    with pytest.raises(InvalidRequest, match="no harmless question 'weather'"):
        write_kit(dn.crosswise(P), tmp_path / "kit", harmless="weather")
    assert not (tmp_path / "kit").exists()

"""What is printed is true: sectors measured on the SVG, cards counted, numbers read back out of the sentences."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from string import Formatter
from typing import Any
from xml.etree import ElementTree

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from typer.testing import CliRunner

import deniable as dn
from deniable.cli.commands import app
from deniable.designs import Design
from deniable.errors import InvalidRequest
from deniable.fieldkit import DeviceTexts, Instruction, nearest_devices, write_kit
from deniable.fieldkit.kit import _draw_paper, _pages
from deniable.fieldkit.paper import HEIGHT, MARGIN, WIDTH, Paper, svg_bytes
from deniable.fieldkit.sheets import device_sheet
from deniable.fieldkit.texts import LANGUAGES
from deniable.survey.disclosure import Disclosure

MANY = dn.k_ary(
    ["never", "once", "a few times", "every week", "every single day"], epsilon="3/2"
)
DESIGNS = {
    "warner": dn.warner(1),
    "forced": dn.forced_response(honest="2/3", yes="1/4", no="1/12"),
    "five": MANY,
    "disguised": dn.disguised("5/6"),
    "mangat": dn.mangat("2/3"),
    "negative": dn.negative_survey(["red", "green", "blue", "white"]),
    "christofides": dn.christofides(cards=["1/10", "2/10", "3/10", "4/10"]),
}
TOLD = [
    pytest.param(
        DeviceTexts(device, language), id=f"{name}-{device.kind}-{language}"
    )
    for name, design in DESIGNS.items()
    for device in nearest_devices(design)
    for language in LANGUAGES
]
SVG = "{http://www.w3.org/2000/svg}"


def drawn_spinner(design: Design) -> tuple[DeviceTexts, ElementTree.Element]:
    (device,) = nearest_devices(design, ["spinner"])
    told = DeviceTexts(device, "en")
    paper = Paper("")
    device_sheet(told, paper)
    return told, ElementTree.fromstring(svg_bytes(paper.figures[0]))


def sweep(path: str) -> float:
    """Return how many degrees a sector spans, from the points of its outline alone: its centre is the middle one."""
    points = []
    for text in re.findall(r"[MLC]([^MLCZz]*)", path):
        numbers = [float(each) for each in re.findall(r"-?\d+(?:\.\d+)?", text)]
        points.append((numbers[-2], numbers[-1]))
    centre = min(points, key=lambda point: _unlike(point, points))
    rim = [point for point in points if math.dist(point, centre) > 1]
    angles = [math.degrees(math.atan2(y - centre[1], x - centre[0])) for x, y in rim]
    return sum(
        (after - before) % 360
        for before, after in pairwise(angles[: _turns(angles)])
    )


def _unlike(point: tuple[float, float], points: list[tuple[float, float]]) -> float:
    """Say how unequal the distances of the others from a point are: zero from the centre alone."""
    far = [
        math.dist(point, other) for other in points if math.dist(point, other) > 1
    ]
    return max(far) - min(far)


def _turns(angles: list[float]) -> int:
    """Leave out the last point where the outline has come back to its first."""
    return len(angles) - (abs(angles[0] - angles[-1]) < 1e-6)


def sectors(picture: ElementTree.Element) -> dict[str, float]:
    found = {}
    for group in picture.iter(f"{SVG}g"):
        name = group.get("id", "")
        if name.startswith("sector-"):
            path = group.find(f"{SVG}path")
            assert path is not None
            found[name.removeprefix("sector-")] = sweep(path.get("d", ""))
    return found


@pytest.mark.parametrize("name", DESIGNS)
def test_sectors_span_what_their_instructions_have(name: str) -> None:
    told, picture = drawn_spinner(DESIGNS[name])
    measured = sectors(picture)
    assert sum(measured.values()) == pytest.approx(360, abs=0.5)
    for letter, each in told.instructions():
        assert measured[letter] == pytest.approx(
            360 * each.count / told.device.outcomes, abs=0.5
        )


def test_a_sector_that_is_a_degree_too_wide_is_found() -> None:
    """The ruler itself: sectors of known angles, drawn by another formula."""
    for degrees in (20, 21, 90, 200, 359):
        turns = [math.radians(degrees * step / 8) for step in range(9)]
        rim = [
            (50 + 40 * math.cos(turn), 50 + 40 * math.sin(turn)) for turn in turns
        ]
        path = "".join(
            f"{'L' if at else 'M'} {x:.6f} {y:.6f} "
            for at, (x, y) in enumerate([*rim, (50, 50), rim[0]])
        )
        assert sweep(path) == pytest.approx(degrees, abs=0.01)


@pytest.mark.parametrize("name", DESIGNS)
def test_the_deck_has_the_cards_of_the_channel(name: str) -> None:
    """Count the cards on the pages, let everybody draw each of them, and compare with design.json by ==."""
    (device,) = nearest_devices(DESIGNS[name], ["cards"])
    paper, told = Paper(""), DeviceTexts(device, "en")
    device_sheet(told, paper)
    gids = [
        patch.get_gid() or ""
        for figure in paper.figures
        for patch in figure.axes[0].patches
    ]
    cards = Counter(
        gid.rpartition("-")[2] for gid in gids if gid.startswith("card-")
    )
    rules = dict(told.instructions())
    total = sum(cards.values())
    for y, symbol in enumerate(device.design.symbols):
        for x, answer in enumerate(device.design.categories):
            count = sum(
                number
                for letter, number in cards.items()
                if rules[letter].says[x] == y
            )
            assert device.design.probability(symbol, given=answer) == Fraction(
                count, total
            )


WIDE = [  # the longest words of each kind of page; every language once
    pytest.param(
        DeviceTexts(nearest_devices(DESIGNS[name], [kind])[0], language),
        id=f"{name}-{kind}-{language}",
    )
    for name, kind, language in [
        ("five", "spinner", "en"),
        ("negative", "dice", "es"),
        ("christofides", "coins", "de"),
        ("disguised", "cards", "fr"),
    ]
]


@pytest.mark.parametrize("told", WIDE)
def test_nothing_leaves_its_page(told: DeviceTexts) -> None:
    """A screen sets letters up to 2 % wider than print does: a fifth of the margin is left for that."""
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
                assert min(box.y0, box.y1) >= MARGIN - 2, text
                assert max(box.y0, box.y1) <= HEIGHT - 5, text


def test_a_text_that_is_too_long_for_its_box_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="does not fit on its card"):
        Paper("").boxed("word " * 200, 20, 20, 40, 30)


def facts_in(template: str, sentence: str) -> dict[str, str] | None:
    """Return what stands in the places of a sentence; None where it is another one."""
    places = Formatter().parse(template)
    pattern = "".join(
        re.escape(text) + (f"(?P<{name}>.+?)" if name else "")
        for text, name, _, _ in places
    )
    found = re.fullmatch(pattern, sentence)
    return found.groupdict() if found else None


def walk(told: DeviceTexts, symbol: str, answer: str) -> int:
    """Count by hand the outcomes on which something is said."""
    x, y = told.categories.index(answer), told.symbols.index(symbol)
    return [
        each.says[x] for each in told.device.instructions for _ in range(each.count)
    ].count(y)


def wrong_items(told: DeviceTexts, quiz: list[tuple[str, str]]) -> list[str]:
    """Answer every question of the quiz anew from the device and its design; return those whose key is another."""
    words, wrong = told.words["quiz"], []
    for question, right in quiz:
        kind, facts = next(
            (kind, found)
            for kind in KINDS
            if (found := facts_in(words[kind], question)) is not None
        )
        if right != ANSWERS[kind](told, words, facts):
            wrong.append(question)
    return wrong


def came_out(told: DeviceTexts, shown: str) -> Instruction:
    """Look up on the device's sheet what its holder sees: a letter, dots, or sides of a coin in their order."""
    outcomes = [each for each in told.device.instructions for _ in range(each.count)]
    seen = facts_in(told.words["quiz"]["shown"][told.how], shown)
    assert seen is not None, shown
    if "letter" in seen:
        return dict(told.instructions())[seen["letter"]]
    if "face" in seen:
        return outcomes[int(seen["face"]) - 1]
    if "dark" in seen:
        return outcomes[6 * (int(seen["dark"]) - 1) + int(seen["light"]) - 1]
    tails = told.spoken.words["device"]["tails"]
    return outcomes[
        int(
            "".join(str(int(side == tails)) for side in seen["sides"].split(", ")), 2
        )
    ]


def _outcome(told: DeviceTexts, words: Any, facts: dict[str, str]) -> str:  # noqa: ARG001
    rule = told.rule(came_out(told, facts["shown"]))
    say, truth = (
        facts_in(told.words["rule"]["say"], rule),
        rule == told.words["rule"]["truth"],
    )
    if say or truth:
        return say["symbol"] if say else facts["answer"]
    each = re.escape(told.words["rule"]["each"]).replace(
        r"\{answer\}", re.escape(facts["answer"])
    )
    found = re.search(each.replace(r"\{symbol\}", "(.+?)"), rule)
    assert found
    return found[1]


def _proof(told: DeviceTexts, words: Any, facts: dict[str, str]) -> str:
    design, symbol = told.device.design, told.symbols.index(facts["symbol"])
    rows = [
        design.probability(design.symbols[symbol], given=answer)
        for answer in design.categories
    ]
    out = [told.categories[x] for x, share in enumerate(rows) if share == 0]
    return str(
        words["yes_answer"].format(answer=" / ".join(out))
        if out
        else words["no_answer"]
    )


KINDS = ("outcome", "count", "proof", "seen")
ANSWERS: dict[str, Any] = {
    "outcome": _outcome,
    "count": lambda told, _, facts: str(
        told.device.design.probability(
            told.device.design.symbols[told.symbols.index(facts["symbol"])],
            given=told.device.design.categories[
                told.categories.index(facts["answer"])
            ],
        )
        * int(facts["total"])
    ),
    "proof": _proof,
    "seen": lambda _told, words, _facts: words["seen_answer"],
}


@pytest.mark.parametrize("told", TOLD)
def test_the_key_of_the_quiz_equals_the_design(told: DeviceTexts) -> None:
    quiz = [(item.question, item.right) for item in told.quiz()]
    assert {
        kind
        for kind in KINDS
        for question, _ in quiz
        if facts_in(told.words["quiz"][kind], question) is not None
    } == set(KINDS)
    assert wrong_items(told, quiz) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_wrong_key_is_found_out(language: str) -> None:
    told = DeviceTexts(nearest_devices(dn.mangat("2/3"), ["dice"])[0], language)
    other = DeviceTexts(nearest_devices(dn.mangat("1/3"), ["dice"])[0], language)
    quiz = [(item.question, item.right) for item in told.quiz()]
    assert len(wrong_items(other, quiz)) == 1, "the one number that differs"
    swapped = [
        (question, quiz[0][1] if at else quiz[1][1] + "!")
        for at, (question, _) in enumerate(quiz)
    ]
    assert len(wrong_items(told, swapped)) >= len(quiz) - 2


@pytest.mark.parametrize("told", TOLD)
def test_the_numbers_of_the_consent_text_are_those_of_the_channel(
    told: DeviceTexts,
) -> None:
    words, counted = told.words["consent"], 0
    design, total = told.device.design, told.device.outcomes
    for sentence in told.consent():
        for kind in ("forced", "truth", "depends"):
            facts = facts_in(words[kind], sentence)
            if facts:
                counted += int(facts["count"])
                assert int(facts["total"]) == total
            if facts and kind == "forced":
                least = min(
                    walk(told, facts["symbol"], answer) for answer in told.categories
                )
                assert int(facts["count"]) == least
    assert counted == total, "every outcome is told, and once"
    said = set(told.consent())
    assert set(Disclosure.of_response(design).response_words(told.spoken)) <= said
    for symbol in told.symbols:
        for answer in told.categories:
            proof = words["proves"].format(symbol=symbol, answer=answer)
            assert (proof in said) == (walk(told, symbol, answer) == 0)
    assert (words["back"] in said) == (told.device.kind == "cards")


@pytest.mark.parametrize("told", TOLD)
def test_the_facts_are_those_of_the_device(told: DeviceTexts) -> None:
    words, said = told.words["facts"], told.facts()
    cells = [
        found for sentence in said if (found := facts_in(words["cell"], sentence))
    ]
    assert len(cells) == len(told.categories) * len(told.symbols)
    for cell in cells:
        assert int(cell["count"]) == walk(told, cell["symbol"], cell["answer"])
    far = [
        found
        for sentence in said
        if (found := facts_in(words["distance"], sentence))
    ]
    plain = {ord(told.spoken.thousands): None, ord(told.spoken.decimal): "."}
    for each in far:
        points = Fraction(Decimal(each["points"].translate(plain)))
        assert 0 <= points - 100 * told.device.distance < Fraction(1, 100)
    assert (words["exact"] in said) == (not far) == told.device.exact


def flat(words: Any, path: str = "") -> dict[str, Any]:
    if not isinstance(words, dict):
        return {path: words}
    return {
        name: text
        for key, each in words.items()
        for name, text in flat(each, f"{path}.{key}").items()
    }


def places(text: Any) -> list[str]:
    joined = " ".join(text) if isinstance(text, list) else text
    return sorted(name for _, name, _, _ in Formatter().parse(joined) if name)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_says_everything(language: str) -> None:
    device = nearest_devices(dn.warner(1), ["spinner"])[0]
    english, other = (
        flat(DeviceTexts(device, "en").words),
        flat(DeviceTexts(device, language).words),
    )
    assert english.keys() == other.keys()
    for name, text in other.items():
        assert places(text) == places(english[name]), name
        assert type(text) is type(english[name])
        assert len(text) == len(english[name]) or isinstance(text, str)
        alike = {".quiz.no"} if language == "es" else set()
        assert language == "en" or text != english[name] or name in alike, name


def test_a_kit_is_tallied_with_its_own_design(tmp_path: Path) -> None:
    """From the shell: the kit of dice, a sheet typed in, and an estimate with what the dice really are."""
    asked, kit = tmp_path / "design.json", tmp_path / "kit"
    asked.write_text(dn.warner(1).to_json())
    run = CliRunner().invoke(
        app,
        [
            "fieldkit",
            str(asked),
            "--out",
            str(kit),
            "-d",
            "dice",
            "-l",
            "fr",
            "--json",
        ],
    )
    assert run.exit_code == 0, run.output
    home = kit / "dice"
    design = Design.from_json((home / "design.json").read_text())
    (facts,) = json.loads(run.stdout)["devices"]
    assert facts["design"] == design.hash
    assert facts["epsilon"] == "0.9556"
    assert design.probability("yes", given="yes") == Fraction(26, 36)
    names = {path.name for path in home.iterdir()}
    pages = {
        "dice",
        "facts",
        "question",
        "script",
        "consent",
        "quiz",
        "quiz-key",
        "entry",
    }
    assert names == {f"{page}.pdf" for page in pages} | {
        "dice.svg",
        "design.json",
        "quiz-key.json",
        "entry.csv",
    }
    assert all(
        (home / f"{page}.pdf").read_bytes().startswith(b"%PDF") for page in pages
    )
    column = [*(home / "entry.csv").read_text().split(), *["yes"] * 40, *["no"] * 60]
    assert column[0] == "response"
    assert dn.tally(design, column[1:]).counts.tolist() == [60, 40]
    again = CliRunner().invoke(
        app, ["fieldkit", str(asked), "--out", str(kit), "-d", "dice"]
    )
    assert again.exit_code == 2
    assert "exists already" in again.output


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"language": "ar"}, "no kit in the language 'ar'"),
        ({"question": "x" * 401}, "401 letters"),
        ({"question": "你好?"}, "cannot print"),
        ({"question": "two\nlines"}, "cannot print"),
    ],
)
def test_what_cannot_be_printed_is_refused_and_nothing_is_written(
    more: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidRequest, match=said):
        write_kit(dn.warner(1), tmp_path / "kit", **more)
    assert not (tmp_path / "kit").exists()

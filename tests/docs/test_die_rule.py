"""The die means one thing: what the kit prints, what the page tells, and what every text about it says."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import deniable as dn
from deniable.fieldkit import DeviceTexts, nearest_devices
from deniable.survey.catalogue import locale
from deniable.survey.tools import tool_for

ROOT = Path(__file__).parents[2]
DIE = dn.forced_response("2/3", "1/6", "1/6")
TRUTH = "truth"
PROSE = re.compile(
    r"1 (?:\w+) “?\"?(\w+)\"?”?, (?:and )?(\d) (?:\w+) “?\"?(\w+)\"?”?,? (?:and )?(\d) to (\d) [\w ]*truth"
)


def printed() -> dict[int, str]:
    """What each face means on the sheet of the kit."""
    (device,) = nearest_devices(DIE, ["dice"])
    told, faces = (
        DeviceTexts(device, "en"),
        [each for each in device.instructions for _ in range(each.count)],
    )
    assert device.outcomes == 6
    return {
        face: TRUTH if told.truthful(each) else DIE.symbols[each.says[0]] for face, each in enumerate(faces, 1)
    }  # fmt: skip


def on_the_page() -> dict[int, str]:
    tool = tool_for(DIE, locale("en").words["device"])
    assert tool is not None
    assert tool.name == "a die"
    found = {}
    for rule in tool.rules:
        first, _, last = rule.outcomes.partition(" to ")
        for face in range(int(first), int(last or first) + 1):
            found[face] = TRUTH if rule.symbol is None else DIE.symbols[rule.symbol]
    return found


def told() -> Iterator[tuple[str, dict[int, str]]]:
    """Every sentence of the documentation and of docstrings that says what the faces of a die mean."""
    for path in sorted(
        [
            *(ROOT / "docs").rglob("*.md"),
            *(ROOT / "src").rglob("*.py"),
            ROOT / "README.md",
        ]
    ):
        for found in PROSE.finditer(
            path.read_text(encoding="utf-8").replace("\n", " ")
        ):
            no, second, yes, first, last = found.groups()
            asked = dict.fromkeys(range(int(first), int(last) + 1), TRUTH)
            yield f"{path.name}: {found[0]}", {1: no, int(second): yes} | asked


def test_the_page_and_the_kit_agree() -> None:
    assert (
        on_the_page()
        == printed()
        == {1: "no", 2: "yes", 3: TRUTH, 4: TRUTH, 5: TRUTH, 6: TRUTH}
    )


def test_every_text_says_what_the_kit_prints() -> None:
    found = dict(told())
    pages = {
        "survey-researcher.md",
        "planning.md",
        "regression.md",
        "many_answers.py",
    }
    assert {sentence.partition(":")[0] for sentence in found} >= pages
    assert {
        sentence: faces for sentence, faces in found.items() if faces != printed()
    } == {}


def test_no_text_gives_a_face_another_meaning() -> None:
    """Whatever the sentence looks like: a text about a die with a forced 6, or with 2 to 5 for the truth."""
    for path in sorted((ROOT / "docs").rglob("*.md")):
        for paragraph in path.read_text(encoding="utf-8").split("\n\n"):
            if re.search(r"\b(die|dice|roll)\b", paragraph):
                assert not re.search(
                    r"\b6 (=|means?|forces?|says?)|\b2 (to|–) ?5\b(?!.*categor)",
                    paragraph,
                ), path.name


@pytest.mark.parametrize("language", ["en", "de", "es"])
def test_the_example_survey_tells_the_same_die(language: str) -> None:
    survey = tomllib.loads(
        (ROOT / "examples" / "survey.toml").read_text(encoding="utf-8")
    )
    (asked,) = (each for each in survey["questions"] if each["name"] == "sick-leave")
    texts = asked["texts"][language]
    no, yes = texts["labels"]
    rules = [each.strip() for each in re.split(r"\. ", texts["instructions"])]
    assert re.fullmatch(
        rf"1: .*\b{no}\b.*", next(each for each in rules if each.startswith("1"))
    )
    assert re.fullmatch(
        rf"2: .*\b{yes}\b.*", next(each for each in rules if each.startswith("2"))
    )
    assert any(re.match(r"(De )?3 (to|bis|a) 6: ", each) for each in rules)

"""A kit on the disk: a folder for each device, in which everything belongs to that device."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from deniable.designs import AnyDesign, Design
from deniable.errors import InvalidRequest, quoted
from deniable.fieldkit import sheets
from deniable.fieldkit.paper import Paper, check_printable, pdf_bytes, svg_bytes
from deniable.fieldkit.physical import SIZES, PhysicalDevice, nearest_devices
from deniable.fieldkit.texts import (
    ChoosingTexts,
    DeviceTexts,
    PairTexts,
    check_language,
    device_texts,
)
from deniable.fieldkit.two_questions import (
    ChoosingDevice,
    TwoQuestions,
    asks_two,
    two_questions,
)
from deniable.files.atomic import atomic_write, check_free
from deniable.survey.disclosure import epsilon_words
from deniable.survey.harmless import HarmlessQuestion

_MOST_LETTERS = 400  # of a question, to fit on its card


def write_kit(
    design: AnyDesign,
    folder: str | os.PathLike[str],
    *,
    language: str = "en",
    question: str = "",
    harmless: str | HarmlessQuestion | None = None,
    devices: Iterable[str] = tuple(SIZES),
    overwrite: bool = False,
) -> tuple[PhysicalDevice | TwoQuestions, ...]:
    """Write all that is needed to ask one question on paper: for each device a folder of its own.

    In each folder: the device to print (PDF and SVG), facts, question card, script, consent, quiz and key, data-entry
    sheet (PDF and CSV), and `design.json`, the design that this device really has, to tally with. A crosswise or
    triangular design has no device: its one folder has a card with both questions and the two things to say.

    Guarantee: each device reveals at most what the design does; every number is counted from its own outcomes.

    Args:
        design: what was asked for.
        folder: where to; it is made where it does not exist.
        language: "en", "de", "es" or "fr".
        question: the text of the question; a place to write it, if it is not given.
        harmless: for `crosswise`, `triangular` and `simmons`: the harmless question, by its name or as it is; its share
            of yes is the p (of `simmons` the b) of the design.
        devices: which kinds to write; those too coarse for the design are left out.
        overwrite: whether files that are there may be replaced.

    Returns:
        The devices that were written, in the order asked for; of a card without a device that card.

    Raises:
        InvalidRequest: a design that no device makes, an unknown language or device, a question that cannot be printed,
            a harmless question that is missing, not needed or has another share, or a file that is there already.
    """
    check_language(language)
    _check_question(question)
    device_list = _find_devices(design, harmless, devices)
    for device in device_list:
        _check_spoken(device, language)
    for label in (*device_list[0].asked.categories, *device_list[0].asked.symbols):
        check_printable(label, "a label of the design")
    files = [
        file
        for device in device_list
        for file in _files(device_texts(device, language), Path(folder), question)
    ]
    for path, _ in files:
        check_free(path, overwrite=overwrite)
    for path, write in files:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path, overwrite=overwrite) as file:
            file.write(write())
    return device_list


def _find_devices(
    design: AnyDesign,
    harmless: str | HarmlessQuestion | None,
    devices: Iterable[str],
) -> tuple[PhysicalDevice | TwoQuestions, ...]:
    if isinstance(design, Design) and asks_two(design):
        return two_questions(design, harmless, devices)
    if harmless is not None:
        raise InvalidRequest(
            "this design asks one question alone; expected no harmless question.",
            "Designs with one are crosswise, triangular and simmons.",
        )
    return nearest_devices(design, devices)


def _check_spoken(device: PhysicalDevice | TwoQuestions, language: str) -> None:
    if not isinstance(device, TwoQuestions | ChoosingDevice):
        return
    question = device.harmless
    if language not in question.texts:
        raise InvalidRequest(
            f"the harmless question {quoted(question.name, 50)} is not there in the language {language}; expected a "
            f"text in one of {', '.join(question.texts)}, or in this one, too."
        )
    _check_question(question.texts[language])


def _check_question(question: str) -> None:
    if len(question) > _MOST_LETTERS:
        raise InvalidRequest(
            f"the question has {len(question):,} letters; expected at most {_MOST_LETTERS}, to fit on its card."
        )
    check_printable(question, "the question")


def _files(
    texts: DeviceTexts | PairTexts, folder: Path, question: str
) -> list[tuple[Path, Callable[[], bytes]]]:
    """Draw all pages of one device, and return what is to be written where."""
    home, kind = folder / texts.device.kind, texts.device.kind
    pages = {
        name: _draw_paper(texts, draw)
        for name, draw in _pages(texts, question).items()
    }
    pdfs = [
        (home / f"{name}.pdf", partial(pdf_bytes, paper.figures, name))
        for name, paper in pages.items()
    ]
    # what people hold: a device, or the card alone
    page_name = kind if kind in pages else "question"
    figures = pages[page_name].figures
    names = (
        [f"{page_name}.svg"]
        if len(figures) == 1
        else [f"{page_name}-{page}.svg" for page in range(1, len(figures) + 1)]
    )
    svgs = [
        (home / name, partial(svg_bytes, figure))
        for name, figure in zip(names, figures, strict=True)
    ]
    quiz = [item._asdict() for item in texts.quiz()]
    text_files = {
        "design.json": texts.device.design.to_json(indent=2),
        "quiz-key.json": json.dumps(quiz, ensure_ascii=False, indent=2),
        "entry.csv": "response",
    }
    return [
        *pdfs,
        *svgs,
        *(
            (home / name, partial(_encode_line, text))
            for name, text in text_files.items()
        ),
    ]


def _pages(
    texts: DeviceTexts | PairTexts, question: str
) -> dict[str, Callable[[Any, Paper], None]]:
    has_two = isinstance(texts, PairTexts | ChoosingTexts)
    device: dict[str, Callable[[Any, Paper], None]] = {
        texts.device.kind: sheets.device_sheet
    }
    return {
        **(device if isinstance(texts, DeviceTexts) else {}),
        "facts": sheets.facts_page,
        "question": partial(
            sheets.two_questions_card if has_two else sheets.question_card,
            question=question,
        ),
        "script": sheets.script_pages,
        "consent": sheets.consent_page,
        "quiz": partial(sheets.quiz_pages, key=False),
        "quiz-key": partial(sheets.quiz_pages, key=True),
        "entry": sheets.entry_sheet,
    }


def _draw_paper(
    texts: DeviceTexts | PairTexts, draw: Callable[[Any, Paper], None]
) -> Paper:
    epsilon = epsilon_words(texts.device.design.epsilon, texts.spoken)
    name = texts.device.design.hash.removeprefix("sha256:")[:12]
    paper = Paper(
        f"{texts.words['kinds'][texts.device.kind]} · ε = {epsilon} · design.json {name}"
    )
    draw(texts, paper)
    return paper


def _encode_line(text: str) -> bytes:
    return text.encode() + b"\n"

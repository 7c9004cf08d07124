"""A kit on the disk: a folder for each device, in which everything belongs to that device."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from deniable.designs import AnyDesign
from deniable.errors import InvalidRequest
from deniable.fieldkit import sheets
from deniable.fieldkit.paper import Paper, check_printable, pdf_bytes, svg_bytes
from deniable.fieldkit.physical import SIZES, PhysicalDevice, nearest_devices
from deniable.fieldkit.telling import Telling, check_language
from deniable.files.atomic import atomic_write, check_free
from deniable.survey.disclosure import epsilon_words

_MOST_LETTERS = 400  # of a question, to fit on its card


def write_kit(
    design: AnyDesign,
    folder: str | os.PathLike[str],
    *,
    language: str = "en",
    question: str = "",
    devices: Iterable[str] = tuple(SIZES),
    overwrite: bool = False,
) -> tuple[PhysicalDevice, ...]:
    """Write all that is needed to ask one question on paper: for each device a folder of its own.

    In each folder: the device to print (PDF and SVG), facts, question card, script, consent, quiz and key, data-entry
    sheet (PDF and CSV), and `design.json`, the design that this device really has, to tally with.

    Guarantee: each device reveals at most what the design does; every number is counted from its own outcomes.

    Args:
        design: what was asked for.
        folder: where to; it is made where it does not exist.
        language: "en", "de", "es" or "fr".
        question: the text of the question; a place to write it, if it is not given.
        devices: which kinds to write; those too coarse for the design are left out.
        overwrite: whether files that are there may be replaced.

    Returns:
        The devices that were written, in the order asked for.

    Raises:
        InvalidRequest: a design that no device makes, an unknown language or device, a question that cannot be printed,
            or a file that is there already.
    """
    check_language(language)
    _check_question(question)
    found = nearest_devices(design, devices)
    for label in (*found[0].asked.categories, *found[0].asked.symbols):
        check_printable(label, "a label of the design")
    files = [file for device in found for file in _files(Telling(device, language), Path(folder), question)]
    for path, _ in files:
        check_free(path, overwrite=overwrite)
    for path, write in files:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path, overwrite=overwrite) as file:
            file.write(write())
    return found


def _check_question(question: str) -> None:
    if len(question) > _MOST_LETTERS:
        raise InvalidRequest(
            f"the question has {len(question):,} letters; expected at most {_MOST_LETTERS}, to fit on its card."
        )
    check_printable(question, "the question")


def _files(told: Telling, folder: Path, question: str) -> list[tuple[Path, Callable[[], bytes]]]:
    """Draw all pages of one device, and return what is to be written where."""
    home, kind = folder / told.device.kind, told.device.kind
    pages = {name: _drawn(told, draw) for name, draw in _pages(kind, question).items()}
    pdfs = [(home / f"{name}.pdf", partial(pdf_bytes, paper.figures, name)) for name, paper in pages.items()]
    figures = pages[kind].figures
    names = [f"{kind}.svg"] if len(figures) == 1 else [f"{kind}-{page}.svg" for page in range(1, len(figures) + 1)]
    svgs = [(home / name, partial(svg_bytes, figure)) for name, figure in zip(names, figures, strict=True)]
    quiz = [item._asdict() for item in told.quiz()]
    texts = {
        "design.json": told.device.design.to_json(indent=2),
        "quiz-key.json": json.dumps(quiz, ensure_ascii=False, indent=2),
        "entry.csv": "response",
    }
    return [*pdfs, *svgs, *((home / name, partial(_line, text)) for name, text in texts.items())]


def _pages(kind: str, question: str) -> dict[str, Callable[[Telling, Paper], None]]:
    return {
        kind: sheets.device_sheet,
        "facts": sheets.facts_page,
        "question": partial(sheets.question_card, question=question),
        "script": sheets.script_pages,
        "consent": sheets.consent_page,
        "quiz": partial(sheets.quiz_pages, key=False),
        "quiz-key": partial(sheets.quiz_pages, key=True),
        "entry": sheets.entry_sheet,
    }


def _drawn(told: Telling, draw: Callable[[Telling, Paper], None]) -> Paper:
    epsilon = epsilon_words(told.device.design.epsilon, told.spoken)
    name = told.device.design.hash.removeprefix("sha256:")[:12]
    paper = Paper(f"{told.words['kinds'][told.device.kind]} · ε = {epsilon} · design.json {name}")
    draw(told, paper)
    return paper


def _line(text: str) -> bytes:
    return text.encode() + b"\n"

"""The sheets of a kit: the device itself, and the pages of text around it."""

from __future__ import annotations

from itertools import product
from math import cos, radians, sin

from deniable.fieldkit.paper import (
    FILLS,
    HEIGHT,
    INK,
    MARGIN,
    PALE,
    WIDTH,
    Paper,
    lines,
    text_width,
)
from deniable.fieldkit.texts import (
    ChoosingTexts,
    DeviceTexts,
    Outcome,
    PairTexts,
    PaperTexts,
)

# of the spinner; the smaller one leaves room for a long legend
_RADIUS, _SMALL_RADIUS, _FEW = 74.0, 55.0, 5
_CARD = (56.0, 80.0)  # width and height of a card
_GRID = (3, 3)  # cards in a row, and rows on a page
_LINES = 20  # of people on a data-entry sheet
_TEXT_WIDTH = WIDTH - 2 * MARGIN
_INDENT, _INNER = MARGIN + 8, _TEXT_WIDTH - 16  # of texts on a card
_PIPS = {1: "c", 2: "ai", 3: "aci", 4: "agdi", 5: "agcdi", 6: "abgdhi"}
_PLACES = {
    "a": (-1, -1),
    "b": (-1, 0),
    "g": (-1, 1),
    "d": (1, -1),
    "h": (1, 0),
    "i": (1, 1),
    "c": (0, 0),
}


def device_sheet(texts: DeviceTexts, paper: Paper) -> None:
    """Draw the device: what is cut out, or looked up."""
    paper.heading(texts.words["kinds"][texts.device.kind])
    paper.paragraph(texts.handling(), after=6)
    _SHEETS[texts.how](texts, paper)


def _legend(texts: DeviceTexts, paper: Paper) -> None:
    for number, (letter, instruction) in enumerate(texts.instructions()):
        text = f"{texts.rule(instruction)}  ({texts.count(instruction.count)})"
        start = paper.below
        paper.paragraph(text, size=10.5, indent=14, after=3)
        # the legend went on to a new page
        start = start if paper.below > start else MARGIN
        paper.box(MARGIN, start - 1, 9, 6.6, fill=FILLS[number])
        paper.letter(letter, MARGIN + 4.5, start + 2.4, size=10.5)


def _spinner(texts: DeviceTexts, paper: Paper) -> None:
    from matplotlib.patches import Circle, Wedge

    radius = _RADIUS if len(texts.device.instructions) <= _FEW else _SMALL_RADIUS
    x, y = WIDTH / 2, paper.room(2 * radius + 22) + radius + 9

    def point(distance: float, degrees: float) -> tuple[float, float]:
        angle = radians(degrees)
        return x + distance * cos(angle), y + distance * sin(angle)

    total, start = texts.device.outcomes, 0
    for number, (letter, instruction) in enumerate(texts.instructions()):
        angles = [
            360 * turn / total - 90 for turn in (start, start + instruction.count)
        ]  # from the top, clockwise
        sector = Wedge(
            (x, y),
            radius,
            *angles,
            facecolor=FILLS[number],
            edgecolor=INK,
            linewidth=1,
        )
        sector.set_gid(f"sector-{letter}")
        paper.axes.add_patch(sector)
        inside = instruction.count / total >= 0.04
        middle = point(radius * 0.7 if inside else radius + 5, sum(angles) / 2)
        paper.letter(letter, *middle, size=20 if inside else 12)
        start += instruction.count
    for tick in range(total):
        ends = [point(end, 360 * tick / total - 90) for end in (radius - 2, radius)]
        paper.axes.plot(*zip(*ends, strict=True), color=INK, linewidth=0.5)
    paper.axes.add_patch(Circle((x, y), 1.2, facecolor=INK))
    _legend(texts, paper)


def _cards(texts: DeviceTexts, paper: Paper) -> None:
    _legend(texts, paper)
    width, height = _CARD
    across, down = _GRID
    for number, outcome in enumerate(texts.outcomes):
        slot = number % (across * down)
        if not slot:
            paper.turn()
        left = (WIDTH - across * width) / 2 + slot % across * width
        top = MARGIN + slot // across * height
        paper.box(left, top, width, height, gid=f"card-{number}-{outcome.letter}")
        paper.letter(outcome.letter, left + 6, top + 7, size=12, colour=PALE)
        paper.boxed(outcome.rule, left + 4, top + 12, width - 8, height - 16)


def _one_die(texts: DeviceTexts, paper: Paper) -> None:
    for face, outcome in enumerate(texts.outcomes, 1):
        top = _outcome_row(paper, outcome, height=20)
        paper.box(MARGIN, top, 16, 16)
        _die(paper, face, MARGIN + 8, top + 8, 4.4)


def _die(
    paper: Paper, face: int, x: float, y: float, step: float, *, colour: str = INK
) -> None:
    from matplotlib.patches import Circle

    for pip in _PIPS[face]:
        across, down = _PLACES[pip]
        paper.axes.add_patch(
            Circle(
                (x + across * step, y + down * step), step * 0.36, facecolor=colour
            )
        )


def _outcome_row(paper: Paper, outcome: Outcome, *, height: float) -> float:
    """Write an outcome's letter and rule on a row, and return where the row starts; its left belongs to a picture."""
    top = paper.room(height)
    left = MARGIN + 62
    paper.box(left, top, 12, height - 4, fill=FILLS[outcome.instruction])
    paper.letter(outcome.letter, left + 6, top + (height - 4) / 2, size=12)
    width = WIDTH - MARGIN - left - 16
    paper.boxed(outcome.rule, left + 16, top, width, height - 4, size=11)
    return top


def _two_dice(texts: DeviceTexts, paper: Paper) -> None:
    cell, words = 19.0, texts.words["sheet"]
    top, left = paper.room(7 * cell + 12), (WIDTH - 7 * cell) / 2
    paper.write(words["light"], left + 4 * cell, top + 2, size=10, align="center")
    paper.write(words["dark"], left - 2, top + 4, size=10)
    for face in range(1, 7):
        middle = (face + 0.5) * cell
        _die(paper, face, left + middle, top + 6 + cell / 2, 4, colour=PALE)
        _die(paper, face, left + cell / 2, top + 6 + middle, 4)
    for (row, column), outcome in zip(
        product(range(1, 7), repeat=2), texts.outcomes, strict=True
    ):
        x, y = left + column * cell, top + 6 + row * cell
        gid = f"dice-{row}{column}-{outcome.letter}"
        paper.box(x, y, cell, cell, fill=FILLS[outcome.instruction], gid=gid)
        paper.letter(outcome.letter, x + cell / 2, y + cell / 2, size=15)
    _legend(texts, paper)


def _coins(texts: DeviceTexts, paper: Paper) -> None:
    from matplotlib.patches import Circle

    words = texts.spoken.words["device"]
    coin_sides = {"heads": "white", "tails": "#e3e7ea"}
    for sides, outcome in zip(
        product(coin_sides, repeat=texts.tosses), texts.outcomes, strict=True
    ):
        y = _outcome_row(paper, outcome, height=14) + 5
        for number, face in enumerate(sides):
            x = MARGIN + 7 + number * 15
            fill = coin_sides[face]
            paper.axes.add_patch(
                Circle((x, y), 6, facecolor=fill, edgecolor=INK, linewidth=0.8)
            )
            paper.boxed(words[face], x - 5.4, y - 3, 10.8, 6, size=9)


_SHEETS = {
    "spinner": _spinner,
    "cards": _cards,
    "die": _one_die,
    "dice": _two_dice,
    "coins": _coins,
}


def facts_page(texts: DeviceTexts | PairTexts, paper: Paper) -> None:
    """Tell those who analyse what the device is."""
    paper.heading(texts.words["facts"]["title"])
    for sentence in texts.facts():
        paper.paragraph(sentence)


def question_card(texts: DeviceTexts, paper: Paper, question: str) -> None:
    """Write the card that the person reads: the question, the answers, and what to do."""
    words = texts.words["question"]
    paper.heading(words["title"])
    top = paper.room(120)
    paper.box(MARGIN, top, _TEXT_WIDTH, 116)
    answers = f"{words['answers']} {'  ·  '.join(texts.categories)}"
    for text, start, height, size in (
        (question or words["blank"], 6, 44, 18),
        (answers, 52, 34, 13),
        (words["silent"], 88, 24, 12),
    ):
        bold = size == 18
        paper.boxed(text, _INDENT, top + start, _INNER, height, size=size, bold=bold)


def two_questions_card(
    texts: PairTexts | ChoosingTexts, paper: Paper, question: str
) -> None:
    """Write the card that the person reads: both questions, and what may be said, each with what it means."""
    words, width = texts.words["question"], _INNER
    harmless = texts.device.harmless.texts.get(texts.language, words["blank"])
    chosen = texts.choices() if isinstance(texts, PairTexts) else ()
    paper.heading(words["title"])
    height = 138 + 26 * len(chosen)
    top = paper.room(height)
    paper.box(MARGIN, top, _TEXT_WIDTH, height)
    for start, name, text in (
        (top + 6, "first", question or words["blank"]),
        (top + 52, "second", harmless),
    ):
        paper.write(words[name], _INDENT, start + 3, size=10, bold=True, colour=PALE)
        paper.boxed(text, _INDENT, start + 7, width, 34, size=16, bold=True)
    paper.boxed(words["both"], _INDENT, top + 98, width, 20, size=12)
    paper.boxed(words["say"], _INDENT, top + 119, width, 12, size=12)
    for number, (symbol, meaning) in enumerate(chosen):
        start = top + 133 + 26 * number
        paper.box(_INDENT, start, width, 22, fill=FILLS[number])
        paper.boxed(symbol, MARGIN + 10, start + 2, 46, 18, size=14, bold=True)
        paper.boxed(meaning, MARGIN + 60, start + 2, width - 56, 18, size=12)


def script_pages(texts: DeviceTexts | PairTexts, paper: Paper) -> None:
    """Write the interviewer's script."""
    words = texts.words["script"]
    paper.heading(words["title"])
    number = 0
    for phase in ("before", "during", "after"):
        paper.heading(words[phase], size=13)
        for sentence in words[f"steps_{phase}"]:
            number += 1
            line = sentence.replace("{say}", words["say"]).replace(
                "{device}", texts.request()
            )
            paper.paragraph(line, indent=10, mark=f"{number}")


def consent_page(texts: DeviceTexts | PairTexts, paper: Paper) -> None:
    """Write the consent text, with room to sign."""
    paper.heading(texts.words["consent"]["title"])
    for sentence in texts.consent():
        paper.paragraph(sentence)
    paper.paragraph(texts.words["consent"]["agree"], bold=True)
    paper.rule()
    paper.paragraph(texts.words["consent"]["sign"], size=9)


def quiz_pages(texts: DeviceTexts | PairTexts, paper: Paper, *, key: bool) -> None:
    """Write the quiz: with room to answer, or with the answers."""
    words = texts.words["quiz"]
    paper.heading(words["key" if key else "title"])
    paper.paragraph(words["key_lead" if key else "lead"], after=5)
    for number, (question, right) in enumerate(texts.quiz(), 1):
        paper.keep(30)
        paper.paragraph(question, indent=10, mark=f"{number}")
        if key:
            paper.paragraph(right, indent=10, bold=True, after=4)
        else:
            paper.rule()
            paper.room(4)


def entry_sheet(texts: PaperTexts, paper: Paper) -> None:
    """Draw the sheet that the interviewer ticks: a line for each person, a box for each symbol."""
    words = texts.words["entry"]
    paper.heading(words["title"])
    paper.paragraph(words["lead"])
    for symbol, code in zip(texts.symbols, texts.device.design.symbols, strict=True):
        if symbol != code:
            paper.paragraph(
                words["code"].format(symbol=symbol, code=code), size=9, after=0.5
            )
    paper.room(3)
    width = _TEXT_WIDTH / len(texts.symbols)
    for _ in range(min(_LINES, int((HEIGHT - MARGIN - paper.below) / 9))):
        top = paper.room(9)
        for number, symbol in enumerate(texts.symbols):
            left = MARGIN + number * width
            paper.box(left, top + 1.5, 5, 5)
            _write_label(paper, symbol, left + 6.5, top + 4, width - 8)


def _write_label(paper: Paper, text: str, x: float, y: float, width: float) -> None:
    """Write a label on one line, or on two in smaller letters; what is longer ends in dots."""
    fitting = [size for size in (10.5, 9, 7.5) if text_width(text, size) <= width]
    size = max(fitting, default=6.5)
    rows = lines(text, width, size)
    first_rows = rows[:2] if len(rows) <= 2 else [rows[0], f"{rows[1][:-1]}…"]
    for number, row in enumerate(first_rows):
        paper.write(row, x, y + (number - (len(first_rows) - 1) / 2) * 3, size=size)

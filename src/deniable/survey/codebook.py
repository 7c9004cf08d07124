"""The codebook of a survey: its variables, texts, codes and odds, for whoever reads the responses later.

Everything is read from the definition, so that it says what respondents were told. Probabilities and Bayes factors are
exact fractions: each is a fact about the design, and none about a respondent.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from deniable import exact
from deniable.designs import Design
from deniable.designs.proofs import format_factor
from deniable.errors import InvalidRequest, quoted
from deniable.files.cells import safe_cell
from deniable.survey.disclosure import epsilon_words
from deniable.survey.question import Question
from deniable.survey.survey import Survey

_MAX_CELLS = 1_000  # of one design that are listed one by one; more are not read
_MAX_READ = 1_000  # as a denominator; the other formats have every fraction as it is

KEYS_FOLLOW = (
    "A collector adds its keys to the definition when the survey is created. Links and `deniable survey list` name the "
    "hash of that, which is another one; `deniable survey definition NAME` writes it out."
)
"""Why the hash of an author's file is not the one that links name."""


class CodebookCell(NamedTuple):
    """One answer and one response of a design.

    Attributes:
        category: an answer that can be given.
        category_label: what it is called.
        response: a symbol.
        response_label: what it is called.
        probability: of the response, given the answer.
        factor_low: by how much the response multiplies the odds of the answer against another one, at least.
        factor_high: the same, at most; for two answers it is the same number.
    """

    category: str
    category_label: str
    response: str
    response_label: str
    probability: Fraction
    factor_low: exact.Ratio
    factor_high: exact.Ratio


@dataclass(frozen=True)
class Codebook:
    """The codebook of a survey in one language.

    Attributes:
        survey: what it is of.
        language: of texts and labels.

    Example:
        >>> from deniable.designs import warner
        >>> from deniable.survey import QuestionTexts, SurveyTexts
        >>> smokes = Question("smokes", warner(p="3/4"), {"en": QuestionTexts("Do you smoke?")})
        >>> print(Codebook(Survey("habits", {"en": SurveyTexts("Habits")}, (smokes,)), "en").to_csv().splitlines()[1])
        smokes,Do you smoke?,,,,browser,warner,1,1.099,no,no,no,no,3/4,3,3
    """

    survey: Survey
    language: str

    def __post_init__(self) -> None:
        if self.language not in self.survey.languages:
            raise InvalidRequest(
                f"the survey is not asked in {quoted(self.language, 20)}; expected one of "
                f"{', '.join(self.survey.languages)}."
            )

    def cells(self, question: Question, design: Design) -> tuple[CodebookCell, ...]:
        """Return all answers and responses of one stage of a question; none where they are too many to be listed."""
        channel = design.channel
        if channel.answers * channel.responses > _MAX_CELLS:
            return ()
        labels = question.labels(self.language)
        called = (
            question.symbols(self.language)
            if design is question.design
            else design.symbols
        )
        return tuple(
            CodebookCell(
                category,
                labels[x],
                symbol,
                called[y],
                channel.probability(y, given=x),
                *channel.bayes_factors(y, x),
            )
            for x, category in enumerate(design.categories)
            for y, symbol in enumerate(design.symbols)
        )

    def to_csv(self) -> str:
        """Return a table with a row for each question, stage, answer and response."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(
            (
                "question",
                "text",
                "arms",
                "check",
                "compare",
                "device",
                "design",
                "stage",
                "epsilon",
                *CodebookCell._fields,
            )
        )
        for question in self.survey.questions:
            for stage, design in enumerate(question.designs, 1):
                about = (
                    question.name, self._text(question), " ".join(self._arms(question)), question.right,
                    question.compare, question.device, design.name, stage, epsilon_words(design.epsilon),
                )  # fmt: skip
                for cell in self.cells(question, design) or [
                    ("",) * len(CodebookCell._fields)
                ]:
                    writer.writerow(
                        [safe_cell(_to_text(value)) for value in (*about, *cell)]
                    )
        return out.getvalue()

    def to_markdown(self) -> str:
        """Return a page to read: a chapter for each question, a table for each of its stages."""
        return "\n".join(self._chapters())

    def _chapters(self) -> Iterator[str]:
        survey, texts = self.survey, self.survey.texts[self.language]
        yield f"# {_escape_markdown(texts.title)}\n"
        yield f"`{survey.name}`, definition `{survey.hash}`.\n"
        if survey.keys is None:
            yield f"This is the hash of the author's file. {KEYS_FOLLOW}\n"
        for name in ("intro", "consent"):
            if getattr(texts, name):
                yield f"{_escape_markdown(getattr(texts, name))}\n"
        total = epsilon_words(survey.disclosure.epsilon)
        yield f"All responses of one respondent together have ε ≤ {total}.\n"
        odds = sum(arm.odds for arm in survey.arms)
        for arm in survey.arms:
            yield f"- The arm `{arm.name}` is drawn for {arm.odds} of {odds} respondents."
        yield from [""] if survey.arms else ()
        for question in survey.questions:
            yield from self._chapter(question)

    def _chapter(self, question: Question) -> Iterator[str]:
        texts = question.texts[self.language]
        yield f"## `{question.name}`\n"
        yield f"> {_escape_markdown(texts.text)}\n"
        for text in (texts.help, texts.instructions):
            if text:
                yield f"{_escape_markdown(text)}\n"
        yield from (f"{line}\n" for line in self._about(question))
        for stage, design in enumerate(question.designs, 1):
            number = f"Stage {stage}: design" if question.ladder else "Design"
            yield f"{number} `{design.name}`, `{design.hash}`, ε = {epsilon_words(design.epsilon)}.\n"
            cells = self.cells(question, design)
            if not cells:
                many = exact.text(design.channel.responses)
                yield f"{design.channel.answers:,} answers and {many} responses, which are not listed.\n"
                continue
            yield "| answer | response | probability | Bayes factors of the answer, at least and at most |"
            yield "| --- | --- | --- | --- |"
            for cell in cells:
                category, response = (
                    _join_label(cell.category, cell.category_label),
                    _join_label(cell.response, cell.response_label),
                )
                factors = f"{format_factor(cell.factor_low)}, {format_factor(cell.factor_high)}"
                yield f"| {category} | {response} | {_format_probability(cell.probability)} | {factors} |"
            yield ""
        if question.design.caveat:
            yield f"{question.design.caveat}\n"

    def _about(self, question: Question) -> Iterator[str]:
        yield f"Drawn by: {question.device}."
        if self._arms(question):
            yield f"Asked in: {', '.join(f'`{name}`' for name in self._arms(question))}."
        if question.check:
            yield (
                f"The comprehension check `{question.check}` of the catalogue: what is chosen is sent as it is, and "
                f"`{question.right}` is right."
            )
        if question.compare:
            yield f"Compared with `{question.compare}`, which asks the same of other people."

    def _arms(self, question: Question) -> tuple[str, ...]:
        """Return the arms that name a question; none where everybody is asked it."""
        return tuple(
            arm.name for arm in self.survey.arms if question.name in arm.questions
        )

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return the codebook with the element names of DDI Codebook 2.5, as JSON.

        What DDI has no element for, odds and what they reveal, stands under `deniable`.
        """
        survey, texts = self.survey, self.survey.texts[self.language]
        study = {
            "citation": {"titlStmt": {"titl": texts.title, "IDNo": survey.hash}},
            "stdyInfo": {"abstract": texts.intro},
            "dataAccs": {"useStmt": {"conditions": texts.consent}},
        }
        body = {
            "codeBook": {
                "@version": "2.5",
                "@xml:lang": self.language,
                "stdyDscr": study,
                "dataDscr": {
                    "var": [
                        self._variable(question) for question in survey.questions
                    ]
                },
            },
            "deniable": {
                "survey": survey.name,
                "epsilon": epsilon_words(survey.disclosure.epsilon),
                "minimum": survey.minimum,
                "admission": survey.admission,
                "arms": [arm.to_body() for arm in survey.arms],
            },
        }
        return json.dumps(body, ensure_ascii=False, indent=indent)

    def _variable(self, question: Question) -> dict[str, Any]:
        texts, design = question.texts[self.language], question.design
        has_cells = bool(self.cells(question, design))
        literals = {
            "qstnLit": texts.text,
            "preQTxt": texts.help,
            "ivuInstr": texts.instructions,
        }
        symbols = (
            zip(design.symbols, question.symbols(self.language), strict=True)
            if has_cells
            else ()
        )
        return {
            "@ID": question.name,
            "@name": question.name,
            "labl": texts.text,
            "qstn": {name: text for name, text in literals.items() if text},
            "catgry": [
                {"catValu": symbol, "labl": label} for symbol, label in symbols
            ],
            "deniable": {
                "device": question.device,
                "arms": list(self._arms(question)),
                "check": question.right,
                "compare": question.compare,
                "stages": [
                    self._stage(question, design) for design in question.designs
                ],
            },
        }

    def _stage(self, question: Question, design: Design) -> dict[str, Any]:
        return {
            "design": design.name,
            "hash": design.hash,
            "epsilon": epsilon_words(design.epsilon),
            "cells": [
                {name: _to_text(value) for name, value in cell._asdict().items()}
                for cell in self.cells(question, design)
            ],
        }

    def _text(self, question: Question) -> str:
        return question.texts[self.language].text


FORMATS: Mapping[str, Callable[[Codebook], str]] = {
    "csv": Codebook.to_csv,
    "md": Codebook.to_markdown,
    "json": Codebook.to_json,
}
"""How codebooks are written, by the ending of a file."""


def _to_text(value: object) -> object:
    """Return a fact for a file: an exact number as text."""
    if value == math.inf:
        return "inf"
    return str(value) if isinstance(value, Fraction) else value


def _format_probability(share: Fraction) -> str:
    """Return a probability to read: the fraction where it is a simple one."""
    return str(share) if share.denominator <= _MAX_READ else f"{float(share):.6f}"


def _escape_markdown(text: str) -> str:
    """Return a text for a page in Markdown, where nothing of it is taken for a mark."""
    line = " ".join(text.split())
    return "".join(
        f"\\{letter}" if letter in "\\`*_{}[]<>#|" else letter for letter in line
    )


def _join_label(value: str, label: str) -> str:
    return (
        _escape_markdown(label)
        if value == label
        else f"{_escape_markdown(label)} ({_escape_markdown(value)})"
    )

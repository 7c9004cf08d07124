"""What a survey says to people, in one language."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from deniable.errors import InvalidRequest, quoted

_MAX_LETTERS = 20_000  # in one text; a page of a book has about 2,000

# Words in brackets: no address, no comparison, and no markup, which is shown as it is.
_PLACEHOLDER = re.compile(r"<([^\W\d_][^<>@/=\n]+[^<>@/=\s])>(?!.*</\1>)", re.DOTALL)
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")

_T = TypeVar("_T", "SurveyTexts", "QuestionTexts", "PartTexts")


@dataclass(frozen=True, slots=True)
class SurveyTexts:
    """The words around the questions.

    Attributes:
        title: what the survey is called.
        intro: who asks, and why.
        consent: what a respondent agrees to.
        thanks: what is said at the end.
        contact: whom to ask about it.
    """

    title: str
    intro: str = ""
    consent: str = ""
    thanks: str = ""
    contact: str = ""

    def __post_init__(self) -> None:
        check_text(self.title, "the title")
        for name in ("intro", "consent", "thanks", "contact"):
            check_text(getattr(self, name), name, empty=True)


@dataclass(frozen=True, slots=True)
class PartTexts:
    """The words of one of several questions that are answered together, as one response.

    Attributes:
        text: the question.
        help: what helps to understand it.
        labels: what its answers are called, one for each in their order; none where they are called as they are.
    """

    text: str
    help: str = ""
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_text(self.text, "the text of a part of a question")
        check_text(self.help, "help", empty=True)
        object.__setattr__(self, "labels", _labels(self.labels, "labels"))


@dataclass(frozen=True, slots=True)
class QuestionTexts:
    """The words of one question.

    Attributes:
        text: the question.
        help: what helps to understand it.
        instructions: how to use a physical device, where coins, dice or cards are used otherwise than the page would
            tell by itself.
        labels: what the categories are called, one for each in their order; none where they are called as they are.
        symbols: what the responses are called, the same way, where they are not called as the categories are.
        parts: of a `product`: the words of each of its attributes, in their order, which are then asked one by one and
            answered together; none where their combinations are chosen from.
    """

    text: str
    help: str = ""
    instructions: str = ""
    labels: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    parts: tuple[PartTexts, ...] = ()

    def __post_init__(self) -> None:
        check_text(self.text, "the text of a question")
        check_text(self.help, "help", empty=True)
        check_text(self.instructions, "instructions", empty=True)
        for name in ("labels", "symbols"):
            object.__setattr__(self, name, _labels(getattr(self, name), name))
        object.__setattr__(self, "parts", tuple(self.parts))
        if self.parts and self.labels:
            raise InvalidRequest(
                "a question in parts has labels of its own; expected labels in its parts alone."
            )


def _labels(label_texts: Sequence[str], name: str) -> tuple[str, ...]:
    labels = tuple(label_texts)
    for label in labels:
        check_text(label, name)
    if len(set(labels)) < len(labels):
        raise InvalidRequest(
            f"{name} holds one of its texts twice; expected different ones."
        )
    return labels


def check_text(text: object, name: str, *, empty: bool = False) -> None:
    """Refuse what is no text, is empty, or is longer than a book's pages.

    Raises:
        InvalidRequest: it is.
    """
    if not isinstance(text, str):
        raise InvalidRequest(f"{name} is a {type(text).__name__}; expected text.")
    broken = any("\ud800" <= letter <= "\udfff" or letter == "\0" for letter in text)
    if broken or len(text) > _MAX_LETTERS or not (empty or text.strip()):
        raise InvalidRequest(
            f"{name} is empty, broken or too long; expected 1 to {_MAX_LETTERS:,} letters."
        )


def check_languages(languages: tuple[str, ...]) -> None:
    """Refuse languages that repeat, or are not written as in HTML.

    Raises:
        InvalidRequest: they are not.
    """
    if not languages or len(set(languages)) < len(languages):
        raise InvalidRequest(
            "the languages are missing or repeat; expected at least one, each once."
        )
    for tag in languages:
        if not isinstance(tag, str) or not _LANGUAGE.fullmatch(tag):
            raise InvalidRequest(
                f"{quoted(tag)} is no language; expected a tag such as 'en', 'de' or 'pt-BR'."
            )


def check_spoken(
    texts: Mapping[str, object], languages: tuple[str, ...], name: str
) -> None:
    """Refuse texts that are not there in every language of the survey.

    Raises:
        InvalidRequest: one is missing, or one is in a language that the survey does not have.
    """
    if set(texts) != set(languages):
        raise InvalidRequest(
            f"{name} has texts in {', '.join(sorted(texts)) or 'no language'}; expected {', '.join(languages)}.",
            "Every text is written in every language of the survey.",
        )


def placeholders(texts: Mapping[str, Any], name: str) -> list[str]:
    """Return what a template left to be filled in, such as "<why>", each with the field that it stands in.

    Example:
        >>> spoken = SurveyTexts("Work", intro="Asked by <who asks>.", contact="Ann <ann@work.example>")
        >>> placeholders({"en": spoken}, "texts")
        ['<who asks> in texts.en.intro']
    """
    return [
        f"<{placeholder}> in {name}.{language}.{field}"
        for language, spoken in to_body(texts).items()
        for field, value in spoken.items()
        for placeholder in _PLACEHOLDER.findall(str(value))
    ]


def to_body(texts: Mapping[str, Any]) -> dict[str, Any]:
    """Return texts for JSON, by language; what is empty is left out."""
    return {language: _body(spoken) for language, spoken in texts.items()}


def present(**facts: object) -> dict[str, Any]:
    """Return those of the facts that are there; what is empty, 0 or missing is left out of a file."""
    return {name: value for name, value in facts.items() if value}


def _body(spoken: SurveyTexts | QuestionTexts | PartTexts) -> dict[str, Any]:
    texts = {field.name: getattr(spoken, field.name) for field in fields(spoken)}
    for name in ("labels", "symbols"):
        texts[name] = list(texts.get(name, ()))
    texts["parts"] = [_body(part) for part in texts.get("parts", ())]
    return present(**texts)


def from_body(kind: type[_T], value: object, name: str) -> dict[str, _T]:
    """Read texts by language.

    Raises:
        InvalidRequest: not a table of tables, or a field that does not exist.
    """
    if not isinstance(value, Mapping) or not all(
        isinstance(entry, Mapping) for entry in value.values()
    ):
        raise InvalidRequest(
            f"the texts of {name} are missing; expected a table for each language, such as texts.en."
        )
    return {
        language: _read_texts(kind, spoken, f"{name} in {quoted(language, 12)}")
        for language, spoken in value.items()
    }


def _read_texts(kind: type[_T], table: Mapping[str, Any], name: str) -> _T:
    names = {field.name for field in fields(kind)}
    unknown = set(table) - names
    first = next(iter(fields(kind))).name
    if unknown or first not in table:
        problem = (
            f"{quoted(sorted(unknown)[0])} is no text"
            if unknown
            else f"{first!r} is missing"
        )
        raise InvalidRequest(
            f"in the texts of {name} {problem}; expected {', '.join(sorted(names))}."
        )
    for field in ("labels", "symbols", "parts"):
        if field in table and not isinstance(table[field], list | tuple):
            raise InvalidRequest(
                f"{field} of {name} is no list; expected a list of texts."
            )
    if "parts" not in table:
        return kind(**table)
    if not all(isinstance(entry, Mapping) for entry in table["parts"]):
        raise InvalidRequest(
            f"a part of {name} is no table; expected a text, and perhaps labels and help."
        )
    part_texts = tuple(
        _read_texts(PartTexts, entry, f"a part of {name}")
        for entry in table["parts"]
    )
    return kind(**{**table, "parts": part_texts})

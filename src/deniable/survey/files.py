"""Surveys as people write them: TOML or JSON, with designs by family and parameters, by file, or whole."""

from __future__ import annotations

import inspect
import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import date, datetime
from os import PathLike
from pathlib import Path
from typing import Any

from deniable import documents
from deniable.criteria import read_criterion
from deniable.designs import FAMILIES, AnyDesign, Design
from deniable.errors import DeniableError, InvalidRequest, UnreadableFile, quoted
from deniable.order.ladders import Ladder, stages_of
from deniable.order.relaxation import family_ladder
from deniable.survey import texts as spoken
from deniable.survey.arms import SurveyArm, read_arms
from deniable.survey.checks import comprehension_check
from deniable.survey.question import Question
from deniable.survey.survey import Survey
from deniable.survey.texts import QuestionTexts, SurveyTexts
from deniable.types import FOLDERS, find_type_operation, read_design

# What a collector adds is not written by hand, and a design may be written as a ladder.
_SURVEY = {field.name for field in fields(Survey)} - {"keys", "pilot"}
_QUESTION = {field.name for field in fields(Question)} - {"about", "right"} | {
    "demand",
    "design",
    "ladder",
}


def read(path: str | PathLike[str]) -> Survey:
    """Read a survey from a file, as `Survey.read` says."""
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
        document = (
            tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
        )
    except OSError as error:
        raise UnreadableFile(f"cannot read {path}: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise UnreadableFile(
            f"{path.name} cannot be read ({error}); expected TOML in a file that ends in .toml, else JSON."
        ) from None
    return from_document(document, folder=path.parent)


def from_document(document: object, *, folder: Path | None = None) -> Survey:
    """Read a survey from what TOML or JSON was parsed to.

    Args:
        document: as people write it, or as `Survey.to_json` writes it.
        folder: where files of designs are looked for; None where no file may be named.

    Raises:
        UnreadableFile: a sealed survey or design that was edited.
        InvalidRequest: something in it is missing or does not fit.
    """
    table = _table(document, "the survey")
    if "schema" in table:
        return Survey.from_json(json.dumps(table, ensure_ascii=False))
    _refuse_unknown(table, _SURVEY, "the survey")
    languages = _list(table.get("languages", ["en"]), "languages")
    options: dict[str, Any] = {
        name: table[name]
        for name in ("minimum", "admission", "each", "acknowledge", "planned")
        if name in table
    }
    arms = read_arms(table["arms"]) if "arms" in table else ()
    options |= {
        name: _day(table[name], name)
        for name in ("opens", "closes")
        if name in table
    }
    return Survey(
        name=table.get("name", ""),
        texts=spoken.from_body(SurveyTexts, table.get("texts"), "the survey"),
        questions=_questions(table.get("questions", []), arms, languages, folder),
        languages=tuple(languages),
        arms=arms,
        groups=tuple(_list(table.get("groups", []), "groups")),
        **options,
    )


def _questions(
    entries: object,
    arms: tuple[SurveyArm, ...],
    languages: list[str],
    folder: Path | None,
) -> tuple[Question, ...]:
    """Return the questions in their order; checks are made when the devices that they ask about are known."""
    tables = _list(entries, "questions", dict)
    asked = [
        None if "check" in table else _question(table, folder) for table in tables
    ]
    devices = [question for question in asked if question]
    return tuple(
        question or _check(table, devices, arms, languages)
        for question, table in zip(asked, tables, strict=True)
    )


def _check(
    table: Mapping[str, Any],
    devices: list[Question],
    arms: tuple[SurveyArm, ...],
    languages: list[str],
) -> Question:
    name = table.get("name", "")
    check = comprehension_check(
        name, table["check"], devices, arms=arms, languages=languages
    )
    _refuse_unknown(table, {"name", "check"}, f"the check {quoted(name, 50)}")
    return check


def _question(table: Mapping[str, Any], folder: Path | None) -> Question:
    name = f"the question {quoted(table.get('name', ''), 50)}"
    _refuse_unknown(table, _QUESTION, name)
    options = {
        name: table[name]
        for name in ("device", "acknowledge", "compare")
        if name in table
    }
    try:
        about = _about(table, folder)
        if "demand" in table:
            _check_demand(about, documents.field(table, "demand", str))
    except DeniableError as error:
        raise InvalidRequest(f"{name}: {error.problem}", error.hint) from None
    return Question(
        name=table.get("name", ""),
        about=about,
        texts=spoken.from_body(QuestionTexts, table.get("texts"), name),
        **options,
    )


def _about(table: Mapping[str, Any], folder: Path | None) -> AnyDesign:
    """Return the design of a question, or its ladder."""
    ladder = table.get("ladder")
    if isinstance(ladder, list):
        parameters = dict(_table(table.get("design"), "the design"))
        family = parameters.pop("family", "subset")
        if (
            not isinstance(family, str)
            or "categories" not in parameters
            or "schema" in parameters
        ):
            raise InvalidRequest(
                "a ladder of ε needs a design with categories, and perhaps a family."
            )
        return family_ladder(
            family, parameters.pop("categories"), ladder, **parameters
        )
    if (ladder is None) == (table.get("design") is None):
        raise InvalidRequest(
            "expected a design, or a ladder; or a design's categories and a ladder of ε."
        )
    if ladder is not None:
        return Ladder.from_json(_read_json(ladder, folder))
    design = table["design"]
    if isinstance(design, str) or "schema" in _table(design, "the design"):
        return read_design(_read_json(design, folder))
    return _build_design(dict(design))


def _check_demand(about: AnyDesign, demand: str) -> None:
    """Refuse a design, or the finest one of a ladder, that does not meet what the author demands of it."""
    if not isinstance(about, Design | Ladder):
        raise InvalidRequest(
            "a demand goes with a design for categories, or a ladder; expected none."
        )
    verdict = read_criterion(demand).check(stages_of(about)[-1])
    if not verdict:
        raise InvalidRequest(
            str(verdict).removeprefix("Fails: "),
            "Find one that does: deniable design optimal --demand.",
        )


def _build_design(parameters: dict[str, Any]) -> AnyDesign:
    family = parameters.pop("family", None)
    builders: dict[str, Callable[..., AnyDesign]] = {
        name: family.build for name, family in FAMILIES.items()
    }
    for asks in FOLDERS:
        for name in ("BUILDERS", "FAMILIES"):
            more = find_type_operation(asks, name) or ()
            builders |= {build.__name__: build for build in more}
    if not isinstance(family, str) or family not in builders:
        raise InvalidRequest(
            f"the family is {quoted(family)}; expected one of {', '.join(sorted(builders))}."
        )
    if "designs" in parameters:
        parameters["designs"] = _factors(parameters["designs"])
    expected = ", ".join(inspect.signature(builders[family]).parameters)
    try:
        return builders[family](**parameters)
    except (
        TypeError,
        AttributeError,
    ):  # a parameter that it does not have, or one of another kind
        raise InvalidRequest(
            f"{family} cannot be built of {', '.join(parameters) or 'nothing'}; expected {expected}."
        ) from None


def _factors(value: object) -> Any:
    """Return the designs of a product: by attribute, or in a list; each with a family of its own, or written out."""
    if isinstance(value, list):
        return [_factor(entry) for entry in value]
    return {
        name: _factor(entry)
        for name, entry in _table(value, "the designs of the attributes").items()
    }


def _factor(value: object) -> AnyDesign:
    table = _table(value, "the design of an attribute")
    if "schema" in table:
        return Design.from_json(_read_json(table, None))
    return _build_design(dict(table))


def _read_json(value: object, folder: Path | None) -> str:
    """Return the JSON of a design or ladder that is written out, or lies in a file."""
    if not isinstance(value, str):
        return json.dumps(_table(value, "the design"), ensure_ascii=False)
    if folder is None:
        raise InvalidRequest(
            "a design is named by a file; expected it written out here.",
            "Send its whole JSON instead.",
        )
    try:
        return (folder / value).read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise InvalidRequest(
            f"the file {quoted(value, 80)} cannot be read; expected a design beside the survey."
        ) from None


def _table(value: object, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidRequest(
            f"{name} is a {type(value).__name__}; expected a table of named fields."
        )
    return value


def _list(value: object, name: str, kind: type = str) -> list[Any]:
    if not isinstance(value, list) or not all(
        isinstance(entry, kind) for entry in value
    ):
        expected = "texts" if kind is str else "tables"
        raise InvalidRequest(
            f"{name} is not as it should be; expected a list of {expected}."
        )
    return value


def _day(value: object, name: str) -> date | None:
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        raise InvalidRequest(
            f"{name} is {quoted(value)}; expected a day such as 2026-03-31."
        ) from None


def _refuse_unknown(table: Mapping[str, Any], fields: set[str], name: str) -> None:
    unknown = sorted(set(table) - fields)
    if unknown:
        raise InvalidRequest(
            f"{name} has a field {quoted(unknown[0])}; expected {', '.join(sorted(fields))}."
        )

"""Surveys to start from: whole files in several languages, to be changed where they say so."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from deniable.errors import InvalidRequest, quoted, require_choice

TEMPLATES = (
    "yes-no",
    "three-questions",
    "dice",
    "crosswise",
    "unrelated",
    "validation",
)
"""The surveys that there are to start from."""

_TEXTS = re.compile(r"\[(?:questions\.)?texts\.([A-Za-z-]+)\]")


def survey_template(name: str, *, languages: Sequence[str] = ()) -> str:
    """Return a survey to start from, as TOML: wordings, a design, and where the design needs one a harmless question.

    Args:
        name: one of `TEMPLATES`.
        languages: those to keep, the default one first; all that the template has, unless you say.

    Raises:
        InvalidRequest: no such template, or a language that it is not written in.

    Example:
        >>> survey_template("dice", languages=["de"]).count("[texts.")
        1
    """
    text = _text(name)
    has = tomllib.loads(text)["languages"]
    unknown = [tag for tag in languages if tag not in has]
    if unknown:
        raise InvalidRequest(
            f"the template {name!r} is not written in {quoted(unknown[0], 20)}; expected {', '.join(has)}.",
            "Take one of these, and translate its texts.",
        )
    return _keep_languages(text, languages) if languages else text


def template_title(name: str) -> str:
    """Say in a line what a template is for.

    Raises:
        InvalidRequest: no such template.
    """
    return _text(name).partition("\n")[0].removeprefix("# ")


@cache
def _text(name: str) -> str:
    require_choice("there is no template", name, TEMPLATES)
    return (
        files("deniable.survey")
        .joinpath("templates", f"{name}.toml")
        .read_text(encoding="utf-8")
    )


def _keep_languages(text: str, languages: Sequence[str]) -> str:
    """Leave out the texts in other languages: whole paragraphs, which begin with their table's name."""
    blocks = []
    for paragraph in text.split("\n\n"):
        table = _TEXTS.match(paragraph)
        if not table or table[1] in languages:
            blocks.append(paragraph)
    listed = ", ".join(f'"{tag}"' for tag in dict.fromkeys(languages))
    return (
        re.sub(
            r"^languages = .*$",
            f"languages = [{listed}]",
            "\n\n".join(blocks),
            count=1,
            flags=re.M,
        ).rstrip()
        + "\n"
    )

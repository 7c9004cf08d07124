"""Nothing at the collector's side can be handed an answer: no parameter, field, column or page of it is one.

The import contract in `pyproject.toml` keeps the collector's side away from all that draws responses. Here the same
packages are read line by line: whatever is called an answer must be on a short list that says why it is none.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import deniable

SOURCE = Path(deniable.__file__).parent
PROJECT = SOURCE.parent.parent / "pyproject.toml"
CALLED = re.compile(r"(^|_)answers?(_|$)")
COLUMN = re.compile(r"(?is)\b(CREATE TABLE|ALTER TABLE|INSERT INTO)\b.*\banswers?\b")
FIELD = re.compile(r"""(?i)\b(?:name|id|form)=["'][^"']*\banswers?\b""")

PACKAGES = {
    "collector",
    "tallies",
    "estimates",
    "report",
    "survey",
    "files",
    "db",
    "plan",
    "attacks",
}
"""The packages that count, estimate, plan, ask and tell; what counts records belongs to them, module by module."""

DRAWING = {"audit", "design", "respond", "draw", "schemes", "hashing"}
"""Modules of a type of question that build designs, encode answers or draw."""

NONE_OF_THEM = {
    "estimates.scrambled.designs.device_variance(answer)": "a number that the variance is computed at",
    "estimates.scrambled.designs.epsilon(answers)": "the numbers between which respondents are protected",
    "estimates.scrambled.designs.parity(answers)": "the numbers between which respondents are protected",
    "estimates.kronecker.answers": "how many categories each factor has",
    "attacks.inference._p_majority_correct(answer)": "the number of a category that an attack is reckoned for",
    "attacks.inference.follow(answer)": "the number of a category that an attack is reckoned for",
    "attacks.inference.answers()": "how many categories the attacked design has",
    "attacks.simulated._draw_stages(answers)": "categories of simulated people, drawn here",
    "estimates.by_answer.by_answer()": "what groups are made by: their shares and means, never one person's",
    "estimates.quantiles.quantiles_by_answer()": "what groups are made by",
    "plan.outcomes.by_answer()": "what groups are made by",
    "certificates.checker.'answer'": "the number of a category, in a table of the channel",
    "claims.statements.'answer'": "the number of a category, in a table of the channel",
    "claims.statements._bayes_factors(answers)": "numbers of the categories that a table of the channel has",
    "certificates.page.'answer'": "the number of a category, in a table of the channel",
    "fieldkit.sheets.'answers'": "the heading of the categories, on a printed page",
    "fieldkit.texts.said(answer)": "the number of a category whose people are told about, whoever they are",
}
"""What is called an answer at the collector's side, and why it is nobody's."""


def contract() -> dict[str, Any]:
    contracts = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["tool"][
        "importlinter"
    ]["contracts"]
    (found,) = [
        each
        for each in contracts
        if each["name"] == "Nothing at the collector's side can hold a true answer"
    ]
    return dict(found)


def modules() -> list[Path]:
    """Every module of the collector's side, as the contract names it."""
    return [file for name in contract()["source_modules"] for file in files(name)]


def files(name: str) -> list[Path]:
    """The files of a package or module; a star in its name stands for one folder."""
    *folders, last = name.split(".")[1:]
    found = [
        *SOURCE.glob("/".join([*folders, f"{last}.py"])),
        *SOURCE.glob("/".join([*folders, last, "**/*.py"])),
    ]
    assert found, f"the contract names {name}, and there is no such module"
    return sorted(found)


def called_answers(text: str) -> Iterator[str]:
    """Yield what a module calls an answer: functions, parameters, fields, attributes, texts and columns."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            name = getattr(node, "name", "lambda")
            if CALLED.search(name):
                yield f"{name}()"
            arguments = node.args
            every = [
                *arguments.posonlyargs,
                *arguments.args,
                *arguments.kwonlyargs,
                arguments.vararg,
                arguments.kwarg,
            ]
            yield from (
                f"{name}({each.arg})"
                for each in every
                if each and CALLED.search(each.arg)
            )
        elif (
            isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and CALLED.search(node.target.id)
        ):
            yield node.target.id
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and CALLED.search(node.attr)
        ):
            yield f".{node.attr}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value in {"answer", "answers"}:
                yield repr(node.value)
            elif COLUMN.search(node.value):
                yield "a column"


def test_only_what_is_nobodys_answer_is_called_one() -> None:
    found = {
        f"{'.'.join(file.relative_to(SOURCE).with_suffix('').parts)}.{name}".replace(
            "..", "."
        )
        for file in modules()
        for name in called_answers(file.read_text(encoding="utf-8"))
    }
    assert found == set(NONE_OF_THEM), (
        "an answer at the collector's side, or a line of the list that nothing needs"
    )


def test_the_contract_names_every_module_of_the_collectors_side() -> None:
    assert {f"deniable.{name}" for name in PACKAGES} <= set(
        contract()["source_modules"]
    )
    counting = {
        file
        for file in (SOURCE / "types").glob("*/*.py")
        if file.stem not in DRAWING | {"__init__"}
    }
    assert counting <= set(modules()), (
        "a module of types that neither builds nor draws"
    )


def test_the_contract_forbids_every_module_that_is_handed_answers_to_draw_from() -> (
    None
):
    forbidden = {
        file for name in contract()["forbidden_modules"] for file in files(name)
    }
    for drawing in (
        "responses/*.py",
        "release/**/*.py",
        "engines/**/*.py",
        "bulk/*.py",
        "types/*/respond.py",
        "types/*/draw.py",
    ):
        assert set(SOURCE.glob(drawing)) <= forbidden
    assert contract()["type"] == "forbidden"
    assert "ignore_imports" not in contract()


def test_no_form_of_a_page_has_a_field_for_an_answer() -> None:
    """What a form sends is a response; the page's own inputs have no name that a form would send."""
    pages = {
        each.name: each.read_text(encoding="utf-8")
        for each in (SOURCE / "collector/templates").rglob("*.html")
    }
    assert len(pages) > 10
    assert {
        name: found for name, text in pages.items() if (found := FIELD.findall(text))
    } == {}


@pytest.mark.parametrize(
    ("planted", "name"),
    [
        ("def submit(store, *, answer): ...", "submit(answer)"),
        ("async def keep(true_answers): ...", "keep(true_answers)"),
        ("def answers_of(key): ...", "answers_of()"),
        ("keep = lambda answer: answer", "lambda(answer)"),
        ("def keep(**answers): ...", "keep(answers)"),
        ("class Submission(Struct):\n    key: str\n    answer: str", "answer"),
        (
            "class Held:\n    def __init__(self, given):\n        self.answer = given",
            ".answer",
        ),
        ("body = {'answer': 1}", "'answer'"),
        ("SQL = 'CREATE TABLE response (key TEXT, answer TEXT)'", "a column"),
        ("SQL = 'insert into kept (key, answer) values (?, ?)'", "a column"),
    ],
)
def test_an_answer_that_is_planted_is_found(planted: str, name: str) -> None:
    assert list(called_answers(planted)) == [name]


def test_words_that_only_sound_alike_are_left_alone() -> None:
    assert (
        list(
            called_answers(
                "def width(channel): return channel.answers\nunanswered: int = 0"
            )
        )
        == []
    )

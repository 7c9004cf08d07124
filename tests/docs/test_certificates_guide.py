"""The commands of the guide to certificates, as they stand there, give the hash that a link names."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

import deniable as dn
from deniable.certificates import checker
from deniable.collector.app import make_app
from deniable.collector.store import open_store
from deniable.survey import Link
from tests.support.collector import UNLIMITED, listening
from tests.support.commands import done

GUIDE = Path("docs/guides/certificates.md").resolve()
SURVEY = """
name = "working-life"
[texts.en]
title = "Working life"
[[questions]]
name = "smokes"
design = { family = "warner", epsilon = 1 }
[questions.texts.en]
text = "Do you smoke?"
"""


def commands() -> list[list[str]]:
    """Return the guide's commands, without what is written to files by the shell."""
    lines = re.findall(
        r"^    ((?:deniable|python) .*)$",
        GUIDE.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    return [shlex.split(line) for line in lines]


def test_the_guides_commands_give_the_hash_of_the_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    design = dn.k_ary(["never", "once", "often"], epsilon=1)
    Path("design.json").write_text(design.to_json(), encoding="utf-8")
    Path("survey.toml").write_text(SURVEY, encoding="utf-8")
    store = open_store(tmp_path / "store.db")
    store.create(dn.Survey.read("survey.toml"))
    survey = store.open("working-life").survey
    printed = ""
    with listening(make_app(UNLIMITED, store)) as base:
        link = Link.to_survey(survey, base).text
        for command in commands():
            words = [
                link if word.startswith("https://") else word for word in command
            ]
            if words[0] == "python":
                done_apart = subprocess.run(
                    [sys.executable, *words[1:]],
                    capture_output=True,
                    text=True,
                    check=True,
                )
                printed += done_apart.stdout
            elif ">" in words:
                Path(words[-1]).write_text(
                    done(*words[1 : words.index(">")]).stdout, encoding="utf-8"
                )
            else:
                done(*words[1:])
    store.shut()
    assert design.hash in printed
    checked = subprocess.run(
        [sys.executable, "checker.py", "survey-certificate.json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"of sha256:{Link.read(link).definition}" in checked.stdout


def test_a_survey_that_is_not_fielded_says_that_its_hash_will_change(
    tmp_path: Path,
) -> None:
    path = tmp_path / "survey.toml"
    path.write_text(SURVEY, encoding="utf-8")
    assert "certify the link" in done("certify", path).stderr


ARMS = """
[[arms]]
name = "device"
questions = ["smokes"]
[[arms]]
name = "direct"
questions = ["smokes-direct"]
[[questions]]
name = "smokes-direct"
design = { family = "direct" }
acknowledge = "inf"
compare = "smokes"
[questions.texts.en]
text = "Do you smoke?"
"""
SECOND_LANGUAGE = """
[texts.de]
title = "Arbeitsleben"
[questions.texts.de]
text = "Rauchen Sie?"
"""


def with_second_language(text: str) -> str:
    title, question = SECOND_LANGUAGE.split("\n[questions", 1)
    head, rest = text.split("[[questions]]", 1)
    language = 'name = "working-life"\nlanguages = ["en", "de"]'
    head = head.replace('name = "working-life"', language)
    return f"{head}{title}\n[[questions]]{rest}[questions{question}"


@pytest.mark.parametrize(
    "text",
    [SURVEY, f"acknowledge = 'inf'\n{SURVEY}{ARMS}", with_second_language(SURVEY)],
    ids=["opened", "arms", "two languages"],
)
def test_an_opened_survey_is_certified_under_the_hash_of_its_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """By its link, and from the definition that the collector sends to every respondent."""
    monkeypatch.chdir(tmp_path)
    Path("survey.toml").write_text(text, encoding="utf-8")
    store = open_store(tmp_path / "store.db")
    store.create(dn.Survey.read("survey.toml"))
    survey = store.open("working-life").survey
    with listening(make_app(UNLIMITED, store)) as base:
        link = Link.to_survey(survey, base)
        definition = httpx.get(f"{base}/api/surveys/working-life").json()
        certified = [done("certify", link.text, "--json").stdout]
    Path("opened.json").write_text(json.dumps(definition), encoding="utf-8")
    certified.append(done("certify", "opened.json", "--json").stdout)
    store.shut()
    for output in certified:
        document = checker.verify(output)["document"]
        assert document["hash"] == survey.hash == f"sha256:{link.definition}"

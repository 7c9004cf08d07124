"""The guide to the collector names every setting, command and route, and what is in deploy/ fits."""

from __future__ import annotations

import configparser
import re
import shlex
from pathlib import Path

import pytest

from deniable.cli.commands import command_of
from deniable.collector.app import ENDPOINTS
from deniable.collector.serve import check_reachable
from deniable.collector.settings import PREFIX, Settings, read

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guides" / "collector.md").read_text(encoding="utf-8")
DEPLOY = ROOT / "deploy"


def test_every_setting_is_explained() -> None:
    table = PAGE.split("## Settings")[1].split("## ")[0]
    named = re.findall(
        r"`(\w+)`", "\n".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `"))
    )
    assert sorted(named) == sorted(Settings.__struct_fields__)
    assert all(name in (Settings.__doc__ or "") for name in named)


def test_every_route_is_listed_once() -> None:
    table = PAGE.split("## For programs")[1].split("## ")[0]
    rows = "\n".join(line for line in table.splitlines() if line.startswith("| `"))
    listed = re.findall(r"`(GET|POST|DELETE) (/\S*)`", rows)
    assert sorted(listed) == sorted((row.method, row.path) for row in ENDPOINTS)


def test_every_command_is_listed() -> None:
    group = command_of("survey")
    table = PAGE.split("## Commands")[1].split("## ")[0]
    for name in group.commands:
        assert re.search(rf"(survey |`){name}\b", table), name


def test_the_settings_to_deploy_with_are_settings() -> None:
    settings = read(DEPLOY / "collector.toml")
    check_reachable(settings)
    assert settings.encrypted
    assert f"reverse_proxy {settings.host}:{settings.port}" in (DEPLOY / "Caddyfile").read_text()


def test_the_container_sets_what_can_be_set_and_runs_as_nobody_special() -> None:
    text = (DEPLOY / "Containerfile").read_text()
    variables = re.findall(rf"{PREFIX}(\w+)=(\S+)", text.partition("\nFROM")[2])
    given = {PREFIX + name: value for name, value in variables if name != "ADDRESS"}
    settings = read(None, {**given, f"{PREFIX}ADDRESS": "https://survey.example"})
    assert len(given) == 3
    check_reachable(settings)
    assert re.search(r"^USER \d+$", text, re.MULTILINE)
    assert f"EXPOSE {settings.port}" in text
    copied = [each for line in re.findall(r"^COPY (?!--)(.+) \S+$", text, re.MULTILINE) for each in line.split()]
    assert all((ROOT / each).exists() for each in copied)


def test_the_unit_runs_a_command_that_exists() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(DEPLOY / "deniable.service")
    words = shlex.split(unit["Service"]["ExecStart"])
    command = command_of(words[1])
    assert words[2] in {option for each in command.params for option in each.opts}
    assert unit["Service"]["NoNewPrivileges"] == "yes"
    assert int(unit["Service"]["TimeoutStopSec"]) > Settings().grace


@pytest.mark.parametrize("name", ["Containerfile", "deniable.service", "collector.toml", "Caddyfile"])
def test_each_file_says_what_it_is_for(name: str) -> None:
    assert (DEPLOY / name).read_text().startswith("# ")

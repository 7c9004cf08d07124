"""The guide to the collector names every setting, command and route, and what is in deploy/ fits."""

from __future__ import annotations

import configparser
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from deniable.cli.commands import command_of
from deniable.collector.app import ENDPOINTS, make_app
from deniable.collector.serve import check_proxies, check_reachable, configuration
from deniable.collector.settings import PREFIX, Settings, read
from deniable.collector.store import open_store
from tests.support.collector import Inside

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guides" / "collector.md").read_text(encoding="utf-8")
DEPLOY = ROOT / "deploy"


def test_every_setting_is_explained() -> None:
    table = PAGE.split("## Settings")[1].split("## ")[0]
    named = re.findall(
        r"`(\w+)`",
        "\n".join(
            line.split("|")[1]
            for line in table.splitlines()
            if line.startswith("| `")
        ),
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
    check_proxies(settings)
    assert settings.encrypted
    assert (
        f"reverse_proxy {settings.host}:{settings.port}"
        in (DEPLOY / "Caddyfile").read_text()
    )


def test_the_container_sets_what_can_be_set_and_runs_as_nobody_special() -> None:
    text = (DEPLOY / "Containerfile").read_text()
    variables = re.findall(rf"{PREFIX}(\w+)=(\S+)", text.partition("\nFROM")[2])
    given = {PREFIX + name: value for name, value in variables if name != "ADDRESS"}
    settings = read(None, {**given, f"{PREFIX}ADDRESS": "https://survey.example"})
    assert len(given) == 4
    check_reachable(settings)
    check_proxies(settings)
    assert re.findall(r"^FROM (\S+)", text, re.MULTILINE) == ["${BASE}"] * 2
    assert not re.search("^ARG BASE=", text, re.MULTILINE), "a digest is asked for"
    assert re.search(r"^USER \d+$", text, re.MULTILINE)
    assert f"EXPOSE {settings.port}" in text
    copied = [
        each
        for line in re.findall(r"^COPY (?!--)(.+) \S+$", text, re.MULTILINE)
        for each in line.split()
    ]
    assert all((ROOT / each).exists() for each in copied)


def test_people_behind_the_container_s_proxy_are_told_apart(tmp_path: Path) -> None:
    text = (DEPLOY / "Containerfile").read_text()
    [proxies] = re.findall(rf"{PREFIX}PROXIES=(\S+)", text)
    store = open_store(tmp_path / "collector.db")
    app = make_app(Settings(rate=2), store)
    forwarding: Any = ProxyHeadersMiddleware(
        app, configuration(Settings(proxies=proxies), app).forwarded_allow_ips
    )
    forwarding.state = app.state
    with Inside(forwarding) as inside:
        for proxy in ("10.88.0.1", "172.17.0.1", "192.168.127.1"):
            people = [f"{proxy[:2]}{each}.51.100.7" for each in range(4)]
            asked = [
                inside.ask(
                    "GET", "/health", client=proxy, x_forwarded_for=each
                ).status
                for each in people
            ]
            assert asked == [200] * 4, (
                "four people, each once, though the limit of one address is two"
            )
        forged = [f"203.0.113.{each}" for each in range(3)]
        asked = [
            inside.ask(
                "GET", "/health", client="198.51.100.9", x_forwarded_for=each
            ).status
            for each in forged
        ]
        assert asked == [200, 200, 429], (
            "whoever is no proxy cannot say that they are somebody else"
        )
    store.shut()


def test_the_proxy_writes_nobody_down() -> None:
    """Neither requests nor what is said about them: Caddy's loggers of both are named http.…, and no site has a log."""
    text = re.sub(r"#.*", "", (DEPLOY / "Caddyfile").read_text())
    options, _, sites = text.partition("\n}\n")
    assert re.fullmatch(r"\s*\{\s*log default \{\s*exclude http\s*\}\s*", options)
    assert not re.search(r"\b(log|log_append|log_name|debug)\b", sites)


def test_the_unit_runs_a_command_that_exists() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(DEPLOY / "deniable@.service")
    words = shlex.split(unit["Service"]["ExecStart"])
    command = command_of(words[1])
    assert words[2] in {option for each in command.params for option in each.opts}
    assert unit["Service"]["NoNewPrivileges"] == "yes"
    assert int(unit["Service"]["TimeoutStopSec"]) > Settings().grace


@pytest.mark.parametrize(
    "name", ["Containerfile", "deniable@.service", "collector.toml", "Caddyfile"]
)
def test_each_file_says_what_it_is_for(name: str) -> None:
    assert (DEPLOY / name).read_text().startswith("# ")

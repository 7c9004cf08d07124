"""Settings come from a file, from the environment and from options; the later one wins, and nothing is guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from deniable.collector.serve import (
    check_proxies,
    check_reachable,
    configuration,
    serve,
)
from deniable.collector.settings import Settings, read
from deniable.errors import InvalidRequest, UnreadableFile


def test_the_later_one_wins(tmp_path: Path) -> None:
    file = tmp_path / "collector.toml"
    file.write_text('port = 1\nrate = 2\ndatabase = "file.db"\n')
    found = read(
        file,
        {"DENIABLE_RATE": "3", "DENIABLE_PORT": "4", "HOME": "x"},
        {"port": 5, "host": None},
    )
    assert (found.port, found.rate, found.database, found.host) == (
        5,
        3,
        "file.db",
        "127.0.0.1",
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("prot = 1", "prot"),
        ("port = 70000", "port"),
        ('rate = "many"', "rate"),
        ("largest = 1", "largest"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(
    tmp_path: Path, text: str, words: str
) -> None:
    file = tmp_path / "collector.toml"
    file.write_text(text)
    with pytest.raises(InvalidRequest, match=words):
        read(file)


def test_a_file_that_is_not_toml_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "collector.toml"
    file.write_text("port: 1")
    with pytest.raises(UnreadableFile, match="not TOML"):
        read(file)


def test_where_the_pages_are() -> None:
    assert Settings(port=81).base == "http://127.0.0.1:81"
    assert Settings(host="::1", port=81).base == "http://[::1]:81"
    assert (
        Settings(address="https://survey.example/").base == "https://survey.example"
    )
    assert Settings(address="https://survey.example").encrypted
    assert not Settings().encrypted


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings(host="localhost"),
        Settings(host="::1"),
        Settings(host="0.0.0.0", address="https://survey.example"),
        Settings(host="0.0.0.0", unencrypted=True),
    ],
)
def test_this_machine_or_https_or_said_so(settings: Settings) -> None:
    check_reachable(settings)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "survey.example"])
def test_pages_do_not_go_to_other_machines_in_the_clear(host: str) -> None:
    with pytest.raises(InvalidRequest, match="other machines") as caught:
        check_reachable(Settings(host=host, address="http://survey.example"))
    assert "--unencrypted" in caught.value.hint


@pytest.mark.parametrize("host", ["0.0.0.0", "127.0.0.1"])
def test_an_address_with_https_names_the_proxy_that_speaks_it(
    host: str, tmp_path: Path
) -> None:
    settings = Settings(
        host=host,
        port=0,
        address="https://survey.example",
        database=str(tmp_path / "collector.db"),
    )
    with pytest.raises(InvalidRequest, match="no proxy is named") as caught:
        serve(settings)
    assert "--proxies" in caught.value.hint
    check_proxies(
        Settings(host=host, address="https://survey.example", proxies="10.0.0.1")
    )
    check_proxies(Settings(host=host, unencrypted=True))


def test_uvicorn_writes_no_addresses_and_believes_no_headers() -> None:
    config = configuration(Settings(), None)
    assert not config.access_log
    assert not config.proxy_headers
    assert config.limit_concurrency == Settings().connections
    assert (
        configuration(Settings(proxies="10.0.0.1"), None).forwarded_allow_ips
        == "10.0.0.1"
    )

"""Anybody can compare the scripts that a collector serves with those that were released."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

import httpx
import pytest

from deniable.collector import scripts
from deniable.collector.app import make_app
from deniable.collector.settings import Settings
from deniable.collector.store import open_store
from tests.support.collector import listening
from tests.support.commands import done, run
from tests.support.surveys import small


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    store = open_store(tmp_path_factory.mktemp("collector") / "store.db")
    store.create(small())
    store.open("small")
    with listening(make_app(Settings(rate=0), store)) as found:
        yield found
    store.shut()


def test_every_script_is_listed_with_the_hash_of_the_bytes_that_are_served(
    address: str,
) -> None:
    listed = dict(
        reversed(line.split("  "))
        for line in httpx.get(f"{address}/scripts").text.splitlines()
    )
    assert listed == scripts.hashes()
    for path, digest in listed.items():
        assert (
            hashlib.sha256(httpx.get(f"{address}/{path}").content).hexdigest()
            == digest
        )
    assert len(listed) == len(list(scripts.STATIC.rglob("*.js"))) > 10


def test_pages_run_no_script_that_is_not_listed(address: str) -> None:
    """Neither named by a page, nor imported by a script that is."""
    page = httpx.get(f"{address}/s/small").text
    assert re.findall(r'<script[^>]*\bsrc="/([^"]+)"', page) == ["static/page.js"]
    assert not re.findall(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)", page)
    for path in scripts.hashes():
        file = scripts.STATIC.parent / path
        for named in re.findall(
            r'(?:from|import\()\s*"([^"]+)"', file.read_text(encoding="utf-8")
        ):
            found = (
                (file.parent / named)
                .resolve()
                .relative_to(scripts.STATIC.parent.resolve())
            )
            assert found.as_posix() in scripts.hashes()


def test_a_command_compares(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert done("survey", "scripts").stdout == httpx.get(f"{address}/scripts").text
    assert (
        f"{len(scripts.hashes())} scripts"
        in done("survey", "scripts", address).stderr
    )
    assert run("survey", "scripts", "http://127.0.0.1:9").exit_code == 4
    assert run("survey", "scripts", "small").exit_code == 4
    changed = {**scripts.hashes(), "static/respond.js": "0" * 64}
    monkeypatch.setattr(scripts, "hashes", lambda: changed)
    refused = run("survey", "scripts", address)
    assert refused.exit_code == 3
    assert "static/respond.js" in " ".join(refused.stderr.split())

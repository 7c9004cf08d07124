"""What a device keeps and sends names nobody: its keys are drawn, and hang on nothing that the collector knows."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from deniable.chance import SYSTEM
from deniable.client import Client, Hub
from deniable.survey import Keys, Link
from tests.support.surveys import small
from tests.unit.client.test_connection import answering

LINK = f"http://127.0.0.1:1/s/small?group=north#definition={'0' * 64}&invitation=in_secret"


FIELDED = small(keys=Keys("0" * 64))


class Recorded:
    """The operating system's bytes, and what was read of them."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def read(self, count: int) -> bytes:
        self.pieces.append(SYSTEM.read(count))
        return self.pieces[-1]


def key_in(file: Path) -> str:
    with closing(sqlite3.connect(file)) as database:
        ((key,),) = database.execute(
            "SELECT value FROM fact WHERE name = 'key'"
        ).fetchall()
    return str(key)


def test_the_key_of_a_respondent_is_drawn_from_the_source(tmp_path: Path) -> None:
    keys = set()
    for number in range(20):
        source = Recorded()
        file = tmp_path / f"{number}.ledger"
        with Client(LINK, file, patience=0, source=source):
            pass
        keys.add(key_in(file))
        assert bytes.fromhex(key_in(file)) in source.pieces, (
            "the key is none of the bytes that were drawn"
        )
    assert len(keys) == 20, "two respondents of one link have one key"


def test_a_key_stays_when_the_file_is_opened_again(tmp_path: Path) -> None:
    with Client(LINK, tmp_path / "ledger", patience=0):
        pass
    first = key_in(tmp_path / "ledger")
    with Client(LINK, tmp_path / "ledger", patience=0):
        assert key_in(tmp_path / "ledger") == first


@pytest.mark.parametrize("people", [1, 30])
def test_keys_of_those_who_share_a_device_are_drawn_from_the_source(
    tmp_path: Path, people: int
) -> None:
    source = Recorded()
    with (
        answering((200, {}, FIELDED.to_json().encode())) as (base, _),
        Hub(
            Link.to_survey(FIELDED, base).text,
            tmp_path / "hub",
            token="dn_any",
            patience=0,
            source=source,
        ) as hub,
    ):
        keys = hub.add([{"smokes": "yes"}] * people)
    assert len(set(keys)) == people
    assert {bytes.fromhex(key) for key in keys} <= set(source.pieces)

"""What both kinds of database promise."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from deniable import db
from deniable.db import Database, Migration, Tables
from deniable.db import database as database_module
from deniable.errors import InvalidRequest, UnreadableFile
from tests.support import postgres

_numbers = count(1)
FIRST = Migration(
    "first",
    (
        "CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT NOT NULL, body {bytes}) {by_key}",
    ),
)


def opened(where: str, **options: Any) -> Database:
    given: dict[str, Any] = {
        "settings": db.DURABLE,
        "patience": 0.3,
        "one_writer": True,
        **options,
    }
    return db.open_database(where, "file", **given)


@pytest.fixture(params=["sqlite", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        return postgres.fresh_schema(
            request.getfixturevalue("postgres_server"), f"db_{next(_numbers)}"
        )
    with db.SqliteFile(
        tmp_path / "some.db", "file", settings=db.DURABLE, patience=1
    ) as file:
        file.make()
    return str(tmp_path / "some.db")


@pytest.fixture
def database(where: str) -> Iterator[Database]:
    with opened(where) as made:
        with made.transaction() as tables:
            db.migrate(tables, "things", [FIRST])
        yield made


def names(database: Database) -> list[str]:
    with database.transaction(write=False) as tables:
        return [
            name for (name,) in tables.rows("SELECT name FROM thing ORDER BY id")
        ]


def test_tables_say_the_same_things(database: Database) -> None:
    with database.transaction() as tables:
        rows = [
            (number, f"thing {number}", bytes([number]))
            for number in range(1000 % 256)
        ]
        tables.insert("thing", ("id", "name", "body"), iter(rows))
        assert tables.run("UPDATE thing SET name = ? WHERE id < ?", "early", 3) == 3
        tables.each(
            "UPDATE thing SET name = ? WHERE id = ?", [("late", 200), ("later", 201)]
        )
        assert tables.value("SELECT name FROM thing WHERE id = ?", 201) == "later"
        assert tables.value("SELECT name FROM thing WHERE id = ?", 999) is None
        wanted = [1, 200, 5000]
        assert sorted(
            tables.rows_among(
                "SELECT id, name FROM thing WHERE id >= ? AND id", wanted, 1
            )
        ) == [
            (1, "early"),
            (200, "late"),
        ]
        assert len(
            tables.rows_among("SELECT id FROM thing WHERE id", list(range(2000)))
        ) == len(rows)
        assert tables.rows_among("SELECT id FROM thing WHERE id", []) == []
        assert [
            bytes(body)
            for (body,) in tables.stream("SELECT body FROM thing ORDER BY id")
        ] == [r[2] for r in rows]
        assert tables.has("thing")
        assert not tables.has("other")
        assert tables.taken("thing")
        assert not tables.damaged()


def test_a_transaction_that_fails_leaves_nothing(database: Database) -> None:
    with pytest.raises(KeyError), database.transaction() as tables:
        tables.insert("thing", ("id", "name"), _broken_off())
    with (
        pytest.raises(UnreadableFile, match="nothing was changed"),
        database.transaction() as tables,
    ):
        tables.each(
            "INSERT INTO thing VALUES (?, ?, NULL)", [(1, "one"), (1, "the same")]
        )
    assert names(database) == []


def _broken_off() -> Iterator[tuple[int, str]]:
    yield 1, "gone"
    raise KeyError


def test_writers_take_turns_and_are_given_up(database: Database, where: str) -> None:
    with opened(where) as other:
        with database.transaction() as tables:
            tables.run("INSERT INTO thing VALUES (1, 'one', NULL)")
            with pytest.raises(UnreadableFile), other.transaction():
                raise AssertionError("two write at a time")
        with other.transaction() as tables:
            assert tables.value("SELECT name FROM thing") == "one"


def test_a_server_lets_others_write_where_they_lock_rows_of_their_own(
    postgres_server: str,
) -> None:
    where = postgres.fresh_schema(postgres_server, f"db_{next(_numbers)}")
    with (
        opened(where, one_writer=False) as one,
        opened(where, one_writer=False) as two,
    ):
        with one.transaction() as tables:
            db.migrate(tables, "things", [FIRST])
        with one.transaction() as first, two.transaction() as second:
            first.run("INSERT INTO thing VALUES (1, 'one', NULL)")
            second.run("INSERT INTO thing VALUES (2, 'two', NULL)")
        assert names(one) == ["one", "two"]


def test_migrations_are_applied_once_with_the_record_of_them(
    database: Database,
) -> None:
    second = Migration(
        "second",
        ("ALTER TABLE thing ADD COLUMN more TEXT", "CREATE TABLE nonsense ("),
    )
    with pytest.raises(UnreadableFile), database.transaction() as tables:
        db.migrate(tables, "things", [FIRST, second])
    with database.transaction() as tables:
        assert db.applied_migrations(tables, "things") == {"first"}
        tables.run("INSERT INTO thing VALUES (1, 'without the column', NULL)")
        db.migrate(
            tables,
            "things",
            [FIRST, second._replace(statements=second.statements[:1])],
        )
        assert db.applied_migrations(tables, "things") == {"first", "second"}
        db.migrate(
            tables,
            "others",
            [Migration("first", ("CREATE TABLE other (id INTEGER)",))],
        )
        assert db.applied_migrations(tables, "others") == {"first"}
    with (
        pytest.raises(UnreadableFile, match="later version"),
        database.transaction() as tables,
    ):
        db.migrate(tables, "things", [FIRST])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="programs are forked")
# the child does one thing and ends
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_uses_a_connection_of_its_own(database: Database) -> None:
    child = os.fork()
    if child == 0:
        try:
            with database.transaction() as tables:
                tables.run("INSERT INTO thing VALUES (7, 'of the child', NULL)")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert names(database) == ["of the child"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="programs are forked")
# the child does one thing and ends
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_leaves_the_connections_of_its_parent_alone(
    database: Database,
) -> None:
    """They would both write through it: SQLite's locks belong to a process, and a server's answers to one reader."""
    with database._connection() as ours:
        pass
    with database._connection() as again:
        assert again is ours
    child = os.fork()
    if child == 0:
        found = 1
        try:
            with database._connection() as theirs:
                found = int(theirs is ours)
        finally:
            os._exit(found)
    assert os.waitpid(child, 0)[1] == 0
    with database._connection() as again:
        assert again is ours


def test_half_a_character_is_refused(database: Database) -> None:
    with (
        pytest.raises(InvalidRequest, match="half a character"),
        database.transaction() as tables,
    ):
        tables.run(
            "INSERT INTO thing VALUES (?, ?, NULL)", 1, "half \ud800 a character"
        )


def test_a_server_forces_what_it_commits_whatever_its_settings_say(
    postgres_server: str,
) -> None:
    careless = (
        "-csynchronous_commit%3Doff%20-cdefault_transaction_isolation%3Dserializable"
    )
    with opened(f"{postgres_server}&options={careless}") as database:
        for write in (True, False):
            with database.transaction(write=write) as tables:
                assert tables.value("SHOW synchronous_commit") == "on"
                wanted = "read committed" if write else "repeatable read"
                assert tables.value("SHOW transaction_isolation") == wanted


def test_errors_of_a_server_do_not_tell_what_is_in_a_row(
    postgres_server: str,
) -> None:
    where = postgres.fresh_schema(postgres_server, f"db_{next(_numbers)}")
    with opened(where) as database:
        with database.transaction() as tables:
            db.migrate(tables, "things", [FIRST])
        with (
            pytest.raises(UnreadableFile) as caught,
            database.transaction() as tables,
        ):
            tables.each(
                "INSERT INTO thing VALUES (?, ?, NULL)",
                [(1, "a secret"), (1, "a secret")],
            )
    assert "UniqueViolation" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_what_is_returned_was_committed(where: str) -> None:
    """A commit that the database refuses at the last moment is no success."""
    with opened(where) as database:
        with database.transaction() as tables:
            _owner_and_thing(tables)
        with (
            pytest.raises(UnreadableFile, match="nothing was changed"),
            database.transaction() as tables,
        ):
            # of an owner who is never entered
            tables.run("INSERT INTO owned VALUES (5)")
        with database.transaction(write=False) as tables:
            assert tables.rows("SELECT owner FROM owned") == []


def _owner_and_thing(tables: Tables) -> None:
    tables.run("CREATE TABLE owner (id INTEGER PRIMARY KEY)")
    tables.run(
        "CREATE TABLE owned (owner INTEGER REFERENCES owner DEFERRABLE INITIALLY DEFERRED)"
    )


def test_what_is_written_anew_spills_beside_the_file_and_nowhere_else(
    tmp_path: Path,
) -> None:
    """A file larger than its cache: its copy is a file that is gone in a moment, and holds all of it."""
    folder = tmp_path / "it's here"
    folder.mkdir()
    settings = (*db.SHARED, "cache_size = 10")
    file = db.SqliteFile(folder / "file.db", "file", settings=settings, patience=1)
    file.make()
    with file.transaction() as tables:
        tables.run("CREATE TABLE kept (id INTEGER PRIMARY KEY, mark BLOB)")
        tables.insert(
            "kept", ("id", "mark"), ((n, bytes(1000)) for n in range(2000))
        )
    spilled: set[str] = set()

    def look() -> int:
        for number in Path("/proc/self/fd").iterdir():
            with suppress(OSError):
                spilled.add(os.readlink(number))
        return 0

    with file._connection() as connection:
        connection.set_progress_handler(look, 1000)
    assert file.clean(())
    file.close()
    gone = {Path(each).parent for each in spilled if "etilqs" in each}
    assert gone == {folder}


PLAIN = Migration(
    "plain", ("CREATE TABLE plain (id INTEGER, name TEXT, body {bytes})",)
)


def text_of_rows(database: Database) -> str:
    with database.transaction(write=False) as tables:
        return "".join(tables.texts("plain"))


def test_the_text_of_a_table_tells_every_value(database: Database) -> None:
    rows = [(1, "a", None), (2, 'b,\n"', b""), (7, "7", b"7"), (9, "null", b"\0")]
    with database.transaction() as tables:
        db.migrate(tables, "plain", [PLAIN])
        tables.insert("plain", ("id", "name", "body"), rows)
    original = text_of_rows(database)
    for edit in (
        "id = 8 WHERE id = 7",
        "name = 'a ' WHERE id = 1",
        "name = '7' WHERE id = 9",
        "body = NULL WHERE id = 2",
    ):
        before = text_of_rows(database)
        with database.transaction() as tables:
            tables.run(f"UPDATE plain SET {edit}")
        assert text_of_rows(database) != before
    with database.transaction() as tables:
        tables.run("DELETE FROM plain")
        tables.insert("plain", ("id", "name", "body"), rows)
    assert text_of_rows(database) == original


def test_the_text_of_a_file_is_the_same_however_its_rows_are_numbered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "_TEXT_ROWS", 3)
    path = tmp_path / "some.db"
    with db.SqliteFile(path, "file", settings=db.DURABLE, patience=1) as file:
        file.make()
        with file.transaction() as tables:
            tables.run("CREATE TABLE plain (name TEXT)")
            tables.insert("plain", ["name"], [[f"{number}"] for number in range(40)])
            tables.run("DELETE FROM plain WHERE name LIKE '%2%' OR name < '17'")
        original = text_of_rows(file)
        assert original.count(",") == file_rows(file) > 12
        with closing(sqlite3.connect(path)) as other:
            other.execute("VACUUM")
            numbers = other.execute("SELECT max(rowid) FROM plain").fetchall()
        assert numbers == [(file_rows(file),)]
        assert text_of_rows(file) == original


def file_rows(file: Database) -> int:
    with file.transaction(write=False) as tables:
        return int(tables.value("SELECT count(*) FROM plain"))

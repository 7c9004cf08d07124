"""`deniable survey`: from a file to a database and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deniable.collector import signing
from deniable.collector.store import Sent, Submission, Token, open_store
from deniable.survey import Link
from deniable.survey.catalogue import locale
from tests.support.commands import done, run
from tests.support.filled import EXAMPLE, example, fill, opened
from tests.support.surveys import small


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database with a small survey that 40 people have responded to."""
    path = tmp_path / "deniable.db"
    store = open_store(path)
    fill(store, opened(store, small()), {None: 40})
    store.shut()
    return path


def test_check_tells_the_promises_and_stores_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = done("survey", "check", EXAMPLE).stdout
    assert "working-life" in told
    plain = " ".join(told.split())
    assert "at most ε = 5.11." in plain
    for question in example().questions:
        assert question.disclosure.line(question.name, locale("en")) in plain
    for sentence in (
        *example().worst.disclosure.response_words(locale("en")),
        "response to “exhaustion”",
    ):
        assert sentence in plain
    assert "at most 95 of 100" in " ".join(
        example().disclosure.together_words(locale("en"))
    )
    assert " ".join(example().disclosure.together_words(locale("en"))) in plain
    assert (
        json.loads(done("survey", "check", EXAMPLE, "--json").stdout)["hash"]
        == example().hash
    )
    assert not list(tmp_path.iterdir())


BAIT = """
name = "bait"
{together}
[texts.en]
title = "Habits"
[[questions]]
name = "coffee"
design = {{ family = "warner", epsilon = 0.1 }}
texts.en.text = "Do you drink coffee?"
[[questions]]
name = "drugs"
{one}
design = {{ family = "warner", epsilon = 10 }}
texts.en.text = "Have you ever taken hard drugs?"
"""


def _baited(folder: Path, command: str, one: str, together: str) -> tuple[int, str]:
    """Check or create the bait survey; return the exit code and what was said."""
    file = folder / "bait.toml"
    file.write_text(BAIT.format(one=one, together=together), encoding="utf-8")
    where = ("--database", folder / "deniable.db") if command == "create" else ()
    ended = run("survey", command, file, *where)
    return ended.exit_code, " ".join(ended.stderr.split())


@pytest.mark.parametrize("command", ["check", "create"])
@pytest.mark.parametrize(
    ("one", "together", "refused"),
    [
        (
            "",
            "",
            "the question 'drugs' has ε = 10: what was believed of 10 of 100 people",
        ),
        ("acknowledge = 10", "", "all its questions together, has ε = 10.1: "),
        (
            "acknowledge = 9",
            "acknowledge = inf",
            "'drugs' has ε = 10, and acknowledges 9",
        ),
    ],
)
def test_what_is_above_the_limits_is_refused(
    tmp_path: Path, command: str, one: str, together: str, refused: str
) -> None:
    ended, said = _baited(tmp_path, command, one, together)
    assert (ended, refused in said, (tmp_path / "deniable.db").exists()) == (
        2,
        True,
        False,
    )


@pytest.mark.parametrize("command", ["check", "create"])
def test_what_is_acknowledged_is_warned_of(tmp_path: Path, command: str) -> None:
    ended, said = _baited(
        tmp_path, command, "acknowledge = inf", "acknowledge = 10.1"
    )
    assert ended == 0
    assert "Warning: “drugs” has ε = 10. More than 3" in said
    assert "Warning: all questions together have ε = 10.1. More than 6" in said


def test_a_survey_is_created_opened_and_closed(tmp_path: Path) -> None:
    where = ("--database", tmp_path / "deniable.db")
    assert "a draft" in done("survey", "create", EXAMPLE, *where).stderr
    said = done("survey", "open", "working-life", *where).stderr
    assert (
        json.loads(done("survey", "close", "working-life", *where, "--json").stdout)[
            "state"
        ]
        == "closed"
    )
    (found,) = json.loads(done("survey", "list", *where, "--json").stdout)["surveys"]
    assert (found["name"], found["state"]) == ("working-life", "closed")
    assert (
        f"/s/working-life#definition={found['hash'].removeprefix('sha256:')}" in said
    )
    assert "working-life  closed" in done("survey", "list", *where).stdout


def test_an_unchanged_definition_is_created_only_once(tmp_path: Path) -> None:
    where = ("--database", tmp_path / "deniable.db")
    first = done("survey", "create", EXAMPLE, "--open", *where, "--json")
    again = done("survey", "create", EXAMPLE, "--open", *where, "--json")
    assert json.loads(again.stdout) == json.loads(first.stdout)
    assert "exists already" not in first.stderr
    assert "working-life exists already, with this definition." in again.stderr
    assert (
        "http://127.0.0.1:8000/s/working-life#"
        in done("survey", "create", EXAMPLE, "--open", *where).stderr
    )


def test_a_changed_definition_of_an_open_survey_is_refused(tmp_path: Path) -> None:
    where, file = ("--database", tmp_path / "deniable.db"), tmp_path / "survey.toml"
    text = EXAMPLE.read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    done("survey", "create", file, "--open", *where)
    file.write_text(text.replace("minimum = ", "minimum = 1", 1), encoding="utf-8")
    refused = run("survey", "create", file, "--open", *where)
    assert refused.exit_code == 2
    assert "its definition is frozen" in refused.stderr


def test_a_survey_that_was_closed_is_not_opened_by_creating_it_again(
    tmp_path: Path,
) -> None:
    where = ("--database", tmp_path / "deniable.db")
    done("survey", "create", EXAMPLE, "--open", *where)
    done("survey", "close", "working-life", *where)
    again = done("survey", "create", EXAMPLE, "--open", *where)
    assert "working-life is closed" in again.stderr
    assert "deniable survey open working-life" in again.stderr
    (survey,) = json.loads(done("survey", "list", *where, "--json").stdout)[
        "surveys"
    ]
    assert survey["state"] == "closed"


def test_an_unchanged_draft_keeps_its_keys_until_it_is_opened(
    tmp_path: Path,
) -> None:
    where = ("--database", tmp_path / "deniable.db")
    first = json.loads(done("survey", "create", EXAMPLE, *where, "--json").stdout)
    opened = json.loads(
        done("survey", "create", EXAMPLE, "--open", *where, "--json").stdout
    )
    assert (first["state"], opened["state"]) == ("draft", "open")
    assert first["hash"] == opened["hash"]


def test_a_draft_is_looked_at_and_tried_before_it_is_opened(tmp_path: Path) -> None:
    where = ("--database", tmp_path / "deniable.db")
    done("survey", "create", EXAMPLE, *where)
    shown = done(
        "survey",
        "preview",
        "working-life",
        *where,
        "--address",
        "https://survey.example",
    )
    assert shown.stdout == "https://survey.example/preview/working-life\n"
    assert (
        "/s/working-life-pilot"
        in done("survey", "pilot", "working-life", *where).stderr
    )
    assert "working-life-pilot  open" in done("survey", "list", *where).stdout
    assert (
        json.loads(
            done("survey", "pilot", "working-life", "--end", *where, "--json").stdout
        )["state"]
        == "ended"
    )
    assert "has ended" in run("survey", "open", "working-life-pilot", *where).stderr
    done("survey", "pilot", "working-life", *where)
    done("survey", "open", "working-life", *where)
    listed = json.loads(done("survey", "list", *where, "--json").stdout)["surveys"]
    assert [(each["name"], each["state"]) for each in listed] == [
        ("working-life", "open"), ("working-life-pilot", "ended"),
    ]  # fmt: skip


def test_an_export_is_counted_by_the_tally_command(
    database: Path, tmp_path: Path
) -> None:
    design, out = tmp_path / "design.json", tmp_path / "smokes.csv"
    design.write_text(small().questions[0].design.to_json())
    done("survey", "export", "small", "smokes", "--out", out, "--database", database)
    assert out.stat().st_mode & 0o077 == 0, "for its owner alone"
    assert (
        json.loads(done("tally", design, out, "--json").stdout)["respondents"] == 40
    )
    assert (
        run(
            "survey",
            "export",
            "small",
            "smokes",
            "--out",
            out,
            "--database",
            database,
        ).exit_code
        == 2
    )
    done(
        "survey",
        "export",
        "small",
        "smokes",
        "--out",
        out,
        "--database",
        database,
        "--force",
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("export", "small", "smokes", "--out", "x.xls"),
            "ends in .parquet or .csv",
        ),
        (("export", "small", "nothing", "--out", "x.csv"), "no question"),
        (("export", "nothing", "smokes", "--out", "x.csv"), "no survey"),
        (("open", "nothing"), "no survey"),
        (("invite", "small", "3"), "open to everybody"),
        (("token", "bob", "--rotate"), "token"),
        (("token", "bob", "--rotate", "--revoke"), "not both"),
        (("token", "bob", "--survey", "nothing"), "no survey"),
        (("restore", "missing.db"), "no file missing.db"),
        (("restore", "deniable.db"), "expected an empty one"),
    ],
)
def test_mistakes_are_told_in_one_message_and_leave_nothing(
    database: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    refused = run("survey", *words, "--database", database)
    assert refused.exit_code in {2, 4}
    assert told in refused.stderr
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "words",
    [("open", "small"), ("list",), ("backup", "b.db"), ("invite", "small", "1")],
)
def test_a_database_that_is_not_there_is_not_made(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    refused = run("survey", *words, "--database", tmp_path / "missing.db")
    assert refused.exit_code == 4
    assert "there is no database" in refused.stderr
    assert not list(tmp_path.iterdir())


def test_a_backup_restores_everything(database: Path, tmp_path: Path) -> None:
    backup, other = tmp_path / "backup.db", tmp_path / "other.db"
    token = done("survey", "token", "ann", "--database", database).stdout.strip()
    done("survey", "backup", backup, "--database", database)
    assert backup.stat().st_mode & 0o077 == 0, "for its owner alone"
    assert run("survey", "backup", backup, "--database", database).exit_code != 0, (
        "nothing is overwritten"
    )
    done("survey", "restore", backup, "--database", other)
    stores = [open_store(path) for path in (database, other)]
    try:
        assert stores[0].tallies(1, 0) == stores[1].tallies(1, 0)
        assert stores[1].find_token(token) == Token("ann", "analyst")
    finally:
        for store in stores:
            store.shut()
    assert run("survey", "restore", backup, "--database", other).exit_code == 2, (
        "only into an empty database"
    )


def test_a_token_is_shown_once_rotated_and_revoked(database: Path) -> None:
    where = ("--database", database)
    first = done("survey", "token", "ann", "--scope", "admin", *where).stdout.strip()
    assert run("survey", "token", "ann", *where).exit_code == 2, (
        "there is one of this name"
    )
    second = done("survey", "token", "ann", "--rotate", *where).stdout.strip()
    store = open_store(database)
    assert store.find_token(first) is None
    assert store.find_token(second) == Token("ann", "admin")
    store.shut()
    done("survey", "token", "ann", "--revoke", *where)
    store = open_store(database)
    assert store.find_token(second) is None
    store.shut()


def test_invitations_are_links_with_the_code_behind_the_hash(
    database: Path, tmp_path: Path
) -> None:
    store = open_store(database)
    store.create(small(name="circle", admission="invitation"))
    store.shut()
    out = tmp_path / "links.txt"
    words = (
        "--database",
        database,
        "--address",
        "https://survey.example",
        "--out",
        out,
    )
    done("survey", "invite", "circle", 3, *words)
    links = out.read_text().split()
    assert len(set(links)) == 3
    read = [Link.read(each) for each in links]
    store = open_store(database)
    assert {each.definition for each in read} == {
        store.survey("circle").survey.hash.removeprefix("sha256:")
    }
    store.shut()
    assert all(
        each.startswith("https://survey.example/s/circle#definition=")
        for each in links
    )
    assert all(each.invitation.startswith("in_") for each in read)
    raw = database.read_bytes()
    assert not any(each.invitation.encode() in raw for each in read), (
        "only hashes are kept"
    )


SECRETS = (
    "postgresql://ann:sesame@db.invalid/x",
    "postgresql://db.invalid/x?user=ann&password=sesame",
    "postgres://ann:sesame@[",
)


@pytest.mark.parametrize("address", SECRETS)
def test_a_password_is_neither_taken_from_a_command_line_nor_told(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for words in (("survey", "list"), ("survey", "create", EXAMPLE), ("serve",)):
        refused = run(*words, "--database", address)
        assert refused.exit_code == 2
        assert "DENIABLE_DATABASE" in refused.output
        assert "sesame" not in refused.output
    (tmp_path / "collector.toml").write_text(f'database = "{address}"')
    monkeypatch.setenv("PGCONNECT_TIMEOUT", "2")
    failed = run("survey", "list", "--settings", tmp_path / "collector.toml")
    assert failed.exit_code == 4
    assert "sesame" not in failed.output
    monkeypatch.setenv("DENIABLE_DATABASE", address)
    assert "sesame" not in run("survey", "list").output
    from deniable.cli import survey
    from deniable.collector.settings import Settings

    settings = Settings(database=address)
    assert "sesame" not in f"{survey._database_name(settings)} {settings!r}"


@pytest.mark.parametrize(
    "old", [False, True], ids=["new", "over a file that all may read"]
)
def test_files_of_links_and_tokens_are_for_their_owner_alone(
    database: Path, tmp_path: Path, old: bool
) -> None:
    store = open_store(database)
    opened(store, small(name="circle", admission="invitation"))
    store.shut()
    links, token = tmp_path / "links.txt", tmp_path / "token"
    if old:
        for file in (links, token):
            file.write_text("old")
            file.chmod(0o644)
    told = done(
        "survey",
        "invite",
        "circle",
        2,
        "-o",
        links,
        "--database",
        database,
        *(["--force"] * old),
    ).output
    told += done(
        "survey",
        "token",
        "eve",
        "-o",
        token,
        "--database",
        database,
        *(["--force"] * old),
    ).output
    assert [file.stat().st_mode & 0o777 for file in (links, token)] == [0o600, 0o600]
    assert "in_" not in told
    assert token.read_text().strip() not in told
    store = open_store(database)
    assert store.find_token(token.read_text().strip()) == Token("eve", "analyst")
    store.shut()


def test_an_author_signs_offline_and_receipts_are_verified(
    database: Path, tmp_path: Path
) -> None:
    where = ("--database", database)
    key, definition, signature = (
        tmp_path / each for each in ("key.pem", "definition.json", "signature.json")
    )
    made = done("survey", "key", key)
    public = made.stdout.strip()
    assert "PRIVATE" not in made.stdout + made.stderr
    assert key.stat().st_mode & 0o777 == 0o600
    done("survey", "definition", "small", "--out", definition, *where)
    said = done(
        "survey", "sign", definition, "--key", key, "--out", signature
    ).stderr
    assert public in said
    done("survey", "signature", "small", signature, *where)
    opened_again = done("survey", "open", "small", *where).stderr
    assert f"&author={public}" in "".join(opened_again.split())

    store = open_store(database)
    entry, mine = store.survey("small"), bytes(range(16))
    store.add([Submission(entry.id, mine, None, (Sent(0, 0, 1),))])
    receipt = tmp_path / "receipt.json"
    receipt.write_text(signing.receipt(store, entry, mine))
    store.shut()
    assert (
        done("survey", "verify", receipt, "--definition", definition).stdout.strip()
        == "smokes: yes"
    )
    saved = {
        "withdrawal_code": mine.hex(),
        "receipt": json.loads(receipt.read_text()),
    }
    receipt.write_text(json.dumps(saved))
    assert (
        "1 responses"
        in done("survey", "verify", receipt, "--definition", definition).stderr
    )
    receipt.write_text(json.dumps(saved | {"withdrawal_code": "00" * 16}))
    assert (
        "another key"
        in run("survey", "verify", receipt, "--definition", definition).stderr
    )
    receipt.write_text(json.dumps(saved).replace('"yes"', '"no"'))
    assert (
        run("survey", "verify", receipt, "--definition", definition).exit_code != 0
    )
    assert (
        run(
            "survey",
            "sign",
            definition,
            "--key",
            definition,
            "--out",
            tmp_path / "x",
        ).exit_code
        != 0
    )


def test_a_link_for_a_shared_device(database: Path) -> None:
    link = done(
        "survey", "kiosk", "small", "--group", "north", "--database", database
    ).stdout.strip()
    where, _, behind = link.partition("#")
    assert where.endswith("/s/small?group=north")
    assert behind.startswith("definition=")
    assert behind.endswith("&kiosk")
    assert (
        "there is no group 'east'"
        in run(
            "survey", "kiosk", "small", "--group", "east", "--database", database
        ).stderr
    )


def test_a_link_says_what_it_takes_for_granted_before_a_collector_has_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = ("--database", tmp_path / "deniable.db")
    unknown = "this is for port 8000 of this machine"
    assert unknown in " ".join(
        done("survey", "create", EXAMPLE, "--open", *where).stderr.split()
    )
    for command in ("kiosk", "preview"):
        told = done("survey", command, "working-life", *where)
        assert told.stdout.startswith("http://127.0.0.1:8000/")
        assert unknown in " ".join(told.stderr.split())
        assert (
            unknown
            not in done(
                "survey",
                command,
                "working-life",
                *where,
                "--address",
                "https://x.example",
            ).stderr
        )
    monkeypatch.setenv("DENIABLE_ADDRESS", "http://127.0.0.1:9000")
    told = (
        done("survey", "close", "working-life", *where),
        done("survey", "open", "working-life", *where),
    )
    assert "http://127.0.0.1:9000/s/working-life" in "".join(told[1].stderr.split())
    assert "No collector" not in told[1].stderr


def test_links_lead_to_where_the_collector_was_served(database: Path) -> None:
    store = open_store(database)
    seat = store.database.take_seat(1)
    assert seat is not None
    seat.note("http://127.0.0.1:9321")
    for address, expected in (
        ((), "http://127.0.0.1:9321/s/small"),
        (("--address", "https://x.example"), "https://x.example/s/small"),
    ):
        assert done(
            "survey", "kiosk", "small", "--database", database, *address
        ).stdout.startswith(expected)
    seat.note("http://127.0.0.1:80")
    assert store.database.read_note() == "http://127.0.0.1:80", (
        "what was there before is gone"
    )
    seat.close()
    store.shut()
    assert (
        "http://127.0.0.1:80/s/small"
        in done("survey", "kiosk", "small", "--database", database).stdout
    )

"""What leaves a program, or is acknowledged by it, survives a power cut; what is erased is gone from every byte; and
files are their owner's alone."""

from __future__ import annotations

import ast
import hashlib
import inspect
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import deniable as dn
from deniable import db
from deniable.client import Client, Hub
from deniable.collector.store import Sent, Submission, Token, open_store, schema
from deniable.engines.files import respond_file
from deniable.files.atomic import atomic_write
from deniable.release.ledger import Ledger
from deniable.release.panel import Panel
from deniable.survey import Keys, Link, author
from tests.support import fresh, syncs
from tests.support.commands import done
from tests.support.surveys import question, small

needs_calls = pytest.mark.skipif(
    bool(syncs.missing()), reason=syncs.missing() or "strace is there"
)

# What leaves is on the disk

LEDGER = """
from deniable import Ledger, Market, Prices, k_ary, ladder
with Ledger.create({place!r}) as ledger:
    ledger.answer("habit", "1", about=k_ary(3, epsilon=1))
    ledger.answer("planned", "1", about=ladder([k_ary(3, epsilon=each) for each in (1, 2)]))
    for epsilon in (1, 3, 2):
        out = ledger.release("habit", k_ary(3, epsilon=epsilon))
        leave(["habit", out.response.design, out.response.symbol])
    out = ledger.release("planned", 0)
    leave(["planned", out.response.design, out.response.symbol])
    ledger.forget("habit")
    leave(["forgotten", "habit"])
    ledger.withdraw("planned")
    leave(["withdrawn", "planned"])
"""
PANEL = """
from deniable import Panel, k_ary
people = ["anna", "bert", "carl", "dora"]
with Panel.create({place!r}) as panel:
    panel.answer("habit", dict.fromkeys(people, "1"), about=k_ary(3, epsilon=1))
    leave(["answered", people])
    for epsilon in (1, 3, 2):
        out = panel.release("habit", k_ary(3, epsilon=epsilon), respondents=people)
        leave([out.design.to_json(), out.symbols])
    panel.withdraw(["dora"])
    leave(["withdrawn", "dora"])
"""
STORE = """
import asyncio
from deniable.collector.intake import SubmissionWriter
from deniable.collector.store import Sent, Submission, Token, open_store
from tests.support.surveys import small
store = open_store({place!r})
store.create(small())
entry = store.open("small")
leave(["opened"])
leave(["token", store.issue_token(Token("mine", "admin"))])
async def run():
    with SubmissionWriter(store, pool=1, hold=0, pause=0) as writer:
        for number in range(1, 4):
            assert await writer.add(Submission(entry.id, bytes([number] * 16), None, (Sent(0, 0, 1),))) == "stored"
            leave(["stored", number])
asyncio.run(run())
store.withdraw(entry.id, bytes([1] * 16))
leave(["gone", 1])
"""
DEVICES = """
from unittest.mock import patch
from deniable.client import Client, Hub
from deniable.survey import Keys, Link
from tests.support.surveys import small
survey = small(keys=Keys("0" * 64))
link = Link.to_survey(survey, "http://127.0.0.1:1").text
with patch("deniable.client.connection.Connection.ask", lambda *_: survey.to_json().encode()):
    with Hub(link, {place!r}, token="dn_any", patience=0) as hub:
        leave(["keys", hub.add([{{"smokes": "yes"}}] * 3)])
    with Client(link, {place!r} + " of one", patience=0) as client:
        leave(["answered", client.answer("smokes", "yes").response.symbol])
"""
FILES = """
from pathlib import Path
from deniable import k_ary
from deniable.collector.store import open_store
from deniable.engines.files import respond_file
from deniable.files.atomic import atomic_write
from deniable.survey import author
from tests.support.surveys import small
folder = Path({place!r}).parent
for overwrite in (False, True):
    with atomic_write(folder / "some.txt", overwrite=overwrite) as file:
        file.write(b"whole " * (1 + overwrite))
    leave(["some.txt", (folder / "some.txt").read_text()])
leave(["author.pem", [author.make_key(folder / "author.pem"), (folder / "author.pem").read_text()][1]])
(folder / "answers.csv").write_text("answer\\n" + "1\\n" * 9)
respond_file(k_ary(3, epsilon=1), folder / "answers.csv", folder / "sent.csv", column="answer")
leave(["sent.csv", (folder / "sent.csv").read_text()])
store = open_store({place!r})
store.create(small())
store.backup(folder / "backup.db")
leave(["backup.db", "small"])
"""

JOB = """
from pathlib import Path
from deniable.engines import files
from tests.laws.test_on_the_disk import parts_drawn, respond_in_parts
folder, rename = Path({place!r}).parent, Path.rename
(folder.parent / "answers").mkdir()
for number in range(3):
    (folder.parent / f"answers/{{number}}.csv").write_text("x\\n" + "1\\n" * 40)
def seen(old, new):
    rename(old, new)
    leave(parts_drawn(folder / "responses"))
Path.rename = seen
respond_in_parts(folder)
"""


def respond_in_parts(folder: Path) -> None:
    with patch("deniable.engines.files.PART_BYTES", 100):
        respond_file(
            dn.k_ary(1 << 20, epsilon=1),
            folder.parent / "answers",
            folder / "responses",
            column="x",
            format="ndjson",
        )


def parts_drawn(folder: Path) -> dict[str, str]:
    return {part.name: part.read_text() for part in folder.iterdir()}


def in_parts(place: Path, left: list[Any]) -> None:
    respond_in_parts(place.parent)
    now = parts_drawn(place.parent / "responses")
    assert len(now) == 3
    assert {**now, **left[-1]} == now, "a response was seen, and was drawn again"


def in_ledger(place: Path, left: list[Any]) -> None:
    with Ledger.open(place) as ledger:
        ledger.check()
        standing = {each.question: each for each in ledger.status().questions}
        out = {
            (name, each.design): each.symbol
            for name in standing
            for each in standing[name].stages
        }
    for first, *rest in left:
        if first == "forgotten":
            assert not standing[rest[0]].answer_kept
        elif first == "withdrawn":
            assert standing[rest[0]].withdrawn
        else:
            assert out.get((first, rest[0])) == rest[1], (
                "a release was lost, and would be drawn again"
            )


def in_panel(place: Path, left: list[Any]) -> None:
    gone = {name for first, name in left if first == "withdrawn"}
    with Panel.open(place) as panel:
        panel.check()
        for first, rest in left[1:]:
            if first != "withdrawn":
                kept = [
                    (name, sent)
                    for name, sent in zip(left[0][1], rest, strict=True)
                    if name not in gone
                ]
                again = panel.release("habit", dn.Design.from_json(first))
                assert again.fresh == 0, "a release was lost, and was drawn again"
                assert (
                    list(zip(again.respondents, again.symbols, strict=True)) == kept
                )
        with panel.transaction(write=False) as book:
            assert set(book.withdrawn(book.require_question("habit").id)) == gone


def in_store(place: Path, left: list[Any]) -> None:
    store = open_store(place)
    entry, gone = (
        store.survey("small"),
        {rest[0] for first, *rest in left if first == "gone"},
    )
    for first, *rest in left:
        if first == "token":
            assert store.find_token(rest[0]) is not None
        elif first == "stored":
            assert bool(store.stored(entry.id, bytes([rest[0]] * 16))) == (
                rest[0] not in gone
            ), "an acknowledged one"
    store.database.close()


def in_devices(place: Path, left: list[Any]) -> None:
    with (
        closing(
            db.SqliteFile(place, "hub", settings=db.DURABLE, patience=1)
        ) as file,
        file.transaction() as tables,
    ):
        assert {key for (key,) in tables.rows("SELECT key FROM waiting")} == set(
            left[0][1]
        )
    if len(left) > 1:
        with Ledger.open(f"{place} of one") as ledger:
            assert [
                each.symbol for each in ledger.status().question("smokes").stages
            ] == [left[1][1]]


def in_files(place: Path, left: list[Any]) -> None:
    for name, text in dict(left).items():
        found = place.with_name(name)
        if name == "backup.db":
            store = open_store(place.with_name("restored.db"))
            store.restore(found)
            assert store.survey(text).survey.name == text
            store.database.close()
        else:
            assert found.read_text() == text, f"{name} is not what was written"


PROGRAMS: dict[str, tuple[str, Callable[[Path, list[Any]], None]]] = {
    "ledger": (LEDGER, in_ledger),
    "panel": (PANEL, in_panel),
    "collector": (STORE, in_store),
    "devices": (DEVICES, in_devices),
    "files": (FILES, in_files),
    "parts": (JOB, in_parts),
}


def cut_at_every_moment(name: str, tmp_path: Path, before: str = "") -> int:
    """Run a program, cut the power whenever something has left, and look for all that had left by then."""
    lines, check = PROGRAMS[name]
    folder = tmp_path / "kept"
    folder.mkdir()
    left: list[Any] = []
    for what, found in syncs.cuts(
        folder, before + lines.format(place=str(folder / "some.db"))
    ):
        left.append(what)
        after = tmp_path / f"after {len(left)}"
        after.mkdir()
        for each, content in found.items():
            (after / each).parent.mkdir(exist_ok=True)
            (after / each).write_bytes(content)
        check(after / "some.db", left)
    return len(left)


@needs_calls
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_has_left_survives_a_power_cut(name: str, tmp_path: Path) -> None:
    """A release that a power cut takes back would be drawn again; a response that it takes was acknowledged."""
    assert cut_at_every_moment(name, tmp_path) >= 2


@needs_calls
@pytest.mark.parametrize(
    ("name", "before"),
    [
        (
            "ledger",
            'from deniable import db\ndb.DURABLE = (db.DURABLE[0], "synchronous = FULL", *db.DURABLE[2:])\n',
        ),
        (
            "panel",
            'from deniable import db\ndb.DURABLE = (db.DURABLE[0], "synchronous = OFF", *db.DURABLE[2:])\n',
        ),
        ("files", "os.fsync = lambda _: None\n"),
        ("parts", "os.fsync = lambda _: None\n"),
    ],
)
def test_what_is_not_on_the_disk_is_seen(
    name: str, before: str, tmp_path: Path
) -> None:
    """A journal that is gone only in memory, a file that is never forced: the cut shows it."""
    with pytest.raises((AssertionError, OSError, dn.DeniableError)):
        cut_at_every_moment(name, tmp_path, before)


def test_the_settings_that_promise_it_are_in_force(tmp_path: Path) -> None:
    """For where system calls cannot be read."""
    with ExitStack() as opened:
        ledger = opened.enter_context(Ledger.create(tmp_path / "mine.ledger"))
        panel = opened.enter_context(Panel.create(tmp_path / "panel.db"))
        store = open_store(tmp_path / "collector.db")
        opened.callback(store.shut)
        for database in (ledger.database, panel.database):
            for write in (True, False):
                with database.transaction(write=write) as tables:
                    assert _settings(tables) == {
                        "synchronous": 3,
                        "journal_mode": "delete",
                        "secure_delete": 1,
                    }
        with store.transaction() as tables:
            assert _settings(tables) == {
                "synchronous": 2,
                "journal_mode": "wal",
                "secure_delete": 1,
            }


def _settings(tables: db.Tables) -> dict[str, object]:
    return {
        name: tables.value(f"PRAGMA {name}")
        for name in ("synchronous", "journal_mode", "secure_delete")
    }


# Files are their owner's alone


@pytest.fixture
def careless() -> Iterator[None]:
    """A program whose new files are readable and writable for everybody, unless they are made otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


def a_ledger(folder: Path) -> None:
    with (
        Ledger.create(folder / "mine.ledger") as ledger,
        ledger.database.transaction() as tables,
    ):
        tables.run("CREATE TABLE scratch (x INTEGER)")
        owners_alone(folder)


def a_panel(folder: Path) -> None:
    # an empty file that is there already, and readable for everybody
    (folder / "panel.db").touch()
    with Panel.create(folder / "panel.db") as panel:
        panel.answer("habit", {"anna": "1"}, about=dn.k_ary(3, epsilon=1))


def devices(folder: Path) -> None:
    survey = small(keys=Keys("0" * 64))
    with patch(
        "deniable.client.connection.Connection.ask",
        lambda *_: survey.to_json().encode(),
    ):
        link = Link.to_survey(survey, "http://127.0.0.1:1").text
        with Client(link, folder / "client", patience=0) as client:
            client.answer("smokes", "yes")
        with Hub(link, folder / "hub", token="dn_any", patience=0) as hub:
            hub.add([{"smokes": "yes"}])


def a_collector(folder: Path) -> None:
    store, copy = open_store(folder / "collector.db"), schema._copy
    store.create(small())
    with store.transaction() as tables:
        tables.run("CREATE TABLE scratch (x INTEGER)")
        owners_alone(folder)
    with patch.object(
        schema, "_copy", lambda *tables: (copy(*tables), owners_alone(folder))
    ):
        store.backup(folder / "backup.db")
    store.shut()


def an_author(folder: Path) -> None:
    author.make_key(folder / "key.pem")


def parts(folder: Path) -> None:
    """The journal of a job tells about the answers; the parts themselves are responses, which leave."""
    answers = folder.parent / "answers"
    answers.mkdir()
    (answers / "0.csv").write_text("x\n1\n")
    respond_in_parts(folder)
    (folder / "responses").rename(folder.parent / "given out")
    owners_alone(folder / "responses.job")


def a_secret(folder: Path) -> None:
    with atomic_write(folder / "secret", private=True):
        owners_alone(folder)


def commands(folder: Path) -> None:
    (folder / "survey.json").write_text(small(admission="invitation").to_json())
    (folder / "design.json").write_text(dn.warner(1).to_json())
    where = ("--database", folder / "collector.db")
    done("survey", "create", folder / "survey.json", *where)
    done("survey", "invite", "small", 2, "--out", folder / "links.txt", *where)
    done("survey", "token", "ann", "--out", folder / "token", *where)
    done("survey", "backup", folder / "backup.db", *where)
    done("survey", "key", folder / "key.pem")
    done("release", "open", folder / "mine.ledger")
    done(
        "release",
        "answer",
        folder / "mine.ledger",
        "smokes",
        folder / "design.json",
        stdin="yes\n",
    )


MAKERS = {
    each.__name__: each
    for each in (
        a_ledger,
        a_panel,
        devices,
        a_collector,
        an_author,
        parts,
        a_secret,
        commands,
    )
}
MADE_HERE = {"survey.json", "design.json"}  # by the test, and nobody's secret

MAKES = {
    "cli.common: atomic_write": "commands",
    "cli.survey: atomic_write": "",  # the pages of a preview
    "client.hub: SqliteFile": "devices",
    "collector.store.schema: SqliteFile": "a_collector",
    "collector.store.schema: os.open": "a_collector",
    "collector.store.schema: shutil.copy": "",  # into a folder that is its owner's alone, for a moment
    "db: SqliteFile": "a_panel",
    "db.database: os.open": "a_ledger",
    "db.database: sqlite3.connect": "",  # opens what is there (mode=rw)
    "engines.record_files: atomic_write": "",  # responses, which leave
    "engines.files: atomic_write": "",  # responses, which leave
    "fieldkit.kit: atomic_write": "",  # pages to be printed and handed out
    "files.atomic: open": "a_secret",
    "files.atomic: os.open": "a_secret",
    "files.columns: path.open": "",  # reads
    "files.journal: atomic_write": "parts",
    "survey.author: open": "an_author",
    "survey.author: os.open": "an_author",
}
_OPENS = {
    "open",
    "os.open",
    "path.open",
    "atomic_write",
    "SqliteFile",
    "sqlite3.connect",
    "shutil.copy",
}
_WRITES = {"write_text", "write_bytes", "touch"}


@pytest.mark.usefixtures("careless")
@pytest.mark.parametrize("name", MAKERS)
def test_every_file_is_its_owners_alone(name: str, tmp_path: Path) -> None:
    """Also journals, logs and half-written copies, which are there for a moment."""
    MAKERS[name](tmp_path)
    assert owners_alone(tmp_path)


def owners_alone(folder: Path) -> set[str]:
    modes = {
        each.name: stat.S_IMODE(each.stat().st_mode)
        for each in folder.iterdir()
        if each.name not in MADE_HERE
    }
    assert {name: oct(mode) for name, mode in modes.items() if mode & 0o077} == {}
    return set(modes)


def test_every_call_that_makes_a_file_is_known() -> None:
    found = set()
    for module in fresh.modules():
        for call in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(call, ast.Call) and (name := ast.unparse(call.func)):
                assert name.rpartition(".")[2] not in _WRITES, module.__name__
                if name in _OPENS:
                    found.add(f"{module.__name__.removeprefix('deniable.')}: {name}")
    assert found == MAKES.keys(), (
        "enter it, with the call of MAKERS that makes the file"
    )
    assert {each for each in MAKES.values() if each} <= MAKERS.keys()


# What is erased is gone from every byte

# categories, so that the number of an answer or a response is found in a file wherever it lies
MANY = 1 << 53
STAGES = dn.ladder(
    [
        dn.k_ary(MANY, p=p)
        for p in ("1/10000000000", "2/10000000000", "3/10000000000")
    ]
)


def numbers(database: db.Database, statement: str) -> list[str]:
    with database.transaction(write=False) as tables:
        return [str(text) for (text,) in tables.rows(statement)]


WAITING = "SELECT response FROM release_response WHERE released = 0"
OUT = "SELECT response FROM release_response WHERE released = 1"
ANSWERS = "SELECT answer FROM release_answer WHERE answer IS NOT NULL"
SECRETS = "SELECT hex(secret) FROM release_answer WHERE secret IS NOT NULL"


def on_disk(folder: Path, texts: list[str]) -> int:
    """Return how many of some texts lie anywhere in the files, as such or as the bytes that they write."""
    content = b"".join(each.read_bytes() for each in folder.iterdir())
    return sum(
        each.encode() in content
        or (len(each) % 2 == 0 and bytes.fromhex(each) in content)
        for each in texts
    )


@pytest.mark.parametrize("planned", [False, True])
@pytest.mark.parametrize("end", ["forget", "withdraw one", "withdraw all"])
def test_a_ledger_keeps_no_byte_of_what_it_erased(
    end: str, planned: bool, tmp_path: Path
) -> None:
    with Ledger.create(tmp_path / "mine.ledger") as ledger:
        for number in range(30):
            about = STAGES if planned else STAGES.designs[0]
            ledger.answer(
                f"q{number}", str(MANY // 3 + 7919 * number), about=about, keep=True
            )
            ledger.release(f"q{number}", STAGES.designs[0])
        answers, out = (numbers(ledger.database, each) for each in (ANSWERS, OUT))
        # a stage may be equal to the next one
        waiting = sorted({*numbers(ledger.database, WAITING)} - {*out})
        halves = [each[64:] for each in numbers(ledger.database, SECRETS)]
        assert on_disk(tmp_path, answers) == len(answers) == 30, "this finds them"
        # each of 30 with 2 in 3; fewer: 10⁻¹¹
        assert on_disk(tmp_path, waiting) == len(waiting) >= 3 * planned
        assert on_disk(tmp_path, halves) == 30
        if end == "withdraw all":
            ledger.withdraw()
        for number in range(30):
            if end != "withdraw all":
                (ledger.forget if end == "forget" else ledger.withdraw)(f"q{number}")
        assert on_disk(tmp_path, answers) == 0, "while it is open"
        assert on_disk(tmp_path, halves) == 0
        assert on_disk(tmp_path, waiting) == (len(waiting) if end == "forget" else 0)
        assert on_disk(tmp_path, out) == 30, "what is out stays known"
    assert on_disk(tmp_path, [*answers, *halves]) == 0


def test_a_panel_keeps_no_byte_of_whom_it_erased(tmp_path: Path) -> None:
    people = {f"p{number}": str(MANY // 3 + 7919 * number) for number in range(200)}
    with Panel.create(tmp_path / "panel.db") as panel:
        panel.answer("planned", people, about=STAGES, keep=True)
        panel.answer("open", people, about=STAGES.designs[0])
        panel.release("planned", 0)
        kept = " AND respondent IN ('p150', 'p199')"
        out, stay = (
            {*numbers(panel.database, OUT)},
            {*numbers(panel.database, WAITING + kept)},
        )
        waiting = sorted({*numbers(panel.database, WAITING)} - out)
        assert on_disk(tmp_path, waiting) == len(waiting) > 100, "this finds them"
        assert (
            panel.withdraw([name for name in people if name not in {"p150", "p199"}])
            == 198
        )
        gone = [
            f"{int(answer):x}"
            for name, answer in people.items()
            if name not in {"p150", "p199"}
        ]
        for _ in range(2):
            assert on_disk(tmp_path, [*gone, *sorted({*waiting} - stay)]) == 0
            assert on_disk(tmp_path, sorted(stay)) == len(stay)
            panel.close()


def test_a_hub_keeps_no_byte_of_what_it_has_sent(tmp_path: Path) -> None:
    survey = small(keys=Keys("0" * 64))
    with patch(
        "deniable.client.connection.Connection.ask",
        lambda *_: survey.to_json().encode(),
    ):
        link = Link.to_survey(survey, "http://127.0.0.1:1").text
        with Hub(link, tmp_path / "hub", token="dn_any", patience=0) as hub:
            keys = hub.add([{"smokes": "yes", "apps": "3"}] * 50)
            assert on_disk(tmp_path, keys) == 50
            assert hub.send() == 50
            assert on_disk(tmp_path, keys) == 0


def test_a_collector_keeps_no_byte_of_what_was_withdrawn(tmp_path: Path) -> None:
    """Responses of 128 random bits, so that each is found wherever it lies."""
    store = open_store(tmp_path / "collector.db")
    store.create(small(questions=(question("apps", dn.unary(128, epsilon=2)),)))
    entry, sent = (
        store.open("small"),
        {
            bytes([n] * 16): int.from_bytes(os.urandom(16), "little")
            for n in range(1, 40)
        },
    )
    store.add(
        [
            Submission(entry.id, key, None, (Sent(0, 0, code),))
            for key, code in sent.items()
        ]
    )
    gone, stay = list(sent)[:20], list(sent)[20:]
    written = {key: code.to_bytes(16, "little").hex() for key, code in sent.items()}
    assert on_disk(tmp_path, list(written.values())) == len(sent), "this finds them"
    for key in gone:
        assert store.withdraw(entry.id, key).overwritten
    assert on_disk(tmp_path, [written[key] for key in gone]) == 0, "while it is open"
    assert on_disk(tmp_path, [written[key] for key in stay]) == len(stay)
    store.shut()
    assert on_disk(tmp_path, [written[key] for key in gone]) == 0


def test_a_collector_keeps_no_byte_of_tokens_and_codes(tmp_path: Path) -> None:
    """Whoever reads the file has neither: only hashes of them lie there."""
    store = open_store(tmp_path / "collector.db")
    store.create(small(admission="invitation"))
    store.open("small")
    texts = [
        *store.invite("small", 5),
        store.issue_token(Token("ann", "admin")),
        store.rotate_token("ann"),
    ]
    content = b"".join(each.read_bytes() for each in tmp_path.iterdir())
    assert sum(
        hashlib.sha256(each.encode()).digest() in content for each in texts
    ) in {
        6,
        7,
    }, "this finds them"
    assert not any(
        each.encode() in content or each[3:].encode() in content for each in texts
    )
    store.shut()


def test_what_is_erased_is_overwritten_in_every_page(tmp_path: Path) -> None:
    """Rows that fill many pages, which are given back: none of their bytes stay."""
    marks = [os.urandom(24).hex() for _ in range(400)]
    for settings in (db.DURABLE, db.SHARED):
        path = tmp_path / f"{len(settings)}.db"
        with closing(
            db.SqliteFile(path, "file", settings=settings, patience=1)
        ) as file:
            file.make()
            with file.transaction() as tables:
                tables.run("CREATE TABLE kept (id INTEGER PRIMARY KEY, mark TEXT)")
                tables.insert("kept", ("id", "mark"), enumerate(marks))
            assert _found(tmp_path, marks) == len(marks)
            with file.transaction() as tables:
                tables.run("UPDATE kept SET mark = NULL WHERE id % 2 = 0")
                tables.run("DELETE FROM kept WHERE id % 2 = 1")
        assert _found(tmp_path, marks) == 0


def _found(folder: Path, marks: list[str]) -> int:
    content = b"".join(each.read_bytes() for each in folder.iterdir())
    return sum(each.encode() in content for each in marks)


def test_a_file_that_cannot_be_had_is_given_up(tmp_path: Path) -> None:
    file: dict[str, Any] = {"settings": db.DURABLE, "patience": 0.2}
    one = db.SqliteFile(tmp_path / "one.db", "file", **file)
    one.make()
    with (
        closing(one),
        closing(db.SqliteFile(tmp_path / "one.db", "file", **file)) as two,
    ):
        with (
            one.transaction(),
            pytest.raises(dn.errors.UnreadableFile, match="another program"),
            two.transaction(),
        ):
            raise AssertionError("two programs write at a time")
        with two.transaction():  # afterwards it can be had
            pass

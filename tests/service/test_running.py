"""A collector as people run it: started by the command line, asked over HTTP, stopped by a signal; nothing is lost."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from deniable.collector.app import make_app
from deniable.collector.settings import Settings
from deniable.collector.store import open_store
from deniable.survey import Survey
from tests.support import postgres
from tests.support.collector import listening, submission
from tests.support.commands import done, run
from tests.support.filled import EXAMPLE, example


@contextmanager
def serving(
    folder: Path, *words: str
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `deniable serve` until the test has ended; gives the process and the address."""
    command = [sys.executable, "-m", "deniable.cli", "serve", "--port", "0", *words]
    process = subprocess.Popen(
        command,
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert process.stderr
    try:
        address = re.search(r"http://127\.0\.0\.1:\d+", process.stderr.readline())
        assert address
        yield process, address[0]
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def test_a_survey_from_the_command_line_to_the_end(tmp_path: Path) -> None:
    database = tmp_path / "deniable.db"
    done("survey", "create", EXAMPLE, "--open", "--database", database)
    store = open_store(database)
    survey = store.survey("working-life").survey
    store.shut()
    stored, acknowledged = threading.Event(), 0
    with serving(tmp_path) as (process, address):
        assert httpx.get(f"{address}/health").json() == {"status": "well"}
        assert "server" not in httpx.get(address).headers

        def send() -> None:
            nonlocal acknowledged
            with httpx.Client(base_url=address) as client:
                while True:
                    body = submission(survey)
                    try:
                        status = client.post(
                            "/api/surveys/working-life/responses", json=body
                        ).status_code
                    except httpx.TransportError:
                        return  # the collector has stopped
                    if status == 204:
                        acknowledged += 1
                        stored.set()

        senders = [threading.Thread(target=send) for _ in range(4)]
        for each in senders:
            each.start()
        assert stored.wait(30)
        process.send_signal(signal.SIGTERM)
        for each in senders:
            each.join(30)
        assert process.wait(30) == 0
        assert process.stderr
        lines = [json.loads(line) for line in process.stderr.read().splitlines()]
    assert [line["event"] for line in lines if line["event"] != "request"] == [
        "listening",
        "stopped",
    ]
    assert {line["status"] for line in lines if line["event"] == "request"} <= {503}
    store = open_store(database)
    counted = store.tallies(store.survey("working-life").id, 0).respondents
    store.shut()
    assert acknowledged <= counted <= acknowledged + 4, (
        "what was acknowledged is stored; what was under way may be"
    )
    left = [path.name for path in tmp_path.glob("*.db-*")]
    assert left == [f"{database.name}-seat"], (
        "nothing is left beside the database but the name of its lock"
    )


def test_the_same_on_postgres(postgres_server: str, tmp_path: Path) -> None:
    place = postgres.fresh_schema(postgres_server, "running")
    done("survey", "create", EXAMPLE, "--open", "--database", place)
    token = done("survey", "token", "ann", "--database", place).stdout.strip()
    device = done(
        "survey", "token", "tablet", "--scope", "device", "--database", place
    ).stdout.strip()
    store = open_store(place)
    survey = store.survey("working-life").survey
    with (
        listening(make_app(Settings(), store)) as address,
        httpx.Client(base_url=f"{address}/api/surveys/working-life") as web,
    ):
        bodies = [submission(survey) for _ in range(30)]
        assert {web.post("responses", json=body).status_code for body in bodies} == {
            204
        }
        lines = "\n".join(
            json.dumps(body) for body in [*bodies[:5], submission(survey)]
        )
        batch = web.post(
            "batches",
            content=lines,
            headers={
                "content-type": "application/x-ndjson",
                "authorization": f"Bearer {device}",
            },
        )
        assert batch.json() == {"stored": 1, "repeated": 5}
        assert web.post("withdrawals", json={"key": bodies[0]["key"]}).json() == {
            "withdrawn": 1,
            "overwritten": True,
        }
        store.close("working-life")
        found = web.get(
            "tallies", headers={"authorization": f"Bearer {token}"}
        ).json()
        assert found["questions"]["overtime"]["respondents"] == 30
    store.shut()
    done("survey", "backup", tmp_path / "backup.db", "--database", place)
    done(
        "survey",
        "restore",
        tmp_path / "backup.db",
        "--database",
        tmp_path / "file.db",
    )
    copied = open_store(tmp_path / "file.db")
    assert copied.tallies(copied.survey("working-life").id, 0).respondents == 30
    copied.shut()


def test_every_method_has_one_description(tmp_path: Path) -> None:
    store = open_store(tmp_path / "collector.db")
    with listening(make_app(Settings(), store)) as address:
        described = httpx.get(f"{address}/openapi.json").json()
        operations = [
            each["operationId"]
            for path in described["paths"].values()
            for each in path.values()
        ]
        assert len(operations) == len(set(operations)) >= 20
        assert httpx.get(f"{address}/metrics").status_code == 401
    store.shut()


def test_a_request_that_never_ends_does_not_keep_a_place(tmp_path: Path) -> None:
    store = open_store(tmp_path / "collector.db")
    store.create(example())
    store.open("working-life")
    settings = Settings(patience=0.2)
    with listening(make_app(settings, store), settings) as address:

        def endless() -> Iterator[bytes]:
            yield b"{"
            threading.Event().wait(0.6)
            yield b"}"

        try:
            answered = httpx.post(
                f"{address}/api/surveys/working-life/responses",
                content=endless(),
                headers={"content-type": "application/json"},
            )
            assert answered.status_code == 408
        except httpx.TransportError:
            pass  # the connection was closed while the rest was on its way
        assert httpx.get(f"{address}/health").status_code == 200
    store.shut()


def test_a_port_that_is_taken_is_said_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = run(
            "serve",
            "--database",
            tmp_path / "x.db",
            "--port",
            taken.getsockname()[1],
        )
    assert refused.exit_code == 2
    assert "cannot listen on 127.0.0.1" in refused.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words",
    [
        ("--host", "0.0.0.0"),
        ("--host", "0.0.0.0", "--address", "http://survey.example"),
    ],
)
def test_pages_do_not_leave_the_machine_in_the_clear(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    refused = run("serve", "--database", tmp_path / "x.db", "--port", "0", *words)
    assert refused.exit_code == 2
    assert "other machines" in refused.stderr
    assert not list(tmp_path.iterdir())


def test_health_says_no_where_nothing_can_be_written_and_yes_when_it_can_again(
    tmp_path: Path,
) -> None:
    done(
        "survey", "create", EXAMPLE, "--open", "--database", tmp_path / "deniable.db"
    )
    with (
        serving(tmp_path) as (process, address),
        httpx.Client(base_url=address) as web,
    ):
        survey = Survey.from_json(web.get("/api/surveys/working-life").text)
        assert web.get("/health").status_code == 200
        before = resource.prlimit(
            process.pid, resource.RLIMIT_FSIZE, (1 << 12, resource.RLIM_INFINITY)
        )
        assert (
            web.post(
                "/api/surveys/working-life/responses", json=submission(survey)
            ).status_code
            == 503
        )
        refused = web.get("/health")
        assert refused.status_code == 503
        assert str(tmp_path) not in refused.text
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, before)
        assert web.get("/health").json() == {"status": "well"}
        assert (
            web.post(
                "/api/surveys/working-life/responses", json=submission(survey)
            ).status_code
            == 204
        )
    with closing(sqlite3.connect(tmp_path / "deniable.db")) as database:
        assert database.execute(
            "SELECT count(*) FROM secret WHERE name = 'probe'"
        ).fetchall() == [(0,)]

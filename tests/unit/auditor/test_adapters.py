"""Commands, endpoints and files of pairs as mechanisms, and what is refused."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deniable.auditor import audit, mechanism, of_command, of_endpoint, of_pairs
from deniable.auditor.adapters import Command, LocalService, Pairs
from deniable.errors import InvalidRequest, UnreadableFile

UPPER = "import sys\nfor line in sys.stdin: print(line.strip().upper(), flush=True)"
ANSWERS = ["a", "b", "a"]


def python(program: str) -> list[str]:
    return [sys.executable, "-c", program]


@pytest.mark.parametrize("stays", [False, True])
def test_a_command_gives_a_line_for_each_answer_in_every_call(stays: bool) -> None:
    command = of_command(python(UPPER), stays=stays)
    assert [command.responses(ANSWERS) for _ in range(2)] == [["A", "B", "A"]] * 2
    command.close()


def test_a_command_that_stays_is_one_process_until_it_is_started_afresh() -> None:
    counting = "import sys\nfor n, _ in enumerate(sys.stdin): print(n, flush=True)"
    command = of_command(python(counting), stays=True)
    again = command.fresh()
    assert [
        command.responses("ab"),
        command.responses("c"),
        again.responses("d"),
    ] == [
        ["0", "1"],
        ["2"],
        ["0"],
    ]
    for each in (command, again):
        each.close()


def test_a_command_takes_more_than_a_pipe_holds() -> None:
    command = of_command(python(UPPER), stays=True)
    assert command.responses(["x" * 100] * 5000) == ["X" * 100] * 5000
    command.close()


@pytest.mark.parametrize("stays", [False, True])
@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ("print('one')", "wrote 1 lines for 3 answers"),
        ("", "wrote 0 lines for 3 answers"),
        (
            "import sys; sys.stdin.readline(); raise SystemExit(3)",
            "ended with 3|wrote 0 lines",
        ),
        ("import time; time.sleep(9)", "wrote nothing for 0.5 seconds"),
    ],
)
def test_a_command_that_does_not_answer_line_by_line_is_refused(
    program: str, problem: str, stays: bool
) -> None:
    with pytest.raises(InvalidRequest, match=problem):
        of_command(
            python(program), stays=stays, timeout=0.5 if "sleep" in program else 60
        ).responses(ANSWERS)


def test_lines_that_nobody_asked_for_are_noticed_at_the_next_call() -> None:
    chatty = of_command(
        python("import sys\nfor line in sys.stdin: print('x\\ny', flush=True)"),
        stays=True,
    )
    with pytest.raises(InvalidRequest, match="wrote"):
        [chatty.responses(["a"]) for _ in range(50)]


def test_a_command_that_reads_no_more_is_ended_without_a_trace() -> None:
    program = "import os, time\nos.close(0); print('x', flush=True); time.sleep(1)"
    deaf = of_command(python(program), stays=True)
    deaf.responses(["a"])
    with pytest.raises(InvalidRequest, match="wrote 0 lines for 1 answers"):
        # what could not be sent is still there when the pipe is closed
        deaf.responses(["a"])


def test_a_command_that_ended_between_two_calls_is_not_waited_for() -> None:
    brief = of_command(
        python("import sys; print(sys.stdin.readline().strip())"), stays=True
    )
    before = set(threading.enumerate())
    assert brief.responses(["a"]) == ["a"]
    for thread in set(threading.enumerate()) - before:
        thread.join()  # the one that reads sees the end before the next call
    with pytest.raises(InvalidRequest, match="wrote 0 lines for 1 answers"):
        brief.responses(["a"])


def test_commands_that_cannot_run_and_answers_of_two_lines_are_refused() -> None:
    for empty in ("", "'", []):
        with pytest.raises(InvalidRequest, match="no command"):
            of_command(empty)
    with pytest.raises(InvalidRequest, match="cannot be started"):
        of_command("there-is-no-such-program").responses(["a"])
    with pytest.raises(InvalidRequest) as refused:
        of_command("cat").responses(["secret\nanswer"])
    assert "secret" not in str(refused.value)


class Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60  # a connection that is left open ends, too
    ended = threading.Event()

    def finish(self) -> None:
        super().finish()
        self.ended.set()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = {"/moved": 302, "/broken": 500}.get(self.path, 200)
        reply = b"x" * (2 << 20) if self.path == "/large" else body.upper()
        self.send_response(status)
        self.send_header("Content-Length", str(len(reply)))
        if status == 302:
            self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        if self.path == "/closing":
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@contextmanager
def serving() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Service)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_an_endpoint_is_sent_an_answer_and_returns_a_response() -> None:
    with serving() as address:
        for path in ("/", "/closing"):
            endpoint = of_endpoint(address + path)
            assert endpoint.responses(ANSWERS) == ["A", "B", "A"]
            endpoint.close()


def test_an_endpoint_follows_no_redirect_and_takes_no_failure_for_a_response() -> (
    None
):
    with serving() as address:
        for path, status in (("/moved", 302), ("/broken", 500), ("/large", 200)):
            with pytest.raises(InvalidRequest, match=f"answered with {status}"):
                of_endpoint(address + path).responses(["a"])
    with pytest.raises(InvalidRequest, match="does not answer"):
        of_endpoint(address).responses(["a"])


def test_an_audit_of_an_endpoint_closes_its_connection() -> None:
    with serving() as address:
        Service.ended.clear()
        found = audit(
            address,
            ["a", "b"],
            epsilon=1,
            draws=1_000,
            checks=["worst event", "repeats"],
        )
        assert Service.ended.wait(30)
    assert found.verdict == "violated"


def test_an_audit_of_a_command_that_stays_ends_it() -> None:
    numbered = of_command(
        python("import sys\nfor n, _ in enumerate(sys.stdin): print(n, flush=True)"),
        stays=True,
    )
    audit(numbered, ["a", "b"], draws=1_000, checks=["worst event"])
    assert numbered.responses(["a"]) == ["0"]  # of a process that was started anew
    numbered.close()


@pytest.mark.parametrize(
    "address",
    [
        "http://192.0.2.1/", "http://0.0.0.0/", "http://[::]/", "http://10.0.0.1/", "https://127.0.0.1/",
        "ftp://127.0.0.1/", "http://", "http://127.0.0.1.invalid/", "http://[::ffff:192.0.2.1]/",
    ],
)  # fmt: skip
def test_other_machines_are_refused_before_anything_is_sent(address: str) -> None:
    with pytest.raises(InvalidRequest):
        of_endpoint(address)


def written(folder: Path, kind: str) -> Path:
    path, rows = (
        folder / f"pairs.{kind}",
        [("a", "x"), ("b", "y"), ("a", "z"), (None, "y"), ("b", None)],
    )
    if kind == "parquet":
        pq.write_table(
            pa.table(
                {"answer": [a for a, _ in rows], "response": [r for _, r in rows]}
            ),
            path,
        )
    elif kind == "csv":
        path.write_text(
            "answer,response\n" + "".join(f"{a or ''},{r or ''}\n" for a, r in rows)
        )
    else:
        path.write_text(
            "".join(json.dumps({"answer": a, "response": r}) + "\n" for a, r in rows)
        )
    return path


@pytest.mark.parametrize("kind", ["parquet", "csv", "ndjson"])
def test_pairs_are_handed_out_once_and_in_their_order(
    tmp_path: Path, kind: str
) -> None:
    pairs = of_pairs(written(tmp_path, kind))
    assert pairs.answers == ("a", "b")
    assert pairs.responses(["a", "b"]) == ["x", "y"]
    assert (pairs.left("a"), pairs.left("b"), pairs.left("c")) == (1, 1, 0)
    assert pairs.responses(["b", "a"]) == [None, "z"]
    with pytest.raises(InvalidRequest, match="too few rows"):
        pairs.responses(["a"])


def test_pairs_need_both_columns(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="no column 'truth'"):
        of_pairs(written(tmp_path, "csv"), columns=("truth", "response"))


def test_text_is_a_command_or_an_address_and_a_path_is_a_file(
    tmp_path: Path,
) -> None:
    assert isinstance(mechanism("cat"), Command)
    assert isinstance(mechanism("curl http://127.0.0.1/"), Command)
    assert isinstance(mechanism("http://127.0.0.1:8000/"), LocalService)
    assert isinstance(mechanism(written(tmp_path, "csv")), Pairs)

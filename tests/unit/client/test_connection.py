"""A connection asks again while it is worth it, and follows nobody elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from deniable.client.connection import Connection, NotSent, NotTaken

Answer = tuple[int, dict[str, str], bytes]


@contextmanager
def answering(*answers: Answer | None) -> Iterator[tuple[str, list[str]]]:
    """Listen, and give these answers, the last one again and again; None breaks the connection."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            asked.append(f"{self.command} {self.path}")
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            answer = answers[min(len(asked), len(answers)) - 1]
            if answer is None:
                self.connection.close()
                return
            status, headers, body = answer
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_DELETE = _answer  # noqa: N815 - what the standard library calls

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    listener = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(
        target=listener.serve_forever, kwargs={"poll_interval": 0.01}
    )
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.server_port}", asked
    finally:
        listener.shutdown()
        thread.join()
        listener.server_close()


WELL: Answer = (200, {}, b"well")


@pytest.mark.parametrize(
    "first", [None, (503, {}, b""), (429, {}, b""), (500, {}, b"<html>")]
)
def test_it_asks_again(first: Answer | None) -> None:
    slept: list[float] = []
    with answering(first, first, WELL) as (base, asked):
        assert (
            Connection(base, patience=60, sleep=slept.append).ask(
                "POST", "/x", b"{}"
            )
            == b"well"
        )
    assert asked == ["POST /x"] * 3
    assert len(slept) == 2
    assert 0 <= slept[0] <= 0.25
    assert 0 <= slept[1] <= 0.5


def test_it_waits_as_long_as_it_is_told() -> None:
    slept: list[float] = []
    with answering(
        (429, {"Retry-After": "7"}, b""), (503, {"Retry-After": "soon"}, b""), WELL
    ) as (base, _):
        Connection(base, patience=60, sleep=slept.append).ask("GET", "/x")
    assert slept[0] == 7
    assert slept[1] < 1


def test_it_gives_up_when_its_patience_ends() -> None:
    slept: list[float] = []
    with (
        answering((503, {}, b"")) as (base, asked),
        pytest.raises(
            NotSent, match=r"does not answer \(status 503\); nothing is lost"
        ),
    ):
        Connection(base, patience=20, sleep=slept.append).ask("GET", "/x")
    assert sum(slept) <= 20
    assert len(asked) == len(slept) + 1 > 5
    with pytest.raises(NotSent, match="URLError"):
        Connection("http://127.0.0.1:1", patience=0).ask("GET", "/x")


def test_a_refusal_is_told_in_the_collectors_words() -> None:
    body = b'{"error": {"what": "This is closed.", "expected": "an open survey.", "next": "Come back in May."}}'
    with (
        answering((409, {}, body)) as (base, asked),
        pytest.raises(NotTaken) as caught,
    ):
        Connection(base, patience=60).ask("POST", "/x", b"{}")
    assert len(asked) == 1, "asking again would not help"
    assert (
        str(caught.value)
        == "This is closed. Expected an open survey.\nCome back in May."
    )
    assert caught.value.status == 409


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b'{"error": 3}', b"[" * 5000]
)
def test_a_refusal_without_words_is_told_by_its_status(body: bytes) -> None:
    with (
        answering((404, {}, body)) as (base, _),
        pytest.raises(NotTaken, match="status 404"),
    ):
        Connection(base, patience=0).ask("GET", "/x")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_it_follows_no_redirect(method: str, status: int) -> None:
    body = b"{}" if method == "POST" else None
    moved: Answer = (status, {"Location": "/elsewhere"}, b"")
    with (
        answering(WELL) as (other, asked),
        answering((status, {"Location": f"{other}/elsewhere"}, b"")) as (base, _),
    ):
        with pytest.raises(NotTaken, match=f"status {status}"):
            Connection(base, patience=0).ask(method, "/responses", body)
        assert asked == [], "nothing goes to another machine"
    with answering(moved, WELL) as (base, asked):
        with pytest.raises(NotTaken, match=f"status {status}"):
            Connection(base, patience=0).ask(method, "/responses", body)
        assert asked == [f"{method} /responses"], (
            "nor to another address of the same one"
        )

"""Heads of requests are bounded, in size and in time, before anything of ours sees them."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from deniable.collector.app import make_app
from deniable.collector.limits import BoundedHttp
from deniable.collector.settings import Settings
from deniable.collector.store import open_store
from tests.support.collector import listening

START = b"GET /health HTTP/1.1\r\nHost: x\r\n"


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(BoundedHttp, "patience", 0.3)
    store = open_store(tmp_path / "collector.db")
    with listening(make_app(Settings(), store)) as found:
        yield found
    store.shut()


def connected(address: str) -> socket.socket:
    host, port = address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=20)


def everything(line: socket.socket) -> bytes:
    """Read until the other side closes."""
    found = b""
    while piece := line.recv(1 << 16):
        found += piece
    return found


def refusal(raw: bytes) -> str:
    """Return what a refusal says was wrong; all of them have one form, also those of what is not even HTTP."""
    head, _, body = raw.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert f"content-length: {len(body)}".encode() in head
    return str(json.loads(body)["error"]["what"])


def test_what_is_not_http_is_refused_like_everything_else(address: str) -> None:
    for raw in (
        b"\x16\x03\x01\x02\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
    ):
        with connected(address) as line:
            line.sendall(raw)
            assert "Invalid HTTP request" in refusal(everything(line))


def test_a_head_without_end_is_cut_off(address: str) -> None:
    for endless in (b"X: " + b"a" * 1_000_000, b"X: y\r\n" * 200_000):
        with connected(address) as line:
            try:
                line.sendall(START)
                for at in range(0, len(endless), 4096):
                    line.sendall(endless[at : at + 4096])
                assert refusal(everything(line)).startswith(
                    "the head of this request is too long"
                )
            except (BrokenPipeError, ConnectionResetError):
                pass  # it was closed while more was on its way
    with connected(address) as line:
        try:
            line.sendall(b"GET /")
            for _ in range(250):
                line.sendall(b"a" * 4096)
            assert "too long" in refusal(everything(line))
        except (BrokenPipeError, ConnectionResetError):
            pass
    assert httpx.get(f"{address}/health").status_code == 200


@pytest.mark.parametrize("begun", [b"", b"GET", START, START + b"X: y"])
def test_whoever_says_nothing_more_is_not_waited_for(
    address: str, begun: bytes
) -> None:
    with connected(address) as line:
        line.sendall(begun)
        assert everything(line) == b"", "closed, without an answer"


def test_a_second_request_on_the_same_connection_is_bounded_too(
    address: str,
) -> None:
    with connected(address) as line:
        line.sendall(START + b"\r\n")
        assert line.recv(1 << 16).startswith(b"HTTP/1.1 200")
        line.sendall(START)
        assert b"HTTP/1.1" not in everything(line)


def test_large_heads_and_slow_bodies_within_the_bounds_pass(address: str) -> None:
    with httpx.Client(base_url=address) as client:
        for _ in range(3):
            assert (
                client.get("/health", headers={"X": "a" * 30_000}).status_code == 200
            )
        body = b'{"a": "' + b"b" * 60_000 + b'"}'
        answered = client.post(
            "/api/surveys/x/responses",
            content=body,
            headers={"content-type": "application/json"},
        )
        assert answered.status_code == 422


def test_one_address_has_so_many_connections_and_others_go_on(
    tmp_path: Path,
) -> None:
    store, settings = (
        open_store(tmp_path / "collector.db"),
        Settings(connections_each=3),
    )
    with listening(make_app(settings, store), settings) as address:
        held = [connected(address) for _ in range(3)]
        for _ in range(2):
            with connected(address) as line:
                answered = everything(line)
                assert answered.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
                assert b"too many connections" in answered
        host, port = address.removeprefix("http://").split(":")
        other = socket.create_connection(
            (host, int(port)), timeout=20, source_address=("127.0.0.2", 0)
        )
        with other as line:
            line.sendall(START + b"Connection: close\r\n\r\n")
            assert everything(line).startswith(b"HTTP/1.1 200")
        held.pop().close()
        found = b""
        # until the collector has seen it close
        while not found.startswith(b"HTTP/1.1 200"):
            with connected(address) as line:
                line.sendall(START + b"Connection: close\r\n\r\n")
                found = everything(line)
        for each in held:
            each.close()
    store.shut()


@pytest.mark.parametrize("proxies", ["127.0.0.1", "10.0.0.0/8, 127.0.0.0/8", "*"])
def test_connections_of_proxies_are_not_counted(
    tmp_path: Path, proxies: str
) -> None:
    store, settings = (
        open_store(tmp_path / "collector.db"),
        Settings(connections_each=1, proxies=proxies),
    )
    with listening(make_app(settings, store), settings) as address:
        held = [connected(address) for _ in range(5)]
        assert httpx.get(f"{address}/health").status_code == 200
        for each in held:
            each.close()
    store.shut()

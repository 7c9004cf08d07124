"""More than 10,000 hostile requests: every one gets a clear refusal, none an error of ours, and nothing is stored."""

from __future__ import annotations

import copy
import json
import logging
import random
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest

from deniable.collector.app import make_app
from deniable.collector.store import Store, Token, open_store
from deniable.survey import Survey
from tests.support.collector import (
    UNLIMITED,
    Answered,
    Inside,
    listening,
    submission,
)
from tests.support.surveys import small

RESPONSES = "/api/surveys/small/responses"
BATCHES = "/api/surveys/small/batches"
NEVER = "never-sent-quagga"
"""A symbol that no design has, and that no few changed bytes turn into one that a design has."""

VALUES: list[Any] = [
    None, True, False, 0, -1, 1.5, 1e308, 10**400, "", " ", "\0", "x" * 20_000, "\ud800", "0" * 32, "F" * 32,
    [], {}, [[]], [None], {"": ""}, {"a": {"b": {}}}, "sha256:", "sha256:" + "0" * 63, "'; DROP TABLE response; --",
    "../../etc/passwd", "{{7*7}}", "<script>alert(1)</script>", "\u202e", "NaN", ["x"] * 5000,
]  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "collector.db")
    opened.create(small())
    opened.open("small")
    yield opened
    opened.shut()


@pytest.fixture
def device(store: Store) -> str:
    """The header of a device that sends batches."""
    return f"Bearer {store.issue_token(Token('tablet', 'device'))}"


@pytest.fixture
def survey(store: Store) -> Survey:
    return store.survey("small").survey


def stored(store: Store) -> int:
    with store.transaction(write=False) as tables:
        return int(tables.rows("SELECT COUNT(*) FROM response")[0][0])


def damaged(raw: bytes, chance: random.Random) -> bytes:
    """Change, cut, add, double or drop a few bytes."""
    body = bytearray(raw)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(body) + 1)
        match chance.randrange(6):
            case 0:
                body[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                body[at:at] = chance.choice(
                    [
                        b'"',
                        b"\\",
                        b"{",
                        b"]",
                        b"\0",
                        b"\xff",
                        b"\xed\xa0\x80",
                        b"1e999",
                        b"//",
                    ]
                )
            case 2:
                del body[at : at + chance.randint(1, 20)]
            case 3:
                body = body[:at]
            case 4:
                body[at:at] = body[at : at + chance.randint(1, 40)]
            case 5:
                body[at:at] = chance.choice([b"[", b'{"a":']) * chance.choice(
                    [1, 100, 5000]
                )
    return bytes(body)


def replaced(survey: Survey) -> Iterator[Any]:
    """Yield a submission with each of its parts in turn replaced by each hostile value, left out, or doubled."""
    good = submission(
        survey, NEVER, group="north", token={"message": "0" * 64, "signature": "00"}
    )
    for name in good:
        for value in VALUES:
            yield {**good, name: value}
        yield {other: value for other, value in good.items() if other != name}
    for part in ("responses", "token"):
        inside = good[part][0] if part == "responses" else good[part]
        for name in inside:
            for value in VALUES:
                changed = copy.deepcopy(good)
                (changed[part][0] if part == "responses" else changed[part])[
                    name
                ] = value
                yield changed
    yield from VALUES


def check(answered: list[Answered], caplog: pytest.LogCaptureFixture) -> None:
    for each in answered:
        assert 400 <= each.status < 500, each
        if each.headers["content-type"].startswith("text/html"):
            continue
        assert set(each.json["error"]) == {"what", "expected", "next"}
    assert not [each for each in caplog.records if each.getMessage() == "crash"]
    assert NEVER not in "".join(
        each.getMessage() + repr(getattr(each, "facts", ""))
        for each in caplog.records
    )


def sealed_off(survey: Survey, chance: random.Random) -> bytes:
    asked = chance.randrange(3)
    return json.dumps(submission(survey, NEVER, question=asked)).encode()


def test_ten_thousand_hostile_bodies(
    store: Store, survey: Survey, device: str, caplog: pytest.LogCaptureFixture
) -> None:
    chance = random.Random("hostile bodies")
    kinds = (
        {"content_type": "application/json"},
        {"content_type": "application/x-ndjson", "authorization": device},
    )
    whole = json.dumps(submission(survey, "yes")).encode()
    requests: list[tuple[str, str, Any, dict[str, str]]] = []
    for _ in range(6000):
        requests.append(
            (
                "POST",
                RESPONSES,
                damaged(sealed_off(survey, chance), chance),
                kinds[0],
            )
        )
    for _ in range(2500):
        lines = (
            whole
            + b"\n"
            + damaged(sealed_off(survey, chance), chance)
            + b"\n"
            + sealed_off(survey, chance)
        )
        requests.append(("POST", BATCHES, lines, kinds[1]))
    for _ in range(1500):
        code = damaged(b'{"code": "in_x", "blinded": "00ff"}', chance)
        requests.append(
            ("POST", "/api/surveys/small/invitations/exchange", code, kinds[0])
        )
    with Inside(make_app(UNLIMITED, store)) as collector:
        bodies = [("POST", RESPONSES, body, {}) for body in replaced(survey)]
        answered = [
            each
            for at in range(0, len(requests), 500)
            for each in collector.ask_all(requests[at : at + 500])
        ]
        answered += collector.ask_all(bodies)
    assert len(answered) >= 10_000
    check(answered, caplog)
    assert stored(store) == 0


def test_hostile_streams_of_arrow(
    store: Store, survey: Survey, device: str, caplog: pytest.LogCaptureFixture
) -> None:
    chance = random.Random("hostile streams")
    asked = survey.questions[0]
    table = pa.table(
        {
            "key": pa.array(
                [secrets.token_bytes(16) for _ in range(4)], pa.binary(16)
            ),
            "question": [asked.name] * 4,
            "design": [asked.design.hash] * 4,
            "symbol": ["yes", "no", "yes", NEVER],
        }
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    raw = sink.getvalue().to_pybytes()
    kind = {
        "content_type": "application/vnd.apache.arrow.stream",
        "authorization": device,
    }
    with Inside(make_app(UNLIMITED, store)) as collector:
        check(
            collector.ask_all(
                [("POST", BATCHES, damaged(raw, chance), kind) for _ in range(600)]
            ),
            caplog,
        )
    assert stored(store) == 0


def test_hostile_addresses_and_headers(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    words = [
        "..",
        "%00",
        "%2e%2e%2f",
        "'",
        "x" * 5000,
        "{{7*7}}",
        "\xe2\x80\xae",
        "<b>",
        "\\",
        "a/b",
    ]
    patterns = [
        "/api/surveys/{}",
        "/api/surveys/small/exports/{}",
        "/s/{}",
        "/static/{}",
        "/a/{}",
        "/{}",
    ]
    requests: list[tuple[str, str, Any, dict[str, str]]] = [
        (
            method,
            pattern.format(word),
            b"",
            {
                "authorization": f"Bearer {word}",
                "cookie": f"deniable-session={word}",
            },
        )
        for pattern in patterns
        for word in words
        for method in ("GET", "POST", "DELETE", "OPTIONS")
    ]
    with Inside(make_app(UNLIMITED, store)) as collector:
        check(collector.ask_all(requests), caplog)


def test_some_of_it_over_real_http(
    store: Store, survey: Survey, caplog: pytest.LogCaptureFixture
) -> None:
    chance = random.Random("hostile http")
    with (
        listening(make_app(UNLIMITED, store)) as address,
        httpx.Client(base_url=address) as client,
    ):
        for _ in range(200):
            body = damaged(sealed_off(survey, chance), chance)
            status = client.post(
                RESPONSES, content=body, headers={"content-type": "application/json"}
            ).status_code
            assert 400 <= status < 500
        host, port = address.removeprefix("http://").split(":")
        for raw in (
            b"POST "
            + RESPONSES.encode()
            + b" HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n{",
            b"POST "
            + RESPONSES.encode()
            + b" HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
            b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 50 + b"\0\r\n\r\n",
        ):
            with socket.create_connection((host, int(port)), timeout=5) as line:
                line.sendall(raw)
                assert b" 4" in line.recv(200)[:12]
        assert client.get("/health").json() == {"status": "well"}
    assert stored(store) == 0
    assert not [each for each in caplog.records if each.levelno >= logging.ERROR]

"""A collector for tests: one that really listens, or one that is asked without a network."""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn
from starlette.applications import Starlette

from deniable.collector.serve import configuration
from deniable.collector.settings import Settings
from deniable.survey import Survey

HASTE = 0.0
"""Seconds that a submission waits for others: tests come one after the other."""

UNLIMITED = Settings(
    rate=0, rate_responses=0, rate_bytes=0, device_responses=0, device_bytes=0
)
"""For those who ask more in a minute than anybody may."""


@contextmanager
def listening(
    app: Any, settings: Settings | None = None, *, hold: float = HASTE
) -> Iterator[str]:
    """Serve an application from a thread, as `deniable serve` does; gives its address, `http://127.0.0.1:…`."""
    if isinstance(app, Starlette):  # and not one that is wrapped
        app.state.collector.writer.hold = hold
    config = configuration(settings or Settings(), app)
    config.host, config.port = "127.0.0.1", 0
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the collector stopped before it listened"
        time.sleep(0.005)
    try:
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(timeout=10)


@dataclass(frozen=True)
class Answered:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Inside:
    """Asks an application directly: quick, and with headers, bodies and addresses that no browser would send.

    Args:
        app: the application.
        always: headers of every request.
    """

    def __init__(self, app: Any, **always: str) -> None:
        self._app = app
        app.state.collector.writer.hold = HASTE
        self._always = always
        self._runner = asyncio.Runner()

    def __enter__(self) -> Inside:
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(asyncio.to_thread(self._app.state.collector.end))
        self._runner.close()

    def ask(
        self,
        method: str,
        path: str,
        body: Any = b"",
        *,
        client: str = "192.0.2.1",
        **headers: str,
    ) -> Answered:
        """Send one request; a body that is no bytes is sent as JSON. Headers are written with _ for -."""
        return self.ask_all([(method, path, body, headers)], client=client)[0]

    def ask_all(
        self,
        requests: list[tuple[str, str, Any, Mapping[str, str]]],
        *,
        client: str = "192.0.2.1",
    ) -> list[Answered]:
        """Send many requests at a time."""

        async def run() -> list[Answered]:
            return await asyncio.gather(
                *(self._one(*each, client) for each in requests)
            )

        return self._runner.run(run())

    async def _one(
        self,
        method: str,
        path: str,
        body: Any,
        headers: Mapping[str, str],
        client: str,
    ) -> Answered:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        kind = (
            {} if isinstance(body, bytes) else {"content-type": "application/json"}
        )
        given = {
            name.replace("_", "-"): text
            for name, text in {**self._always, **headers}.items()
        }
        scheme = given.pop("scheme", "http")  # as a proxy in front tells it
        named = {"host": "survey.test", **kind, **given}
        route, _, query = path.partition("?")
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": scheme, "root_path": "",
            "method": method, "path": route, "raw_path": route.encode(), "query_string": query.encode(),
            "headers": [(name.lower().encode(), text.encode("latin-1")) for name, text in named.items()],
            "client": (client, 1), "server": ("survey.test", 80),
        }  # fmt: skip
        pieces = [raw]
        sent: list[Any] = []

        async def receive() -> Any:
            if pieces:
                return {
                    "type": "http.request",
                    "body": pieces.pop(),
                    "more_body": False,
                }
            return await asyncio.get_running_loop().create_future()

        async def send(message: Any) -> None:
            sent.append(message)

        await self._app(scope, receive, send)
        found = [
            (name.decode(), value.decode()) for name, value in sent[0]["headers"]
        ]
        return Answered(
            sent[0]["status"],
            dict(found),
            b"".join(each.get("body", b"") for each in sent[1:]),
        )


def submission(
    survey: Survey,
    symbol: str = "",
    *,
    question: int = 0,
    stage: int = 0,
    **fields: Any,
) -> dict[str, Any]:
    """Return the body of a submission with one response; by default of the first symbol, under a new key."""
    asked = survey.questions[question]
    design = asked.designs[stage]
    response = {
        "question": asked.name,
        "design": design.hash,
        "symbol": symbol or design.symbols[0],
    }
    return {
        "survey": survey.hash,
        "key": secrets.token_hex(16),
        "responses": [response],
        **fields,
    }

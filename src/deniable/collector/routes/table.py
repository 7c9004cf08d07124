"""Rows of the table of routes: each says how a request is parsed, which step runs, and what comes back.

The application and its OpenAPI description are both made from these rows, so that neither says what the other does not.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from deniable.collector import access
from deniable.collector.limits import read_body
from deniable.collector.refusals import Refused, parsed
from deniable.collector.state import Collector

JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Call:
    """A request that was parsed."""

    request: Request
    collector: Collector
    body: Any

    def part(self, name: str) -> str:
        """Return a part of the path by its name."""
        value: str = self.request.path_params[name]
        return value


@dataclass(frozen=True)
class Row:
    """One row of the table.

    Attributes:
        method: GET, POST or DELETE.
        path: its pattern, with names in braces.
        run: the step; what it returns is encoded as JSON, unless it is a response or None.
        summary: what it does, in a line.
        scope: whose token it takes: "analyst", "admin", or nobody's.
        query: names that may stand behind the question mark.
        takes: the type of the JSON body; None for a body that the step reads itself, or none.
        large: whether the body may be as large as a batch.
        accepts: the media types of a body that the step reads itself, with their schemas.
        gives: the type of the JSON result; None where there is none.
        media: the media types of a result that is not JSON.
        status: of a request that went well.
        refusals: the statuses of requests that did not.
    """

    method: str
    path: str
    run: Callable[[Call], Awaitable[object]]
    summary: str
    scope: str = ""
    query: tuple[str, ...] = ()
    takes: Any = None
    large: bool = False
    accepts: Mapping[str, Any] = field(default_factory=dict)
    gives: Any = None
    media: tuple[str, ...] = ()
    status: int = 200
    refusals: tuple[int, ...] = ()


def route(row: Row) -> Route:
    """Return the route of a row."""
    decode = None if row.takes is None else msgspec.json.Decoder(row.takes).decode

    async def answer(request: Request) -> Response:
        collector: Collector = request.app.state.collector
        if row.scope:
            await access.admit(request, row.scope)
        body = None if decode is None else parsed(decode, await _json(request, collector, large=row.large))
        result = await row.run(Call(request, collector, body))
        if isinstance(result, Response):
            return result
        if result is None:
            return Response(status_code=row.status)
        return Response(msgspec.json.encode(result), row.status, media_type=JSON)

    return Route(row.path, answer, methods=[row.method], name=row.run.__name__)


def media_type(request: Request) -> str:
    """Return the media type of a body, without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def _json(request: Request, collector: Collector, *, large: bool) -> bytes:
    # A page of another site can send a form or plain text here unasked, but not JSON.
    if media_type(request) != JSON:
        raise Refused(415, f"the body is not of the right type; expected {JSON}.")
    settings = collector.settings
    return await read_body(request, settings.largest_batch if large else settings.largest, settings.patience)

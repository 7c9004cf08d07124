"""The table of routes for programs: how a request is parsed, which step runs, and what comes back.

The application (`route`) and its OpenAPI description (`describe`) are both made from the endpoints of this table, so
that neither says what the other does not.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from deniable.collector import access, exports, messages
from deniable.collector.intake import FieldedSurvey
from deniable.collector.refusals import Refusal, Refused, decode_json
from deniable.collector.settings import Collector

JSON = "application/json"

_PARTS: Mapping[str, Any] = {
    "name": messages.Slug,
    "question": messages.Slug,
    "kind": Literal[tuple(exports.FORMATS)],
    "holder": messages.Text,
    "group": messages.Text,
}
"""What the parts of an address must look like."""


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

    async def survey(self) -> FieldedSurvey:
        """Return the survey that the path names.

        Raises:
            Refused: there is none of this name.
        """
        return await self.collector.surveys.find(self.part("name"))


@dataclass(frozen=True)
class Endpoint:
    """One route for programs, a row of the table.

    Attributes:
        method: GET, POST or DELETE.
        path: its pattern, with names in braces.
        run: the step; what it returns is encoded as JSON, unless it is a response or None.
        summary: what it does, in a line.
        scope: whose token it takes: "device", "analyst", "admin", or nobody's.
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


def route(endpoint: Endpoint) -> Route:
    """Return the route of an endpoint."""
    decode = (
        None
        if endpoint.takes is None
        else msgspec.json.Decoder(endpoint.takes).decode
    )

    async def handle(request: Request) -> Response:
        collector = Collector.from_request(request)
        if endpoint.scope:
            request.state.token = await access.admit(request, endpoint.scope)
        body = (
            None
            if decode is None
            else decode_json(
                decode, await _json(request, collector, large=endpoint.large)
            )
        )
        result = await endpoint.run(Call(request, collector, body))
        if isinstance(result, Response):
            return result
        if result is None:
            return Response(status_code=endpoint.status)
        return Response(
            msgspec.json.encode(result), endpoint.status, media_type=JSON
        )

    return Route(
        endpoint.path, handle, methods=[endpoint.method], name=endpoint.run.__name__
    )


def media_type(request: Request) -> str:
    """Return the media type of a body, without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def _json(request: Request, collector: Collector, *, large: bool) -> bytes:
    # A page of another site can send a form or plain text here unasked, but not JSON.
    if media_type(request) != JSON:
        raise Refused(415, f"the body is not of the right type; expected {JSON}.")
    return await collector.limits.read(request, large=large)


def describe(endpoints: Iterable[Endpoint], version: str) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of a table."""
    endpoints = list(endpoints)
    types = [
        Refusal,
        messages.SubmissionBody,
        *(
            message
            for endpoint in endpoints
            for message in (endpoint.takes, endpoint.gives)
            if message
        ),
    ]
    _, components = msgspec.json.schema_components(
        types, ref_template="#/components/schemas/{name}"
    )
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(
            endpoint
        )
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "deniable collector",
            "version": version,
            "description": "Takes responses of randomized designs, counts and estimates. It never sees an answer.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": endpoint.run.__name__,
        "summary": endpoint.summary,
        "responses": {
            str(endpoint.status): _result(endpoint),
            **{str(status): _refusal(status) for status in _refusals(endpoint)},
        },
    }
    path_parameters = [
        _parameter(name, "path") for name in re.findall(r"\{(\w+)\}", endpoint.path)
    ]
    if parameters := path_parameters + [
        _parameter(name, "query") for name in endpoint.query
    ]:
        described["parameters"] = parameters
    if content := (
        {JSON: {"schema": _schema(endpoint.takes)}}
        if endpoint.takes
        else dict(endpoint.accepts)
    ):
        described["requestBody"] = {"required": True, "content": content}
    if endpoint.scope:
        described["security"] = [{"token": []}]
    return described


def _refusals(endpoint: Endpoint) -> list[int]:
    """Return every status an endpoint may refuse with: its own, and those that follow from what it takes."""
    statuses = {*endpoint.refusals, 400, 429}
    statuses |= {401, 403} if endpoint.scope else set()
    statuses |= (
        {408, 413, 415, 422, 503} if endpoint.takes or endpoint.accepts else set()
    )
    statuses |= {404} if "{" in endpoint.path else set()
    return sorted(statuses)


def _result(endpoint: Endpoint) -> dict[str, Any]:
    described: dict[str, Any] = {"description": HTTPStatus(endpoint.status).phrase}
    if endpoint.gives is not None:
        described["content"] = {JSON: {"schema": _schema(endpoint.gives)}}
    elif endpoint.media:
        described["content"] = {media_type: {} for media_type in endpoint.media}
    return described


def _refusal(status: int) -> dict[str, Any]:
    return {
        "description": HTTPStatus(status).phrase,
        "content": {JSON: {"schema": _schema(Refusal)}},
    }


def _parameter(name: str, location: str) -> dict[str, Any]:
    return {
        "name": name,
        "in": location,
        "required": location == "path",
        "schema": _schema(_PARTS[name]),
    }


def _schema(kind: object) -> dict[str, Any]:
    (schema,), _ = msgspec.json.schema_components(
        [kind], ref_template="#/components/schemas/{name}"
    )
    return schema

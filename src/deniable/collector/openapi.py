"""The OpenAPI description, made from the table of routes and the types of its messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, Literal

import msgspec

from deniable.collector import exports, messages
from deniable.collector.refusals import Refusal
from deniable.collector.routes.table import JSON, Row

_PARTS: Mapping[str, Any] = {
    "name": messages.Slug,
    "question": messages.Slug,
    "key": messages.Key,
    "kind": Literal[tuple(exports.FORMATS)],
    "token": messages.Text,
    "group": messages.Text,
}
"""What the parts of an address must look like."""


def describe(rows: Iterable[Row], version: str) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of a table."""
    rows = list(rows)
    types = [Refusal, messages.SubmissionBody, *(each for row in rows for each in (row.takes, row.gives) if each)]
    _, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    paths: dict[str, dict[str, Any]] = {}
    for row in rows:
        paths.setdefault(row.path, {})[row.method.lower()] = _operation(row)
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


def _operation(row: Row) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": row.run.__name__,
        "summary": row.summary,
        "responses": {str(row.status): _result(row), **{str(each): _refusal(each) for each in _refusals(row)}},
    }
    parts = [_parameter(name, "path") for name in re.findall(r"\{(\w+)\}", row.path)]
    if parameters := parts + [_parameter(name, "query") for name in row.query]:
        described["parameters"] = parameters
    if content := ({JSON: {"schema": _schema(row.takes)}} if row.takes else dict(row.accepts)):
        described["requestBody"] = {"required": True, "content": content}
    if row.scope:
        described["security"] = [{"token": []}]
    return described


def _refusals(row: Row) -> list[int]:
    """Return every status a row may refuse with: its own, and those that follow from what it takes."""
    found = {*row.refusals, 400, 429}
    found |= {401, 403} if row.scope else set()
    found |= {408, 413, 415, 422} if row.takes or row.accepts else set()
    found |= {404} if "{" in row.path else set()
    return sorted(found)


def _result(row: Row) -> dict[str, Any]:
    described: dict[str, Any] = {"description": HTTPStatus(row.status).phrase}
    if row.gives is not None:
        described["content"] = {JSON: {"schema": _schema(row.gives)}}
    elif row.media:
        described["content"] = {each: {} for each in row.media}
    return described


def _refusal(status: int) -> dict[str, Any]:
    return {"description": HTTPStatus(status).phrase, "content": {JSON: {"schema": _schema(Refusal)}}}


def _parameter(name: str, place: str) -> dict[str, Any]:
    return {"name": name, "in": place, "required": place == "path", "schema": _schema(_PARTS[name])}


def _schema(kind: Any) -> dict[str, Any]:
    (schema,), _ = msgspec.json.schema_components([kind], ref_template="#/components/schemas/{name}")
    return schema

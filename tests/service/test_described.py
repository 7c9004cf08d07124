"""The OpenAPI description is true: whatever it allows, and what it does not, gets an answer that it describes."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from deniable.collector.app import ENDPOINTS, make_app
from deniable.collector.routes.table import Endpoint
from deniable.collector.store import Token, open_store
from tests.support.collector import UNLIMITED
from tests.support.surveys import small

EXAMPLES = int(os.environ.get("DENIABLE_EXAMPLES", "6"))

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The description of a collector that answers, with the token of an administrator."""
    store = open_store(tmp_path_factory.mktemp("collector") / "collector.db")
    store.create(small())
    store.open("small")
    token = store.issue_token(Token("ada", "admin"))
    app = make_app(UNLIMITED, store)
    app.router.lifespan_context = (
        _always  # each case would start and stop the collector, which ends but once
    )
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    schema.config.update(headers={"Authorization": f"Bearer {token}"})
    yield schema
    app.state.collector.writer.close()
    app.state.collector.batches.shutdown()
    store.shut()


@asynccontextmanager
async def _always(_: Any) -> AsyncIterator[None]:
    yield


@schemathesis.serializer(
    "application/x-ndjson", "application/vnd.apache.arrow.stream"
)
def as_it_is(_: Any, value: Any) -> bytes:
    """Send what was drawn as the whole body."""
    return value if isinstance(value, bytes) else str(value).encode()


@pytest.mark.parametrize(
    ("row", "mode"),
    [
        pytest.param(row, mode, id=f"{row.method} {row.path} {mode.name.lower()}")
        for row in ENDPOINTS
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
        if mode is GenerationMode.POSITIVE
        or row.takes
        or row.accepts
        or row.query  # wrong addresses: test_hostile
    ],
)
def test_every_route_does_what_the_description_says(
    described: Any, row: Endpoint, mode: GenerationMode
) -> None:
    operation = described[row.path][row.method]

    @settings(
        max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(operation.as_strategy(generation_mode=mode))
    def tried(case: Any) -> None:
        if mode is GenerationMode.POSITIVE and "name" in case.path_parameters:
            case.path_parameters["name"] = (
                "small"  # what is drawn at random is the name of no survey
            )
        case.call_and_validate(checks=CHECKS)

    tried()

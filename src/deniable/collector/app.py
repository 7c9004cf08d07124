"""The ASGI application: a table of routes, the pages, and what every request passes on its way in and out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import cache

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from deniable import __version__
from deniable.collector import middleware
from deniable.collector.intake import SubmissionWriter, Surveys
from deniable.collector.limits import Limits
from deniable.collector.monitoring import Metrics, Pulse
from deniable.collector.pages import analyst as analyst_pages
from deniable.collector.pages import respondent as respondent_pages
from deniable.collector.pages import session
from deniable.collector.routes import admin, analyst, respondent
from deniable.collector.routes.table import Endpoint, describe, route
from deniable.collector.scripts import STATIC
from deniable.collector.settings import Collector, Settings
from deniable.collector.store import Store
from deniable.errors import DeniableError

ENDPOINTS: Sequence[Endpoint] = (
    *respondent.ENDPOINTS,
    *analyst.ENDPOINTS,
    *admin.ENDPOINTS,
)
"""All routes for programs."""


def make_app(settings: Settings, store: Store) -> Starlette:
    """Build the application on a store, which stays open when the application ends."""
    metrics = Metrics()
    writer = SubmissionWriter(store, pool=settings.pool, hold=settings.hold)
    collector = Collector(
        settings,
        store,
        writer,
        Surveys(store),
        metrics,
        Pulse(store.check),
        Limits(settings),
        # one at a time, to bound the memory; the database has one writer, too
        ThreadPoolExecutor(1, "batches"),
    )
    app = Starlette(
        routes=[
            *map(route, ENDPOINTS),
            *respondent_pages.routes,
            *session.routes,
            *map(
                session.signed_in,
                (*analyst_pages.routes, *respondent_pages.previews),
            ),
            Mount(
                "/static",
                GZipMiddleware(StaticFiles(directory=STATIC)),
                name="static",
            ),
        ],
        middleware=[Middleware(middleware.RequestGate, collector=collector)],
        exception_handlers={DeniableError: _refuse, HTTPException: _refuse},
        lifespan=_running,
    )
    app.router.redirect_slashes = (
        False  # an address is right or wrong, and a redirect would repeat it
    )
    app.state.collector = collector
    app.state.description = description()
    return app


@cache
def description() -> bytes:
    """Return the OpenAPI description of all routes for programs, as JSON."""
    return msgspec.json.encode(describe(ENDPOINTS, __version__))


@asynccontextmanager
async def _running(app: Starlette) -> AsyncIterator[None]:
    collector: Collector = app.state.collector
    yield
    await asyncio.to_thread(collector.end)


async def _refuse(request: Request, error: Exception) -> Response:
    expected = middleware.expected_error(error)
    assert expected is not None
    response = middleware.refusal(expected, request.scope)
    if response.status_code == 405:
        response.headers["Allow"] = ", ".join(sorted(_methods(request)))
    return response


def _methods(request: Request) -> set[str]:
    """Return what may be asked of an address: each method has a route of its own."""
    path = middleware.pattern(request.scope)
    routes = [
        route
        for route in request.app.routes
        if isinstance(route, Route) and route.path == path
    ]
    return {method for route in routes for method in route.methods or ()} or {
        "GET",
        "HEAD",
    }  # files have no route

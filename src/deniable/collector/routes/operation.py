"""What those who run the collector ask for: whether it is well, what it counts, and what can be asked."""

from __future__ import annotations

import asyncio

from starlette.responses import Response

from deniable.collector import messages
from deniable.collector.metrics import MEDIA
from deniable.collector.routes.table import JSON, Call, Row


async def get_health(call: Call) -> messages.Health:
    """Say that the collector is there and its database answers."""
    await asyncio.to_thread(call.collector.store.check)
    return messages.Health("well")


async def get_metrics(call: Call) -> Response:
    """Return counts for Prometheus."""
    return Response(call.collector.metrics.render(), headers={"Content-Type": MEDIA})


async def get_openapi(call: Call) -> Response:
    """Return the description of all this."""
    return Response(call.request.app.state.description, media_type=JSON)


ROWS = (
    Row("GET", "/health", get_health, "Whether the collector is well.", gives=messages.Health, refusals=(503,)),
    Row("GET", "/metrics", get_metrics, "Counts for Prometheus.", scope="analyst", media=("text/plain",)),
    Row("GET", "/openapi.json", get_openapi, "This description.", media=(JSON,)),
)

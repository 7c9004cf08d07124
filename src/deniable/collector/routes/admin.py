"""What those who run the collector ask for: surveys, invitations, tokens; whether it is well, and what it counts.

Each change leaves a line in the log.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import partial
from typing import Any

from starlette.responses import Response

from deniable.collector import messages, scripts
from deniable.collector.monitoring import MEDIA, log_event
from deniable.collector.routes.table import JSON, Call, Endpoint
from deniable.collector.store import Entry, Token
from deniable.survey import Survey
from deniable.survey.catalogue import locale
from deniable.survey.signed import AuthorSignature


async def list_surveys(call: Call) -> list[messages.State]:
    """Return all surveys and their states."""
    return [
        _survey_state(entry)
        for entry in await asyncio.to_thread(call.collector.store.surveys)
    ]


async def create_survey(call: Call) -> messages.State:
    """Keep a survey as a draft; a draft of its name is replaced."""

    def create() -> Entry:
        return call.collector.store.create(Survey.from_document(call.body))

    return await _change(call, "survey created", create)


async def open_survey(call: Call) -> messages.State:
    """Take responses from now on; the definition is frozen."""
    return await _change_survey(call, "survey opened", call.collector.store.open)


async def sign_survey(call: Call) -> messages.State:
    """Keep the signature of a definition, made by its author elsewhere."""

    def sign(name: str) -> Entry:
        signature = AuthorSignature.from_json(json.dumps(call.body))
        return call.collector.store.keep_signature(name, signature)

    return await _change_survey(call, "survey signed", sign)


async def close_survey(call: Call) -> messages.State:
    """Take no more responses."""
    return await _change_survey(call, "survey closed", call.collector.store.close)


async def start_pilot(call: Call) -> messages.State:
    """Open a pilot of a draft, as a survey of its own."""
    return await _change_survey(
        call, "pilot started", call.collector.store.start_pilot
    )


async def end_pilot(call: Call) -> messages.State:
    """Erase all that was sent to the pilot of a survey."""
    return await _change_survey(call, "pilot ended", call.collector.store.end_pilot)


async def invite(call: Call) -> messages.CodesIssued:
    """Make one-time invitations; their codes are shown this once."""
    name = (await call.survey()).survey.name
    codes = await asyncio.to_thread(
        call.collector.store.invite, name, call.body.count
    )
    log_event("invitations made", survey=name, count=len(codes))
    return messages.CodesIssued(codes)


async def list_tokens(call: Call) -> list[messages.TokenWanted]:
    """Return what tokens there are, without their secrets."""
    tokens = await asyncio.to_thread(call.collector.store.tokens)
    return [
        messages.TokenWanted(token.name, token.scope, token.survey or None)
        for token in tokens
    ]


async def issue_token(call: Call) -> messages.TokenIssued:
    """Make a token; its secret is shown this once."""
    token = Token(call.body.name, call.body.scope, call.body.survey or "")
    secret = await asyncio.to_thread(call.collector.store.issue_token, token)
    log_event("token issued", scope=token.scope)
    return messages.TokenIssued(token.name, secret)


async def rotate_token(call: Call) -> messages.TokenIssued:
    """Replace a token's secret; the old one stops working."""
    secret = await asyncio.to_thread(
        call.collector.store.rotate_token, call.part("holder")
    )
    log_event("token rotated")
    return messages.TokenIssued(call.part("holder"), secret)


async def revoke_token(call: Call) -> None:
    """Make a token stop working."""
    await asyncio.to_thread(call.collector.store.revoke_token, call.part("holder"))
    log_event("token revoked")


async def get_health(call: Call) -> messages.Health:
    """Say that the collector is there and can store responses."""
    await call.collector.pulse.check()
    return messages.Health("well")


async def get_metrics(call: Call) -> Response:
    """Return counts for Prometheus."""
    return Response(call.collector.metrics.render(), headers={"Content-Type": MEDIA})


async def get_scripts(_: Call) -> Response:
    """Return the hashes of all scripts that pages run, as `sha256sum` writes them."""
    return Response(scripts.checksums(), media_type="text/plain")


async def get_openapi(call: Call) -> Response:
    """Return the description of all this."""
    return Response(call.request.app.state.description, media_type=JSON)


async def _change_survey(
    call: Call, event: str, step: Callable[[str], Entry]
) -> messages.State:
    """Change the survey that the path names."""
    name = (await call.survey()).survey.name
    return await _change(call, event, lambda: step(name))


async def _change(
    call: Call, event: str, step: Callable[[], Entry]
) -> messages.State:
    """Run a step that changes a survey, in a thread; write a line about it."""
    entry = await asyncio.to_thread(step)
    call.collector.surveys.forget()
    log_event(event, survey=entry.survey.name)
    return _survey_state(entry)


def _survey_state(entry: Entry) -> messages.State:
    warnings = list(entry.survey.warnings(locale("en")))
    return messages.State(
        entry.survey.name, entry.survey.hash, entry.state, warnings
    )


_SURVEYS, _SURVEY, _TOKENS = "/api/surveys", "/api/surveys/{name}", "/api/tokens"

_admin = partial(Endpoint, scope="admin")

ENDPOINTS = (
    _admin("GET", _SURVEYS, list_surveys, "All surveys.", gives=list[messages.State]),
    _admin(
        "POST", _SURVEYS, create_survey, "Create a survey, as a draft.",
        takes=dict[str, Any], large=True, gives=messages.State, status=201,
    ),
    _admin("POST", f"{_SURVEY}/open", open_survey, "Open a survey.", gives=messages.State),
    _admin(
        "POST", f"{_SURVEY}/signature", sign_survey, "Hand in the signature of a definition by its author.",
        takes=dict[str, Any], gives=messages.State, refusals=(409,),
    ),
    _admin("POST", f"{_SURVEY}/close", close_survey, "Close a survey.", gives=messages.State),
    _admin(
        "POST", f"{_SURVEY}/pilot", start_pilot, "Open a pilot of a draft.",
        gives=messages.State, status=201,
    ),
    _admin("DELETE", f"{_SURVEY}/pilot", end_pilot, "End and erase a pilot.", gives=messages.State),
    _admin(
        "POST", f"{_SURVEY}/invitations", invite, "Make one-time invitations.",
        takes=messages.CodesWanted, gives=messages.CodesIssued, status=201,
    ),
    _admin("GET", _TOKENS, list_tokens, "All tokens.", gives=list[messages.TokenWanted]),
    _admin(
        "POST", _TOKENS, issue_token, "Issue a token.",
        takes=messages.TokenWanted, gives=messages.TokenIssued, status=201,
    ),
    _admin(
        "POST", f"{_TOKENS}/{{holder}}/rotate", rotate_token, "Replace a token's secret.",
        gives=messages.TokenIssued,
    ),
    _admin("DELETE", f"{_TOKENS}/{{holder}}", revoke_token, "Revoke a token.", status=204),
    Endpoint("GET", "/health", get_health, "Whether it can store responses.", gives=messages.Health, refusals=(503,)),
    Endpoint("GET", "/metrics", get_metrics, "Counts for Prometheus.", scope="analyst", media=("text/plain",)),
    Endpoint("GET", "/scripts", get_scripts, "The hashes of all scripts that pages run.", media=("text/plain",)),
    Endpoint("GET", "/openapi.json", get_openapi, "This description.", media=(JSON,)),
)  # fmt: skip

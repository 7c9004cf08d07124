"""What administrators do: surveys, invitations and tokens. Each change leaves a line in the log."""

from __future__ import annotations

import asyncio
from typing import Any

from deniable.collector import log, messages
from deniable.collector.routes.table import Call, Row
from deniable.collector.store import Entry, Token
from deniable.survey import Survey


async def list_surveys(call: Call) -> list[messages.State]:
    """Return all surveys and their states."""
    return [_state(each) for each in await asyncio.to_thread(call.collector.store.surveys)]


async def create_survey(call: Call) -> messages.State:
    """Keep a survey as a draft; a draft of its name is replaced."""

    def create() -> Entry:
        return call.collector.store.create(Survey.from_document(call.body))

    return _changed(call, "survey created", await asyncio.to_thread(create))


async def open_survey(call: Call) -> messages.State:
    """Take responses from now on; the definition is frozen."""
    known = await call.collector.surveys.find(call.part("name"))
    return _changed(call, "survey opened", await asyncio.to_thread(call.collector.store.open, known.survey.name))


async def close_survey(call: Call) -> messages.State:
    """Take no more responses."""
    known = await call.collector.surveys.find(call.part("name"))
    return _changed(call, "survey closed", await asyncio.to_thread(call.collector.store.close, known.survey.name))


async def invite(call: Call) -> messages.Codes:
    """Make one-time invitations; their codes are shown this once."""
    known = await call.collector.surveys.find(call.part("name"))
    codes = await asyncio.to_thread(call.collector.store.invite, known.survey.name, call.body.count)
    log.tell("invitations made", survey=known.survey.name, count=len(codes))
    return messages.Codes(codes)


async def list_tokens(call: Call) -> list[messages.TokenWanted]:
    """Return what tokens there are, without their secrets."""
    found = await asyncio.to_thread(call.collector.store.tokens)
    return [messages.TokenWanted(each.name, each.scope, each.survey or None) for each in found]


async def issue_token(call: Call) -> messages.TokenIssued:
    """Make a token; its secret is shown this once."""
    wanted = Token(call.body.name, call.body.scope, call.body.survey or "")
    secret = await asyncio.to_thread(call.collector.store.issue_token, wanted)
    log.tell("token issued", scope=wanted.scope)
    return messages.TokenIssued(wanted.name, secret)


async def rotate_token(call: Call) -> messages.TokenIssued:
    """Replace a token's secret; the old one stops to work."""
    secret = await asyncio.to_thread(call.collector.store.rotate_token, call.part("token"))
    log.tell("token rotated")
    return messages.TokenIssued(call.part("token"), secret)


async def revoke_token(call: Call) -> None:
    """Make a token stop to work."""
    await asyncio.to_thread(call.collector.store.revoke_token, call.part("token"))
    log.tell("token revoked")


def _changed(call: Call, event: str, entry: Entry) -> messages.State:
    call.collector.surveys.forget()
    log.tell(event, survey=entry.survey.name)
    return _state(entry)


def _state(entry: Entry) -> messages.State:
    return messages.State(entry.survey.name, entry.survey.hash, entry.state)


_SURVEYS, _TOKENS = "/api/surveys", "/api/tokens"

ROWS = (
    Row("GET", _SURVEYS, list_surveys, "All surveys.", scope="admin", gives=list[messages.State]),
    Row(
        "POST", _SURVEYS, create_survey, "Create a survey, as a draft.",
        scope="admin", takes=dict[str, Any], large=True, gives=messages.State, status=201,
    ),
    Row("POST", f"{_SURVEYS}/{{name}}/open", open_survey, "Open a survey.", scope="admin", gives=messages.State),
    Row("POST", f"{_SURVEYS}/{{name}}/close", close_survey, "Close a survey.", scope="admin", gives=messages.State),
    Row(
        "POST", f"{_SURVEYS}/{{name}}/invitations", invite, "Make one-time invitations.",
        scope="admin", takes=messages.CodesWanted, gives=messages.Codes, status=201,
    ),
    Row("GET", _TOKENS, list_tokens, "All tokens.", scope="admin", gives=list[messages.TokenWanted]),
    Row(
        "POST", _TOKENS, issue_token, "Issue a token.",
        scope="admin", takes=messages.TokenWanted, gives=messages.TokenIssued, status=201,
    ),
    Row(
        "POST", f"{_TOKENS}/{{token}}/rotate", rotate_token, "Replace a token's secret.",
        scope="admin", gives=messages.TokenIssued,
    ),
    Row("DELETE", f"{_TOKENS}/{{token}}", revoke_token, "Revoke a token.", scope="admin", status=204),
)  # fmt: skip

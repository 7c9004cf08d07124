"""What respondents and their devices ask for: the definition, and to send, raise, look up and withdraw responses."""

from __future__ import annotations

import asyncio

from starlette.responses import Response

from deniable.collector import access, batches, intake, messages, signing
from deniable.collector.refusals import Refused
from deniable.collector.routes.table import JSON, Call, Endpoint, media_type
from deniable.collector.store import BatchOutcome, Exchange

_NDJSON = "application/x-ndjson"
_ARROW = "application/vnd.apache.arrow.stream"


async def get_definition(call: Call) -> Response:
    """Return the sealed definition; its hash is its ETag. A draft is for those who hold a token."""
    fielded = await _readable_survey(call)
    tag = f'"{fielded.survey.hash}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if call.request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(fielded.definition, media_type=JSON, headers=headers)


async def get_signature(call: Call) -> Response:
    """Return the signature of the definition by its author. That of a draft is for those who hold a token."""
    signature = (await _readable_survey(call)).entry.signature
    if not signature:
        raise Refused(
            404,
            "nobody has signed this definition; expected a signature of its author.",
        )
    headers = {"Cache-Control": "no-cache"}
    return Response(signature, media_type=JSON, headers=headers)


async def _readable_survey(call: Call) -> intake.FieldedSurvey:
    """Return a survey whose definition may be read: of a draft only with a token."""
    fielded = await call.survey()
    if "authorization" in call.request.headers:
        await access.admit(call.request, "analyst")
    else:
        fielded.check_published()
    return fielded


async def add_responses(call: Call) -> None:
    """Store, or raise, the responses of one respondent."""
    call.collector.limits.count_responses(call.request, len(call.body.responses))
    await intake.submit(call.collector, call.part("name"), call.body)


async def add_batch(call: Call) -> messages.BatchResult:
    """Store the responses of many respondents, all of them or nothing."""
    collector, kind = call.collector, media_type(call.request)
    if kind not in {_NDJSON, _ARROW}:
        raise Refused(
            415,
            f"the body is not of the right type; expected {_NDJSON} or {_ARROW}.",
        )
    fielded = await call.survey()
    fielded.check_open()
    raw = await collector.limits.read(call.request, large=True)

    def work() -> BatchOutcome:
        read = batches.read_lines if kind == _NDJSON else batches.read_arrow
        columns = read(fielded, raw, collector.settings.largest_batch)
        collector.limits.count_responses(
            call.request, sum(len(column.keys) for column in columns)
        )
        outcome = collector.store.add_batch(*columns)
        collector.writer.settle_batch(columns, fielded.survey.minimum)
        return outcome

    stored, repeated = await asyncio.get_running_loop().run_in_executor(
        collector.batches, work
    )
    for outcome, count in (("stored", stored), ("repeated", repeated)):
        collector.metrics.responses(fielded.survey.name, outcome, count)
    return messages.BatchResult(stored, repeated)


async def withdraw(call: Call) -> messages.Withdrawn:
    """Erase what was sent with a key, also after the survey has closed."""
    outcome = await intake.withdraw(call.collector, await call.survey(), _key(call))
    return messages.Withdrawn(*outcome)


async def get_receipt(call: Call) -> Response:
    """Return a signed list of all that is stored under a key."""
    store, entry = call.collector.store, (await call.survey()).entry
    text = await asyncio.to_thread(signing.receipt, store, entry, _key(call))
    return Response(text, media_type=JSON)


async def exchange_invitation(call: Call) -> messages.Signed:
    """Sign a blinded message for an invitation, once."""
    fielded, body = await call.survey(), call.body
    fielded.check_published()
    exchange = Exchange(fielded.survey.name, body.code, int(body.blinded, 16))
    signature = await call.collector.writer.exchange(exchange)
    return messages.Signed(
        signature.to_bytes((signature.bit_length() + 7) // 8, "big").hex()
    )


def _key(call: Call) -> bytes:
    body: messages.KeyBody = call.body
    return bytes.fromhex(body.key)


_SURVEY = "/api/surveys/{name}"

ENDPOINTS = (
    Endpoint(
        "POST", f"{_SURVEY}/responses", add_responses, "Send responses, or raise them to a finer stage.",
        takes=messages.SubmissionBody, status=204, refusals=(403, 409),
    ),
    Endpoint("GET", _SURVEY, get_definition, "The definition of a survey.", media=(JSON,), refusals=(401, 403, 409)),
    Endpoint(
        "GET", f"{_SURVEY}/signature", get_signature, "The signature of the definition by its author.",
        media=(JSON,), refusals=(401, 403, 409),
    ),
    Endpoint(
        "POST", f"{_SURVEY}/batches", add_batch, "Send the responses of many respondents, all or none.",
        scope="device",
        accepts={
            _NDJSON: {"schema": {"type": "string", "description": "On each line a SubmissionBody without a token."}},
            _ARROW: {
                "schema": {
                    "type": "string",
                    "format": "binary",
                    "description": "Columns key (16 bytes), question, design, and symbol or code; group may be there.",
                }
            },
        },
        gives=messages.BatchResult, refusals=(409,),
    ),
    Endpoint(
        "POST", f"{_SURVEY}/withdrawals", withdraw, "Withdraw all that was sent with a key.",
        takes=messages.KeyBody, gives=messages.Withdrawn,
    ),
    Endpoint(
        "POST", f"{_SURVEY}/receipts", get_receipt, "A signed receipt of what is stored under a key.",
        takes=messages.KeyBody, media=(JSON,),
    ),
    Endpoint(
        "POST", f"{_SURVEY}/invitations/exchange", exchange_invitation, "Exchange an invitation for a signature.",
        takes=messages.ExchangeBody, gives=messages.Signed, refusals=(403, 409),
    ),
)  # fmt: skip

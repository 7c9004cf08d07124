"""The form of those without script: what their devices told them to send, as one submission."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections.abc import Mapping

import msgspec

from deniable import blind
from deniable.collector import intake
from deniable.collector.intake import Known
from deniable.collector.messages import ResponseBody, SubmissionBody, TokenBody
from deniable.collector.refusals import Refused
from deniable.collector.state import Collector
from deniable.survey import Survey

_KEY = re.compile("[0-9a-f]{32}")


def possible(survey: Survey) -> bool:
    """Say whether a survey can be taken part in without script: only if no answer would have to be sent for it."""
    return all(question.device == "physical" for question in survey.questions)


async def send(collector: Collector, known: Known, fields: Mapping[str, str]) -> SubmissionBody:
    """Store the responses of a form, and return them as they were stored.

    Raises:
        DeniableError: something is missing or does not fit, or the survey takes no responses.
    """
    body = _read(known.survey, fields)
    known.submission(body)  # an invitation is spent only on what will be taken
    token = await asyncio.to_thread(_token, collector, known, body.key, fields.get("invitation", "").strip())
    await intake.submit(collector, known.survey.name, msgspec.structs.replace(body, token=token))
    return body


async def withdraw(collector: Collector, known: Known, fields: Mapping[str, str]) -> int:
    """Erase what was sent with a withdrawal code, and return how many responses that were.

    Raises:
        Refused: not a code.
    """
    key = fields["withdraw"].strip().lower()
    if not _KEY.fullmatch(key):
        raise Refused(422, "this is no withdrawal code; expected 32 digits 0 to 9 and letters a to f.")
    count = await asyncio.to_thread(collector.store.withdraw, known.entry.id, bytes.fromhex(key))
    collector.metrics.responses(known.survey.name, "withdrawn", count)
    return count


def in_words(survey: Survey, language: str, body: SubmissionBody) -> tuple[tuple[str, str], ...]:
    """Return each question that was responded to with the response, as they are called in a language."""
    found = []
    for each in body.responses:
        question = survey.question(each.question)
        called = question.symbols(language)[question.design.symbol_number(each.symbol)]
        found.append((question.texts[language].text, called))
    return tuple(found)


def in_json(body: SubmissionBody) -> str:
    """Return what was sent as JSON to read."""
    return json.dumps(msgspec.to_builtins(body), indent=2, ensure_ascii=False)


def _read(survey: Survey, fields: Mapping[str, str]) -> SubmissionBody:
    if fields.get("consent") != "yes":
        raise Refused(422, "the box was not ticked; expected consent.")
    if not _KEY.fullmatch(fields.get("key", "")):
        raise Refused(422, "this form has no withdrawal code; expected the one that it came with.")
    responses = [
        ResponseBody(question.name, question.design.hash, fields[f"q-{number}"])
        for number, question in enumerate(survey.questions, 1)
        if fields.get(f"q-{number}")
    ]
    if not responses:
        raise Refused(422, "no response was chosen; expected at least one.")
    return SubmissionBody(survey.hash, fields["key"], responses, group=fields.get("group") or None)


def _token(collector: Collector, known: Known, key: str, code: str) -> TokenBody | None:
    """Exchange an invitation on behalf of a browser that cannot blind; nothing of it is kept here."""
    signing, message = known.entry.public, secrets.token_bytes(32)
    if signing is None or collector.store.stored(known.entry.id, bytes.fromhex(key)):  # sent twice from one page
        return None
    if not code:
        raise Refused(422, "the invitation code is missing; expected the one that you were given.")
    blinded, unblinder = blind.blind(message, signing)
    signature = blind.unblind(message, collector.store.exchange(known.survey.name, code, blinded), unblinder, signing)
    digits = f"{signature:x}"
    return TokenBody(message.hex(), digits.zfill(len(digits) + len(digits) % 2))

"""What analysts' programs ask for: counts, estimates and exports. Pages show the same to people."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable
from typing import Any

from starlette.responses import StreamingResponse

from deniable.collector import exports, results
from deniable.collector.monitoring import log_event
from deniable.collector.refusals import Refused
from deniable.collector.routes.table import Call, Endpoint
from deniable.collector.store import ShownQuestion, ShownReader
from deniable.errors import NotAllowed, NotEstimable


async def get_tallies(call: Call) -> dict[str, Any]:
    """Return the counts of every question as they are written to a file; null for those that are not shown."""
    return await _by_question(
        call,
        lambda shown, group: json.loads(shown.counts(group).tally.to_json()),
    )


async def get_estimates(call: Call) -> dict[str, Any]:
    """Return the estimated shares of every question; null for those that are not shown."""
    return await _by_question(call, results.read)


async def get_export(call: Call) -> StreamingResponse:
    """Return all responses to a question of a survey that has ended as a file, in random order."""
    fielded, kind = await call.survey(), call.part("kind")
    if kind not in exports.FORMATS:
        raise Refused(
            404,
            f"there is no such export; expected a name that ends in {' or '.join(exports.FORMATS)}.",
        )
    number = fielded.survey.number(call.part("question"))
    question = fielded.survey.questions[number].name
    folder = call.collector.store.database.folder
    file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed when all of it was sent
    try:
        await asyncio.to_thread(
            exports.write_complete,
            call.collector.store,
            fielded.entry,
            number,
            kind,
            file,
        )
    except BaseException:
        file.close()
        raise
    log_event("responses exported", survey=fielded.survey.name, question=question)
    headers = {
        "Content-Disposition": f'attachment; filename="{fielded.survey.name}-{question}.{kind}"'
    }
    return StreamingResponse(
        exports.pieces(file), media_type=exports.FORMATS[kind], headers=headers
    )


async def _by_question(
    call: Call, step: Callable[[ShownQuestion, int | None], Any]
) -> dict[str, Any]:
    """Run a step for each question as analysts are shown it, all read in one transaction, in a thread."""
    fielded = await call.survey()
    name = call.request.query_params.get("group")
    group = fielded.group(name)
    groups = () if group is None else (group,)
    survey = fielded.survey

    def read(reader: ShownReader) -> list[ShownQuestion]:
        return [
            reader.question(fielded.entry.id, number, groups)
            for number in range(len(survey.questions))
        ]

    def run() -> dict[str, Any]:
        by_name: dict[str, Any] = {}
        for published in call.collector.store.read_shown(read):
            try:
                by_name[published.question.name] = step(published, group)
            except (NotAllowed, NotEstimable):
                by_name[published.question.name] = None
        return by_name

    about = {"survey": survey.hash, "pilot": survey.pilot, "group": name}
    return {**about, "questions": await asyncio.to_thread(run)}


_SURVEY = "/api/surveys/{name}"

ENDPOINTS = (
    Endpoint(
        "GET", f"{_SURVEY}/tallies", get_tallies, "The counts of every question.",
        scope="analyst", query=("group",), gives=dict[str, Any],
    ),
    Endpoint(
        "GET", f"{_SURVEY}/estimates", get_estimates, "The estimated shares of every question, with intervals.",
        scope="analyst", query=("group",), gives=dict[str, Any],
    ),
    Endpoint(
        "GET", f"{_SURVEY}/exports/{{question}}.{{kind}}", get_export, "All responses to a question, after the end.",
        scope="analyst", media=tuple(exports.FORMATS.values()),
    ),
)  # fmt: skip

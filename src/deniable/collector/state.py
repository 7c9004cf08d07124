"""What routes and pages work with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from deniable.collector.intake import Surveys
from deniable.collector.metrics import Metrics
from deniable.collector.settings import Settings
from deniable.collector.store import Store

if TYPE_CHECKING:
    from deniable.collector.access import Sessions
    from deniable.collector.writer import Writer


@dataclass(frozen=True)
class Collector:
    """The parts of a running collector; routes and pages find it at `request.app.state.collector`.

    Attributes:
        settings: how it is run.
        store: where everything is kept; its calls block, so they run in a thread: `await asyncio.to_thread(…)`.
        writer: stores single submissions, many at a time: `await writer.add(submission)`.
        surveys: definitions, remembered for a second: `await surveys.find(name)`.
        sessions: who has signed in.
        metrics: what is counted.
    """

    settings: Settings
    store: Store
    writer: Writer
    surveys: Surveys
    sessions: Sessions
    metrics: Metrics = field(default_factory=Metrics)

"""What the collector writes down about itself: lines of JSON on stderr.

Requests that were refused leave a line, and so does what administrators do and analysts take away. A line holds words
of ours, a method, the pattern of a route, a status and a duration. It holds no address, no query, no header, no key,
secret, code or response. A request that went well leaves no line, it is only counted: a list of the moments at which
responses arrived could be laid beside what somebody saw on the network.
"""

from __future__ import annotations

import logging
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import msgspec

LOGGER = logging.getLogger("deniable.collector")


class Lines(logging.Formatter):
    """One record, one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as JSON, without an exception's words; another package's line with nothing filled in.

        What is filled in, such as a task that failed, could hold what somebody sent.
        """
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created))
        event = record.getMessage() if record.name == LOGGER.name else str(record.msg).partition("\n")[0]
        facts: dict[str, Any] = getattr(record, "facts", {})
        line = {"at": at, "level": record.levelname.lower(), "event": event, **facts}
        return msgspec.json.encode(line).decode()


def configure() -> None:
    """Send lines to stderr; what other packages say comes from warnings on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    LOGGER.setLevel(logging.INFO)


def tell(event: str, *, level: int = logging.INFO, **facts: str | float) -> None:
    """Write a line."""
    LOGGER.log(level, event, extra={"facts": facts})


def request(method: str, route: str, status: int, seconds: float) -> None:
    """Write the line of a request."""
    level = logging.ERROR if status >= 500 else logging.INFO
    tell("request", level=level, method=method, route=route, status=status, ms=round(1000 * seconds, 1))


def crash(error: BaseException, route: str) -> None:
    """Write down an error that nobody expected: its kind and its place. Its words could hold what somebody sent."""
    frames = traceback.extract_tb(error.__traceback__)
    last = next((each for each in reversed(frames) if "deniable" in Path(each.filename).parts), None)
    where = f"{Path(last.filename).name}:{last.lineno}" if last else "?"
    tell("crash", level=logging.ERROR, kind=type(error).__name__, where=where, route=route)

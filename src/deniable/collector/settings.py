"""How a collector is run (`Settings`), and the parts of one that is running (`Collector`)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from deniable.db import name_database
from deniable.errors import InvalidRequest, UnreadableFile

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from starlette.requests import Request

    from deniable.collector.intake import SubmissionWriter, Surveys
    from deniable.collector.limits import Limits
    from deniable.collector.monitoring import Metrics, Pulse
    from deniable.collector.store import Store

PREFIX = "DENIABLE_"
"""What names of variables in the environment begin with."""

_SHARED = (
    "rate",
    "rate_responses",
    "rate_bytes",
    "device_responses",
    "device_bytes",
    "connections_each",
)
_Bytes = Annotated[int, msgspec.Meta(ge=1024, le=1 << 32)]
_Count = Annotated[int, msgspec.Meta(ge=0)]
_Positive = Annotated[int, msgspec.Meta(ge=1)]
_Time = Annotated[float, msgspec.Meta(ge=0)]
_PositiveTime = Annotated[float, msgspec.Meta(gt=0)]


class Settings(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """All that can be set.

    Attributes:
        database: a file for SQLite, or `postgresql://…`.
        host: the address of this machine that is listened on.
        port: the port that is listened on; 0 for any that is free.
        address: what people type to get here, such as `https://survey.example`; by default host and port.
        listed: whether the page at / lists all open surveys; else people need the link of theirs.
        unencrypted: whether pages may go to other machines without HTTPS.
        proxies: addresses or networks of proxies in front, with commas, whose word on where a request comes from is
            believed; `*` for all. Needed where the address is HTTPS, which is spoken by a proxy.
        rate: requests that one network address may make in a minute; 0 for no limit, here and in the next four.
        rate_responses: responses that one network address may send in a minute.
        rate_bytes: bytes that one network address may send in a minute.
        device_responses: responses that may be sent with one token in a minute.
        device_bytes: bytes that may be sent with one token in a minute.
        connections: how many may be open at a time; more are turned away with a 503.
        connections_each: how many of them from one network address; proxies that are named are not counted.
        largest: bytes that a request may have.
        largest_batch: bytes that a batch of responses may have.
        bodies: bytes of all requests under way, half of them for batches; more are turned away with a 503.
        patience: seconds that a request may take to arrive.
        session: hours after which an analyst signs in anew.
        pool: how many submissions are stored together at least, unless one has waited for long enough.
        hold: seconds that a submission waits for others, at most.
        rewriting: the share of all time that is spent on writing everything anew in the order of its keys, at most.
        grace: seconds that requests under way have to end when the collector stops.
        collectors: how many share the database, each with its part of the limits; all of them are told the same.
    """

    database: str = "deniable.db"
    host: str = "127.0.0.1"
    port: Annotated[int, msgspec.Meta(ge=0, le=65535)] = 8000
    address: str = ""
    listed: bool = False
    unencrypted: bool = False
    proxies: str = ""
    rate: _Count = 600
    rate_responses: _Count = 10_000
    rate_bytes: _Count = 16 << 20
    device_responses: _Count = 200_000
    device_bytes: _Count = 256 << 20
    connections: _Positive = 4000
    connections_each: _Positive = 256
    largest: _Bytes = 64 << 10
    largest_batch: _Bytes = 64 << 20
    bodies: _Bytes = 256 << 20
    patience: _PositiveTime = 30
    session: _PositiveTime = 12
    pool: _Positive = 16
    hold: _Time = 1
    rewriting: Annotated[float, msgspec.Meta(gt=0, le=0.5)] = 0.1
    grace: _Time = 20
    collectors: Annotated[int, msgspec.Meta(ge=1, le=64)] = 1

    def __repr__(self) -> str:
        """Tell of the database what may be told: an address may hold a password, and a traceback shows this."""
        return f"Settings(database={name_database(self.database)!r}, address={self.base!r}, …)"

    @property
    def base(self) -> str:
        """The address of the pages, without a slash at the end."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (self.address or f"http://{host}:{self.port}").rstrip("/")

    @property
    def encrypted(self) -> bool:
        """Whether people come over HTTPS, so that cookies may insist on it."""
        return self.base.startswith("https://")

    def share(self) -> Settings:
        """Return the settings of one collector among those that share a database: its part of what all may let in.

        Why a part, and no common count: addresses are counted in memory, so that no disk has them.

        Guarantee: what all of them let in is no more than the limit, wherever a request arrives. A limit below the
        number of collectors is 1 for each.
        """
        shares = {
            name: max(1, limit // self.collectors)
            for name in _SHARED
            if (limit := getattr(self, name))
        }
        return msgspec.structs.replace(
            self, **shares, rewriting=self.rewriting / self.collectors
        )

    def cookie(self, name: str) -> str:
        """Return what a cookie is called; with HTTPS, by a prefix that keeps other hosts from setting it."""
        return f"__Host-{name}" if self.encrypted else name


@dataclass(frozen=True)
class Collector:
    """The parts of a running collector; routes and pages find it by `Collector.of(request)`.

    Attributes:
        settings: how it is run.
        store: where everything is kept; its calls block, so they run in a thread: `await asyncio.to_thread(…)`.
        writer: stores single submissions, many at a time: `await writer.add(submission)`.
        surveys: definitions, remembered for a second: `await surveys.find(name)`.
        metrics: what is counted.
        pulse: whether anything can be stored now.
        limits: what may be asked for.
        batches: the threads that read and store batches; a page or a single submission never waits for one of them.
    """

    settings: Settings
    store: Store
    writer: SubmissionWriter
    surveys: Surveys
    metrics: Metrics
    pulse: Pulse
    limits: Limits
    batches: Executor

    @classmethod
    def from_request(cls, request: Request) -> Collector:
        """Return the collector that a request was sent to."""
        collector: Collector = request.app.state.collector
        return collector

    def end(self) -> None:
        """Store what is waiting, and stop."""
        self.batches.shutdown()
        self.writer.close()


def read(
    file: Path | None = None,
    environment: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Settings:
    """Read settings from a TOML file, then from the environment, then from what was given; the later one wins.

    Args:
        file: a TOML file with the names of `Settings`.
        environment: variables such as `DENIABLE_PORT`; others are passed over.
        given: values by name; None means that a value was not given.

    Raises:
        UnreadableFile: the file is not TOML.
        InvalidRequest: a name that is no setting, or a value that does not fit.
    """
    values = {} if file is None else _parse_file(file)
    for name in Settings.__struct_fields__:
        variable = PREFIX + name.upper()
        if environment is not None and variable in environment:
            values[name] = environment[variable]
    values |= {
        name: value for name, value in (overrides or {}).items() if value is not None
    }
    try:
        return msgspec.convert(values, Settings, strict=False)
    except msgspec.ValidationError as error:
        raise InvalidRequest(
            f"a setting does not fit: {error}.",
            f"The settings are {', '.join(Settings.__struct_fields__)}.",
        ) from None


def _parse_file(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UnreadableFile(
            f"{file.name} is not TOML: {error}.", "Write lines such as: port = 8000"
        ) from None

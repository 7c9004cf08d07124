"""Running a collector: listen, take requests until asked to stop, let those under way end, and close the database."""

from __future__ import annotations

import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from ipaddress import ip_address

import msgspec
import uvicorn

from deniable.collector.app import make_app
from deniable.collector.limits import bounded_http
from deniable.collector.monitoring import configure_log, log_event
from deniable.collector.settings import Settings
from deniable.collector.store import Store, StoreFailed, open_store
from deniable.db import Database
from deniable.errors import InvalidRequest

_BACKLOG = 2048  # connections that wait to be taken
_LOOK = 2.0  # seconds after which a collector looks whether it still has its seat


def serve(
    settings: Settings, ready: Callable[[Settings], None] = lambda _: None
) -> None:
    """Run a collector until it is told to stop (SIGTERM, or Ctrl-C).

    It then takes no new connection, answers what is under way, stores what is waiting, writes everything anew in the
    order of its keys, and closes the database.

    Args:
        settings: how to run it.
        ready: told, before the first request, the settings with the port that is listened on.

    Raises:
        InvalidRequest: the address cannot be listened on, or would be reachable from elsewhere without HTTPS; or a
            proxy stands in front that nobody has named; or the database has as many collectors as it may.
        StoreFailed: the database cannot be read or written.
    """
    check_reachable(settings)
    check_proxies(settings)
    with _open_socket(settings) as door:
        settings = msgspec.structs.replace(
            settings, port=door.getsockname()[1]
        ).share()
        configure_log()
        store = open_store(settings.database, rewriting=settings.rewriting)
        try:
            with closing(
                _CollectorSlot(store.database, settings.collectors)
            ) as seat:
                _run(settings, store, seat, door, ready)
        finally:
            store.shut()


def _run(
    settings: Settings,
    store: Store,
    seat: _CollectorSlot,
    door: socket.socket,
    ready: Callable[[Settings], None],
) -> None:
    _rewrite_all(store)
    seat.note(settings.base)
    server = uvicorn.Server(configuration(settings, make_app(settings, store)))
    ready(settings)
    log_event("listening", address=settings.base)
    with (
        _end_on_signal(),
        seat.monitor_seat(lambda: setattr(server, "should_exit", True)),
    ):
        server.run(sockets=[door])
    log_event("stopped")


class _CollectorSlot:
    """A collector's seat at its database, taken again where the database was started anew."""

    def __init__(self, database: Database, seats: int) -> None:
        self._database, self._seats = database, seats
        self._seat = database.take_seat(seats)
        if self._seat is None:
            raise InvalidRequest(
                f"the database {database.name} has its collectors already, or one that was told another number of "
                f"them; expected at most {seats} (the setting `collectors`), all told the same.",
                "Stop the other one, or set `collectors` for all of them; they need a Postgres database.",
            )
        self._ended = threading.Event()

    @contextmanager
    def monitor_seat(self, stop: Callable[[], None]) -> Iterator[None]:
        """Check regularly that the seat is still held; stop this collector where another one holds it."""
        thread = threading.Thread(
            target=self._watch, args=(stop,), name="seat", daemon=True
        )
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            thread.join()

    def note(self, address: str) -> None:
        """Leave the address for commands that print links, where the database has a place for it."""
        if self._seat is not None:
            self._seat.note(address)

    def close(self) -> None:
        """Leave the seat to others."""
        if self._seat is not None:
            self._seat.close()

    def _watch(self, stop: Callable[[], None]) -> None:
        while not self._ended.wait(_LOOK):
            try:
                lost = not self._still_holds_seat()
            except StoreFailed:  # the database is away; it comes back
                continue
            if lost:
                log_event(
                    "another collector has taken the seat of this one",
                    level=logging.ERROR,
                )
                stop()
                return

    def _still_holds_seat(self) -> bool:
        """Return whether this collector holds the seat; take it again where the server has forgotten it."""
        if self._seat is not None and not self._seat.held():
            self._seat.close()
            self._seat = self._database.take_seat(self._seats)
        return self._seat is not None


def _rewrite_all(store: Store) -> None:
    """Write everything anew: a collector that was killed may have left traces of what came in which order."""
    try:
        store.rewrite(at_once=True, anyway=True)
    except (
        StoreFailed
    ) as error:  # such as no room for a second copy: responses can still be taken
        log_event("rewriting failed", what=error.problem)


def configuration(settings: Settings, app: object) -> uvicorn.Config:
    """Return how uvicorn is run: without its own log, which would hold addresses, and without its name."""
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        http=bounded_http(settings),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=settings.proxies,
        timeout_graceful_shutdown=round(settings.grace),
        limit_concurrency=settings.connections,
        ws="none",
    )


def check_reachable(settings: Settings) -> None:
    """Refuse to serve pages to other machines without HTTPS: whoever changes a page on its way can ask for the answer.

    Raises:
        InvalidRequest: other machines can reach the host, the address is not HTTPS, and nobody said that this is fine.
    """
    if settings.encrypted or settings.unencrypted or _is_local(settings.host):
        return
    raise InvalidRequest(
        f"{settings.host} can be reached from other machines, and the address is {settings.base}; expected https://…",
        "Put a proxy that speaks HTTPS in front and name its address: --address https://survey.example. In a network "
        "where nobody can change pages on their way, say --unencrypted.",
    )


def check_proxies(settings: Settings) -> None:
    """Refuse to take everybody for one: the collector itself does not speak HTTPS, so where people do, a proxy stands
    in front, and all requests come from its address.

    Raises:
        InvalidRequest: the address is HTTPS, and nobody said which proxy speaks it.
    """
    if settings.encrypted and not settings.proxies:
        raise InvalidRequest(
            f"the address is {settings.base}, so a proxy stands in front, and no proxy is named; expected its address. "
            "Without it all people come from one address and share one limit.",
            "Name the address that the proxy has for this collector: --proxies 127.0.0.1.",
        )


def _open_socket(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server(
            (settings.host, settings.port), family=family, backlog=_BACKLOG
        )
    except OSError as error:
        raise InvalidRequest(
            f"cannot listen on {settings.host}, port {settings.port}: {error.strerror}; expected an address of this "
            "machine, and a port that is free."
        ) from None


@contextmanager
def _end_on_signal() -> Iterator[None]:
    """Let a signal end the collector and nothing else: uvicorn raises it anew when all is done."""
    before = {
        number: signal.signal(number, lambda *_: None)
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

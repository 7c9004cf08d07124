"""Running a collector: listen, take requests until asked to stop, let those under way end, and close the database."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address

import msgspec
import uvicorn

from deniable.collector.app import make_app
from deniable.collector.limits import bounded_http
from deniable.collector.monitoring import configure_log, log_event
from deniable.collector.settings import Settings
from deniable.collector.store import Store, StoreFailed, open_store
from deniable.errors import InvalidRequest

_BACKLOG = 2048  # connections that wait to be taken


def serve(settings: Settings, ready: Callable[[Settings], None] = lambda _: None) -> None:
    """Run a collector until it is told to stop (SIGTERM, or Ctrl-C).

    It then takes no new connection, answers what is under way, stores what is waiting, writes everything anew in the
    order of its keys, and closes the database.

    Args:
        settings: how to run it.
        ready: told, before the first request, the settings with the port that is listened on.

    Raises:
        InvalidRequest: the address cannot be listened on, or would be reachable from elsewhere without HTTPS; or a
            proxy stands in front that nobody has named.
        StoreFailed: the database cannot be read or written.
    """
    check_reachable(settings)
    check_proxies(settings)
    with _listening(settings) as door:
        settings = msgspec.structs.replace(settings, port=door.getsockname()[1])
        configure_log()
        store = open_store(settings.database, rewriting=settings.rewriting)
        try:
            _settle(store)
            server = uvicorn.Server(configuration(settings, make_app(settings, store)))
            ready(settings)
            log_event("listening", address=settings.base)
            with _ending():
                server.run(sockets=[door])
            log_event("stopped")
        finally:
            store.shut()


def _settle(store: Store) -> None:
    """Write everything anew: a collector that was killed may have left traces of what came in which order."""
    try:
        store.rewrite(at_once=True, anyway=True)
    except StoreFailed as error:  # such as no room for a second copy: responses can still be taken
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
    if settings.encrypted or settings.unencrypted or _local(settings.host):
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


def _listening(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise InvalidRequest(
            f"cannot listen on {settings.host}, port {settings.port}: {error.strerror}; expected an address of this "
            "machine, and a port that is free."
        ) from None


@contextmanager
def _ending() -> Iterator[None]:
    """Let a signal end the collector and nothing else: uvicorn raises it anew when all is done."""
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

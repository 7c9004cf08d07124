"""How much anybody may ask for: requests, responses and bytes in a minute; bytes and connections at a time."""

from __future__ import annotations

import asyncio
import hashlib
import math
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from http import HTTPStatus
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any, ClassVar

import msgspec
from starlette.requests import Request
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from deniable.collector.refusals import Refused, refusal_of
from deniable.collector.settings import Settings

_WINDOW = 60.0  # seconds
# of what comes after a refusal that left a body unread
_CLOSE = {"Connection": "close"}
_TAKEN = "deniable.taken"  # in the scope of a request
_MAX_ADDRESSES = 100_000  # told apart in one minute, to bound the memory; those beyond share one count


class Rate:
    """Counts something by network address or device, in memory alone, for a minute.

    What is kept is a keyed hash of the address; the key is drawn anew each minute and then forgotten with the counts.
    An IPv6 network of 2^64 addresses counts as one address, because one household can have them all.

    Args:
        most: in a minute; 0 for no limit.
        what: is counted.
        sender: whose it is.
        clock: tells the time.
    """

    def __init__(
        self,
        limit: int,
        unit: str = "requests",
        sender: str = "address",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = limit
        self._what = unit
        self._sender = sender
        self._clock = clock
        self._ends = 0.0
        self._salt = b""
        self._counts: dict[bytes, int] = {}

    def check(self, address: str, amount: int = 1) -> None:
        """Count a request, or so many responses or bytes.

        Raises:
            Refused: too many from this address in this minute, or at a time.
        """
        if not self._most:
            return
        if amount > self._most:
            raise Refused(
                413,
                f"there are {amount:,} {self._what} in one request; expected at most {self._most:,} from one "
                f"{self._sender} in a minute.",
                "Send it in several parts, and let time pass between them.",
                headers=_CLOSE,
            )
        now = self._clock()
        if now >= self._ends:
            self._ends, self._salt, self._counts = (
                now + _WINDOW,
                secrets.token_bytes(16),
                {},
            )
        digest = hashlib.blake2b(
            _network(address).encode(), key=self._salt, digest_size=8
        ).digest()
        if digest not in self._counts and len(self._counts) >= _MAX_ADDRESSES:
            digest = b""
        count = self._counts.get(digest, 0) + amount
        if count > self._most:
            wait = max(1, math.ceil(self._ends - now))
            raise Refused(
                429,
                f"there were more than {self._most:,} {self._what} from one {self._sender} in a minute; expected "
                "fewer.",
                f"Try again in {wait} seconds.",
                headers={"Retry-After": str(wait)},
            )
        self._counts[digest] = count


class Bodies:
    """Bytes of all bodies that are under way: being received, waiting, or being worked on.

    Half of them are for batches and definitions, so that these never keep a single submission out, nor it them.

    Args:
        most: bytes.
    """

    def __init__(self, max_bytes: int) -> None:
        self._free = {True: max_bytes // 2, False: max_bytes - max_bytes // 2}

    @contextmanager
    def of_request(self, scope: MutableMapping[str, Any]) -> Iterator[None]:
        """Give back at its end what a request has taken."""
        received = scope[_TAKEN] = {True: 0, False: 0}
        try:
            yield
        finally:
            for large, size in received.items():
                self._free[large] += size

    def take(
        self, scope: MutableMapping[str, Any], size: int, *, large: bool
    ) -> None:
        """Take room for bytes of a request.

        Raises:
            Refused: there is none.
        """
        if size > self._free[large]:
            raise Refused(
                503,
                "the collector is busy with other requests; nothing was changed.",
                "Try again in a moment.",
                headers={"Retry-After": "1", **_CLOSE},
            )
        self._free[large] -= size
        scope[_TAKEN][large] += size


class Limits:
    """What one sender may send in a minute, and what may be under way at a time.

    Whoever holds a token is counted by it, and has limits of their own; others are counted by their network address.

    Args:
        settings: how much that is.
    """

    def __init__(self, settings: Settings) -> None:
        self.requests = Rate(settings.rate)
        self.bodies = Bodies(settings.bodies)
        self._settings = settings
        self._responses = (
            Rate(settings.rate_responses, "responses"),
            Rate(settings.device_responses, "responses", "token"),
        )
        self._bytes = (
            Rate(settings.rate_bytes, "bytes"),
            Rate(settings.device_bytes, "bytes", "token"),
        )

    def count_responses(self, request: Request, count: int) -> None:
        """Count the responses of a request before they are stored.

        Raises:
            Refused: too many.
        """
        has_token, sender = _identify_sender(request)
        self._responses[has_token].check(sender, count)

    async def read(self, request: Request, *, large: bool = False) -> bytes:
        """Read the body of a request; a large one may be as large as a batch.

        Raises:
            Refused: too many bytes at a time, in a minute, or in all bodies together; or they do not arrive.
        """
        has_token, sender = _identify_sender(request)

        def take(size: int) -> None:
            self._bytes[has_token].check(sender, size)
            self.bodies.take(request.scope, size, large=large)

        max_bytes = self._settings.largest_batch if large else self._settings.largest
        return await read_body(request, max_bytes, self._settings.patience, take)


def _identify_sender(request: Request) -> tuple[bool, str]:
    """Return whether a request comes with a token, and the token's name or the network address."""
    token = getattr(request.state, "token", None)
    if token is not None:
        return True, token.name
    return False, request.client.host if request.client else ""


async def read_body(
    request: Request,
    max_bytes: int,
    patience: float,
    take: Callable[[int], None] = lambda _: None,
) -> bytes:
    """Read a request's body.

    Args:
        request: what is asked for.
        most: bytes that the body may have.
        patience: seconds until it has arrived.
        take: told how many bytes there will be, before they are read; of a body that does not announce its length,
            piece by piece.

    Raises:
        Refused: it is longer than `most` bytes, or takes longer than `patience` seconds to arrive, or breaks off.
    """
    announced = _take_announced(request, max_bytes, take)
    chunks: list[bytes] = []
    size, more = 0, True
    try:
        async with asyncio.timeout(patience):
            while more:
                message = await request.receive()
                if message["type"] != "http.request":
                    raise Refused(400, "the body breaks off; expected all of it.")
                chunks.append(message.get("body", b""))
                size, more = size + len(chunks[-1]), message.get("more_body", False)
                if size > max_bytes:
                    raise _too_long(max_bytes)
                if announced is None:
                    take(len(chunks[-1]))
    except TimeoutError:
        raise Refused(
            408,
            f"the body did not arrive; expected all of it within {patience:g} seconds.",
        ) from None
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _take_announced(
    request: Request, max_bytes: int, take: Callable[[int], None]
) -> str | None:
    """Take the announced length of a body at once; None where none is announced."""
    announced = request.headers.get("content-length")
    if announced is not None:
        if (
            len(announced) > 15
            or not announced.isdecimal()
            or int(announced) > max_bytes
        ):
            raise _too_long(max_bytes)
        take(int(announced))
    return announced


def _too_long(max_bytes: int) -> Refused:
    # What is left of the body is not read, so the connection cannot be used again.
    return Refused(
        413,
        f"the body is too long; expected at most {max_bytes:,} bytes.",
        "Send it in several parts.",
        headers=_CLOSE,
    )


def _network(address: str) -> str:
    if ":" not in address:
        return address
    try:
        parsed = IPv6Address(address)
    except ValueError:
        return address
    return str(parsed.ipv4_mapped or int(parsed) >> 64)


class BoundedHttp(HttpToolsProtocol):
    """HTTP as uvicorn speaks it, with bounds on what comes before a body: how long it may be, and how long it may take;
    and on the connections of one network address.

    Without them, which neither the parser nor uvicorn has, one connection could fill the memory, and a few thousand
    that say nothing could keep everybody else out.

    Attributes:
        largest: bytes of a request's line and headers; some more where they arrive in one piece.
        patience: seconds until a head has arrived, from the first byte of it, or from the connection on.
        each: connections that one network address may have open.
        proxies: addresses and networks that are not counted, because many people come from them.
        open: how many connections each address has.
    """

    largest: ClassVar[int] = 64 << 10
    patience: ClassVar[float] = 30.0
    each: ClassVar[int]
    proxies: ClassVar[tuple[str, ...]]
    open: ClassVar[Counter[str]]

    _head = 0  # bytes of the head that is arriving
    _complete = False
    _timer: asyncio.TimerHandle | None = None
    _address = ""  # under which this connection is counted

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_timer()
        if self.client is not None and not any(
            _is_in(self.client[0], proxy) for proxy in self.proxies
        ):
            self._address = _network(self.client[0])
            self.open[self._address] += 1
            if self.open[self._address] > self.each:
                self._refuse(
                    Refused(
                        503,
                        f"there are too many connections; expected {self.each} from one address.",
                    )
                )

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        if self._address:
            self.open[self._address] -= 1
            if not self.open[self._address]:
                del self.open[self._address]
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._complete:
            return
        self._head += len(data)
        if self._head > self.largest and not self.transport.is_closing():
            self.send_400_response(
                f"the head of this request is too long; expected at most {self.largest:,} bytes."
            )

    def send_400_response(self, msg: str) -> None:
        """Refuse what no route can be asked about, in the form of all refusals, and close the connection."""
        self._refuse(Refused(400, msg))

    def _refuse(self, error: Refused) -> None:
        body = msgspec.json.encode(refusal_of(error))
        head = f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}\r\ncontent-type: application/json\r\n"
        self.transport.write(
            f"{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode()
            + body
        )
        self.transport.close()

    def on_message_begin(self) -> None:
        """Begin to count the bytes of a head."""
        super().on_message_begin()
        self._head, self._complete = 0, False
        if self._timer is None:
            self._start_timer()

    def on_headers_complete(self) -> None:
        """Wait for no more of the head."""
        self._complete = True
        self._stop_timer()
        super().on_headers_complete()

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(self.patience, self.transport.close)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def bounded_http(settings: Settings) -> type[BoundedHttp]:
    """Return HTTP with the bounds of a collector; each has its own count of connections."""

    class Bounded(BoundedHttp):
        each = settings.connections_each
        proxies = tuple(settings.proxies.replace(" ", "").split(","))
        open: ClassVar[Counter[str]] = Counter()

    return Bounded


def _is_in(address: str, network: str) -> bool:
    if network in ("*", address):
        return True
    try:
        return ip_address(address) in ip_network(network)
    except ValueError:
        return False

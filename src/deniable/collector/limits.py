"""How much anybody may ask for: requests in a minute, bytes in a head or a body, seconds until they have arrived."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections.abc import Callable
from ipaddress import IPv6Address
from typing import ClassVar

import msgspec
from starlette.requests import Request
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from deniable.collector.refusals import Refused, refusal_of

_WINDOW = 60.0  # seconds
_MOST_ADDRESSES = 100_000  # told apart in one minute, to bound the memory; those beyond share one count


class Rate:
    """Counts requests by network address, in memory alone, for a minute.

    What is kept is a keyed hash of the address; the key is drawn anew each minute and then forgotten with the counts.
    An IPv6 network of 2^64 addresses counts as one address, because one household can have them all.
    """

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._ends = 0.0
        self._salt = b""
        self._counts: dict[bytes, int] = {}

    def check(self, address: str) -> None:
        """Count a request.

        Raises:
            Refused: too many from this address in this minute.
        """
        if not self._most:
            return
        now = self._clock()
        if now >= self._ends:
            self._ends, self._salt, self._counts = now + _WINDOW, secrets.token_bytes(16), {}
        digest = hashlib.blake2b(_network(address).encode(), key=self._salt, digest_size=8).digest()
        if digest not in self._counts and len(self._counts) >= _MOST_ADDRESSES:
            digest = b""
        count = self._counts[digest] = self._counts.get(digest, 0) + 1
        if count > self._most:
            wait = max(1, round(self._ends - now))
            raise Refused(
                429,
                f"there were more than {self._most:,} requests from one address in a minute; expected fewer.",
                f"Try again in {wait} seconds.",
                headers={"Retry-After": str(wait)},
            )


async def read_body(request: Request, most: int, patience: float) -> bytes:
    """Read a request's body.

    Raises:
        Refused: it is longer than `most` bytes, or takes longer than `patience` seconds to arrive, or breaks off.
    """
    announced = request.headers.get("content-length", "0")
    if len(announced) > 15 or not announced.isdecimal() or int(announced) > most:
        raise _too_long(most)
    parts: list[bytes] = []
    size, more = 0, True
    try:
        async with asyncio.timeout(patience):
            while more:
                message = await request.receive()
                if message["type"] != "http.request":
                    raise Refused(400, "the body breaks off; expected all of it.")
                parts.append(message.get("body", b""))
                size, more = size + len(parts[-1]), message.get("more_body", False)
                if size > most:
                    raise _too_long(most)
    except TimeoutError:
        raise Refused(408, f"the body did not arrive; expected all of it within {patience:g} seconds.") from None
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _too_long(most: int) -> Refused:
    # What is left of the body is not read, so the connection cannot be used again.
    return Refused(
        413,
        f"the body is too long; expected at most {most:,} bytes.",
        "Send it in several parts.",
        headers={"Connection": "close"},
    )


def _network(address: str) -> str:
    if ":" not in address:
        return address
    try:
        parsed = IPv6Address(address)
    except ValueError:
        return address
    return str(parsed.ipv4_mapped or int(parsed) >> 64)


class BoundedHeads(HttpToolsProtocol):
    """HTTP as uvicorn speaks it, with bounds on what comes before a body: how long it may be, and how long it may take.

    Without them, which neither the parser nor uvicorn has, one connection could fill the memory, and a few thousand
    that say nothing could keep everybody else out.

    Attributes:
        largest: bytes of a request's line and headers; some more where they arrive in one piece.
        patience: seconds until a head has arrived, from the first byte of it, or from the connection on.
    """

    largest: ClassVar[int] = 64 << 10
    patience: ClassVar[float] = 30.0

    _head = 0  # bytes of the head that is arriving
    _complete = False
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._complete:
            return
        self._head += len(data)
        if self._head > self.largest and not self.transport.is_closing():
            self.send_400_response(f"the head of this request is too long; expected at most {self.largest:,} bytes.")

    def send_400_response(self, msg: str) -> None:
        """Refuse what no route can be asked about, in the form of all refusals, and close the connection."""
        body = msgspec.json.encode(refusal_of(Refused(400, msg)))
        head = f"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
        self.transport.write(head.encode() + b"connection: close\r\n\r\n" + body)
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

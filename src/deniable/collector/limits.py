"""How much anybody may ask for: requests in a minute, bytes in a body, seconds until it has arrived."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections.abc import Callable
from ipaddress import IPv6Address

from starlette.requests import Request

from deniable.collector.refusals import Refused

_WINDOW = 60.0
_MOST = 100_000  # addresses that are told apart in one minute; those beyond share one place


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
        place = hashlib.blake2b(_network(address).encode(), key=self._salt, digest_size=8).digest()
        if place not in self._counts and len(self._counts) >= _MOST:
            place = b""
        count = self._counts[place] = self._counts.get(place, 0) + 1
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
        known = IPv6Address(address)
    except ValueError:
        return address
    return str(known.ipv4_mapped or int(known) >> 64)

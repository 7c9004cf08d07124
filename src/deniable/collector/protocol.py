"""HTTP as uvicorn speaks it, with bounds on what comes before a body: how long a head may be, and how long it may take.

Bodies are bounded where they are read. A head is not, neither by the parser nor by uvicorn: without these bounds one
connection could fill the memory, and a few thousand that say nothing could keep everybody else out.
"""

from __future__ import annotations

import asyncio
from typing import ClassVar

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from deniable.collector.refusals import Refused, told


class Bounded(HttpToolsProtocol):
    """One connection.

    Attributes:
        largest: bytes of a request's line and headers; some more where they arrive in one piece.
        patience: seconds until a head has arrived, from the first byte of it, or from the connection on.
    """

    largest: ClassVar[int] = 64 << 10
    patience: ClassVar[float] = 30.0

    _head = 0  # bytes of the head that is arriving
    _complete = False
    _giving_up: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._wait_no_longer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what arrived, and give up on a head that does not end."""
        super().data_received(data)
        if self._complete:
            return
        self._head += len(data)
        if self._head > self.largest and not self.transport.is_closing():
            self.send_400_response(f"the head of this request is too long; expected at most {self.largest:,} bytes.")

    def send_400_response(self, msg: str) -> None:
        """Refuse what no route can be asked about, in the form of all refusals, and close the connection."""
        body = msgspec.json.encode(told(Refused(400, msg)))
        head = f"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
        self.transport.write(head.encode() + b"connection: close\r\n\r\n" + body)
        self.transport.close()

    def on_message_begin(self) -> None:
        """Begin to count."""
        super().on_message_begin()
        self._head, self._complete = 0, False
        if self._giving_up is None:
            self._wait()

    def on_headers_complete(self) -> None:
        """Stop to count."""
        self._complete = True
        self._wait_no_longer()
        super().on_headers_complete()

    def _wait(self) -> None:
        self._giving_up = self.loop.call_later(self.patience, self.transport.close)

    def _wait_no_longer(self) -> None:
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._giving_up = None

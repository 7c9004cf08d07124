"""What somebody on the line sees: a relay in front of a collector that counts the bytes of requests and replies."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


@dataclass
class Relay:
    """A relay, its address, and the bytes of each connection in both directions."""

    address: str
    streams: list[tuple[bytearray, bytearray]] = field(default_factory=list)

    def requests(self, start: str) -> list[bytes]:
        """Return each request whose first line starts so, head and body."""
        return [
            request
            for sent, _ in self.streams
            for request in _split(sent)
            if request.startswith(start.encode())
        ]

    def sizes(self, start: str) -> list[tuple[int, int]]:
        """Return the bytes of each request whose first line starts so, and of its reply, head and body."""
        return [
            (len(request), len(reply))
            for sent, received in self.streams
            for request, reply in zip(_split(sent), _split(received), strict=False)
            if request.startswith(start.encode())
        ]


def _split(stream: bytearray) -> Iterator[bytes]:
    """Yield messages of HTTP one by one; all that this collector sends says how long it is, or has no body."""
    remaining = bytes(stream)
    while remaining:
        head = remaining.partition(b"\r\n\r\n")[0]
        length = _LENGTH.search(head)
        size = len(head) + 4 + (int(length[1]) if length else 0)
        yield remaining[:size]
        remaining = remaining[size:]


@contextmanager
def relayed(address: str) -> Iterator[Relay]:
    """Stand between a collector and those who ask it."""
    to = urlsplit(address)
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        relay = Relay(f"http://127.0.0.1:{server.getsockname()[1]}")

        def accept() -> None:
            with suppress(OSError):
                while True:
                    client = stack.enter_context(server.accept()[0])
                    other = stack.enter_context(
                        socket.create_connection((to.hostname or "", to.port or 0))
                    )
                    streams = bytearray(), bytearray()
                    relay.streams.append(streams)
                    for ends in (
                        (client, other, streams[0]),
                        (other, client, streams[1]),
                    ):
                        threading.Thread(
                            target=_copy, args=ends, daemon=True
                        ).start()

        threading.Thread(target=accept, daemon=True).start()
        yield relay
        server.shutdown(socket.SHUT_RDWR)


def _copy(source: socket.socket, target: socket.socket, seen: bytearray) -> None:
    with suppress(OSError):
        while piece := source.recv(1 << 16):
            seen += piece  # before it can be answered
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)

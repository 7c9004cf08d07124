"""Mechanisms outside of this program.

of_command    a program that reads an answer per line and writes a response per line
of_endpoint   a service on this machine that is sent an answer and returns a response
of_pairs      a file of what was asked and sent, to which nothing can be added
"""

from __future__ import annotations

import http.client
import ipaddress
import shlex
import socket
import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from queue import Empty, Queue
from urllib.parse import urlsplit

from deniable.errors import InvalidRequest, UnreadableFile
from deniable.files.columns import File, open_columns

TIMEOUT = 60.0
"""Seconds that a command or an endpoint may take for what it is asked in one go."""

# bytes of a response over HTTP; more is no response to one answer
_MAX_BODY = 1 << 20


def of_command(
    command: str | Sequence[str], *, stays: bool = False, timeout: float = TIMEOUT
) -> Command:
    """Return a program that reads an answer per line and writes a response per line as a mechanism.

    Args:
        command: its words, or one text that is split as a shell would; no shell runs it.
        stays: whether one process serves all calls and writes out each line at once. By default a new one is started
            for each call, gets all of its answers, and ends with its input, as filters do.
        timeout: seconds that a call may take.

    Raises:
        InvalidRequest: the command is empty, or has a quotation mark without its second.

    Example:
        >>> of_command("cat").responses(["yes", "no"])
        ['yes', 'no']
    """
    try:
        words = shlex.split(command) if isinstance(command, str) else [*command]
    except ValueError:
        words = []
    if not words:
        raise InvalidRequest(
            "there is no command to run; expected a program, and what it is given."
        )
    return Command(words, stays=stays, timeout=timeout)


class Command:
    """A program; see `of_command`."""

    def __init__(self, words: list[str], *, stays: bool, timeout: float) -> None:
        self.words = words
        self.name = shlex.join(words)
        self._stays = stays
        self._timeout = timeout
        self._process: _Process | None = None

    def fresh(self) -> Command:
        """Return the same command, not yet started."""
        return Command(self.words, stays=self._stays, timeout=self._timeout)

    def responses(self, answers: Sequence[object]) -> list[str]:
        """Return a line for each answer.

        Raises:
            InvalidRequest: the command cannot be started, fails, is late, or does not write as many lines as it read.
        """
        lines = [_line(answer) for answer in answers]
        try:
            replies = (
                self._running_process().ask(lines, self._timeout)
                if self._stays
                else self._once(lines)
            )
        except (OSError, subprocess.SubprocessError) as error:
            self.close()
            raise InvalidRequest(
                f"{self.name}: {_trouble(error, self._timeout)}."
            ) from None
        if len(replies) != len(lines):
            self.close()
            raise InvalidRequest(
                f"{self.name} wrote {len(replies):,} lines for {len(lines):,} answers; expected a line for each.",
                "Write nothing but responses to the standard output, each on a line of its own.",
            )
        return replies

    def close(self) -> None:
        """End the process that stays, if there is one."""
        if self._process is not None:
            self._process.end()
            self._process = None

    def _running_process(self) -> _Process:
        self._process = self._process or _Process(self.words)
        return self._process

    def _once(self, lines: list[str]) -> list[str]:
        text = "".join(f"{line}\n" for line in lines).encode()
        completed = subprocess.run(
            self.words,
            input=text,
            capture_output=True,
            timeout=self._timeout,
            check=True,
        )
        return _lines(completed.stdout)


class _Process:
    """A process that stays: its lines are read by a thread, so that a full pipe never blocks both sides."""

    def __init__(self, words: list[str]) -> None:
        self._process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._read: Queue[bytes | None] = Queue()
        threading.Thread(target=self._follow, daemon=True).start()

    def _follow(self) -> None:
        assert self._process.stdout is not None
        # closed by whoever reads: never while a line is being read
        with self._process.stdout as lines:
            for line in lines:
                self._read.put(line)
        self._read.put(None)

    def ask(self, lines: list[str], timeout: float) -> list[str]:
        """Write the answers, and wait for a line for each; lines that nobody asked for are returned, too."""
        lines_read, end = (
            [self._read.get() for _ in range(self._read.qsize())],
            time.monotonic() + timeout,
        )
        threading.Thread(target=self._write, args=(lines,), daemon=True).start()
        for _ in lines:
            if lines_read[-1:] == [None]:  # it has ended, now or since the last call
                break
            try:
                lines_read.append(
                    self._read.get(timeout=max(0.0, end - time.monotonic()))
                )
            except Empty:
                raise subprocess.TimeoutExpired("", timeout) from None
        return _lines(b"".join(line for line in lines_read if line is not None))

    def _write(self, lines: list[str]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(
                "".join(f"{line}\n" for line in lines).encode()
            )
            self._process.stdin.flush()
        except (OSError, ValueError):
            return  # it has ended, which the reader sees

    def end(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.kill()
        self._process.wait()
        # answers that it never read; the pipe is closed all the same
        with suppress(BrokenPipeError):
            self._process.stdin.close()


def _line(answer: object) -> str:
    text = str(answer)
    if "\n" in text or "\r" in text:
        raise InvalidRequest(
            "an answer holds the end of a line; expected answers that fit on one line each."
        )
    return text


def _lines(written: bytes) -> list[str]:
    text = written.decode(errors="backslashreplace")
    return (
        [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
        if text
        else []
    )


def _trouble(error: Exception, timeout: float) -> str:
    if isinstance(error, subprocess.TimeoutExpired):
        return f"it wrote nothing for {timeout:g} seconds; a command that stays must write out each line at once"
    if isinstance(error, subprocess.CalledProcessError):
        return f"it ended with {error.returncode}; expected 0"
    return "it cannot be started"


def of_endpoint(address: str, *, timeout: float = TIMEOUT) -> LocalService:
    """Return a service on this machine, which is sent an answer by POST and returns the response as the body.

    Why this machine alone: an audit sends very many requests, and every answer in the clear. A name is resolved once
    and its address is kept; redirects are not followed, and no proxy is asked.

    Args:
        address: such as "http://127.0.0.1:8000/respond".
        timeout: seconds that a request may take.

    Raises:
        InvalidRequest: no address of HTTP, or one of another machine.
    """
    return LocalService(address, timeout=timeout)


class LocalService:
    """A service on this machine; see `of_endpoint`."""

    def __init__(self, address: str, *, timeout: float) -> None:
        parts = urlsplit(address)
        if parts.scheme != "http" or not parts.hostname:
            raise InvalidRequest(
                "this is no address of HTTP; expected one such as http://127.0.0.1:8000/respond."
            )
        self.name = address
        self._host = _on_this_machine(parts.hostname)
        self._port = parts.port or 80
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._timeout = timeout
        self._connection: http.client.HTTPConnection | None = None

    def responses(self, answers: Sequence[object]) -> list[str]:
        """Return the body for each answer.

        Raises:
            InvalidRequest: the service is not there or late, or answers with anything but 200 and a body of text.
        """
        return [self._ask(str(answer).encode()) for answer in answers]

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _ask(self, body: bytes) -> str:
        try:
            return self._send_request(body)
        except (http.client.RemoteDisconnected, ConnectionError):
            self.close()  # a connection that the service closed after the last request; a second failure counts
        except (OSError, http.client.HTTPException) as error:
            raise self._command_error(error) from None
        try:
            return self._send_request(body)
        except (OSError, http.client.HTTPException) as error:
            raise self._command_error(error) from None

    def _send_request(self, body: bytes) -> str:
        self._connection = self._connection or http.client.HTTPConnection(
            self._host, self._port, timeout=self._timeout
        )
        self._connection.request(
            "POST", self._path, body, {"Content-Type": "text/plain; charset=utf-8"}
        )
        _acknowledge_at_once(self._connection.sock)
        reply = self._connection.getresponse()
        text = reply.read(_MAX_BODY + 1)
        if reply.status != http.client.OK or len(text) > _MAX_BODY:
            self.close()
            raise InvalidRequest(
                f"{self.name} answered with {reply.status} and {min(len(text), _MAX_BODY):,} bytes; expected 200 and "
                f"at most {_MAX_BODY:,}.",
                "Redirects are not followed: give the address that they lead to.",
            )
        return text.decode(errors="backslashreplace")

    def _command_error(self, error: Exception) -> InvalidRequest:
        self.close()
        return InvalidRequest(
            f"{self.name} does not answer: {type(error).__name__}.",
            "Start the service first.",
        )


def _acknowledge_at_once(connection: socket.socket) -> None:
    """Do not let a service that sends header and body one after the other wait 40 ms in between, as many do."""
    # on Linux alone; holds until the next acknowledgement
    if hasattr(socket, "TCP_QUICKACK"):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)


def _on_this_machine(host: str) -> str:
    """Return the address of a host, if all of its addresses are this machine's own.

    Raises:
        InvalidRequest: another machine, or a name that is not known.
    """
    try:
        addresses = [
            str(entry[4][0])
            for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        ]
    except OSError:
        addresses = []
    if not addresses or not all(
        ipaddress.ip_address(address).is_loopback for address in addresses
    ):
        raise InvalidRequest(
            "the address is not on this machine; expected 127.0.0.1, ::1 or localhost.",
            "Run the audit where the service runs.",
        )
    return addresses[0]


def of_pairs(
    file: File, *, columns: tuple[str, str] = ("answer", "response")
) -> Pairs:
    """Return a file of what was asked and sent as a mechanism that cannot draw: checks that need more are left out.

    Args:
        file: CSV, NDJSON or Parquet. Rows without an answer are passed over; a missing response is one that may tell.
        columns: what the columns of answer and response are called.

    Raises:
        UnreadableFile: the file is damaged, or lacks a column.
    """
    with open_columns(file) as opened:
        missing = [
            column
            for column in columns
            if opened.names is not None and column not in opened.names
        ]
        if missing:
            raise UnreadableFile(
                f"{opened.name} has no column {missing[0]!r}; expected {columns[0]!r} and {columns[1]!r}.",
                "Say what the columns of answer and response are called.",
            )
        sample: dict[object, list[object]] = defaultdict(list)
        for batch in opened.batches(columns):
            for answer, response in zip(
                *(batch.column(column).to_pylist() for column in columns),
                strict=True,
            ):
                if answer is not None:
                    sample[answer].append(response)
        return Pairs(opened.name, sample)


class Pairs:
    """A fixed sample, in its order, from which each response is handed out once."""

    def __init__(self, name: str, sample: Mapping[object, Sequence[object]]) -> None:
        self.name = name
        self._left = {
            answer: list(reversed(responses)) for answer, responses in sample.items()
        }

    @property
    def answers(self) -> tuple[object, ...]:
        """The answers of the sample, those with most responses first."""
        return tuple(sorted(self._left, key=lambda answer: -len(self._left[answer])))

    def left(self, answer: object) -> int:
        """Return how many responses to an answer have not been handed out."""
        return len(self._left.get(answer, ()))

    def responses(self, answers: Sequence[object]) -> list[object]:
        """Hand out a response for each answer.

        Raises:
            InvalidRequest: there are not as many.
        """
        try:
            return [self._left[answer].pop() for answer in answers]
        except (KeyError, IndexError):
            raise InvalidRequest(
                f"{self.name} has too few rows with an answer; expected one for each draw."
            ) from None

"""A collector under load, over loopback: `python -m benchmarks.collector_http [KIND]`.

load: single durable responses against an empty endpoint of the same collector, which reads a body of the same size and
answers 204 behind the same limits, headers and counts. Both take turns. The load comes from a second process: from wrk
where it is installed, and from the loader below.

latency: how long a respondent waits until a response is durable: where one comes at a time, which waits for company as
long as the setting `hold` says, and under full load, where there is company.

soak [MINUTES]: responses, receipts, withdrawals and refusals, as fast as it goes. What is sent is withdrawn again, so
that the database stays small, and memory and descriptors have no reason to grow after the first sixth of the time.

withdrawals [RESPONSES]: how long the definition, the page and the analyst's estimates take while a hundred people
withdraw from a survey of a million, against the same collector when it is idle.

two: the same load on two collectors that share a Postgres database, half of the connections to each, against one. Every
eighth respondent sends to both. What was acknowledged must be stored, and counted once.

A collector runs in a process of its own, as `deniable serve` runs it; but for `two` on SQLite.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.measure import table

SURVEY = Path(__file__).parents[1] / "examples" / "survey.toml"
CONNECTIONS = 256
SECONDS = 4.0
ROUNDS = 5
BAR = 0.35
HOUR = 60.0  # minutes
MOST_GROWTH = 0.05  # of the memory after a sixth of the time
SAMPLES = 12
WITHDRAWING = 100
MOST_SLOWER = 2.0

LUA = """
init = function(args) path = args[1]; body = args[2]; math.randomseed(os.time() + tonumber(args[3])) end
word = function() return string.format("%08x", math.random(0, 2^31)) end
request = function()
  local key = word() .. word() .. word() .. word()
  return wrk.format("POST", path, {["Content-Type"] = "application/json"}, (body:gsub("KEY", key)))
end
"""


def serve(place: str) -> None:
    """Run a collector on a database, with an empty endpoint beside its own, and tell its port."""
    import uvicorn
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    from deniable.collector.app import make_app
    from deniable.collector.serve import configuration
    from deniable.collector.settings import Settings
    from deniable.collector.store import open_store
    from deniable.survey import Survey

    async def empty(request: Request) -> Response:
        await request.body()
        return Response(status_code=204)

    # counted, and never reached
    settings = Settings(rate=10**9, rate_responses=10**9, rate_bytes=10**12)
    survey = Survey.read(SURVEY)
    store = open_store(place)
    if not store.surveys():
        store.create(survey)
        store.open(survey.name)
    app = make_app(settings, store)
    app.router.routes.insert(0, Route("/empty", empty, methods=["POST"]))
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as door:
        print(door.getsockname()[1], flush=True)
        uvicorn.Server(configuration(settings, app)).run(sockets=[door])


@contextmanager
def collector(place: str = "") -> Iterator[tuple[int, int]]:
    """Start a collector on a database, by default on a new file; gives its port and the number of its process."""
    with tempfile.TemporaryDirectory() as folder:
        where = place or str(Path(folder) / "collector.db")
        command = [sys.executable, "-m", "benchmarks.collector_http", "serve", where]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert process.stdout
        try:
            yield int(process.stdout.readline()), process.pid
        finally:
            process.terminate()
            process.wait()


def body(port: int) -> str:
    """Return a submission with one response to the survey of a collector, with KEY in the place of its key."""
    from deniable.survey import Survey

    name = Survey.read(SURVEY).name
    with urllib.request.urlopen(
        f"http://127.0.0.1:{port}/api/surveys/{name}"
    ) as reply:
        survey = Survey.from_json(reply.read())
    question = survey.questions[0]
    response = {
        "question": question.name,
        "design": question.design.hash,
        "symbol": question.design.symbols[0],
    }
    return json.dumps({"survey": survey.hash, "key": "KEY", "responses": [response]})


def request(method: str, path: str, text: str = "") -> bytes:
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Type: "
        f"application/json\r\nContent-Length: {len(text)}\r\n\r\n"
    )
    return (head + text).encode()


class Line(asyncio.Protocol):
    """One connection that sends its next request as soon as the last one was answered in full."""

    def __init__(
        self,
        requests: Iterator[bytes],
        told: Callable[[int], None],
        waits: list[float],
    ) -> None:
        self._requests, self._told, self._waits = requests, told, waits
        self._buffer = b""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._send()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        size = (
            head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
            or b"0"
        )
        if found and len(rest) >= int(size):
            self._buffer = b""
            self._waits.append(time.perf_counter() - self._since)
            self._told(int(head[9:12]))
            self._send()

    def _send(self) -> None:
        following = next(self._requests, None)
        if following is None:
            self._transport.close()
        else:
            self._since = time.perf_counter()
            self._transport.write(following)


def load(port: int, path: str, text: str, seconds: float) -> float:
    """Return how many requests were answered in a second."""
    return len(waited(port, path, text, seconds, CONNECTIONS)) / seconds


def waited(
    port: int, path: str, text: str, seconds: float, connections: int
) -> list[float]:
    """Return how long each request took."""
    waits: list[float] = []

    def requests() -> Iterator[bytes]:
        while True:
            yield request("POST", path, text.replace("KEY", secrets.token_hex(16)))

    def told(status: int) -> None:
        assert status == 204, "a request was refused"

    async def run() -> list[float]:
        loop = asyncio.get_running_loop()
        for _ in range(connections):
            await loop.create_connection(
                lambda: Line(requests(), told, waits), "127.0.0.1", port
            )
        await asyncio.sleep(seconds / 4)
        waits.clear()
        await asyncio.sleep(seconds)
        return list(waits)

    import uvloop

    return uvloop.run(run())


def latency() -> None:
    print("\nseconds until a response is durable")
    with collector() as (port, _):
        for name, connections in (
            ("one respondent at a time", 1),
            (f"{CONNECTIONS} at a time", CONNECTIONS),
        ):
            found = sorted(
                waited(
                    port,
                    "/api/surveys/working-life/responses",
                    body(port),
                    3 * SECONDS,
                    connections,
                )
            )
            half, most = (
                found[int(share * (len(found) - 1))] for share in (0.5, 0.99)
            )
            print(
                f"  {name:<26} {half:6.3f} for half, {most:6.3f} for 99 of 100 ({len(found):,} responses)"
            )


def load_wrk(port: int, path: str, text: str, seconds: float) -> float:
    """Return the same, asked by wrk."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(LUA)
        script.flush()
        command = [
            "wrk",
            "-t1",
            f"-c{CONNECTIONS}",
            f"-d{seconds:g}s",
            "-s",
            script.name,
            f"http://127.0.0.1:{port}",
        ]
        command += ["--", path, text, str(secrets.randbelow(10**6))]
        told = subprocess.run(
            command, capture_output=True, text=True, check=True
        ).stdout
    assert "Non-2xx" not in told, told
    return float(told.split("Requests/sec:")[1].split()[0])


def spent(process: int) -> float:
    """Return the processor seconds of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def compare() -> None:
    paths = {"empty": "/empty", "single": "/api/surveys/working-life/responses"}
    loaders = {"own loader": load} | (
        {"wrk": load_wrk} if shutil.which("wrk") else {}
    )
    for name, loader in loaders.items():
        rates: dict[str, list[float]] = {each: [] for each in paths}
        cost: dict[str, list[float]] = {each: [] for each in paths}
        with collector() as (port, process):
            text = body(port)
            for _ in range(ROUNDS):
                for each, path in paths.items():
                    before, start = spent(process), time.perf_counter()
                    rates[each].append(loader(port, path, text, SECONDS))
                    cost[each].append(
                        (spent(process) - before)
                        / (time.perf_counter() - start)
                        / rates[each][-1]
                    )
        empty, single = (statistics.median(rates[each]) for each in paths)
        work = statistics.median(cost["empty"]) / statistics.median(cost["single"])
        rows = [
            ("responses ÷ empty endpoint", single / empty, BAR),
            ("work: empty endpoint ÷ response", work, None),
        ]
        table(
            f"single durable responses over loopback, {CONNECTIONS} connections, {name}",
            rows,
        )  # type: ignore[arg-type]
        print(f"  [{single:,.0f} of {empty:,.0f} requests a second here]")


def both(ports: list[int], text: str, seconds: float) -> tuple[float, set[str]]:
    """Return how many submissions were acknowledged in a second, by all collectors, and under which keys."""
    path, acknowledged = "/api/surveys/working-life/responses", set[str]()
    done = 0

    class Respondent:
        """Sends again and again on one connection; some of it was sent to another collector before."""

        key = ""

        def requests(self, again: deque[str]) -> Iterator[bytes]:
            while True:
                self.key = again.popleft() if again else secrets.token_hex(16)
                yield request("POST", path, text.replace("KEY", self.key))

        def told(self, status: int) -> None:
            nonlocal done
            assert status == 204, "a request was refused"
            if self.key not in acknowledged and secrets.randbelow(8) == 0:
                elsewhere[secrets.randbelow(len(ports))].append(self.key)
            acknowledged.add(self.key)
            done += 1

    elsewhere: list[deque[str]] = [deque() for _ in ports]

    async def run() -> float:
        loop = asyncio.get_running_loop()
        for number in range(CONNECTIONS):
            at, person = number % len(ports), Respondent()
            line = Line(person.requests(elsewhere[at]), person.told, [])
            await loop.create_connection(
                lambda line=line: line, "127.0.0.1", ports[at]
            )
        start, before = time.perf_counter(), done
        await asyncio.sleep(seconds)
        return (done - before) / (time.perf_counter() - start)

    import uvloop

    return uvloop.run(run()), acknowledged


def two() -> None:
    from tests.support import postgres

    from deniable.collector.store import open_store

    if reason := postgres.missing():
        print(f"\ntwo collectors on Postgres: {reason}")
        return
    rates = []
    for count in (1, 2):
        with postgres.server() as address, ExitStack() as running:
            ports = [
                running.enter_context(collector(address))[0] for _ in range(count)
            ]
            rate, acknowledged = both(ports, body(ports[0]), 2 * SECONDS)
            rates.append(rate)
            running.close()  # what is under way ends
            store = open_store(address)
            entry = store.survey("working-life")
            lost = sum(
                not store.stored(entry.id, bytes.fromhex(key))
                for key in acknowledged
            )
            rows = sum(len(piece) for piece in store.export(entry.id, 0))
            counted = store.tallies(entry.id, 0).respondents
            store.shut()
        verdict = "reached" if not lost and counted == rows else "MISSED"
        print(
            f"\n{count} on Postgres: {rate:,.0f} responses a second here; {len(acknowledged):,} acknowledged"
        )
        print(
            f"  lost {lost}, stored {rows:,}, counted {counted:,} (none lost, each counted once: {verdict})"
        )
    print(
        f"  two ÷ one {rates[1] / rates[0]:.2f} (they share this machine with the database and the load)"
    )


def resident(process: int) -> int:
    """Return the bytes of memory that a process has now."""
    return 4096 * int(Path(f"/proc/{process}/statm").read_text().split()[1])


def descriptors(process: int) -> int:
    return len(list(Path(f"/proc/{process}/fd").iterdir()))


def soaking(text: str) -> Iterator[bytes]:
    """Yield what one connection sends: a response, the same again, its receipt, a refused one, and its withdrawal."""
    base = "/api/surveys/working-life"
    while True:
        key = secrets.token_hex(16)
        good = text.replace("KEY", key)
        yield request("POST", f"{base}/responses", good)
        yield request("POST", f"{base}/responses", good)
        yield request("POST", f"{base}/receipts", json.dumps({"key": key}))
        yield request("POST", f"{base}/responses", good[:-40])
        yield request("POST", f"{base}/withdrawals", json.dumps({"key": key}))


def soak(minutes: float = HOUR) -> None:
    import uvloop

    with collector() as (port, process):
        text = body(port)
        counts: dict[int, int] = {}
        samples: list[tuple[int, int]] = []

        def told(status: int) -> None:
            counts[status] = counts.get(status, 0) + 1

        async def run() -> None:
            loop = asyncio.get_running_loop()
            for _ in range(CONNECTIONS // 4):
                await loop.create_connection(
                    lambda: Line(soaking(text), told, []), "127.0.0.1", port
                )
            for _ in range(SAMPLES):
                await asyncio.sleep(60 * minutes / SAMPLES)
                samples.append((resident(process), descriptors(process)))

        uvloop.run(run())
    settled, last = samples[SAMPLES // 6 - 1], samples[-1]
    growth = last[0] / settled[0] - 1
    reached = growth < MOST_GROWTH and last[1] <= settled[1]
    print(
        f"\nsoak, {minutes:g} minutes: {sum(counts.values()):,} requests, {counts}"
    )
    print(f"  MB: {', '.join(f'{size / 2**20:.0f}' for size, _ in samples)}")
    print(f"  descriptors: {', '.join(str(number) for _, number in samples)}")
    print(
        f"  growth after the first sixth {growth:8.3f}  (below {MOST_GROWTH}, and no more descriptors: "
        f"{'reached' if reached else 'MISSED'})"
    )


def filled(place: str, responses: int) -> tuple[list[bytes], str]:
    """Store so many responses to the first question; return the keys of those who withdraw, and an analyst's token."""
    import numpy as np

    from deniable.collector.store import Batch, Token, open_store
    from deniable.survey import Survey

    store, survey = open_store(place), Survey.read(SURVEY)
    store.create(survey)
    number = store.open(survey.name).id
    keys = np.frombuffer(secrets.token_bytes(16 * responses), np.uint8)
    for part in np.array_split(keys.reshape(-1, 16), max(1, responses // 100_000)):
        store.add_batch(
            Batch(number, 0, 0, part, np.zeros(len(part), np.int64), None)
        )
    token = store.issue_token(Token("ann", "analyst"))
    store.shut()
    return [keys[at * 16 :][:16].tobytes() for at in range(WITHDRAWING)], token


def withdrawals(responses: int = 1_000_000) -> None:
    import httpx

    with tempfile.TemporaryDirectory() as folder:
        place = str(Path(folder) / "collector.db")
        keys, token = filled(place, responses)
        api = "/api/surveys/working-life"
        paths = {
            "definition": api,
            "page": "/s/working-life",
            "analyst": f"{api}/estimates",
        }
        headers = {"Authorization": f"Bearer {token}"}

        async def timed(
            web: httpx.AsyncClient, goes_on: Callable[[int], bool]
        ) -> dict[str, list[float]]:
            waits: dict[str, list[float]] = {name: [] for name in paths}
            rounds = 0
            while goes_on(rounds):
                rounds += 1
                for name, path in paths.items():
                    start = time.perf_counter()
                    reply = await web.get(
                        path,
                        headers=headers
                        if name == "analyst"
                        else {"Accept": "text/html"},
                    )
                    assert reply.status_code == 200
                    waits[name].append(time.perf_counter() - start)
                await asyncio.sleep(0.02)
            return waits

        async def run(port: int) -> None:
            limits = httpx.Limits(max_connections=None)
            async with httpx.AsyncClient(
                base_url=f"http://127.0.0.1:{port}", timeout=None, limits=limits
            ) as web:
                await timed(web, lambda rounds: rounds < 20)
                idle = await timed(web, lambda rounds: rounds < 100)
                start = time.perf_counter()
                leaving = [
                    asyncio.create_task(
                        web.post(f"{api}/withdrawals", json={"key": key.hex()})
                    )
                    for key in keys
                ]
                busy = await timed(
                    web, lambda _: not all(task.done() for task in leaving)
                )
                lasted = time.perf_counter() - start
                answers = await asyncio.gather(*leaving)
                assert all(reply.json()["overwritten"] for reply in answers)
                # before and after: other programs make a machine slower and faster
                for name, waits in (
                    await timed(web, lambda rounds: rounds < 100)
                ).items():
                    idle[name] += waits
            print(
                f"\n{WITHDRAWING} withdrawals at {responses:,} responses: {lasted:.1f} s"
            )
            for name in paths:
                before, during = (
                    statistics.median(waits[name]) for waits in (idle, busy)
                )
                slower = during / before
                print(
                    f"  {name:12} {1000 * before:6.1f} ms idle, {1000 * during:6.1f} ms, at most "
                    f"{1000 * max(busy[name]):6.1f} ms; {slower:.2f} times  "
                    f"({MOST_SLOWER}: {'reached' if slower <= MOST_SLOWER else 'MISSED'})"
                )

        with collector(place) as (port, _):
            asyncio.run(run(port))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve", place]:
            serve(place)
        case ["load"]:
            compare()
        case ["latency"]:
            latency()
        case ["two"]:
            two()
        case ["soak", *minutes]:
            soak(*map(float, minutes))
        case ["withdrawals", *count]:
            withdrawals(*map(int, count))
        case _:
            compare()
            latency()
            two()
            soak()
            withdrawals()

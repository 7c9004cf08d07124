"""Limits: how much from one address, how long a body, how long it may take, how much of them at a time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.requests import Request

from deniable.collector import limits
from deniable.collector.limits import Bodies, Rate, read_body
from deniable.collector.refusals import Refused


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def allowed(rate: Rate, address: str, tries: int) -> int:
    """Return how many of so many requests are let through."""
    count = 0
    for _ in range(tries):
        try:
            rate.check(address)
            count += 1
        except Refused as error:
            if error.status != 429:
                raise
    return count


def test_each_address_has_its_own_count_and_a_new_one_each_minute() -> None:
    clock = Clock()
    rate = Rate(5, clock=clock)
    assert allowed(rate, "192.0.2.1", 7) == 5
    assert allowed(rate, "192.0.2.2", 7) == 5
    clock.now = 59
    assert allowed(rate, "192.0.2.1", 7) == 0
    clock.now = 60
    assert allowed(rate, "192.0.2.1", 7) == 5


def test_it_says_when_to_try_again() -> None:
    clock = Clock()
    rate = Rate(1, clock=clock)
    rate.check("a")
    clock.now = 20
    with pytest.raises(Refused, match="requests from one address") as caught:
        rate.check("a")
    assert caught.value.headers == {"Retry-After": "40"}


def test_no_limit_counts_nothing() -> None:
    assert allowed(Rate(0), "192.0.2.1", 1000) == 1000


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("nonsense:", "nonsense:", True),
    ],
)
def test_a_household_counts_once(one: str, other: str, same: bool) -> None:
    rate = Rate(1, clock=Clock())
    rate.check(one)
    assert (allowed(rate, other, 1) == 0) is same


def test_neither_addresses_nor_their_hashes_outlive_the_minute() -> None:
    clock = Clock()
    rate = Rate(5, clock=clock)
    rate.check("192.0.2.1")
    first = vars(rate).copy()
    assert "192.0.2.1" not in repr(first)
    clock.now = 60
    rate.check("192.0.2.1")
    assert vars(rate)["_salt"] != first["_salt"]
    assert not set(vars(rate)["_counts"]) & set(first["_counts"])


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_MAX_ADDRESSES", 10)
    rate = Rate(3, clock=Clock())
    for number in range(100):
        allowed(rate, f"10.0.0.{number}", 1)
    assert len(vars(rate)["_counts"]) == 11
    assert allowed(rate, "10.0.0.1", 3) == 2, (
        "those who were there before keep their own count"
    )


def test_responses_and_bytes_are_counted_by_their_number() -> None:
    rate = Rate(10, "responses", clock=Clock())
    rate.check("a", 6)
    with pytest.raises(
        Refused, match="more than 10 responses from one address in a minute"
    ) as caught:
        rate.check("a", 5)
    assert caught.value.status == 429
    rate.check("a", 4)
    rate.check("b", 10)
    with pytest.raises(
        Refused, match="11 responses in one request; expected at most 10"
    ) as caught:
        rate.check("c", 11)
    assert caught.value.status == 413


def test_bodies_under_way_share_a_budget_and_give_it_back() -> None:
    bodies = Bodies(20)
    one: dict[str, Any] = {}
    other: dict[str, Any] = {}
    with bodies.of_request(one):
        bodies.take(one, 6, large=True)
        bodies.take(one, 4, large=True)
        with bodies.of_request(other):
            with pytest.raises(Refused, match="busy") as caught:
                bodies.take(other, 1, large=True)
            assert caught.value.status == 503
            assert caught.value.headers == {
                "Retry-After": "1",
                "Connection": "close",
            }
            # batches never keep a single submission out
            bodies.take(other, 10, large=False)
            with pytest.raises(Refused, match="busy"):
                bodies.take(one, 1, large=False)
        bodies.take(one, 10, large=False)
    with bodies.of_request(one):
        bodies.take(one, 10, large=True)
        bodies.take(one, 10, large=False)


def test_room_is_taken_before_a_body_is_read() -> None:
    taken: list[int] = []

    def full(size: int) -> None:
        taken.append(size)
        raise Refused(503, "full.")

    with pytest.raises(Refused, match="full"):
        asyncio.run(read_body(request(length="3", ends=False), 3, 60, full))
    with pytest.raises(Refused, match="full"):
        asyncio.run(read_body(request(b"ab", ends=False), 3, 60, full))
    assert taken == [3, 2]
    assert (
        asyncio.run(read_body(request(b"ab", b"c", length="3"), 3, 1, taken.append))
        == b"abc"
    )
    assert taken == [3, 2, 3], "what was announced is counted once"


def request(*parts: bytes, length: str | None = None, ends: bool = True) -> Request:
    messages: list[Any] = [
        {"type": "http.request", "body": part, "more_body": True} for part in parts
    ]
    if ends:
        messages.append({"type": "http.request", "body": b"", "more_body": False})
    waiting = iter(messages)

    async def receive() -> Any:
        return (
            next(waiting, None) or await asyncio.get_running_loop().create_future()
        )

    headers = [] if length is None else [(b"content-length", length.encode())]
    return Request(
        {"type": "http", "method": "POST", "path": "/", "headers": headers}, receive
    )


def test_a_body_is_read_in_parts() -> None:
    assert asyncio.run(read_body(request(b"ab", b"", b"c"), 3, 1)) == b"abc"


@pytest.mark.parametrize(
    ("parts", "length"),
    [
        ((b"abcd",), None),
        ((b"ab", b"cd"), None),
        ((), "4"),
        ((), "9" * 5000),
        ((), "-1"),
        ((), "x"),
        ((b"abcd",), "2"),
    ],
)
def test_a_body_that_is_too_long_is_not_read_to_its_end(
    parts: tuple[bytes, ...], length: str | None
) -> None:
    with pytest.raises(Refused, match="too long") as caught:
        asyncio.run(read_body(request(*parts, length=length, ends=False), 3, 60))
    assert (caught.value.status, caught.value.headers) == (
        413,
        {"Connection": "close"},
    )


def test_a_body_that_never_comes_is_given_up() -> None:
    with pytest.raises(Refused, match="did not arrive") as caught:
        asyncio.run(read_body(request(b"a", ends=False), 3, 0.01))
    assert caught.value.status == 408


def test_a_body_that_breaks_off_is_refused() -> None:
    async def gone() -> Any:
        return {"type": "http.disconnect"}

    cut = Request(
        {"type": "http", "method": "POST", "path": "/", "headers": []}, gone
    )
    with pytest.raises(Refused, match="breaks off"):
        asyncio.run(read_body(cut, 3, 1))

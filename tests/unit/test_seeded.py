"""The source that tests draw from: it repeats itself, and reads the same in pieces as at once."""

from __future__ import annotations

import pytest

from deniable.chance import Source
from tests.support.seeded import SALT, seeded


def test_a_name_gives_the_same_bytes_again() -> None:
    assert seeded("one").read(100_000) == seeded("one").read(100_000)
    assert seeded("one").read(100) != seeded("two").read(100)


def test_bytes_do_not_depend_on_how_they_are_read() -> None:
    whole = seeded("pieces").read(400_000)
    source = seeded("pieces")
    sizes = [0, 1, 7, 8, 65_519, 1, 65_536, 0, 131_072, 3]
    pieces = b"".join(source.read(size) for size in sizes)
    assert pieces == whole[: sum(sizes)]
    assert source.read(400_000 - sum(sizes)) == whole[sum(sizes) :]


def test_blocks_differ() -> None:
    bytes_ = seeded("blocks").read(1 << 18)
    assert (
        len({bytes_[at : at + 64] for at in range(0, 1 << 18, 64)})
        == (1 << 18) // 64
    )


def test_a_salt_changes_every_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SALT, "one")
    salted = seeded("name").read(64)
    monkeypatch.setenv(SALT, "two")
    assert seeded("name").read(64) != salted
    monkeypatch.delenv(SALT)
    assert seeded("name").read(64) != salted


def test_the_bytes_are_the_same_on_every_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(SALT, raising=False)
    assert seeded("golden").read(16).hex() == "00ec7f4d27bbaa18caa33934583d1266"


def test_the_fixture_is_named_after_its_test(
    seeded: Source, request: pytest.FixtureRequest
) -> None:
    from tests.support.seeded import seeded as by_name

    assert seeded.read(32) == by_name(request.node.nodeid).read(32)

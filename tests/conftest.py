"""Fixtures that every test may ask for."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from deniable.chance import Source
from tests.support import postgres
from tests.support import spark as spark_support
from tests.support.seeded import SALT
from tests.support.seeded import seeded as seeded_source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from xdist.remote import Producer
    from xdist.scheduler import Scheduling

# Laws try the same inputs in every run, and other ones where a salt is set. No test watches the clock.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("fresh", deadline=None, print_blob=True)
settings.load_profile("fresh" if os.environ.get(SALT) else "fixed")


@pytest.fixture
def seeded(request: pytest.FixtureRequest) -> Source:
    """A source of random bytes that belongs to this test: the same bytes in every run, unless a salt is set."""
    # not `node.nodeid`, to which pytest-xdist adds the group where there are two processes
    return seeded_source(f"{request.node.parent.nodeid}::{request.node.name}")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a server that runs until the tests have ended."""
    reason = postgres.missing()
    if reason:
        pytest.skip(reason)
    with postgres.server() as address:
        yield address


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session of Spark that runs until the tests have ended."""
    reason = spark_support.missing()
    if reason:
        pytest.skip(reason)
    with spark_support.cluster() as session:
        yield session


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for garbage neither while tests are collected nor, later, among them: tens of thousands stay to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # pytest-xdist reads the groups in the same hook
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put all tests on Spark into one group, which one process runs: starting a cluster takes longer than a test."""
    for item in items:
        # for a fixture that asks for another
        asked = getattr(getattr(item, "callspec", None), "params", {}).values()
        if "spark" in (
            *getattr(item, "fixturenames", ()),
            *(each for each in asked if isinstance(each, str)),
        ):
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.hookimpl(optionalhook=True)  # `scripts/mutants` loads no plugins
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    """Give each process whole files or groups: what the tests of a file share is built once."""
    from xdist.scheduler import LoadGroupScheduling

    class Files(LoadGroupScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return super()._split_scope(nodeid).partition("::")[0]

    return Files(config, log)

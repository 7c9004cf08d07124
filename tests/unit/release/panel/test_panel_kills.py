"""Programs that are killed while they release from a panel, in a file and in a database."""

from __future__ import annotations

import os

import pytest

from tests.support import kills


@pytest.mark.skipif(not hasattr(os, "fork"), reason="writers are forked")
def test_two_writers_that_are_killed_leave_a_whole_panel(where: str) -> None:
    assert kills.run_apart(where, 20).wrong == []

"""What is loaded where: a fresh interpreter tells."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
before = set(sys.modules)
{statement}
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def loaded_by(statement: str) -> set[str]:
    """Return the top-level names of all modules that a statement loads in a fresh interpreter."""
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(statement=statement)],
        capture_output=True,
        text=True,
        check=True,
    )
    return {name.partition(".")[0] for name in json.loads(run.stdout)}


@pytest.mark.parametrize(
    "statement",
    [
        "import deniable.responses",
        "from deniable.responses import respond",
        "import deniable as dn; dn.respond(dn.warner(1), 'yes').to_json()",
        "import deniable as dn; dn.Design.from_json(dn.k_ary(5, 1).to_json())",
        "import deniable.types.ladder.respond",
        "import deniable.release.ledger, deniable.release.market",
        "import deniable.client, deniable.survey",
        "import deniable.types.numbers.respond, deniable.types.strings.respond",
        "import deniable as dn; dn.Ladder.from_json(dn.ladder(dn.k_ary(5, e) for e in (1, 2)).to_json())",
    ],
)
def test_the_respondents_side_loads_the_standard_library_alone(
    statement: str,
) -> None:
    loaded = loaded_by(statement)
    assert "deniable" in loaded
    assert loaded - {"deniable"} <= set(sys.stdlib_module_names)


def test_importing_the_package_loads_almost_nothing() -> None:
    loaded = loaded_by("import deniable")
    assert "numpy" not in loaded
    assert loaded - {"deniable"} <= set(sys.stdlib_module_names)


def test_listing_the_package_loads_nothing_more() -> None:
    assert loaded_by("import deniable; dir(deniable)") == loaded_by(
        "import deniable"
    )

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from deniable.errors import InvalidAnswer
from deniable.types.key_value.design import KeyValueDesign
from deniable.types.key_value.respond import respond
from tests.support.keyvalue import designs
from tests.support.seeded import seeded

EVERY = [pytest.param(design, id=name) for name, design in designs(3).items()]


@pytest.mark.parametrize("design", EVERY)
def test_a_response_names_its_design_and_can_be_read(design: KeyValueDesign) -> None:
    source = seeded("a response names its design")
    for answer in ({}, {"0": 0.5}, {"2": "1/3", "0": -1, "1": 1}):
        response = respond(design, answer, source=source)
        assert response.design == design.hash
        assert 0 <= design.response_number(response.symbol) < design.scheme.responses


@pytest.mark.parametrize("answer", [{"zebra": 1}, {"0": 7731}, {"0": float("nan")}])
def test_an_answer_that_does_not_fit_is_never_repeated(
    answer: dict[str, float],
) -> None:
    with pytest.raises(InvalidAnswer) as caught:
        respond(designs(2)["lpp_club"], answer)
    for text in (
        str(caught.value),
        repr(caught.value),
        pickle.dumps(caught.value).decode("latin-1"),
    ):
        assert "zebra" not in text
        assert "7731" not in text


@pytest.mark.parametrize(
    "statement",
    [
        "import deniable.types.key_value.respond",
        "import deniable.types.edges.respond",
        "from deniable.types.key_value.design import pckv_ue\n"
        "from deniable.types.key_value.respond import respond\n"
        "respond(pckv_ue(3, 1, padding=1), {'0': 1})",
    ],
)
def test_the_respondents_side_loads_the_standard_library_alone(
    statement: str,
) -> None:
    program = (
        f"import sys\nbefore = set(sys.modules)\n{statement}\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(new - set(sys.stdlib_module_names)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "['deniable']"

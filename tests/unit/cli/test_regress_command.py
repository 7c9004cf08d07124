"""`deniable regress` gives what the library gives for the columns that its options name."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import deniable as dn
from deniable.errors import InvalidResponse
from tests.support.commands import done, run

DESIGN = dn.warner(p="3/4")
SAID = "1211212219" * 12  # 1 is a yes, 2 a no, 9 somebody who sent nothing
AGES = [20 + 7 * row % 41 for row in range(len(SAID))]
VILLAGES = [row % 12 for row in range(len(SAID))]
WEIGHTS = [1 + row % 3 for row in range(len(SAID))]
MEANINGS = {"1": "yes", "2": "no"}
WORDS = ("--value", "1=yes", "--value", "2=no", "--missing", "9")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("regress")
    rows = zip(SAID, AGES, VILLAGES, WEIGHTS, strict=True)
    lines = ["said,age,village,w", *(",".join(map(str, row)) for row in rows)]
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    (folder / "warner.json").write_text(DESIGN.to_json())
    (folder / "mapping.toml").write_text(
        '[columns.said]\ndesign = "warner.json"\nmissing = ["9"]\nvalues = {1 = "yes", 2 = "no"}\n'
    )
    return folder


def _fit(said: list[object], **options: object) -> dn.Regression:
    data = {"said": said, "age": AGES, "village": VILLAGES, "w": WEIGHTS}
    return dn.regress("said ~ age", data, design=DESIGN, **options)  # type: ignore[arg-type]


def _plain() -> dn.Regression:
    return _fit([MEANINGS.get(cell) for cell in SAID])


@pytest.mark.parametrize("cells", [list(SAID), [float(cell) for cell in SAID]])
def test_values_mean_symbols(cells: list[object]) -> None:
    fit = _fit(cells, values=MEANINGS, missing=[9])
    assert fit.params == _plain().params
    assert fit.dropped == {"they hold no response": 12}


def test_missing_values_go_without_meanings() -> None:
    said = [MEANINGS.get(cell, "refused") for cell in SAID]
    assert _fit(said, missing=["refused"]).params == _plain().params


def test_a_value_without_a_meaning_is_refused() -> None:
    with pytest.raises(InvalidResponse, match=r"row 10 holds '9'.*'1', '2'"):
        _fit(list(SAID), values=MEANINGS)


def test_a_file_gives_what_the_library_gives(folder: Path) -> None:
    sample = dn.Sampling(WEIGHTS, clusters=VILLAGES)
    expected = _fit(list(SAID), values=MEANINGS, missing=["9"], sampling=sample)
    columns = ("--weights", "w", "--clusters", "village")
    args = (folder / "people.csv", "said ~ age", *columns, "--json")
    for design in ((folder / "warner.json", *WORDS), (folder / "mapping.toml",)):
        printed = done("regress", design[0], *args, *design[1:]).stdout
        assert dn.Regression.from_json(printed, DESIGN) == expected


def test_effects_take_the_place_of_coefficients(folder: Path) -> None:
    args = (folder / "warner.json", folder / "people.csv", "said ~ age", *WORDS)
    printed = done("regress", *args, "--show", "effects").stdout
    assert printed.startswith("average effects in said ~ age")
    assert f"{100 * _plain().effects().params['age']:.1f}%" in printed


def test_odds_ratios_are_exponentiated_coefficients(folder: Path) -> None:
    fit = _plain()
    args = (folder / "warner.json", folder / "people.csv", "said ~ age", *WORDS)
    printed = done("regress", *args, "--show", "odds", "--json").stdout
    ratios = dn.Statistic.from_json(printed, DESIGN)
    assert ratios == fit.odds_ratios()
    assert ratios.params == {"age": pytest.approx(math.exp(fit.params["age"]))}
    for method in ("normal", "profile"):
        low, high = fit.interval("age", level=0.9, method=method)
        expected = (math.exp(low), math.exp(high))
        found = fit.odds_ratios().interval("age", level=0.9, method=method)
        assert found == pytest.approx(expected)
    assert ratios.summary().rows[0].p_value == fit.summary().rows[1].p_value


def test_families_without_odds_have_no_odds_ratios() -> None:
    said = [MEANINGS.get(cell) for cell in SAID]
    with pytest.raises(dn.DeniableError, match=r"family of odds ratios is 'probit'"):
        _fit(said, family="probit").odds_ratios()


def test_hints_name_the_options_of_the_shell(folder: Path) -> None:
    args = (folder / "warner.json", folder / "people.csv", "said ~ age")
    result = run("regress", *args, *WORDS[:4])
    assert result.exit_code == 2
    assert "Add it to --value, or to --missing if nothing was sent." in result.stderr

"""`deniable design <family>`: every command is made from the function that builds the design."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.cli.graphs import GraphFamilies
from deniable.cli.options import parameter_help
from deniable.designs import FAMILIES, Design
from deniable.plan.chooser import GOALS
from tests.support.commands import done, run

EXAMPLES = [
    (name, example)
    for name, family in sorted(FAMILIES.items())
    for example in family.examples
]


def words(settings: dict[str, Any], folder: Path) -> list[str]:
    """Write the arguments of a function as a shell would be given them."""
    told: list[str] = []
    for name, value in settings.items():
        if name == "designs":
            named = (
                dict(value)
                if isinstance(value, dict)
                else dict.fromkeys(map(str, range(len(value))))
            )
            for number, (attribute, design) in enumerate(
                zip(named, named.values(), strict=True)
            ):
                path = folder / f"{number}.json"
                path.write_text((design or value[number]).to_json())
                told.append(f"{attribute}={path}" if design else str(path))
        elif isinstance(value, bool):
            flag = name.replace("_", "-")
            told += (
                [f"--{flag}"]
                if value
                else []
                if name in ("low", "optimized")
                else [f"--no-{flag}"]
            )
        else:
            told += [f"--{name.replace('_', '-')}", text(value)]
    return told


def text(value: Any) -> str:
    if isinstance(value, dict):
        return ",".join(
            f"{name}={'' if each is None else each}" for name, each in value.items()
        )
    if isinstance(value, list | tuple):
        return (";" if isinstance(value[0], list | tuple) else ",").join(
            map(text, value)
        )
    return str(value)


@pytest.mark.parametrize(
    ("name", "example"),
    EXAMPLES,
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_every_example_is_built_as_in_python(
    name: str, example: dict[str, Any], tmp_path: Path
) -> None:
    built = Design.from_json(
        done("design", name, *words(example, tmp_path), "--json").stdout
    )
    assert built == FAMILIES[name].build(**example)


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_help_tells_every_parameter_in_the_words_of_the_docstring(name: str) -> None:
    shown = " ".join(done("design", name, "--help").stdout.split())
    told = parameter_help(FAMILIES[name].build)
    for parameter in inspect.signature(FAMILIES[name].build).parameters:
        assert told.get(parameter), (
            f"the docstring of {name} says nothing about {parameter}"
        )
        assert told[parameter].text[1:60] in shown
        assert parameter == "designs" or f"--{parameter.replace('_', '-')}" in shown
    assert "<bool>" not in shown


def test_every_parameter_of_graph_designs_is_told() -> None:
    builders = GraphFamilies(name="design").builders()
    assert set(builders) == {
        "lpp",
        "lpp_club",
        "lpp_ddagger",
        "one_edge",
        "pckv_grr",
        "pckv_ue",
        "vpp",
    }
    for name, build in builders.items():
        assert set(parameter_help(build)) == set(
            inspect.signature(build).parameters
        ), name
        assert "<bool>" not in done("graph", "design", name, "--help").stdout


def test_every_family_is_listed() -> None:
    told = json.loads(done("design", "list", "--json").stdout)
    items = GraphFamilies(name="design").builders()
    others = {"bucket_design", "drawn_items", "number_design"}
    assert set(told) == {*FAMILIES, *others, *items}
    shown, helped = done("design", "list").stdout, done("design", "--help").stdout
    assert all(name in shown and name in helped for name in FAMILIES)


def test_settings_come_from_a_file_and_options_win(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"categories": ["a", "b", "c"], "epsilon": "1/2"}))
    built = Design.from_json(
        done("design", "k_ary", "--file", file, "-e", "2", "--json").stdout
    )
    assert built == dn.k_ary(["a", "b", "c"], 2)
    (tmp_path / "labels.txt").write_text("a\n\nb\nc\n")
    named = done(
        "design", "k_ary", "-c", f"@{tmp_path / 'labels.txt'}", "-e", "2", "--json"
    )
    assert Design.from_json(named.stdout) == built


def test_attributes_of_a_product_are_named(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.json").write_text(dn.warner(1).to_json())
    named = done(
        "design",
        "product",
        f"smokes={tmp_path / 'one.json'}",
        f"drinks={tmp_path / 'two.json'}",
        "--json",
    )
    assert Design.from_json(named.stdout) == dn.product(
        {"smokes": dn.warner(1), "drinks": dn.warner(1)}
    )
    assert (
        run(
            "design",
            "product",
            f"smokes={tmp_path / 'one.json'}",
            tmp_path / "two.json",
        ).exit_code
        == 2
    )


def test_a_decimal_is_read_exactly() -> None:
    assert Design.from_json(
        done("design", "warner", "--p", "0.7", "--json").stdout
    ) == dn.warner(p="7/10")


def test_mistakes_are_told_in_one_style() -> None:
    for given, told in (
        (["nobody"], "no such command 'nobody'"),
        (["warner", "--q", "1"], "no such option: --q"),
        (["warner", "--epsilon"], "requires an argument"),
        (["binary", "--p00", "0.9"], "binary needs --p11 too"),
        (["warner", "--epsilon", "-1"], "expected a positive number"),
        (["subset", "-c", "4", "--t", "two"], "is no whole number"),
        (["items", "--demands", "a=1,a=2"], "stands twice"),
        (["product"], "product needs --designs too"),
    ):
        result = run("design", *given)
        assert result.exit_code == 2
        assert result.stderr.startswith("error: "), result.stderr
        assert told in " ".join(result.stderr.split())
        assert "╭" not in result.output


def test_the_best_design_is_chosen_with_its_reasons(tmp_path: Path) -> None:
    out = tmp_path / "design.json"
    told = done("design", "optimal", "-c", "16", "-e", "1", "--out", out)
    assert "would need" in told.stdout
    assert Design.from_json(out.read_text()) == dn.optimal(16, 1).design
    body = json.loads(
        done("design", "optimal", "-c", "16", "-e", "1", "--json").stdout
    )
    assert [each["name"] for each in body["candidates"][:2]] == [
        "local_hashing",
        "subset, t = 4",
    ], "equally good"
    assert (
        run("design", "optimal", "-c", "16", "-e", "1", "--goal", "fame").exit_code
        == 2
    )
    shown = done("design", "optimal", "--help").stdout
    assert all(goal in shown for goal in GOALS)

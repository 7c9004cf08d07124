"""`deniable design family` and `deniable design optimal`."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

import deniable as dn
from deniable.cli.app import app
from deniable.designs import FAMILIES

RUN = CliRunner()


def test_every_family_is_listed() -> None:
    result = RUN.invoke(app, ["design", "family"])
    assert result.exit_code == 0
    for name in FAMILIES:
        assert name in result.stdout
    told = json.loads(RUN.invoke(app, ["design", "family", "--json"]).stdout)
    assert set(told) == set(FAMILIES)


def test_a_family_is_built_by_name(tmp_path: Path) -> None:
    out = tmp_path / "design.json"
    words = ["design", "family", "subset", "-c", "a,b,c,d", "-s", "t=2", "-s", "p=3/4", "--out", str(out)]
    assert RUN.invoke(app, words).exit_code == 0
    assert dn.Design.from_json(out.read_text()) == dn.subset(["a", "b", "c", "d"], t=2, p="3/4")


def test_a_decimal_is_read_exactly() -> None:
    result = RUN.invoke(app, ["design", "family", "warner", "-s", "p=0.7", "--json"])
    assert dn.Design.from_json(result.stdout) == dn.warner(p="7/10")


def test_mistakes_are_told_without_a_traceback() -> None:
    for words, told in (
        (["nobody"], "there is no family"),
        (["warner", "-s", "q=1"], "is not built from 'q'"),
        (["warner", "-s", "epsilon"], "expected NAME=VALUE"),
        (["binary", "-s", "p00=0.9"], "binary needs p11 too"),
        (["warner", "-s", "epsilon=-1"], "expected a positive number"),
        (["warner", "-s", "epsilon=1", "-s", "epsilon=2"], "set twice"),
        (["k_ary", "-c", "3", "-s", "categories=4", "-s", "epsilon=1"], "set twice"),
        (["product", "-s", "designs=5"], "a product of 0 things"),
        (["matrix", "-s", "rows=" + "[" * 100_000], "expected a finite number"),
        (["-s", "epsilon=1"], "expected the name of a family"),
    ):
        result = RUN.invoke(app, ["design", "family", *words])
        assert result.exit_code == 2
        assert told in " ".join(result.stderr.split())


def test_the_best_design_is_chosen_with_its_reasons(tmp_path: Path) -> None:
    out = tmp_path / "design.json"
    words = ["design", "optimal", "-c", "16", "-e", "1", "--out", str(out)]
    told = RUN.invoke(app, words)
    assert told.exit_code == 0
    assert "would need" in told.stdout
    assert dn.Design.from_json(out.read_text()) == dn.optimal(16, 1).design
    body = json.loads(RUN.invoke(app, ["design", "optimal", "-c", "16", "-e", "1", "--json"]).stdout)
    assert body["candidates"][0]["name"].startswith("subset")
    assert RUN.invoke(app, ["design", "optimal", "-c", "16", "-e", "1", "--goal", "fame"]).exit_code == 2

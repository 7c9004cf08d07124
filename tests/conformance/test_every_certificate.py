"""Every certificate is accepted by a checker that knows nothing of the package, and no corrupted one is."""

from __future__ import annotations

import ast
import copy
import json
import math
import random
import subprocess
import sys
from fractions import Fraction
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable import channel as channels
from deniable import exact
from deniable.certificates import checker
from deniable.certificates.certificate import checker_source, subject_classes
from deniable.chance import Source
from deniable.channel import KINDS
from deniable.designs import FAMILIES
from deniable.types.key_value.schemes import Unary
from tests.support.certified import (
    LARGE,
    at,
    certifiable,
    corrupted,
    leaves,
    prior_of,
    resealed,
    text_of,
)
from tests.support.surveys import question, small

CHECKER = Path(checker.__file__)
EVERY = [*certifiable(), *LARGE]
CORRUPTED = 1000

SETTINGS = {
    "acknowledge", "admission", "alphabet", "arms", "caveats", "categories", "check", "closes", "cohorts", "compare",
    "device", "groups", "hash", "high", "items", "keys", "languages", "lengths", "low", "minimum", "name", "opens",
    "pilot", "planned", "right", "symbols", "tally", "texts",
}  # fmt: skip
"""What in a document is free text, or a setting that no claim rests on: the hashes alone hold it. With other words or
settings and hashes to match it is another document, and the certificate says of that one what is true."""


@cache
def certificate(name: str) -> Any:
    thing = certifiable()[name] if name in certifiable() else LARGE[name]()
    return json.loads(dn.certify(thing, prior_of(thing)).to_json())


@pytest.mark.parametrize("name", EVERY)
def test_a_genuine_certificate_is_accepted(name: str) -> None:
    assert checker.verify(text_of(certificate(name))) == certificate(name)


def test_every_family_type_and_kind_is_certified() -> None:
    found = [certificate(name)["document"] for name in EVERY]
    assert {each["schema"] for each in found} == {
        f"deniable/{schema}/1" for schema in subject_classes()
    }
    told = json.dumps(found)
    assert {each["name"] for each in found if "name" in each} >= set(FAMILIES)
    shown = {kind for kind in KINDS if f'"kind": "{kind}"' in told}
    assert shown == {
        kind
        for kind, known in KINDS.items()
        if known.__module__.startswith("deniable.")
    } - {"product"}


def test_the_checker_shares_nothing_with_the_package() -> None:
    source = CHECKER.read_text(encoding="utf-8")
    functions = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef)
    ]
    # what counts is the time that a review takes
    assert max(node.end_lineno - node.lineno for node in functions) < 45
    imports = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    names = {
        alias.name
        for node in imports
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    names |= {
        str(node.module) for node in imports if isinstance(node, ast.ImportFrom)
    }
    assert names == {
        "__future__",
        "collections.abc",
        "dataclasses",
        "functools",
        "hashlib",
        "json",
        "math",
        "operator",
        "sys",
        "threading",
        "decimal",
        "fractions",
        "itertools",
        "pathlib",
        "typing",
    }
    assert not {"__import__", "eval", "exec", "open"} & {
        node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)
    }


def test_it_runs_alone(tmp_path: Path) -> None:
    alone = tmp_path / "checker.py"
    alone.write_text(checker_source(), encoding="utf-8")
    (tmp_path / "good.json").write_text(
        text_of(certificate("survey")), encoding="utf-8"
    )
    wrong = copy.deepcopy(certificate("survey"))
    wrong["claims"]["epsilon"] = "0.5"
    (tmp_path / "bad.json").write_text(text_of(resealed(wrong)), encoding="utf-8")

    def run(*files: str) -> Any:
        command = [sys.executable, "-I", "-S", str(alone), *files]
        return subprocess.run(
            command,
            cwd=tmp_path,
            env={},
            capture_output=True,
            text=True,
            check=False,
        )

    assert (
        run("good.json").returncode,
        run("good.json", "bad.json").returncode,
    ) == (
        0,
        1,
    )
    assert "accepted: ε = 6.0" in run("good.json").stdout
    assert 'REJECTED: claims/epsilon is "0.5"' in run("bad.json").stderr


def test_free_text_is_escaped_where_it_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A name of a question is a setting: with other hashes the certificate is accepted, and its caveats are printed."""
    name, thing = (
        "\x1b[2J\u202e",
        small(questions=(question("smokes", dn.crosswise("1/4")),)),
    )
    text = dn.certify(thing).to_json()
    forged = resealed(json.loads(text.replace("smokes", json.dumps(name)[1:-1])))
    forged_path = tmp_path / "forged.json"
    forged_path.write_text(text_of(forged), encoding="utf-8")
    checker.main([str(forged_path)])
    accepted = capsys.readouterr().out
    forged["claims"]["epsilon"] = name
    forged_path.write_text(text_of(resealed(forged)), encoding="utf-8")
    with pytest.raises(SystemExit) as rejected:
        checker.main([str(forged_path)])
    for printed in (accepted, str(rejected.value)):
        assert "1b[2J" in printed
        assert all(letter.isprintable() for letter in printed.replace("\n", ""))


def another_truth(found: Any) -> bool:
    """Whether the package writes this very certificate, of another document or for another prior."""
    try:
        return dn.Certificate.from_json(text_of(resealed(found))) is not None
    except dn.DeniableError:
        return False


def another_witness(found: Any, path: Any) -> bool:
    """Whether what was changed is a witness, and the response that it names attains the parity, too."""
    if "witness" not in path:
        return False
    part, claims = found["document"], found["claims"]
    for name in path[1 : path.index("witness")]:
        claims = claims[name]
        if name == "parts":
            continue
        if "designs" in part:
            part = part["designs"][name]
        elif "questions" in part:
            part = next(each for each in part["questions"] if each["name"] == name)
            part = part.get("design", part.get("ladder"))
        elif "factors" in part:
            part = next(
                each for each in part["factors"] if each["attribute"] == name
            )["design"]
    part = part.get("ends", part.get("choice", part))
    body = part["scheme"]["symbol"] if "scheme" in part else part.get("channel")
    if claims.get("rule") == "padded":
        scheme = dn.KeyValueDesign.from_json(json.dumps(resealed(part))).scheme
        return (
            isinstance(scheme, Unary)
            and scheme._ratio(int(claims["witness"]["marked"])) == scheme.parity
        )
    if "bloom" in part or body is None or "likely" not in claims["witness"]:
        return False
    channel = channels.from_body(body)
    response, likely, unlikely = (
        int(claims["witness"][each], 0)
        for each in ("response", "likely", "unlikely")
    )
    ratio = exact.ratio(
        channel.probability(response, given=likely),
        channel.probability(response, given=unlikely),
    )
    return ratio == (
        math.inf if claims["parity"] == "inf" else Fraction(claims["parity"])
    )


def test_a_thousand_corrupted_certificates_are_rejected(seeded: Source) -> None:
    """Each has one leaf changed, dropped or moved, and all the hashes that an attacker would give it."""
    rejected, chance = 0, random.Random(seeded.read(16))
    known = {
        name: list(leaves(certificate(name)))
        for name in EVERY
        if len(text_of(certificate(name))) < 15_000
    }
    for name in cycle(known):
        if rejected >= CORRUPTED:
            break
        path = chance.choice(known[name])
        found = corrupted(certificate(name), path, chance)
        if found == certificate(name):
            continue
        try:
            checker.verify(text_of(resealed(found)))
        except checker.Rejected:
            rejected += 1
        else:
            free = path[0] != "claims" and not SETTINGS.isdisjoint(path)
            true = another_witness(found, path) or another_truth(found)
            assert free or true, (name, path, at(certificate(name), path))


def test_without_new_hashes_nothing_at_all_can_be_changed(seeded: Source) -> None:
    chance = random.Random(seeded.read(16))
    for name in chance.sample([name for name in EVERY if name not in LARGE], 20):
        for path in chance.sample(list(leaves(certificate(name))), 12):
            found = corrupted(certificate(name), path, chance)
            if found != certificate(name):
                with pytest.raises(checker.Rejected):
                    checker.verify(text_of(found))

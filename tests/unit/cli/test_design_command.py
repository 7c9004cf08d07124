from __future__ import annotations

import json
from pathlib import Path

import pytest

from deniable.designs import Design, binary, k_ary, matrix, product, warner
from tests.support.commands import done, run

CASES: dict[str, tuple[tuple[str, ...], Design]] = {
    "k_ary": (("k_ary", "--categories", "a, b,c", "--epsilon", "1"), k_ary(["a", "b", "c"], 1)),
    "numbered": (("k_ary", "-c", "5", "-e", "1/2"), k_ary(5, "1/2")),
    "quoted": (("k_ary", "-c", '"a, or b",c', "-e", "1"), k_ary(["a, or b", "c"], 1)),
    "by p": (("k_ary", "-c", "a,b,c", "--p", "0.7"), k_ary(["a", "b", "c"], p="0.7")),
    "low": (("k_ary", "-c", "a,b,c", "-e", "1", "--low"), k_ary(["a", "b", "c"], 1, low=True)),
    "warner": (("warner", "--epsilon", "1"), warner(1)),
    "warner with names": (("warner", "--p", "3/4", "-c", "a,b"), warner(p="3/4", categories=["a", "b"])),
    "binary": (("binary", "--p00", "0.9", "--p11", "7/10"), binary("0.9", "7/10")),
    "matrix": (
        ("matrix", "--rows", "5/6, 1/6; 1/6, 5/6", "-c", "yes,no", "--symbols", "red,black"),
        matrix([["5/6", "1/6"], ["1/6", "5/6"]], categories=["yes", "no"], symbols=["red", "black"]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_designs_are_built_as_in_python(tmp_path: Path, case: str) -> None:
    words, expected = CASES[case]
    out = tmp_path / "design.json"
    result = done("design", *words, "--out", out)
    assert Design.from_json(out.read_bytes()) == expected
    assert f"wrote {out}" in result.stderr.replace("\n", "")
    assert Design.from_json(done("design", *words, "--json").stdout) == expected


def test_a_matrix_is_read_from_json(tmp_path: Path) -> None:
    rows = [[0.5, 0.1], [0.25, 0.25], ["1/4", 0.65]]
    file = tmp_path / "matrix.json"
    for content in (rows, {"rows": rows, "categories": ["a", "b"]}):
        file.write_text(json.dumps(content))
        words = (
            "design",
            "matrix",
            "--file",
            file,
            "--symbols",
            "x,y,z",
            "-c",
            "a,b",
            "--json",
        )
        built = Design.from_json(done(*words).stdout)
        assert built == matrix(rows, categories=["a", "b"], symbols=["x", "y", "z"])


def test_products_take_design_files(tmp_path: Path) -> None:
    parts = [warner(1), k_ary(["a", "b", "c"], 2)]
    files = [tmp_path / "one.json", tmp_path / "two.json"]
    for file, part in zip(files, parts, strict=True):
        file.write_text(part.to_json())
    assert Design.from_json(
        done("design", "product", *files, "--json").stdout
    ) == product(parts)


def test_show_tells_the_promise_in_natural_frequencies(tmp_path: Path) -> None:
    file = tmp_path / "design.json"
    file.write_text(warner(epsilon=1).to_json())
    shown = " ".join(done("design", "show", file).stdout.split())
    assert (
        "Of 100 people whose answer is 'yes', about 73 send 'yes' and about 27 send 'no'."
        in shown
    )
    assert "change by a factor of at most 2.72 (ε = 1)" in shown
    assert "73.1%" in shown
    assert "Nothing was written" in done("design", "warner", "-e", "1").stderr


def test_show_warns_where_a_response_proves_something(tmp_path: Path) -> None:
    file = tmp_path / "design.json"
    file.write_text(binary(1, "7/10").to_json())
    shown = " ".join(done("design", "show", file).stdout.split())
    assert "Warning: this design has no finite ε." in shown
    assert "Whoever sends 'yes' gives away the answer: it is 'yes'." in shown


def test_show_for_programs(tmp_path: Path) -> None:
    file = tmp_path / "design.json"
    file.write_text(binary("9/10", "7/10").to_json())
    told = json.loads(done("design", "show", file, "--json").stdout)
    assert told["parity"] == "7"
    assert told["rows"] == [["9/10", "3/10"], ["1/10", "7/10"]]
    assert told["bayes_factors"] == ["3", "7"]
    file.write_text(binary(1, "7/10").to_json())
    assert (
        json.loads(done("design", "show", file, "--json").stdout)["epsilon"] is None
    )


def test_show_copes_with_a_million_categories(tmp_path: Path) -> None:
    file = tmp_path / "design.json"
    done("design", "k_ary", "-c", "1000000", "-e", "1", "--out", file)
    assert "each of the 999,999 others" in " ".join(
        done("design", "show", file).stdout.split()
    )
    assert (
        json.loads(done("design", "show", file, "--json").stdout)["categories"]
        == 1_000_000
    )


def test_files_are_overwritten_only_by_force(tmp_path: Path) -> None:
    out = tmp_path / "design.json"
    out.write_text("precious")
    words = ("design", "warner", "-e", "1", "--out", out)
    refused = run(*words)
    assert refused.exit_code == 2
    assert "exists already" in refused.stderr
    assert refused.stdout == ""
    assert out.read_text() == "precious"
    done(*words, "--force")
    assert Design.from_json(out.read_bytes()) == warner(1)


@pytest.mark.parametrize(
    "words",
    [
        ("k_ary", "-c", "a,b,c"),
        ("k_ary", "-c", "a,b,c", "-e", "1", "--p", "0.5"),
        ("k_ary", "-c", "a,b,c", "-e", "zero"),
        ("k_ary", "-c", "a", "-e", "1"),
        ("k_ary", "-c", "", "-e", "1"),
        ("k_ary", "-e", "1"),
        ("k_ary", "-c", "9" * 5000, "-e", "1"),
        ("warner", "-e", "1", "-c", "a,b,c"),
        ("warner", "-e", "1", "-c", ""),
        ("binary", "--p00", "1/2", "--p11", "1/2"),
        ("matrix",),
        ("matrix", "--rows", "1/2,1/2;1/2,1/3"),
        ("matrix", "--rows", "1/2,x;1/2,1/2"),
        ("unheard-of",),
    ],
)
def test_mistakes_are_told_without_a_traceback(words: tuple[str, ...]) -> None:
    result = run("design", *words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"schema": "deniable/tally/1"}',
        warner(1).to_json().replace("no", "on"),
    ],
)
def test_a_file_that_is_no_design_has_its_own_exit_code(
    tmp_path: Path, content: str
) -> None:
    file = tmp_path / "design.json"
    file.write_text(content)
    for words in (("show", file), ("product", file, file)):
        result = run("design", *words)
        assert result.exit_code == 4
        assert result.stderr.startswith("error: ")


@pytest.mark.parametrize("content", ["[[1", '"x"', '{"rows": [[1]], "more": 1}'])
def test_a_file_that_is_no_matrix_has_its_own_exit_code(
    tmp_path: Path, content: str
) -> None:
    file = tmp_path / "matrix.json"
    file.write_text(content)
    assert run("design", "matrix", "--file", file).exit_code == 4


def test_a_missing_file_has_its_own_exit_code(tmp_path: Path) -> None:
    result = run("design", "show", tmp_path / "none.json")
    assert result.exit_code == 4
    assert "none.json" in result.stderr.replace("\n", "")
    assert (
        run(
            "design", "warner", "-e", "1", "--out", tmp_path / "no folder" / "d.json"
        ).exit_code
        == 4
    )

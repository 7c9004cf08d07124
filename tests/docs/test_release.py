"""A release works where the repository is not: it is built, installed into an empty environment, and tried."""

from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.util
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import deniable
from deniable.extras import COMMANDS

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]


def script(name: str) -> ModuleType:
    """A program of scripts/, with an ending or without."""
    loader = importlib.machinery.SourceFileLoader(
        name.replace(".", "_"), str(ROOT / "scripts" / name)
    )
    found = importlib.util.spec_from_loader(loader.name, loader)
    assert found is not None
    module = importlib.util.module_from_spec(found)
    loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with everything that is released: the sdist, and a wheel of each distribution."""
    folder = tmp_path_factory.mktemp("dist")
    for project, targets in (
        (ROOT, ["wheel", "sdist"]),
        (ROOT / "full", ["wheel"]),
        (ROOT / "papers", ["wheel"]),
    ):
        words = [word for target in targets for word in ("-t", target)]
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-d", str(folder), *words],
            cwd=project,
            check=True,
            capture_output=True,
        )
    return folder


def install(
    wheels: Iterable[Path], folder: Path, dependencies: Path | None = None
) -> Path:
    """Make an environment that holds wheels and nothing else, or besides them what stands in another folder."""
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True
    )
    words = ["install", "--quiet", "--no-deps", "--no-index", *map(str, wheels)]
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "--python",
            str(folder / "bin" / "python"),
            *words,
        ],
        check=True,
        env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    if dependencies is not None:
        (packages,) = folder.glob("lib/python*/site-packages")
        # after the wheels, and no deeper
        (packages / "dependencies.pth").write_text(f"{dependencies}\n")
    return folder


@pytest.fixture(scope="module")
def light(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment of a device: the core, and nothing that it could depend on."""
    return install(
        built.glob("deniable_core-*.whl"), tmp_path_factory.mktemp("light") / "env"
    )


@pytest.fixture(scope="module")
def standard(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment after `pip install deniable`: no extra is there, whatever this one holds."""
    dependencies = tmp_path_factory.mktemp("dependencies")
    for name in closure(PROJECT["optional-dependencies"]["standard"]):
        for top in {
            file.parts[0]
            for file in metadata.files(name) or ()
            if file.parts[0] not in ("..", "__pycache__")
        }:
            place = Path(str(metadata.distribution(name).locate_file(top)))
            if place.exists() and not (dependencies / top).exists():
                (dependencies / top).symlink_to(place)
    wheels = [*built.glob("deniable_core-*.whl"), *built.glob("deniable-*.whl")]
    return install(wheels, tmp_path_factory.mktemp("standard") / "env", dependencies)


def closure(requirements: Iterable[str]) -> set[str]:
    """Return the names of all distributions that requirements without extras bring."""
    names: set[str] = set()
    waiting = [
        requirement for requirement in requirements if "extra ==" not in requirement
    ]
    while waiting:
        name = re.split(r"[^\w.-]", waiting.pop(), maxsplit=1)[0].lower()
        # for another system, or another version of Python
        with suppress(metadata.PackageNotFoundError):
            needed = [
                each
                for each in metadata.requires(name) or ()
                if "extra ==" not in each
            ]
            waiting += needed if name not in names else []
            names.add(name)
    return names


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with all wheels in it; what they depend on is that of this one, the package itself is not."""
    dependencies = Path(np.__file__).parents[1]
    return install(
        built.glob("*.whl"), tmp_path_factory.mktemp("clean") / "env", dependencies
    )


def there(
    installed: Path, *words: str, folder: Path, stdin: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program of the environment, in a folder without the repository."""
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONPATH"
    }
    program, *rest = words
    return subprocess.run(
        [str(installed / "bin" / program), *rest],
        cwd=folder,
        env={**environment, "MPLBACKEND": "Agg"},
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_wheel_is_what_is_imported(installed: Path, tmp_path: Path) -> None:
    found = there(
        installed,
        "python",
        "-c",
        "import deniable; print(deniable.__file__)",
        folder=tmp_path,
    )
    assert found.stdout.startswith(str(installed)), found.stderr
    told = there(installed, "deniable", "--version", folder=tmp_path)
    assert told.stdout.splitlines()[0] == f"deniable {PROJECT['version']}"


def test_a_device_needs_nothing_but_the_core(light: Path, tmp_path: Path) -> None:
    """tests/support/light.py draws, releases, sends and verifies there, and asks for all that needs more."""
    program = (ROOT / "tests" / "support" / "light.py").read_text(encoding="utf-8")
    found = there(light, "python", "-", folder=tmp_path, stdin=program)
    assert found.returncode == 0, found.stderr
    names = set(found.stdout.split())
    assert {
        "respond",
        "upgrade",
        "Ledger",
        "Client",
        "Survey",
        "certify",
        "ladder",
        "k_ary",
    } <= names
    assert len(names) > 100
    assert not names & {"Estimate", "Tally", "plan", "Panel", "regress"}


def test_the_core_is_small(built: Path) -> None:
    (wheel,) = built.glob("deniable_core-*.whl")
    with zipfile.ZipFile(wheel) as packed:
        assert sum(each.file_size for each in packed.infolist()) < 6_000_000
        (path,) = [name for name in packed.namelist() if name.endswith("METADATA")]
        needed = re.findall(
            r"^Requires-Dist: (.*)$", packed.read(path).decode(), re.MULTILINE
        )
    assert needed
    assert [each for each in needed if "extra ==" not in each] == []


def test_deniable_is_the_core_of_the_same_version_with_what_analysts_need(
    built: Path,
) -> None:
    (wheel,) = built.glob("deniable-*.whl")
    with zipfile.ZipFile(wheel) as packed:
        assert all(".dist-info/" in name for name in packed.namelist())
        (path,) = [name for name in packed.namelist() if name.endswith("METADATA")]
        text = packed.read(path).decode()
    version = PROJECT["version"]
    assert f"Requires-Dist: deniable-core[standard]=={version}\n" in text
    for extra in PROJECT["optional-dependencies"]:
        wanted = (
            f"Requires-Dist: deniable-core[{extra}]=={version}; extra == '{extra}'\n"
        )
        assert (wanted in text) == (extra != "standard")
    assert "# deniable" in text


STANDARD = """
import deniable as dn
from deniable.errors import MissingExtra

responses = dn.respond_all(dn.warner(1), ["yes"] * 300 + ["no"] * 700)
print(dn.estimate(dn.tally(responses)).summary())
needing = {
    "pandas": lambda: dn.tally(responses).to_frame(),
    "deniable[fast]": lambda: dn.respond_all(dn.warner(1), ["yes"], fast=True),
    "deniable[spark]": lambda: dn.engines.spark.respond_all(dn.warner(1), None, "answer", out="nowhere"),
    "deniable[collect]": lambda: __import__("deniable.collector.app"),
}
for named, call in needing.items():
    try:
        call()
    except MissingExtra as error:
        assert named in error.hint, error
    else:
        raise AssertionError(named)
"""


def test_deniable_estimates_without_an_extra_and_names_each_that_is_missing(
    standard: Path, tmp_path: Path
) -> None:
    found = there(standard, "python", "-", folder=tmp_path, stdin=STANDARD)
    assert found.returncode == 0, found.stderr
    assert "1,000" in found.stdout
    shell = there(standard, "deniable", "--version", folder=tmp_path)
    assert "extras: none" in shell.stdout, shell.stderr
    served = there(standard, "deniable", "serve", folder=tmp_path)
    assert served.returncode == 2
    assert "deniable[collect]" in served.stderr


def test_every_package_that_may_be_missing_has_its_command() -> None:
    extras = PROJECT["optional-dependencies"]
    named = {
        re.split(r"[^\w-]", each)[0].lower().replace("-", "_"): extra
        for extra in extras
        for each in extras[extra]
        # the last two are imported by Uvicorn alone
        if not each.startswith(("deniable", "uvloop", "httptools"))
    }
    # the names that are imported
    named["sklearn"], named["docx"] = map(named.pop, ("scikit_learn", "python_docx"))
    assert len(named) > 15
    assert {name: COMMANDS.get(name) for name in named} == {
        name: "pip install deniable"
        if extra == "standard"
        else f"pip install 'deniable[{extra}]'"
        for name, extra in named.items()
    }


def test_only_imports_of_ours_are_explained(light: Path, tmp_path: Path) -> None:
    program = (
        "import importlib.util, deniable\n"
        "assert importlib.util.find_spec('numpy') is None\n"
        "try:\n    import numpy\nexcept ModuleNotFoundError as error:\n    print(error)\n"
    )
    found = there(light, "python", "-", folder=tmp_path, stdin=program)
    assert found.stdout == "No module named 'numpy'\n", found.stderr


def test_readme_runs_without_the_repository(installed: Path, tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    code = "\n".join(
        re.findall(r"^```python\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    )
    assert "dn.estimate" in code
    found = there(installed, "python", "-", folder=tmp_path, stdin=code)
    assert found.returncode == 0, found.stderr
    assert "630 people" in found.stdout


def test_the_demo_runs_without_the_repository(
    installed: Path, tmp_path: Path
) -> None:
    found = there(
        installed, "deniable", "demo", "--once", "--people", "500", folder=tmp_path
    )
    assert found.returncode == 0, found.stderr
    assert (tmp_path / "deniable-demo" / "overtime.png").exists()


def test_a_table_is_made_again_without_the_repository(
    installed: Path, tmp_path: Path
) -> None:
    found = there(
        installed, "deniable-papers", "cards", "--table", "2", folder=tmp_path
    )
    assert found.returncode == 0, found.stderr
    assert "101,010" in found.stdout


def test_wheel_and_sdist_hold_what_belongs_there(built: Path) -> None:
    (wheel,) = built.glob("deniable_core-*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "deniable").rglob("*")
        if path.is_file()
    }
    wanted = {name for name in wanted if "__pycache__" not in name}
    assert wanted - inside == set()
    assert {name.split("/")[0] for name in inside} == {
        "deniable",
        f"deniable_core-{PROJECT['version']}.dist-info",
    }
    (sdist,) = built.glob("deniable_core-*.tar.gz")
    with tarfile.open(sdist) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    for each in (
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "CITATION.cff",
        "src/deniable/py.typed",
        "mkdocs.yml",
    ):
        assert each in names
    assert not [
        name for name in names if name.startswith((".venv", "site/", "demo/"))
    ]


def test_versions_agree() -> None:
    assert deniable.__version__ == PROJECT["version"]
    papers = tomllib.loads(
        (ROOT / "papers" / "pyproject.toml").read_text(encoding="utf-8")
    )["project"]
    assert papers["version"] == PROJECT["version"]
    assert papers["dependencies"] == [
        f"deniable-core[standard]=={PROJECT['version']}"
    ]
    assert f"\nversion: {PROJECT['version']}\n" in (ROOT / "CITATION.cff").read_text(
        encoding="utf-8"
    )
    assert f"deniable_core-{PROJECT['version']}-py3" in (
        ROOT / "README.md"
    ).read_text(encoding="utf-8")


def test_the_extra_all_is_all() -> None:
    extras = dict(PROJECT["optional-dependencies"])
    (everything,) = extras.pop("all")
    assert sorted(everything.partition("[")[2].rstrip("]").split(",")) == sorted(
        extras
    )


@pytest.mark.parametrize("name", ["container.txt", "dev.txt", "build.txt"])
def test_a_lock_has_hashes_and_no_addresses(name: str) -> None:
    text = (ROOT / "locks" / name).read_text(encoding="utf-8")
    assert "://" not in text
    entries = re.split(r"\n(?=\S)", text.strip())
    assert len(entries) >= 5
    assert [
        entry
        for entry in entries
        if "==" not in entry or "--hash=sha256:" not in entry
    ] == []


def test_the_locks_hold_every_dependency() -> None:
    extras = PROJECT["optional-dependencies"]
    for name, wanted in (
        (
            "container.txt",
            [*extras["standard"], *extras["collect"], *extras["postgres"]],
        ),
        ("dev.txt", [each for extra in extras for each in extras[extra]]),
    ):
        locked = set(
            re.findall(
                r"^([\w.-]+)==",
                (ROOT / "locks" / name).read_text(encoding="utf-8"),
                re.MULTILINE,
            )
        )
        missing = (
            {re.split(r"[\[>;=]", each)[0].lower() for each in wanted}
            - locked
            - {PROJECT["name"]}
        )
        assert missing == set(), f"run scripts/lock: {name} lacks {missing}"


def test_the_bill_of_materials_is_that_of_the_lock() -> None:
    lock = (ROOT / "locks" / "container.txt").read_bytes()
    written = json.loads(
        (ROOT / "locks" / "container.cdx.json").read_text(encoding="utf-8")
    )
    assert written == script("sbom.py").document(lock, "container.txt"), (
        "run scripts/lock"
    )
    assert (
        written["metadata"]["properties"][1]["value"]
        == hashlib.sha256(lock).hexdigest()
    )
    assert len(written["components"]) == len(
        re.findall(rb"^[\w.-]+(\[[^\]]*\])?==", lock, re.MULTILINE)
    )


def test_fragments_are_collected_privacy_first(tmp_path: Path) -> None:
    changelog = script("changelog")
    for name, text in (
        ("b.fixed.md", "Second.\nMore.\n"),
        ("a.privacy.md", "First.\n"),
        ("c.fixed.md", "Third.\n"),
    ):
        (tmp_path / name).write_text(text)
    new = changelog.section(changelog.fragments(tmp_path), "0.2.0", "2026-11-18")
    assert new == (
        "## 0.2.0 (2026-11-18)\n\n### Privacy\n\n- First.\n\n### Fixed\n\n- Second.\n  More.\n- Third.\n"
    )
    page = changelog.collected(
        "# Changes\n\nWords.\n\nNothing is released yet.\n", new
    )
    assert page.startswith("# Changes\n\nFragments of the next")
    again = changelog.collected(
        page, "## 0.3.0 (2027-01-01)\n\n### Added\n\n- New.\n"
    )
    assert (
        again.index("## 0.3.0") < again.index("## 0.2.0") < again.index("- First.")
    )
    (tmp_path / "wrong.kind.md").write_text("x")
    with pytest.raises(SystemExit, match="expected <slug>"):
        changelog.fragments(tmp_path)


def test_the_fragments_that_wait_can_be_collected() -> None:
    found = script("changelog").fragments(ROOT / "changelog.d")
    assert all(
        path.read_text(encoding="utf-8").strip()
        for paths in found.values()
        for path in paths
    )

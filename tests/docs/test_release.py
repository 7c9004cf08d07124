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
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import deniable

pytestmark = pytest.mark.xdist_group("release")  # which one process builds
ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def script(name: str) -> ModuleType:
    """A program of scripts/, with an ending or without."""
    loader = importlib.machinery.SourceFileLoader(name.replace(".", "_"), str(ROOT / "scripts" / name))
    found = importlib.util.spec_from_loader(loader.name, loader)
    assert found is not None
    module = importlib.util.module_from_spec(found)
    loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the wheels and the sdist of everything that is released."""
    folder = tmp_path_factory.mktemp("dist")
    for project in (ROOT, ROOT / "papers"):
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-d", str(folder)],
            cwd=project,
            check=True,
            capture_output=True,
        )
    return folder


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel in it; what it depends on is that of this one, the package itself is not."""
    folder = tmp_path_factory.mktemp("clean") / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    wheels = [str(wheel) for wheel in built.glob("*.whl")]
    python = folder / "bin" / "python"
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "--python",
            str(python),
            "install",
            "--quiet",
            "--no-deps",
            "--no-index",
            *wheels,
        ],
        check=True,
        env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    (packages,) = folder.glob("lib/python*/site-packages")
    dependencies = Path(np.__file__).parents[1]
    (packages / "dependencies.pth").write_text(f"{dependencies}\n")  # after the wheels, and no deeper
    return folder


def there(installed: Path, *words: str, folder: Path, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program of the environment, in a folder without the repository."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
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
    found = there(installed, "python", "-c", "import deniable; print(deniable.__file__)", folder=tmp_path)
    assert found.stdout.startswith(str(installed)), found.stderr
    told = there(installed, "deniable", "--version", folder=tmp_path)
    assert told.stdout.splitlines()[0] == f"deniable {PROJECT['version']}"


def test_readme_runs_without_the_repository(installed: Path, tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", readme, re.MULTILINE | re.DOTALL))
    assert "dn.estimate" in code
    found = there(installed, "python", "-", folder=tmp_path, stdin=code)
    assert found.returncode == 0, found.stderr
    assert "630 people" in found.stdout


def test_the_demo_runs_without_the_repository(installed: Path, tmp_path: Path) -> None:
    found = there(installed, "deniable", "demo", "--once", "--people", "500", folder=tmp_path)
    assert found.returncode == 0, found.stderr
    assert (tmp_path / "deniable-demo" / "overtime.png").exists()


def test_a_table_is_made_again_without_the_repository(installed: Path, tmp_path: Path) -> None:
    found = there(installed, "deniable-papers", "cards", "--table", "2", folder=tmp_path)
    assert found.returncode == 0, found.stderr
    assert "101,010" in found.stdout


def test_wheel_and_sdist_hold_what_belongs_there(built: Path) -> None:
    (wheel,) = built.glob("deniable-*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src" / "deniable").rglob("*") if path.is_file()
    }
    wanted = {name for name in wanted if "__pycache__" not in name}
    assert wanted - inside == set()
    assert {name.split("/")[0] for name in inside} == {"deniable", f"deniable-{PROJECT['version']}.dist-info"}
    (sdist,) = built.glob("deniable-*.tar.gz")
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
    assert not [name for name in names if name.startswith((".venv", "site/", "demo/"))]


def test_versions_agree() -> None:
    assert deniable.__version__ == PROJECT["version"]
    papers = tomllib.loads((ROOT / "papers" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert papers["version"] == PROJECT["version"]
    assert papers["dependencies"] == [f"deniable=={PROJECT['version']}"]
    assert f"\nversion: {PROJECT['version']}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"deniable-{PROJECT['version']}-py3" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_extra_all_is_all() -> None:
    extras = dict(PROJECT["optional-dependencies"])
    (everything,) = extras.pop("all")
    assert sorted(everything.partition("[")[2].rstrip("]").split(",")) == sorted(extras)


@pytest.mark.parametrize("name", ["container.txt", "dev.txt", "build.txt"])
def test_a_lock_has_hashes_and_no_addresses(name: str) -> None:
    text = (ROOT / "locks" / name).read_text(encoding="utf-8")
    assert "://" not in text
    entries = re.split(r"\n(?=\S)", text.strip())
    assert len(entries) >= 5
    assert [entry for entry in entries if "==" not in entry or "--hash=sha256:" not in entry] == []


def test_the_locks_hold_every_dependency() -> None:
    extras = PROJECT["optional-dependencies"]
    for name, wanted in (
        ("container.txt", [*PROJECT["dependencies"], *extras["collect"], *extras["postgres"]]),
        (
            "dev.txt",
            [*PROJECT["dependencies"], *(each for extra in extras if extra != "all" for each in extras[extra])],
        ),
    ):
        locked = set(re.findall(r"^([\w.-]+)==", (ROOT / "locks" / name).read_text(encoding="utf-8"), re.MULTILINE))
        missing = {re.split(r"[\[>;=]", each)[0].lower() for each in wanted} - locked
        assert missing == set(), f"run scripts/lock: {name} lacks {missing}"


def test_the_bill_of_materials_is_that_of_the_lock() -> None:
    lock = (ROOT / "locks" / "container.txt").read_bytes()
    written = json.loads((ROOT / "locks" / "container.cdx.json").read_text(encoding="utf-8"))
    assert written == script("sbom.py").document(lock, "container.txt"), "run scripts/lock"
    assert written["metadata"]["properties"][1]["value"] == hashlib.sha256(lock).hexdigest()
    assert len(written["components"]) == len(re.findall(rb"^[\w.-]+(\[[^\]]*\])?==", lock, re.MULTILINE))


def test_fragments_are_collected_privacy_first(tmp_path: Path) -> None:
    changelog = script("changelog")
    for name, text in (("b.fixed.md", "Second.\nMore.\n"), ("a.privacy.md", "First.\n"), ("c.fixed.md", "Third.\n")):
        (tmp_path / name).write_text(text)
    new = changelog.section(changelog.fragments(tmp_path), "0.2.0", "2026-11-18")
    assert new == ("## 0.2.0 (2026-11-18)\n\n### Privacy\n\n- First.\n\n### Fixed\n\n- Second.\n  More.\n- Third.\n")
    page = changelog.collected("# Changes\n\nWords.\n\nNothing is released yet.\n", new)
    assert page.startswith("# Changes\n\nFragments of the next")
    again = changelog.collected(page, "## 0.3.0 (2027-01-01)\n\n### Added\n\n- New.\n")
    assert again.index("## 0.3.0") < again.index("## 0.2.0") < again.index("- First.")
    (tmp_path / "wrong.kind.md").write_text("x")
    with pytest.raises(SystemExit, match="expected <slug>"):
        changelog.fragments(tmp_path)


def test_the_fragments_that_wait_can_be_collected() -> None:
    found = script("changelog").fragments(ROOT / "changelog.d")
    assert all(path.read_text(encoding="utf-8").strip() for paths in found.values() for path in paths)

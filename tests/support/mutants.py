"""Planted faults, one at a time: `python -m tests.support.mutants`, or `scripts/mutants`, or `make mutants`.

Each file of `mutants/` holds the faults of one room. A fault is a text that occurs exactly once in a file, and another
one in its place; it names the promise that breaks, and the tests that must notice. Whatever is asked for is first run
in an untouched copy of this folder, where all tests must pass, and then in a copy with the fault.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path
from queue import Queue

ROOT = Path(__file__).parents[2]
SET = ROOT / "mutants"
PARTS = (
    "src",
    "papers",
    "tests",
    "docs",
    "examples",
    "benchmarks",
    "mutants",
    "pyproject.toml",
    "README.md",
)
PATIENCE = 300.0
"""Seconds after which tests that still run are stopped.

A fault is noticed by that where the same tests end without it in a third of the time; else the machine is too busy.
"""

FOUND, ENDLESS = NOTICED = "found", "no end"
SURVIVED, SKIPPED, UNKNOWN = "survived", "left out", "too slow to know"
STALE, EQUIVALENT = "does not apply", "breaks nothing"


@dataclass(frozen=True)
class Fault:
    """One planted fault.

    Attributes:
        room: the name of the file that it stands in.
        slug: its own name there.
        file: where it is planted, from the root of the repository.
        find: what stands there, exactly once.
        replace: what is written instead.
        promise: what breaks.
        tests: files or ids of tests, of which one must fail.
        equivalent: why nothing breaks, where nothing does; then no test is named.
        fresh: the number of the fresh set that it belongs to: those were all written down before anybody looked which
            tests there are, and show what the tests find by themselves. 0 for a fault that came with its test.
    """

    room: str
    slug: str
    file: str
    find: str
    replace: str
    promise: str
    tests: tuple[str, ...] = ()
    equivalent: str = ""
    fresh: int = 0

    @property
    def name(self) -> str:
        return f"{self.room}/{self.slug}"

    def planted(self, text: str) -> str | None:
        """Return a file's text with the fault; None where it does not apply exactly once, or changes nothing.

        Where the text does not occur literally, tokens are compared: a fault applies however lines are broken.
        """
        if self.find == self.replace:
            return None
        if text.count(self.find) == 1:
            return text.replace(self.find, self.replace)
        tokens = re.findall(r"\w+|[^\w\s]", self.find)
        # A formatter that breaks a call into lines adds a comma before the closing bracket.
        closing = {token: rf",?\s*{re.escape(token)}" for token in ")]}"}
        pattern = r"\s*".join(
            closing.get(token, re.escape(token)) for token in tokens
        )
        start = r"\b" if tokens[0][0].isalnum() else ""
        places = list(re.finditer(start + pattern, text))
        if len(places) != 1:
            return None
        return (
            text[: places[0].start()]
            + self.replace.strip()
            + text[places[0].end() :]
        )


def read(folder: Path = SET) -> list[Fault]:
    """Return all faults of a folder."""
    found: list[Fault] = []
    for path in sorted(folder.glob("*.toml")):
        for entry in tomllib.loads(path.read_text())["fault"]:
            found.append(
                Fault(path.stem, **{**entry, "tests": tuple(entry.get("tests", ()))})
            )
    return found


class Copy:
    """A copy of the repository in which faults are planted, one after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for part in PARTS:
            copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
            copy(ROOT / part, folder / part)  # type: ignore[operator]  # both take two paths

    def watch(self, fault: Fault) -> str:
        """Plant a fault, run its tests, take it away; return what came of it."""
        path = self.folder / fault.file
        sound = path.read_text()
        planted = fault.planted(sound)
        if planted is None:
            return STALE
        try:
            self._write(path, planted)
            outcome, _ = self.run(fault.tests)
        finally:
            self._write(path, sound)
        if outcome == ENDLESS and self.run(fault.tests, PATIENCE / 3)[0] == ENDLESS:
            return UNKNOWN
        return outcome

    def run(
        self, tests: Sequence[str], patience: float | None = PATIENCE
    ) -> tuple[str, str]:
        """Run tests against this copy; return what came of it, and what was printed; without patience, wait."""
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
            *tests,
        ]
        # Plugins that happen to be installed take longer to load than most of these tests to run.
        environment = {
            **os.environ, "PYTHONPATH": str(self.folder / "src"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }  # fmt: skip
        try:
            done = subprocess.run(
                command,
                cwd=self.folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=patience,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return ENDLESS, f"no end after {patience} s"
        if done.returncode in {1, 2}:  # a test failed, or could not even be read
            return FOUND, done.stdout + done.stderr
        if done.returncode:
            return STALE, done.stdout + done.stderr
        return SURVIVED if re.search(
            r"\d+ passed", done.stdout
        ) else SKIPPED, done.stdout

    @staticmethod
    def _write(path: Path, text: str) -> None:
        path.write_text(text)
        # compiled code is known by whole seconds and sizes, and both may stay
        if path.suffix == ".py":
            Path(cache_from_source(str(path))).unlink(missing_ok=True)


def watch_all(
    faults: Sequence[Fault], jobs: int, *, trusted: bool = False
) -> Iterator[tuple[Fault, str, float]]:
    """Yield each fault with what came of it and how long it took, in their order.

    Raises:
        SystemExit: a test fails without any fault.
    """
    with ExitStack() as stack:
        copies: Queue[Copy] = Queue()
        for _ in range(jobs):
            copies.put(
                Copy(Path(stack.enter_context(tempfile.TemporaryDirectory())))
            )
        tests = (
            []
            if trusted
            else sorted({test for fault in faults for test in fault.tests})
        )
        sound, told = copies.queue[0].run(tests, None) if tests else (SURVIVED, "")
        if sound not in {SURVIVED, SKIPPED}:
            raise SystemExit(
                f"{told[-4000:]}\nWithout any fault a test fails; expected all to pass."
            )

        def one(fault: Fault) -> tuple[Fault, str, float]:
            if fault.equivalent:
                return fault, EQUIVALENT, 0.0
            copy, began = copies.get(), time.monotonic()
            try:
                return fault, copy.watch(fault), time.monotonic() - began
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(jobs) as pool:
            yield from pool.map(one, faults)


def chosen(faults: Sequence[Fault], wanted: Sequence[str]) -> list[Fault]:
    """Return the faults of the rooms or fresh sets, or with the slugs, that are wanted; all where nothing is said."""
    own = (
        {each.room, each.slug, each.name, f"fresh-{each.fresh}"} for each in faults
    )
    return [
        each
        for each, names in zip(faults, own, strict=True)
        if not wanted or names & set(wanted)
    ]


def score(outcomes: Sequence[tuple[Fault, str]]) -> str:
    """Return how many were found, of each room, of each fresh set and in all."""
    parts: dict[str, list[str]] = {}
    for fault, outcome in outcomes:
        parts.setdefault(fault.room, []).append(outcome)
    for fault, outcome in sorted(outcomes, key=lambda each: each[0].fresh):
        if fault.fresh:
            parts.setdefault(f"fresh set {fault.fresh}", []).append(outcome)
    parts["in all"] = [outcome for _, outcome in outcomes]
    return "\n".join(
        f"{name:12} {_found(Counter(part))}" for name, part in parts.items()
    )


def _found(counts: Counter[str]) -> str:
    """Return how many of some faults were found, and what came of the others."""
    counted = counts.total() - counts[EQUIVALENT]
    others = "".join(
        f", {n} {what}"
        for what, n in sorted(counts.items())
        if what not in {FOUND, SURVIVED}
    )
    noticed = sum(counts[outcome] for outcome in NOTICED)
    share = f" = {noticed / counted:.1%}" if counted else ""
    return f"{noticed} of {counted} found{share}{others}"


def main() -> None:
    """Plant what is asked for, print what came of it, and end with 1 where a fault was not found."""
    parser = argparse.ArgumentParser(
        prog="scripts/mutants",
        description="Plant faults, run their tests, print the score.",
    )
    parser.add_argument(
        "which",
        nargs="*",
        help="rooms, slugs or fresh sets such as fresh-2; all where nothing is said",
    )
    parser.add_argument(
        "--jobs", type=int, default=2, help="copies to work in side by side"
    )
    parser.add_argument(
        "--set", type=Path, default=SET, help="another folder of faults"
    )
    parser.add_argument(
        "--trusted",
        action="store_true",
        help="do not run the tests without any fault first",
    )
    asked = parser.parse_args()
    faults = chosen(read(asked.set), asked.which)
    outcomes = []
    for fault, outcome, seconds in watch_all(
        faults, asked.jobs, trusted=asked.trusted
    ):
        outcomes.append((fault, outcome))
        print(
            f"{outcome:14} {seconds:5.1f} s  {fault.name}: {fault.equivalent or fault.promise}",
            flush=True,
        )
    missed = [
        f"{fault.name}: {outcome}"
        for fault, outcome in outcomes
        if outcome not in {*NOTICED, EQUIVALENT}
    ]
    if missed:
        print("\nnot found:", *missed, sep="\n  ")
    print(f"\n{score(outcomes)}")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()

"""Every Python snippet that README and docs show runs."""

from __future__ import annotations

import doctest
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from deniable.channel import KINDS
from deniable.designs import FAMILIES

ROOT = Path(__file__).parents[2]
# pages whose shell commands run, too: test_tutorials.py
WHOLE = ROOT / "docs" / "tutorials", ROOT / "docs" / "start.md"
PAGES = sorted(
    page
    for page in [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / "docs").rglob("*.md"),
    ]
    if page not in WHOLE and page.parent not in WHOLE
)
FENCE = re.compile(
    r"^(?P<indent>[ ]*)```python[^\n]*\n(?P<code>.*?)^(?P=indent)```[ ]*$",
    re.MULTILINE | re.DOTALL,
)


def snippets(page: Path) -> list[tuple[int, str]]:
    """Return the Python snippets of a page with the line that each starts in."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    return [
        (text[: found.start()].count("\n") + 2, textwrap.dedent(found["code"]))
        for found in FENCE.finditer(text)
    ]


def with_snippets() -> list[object]:
    """Return the pages; those on Spark belong to the group of its tests, which one process runs."""
    on_spark = pytest.mark.xdist_group("spark")
    return [
        pytest.param(page, marks=on_spark if needs_spark(page) else ())
        for page in PAGES
        if snippets(page)
    ]


def needs_spark(page: Path) -> bool:
    return any(
        "import pyspark" in code or "from pyspark" in code
        for _, code in snippets(page)
    )


@pytest.fixture(autouse=True)
def _registries() -> Iterator[None]:
    """Forget what a page has entered."""
    before = [(registry, dict(registry)) for registry in (FAMILIES, KINDS)]
    yield
    for registry, content in before:
        registry.clear()
        registry.update(content)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "page", with_snippets(), ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_snippets_run(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    """The snippets of a page share their names, as a reader's interpreter would; files go to an empty folder."""
    if needs_spark(page):
        request.getfixturevalue("spark")  # which the page gets as its own
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names: dict[str, object] = {"__name__": "__snippet__"}
    for line, code in snippets(page):
        if ">>>" in code:
            run_examples(code, names, page, line)
        else:
            exec(
                compile(
                    "\n" * (line - 1) + code, str(page), "exec", dont_inherit=True
                ),
                names,
            )


def run_examples(code: str, names: dict[str, object], page: Path, line: int) -> None:
    examples = doctest.DocTestParser().get_doctest(
        code, names, page.name, str(page), line - 1
    )
    told: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(
        examples, out=told.append, clear_globs=False
    )
    assert result.attempted > 0
    assert result.failed == 0, "".join(told)
    names.update(examples.globs)


def test_the_readme_shows_the_flow() -> None:
    shown = "\n".join(code for _, code in snippets(ROOT / "README.md"))
    assert "import deniable as dn" in shown
    for step in ("dn.respond(", "dn.respond_all(", "dn.tally(", "dn.estimate("):
        assert step in shown


def test_fences_are_found_and_dedented() -> None:
    text = "a\n```python\nx = 1\n```\n\n  ```python title='t'\n  if x:\n      y = 2\n  ```\n```\nnot this\n```\n"
    assert [textwrap.dedent(found["code"]) for found in FENCE.finditer(text)] == [
        "x = 1\n",
        "if x:\n    y = 2\n",
    ]


def test_a_wrong_example_is_found() -> None:
    with pytest.raises(AssertionError, match="Expected"):
        run_examples(">>> 1 + 1\n3\n", {}, Path("page.md"), 1)

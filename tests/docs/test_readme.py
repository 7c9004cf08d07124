"""README is true: what it claims for us against others is called, papers are named as the bibliography has them."""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Callable
from pathlib import Path

import pytest

import deniable as dn
from tests.support.commands import done

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
PAPERS = ("MW21", "Cha19", "HLM17", "SYZ23", "Pan24")


def table(title: str) -> list[list[str]]:
    """The rows of the table below a heading, without the line below its head."""
    section = TEXT.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]
    rows = [
        line.strip("| ").split(" | ")
        for line in section.splitlines()
        if line.startswith("| ")
    ]
    return [
        [cell.strip() for cell in row]
        for row in rows
        if not set("".join(row)) <= {"-", " "}
    ]


def survey_designs() -> bool:
    built = [
        dn.warner(1),
        dn.forced_response("2/3", "1/6", "1/6"),
        dn.crosswise("1/4"),
        dn.kuk("3/4", "1/4", draws=1),
    ]
    return all(design.epsilon > 0 for design in built)


def encodings() -> bool:
    built = [
        dn.k_ary(8, 1),
        dn.subset(8, 1),
        dn.unary(8, 1),
        dn.local_hashing(8, 1),
        dn.hadamard(8, 1),
    ]
    return all(design.epsilon <= 1 for design in built)


def estimated() -> dn.Estimate:
    made = dn.estimate(dn.Tally(dn.warner(1), [60, 40]))
    assert isinstance(made, dn.Estimate)
    return made


def unbiased() -> bool:
    """Exactly: over all worlds of two respondents the mean of the estimate is the truth."""
    design = dn.warner(p="3/4")
    sent = {
        (a, b): design.channel.probability(a, given=0)
        * design.channel.probability(b, given=1)
        for a in (0, 1)
        for b in (0, 1)
    }
    mean = sum(
        float(chance)
        * dn.estimate(dn.Tally(design, [[a, b].count(0), [a, b].count(1)])).value[0]
        for (a, b), chance in sent.items()
    )
    return abs(mean - 0.5) < 1e-12


def intervals() -> bool:
    return all(low < high for low, high in estimated().conf_int().values())


def regression() -> bool:
    """With one predictor of two values the odds ratio is that of the two estimates of shares."""
    rows = {
        "said": ["yes"] * 50 + ["no"] * 50 + ["yes"] * 30 + ["no"] * 70,
        "old": [1] * 100 + [0] * 100,
    }
    design = dn.warner(p="4/5")
    old, young = (
        dn.estimate(dn.Tally(design, [100 - yes, yes])).params["yes"]
        for yes in (50, 30)
    )
    fitted = dn.regress("said ~ old", rows, design=design).params["old"]
    return abs(fitted - math.log(old / (1 - old) / (young / (1 - young)))) < 1e-6


def stages() -> bool:
    ladder = dn.ladder(dn.warner(e) for e in (1, 2))
    return ladder.epsilon <= 2


def budgets(folder: Path) -> bool:
    with_budget = dn.Ledger.create(folder / "mine.ledger", budget=1)
    with_budget.answer("q", "yes", about=dn.warner(1))
    with_budget.release("q", dn.warner(1))
    with pytest.raises(dn.errors.OverBudget):
        with_budget.release("q", dn.warner(2))
    with_budget.close()
    return (folder / "mine.ledger").exists()


def audits() -> bool:
    found = dn.audit(
        lambda answer: answer,
        ["no", "yes"],
        epsilon=1,
        draws=2_000,
        checks=["worst event"],
    )
    return found.verdict == "violated"


def secure() -> bool:
    """A response asks the operating system for its random bytes, and is the one that they give."""
    design, asked = dn.warner(1), []

    def told(count: int) -> bytes:
        asked.append(count)
        return bytes(count)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secrets, "token_bytes", told)
        sent = {dn.respond(design, "yes").symbol for _ in range(20)}
    return bool(asked) and len(sent) == 1


def cluster() -> bool:
    return all(
        callable(getattr(dn.engines.spark, name))
        for name in ("respond_all", "raise_all", "tally")
    )


def page() -> bool:
    script = ROOT / "src" / "deniable" / "collector" / "static" / "respond.js"
    return "draw" in script.read_text(encoding="utf-8")


CLAIMS: dict[str, Callable[..., bool]] = {
    "survey designs: Warner, forced response, crosswise, Kuk": survey_designs,
    "k-ary, subsets, unary, hashing, Hadamard": encodings,
    "any design as a matrix": lambda: (
        dn.matrix([["1/2", "1/4"], ["1/2", "3/4"]]).epsilon > 0
    ),
    "chooses the best design for a goal": lambda: (
        len(dn.optimal(16, 1).candidates) > 1
    ),
    "unbiased estimates": unbiased,
    "confidence intervals": intervals,
    "sample size and power": lambda: (
        dn.plan.how_many(dn.warner(1), share=0.1, power=0.8).value == 630
    ),
    "regression on responses": regression,
    "release in stages without paying twice": stages,
    "budget of each respondent, kept on disk": budgets,
    "secure randomness by default": secure,
    "draws without floating point": lambda: isinstance(
        dn.warner(1).channel.probability(0, given=0).numerator, int
    ),
    "audits any mechanism": audits,
    "survey page that randomizes before it sends": page,
    "runs on a cluster": cluster,
}


@pytest.mark.parametrize(
    "row", table("Against what there is")[1:], ids=lambda row: row[0]
)
def test_what_we_claim_against_others_is_so(row: list[str], tmp_path: Path) -> None:
    claim = CLAIMS[row[0]]
    found = claim(tmp_path) if claim is budgets else claim()
    assert row[1] == ("yes" if found else "–")


def test_every_claim_is_in_the_table_and_every_row_is_complete() -> None:
    head, *rows = table("Against what there is")
    assert [row[0] for row in rows] == list(CLAIMS)
    # the first cell of the head is empty
    assert {len(row) for row in [head, *rows]} <= {len(rows[0]), len(rows[0]) - 1}
    assert {cell for row in rows for cell in row[1:]} == {"yes", "part", "–"}


def test_the_papers_are_named_as_the_bibliography_has_them() -> None:
    entries = (ROOT / "docs" / "theory" / "references.bib").read_text(
        encoding="utf-8"
    )
    for page in ("README.md", "docs/papers.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        for key in PAPERS:
            body = entries.partition(f"{{{key},")[2].partition("\n}")[0]
            title, author, year = (
                re.search(rf"^\s*{field}\s*=\s*\{{(.*)\}},$", body, re.MULTILINE)
                for field in ("title", "author", "year")
            )
            assert title is not None
            assert author is not None
            assert year is not None
            assert title[1].replace("{", "").replace("}", "") in text
            assert year[1] in text
            for name in author[1].split(" and "):
                last, _, first = name.partition(", ")
                assert f"{first} {last}" in text, name


def test_each_kind_of_user_has_a_link() -> None:
    linked = set(re.findall(r"\]\(docs/tutorials/([\w-]+)\.md\)", TEXT))
    assert linked == {
        page.stem for page in (ROOT / "docs" / "tutorials").glob("*.md")
    } - {"index"}


def test_one_screen_sells_it() -> None:
    """The sentence, the picture and the code come first; the code has about ten lines."""
    start = TEXT.split("## Install")[0]
    assert len(start.splitlines()) < 30
    assert (
        start.index("**Ask sensitive questions")
        < start.index("![")
        < start.index("```python")
    )


def test_the_survey_that_is_shown_is_one() -> None:
    done("survey", "check", ROOT / "examples" / "survey.toml")
    assert "examples/survey.toml" in TEXT
    assert len((ROOT / "docs" / "pictures" / "pages.png").read_bytes()) < 100_000

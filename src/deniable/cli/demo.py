"""`deniable demo`: a whole survey with simulated people, ending with the estimate against the truth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.common import Force, Json, check_out, console, guarded, messages, print_json, write
from deniable.cli.estimate import save_chart, told

if TYPE_CHECKING:
    from deniable.design import Design
    from deniable.estimate import Estimate, Summary
    from deniable.tally import Tally

QUESTION = "How often did you take money or goods from your workplace last year?"
EPSILON = 1.5
# Made up: a population in which most have nothing to hide, and few have much.
TRUTH = {"never": 0.56, "once": 0.19, "2–5 times": 0.13, "6–20 times": 0.08, "more often": 0.04}
PEOPLE = 10_000
FILES = ("design.json", "tally.json", "estimate.json", "estimate.png", "estimate.svg")
_STEP = 500  # people who respond between two looks at the progress bar


@dataclass(frozen=True)
class Survey:
    """All that the demo shows."""

    design: Design
    tally: Tally
    estimate: Estimate
    summary: Summary


@guarded
def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where design, tally, estimate and pictures go.")
    ] = Path("deniable-demo"),
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Ask 10,000 simulated people a sensitive question, and compare the estimate with the truth."""
    for name in FILES:
        check_out(out / name, force=force)
    if not as_json:
        _introduce()
    survey = run()
    out.mkdir(parents=True, exist_ok=True)
    _write(survey, out, force=force)
    if as_json:
        files = [str(out / name) for name in FILES]
        print_json(
            {
                **told(survey.summary),
                "question": QUESTION,
                "truth": TRUTH,
                "files": files,
            }
        )
    else:
        _show(survey)
        out_files = ", ".join(FILES)
        console().print(f"\nIn {out}: {out_files}", style="dim", markup=False)
        console().print(f"Open {out / 'estimate.png'} to see it as a picture.", style="bold", markup=False)


def run() -> Survey:
    """Design, respond, tally, estimate. The people are simulated; the randomness that protects them is real."""
    from deniable.design import k_ary
    from deniable.estimate import estimate

    design = k_ary(list(TRUTH), EPSILON)
    tally = _ask(design)
    made = estimate(tally)
    return Survey(design, tally, made, made.summary())


def _ask(design: Design) -> Tally:
    import numpy as np
    from rich.progress import track

    from deniable.engines.local import respond
    from deniable.tally import Tally
    from deniable.tally.count import count_codes

    # Everybody's true answer. In a real survey this array exists nowhere: each part of it is in somebody's head.
    answers = np.repeat(np.arange(len(TRUTH), dtype=np.uint8), [round(share * PEOPLE) for share in TRUTH.values()])
    err = messages()
    total = Tally.empty(design)
    steps = track(
        range(0, len(answers), _STEP), "people respond", console=err, transient=True, disable=not err.is_terminal
    )
    for start in steps:
        total = total + count_codes(design, respond(design, answers[start : start + _STEP]))
    return total


def _write(survey: Survey, folder: Path, *, force: bool) -> None:
    write(folder / "design.json", survey.design.to_json(indent=2), force=force)
    write(folder / "tally.json", survey.tally.to_json(indent=2), force=force)
    write(folder / "estimate.json", survey.estimate.to_json(indent=2), force=force)
    for name in ("estimate.png", "estimate.svg"):
        save_chart(survey.estimate, folder / name, level=0.95, truth=TRUTH, title=QUESTION)


def _introduce() -> None:
    from rich.panel import Panel

    text = (
        f"[bold]{QUESTION}[/]\n\n"
        f"{PEOPLE:,} simulated people are asked, and nobody hands over an answer. A random device at each one's own "
        "side sometimes keeps the answer and otherwise replaces it, so that no response proves anything about anybody. "
        "Its odds are known: the shares among all of them can still be estimated."
    )
    console().print(Panel(text, title="deniable", title_align="left", border_style="cyan", padding=(1, 2), width=80))


def _show(survey: Survey) -> None:
    from deniable.report import table, words

    out = console()
    print_all(out, "The device", [words.frequencies(survey.design)[0], *words.promise(survey.design)])
    sent = int(survey.tally.counts[survey.design.symbol_number("more often")])
    guilty = round(TRUTH["more often"] * PEOPLE)
    print_all(
        out,
        "What arrives",
        [
            f"{sent:,} people send 'more often', and it is the answer of {guilty:,}: "
            "whoever sends it can credibly deny it."
        ],
    )
    out.print()
    out.print(table.summary_table(survey.summary, truth=TRUTH))
    for note in survey.summary.notes:
        out.print(note, style="dim", markup=False)
    out.print("Of such intervals 95 in 100 hold the truth; run it again and the dice fall differently.", style="dim")


def print_all(out: Any, title: str, sentences: list[str]) -> None:
    """Print sentences under a title."""
    out.print(f"\n[bold cyan]{title}[/]")
    for sentence in sentences:
        out.print(sentence, markup=False)

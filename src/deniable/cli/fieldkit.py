"""`deniable fieldkit`: all that it takes to ask on paper, with a spinner, cards, dice, coins or a harmless question."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from deniable.cli.common import console, guard_command, print_json, say
from deniable.cli.reading import read_any_design

if TYPE_CHECKING:
    from deniable.fieldkit import PhysicalDevice, TwoQuestions


@guard_command
def fieldkit(
    design: Path,
    *,
    out: Path,
    language: str = "en",
    question: str = "",
    harmless: str | None = None,
    device: list[str] | None = None,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """Write a kit for asking on paper: the nearest spinner, cards, dice and coins, and the pages around them.

    Args:
        out (FOLDER): where to write; a folder for each device.
        language (en|de|es|fr): the language of the pages.
        question: the question, for its card.
        harmless (NAME): for crosswise, triangular and simmons: one of `deniable survey harmless`, with the share of
            the design.
        device (KIND): kind of device: spinner, cards, dice or coins, as often as needed; all of them, unless you say.
    """
    from deniable.fieldkit import write_kit
    from deniable.fieldkit.physical import SIZES

    subject = read_any_design(design)
    devices = write_kit(
        subject, out, language=language, question=question, harmless=harmless, devices=device or tuple(SIZES),
        overwrite=force,
    )  # fmt: skip
    if as_json:
        print_json({"devices": [_facts(name) for name in devices]})
    else:
        _show(devices)
    _tell_written(devices, device, out)


def _tell_written(
    devices: tuple[PhysicalDevice | TwoQuestions, ...],
    device: list[str] | None,
    out: Path,
) -> None:
    from deniable.fieldkit import TwoQuestions
    from deniable.fieldkit.physical import SIZES

    card = any(isinstance(name, TwoQuestions) for name in devices)
    for kind in [
        name
        for name in (device or SIZES)
        if not card and name not in {physical.kind for physical in devices}
    ]:
        say(
            f"left out: no {kind} is fine enough to reveal no more than this design, and still something."
        )
    if card:
        say(
            f"wrote {out}: a card with both questions; nobody needs a device. Count the responses with its design.json."
        )
    else:
        say(
            f"wrote {out}. Count the responses with the design.json that lies beside the device people used; "
            "that of another device gives a wrong estimate."
        )


def _facts(device: PhysicalDevice | TwoQuestions) -> dict[str, object]:
    from deniable.survey.disclosure import epsilon_words

    return {
        "device": device.kind,
        "outcomes": device.outcomes,
        "epsilon": epsilon_words(device.design.epsilon),
        "asked": epsilon_words(device.asked.epsilon),
        "distance": str(
            device.distance
            if device.distance.denominator < 10**9
            else float(device.distance)
        ),
        "design": device.design.hash,
    }


def _show(made: tuple[PhysicalDevice | TwoQuestions, ...]) -> None:
    from rich.table import Table

    table = Table(
        "device",
        "outcomes",
        "ε",
        "ε asked for",
        "probabilities differ by at most",
        box=None,
    )
    for device in made:
        facts = _facts(device)
        far = (
            "nothing"
            if device.exact
            else f"{100 * float(device.distance):.2g} percentage points"
        )
        table.add_row(
            *(
                str(facts[name])
                for name in ("device", "outcomes", "epsilon", "asked")
            ),
            far,
        )
    console().print(table)

from __future__ import annotations

import deniable as dn
import deniable.responses
from deniable.chance import ScriptedSource, Source
from deniable.designs import k_ary, warner
from deniable.responses import respond


def test_a_response_names_its_design_and_carries_a_symbol(seeded: Source) -> None:
    design = k_ary(["red", "green", "blue"], epsilon=1)
    for color in design.categories:
        response = respond(design, color, source=seeded)
        assert response.design == design.hash
        assert response.symbol in design.symbols


def test_the_bytes_alone_decide() -> None:
    # four positions: the first is the other answer, three are the answer
    design = warner(p="3/4")
    quarter = 1 << 62
    for position, sent in ((0, "no"), (1, "yes"), (2, "yes"), (3, "yes")):
        for word in (position * quarter, (position + 1) * quarter - 1):
            assert (
                respond(
                    design, "yes", source=ScriptedSource(word.to_bytes(8, "little"))
                ).symbol
                == sent
            )


def test_the_default_source_sends_both_symbols() -> None:
    design = warner(p="1/3")
    # one symbol alone: below 10^-35
    sent = {respond(design, "yes").symbol for _ in range(200)}
    assert sent == {"no", "yes"}


def test_numbered_categories_are_answered_by_their_labels(seeded: Source) -> None:
    design = k_ary(1_000_000, epsilon=20)
    sent = [respond(design, "123456", source=seeded).symbol for _ in range(50)]
    assert sent.count("123456") > 40  # kept with probability 0.998


def test_the_step_can_be_called_by_its_folder(seeded: Source) -> None:
    design = warner(1)
    assert dn.respond(design, "yes", source=seeded).symbol in design.symbols
    assert dn.respond(design, "yes", source=seeded).symbol in design.symbols
    assert deniable.responses.respond is respond

"""The browser draws as Python does: the same bytes in, the same responses out, and no byte more."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

import deniable as dn
from deniable import documents
from deniable.chance import ScriptedSource, pick
from deniable.channel import Bits
from deniable.designs import Deck, Design
from deniable.designs.registry import FAMILIES
from deniable.types.deck.respond import respond as respond_with_card
from tests.support import browser, vectors
from tests.support.draws import assert_counts_follow
from tests.support.hands import HARD, Counted, around, everybody, planted, scalar
from tests.support.respondents import ARMS
from tests.support.seeded import Seeded

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

N = 1_000  # vectors for each design
SPARE = 16  # bytes that are not taken: a draw that takes more is found out
DRAWS = 24_000  # for each answer, with the browser's own source


def job(design: Design, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the browser is to draw, half of it with bytes on the edge of decisions, and what Python drew."""
    script = planted(design, N, Seeded(name))
    answers = everybody(design, N)
    responses, used = scalar(design, answers, Counted(script, Seeded("rest")))
    taken = Counted(script, Seeded("rest")).read(used + SPARE)
    asked = {
        "design": design.to_json(),
        "bytes": browser.packed(taken),
        "answers": [design.categories[x] for x in answers],
    }
    return asked, {
        "hashes": [design.hash],
        "symbols": [design.symbols[number] for number in responses],
        "used": used,
    }


def test_a_thousand_vectors_of_every_registered_design_and_of_hard_ones(
    scripts: Page,
) -> None:
    registered = {
        f"{family.name} {number}": design
        for family in FAMILIES.values()
        for number, design in enumerate(family.designs())
    }
    jobs = {name: job(design, name) for name, design in (registered | HARD).items()}
    found = browser.run(scripts, "draw", [asked for asked, _ in jobs.values()])
    expected = {name: drawn for name, (_, drawn) in jobs.items()}
    assert dict(zip(jobs, found, strict=True)) == expected
    assert all(len(each["symbols"]) == N for each in found)
    assert len(registered) >= len(FAMILIES) > 20


def test_the_golden_vectors(scripts: Page) -> None:
    golden = json.loads(vectors.FILE.read_text(encoding="utf-8"))["vectors"]
    designs = [Design.from_json(json.dumps(each["design"])) for each in golden]
    jobs = [
        {
            "design": json.dumps(each["design"]),
            "bytes": browser.packed(bytes.fromhex(each["bytes"])),
            "answers": [design.categories[x] for x in each["answers"]],
        }
        for each, design in zip(golden, designs, strict=True)
    ]
    for each, design, found in zip(
        golden, designs, browser.run(scripts, "draw", jobs), strict=True
    ):
        assert found["symbols"] == [
            design.symbols[number] for number in each["responses"]
        ], each["name"]
        assert found["used"] == each["used"], each["name"]


@pytest.mark.parametrize("part", ["numbers", "typed"])
def test_the_golden_vectors_of_other_types(part: str, scripts: Page) -> None:
    golden = json.loads(vectors.FILE.read_text(encoding="utf-8"))[part]
    jobs = [
        {
            "design": json.dumps(each["design"]),
            "bytes": browser.packed(bytes.fromhex(each["bytes"])),
            "answers": each["answers"],
        }
        for each in golden
    ]
    for each, found in zip(golden, browser.run(scripts, "draw", jobs), strict=True):
        assert (found["symbols"], found["used"]) == (
            each["symbols"],
            each["used"],
        ), each["name"]


def test_a_text_is_written_in_one_way(scripts: Page) -> None:
    """An accent is one letter or two; both give the response of Python to the same text."""
    design = dn.string_design(dn.Bloom(64, hashes=4, cohorts=4), epsilon=20)
    script = bytes(range(256)) * 8
    jobs = [
        {
            "design": design.to_json(),
            "bytes": browser.packed(script),
            "answers": [answer],
        }
        for answer in ("Zo\u00eb", "Zoe\u0308", "Zoe")
    ]
    one, two, other = (
        found["symbols"] for found in browser.run(scripts, "draw", jobs)
    )
    sent = dn.respond(design, "Zoe\u0308", source=ScriptedSource(script))
    assert one == two == [vectors.written(sent)]
    assert other != one


HOURS = dn.number_design(0, 80, 1)


@pytest.mark.parametrize(
    "wrong",
    [
        "80.0000001",
        "-0.1",
        "81",
        "",
        " 5",
        "5,5",
        "1e1",
        "NaN",
        "0x10",
        "1/0",
        5,
        None,
        {},
    ],
)
def test_a_number_outside_its_range_is_refused_and_neither_cut_off_nor_repeated(
    scripts: Page, wrong: object
) -> None:
    found = browser.run(
        scripts, "call", [["readDesign", HOURS.to_json()], ["respond", None, wrong]]
    )
    assert (
        found.get("name") in ("InvalidAnswer", "TypeError")
        if wrong is None
        else found.get("name") == "InvalidAnswer"
    )
    assert "80" not in found["message"]


@pytest.mark.parametrize(
    "ends", [["0", "81"], ["80", "0"], ["0"], ["0", "x"], ["0", "80", "1"]]
)
def test_a_range_that_is_not_that_of_the_levels_is_refused(
    scripts: Page, ends: list[str]
) -> None:
    found = browser.run(
        scripts, "call", [["readDesign", resealed(HOURS, range=ends)]]
    )
    assert found.get("name") == "InvalidDesign", found
    with pytest.raises(dn.errors.DeniableError):
        Design.from_json(resealed(HOURS, range=ends))


def test_hands_of_questions(scripts: Page) -> None:
    for questions, each in ((2, 1), (5, 2), (20, 1), (20, 7), (200, 100)):
        script = Seeded(f"hands {questions} {each}").read(8 * 4 * 60)
        source = ScriptedSource(script)
        expected = [list(pick(questions, each, source)) for _ in range(60)]
        asked = {
            "questions": questions,
            "each": each,
            "times": 60,
            "bytes": browser.packed(script),
        }
        [found] = browser.run(scripts, "hands", [asked])
        assert found == {"drawn": expected, "used": source.used}
        assert len({tuple(hand) for hand in expected}) > 1


def test_arms_are_drawn_as_in_python(scripts: Page) -> None:
    script = Seeded("arms").read(8 * 90)
    source = ScriptedSource(script)
    expected = [
        [each.name for each in ARMS.draw_questions(source)] for _ in range(60)
    ]
    asked = {
        "survey": ARMS.to_json(),
        "definition": ARMS.hash[7:],
        "times": 60,
        "bytes": browser.packed(script),
    }
    assert browser.run(scripts, "arms", asked) == {
        "drawn": expected,
        "used": source.used,
    }
    assert {tuple(hand) for hand in expected} == {
        ("coffee", "cheated", "check"),
        ("coffee", "again"),
    }


def test_large_sets_and_an_answer_to_each_attribute(scripts: Page) -> None:
    large = [
        around(Bits(5, 4, 1, 4)),  # a bit that is certain
        dn.rappor(300, epsilon=2),
        dn.subset(200, t=150, epsilon=1),
        dn.mixture(100, {7: "1/2", 60: "1/2"}, epsilon=1),
    ]
    both = dn.product(
        {"smokes": dn.warner(p="3/4"), "age": dn.k_ary(["young", "old"], p="2/3")}
    )
    asked, drawn = zip(
        *(job(each, each.name) for each in (*large, both)), strict=True
    )
    asked[-1]["answers"] = [
        dict(zip(both.attributes, each.split(" · "), strict=True))
        for each in asked[-1]["answers"]
    ]
    assert browser.run(scripts, "draw", list(asked)) == list(drawn)


@pytest.mark.statistical
@pytest.mark.parametrize(
    "design",
    [
        dn.k_ary(["red", "green", "blue"], p="7/10"),
        dn.binary("9/10", "7/10"),
        dn.rappor(3, epsilon=1),
    ],
    ids=lambda design: design.name,
)
def test_draws_with_the_browsers_own_source_follow_the_channel(
    scripts: Page, design: Design
) -> None:
    """A false alarm once in 10^9; a cell that is off by 3/100 is found with 0.999, or the test refuses to run."""
    assert_counts_follow(
        design,
        browser.run(scripts, "count", {"design": design.to_json(), "n": DRAWS}),
    )


ZEROS = """async (sizes) => {
  const { SYSTEM } = await import("/draw/chance.js");
  return sizes.map((size) => {
    const bytes = SYSTEM.read(size);
    const pieces = Array.from({ length: size / 32 }, (_, at) => bytes.subarray(32 * at, 32 * at + 32).join());
    const zeros = bytes.reduce((count, byte) => count + (byte === 0), 0);
    return { size: bytes.length, zeros, different: new Set(pieces).size };
  });
}"""


@pytest.mark.statistical
def test_the_browsers_source_gives_as_many_random_bytes_as_are_asked_for(
    scripts: Page,
) -> None:
    """`getRandomValues` gives 64 KiB at a time. No 32 bytes come twice (2^-230), and zeros are one byte in 256.

    A false alarm once in 10^9: that is 6.1 standard deviations. 32 bytes that are left as they were are found.
    """
    sizes = [65_536, 65_568, 131_072, 196_640, 1 << 20]
    for size, found in zip(sizes, scripts.evaluate(ZEROS, sizes), strict=True):
        assert found["size"] == size
        assert found["different"] == size // 32
        assert (
            abs(found["zeros"] - size / 256) < 6.2 * (size * 255 / 256**2) ** 0.5 + 1
        )


@pytest.mark.parametrize("size", [3, 200])
def test_a_source_that_gives_too_little_is_refused(scripts: Page, size: int) -> None:
    """Zeros in the place of what is missing could be predicted; of many words the first would do without."""
    design = dn.unary(size, epsilon=1)
    script = Counted(b"", Seeded("short"))
    design.channel.draw(0, script)
    whole = Seeded("short").read(script.used)
    for length in (script.used - 1, script.used - 8, 1, 0):
        asked = {
            "design": design.to_json(),
            "bytes": browser.packed(whole[:length]),
            "answers": ["0"],
        }
        with pytest.raises(Exception, match="other than the"):
            browser.run(scripts, "draw", [asked])


@pytest.mark.statistical
def test_a_biased_source_in_the_browser_is_found(chromium: Browser) -> None:
    """The default source is getRandomValues; a bias planted there is seen: one in 8 words has its top bit set."""
    design = dn.k_ary(["red", "green", "blue"], p="7/10")
    with browser.scripts(chromium) as biased:
        biased.evaluate(
            """() => {
              const fair = crypto.getRandomValues.bind(crypto);
              crypto.getRandomValues = (bytes) => {
                fair(bytes);
                if (bytes[0] < 32) bytes[bytes.length - 1] |= 128;
                return bytes;
              };
            }"""
        )
        counts = browser.run(
            biased, "count", {"design": design.to_json(), "n": DRAWS}
        )
    with pytest.raises(AssertionError, match="do not follow its channel"):
        assert_counts_follow(design, counts)


def test_hashes_are_those_of_python(scripts: Page) -> None:
    letters = [
        "",
        "é",
        "e\u0301",
        "a\u2028\u2029a",
        '"\\/',
        "\b\f\n\r\t\x00\x1f\x7f.",
        "🙂",
        "\ufffd",
        "\ue000",
        "مرحبا",
        "<b>&",
    ]
    bodies = [
        {
            "schema": "x",
            "list": letters,
            "deep": {"b": [1, {"a": None}], "a": [True, False, 0, 2**53 - 1, -5]},
        },
        {letter: number for number, letter in enumerate(letters)},
        {
            "\U0001f642": 1,
            "\ue000": 2,
            "\uffff": 3,
            "a": 4,
            "aa": 5,
            "B": 6,
        },  # UTF-16 sorts the first before the next
    ]
    assert browser.run(scripts, "digests", bodies) == [
        documents.digest(each) for each in bodies
    ]
    strange = Design(
        "strange",
        letters[3:],
        letters[3:],
        dn.k_ary(len(letters) - 3, epsilon=1).channel,
    )
    asked, drawn = job(strange, "strange")
    assert browser.run(scripts, "draw", [asked]) == [drawn]


def resealed(design: Design, **changes: object) -> str:
    """Return the JSON of a design with other fields and a hash that fits."""
    return documents.seal(
        "design", documents.unseal("design", design.to_json()) | changes
    )


def channel(design: Design, **changes: object) -> str:
    return resealed(design, channel=design.channel.to_body() | changes)


K = dn.k_ary(["red", "green", "blue"], p="7/10")
TABLE = dn.binary("9/10", "7/10")
PAIR = dn.subset(["red", "green", "blue", "grey"], t=2, p="3/4")
BODY = documents.unseal("design", K.to_json())
BOTH = documents.unseal("design", dn.product([K, K]).to_json())
UNREADABLE = {
    "no JSON": K.to_json()[:-20],
    "a list": "[]",
    "nothing": "null",
    "edited": K.to_json().replace("green", "grown"),
    "another schema": Deck((1, 1, 2), people=4).to_json(),
    "another version": K.to_json().replace("design/1", "design/2"),
    "no hash": json.dumps(
        {
            key: value
            for key, value in json.loads(K.to_json()).items()
            if key != "hash"
        }
    ),
    "half a letter": K.to_json().replace("green", "gr\\ud800n"),
    "a number that is not whole": channel(K, size=3.5),
    "an unknown kind": channel(K, kind="wheel"),
    "a kind of every object": channel(K, kind="constructor"),
    "a size in letters": channel(K, size="3"),
    "a weight as a number": channel(K, same=14),
    "a weight below 0": channel(K, same="-14"),
    "a weight with a zero in front": channel(K, same="014"),
    "a field too many": resealed(K, more=1),
    "labels of no kind": resealed(K, symbols={"letters": 3}),
    "a tally of no kind": channel(dn.rappor(3, epsilon=1), tally="by hand"),
}
INVALID = {
    "labels that do not fit": channel(K, size=4),
    "a label twice": resealed(K, symbols=["red", "red", "blue"]),
    "one label": resealed(TABLE, categories=1),
    "not in lowest terms": channel(K, same="28", other="6"),
    "nothing beside the answer": channel(K, same="1", other="0"),
    "a column that does not add up": channel(
        TABLE, weights=[["9", "3"], ["1", "6"]]
    ),
    "a table not in lowest terms": channel(
        TABLE, weights=[["18", "6"], ["2", "14"]], total="20"
    ),
    "a table with a hole": channel(TABLE, weights=[["9", "3"], ["1"]]),
    "an empty table": channel(TABLE, weights=[]),
    "sets of none": channel(PAIR, ones=0),
    "more inside than all": channel(PAIR, inside="5"),
    "a total of 0": channel(PAIR, inside="1", total="0"),
    "values that make no field": channel(
        dn.local_hashing(5, epsilon=1, values=5), values=6
    ),
    "a bit more than always": channel(
        dn.rappor(3, epsilon=1), hit="9", stray="1", total="8"
    ),
    "parts that do not rise": channel(
        dn.mixture(3, {1: "1/2", 2: "1/2"}, epsilon=1),
        parts=[
            {"ones": 2, "weight": "1", "inside": "1"},
            {"ones": 1, "weight": "1", "inside": "1"},
        ],
        total="2",
    ),
    "no room for the answer": channel(
        dn.mixture(3, {1: "1/2", 2: "1/2"}, epsilon=1),
        parts=[{"ones": 0, "weight": "2", "inside": "1"}],
        total="2",
    ),
    "one attribute": documents.seal(
        "design", {"name": "x", "factors": [{"attribute": "a", "design": BODY}]}
    ),
    "attributes of attributes": documents.seal(
        "design",
        {"name": "x", "factors": [{"attribute": a, "design": BOTH} for a in "ab"]},
    ),
    "an attribute twice": documents.seal(
        "design", {"name": "x", "factors": [{"attribute": "a", "design": BODY}] * 2}
    ),
    "a label that separates": documents.seal(
        "design",
        {
            "name": "x",
            "factors": [
                {"attribute": a, "design": BODY | {"symbols": ["a · b", "c", "d"]}}
                for a in "ab"
            ],
        },
    ),
}


@pytest.mark.parametrize("name", [*UNREADABLE, *INVALID])
def test_what_is_no_design_is_refused(scripts: Page, name: str) -> None:
    expected = "UnreadableFile" if name in UNREADABLE else "InvalidDesign"
    found = browser.run(
        scripts, "call", [["readDesign", (UNREADABLE | INVALID)[name]]]
    )
    assert found.get("name") == expected, found
    assert found["known"]
    with pytest.raises(dn.errors.DeniableError):
        Design.from_json((UNREADABLE | INVALID)[name])


def test_an_answer_is_never_repeated(scripts: Page) -> None:
    secret = "a very private thing"
    both = dn.product(
        {"smokes": dn.warner(p="3/4"), "age": dn.k_ary(["young", "old"], p="2/3")}
    )
    deck = Deck((1, 1, 2), people=4)
    answers: list[tuple[Design, object]] = [
        (K, secret), (K, 1), (K, {"red": secret}), (K, "toString"), (dn.k_ary(5, epsilon=1), "05"), (PAIR, "b0110"),
        (both, {"smokes": secret, "age": "old"}), (both, {"smokes": "yes"}), (both, "yes · old · yes"), (both, secret),
    ]  # fmt: skip
    calls = [
        [["readDesign", design.to_json()], ["respond", None, answer]]
        for design, answer in answers
    ]
    calls.append(
        [["readDeck", deck.to_json()], ["respondWithCard", None, secret, 1]]
    )
    for each in calls:
        found = browser.run(scripts, "call", each)
        assert found.get("name") == "InvalidAnswer", found
        assert "expected" in found["message"]
        assert secret not in found["message"]


def test_cards_are_answered_as_in_python(scripts: Page) -> None:
    deck = Deck((1, 2, 3, 4), people=5)
    for answer in deck.categories:
        for card in range(1, 5):
            found = browser.run(
                scripts,
                "call",
                [
                    ["readDeck", deck.to_json()],
                    ["respondWithCard", None, answer, card],
                ],
            )
            expected = respond_with_card(deck, answer, card)
            assert found == {
                "value": {"design": expected.design, "symbol": expected.symbol}
            }
    for card in (0, 5, 1.5, "1"):
        found = browser.run(
            scripts,
            "call",
            [["readDeck", deck.to_json()], ["respondWithCard", None, "yes", card]],
        )
        assert found["name"] == "InvalidRequest"


def test_a_page_that_may_have_been_changed_on_the_way_is_refused(
    chromium: Browser,
) -> None:
    with browser.scripts(chromium, "http://collector.test/") as page:
        found = browser.run(page, "call", [["readDesign", K.to_json()]])
    assert found["name"] == "InvalidRequest"
    assert "https" in found["message"]


def test_the_scripts_draw_and_do_nothing_else() -> None:
    """They are small, and have no way to send, to keep, to show or to draw badly."""
    files = [
        browser.STATIC / "respond.js",
        browser.STATIC / "blind.js",
        *(browser.STATIC / "draw").glob("*.js"),
    ]
    assert len(files) > 5
    code = {file.name: file.read_text(encoding="utf-8") for file in files}
    assert sum(map(len, code.values())) < 120_000
    of_types = {"drawn.js", "items.js", "strings.js"}  # loaded where they are asked
    assert sum(map(len, (code[each] for each in {*code} - of_types))) < 97_000
    banned = r"Math\.random|fetch|XMLHttp|sendBeacon|WebSocket|localStorage|sessionStorage|console|document|https?:"
    assert {
        name: found
        for name, text in code.items()
        if (found := re.findall(banned, text))
    } == {}

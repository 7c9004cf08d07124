"""Designs of a few hundred bytes do not keep `certify` busy: they are answered, or refused with the limit."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable import documents
from tests.support.commands import run

SYMBOL = json.loads(dn.pckv_ue(3, 1, padding=2).to_json())["scheme"]["symbol"]
BITS, SETS = 1 << 24, 1 << 20
ITEMS = {"name": "", "items": 10**9, "low": "-1", "high": "1"}
SUBSET = {"kind": "subset", "size": SETS, "ones": SETS // 2, "total": "5"}
LARGE: dict[str, tuple[str, Any, str]] = {
    "places": ("keyvalue-design", {**ITEMS, "scheme": {"kind": "unary", "padding": 10**7, "symbol": SYMBOL}}, "10,000"),
    "items": ("keyvalue-design", {**ITEMS, "scheme": {"kind": "unary", "padding": 10**4, "symbol": SYMBOL}}, ""),
    "cards": ("deck", {"counts": [1, 10**15, 2], "people": 10**14, "categories": ["no", "yes"]}, "2,000 cards"),
    "hands": ("deck", {"counts": [900, 3, 901], "people": 100, "categories": ["no", "yes"]}, "200,000 terms"),
    "bits": (
        "design",
        {"name": "", "categories": BITS, "symbols": {"bits": BITS},
         "channel": {"kind": "bits", "size": BITS, "hit": "3", "stray": "2", "total": "5", "tally": "by category"}},
        "",
    ),
    "stages of sets": (
        "ladder",
        {"designs": [{"name": "", "categories": SETS, "symbols": {"bits": SETS}, "channel": SUBSET | {"inside": inside}}
                     for inside in "34"], "steps": [{"kind": "derived"}]},
        "32,768",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_a_short_design_is_answered_at_once(name: str, tmp_path: Path) -> None:
    kind, body, limit = LARGE[name]
    path = tmp_path / "design.json"
    path.write_text(documents.seal(kind, body), encoding="utf-8")
    assert path.stat().st_size < 600
    start = time.process_time()
    result = run("certify", path)
    assert time.process_time() - start < 5
    assert result.exit_code == (2 if limit else 0), result.output
    assert limit in result.output
